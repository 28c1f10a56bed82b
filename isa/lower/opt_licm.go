package lower

import "github.com/sarchlab/smsim/isa"

// hoistBases moves the computation of shared-memory base addresses out of innermost loops, where the compiler also
// keeps them. (Other invariant code stays where the PTX has it: its front end has done that work, and
// what it left inside saves registers.)
func (f *fn) hoistBases() {
	inner := map[*loop]bool{}
	for _, l := range f.loops {
		inner[l] = true
	}
	for _, l := range f.loops {
		if l.parent != nil {
			delete(inner, l.parent)
		}
	}
	n := f.numbering()
	defs := f.defSites(n)
	base := make([]bool, n.total)
	for _, l := range f.loops {
		to := l.head.idom
		if !inner[l] || to == nil || l.contains(to) {
			continue
		}
		var moved []isa.Inst
		for _, b := range f.rpo {
			if b.loop != l {
				continue
			}
			for i := range b.insts {
				in := &b.insts[i]
				if in.NDst == 0 || in.Guard.Kind != isa.KindNone || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Reg < isa.VirtualBase {
					continue
				}
				id := n.of(isa.KindReg, in.Dst[0].Reg)
				if !defs[id].value() {
					continue
				}
				ok := in.Op == isa.OpS2R && in.Src[0].Reg == isa.SRCgaCtaID
				if in.Op == isa.OpLEA && in.Mod.Flags == 0 && in.Src[0].Kind == isa.KindReg && in.Src[0].Reg >= isa.VirtualBase && in.Dst[1] == pt {
					ok = base[n.of(isa.KindReg, in.Src[0].Reg)] && in.Src[1].Kind != isa.KindReg || base[n.of(isa.KindReg, in.Src[0].Reg)] && in.Src[1].Reg == isa.RZ
				}
				if ok {
					base[id] = true
					moved = append(moved, *in)
					dead(in)
				}
			}
		}
		if len(moved) == 0 {
			continue
		}
		at := len(to.insts)
		if to.terminator() != nil {
			at--
		}
		to.insts = append(to.insts[:at], append(moved, to.insts[at:]...)...)
	}
	f.compact()
}
