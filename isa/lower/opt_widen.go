package lower

import "github.com/sarchlab/smsim/isa"

// modApart marks the last of several definitions of a variable that ptxas does not allocate as a word of a register
// pair (see keepWidening). It exists only inside the package.
const modApart isa.ModFlags = 1 << 62

// keepWidening marks the copies that ptxas leaves where a 32-bit value is widened to 64 bits or packed into a
// vector: the result of a sign extension (which it expands after it has merged copies), and variables that expansions
// overwrite under a predicate. It keeps them in a register of their own, so that the word of the pair is a copy.
// Seen in the machine code of CUDA 13.0 for Turing to Blackwell; the same instructions with a 32-bit store have no copy.
func (f *fn) keepWidening() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	defs := f.defSites(n)
	apart := map[isa.Reg]bool{}
	for _, b := range f.rpo {
		for i := range b.insts {
			in := &b.insts[i]
			if in.Mod.Has(modApart) {
				in.Mod.Flags &^= modApart
				apart[in.Dst[0].Reg] = true
			}
		}
	}
	for _, b := range f.rpo {
		for i := range b.insts {
			in := &b.insts[i]
			if in.Op != isa.OpMOV || in.Mod.Flags != 0 || in.Guard.Kind != isa.KindNone || in.Dst[0].Kind != isa.KindReg ||
				in.Src[0].Kind != isa.KindReg || in.Src[0].Flags != 0 || in.Src[0].Reg < isa.VirtualBase {
				continue
			}
			from := in.Src[0].Reg
			_, pair := f.inTuple[in.Dst[0].Reg]
			_, partOf := f.inTuple[from]
			if !pair || partOf {
				continue
			}
			d := &defs[n.of(isa.KindReg, from)]
			if apart[from] || d.value() && signExtends(&d.b.insts[d.i]) && !loaded(d.b.insts[d.i].Src[0], defs, n) {
				in.Mod.Flags |= modKeep
			}
		}
	}
}

// loaded says that the operand is the result of a load: ptxas extends it before it merges copies.
func loaded(o isa.Operand, defs []defSite, n numbering) bool {
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase {
		return false
	}
	d := &defs[n.of(isa.KindReg, o.Reg)]
	return d.value() && d.b.insts[d.i].Class().IsMemory()
}

// signExtends says that the instruction is the PRMT that extends the sign of a byte or half.
func signExtends(in *isa.Inst) bool {
	if in.Op != isa.OpPRMT || in.Mod.Sub != isa.SubNone || in.Src[2] != rz {
		return false
	}
	s, ok := constant(in.Src[1])
	return ok && (s == 0x8880 || s == 0x9910)
}
