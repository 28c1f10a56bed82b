package lower

import (
	"github.com/sarchlab/smsim/isa"
)

// valueKey identifies a computation. Two instructions with one key compute the same value.
type valueKey struct {
	op  isa.Op
	n   uint8
	mod isa.Mod
	src [isa.MaxSrc]isa.Operand

	// Of a product of variables, whose value holds in the block only and until one of them is written again:
	b    *block
	when [2]int32 // where the block wrote the factors last
}

// numberer propagates copies and constants and finds values that are computed already.
type numberer struct {
	f     *fn
	n     numbering
	defs  []defSite
	uses  []int32
	repl  []isa.Operand // what a value register is a copy of; KindNone: nothing
	table map[valueKey][]valueEntry
	local map[int]isa.Operand          // constants and copies that registers hold at this point of the block
	pairs map[[2]isa.Operand][]pairUse // pairs that were read, by their two values

	copies   map[int][]int // variable -> registers of local that are copies of it
	position []int32       // where the current block wrote each register last, -1: it did not
	written  []int         // registers with a position
}

type valueEntry struct {
	b    *block
	dst  [isa.MaxDst]isa.Operand
	ndst uint8
}

// valueNumber walks the blocks in reverse post-order, replaces operands that are copies or constants, folds and
// simplifies instructions, and drops an instruction whose value a dominating instruction computes. Values
// are registers with one unguarded definition.
func (f *fn) valueNumber() {
	n := f.numbering()
	v := &numberer{f: f, n: n, defs: f.defSites(n), uses: f.useCounts(n), repl: make([]isa.Operand, n.total), table: map[valueKey][]valueEntry{}, pairs: map[[2]isa.Operand][]pairUse{},
		local: map[int]isa.Operand{}, copies: map[int][]int{}, position: make([]int32, n.total)}
	for i := range v.position {
		v.position[i] = -1
	}
	for _, b := range f.rpo {
		v.startBlock()
		for i := range b.insts {
			in := &b.insts[i]
			v.substitute(b, in)
			logic := in.Op == isa.OpLOP3
			f.simplify(in)
			if logic && in.Op == isa.OpMOV && f.rolled {
				in.Mod.Size = sizeHalf
			}
			v.absorb(in)
			f.simplifyPredicates(in)
			v.algebra(in)
			v.testAlgebra(in)
			v.track(in)
			v.record(b, in)
			f.defs(in, n, func(id int) {
				v.position[id] = int32(i)
				v.written = append(v.written, id)
			})
		}
	}
	v.startBlock()
	// Loop back edges bring uses before definitions in this order: substitute once more.
	for _, b := range f.rpo {
		for i := range b.insts {
			v.substitute(nil, &b.insts[i])
		}
	}
	f.cutBranches()
}

// substitute replaces the sources of an instruction of block b; nil: of any block, and pairs are not shared.
func (v *numberer) substitute(b *block, in *isa.Inst) {
	if in.Op == isa.OpNone || in.Mod.Has(modOpaque) {
		return
	}
	if r, ok := v.replacement(&in.Guard); ok && r.Kind == isa.KindPred {
		r.Flags ^= in.Guard.Flags & isa.Neg
		in.Guard = r
	}
	if in.Guard.Kind == isa.KindPred && in.Guard.Reg == isa.PT && !in.Guard.Is(isa.Neg) {
		in.Guard = isa.Operand{}
	}
	for k := range in.Src[:in.NSrc] {
		o := &in.Src[k]
		switch o.Kind {
		case isa.KindReg:
			if o.Flags&(flagPair|flagQuad) != 0 {
				v.substituteTuple(b, in, k)
				continue
			}
			r, ok := v.replacement(o)
			if !ok || r.Kind == isa.KindPred || r.Kind == isa.KindImm && storesOperand(in) { // a stored constant stays where it was put in a register
				continue
			}
			if m, ok := mergeFlags(in, o, r); ok {
				*o = m
			}
		case isa.KindPred:
			if r, ok := v.replacement(o); ok {
				r.Flags ^= o.Flags & isa.Neg
				*o = r
			}
		case isa.KindMem:
			if o.Flags&flagPair != 0 {
				if regs, ok := v.tupleCopy(v.f.tuples[o.Reg]); ok {
					o.Reg = regs[0]
				}
			} else if r, ok := v.replacement(&isa.Operand{Kind: isa.KindReg, Reg: o.Reg}); ok {
				switch {
				case r.Kind == isa.KindReg && r.Flags == 0:
					o.Reg = r.Reg
				case r.Kind == isa.KindImm && !o.Is(isa.Wide64) && o.Flags&(isa.ScaleX4|isa.ScaleX8|isa.ScaleX16) == 0 && r.Imm+o.Imm < 1<<23:
					o.Reg, o.Imm = isa.RZ, o.Imm+r.Imm
				}
			}
		case isa.KindConst:
			if r, ok := v.replacement(&isa.Operand{Kind: isa.KindReg, Reg: o.Reg}); ok {
				switch {
				case r.Kind == isa.KindReg && r.Flags == 0:
					o.Reg = r.Reg
				case r.Kind == isa.KindImm && r.Imm+o.Imm < 1<<16:
					o.Reg, o.Imm = isa.RZ, o.Imm+r.Imm
				}
			}
		}
	}
}

