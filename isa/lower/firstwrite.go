package lower

import "github.com/sarchlab/smsim/isa"

// flagFirst, of a guard, marks the first of two instructions under a predicate and its complement that write the same register: together
// they write it in all lanes, so nobody needs what it held before. Between them only the first one's lanes may read it.
const flagFirst = flagPair

// firstWrites marks such instructions (an if with an arm on each side, predicated). Without it the register would be live
// from the last round of a loop on, or from the kernel's start.
func (f *fn) firstWrites() {
	for _, b := range f.blocks {
		for i := range b.insts {
			if in := &b.insts[i]; in.Guard.Kind == isa.KindPred && f.writtenAgain(b, i) {
				in.Guard.Flags |= flagFirst
			}
		}
	}
}

// forgetFirstWrites removes the marks.
func (f *fn) forgetFirstWrites() {
	for _, b := range f.blocks {
		for i := range b.insts {
			if g := &b.insts[i].Guard; g.Kind == isa.KindPred {
				g.Flags &^= flagFirst
			}
		}
	}
}

// writtenAgain says that an instruction of the block under the complement of instruction i's guard writes its result before anybody else
// reads it.
func (f *fn) writtenAgain(b *block, i int) bool {
	in := &b.insts[i]
	d := in.Dst[0]
	if in.NDst == 0 || d.Kind != isa.KindReg || d.Reg < isa.VirtualBase || d.Flags&(flagPair|flagQuad) != 0 {
		return false
	}
	for _, o := range in.Dst[1:in.NDst] {
		if o.Kind == isa.KindReg || o.Kind == isa.KindPred && o.Reg != isa.PT {
			return false
		}
	}
	other := in.Guard
	other.Flags ^= isa.Neg
	for j := i + 1; j < len(b.insts); j++ {
		x := &b.insts[j]
		if f.site(x) != nil {
			return false
		}
		for k := range x.Src[:x.NSrc] {
			if f.mentions(&x.Src[k], isa.KindReg, d.Reg) && x.Guard != in.Guard {
				return false
			}
		}
		for k := range x.Dst[:x.NDst] {
			if f.mentions(&x.Dst[k], isa.KindPred, in.Guard.Reg) {
				return false
			}
			if f.mentions(&x.Dst[k], isa.KindReg, d.Reg) {
				return x.Guard == other && k == 0 && x.Dst[0] == d
			}
		}
	}
	return false
}
