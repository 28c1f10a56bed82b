package lower

import "github.com/sarchlab/smsim/isa"

// startBlock forgets what holds within one block only.
func (v *numberer) startBlock() {
	clear(v.local)
	clear(v.copies)
	for _, id := range v.written {
		v.position[id] = -1
	}
	v.written = v.written[:0]
}

// variableProduct says that the instruction multiplies 32-bit registers of which some are variables: mul.lo and mul.hi of the same factors in
// a loop that changes them share their partial products.
func (v *numberer) variableProduct(in *isa.Inst) bool {
	if in.Op != isa.OpIMAD || !v.f.computes(in) || v.f.t.SM < 70 {
		return false
	}
	for _, o := range in.Src[:2] {
		if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase || o.Flags&^isa.Reuse != 0 || v.n.of(isa.KindReg, o.Reg) >= len(v.defs) {
			return false
		}
	}
	ok := true
	v.f.members(&in.Src[2], func(kind isa.OperandKind, r isa.Reg) {
		id := v.n.of(kind, r)
		ok = ok && id < len(v.defs) && v.defs[id].value()
	})
	return ok
}

// track follows constants in variables, and copies of variables, within a block. A variable copied to itself is dropped.
func (v *numberer) track(in *isa.Inst) {
	plain := in.Op == isa.OpMOV && in.Mod.Flags == 0 && in.Mod.Size == 0 && in.Dst[0].Kind == isa.KindReg && in.Dst[0].Reg >= isa.VirtualBase && in.Dst[0].Flags == 0
	if plain && in.Src[0] == in.Dst[0] {
		dead(in)
		return
	}
	if len(v.local) > 0 {
		v.f.defs(in, v.n, func(id int) {
			delete(v.local, id)
			for _, c := range v.copies[id] {
				if o, ok := v.local[c]; ok && o.Kind != isa.KindImm && v.n.of(o.Kind, o.Reg) == id {
					delete(v.local, c)
				}
			}
			delete(v.copies, id)
		})
	}
	if o := in.Src[0]; plain && in.Guard.Kind == isa.KindNone && o.Kind == isa.KindReg && o.Flags == 0 && o.Reg >= isa.VirtualBase && !v.stable(&o) {
		id, from := v.n.of(isa.KindReg, in.Dst[0].Reg), v.n.of(isa.KindReg, o.Reg)
		v.local[id] = o
		v.copies[from] = append(v.copies[from], id)
		return
	}
	if isAdd64(in) {
		v.trackPair(in)
		return
	}
	if copiesPred(in) && in.Guard.Kind == isa.KindNone {
		v.trackPred(in)
		return
	}
	if in.Op != isa.OpMOV || in.Guard.Kind != isa.KindNone || in.Mod.Flags&(isa.ModWide|modKeep) != 0 || in.Mod.Size == sizeCross || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Reg < isa.VirtualBase {
		return
	}
	if o := in.Src[0]; o.Kind == isa.KindImm || o == rz {
		v.local[v.n.of(isa.KindReg, in.Dst[0].Reg)] = o
	}
}

// trackPred follows copies and complements of predicates, and constants in them, of which one is a variable.
func (v *numberer) trackPred(in *isa.Inst) {
	o := in.Src[0]
	id := v.n.of(isa.KindPred, in.Dst[0].Reg)
	if from := v.n.of(isa.KindPred, o.Reg); o.Reg != isa.PT {
		if from == id {
			return
		}
		v.copies[from] = append(v.copies[from], id)
	}
	v.local[id] = o
}

// copiesPred says that the instruction writes one predicate: another one, its complement or a constant.
func copiesPred(in *isa.Inst) bool {
	return in.Op == isa.OpPLOP3 && in.Mod.Lut == 0xf0 && in.NDst == 2 && in.Dst[0].Kind == isa.KindPred && in.Dst[0].Reg >= isa.VirtualBase && in.Dst[1] == pt &&
		in.Src[0].Kind == isa.KindPred && in.Src[1] == pt && in.Src[2] == pt
}

// replacement is what a register operand is a copy of.
func (v *numberer) replacement(o *isa.Operand) (isa.Operand, bool) {
	id := v.n.of(o.Kind, o.Reg)
	if r, ok := v.local[id]; ok && (o.Kind == isa.KindReg || o.Kind == isa.KindPred) {
		return r, true
	}
	if o.Kind == isa.KindNone || id < 0 || id >= len(v.repl) || v.repl[id].Kind == isa.KindNone {
		return isa.Operand{}, false
	}
	return v.repl[id], true
}

// carryAlgebra: a carry alone, added to nothing, is 0 or 1 and carries no further (the upper word of `addc.cc.u64 x, 0, 0` between two sums,
// as compilers keep the carry of a 128-bit sum); the sum that it would go on to is one without carry.
func (v *numberer) carryAlgebra(in *isa.Inst) {
	if in.Op != isa.OpIADD3 || in.Mod.Flags != isa.ModX || in.Guard.Kind != isa.KindNone || in.NDst != 3 || in.NSrc != 5 || in.Src[4] != notPT {
		return
	}
	idle := isZero(in.Src[0]) && isZero(in.Src[1]) && isZero(in.Src[2]) && in.Src[0].Flags|in.Src[1].Flags|in.Src[2].Flags == 0
	if c := in.Dst[1]; idle && in.Dst[2] == pt && c.Kind == isa.KindPred && c.Reg >= isa.VirtualBase {
		if id := v.n.of(isa.KindPred, c.Reg); id < len(v.defs) && v.defs[id].value() {
			v.repl[id] = notPT
			in.Dst[1] = pt
		}
	}
	if in.Src[3] == notPT && idle && plainPreds(in) {
		toMov(in, rz)
	} else if in.Src[3] == notPT {
		in.Mod.Flags, in.Src[3], in.Src[4] = 0, pt, pt
	}
}