// tupleCopy is the tuple that a tuple is a copy of, word for word.
func (v *numberer) tupleCopy(regs []isa.Reg) ([]isa.Reg, bool) {
	var to []isa.Reg
	for _, r := range regs {
		o, ok := v.replacement(&isa.Operand{Kind: isa.KindReg, Reg: r})
		if !ok || o.Kind != isa.KindReg || o.Flags != 0 {
			return nil, false
		}
		to = append(to, o.Reg)
	}
	have := v.f.tuples[to[0]]
	if len(have) != len(to) {
		if len(to) != 2 {
			return nil, false
		}
		w := []word{isa.R(to[0]), isa.R(to[1])}
		made, ok := v.f.tupleOf(w)
		return made, ok
	}
	for i := range to {
		if have[i] != to[i] {
			return nil, false
		}
	}
	return have, true
}

// substituteTuple replaces a tuple operand by the tuple, zero or constant pair it is a copy of.
func (v *numberer) substituteTuple(b *block, in *isa.Inst, k int) {
	o := &in.Src[k]
	regs := v.f.tuples[o.Reg]
	if to, ok := v.tupleCopy(regs); ok {
		o.Reg = to[0]
		return
	}
	if v.sharePair(o, regs, b) {
		return
	}
	if len(regs) != 2 || o.Flags&(isa.Neg|isa.Abs|isa.Inv) != 0 {
		return
	}
	lo, ok1 := v.replacement(&isa.Operand{Kind: isa.KindReg, Reg: regs[0]})
	hi, ok2 := v.replacement(&isa.Operand{Kind: isa.KindReg, Reg: regs[1]})
	if !ok1 || !ok2 {
		return
	}
	switch {
	case isZero(lo) && isZero(hi) && in.Op == isa.OpIMAD:
		*o = rz
	case lo.Kind == isa.KindConst && hi.Kind == isa.KindConst && consecutiveConst([]word{lo, hi}) && in.Op == isa.OpIMAD && k == 2 && v.f.t.SM < 90:
		*o = lo
		o.Flags |= flagPair | isa.Wide64
	}
}

// mergeFlags is replacement r with the modifiers of operand o; ok is false where the instruction could not take it.
func mergeFlags(in *isa.Inst, o *isa.Operand, r isa.Operand) (isa.Operand, bool) {
	flags := o.Flags &^ isa.Reuse
	if r.Kind == isa.KindReg && r.Reg >= isa.VirtualBase && r.Flags == 0 {
		r.Flags = flags
		return r, true
	}
	if flags == 0 {
		if in.Op == isa.OpXMAD && (r.Kind == isa.KindImm && uint32(r.Imm) > 0xffff) {
			return r, false
		}
		return r, true
	}
	if r.Kind == isa.KindReg && r.Reg != isa.RZ && r.Flags == 0 { // any modifier reads the same of another register
		r.Flags = flags
		return r, true
	}
	if flags&^(isa.Neg|isa.Inv) != 0 || r.Flags != 0 || in.Op == isa.OpXMAD {
		return r, false
	}
	switch r.Kind {
	case isa.KindImm:
		if !integerModifiers(in) {
			return r, false
		}
		r.Flags = flags
		c, _ := constant(r)
		return immWord(c), true
	case isa.KindReg, isa.KindConst, isa.KindUReg:
		if r.Kind == isa.KindReg && r.Reg == isa.RZ {
			if flags == isa.Neg && integerModifiers(in) && !isAdd64(in) {
				return rz, true
			}
		}
		r.Flags = flags
		return r, true
	}
	return r, false
}

// integerModifiers says that Neg and Inv on a source mean integer negation and complement.
func integerModifiers(in *isa.Inst) bool {
	switch in.Op {
	case isa.OpIADD, isa.OpIMAD, isa.OpLEA, isa.OpISCADD, isa.OpLOP, isa.OpISETP:
		return in.Mod.Flags&(isa.ModWide|isa.ModCC) == 0 // the carry of -0 differs from that of 0
	case isa.OpIADD3:
		// The carry of a negated addend differs from that of its value.
		return in.Dst[1] == pt && !in.Mod.Has(isa.ModWide) || in.Mod.Has(isa.ModX)
	}
	return false
}

