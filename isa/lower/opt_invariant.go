package lower

import "github.com/sarchlab/smsim/isa"

// maxInvariants bounds the uniform registers that hold values of a kernel's loops.
const maxInvariants = 24

// uniformInvariants computes on the uniform datapath what all lanes share, is computed before a loop, and is read in it where a uniform
// register can stand: the loop then has more general registers, as in the compiler's code (a counter-based generator keeps its 15 round
// keys there and has the registers to interleave two rounds).
func (f *fn) uniformInvariants() {
	if f.t.SM < 75 || !f.t.Has(isa.OpUIADD3) || f.separateCode() {
		return
	}
	n := f.numbering()
	v := &invariants{f: f, n: n, defs: f.defSites(n), chosen: map[isa.Reg]bool{}, readers: map[isa.Reg][]reader{}}
	v.collect()
	if len(v.chosen) == 0 {
		return
	}
	v.settle()
	v.rewrite()
}

// reader is a source operand that reads a register.
type reader struct {
	b  *block
	in *isa.Inst
	k  int
}

type invariants struct {
	f       *fn
	n       numbering
	defs    []defSite
	chosen  map[isa.Reg]bool
	order   []isa.Reg // candidates in the order of their definitions
	readers map[isa.Reg][]reader
	tuple   map[isa.Reg]bool
}

func (v *invariants) def(r isa.Reg) *isa.Inst {
	d := &v.defs[v.n.of(isa.KindReg, r)]
	return &d.b.insts[d.i]
}

// uniformTwin is the uniform datapath's opcode for one of the vector's, OpNone if there is none.
func uniformTwin(in *isa.Inst) isa.Op {
	switch {
	case plainAdd(in):
		return isa.OpUIADD3
	case in.Op == isa.OpLOP3 && plainPreds(in) && !in.Mod.Has(isa.ModPAND):
		return isa.OpULOP3
	case in.Op == isa.OpIMAD && in.Mod.Flags == 0 && plainPreds(in):
		return isa.OpUIMAD
	case in.Op == isa.OpSHF:
		return isa.OpUSHF
	case in.Op == isa.OpLEA && in.Mod.Flags == 0 && plainPreds(in):
		return isa.OpULEA
	}
	return isa.OpNone
}

// collect finds the candidates, and who reads every register.
func (v *invariants) collect() {
	f := v.f
	v.tuple = map[isa.Reg]bool{}
	for _, regs := range f.tuples {
		for _, r := range regs {
			v.tuple[r] = true
		}
	}
	for _, b := range f.rpo {
		for i := range b.insts {
			in := &b.insts[i]
			for k := range in.Src[:in.NSrc] {
				if o := &in.Src[k]; o.Reg >= isa.VirtualBase && (o.Kind == isa.KindReg || o.Kind == isa.KindMem || o.Kind == isa.KindConst) {
					v.readers[o.Reg] = append(v.readers[o.Reg], reader{b, in, k})
				}
			}
			if in.NDst == 0 || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Reg < isa.VirtualBase || in.Dst[0].Flags != 0 || in.Guard.Kind != isa.KindNone || uniformTwin(in) == isa.OpNone {
				continue
			}
			if r := in.Dst[0].Reg; v.defs[v.n.of(isa.KindReg, r)].value() && !v.tuple[r] {
				v.chosen[r] = true
				v.order = append(v.order, r)
			}
		}
	}
}

// settle drops candidates until all that are left have uniform sources and readers that take them, and serve a loop.
func (v *invariants) settle() {
	for changed := true; changed; {
		changed = false
		taken := map[*isa.Inst]isa.Reg{} // vector instructions have room for one uniform register
		for _, r := range v.order {
			if v.chosen[r] && !(v.uniformSources(v.def(r)) && v.readable(r, taken)) {
				delete(v.chosen, r)
				changed = true
			}
		}
		if !changed {
			changed = v.dropUseless()
		}
	}
	left := 0
	for _, r := range v.order {
		if v.chosen[r] {
			left++
		}
	}
	if left > maxInvariants {
		v.chosen = nil
	}
}

// uniformSources says that all sources are constants or chosen values.
func (v *invariants) uniformSources(in *isa.Inst) bool {
	some := false
	for _, o := range in.Src[:in.NSrc] {
		switch {
		case o.Kind == isa.KindPred && o.Reg == isa.PT, o.Kind == isa.KindImm && o.Imm < dynamicShared/2:
		case o.Kind == isa.KindReg && o.Reg == isa.RZ:
		case o.Kind == isa.KindConst && o.Reg == isa.RZ && o.Flags&^(isa.Neg|isa.Inv) == 0 && o.Bank == 0:
			some = true
		case o.Kind == isa.KindReg && v.chosen[o.Reg] && o.Flags&^(isa.Neg|isa.Inv) == 0:
			some = true
		default:
			return false
		}
	}
	return some
}

// readable says that every reader of the value is chosen too or takes a uniform register.
func (v *invariants) readable(r isa.Reg, taken map[*isa.Inst]isa.Reg) bool {
	at := v.defs[v.n.of(isa.KindReg, r)].b
	for _, u := range v.readers[r] {
		if v.isChosen(u.in) {
			continue
		}
		if !takesUniform(u) {
			if u.b.loop != at.loop || !v.copyable(u) {
				return false
			}
			continue // a copy in front of it, outside the loop
		}
		if x, ok := taken[u.in]; ok && x != r {
			return false
		}
		taken[u.in] = r
	}
	return true
}

