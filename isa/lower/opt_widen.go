package lower

import "github.com/sarchlab/smsim/isa"

// modApart marks the last of several definitions of a variable that ptxas does not allocate as a word of a register
// pair (see keepWidening). It exists only inside the package.
const modApart isa.ModFlags = 1 << 62

// modWhole marks the word of a 64-bit variable that ptxas writes as a whole, although nobody may read this word. It
// exists only inside the package.
const modWhole isa.ModFlags = 1 << 61

// keepWidening marks the copies that ptxas leaves where a 32-bit value is widened to 64 bits or packed into a
// vector: the result of a sign extension (which it expands after it has merged copies) or of an operation on halves, and
// variables that expansions overwrite under a predicate. It keeps them in a register of their own, so that the word of the pair is a copy.
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
		f.extendInPlace(b, n, defs, apart)
	}
	f.compact()
	defs = f.defSites(n)
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
			if apart[from] || d.value() && (packedHalves(&d.b.insts[d.i]) || signExtends(&d.b.insts[d.i]) && !loaded(d.b.insts[d.i].Src[0], defs, n)) {
				in.Mod.Flags |= modKeep
			}
		}
	}
}

// packedHalves says that the instruction computes both halves of a word.
func packedHalves(in *isa.Inst) bool {
	return (in.Op == isa.OpVIADD || in.Op == isa.OpVIMNMX || in.Op == isa.OpVIMNMX3 || in.Op == isa.OpVIADDMNMX) && (in.Mod.Type == isa.S16x2 || in.Mod.Type == isa.U16x2)
}

// pairOf is the other word of a pair whose first (second) word is r.
func (f *fn) pairOf(r isa.Reg, first bool) (isa.Reg, bool) {
	t := f.tuples[f.inTuple[r]]
	if _, in := f.inTuple[r]; !in || len(t) != 2 || (t[0] == r) != first {
		return 0, false
	}
	if first {
		return t[1], true
	}
	return t[0], true
}

// extendInPlace lets the low word of a pair that is widened stay where it is: where the high word is not read any
// more, the constant is written over it instead of copying the low word to a pair of its own.
func (f *fn) extendInPlace(b *block, n numbering, defs []defSite, apart map[isa.Reg]bool) {
	for i := range b.insts {
		m := &b.insts[i]
		if m.Op != isa.OpMOV || m.Mod.Flags != 0 || m.Guard.Kind != isa.KindNone || m.Dst[0].Kind != isa.KindReg ||
			m.Src[0].Kind != isa.KindReg || m.Src[0].Flags != 0 || m.Src[0].Reg < isa.VirtualBase || apart[m.Src[0].Reg] {
			continue
		}
		to, from, since := m.Dst[0].Reg, m.Src[0].Reg, i
		if d := &defs[n.of(isa.KindReg, from)]; d.value() && d.b == b { // a copy of it
			if c := &b.insts[d.i]; c.Op == isa.OpMOV && c.Mod.Flags == 0 && c.Src[0].Kind == isa.KindReg && c.Src[0].Flags == 0 && c.Src[0].Reg >= isa.VirtualBase && !apart[c.Src[0].Reg] {
				if _, pair := f.inTuple[from]; !pair {
					from, since = c.Src[0].Reg, int(d.i)
				}
			}
		}
		toHi, ok := f.pairOf(to, true)
		fromHi, okFrom := f.pairOf(from, true)
		if !ok || !okFrom {
			continue
		}
		dl, dh := &defs[n.of(isa.KindReg, to)], &defs[n.of(isa.KindReg, toHi)]
		if !dl.value() || !dh.value() || dh.b != b {
			continue
		}
		k := &b.insts[dh.i]
		if _, isConst := constant(k.Src[0]); k.Op != isa.OpMOV || !isConst || k.Guard.Kind != isa.KindNone || k.Mod.Flags != 0 {
			continue
		}
		if !f.onlyBefore(b, n, since, from, fromHi) || f.readBefore(b, n, i, toHi) {
			continue
		}
		m.Dst[0].Reg, m.Src[0] = fromHi, k.Src[0]
		dead(k)
		f.renamePair(to, toHi, from, fromHi)
	}
}

// onlyBefore says that a pair is written, and its high word read, only in block b before instruction i.
func (f *fn) onlyBefore(b *block, n numbering, i int, lo, hi isa.Reg) bool {
	l, h := n.of(isa.KindReg, lo), n.of(isa.KindReg, hi)
	ok := true
	for _, c := range f.rpo {
		for j := range c.insts {
			if c == b && j < i {
				continue
			}
			f.uses(&c.insts[j], n, func(id int) { ok = ok && id != h })
			f.defs(&c.insts[j], n, func(id int) { ok = ok && id != l && id != h })
		}
	}
	return ok
}

// readBefore says that block b reads the register before instruction i.
func (f *fn) readBefore(b *block, n numbering, i int, r isa.Reg) bool {
	found := false
	for j := range i {
		f.uses(&b.insts[j], n, func(id int) { found = found || id == n.of(isa.KindReg, r) })
	}
	return found
}

// renamePair replaces a pair by another everywhere.
func (f *fn) renamePair(lo, hi, newLo, newHi isa.Reg) {
	rename := func(o *isa.Operand) {
		if o.Kind == isa.KindReg || o.Kind == isa.KindMem || o.Kind == isa.KindConst {
			switch o.Reg {
			case lo:
				o.Reg = newLo
			case hi:
				o.Reg = newHi
			}
		}
	}
	for _, b := range f.rpo {
		for i := range b.insts {
			in := &b.insts[i]
			for k := range in.Src[:in.NSrc] {
				rename(&in.Src[k])
			}
			for k := range in.Dst[:in.NDst] {
				rename(&in.Dst[k])
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