// record notes what the instruction defines: a copy, a new value, or one that exists.
func (v *numberer) record(b *block, in *isa.Inst) {
	if in.Op == isa.OpNone || in.Guard.Kind != isa.KindNone || in.NDst == 0 {
		return
	}
	for k := range in.Dst[:in.NDst] {
		ok := true
		v.f.members(&in.Dst[k], func(kind isa.OperandKind, r isa.Reg) {
			id := v.n.of(kind, r)
			ok = ok && id < len(v.defs) && v.defs[id].value()
		})
		if !ok {
			return
		}
	}
	switch in.Op {
	case isa.OpMOV:
		if in.Mod.Flags&(isa.ModWide|modKeep|modApart|modOpaque) == 0 && in.Mod.Size == 0 && in.Dst[0].Kind == isa.KindReg && in.Dst[0].Reg >= isa.VirtualBase && v.stable(&in.Src[0]) {
			v.repl[v.n.of(isa.KindReg, in.Dst[0].Reg)] = in.Src[0]
		}
		if in.Mod.Flags != modKeep || in.Src[0].Kind != isa.KindImm {
			return
		}
	case isa.OpPLOP3:
		if copiesPred(in) && v.stable(&in.Src[0]) {
			v.repl[v.n.of(isa.KindPred, in.Dst[0].Reg)] = in.Src[0]
			return
		}
	}
	if in.Op == isa.OpISETP {
		if q, ok := v.selected(in); ok {
			v.repl[v.n.of(isa.KindPred, in.Dst[0].Reg)] = q
			return
		}
	}
	key := valueKey{op: in.Op, n: in.NSrc, mod: in.Mod, src: in.Src}
	if !v.pure(in) {
		if !v.variableProduct(in) {
			return
		}
		key.b, key.when = b, [2]int32{v.position[v.n.of(isa.KindReg, in.Src[0].Reg)], v.position[v.n.of(isa.KindReg, in.Src[1].Reg)]}
	}
	for k := range key.src {
		key.src[k].Flags &^= isa.Reuse
	}
	if commutes(in) && less(&key.src[1], &key.src[0]) && (in.Mod.Type == in.Mod.BType || in.Mod.BType == isa.TypeNone) && !isAdd64(in) {
		key.src[0], key.src[1] = key.src[1], key.src[0]
		key.when[0], key.when[1] = key.when[1], key.when[0]
	}
	for _, e := range v.table[key] {
		if !dominates(e.b, b) || e.ndst != in.NDst || in.Op == isa.OpS2R && e.b != b && in.Src[0].Reg != isa.SRCgaCtaID || v.again(in, e.b, b) {
			continue
		}
		if v.unify(in, &e) {
			// A word of a tuple must keep a definition of its own: the tuple's readers cannot be redirected.
			if o := &in.Dst[0]; o.Kind == isa.KindReg && o.Flags&(flagPair|flagQuad) == 0 {
				if _, member := v.f.inTuple[o.Reg]; member && plainPreds(in) {
					toMov(in, isa.R(e.dst[0].Reg))
					return
				}
			}
			dead(in)
			return
		}
	}
	v.table[key] = append(v.table[key], valueEntry{b, in.Dst, in.NDst})
}

// selected is the predicate that a test of "p ? c : d" against zero gives back, for constants c and d of which one is
// zero: a truth value that went through a word.
func (v *numberer) selected(in *isa.Inst) (isa.Operand, bool) {
	none := isa.Operand{}
	if in.Mod.Flags != 0 || in.Mod.Cmp != isa.CmpNE && in.Mod.Cmp != isa.CmpEQ || in.Mod.Type != isa.U32 && in.Mod.Type != isa.S32 ||
		in.Mod.Bool != isa.BoolAnd || in.NSrc < 3 || in.Src[2] != pt || in.NDst < 2 || in.Dst[1] != pt || in.Dst[0].Reg < isa.VirtualBase || !isZero(in.Src[1]) {
		return none, false
	}
	o := in.Src[0]
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase || o.Flags != 0 {
		return none, false
	}
	id := v.n.of(isa.KindReg, o.Reg)
	if id >= len(v.defs) || !v.defs[id].value() {
		return none, false
	}
	d := &v.defs[id].b.insts[v.defs[id].i]
	if d.Op != isa.OpSEL || d.Mod.Flags != 0 || d.NSrc != 3 || d.Dst[0].Reg != o.Reg || d.Src[2].Kind != isa.KindPred || !v.stable(&d.Src[2]) {
		return none, false
	}
	yes, ok := constant(d.Src[0])
	no, okNo := constant(d.Src[1])
	if !ok || !okNo || (yes == 0) == (no == 0) {
		return none, false
	}
	q := d.Src[2]
	if (yes != 0) != (in.Mod.Cmp == isa.CmpNE) {
		q.Flags ^= isa.Neg
	}
	return q, true
}