// copyable says that the reader can read a copy in a general register instead.
func (v *invariants) copyable(u reader) bool {
	o := &u.in.Src[u.k]
	return o.Kind == isa.KindReg && o.Flags&^(isa.Neg|isa.Inv) == 0
}

// takesUniform says that the reader's instruction can have a uniform register there, possibly after exchanging sources.
func takesUniform(u reader) bool {
	in, o := u.in, &u.in.Src[u.k]
	if o.Kind != isa.KindReg || o.Flags&^(isa.Neg|isa.Inv) != 0 || isAdd64(in) || isLea64(in) || in.Guard.Kind != isa.KindNone {
		return false
	}
	for k := range in.Src[:in.NSrc] {
		switch x := &in.Src[k]; {
		case x.Kind == isa.KindImm || x.Kind == isa.KindConst || x.Kind == isa.KindUReg:
			return false
		case k != u.k && x.Kind == isa.KindReg && x.Reg == o.Reg:
			return false
		}
	}
	switch {
	case in.Op == isa.OpIADD3 && in.Mod.Flags&^modKeep == 0 && plainPreds(in), in.Op == isa.OpLOP3 && plainPreds(in):
		return true
	case in.Op == isa.OpIMAD && in.Mod.Flags == 0:
		return true
	case in.Op == isa.OpISETP && !in.Mod.Has(isa.ModEX):
		return u.k < 2
	}
	return false
}

// dropUseless drops values that no deeper loop reads, themselves or through other chosen values.
func (v *invariants) dropUseless() bool {
	changed := false
	useful := map[isa.Reg]bool{}
	for k := len(v.order) - 1; k >= 0; k-- { // readers among the chosen come later
		r := v.order[k]
		if !v.chosen[r] {
			continue
		}
		at := v.defs[v.n.of(isa.KindReg, r)].b
		for _, u := range v.readers[r] {
			if v.isChosen(u.in) {
				useful[r] = useful[r] || useful[u.in.Dst[0].Reg]
			} else if u.b.loop != at.loop {
				useful[r] = true
			}
		}
		if !useful[r] {
			delete(v.chosen, r)
			changed = true
		}
	}
	return changed
}

// isChosen says that the instruction makes a chosen value.
func (v *invariants) isChosen(in *isa.Inst) bool {
	return in.NDst > 0 && in.Dst[0].Kind == isa.KindReg && v.chosen[in.Dst[0].Reg] && v.def(in.Dst[0].Reg) == in
}

// rewrite moves the chosen values to the uniform datapath.
func (v *invariants) rewrite() {
	f := v.f
	if len(v.chosen) == 0 {
		return
	}
	reg := map[isa.Reg]isa.Reg{}
	for _, r := range v.order {
		if v.chosen[r] {
			reg[r] = f.newUReg()
		}
	}
	for _, b := range f.rpo {
		var out []isa.Inst
		loaded := map[isa.Operand]isa.Reg{}
		for i := range b.insts {
			in := b.insts[i]
			mine := in.NDst > 0 && in.Dst[0].Kind == isa.KindReg && v.chosen[in.Dst[0].Reg]
			for k := range in.Src[:in.NSrc] {
				o := &in.Src[k]
				switch {
				case o.Kind == isa.KindReg && v.chosen[o.Reg]:
					u := isa.UR(reg[o.Reg])
					if !mine && !takesUniform(reader{b, &b.insts[i], k}) {
						c := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: in.Pos}
						c.Dst[0], c.Src[0] = isa.R(f.newReg()), u
						out = append(out, c)
						u = c.Dst[0]
					}
					u.Flags = o.Flags
					*o = u
				case mine && o.Kind == isa.KindReg && o.Reg == isa.RZ:
					o.Kind, o.Reg = isa.KindUReg, isa.URZ
				case mine && o.Kind == isa.KindConst:
					c := *o
					c.Flags = 0
					u, ok := loaded[c]
					if !ok {
						u = f.newUReg()
						loaded[c] = u
						out = append(out, f.uniformLoad(u, c, in.Pos))
					}
					o.Kind, o.Reg, o.Bank, o.Imm = isa.KindUReg, u, 0, 0
				}
			}
			if mine {
				in.Op = uniformTwin(&b.insts[i])
				in.Dst[0] = isa.UR(reg[in.Dst[0].Reg])
				in.NDst = 1
				for k := 1; k < len(in.Dst); k++ {
					in.Dst[k] = isa.Operand{}
				}
				for in.NSrc > 0 && in.Src[in.NSrc-1].Kind == isa.KindPred {
					in.NSrc--
					in.Src[in.NSrc] = isa.Operand{}
				}
			} else {
				f.arrange(&in)
			}
			out = append(out, in)
		}
		b.insts = out
	}
}

// uniformLoad loads a word of a constant bank into a uniform register.
func (f *fn) uniformLoad(u isa.Reg, c isa.Operand, pos isa.SourcePos) isa.Inst {
	in := isa.Inst{Op: isa.OpULDC, NDst: 1, NSrc: 1, Pos: pos}
	if !f.t.Has(isa.OpULDC) {
		in.Op = isa.OpLDCU
	}
	in.Mod.Size = 4
	in.Dst[0], in.Src[0] = isa.UR(u), c
	return in
}
