package lower

import "github.com/sarchlab/smsim/isa"

// keepCopies marks the copies at the end of a loop whose source is read after the loop. ptxas takes two variables that live at the same
// time as two registers, also where they hold the same value because one was copied from the other: the copy stays. So a
// loop that copies its result to the variable of its next round, with the result also read behind the loop, has a copy a round
// (seen in 2,050 of 2,280 timing loops and in the inner loop of sw; a loop without such a copy in its PTX has none). The copy of a 16-bit variable is a
// PRMT that keeps the upper half.
func (f *fn) keepCopies() {
	if f.t.SM < 70 {
		return
	}
	l := f.live()
	n := l.n
	defs := f.defSites(n)
	for _, b := range f.rpo {
		if b.to != b {
			continue
		}
		after := newBitset(n.total)
		for _, s := range b.succs {
			if s != b {
				l.in[s.id].each(after.set)
			}
		}
		for i := range b.insts {
			in := &b.insts[i]
			if in.Op != isa.OpMOV || in.Mod.Flags != 0 || in.Guard.Kind != isa.KindNone || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Flags != 0 ||
				in.Src[0].Kind != isa.KindReg || in.Src[0].Flags != 0 || in.Dst[0].Reg < isa.VirtualBase || in.Src[0].Reg < isa.VirtualBase {
				continue
			}
			d, s := n.of(isa.KindReg, in.Dst[0].Reg), n.of(isa.KindReg, in.Src[0].Reg)
			if defs[d].n > 1 && l.in[b.id].has(d) && after.has(s) {
				in.Mod.Flags |= modKeep
				if f.halves[in.Dst[0].Reg] { // only the lower half is copied
					in.Op, in.NSrc, in.Src = isa.OpPRMT, 3, [isa.MaxSrc]isa.Operand{in.Src[0], imm(0x7610), in.Dst[0]}
				}
			}
		}
	}
}
