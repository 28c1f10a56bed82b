package lower

import "github.com/sarchlab/smsim/isa"

// Address offsets are signed 24-bit numbers (20 bits on some early encodings).
const maxOffset = 1<<23 - 1

// maxConstOffset is the largest offset of a constant bank's word beside an index.
const maxConstOffset = 1<<15 - 1

// foldAddresses moves constants that are added to an address into the offset of the memory operand, and on
// Turing to Ada a small shift of a shared-memory address into its scale.
func (f *fn) foldAddresses() {
	n := f.numbering()
	u := &fuser{f: f, n: n, defs: f.defSites(n), last: make([]int32, n.total)}
	for i := range u.last {
		u.last[i] = -1
	}
	for _, b := range f.blocks {
		u.b = b
		for i := range b.insts {
			in := &b.insts[i]
			for k := range in.Src[:in.NSrc] {
				if in.Src[k].Kind == isa.KindMem || in.Op == isa.OpLDC && in.Src[k].Kind == isa.KindConst && in.Src[k].Reg != isa.RZ && f.t.SM >= 70 {
					for u.foldAddress(in, &in.Src[k]) {
					}
				}
			}
			f.defs(in, n, func(id int) { u.last[id] = int32(i) })
		}
		for i := range b.insts {
			f.defs(&b.insts[i], n, func(id int) { u.last[id] = -1 })
		}
	}
}

func (u *fuser) anyDepth(r isa.Reg) *isa.Inst {
	if r < isa.VirtualBase {
		return nil
	}
	id := u.n.of(isa.KindReg, r)
	if id >= len(u.defs) || u.defs[id].b == nil {
		return nil
	}
	keep := u.b
	if d := u.defs[id].b; d != u.b && d.depth < u.b.depth { // folding an address costs nothing in a loop
		depth := u.b.depth
		u.b.depth = d.depth
		defer func() { keep.depth = depth }()
	}
	return u.definition(id)
}

func (u *fuser) foldAddress(in *isa.Inst, o *isa.Operand) bool {
	fits := func(x int64) bool { return x >= -maxOffset && x <= maxOffset }
	if o.Kind == isa.KindConst {
		fits = func(x int64) bool { return x >= 0 && x <= maxConstOffset }
	}
	if o.Flags&flagPair != 0 {
		t := u.f.tuples[o.Reg]
		d := u.anyDepth(t[0])
		if d == nil || u.anyDepth(t[1]) != d || !isAdd64(d) || !u.f.definesPair(d, t[0], t[1]) {
			return false
		}
		terms := pairTerms(d)
		if len(terms) != 2 {
			return false
		}
		for k := range 2 {
			c, ok := terms[k].constant64()
			other := terms[1-k]
			if !ok || !fits(c+o.Imm) || other.lo.Flags != 0 || other.hi.Flags != 0 {
				continue
			}
			regs, ok := u.f.tupleOf([]word{other.lo, other.hi})
			if !ok {
				continue
			}
			o.Reg, o.Imm = regs[0], o.Imm+c
			return true
		}
		return false
	}
	if o.Is(isa.Wide64) {
		return false
	}
	d := u.anyDepth(o.Reg)
	if d == nil {
		return false
	}
	if o.Kind == isa.KindConst && isAdd64(d) && d.Dst[0].Kind == isa.KindReg && d.Dst[0].Reg == o.Reg { // of whose sum only the low word is read
		terms := pairTerms(d)
		for k := range terms {
			c, ok := constant(terms[k].lo)
			if ok && len(terms) == 2 && fits(int64(int32(c))+o.Imm) && terms[1-k].lo.Kind == isa.KindReg && terms[1-k].lo.Flags == 0 {
				o.Reg, o.Imm = terms[1-k].lo.Reg, o.Imm+int64(int32(c))
				return true
			}
		}
		return false
	}
	scaled := o.Flags&(isa.ScaleX4|isa.ScaleX8|isa.ScaleX16) != 0
	switch {
	case (d.Op == isa.OpIADD3 && plainAdd(d) && isZero(d.Src[2]) || d.Op == isa.OpIADD && d.Mod.Flags == 0) && !scaled:
		for k := range 2 {
			c, ok := constant(d.Src[k])
			other := d.Src[1-k]
			dyn := d.Src[k].Kind == isa.KindImm && d.Src[k].Imm >= dynamicShared/2 && o.Imm < dynamicShared/2
			if dyn {
				if other.Kind == isa.KindReg && other.Flags == 0 {
					o.Reg, o.Imm = other.Reg, o.Imm+d.Src[k].Imm
					return true
				}
				continue
			}
			if !ok || other.Kind != isa.KindReg || other.Flags != 0 || !fits(int64(int32(c))+o.Imm%dynamicShared) {
				continue
			}
			o.Reg, o.Imm = other.Reg, o.Imm+int64(int32(c))
			return true
		}
	case isShiftLeft(d) && u.f.t.SM >= 75 && u.f.t.SM < 90 && !scaled && (in.Op == isa.OpLDS || in.Op == isa.OpSTS || in.Op == isa.OpATOMS):
		n, _ := constant(d.Src[1])
		flag := map[uint32]isa.OperandFlags{2: isa.ScaleX4, 3: isa.ScaleX8, 4: isa.ScaleX16}[n]
		if flag != 0 {
			o.Reg = d.Src[0].Reg
			o.Flags |= flag
			return true
		}
	}
	return false
}
