package lower

import "github.com/sarchlab/smsim/isa"

// maxStoredLiterals is how many literals are kept in registers for the stores of one loop.
const maxStoredLiterals = 4

// keepStoredLiterals puts literals that an innermost loop stores, or hands to atomic operations, in registers before the loop. Memory takes
// its data from registers only; ptxas moves such a literal out of the loop, while one that arithmetic reads is made where it is read.
func (f *fn) keepStoredLiterals() {
	n := f.numbering()
	v := &numberer{f: f, n: n, defs: f.defSites(n)}
	for _, l := range f.loops {
		to := l.head.idom
		if f.hasInner(l) || to == nil || l.contains(to) || l.calls() {
			continue
		}
		kept := map[uint32]isa.Operand{}
		for _, b := range f.rpo {
			if b.loop != l {
				continue
			}
			for i := range b.insts {
				if in := &b.insts[i]; storesOperand(in) {
					for k := range in.Src[:in.NSrc] {
						f.keepStored(v, to, &in.Src[k], in.Pos, kept)
					}
				}
			}
		}
	}
}

// keepStored lets an operand with the value of a literal name the register that holds it from the end of the block on.
func (f *fn) keepStored(v *numberer, to *block, o *isa.Operand, pos isa.SourcePos, kept map[uint32]isa.Operand) {
	c, ok := constant(*o)
	if d := v.definition(*o); d != nil && d.Op == isa.OpMOV && d.Mod.Flags == 0 && o.Flags == 0 {
		c, ok = constant(d.Src[0])
	}
	if !ok || c == 0 || o.Kind == isa.KindReg && o.Reg < isa.VirtualBase {
		return
	}
	r, have := kept[c]
	if !have {
		if len(kept) == maxStoredLiterals {
			return
		}
		r = isa.R(f.newReg())
		kept[c] = r
		in := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: pos}
		in.Dst[0], in.Src[0] = r, imm(c)
		at := len(to.insts)
		if to.terminator() != nil {
			at--
		}
		to.insts = append(to.insts[:at:at], append([]isa.Inst{in}, to.insts[at:]...)...)
	}
	*o = r
}
