package lower

import "github.com/sarchlab/smsim/isa"

// fewCopies is the number of such copies that ptxas still merges: none is left in loops with one or two, most are in loops
// with four and more.
const fewCopies = 2

// keepCopies marks the copies at the end of a loop whose source is read after the loop and that ptxas does not merge: where a loop
// has more than fewCopies of them (timing loops of four chains, the inner loop of sw with 15), where the value becomes a word
// of a 64-bit pair after the loop, and of 16-bit variables, whose copy is a PRMT that keeps the upper half.
func (f *fn) keepCopies() {
	if f.t.SM < 70 {
		return
	}
	l := f.live()
	n := l.n
	defs := f.defSites(n)
	paired := newBitset(n.total) // copied to a word of a pair somewhere
	for _, b := range f.rpo {
		for i := range b.insts {
			in := &b.insts[i]
			if in.Op == isa.OpMOV && in.Src[0].Kind == isa.KindReg && in.Src[0].Reg >= isa.VirtualBase && in.Dst[0].Kind == isa.KindReg {
				if _, member := f.inTuple[in.Dst[0].Reg]; member {
					paired.set(n.of(isa.KindReg, in.Src[0].Reg))
				}
			}
		}
	}
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
		var copies []*isa.Inst
		for i := range b.insts {
			in := &b.insts[i]
			if in.Op != isa.OpMOV || in.Mod.Flags != 0 || in.Guard.Kind != isa.KindNone || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Flags != 0 ||
				in.Src[0].Kind != isa.KindReg || in.Src[0].Flags != 0 || in.Dst[0].Reg < isa.VirtualBase || in.Src[0].Reg < isa.VirtualBase {
				continue
			}
			d, s := n.of(isa.KindReg, in.Dst[0].Reg), n.of(isa.KindReg, in.Src[0].Reg)
			if defs[d].n > 1 && l.in[b.id].has(d) && after.has(s) {
				copies = append(copies, in)
			}
		}
		for _, in := range copies {
			_, member := f.inTuple[in.Src[0].Reg]
			half := f.halves[in.Dst[0].Reg]
			if len(copies) <= fewCopies && !half && !member && !paired.has(n.of(isa.KindReg, in.Src[0].Reg)) {
				continue
			}
			in.Mod.Flags |= modKeep
			if half { // only the lower half is copied
				in.Op, in.NSrc, in.Src = isa.OpPRMT, 3, [isa.MaxSrc]isa.Operand{in.Src[0], imm(0x7610), in.Dst[0]}
			}
		}
	}
}