func less(a, b *isa.Operand) bool {
	if a.Kind != b.Kind {
		return a.Kind < b.Kind
	}
	if a.Reg != b.Reg {
		return a.Reg < b.Reg
	}
	return a.Imm < b.Imm
}

// unify makes the results of in copies of an earlier instruction's.
func (v *numberer) unify(in *isa.Inst, e *valueEntry) bool {
	for k := range in.Dst[:in.NDst] {
		a, b := &in.Dst[k], &e.dst[k]
		if a.Kind != b.Kind || a.Flags != b.Flags || a.Reg >= isa.VirtualBase && b.Reg < isa.VirtualBase {
			return false
		}
	}
	for k := range in.Dst[:in.NDst] {
		// Words of tuples among several results stay as they are.
		if o := &in.Dst[k]; o.Kind == isa.KindReg && o.Flags&(flagPair|flagQuad) == 0 && (!plainPreds(in) || isAdd64(in) || isLea64(in)) {
			if _, member := v.f.inTuple[o.Reg]; member && !v.wholeTuple(in, e) {
				return false
			}
		}
	}
	for k := range in.Dst[:in.NDst] {
		var to []isa.Operand
		v.f.members(&e.dst[k], func(kind isa.OperandKind, r isa.Reg) { to = append(to, isa.Operand{Kind: kind, Reg: r}) })
		i := 0
		v.f.members(&in.Dst[k], func(kind isa.OperandKind, r isa.Reg) {
			v.repl[v.n.of(kind, r)] = to[i]
			i++
		})
	}
	return true
}

// wholeTuple says that the two results of a 64-bit addition are a tuple, and the earlier instruction's too, so that
// readers of the tuple can be redirected.
func (v *numberer) wholeTuple(in *isa.Inst, e *valueEntry) bool {
	if !isAdd64(in) && !isLea64(in) {
		return false
	}
	a, b := v.f.tuples[in.Dst[0].Reg], v.f.tuples[e.dst[0].Reg]
	return len(a) == 2 && len(b) == 2 && a[1] == in.Dst[1].Reg && b[1] == e.dst[1].Reg
}

// stable says that the operand has one value wherever the instruction that reads it is repeated below.
func (v *numberer) stable(o *isa.Operand) bool {
	switch o.Kind {
	case isa.KindImm:
		return true
	case isa.KindConst:
		return o.Reg == isa.RZ && o.Flags&^isa.Wide64 == 0
	case isa.KindReg, isa.KindUReg, isa.KindPred:
		if o.Kind != isa.KindPred && o.Flags != 0 {
			return false
		}
		if o.Reg < isa.VirtualBase {
			return o.Reg == isa.RZ && o.Kind == isa.KindReg || o.Kind == isa.KindPred || o.Reg == stackReg && o.Kind == isa.KindReg
		}
		id := v.n.of(o.Kind, o.Reg)
		return id < len(v.defs) && v.defs[id].value()
	}
	return false
}

// pure says that the instruction's results depend on its sources alone and that these are values.
func (v *numberer) pure(in *isa.Inst) bool {
	if !v.f.computes(in) {
		return false
	}
	ok := true
	if in.Op != isa.OpS2R {
		v.f.uses(in, v.n, func(id int) { ok = ok && id < len(v.defs) && v.defs[id].value() })
	}
	return ok
}

// computes says that the instruction's results depend on its sources alone: executed elsewhere with the same sources, it gives
// the same.
func (f *fn) computes(in *isa.Inst) bool {
	cl := in.Class()
	if in.Op == isa.OpS2R {
		return in.Src[0].Reg <= isa.SRWarpID && in.Src[0].Reg != isa.SRZ || in.Src[0].Reg == isa.SRCgaCtaID
	}
	if cl.IsMemory() || cl.IsControl() || hasEffect(in) || in.Op == isa.OpCS2R || in.Mod.Has(isa.ModX) && f.t.SM < 70 || isWarpWide(in) || in.Op == isa.OpNOP {
		return false
	}
	switch cl {
	case isa.ClassS2R, isa.ClassS2UR, isa.ClassMEMBAR, isa.ClassDEPBAR, isa.ClassR2UR:
		return false
	}
	for k := range in.Src[:in.NSrc] {
		if o := &in.Src[k]; o.Kind == isa.KindSpecial || o.Kind == isa.KindBarrier {
			return false
		}
	}
	return true
}
