package lower

import "github.com/sarchlab/smsim/isa"

// narrow makes 64-bit products and sums of which only the low word is read 32-bit ones.
func (f *fn) narrow() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	uses, defs := f.useCounts(n), f.defSites(n)
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			switch {
			case in.Op == isa.OpIADD3 && in.Mod.Size == sizeHalf && in.Mod.Flags == modKeep && plainPreds(in): // nobody reads its carry
				in.Mod = isa.Mod{}
			case in.Op == isa.OpIMAD && in.Mod.Flags == isa.ModWide && in.Dst[0].Flags&flagPair != 0 && (in.NDst == 1 || plainPreds(in)):
				regs := f.tuples[in.Dst[0].Reg]
				if len(regs) != 2 || uses[n.of(isa.KindReg, regs[1])] > 0 {
					continue
				}
				in.Mod = isa.Mod{Type: isa.S32}
				in.NDst, in.Dst = 1, [isa.MaxDst]isa.Operand{isa.R(regs[0])}
				if c := &in.Src[2]; c.Flags&flagPair != 0 {
					c.Flags &^= flagPair | isa.Wide64
				}
				f.leavePair(regs, n, defs)
			case isAdd64(in) && in.Dst[1].Kind == isa.KindReg && in.Dst[1].Reg >= isa.VirtualBase && uses[n.of(isa.KindReg, in.Dst[1].Reg)] == 0:
				lo := isa.Inst{Op: isa.OpIADD3, NDst: 1, NSrc: 3, Guard: in.Guard, Pos: in.Pos, PC: in.PC}
				lo.Dst[0] = in.Dst[0]
				copy(lo.Src[:3], in.Src[:3])
				fillLayout(&lo)
				*in = lo
			}
		}
	}
}

// leavePair takes the words of a pair apart that one instruction wrote, and of which one word is left.
func (f *fn) leavePair(regs []isa.Reg, n numbering, defs []defSite) {
	for _, r := range regs {
		if !defs[n.of(isa.KindReg, r)].value() {
			return
		}
	}
	delete(f.tuples, regs[0])
	for _, r := range regs {
		delete(f.inTuple, r)
	}
}
