package lower

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// baseUse is an operand that reads a register.
type baseUse struct {
	b  *block
	i  int
	in *isa.Inst
	k  int
}

// basePass rewrites what is computed from the base address of shared memory.
type basePass struct {
	f       *fn
	n       numbering
	defs    []defSite
	readers map[isa.Reg][]baseUse
	added   []placed
}

// placed is an instruction to be inserted ahead of instruction i of a block.
type placed struct {
	b  *block
	i  int
	in isa.Inst
}

// uniformBases turns the base address of shared memory into a uniform register where every use can take one: as
// part of an address ([R+UR+imm]), or as the addend of LEA and IADD3.
func (f *fn) uniformBases() {
	if f.t.SM < 90 {
		return
	}
	n := f.numbering()
	p := &basePass{f: f, n: n, defs: f.defSites(n), readers: map[isa.Reg][]baseUse{}}
	loops := f.divergentLoops()
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			for k := range in.Src[:in.NSrc] {
				if o := &in.Src[k]; o.Reg >= isa.VirtualBase && (o.Kind == isa.KindReg || o.Kind == isa.KindMem || o.Kind == isa.KindConst) {
					p.readers[o.Reg] = append(p.readers[o.Reg], baseUse{b, i, in, k})
				}
			}
		}
	}
	for _, b := range f.blocks {
		if loops[b] {
			continue
		}
		for i := 0; i < len(b.insts); i++ {
			s2r := &b.insts[i]
			if s2r.Op != isa.OpS2R || s2r.Src[0].Reg != isa.SRCgaCtaID || s2r.Guard.Kind != isa.KindNone || !p.value(s2r.Dst[0].Reg) {
				continue
			}
			if bases, all := p.basesOf(s2r.Dst[0].Reg, b, loops); len(bases) > 0 {
				p.makeUniform(b, i, bases, all)
			}
		}
	}
	slices.SortStableFunc(p.added, func(x, y placed) int { return cmp.Compare(x.i, y.i) })
	for k := len(p.added) - 1; k >= 0; k-- { // last, for the readers are known by their places
		x := &p.added[k]
		x.b.insts = slices.Insert(x.b.insts, x.i, x.in)
	}
	f.compact()
	f.removeDead()
}

// windowBase is an instruction that makes a base address of the block's rank in the cluster, and the place in the window.
type windowBase struct {
	lea *isa.Inst
	off uint32 // from systemShared
}

// basesOf is the instructions of block b that make base addresses of the block's rank and can be uniform: all that
// reads them can take a uniform register, outside of loops that lanes leave in different rounds, where the compiler keeps to
// general ones. All says that nothing else reads the rank.
func (p *basePass) basesOf(rank isa.Reg, b *block, loops map[*block]bool) (bases []windowBase, all bool) {
	all = true
	for _, r := range p.readers[rank] {
		in := r.in
		off, ok := p.windowStart(in.Src[1])
		ok = ok && r.b == b && in.Op == isa.OpLEA && in.Guard.Kind == isa.KindNone && in.Mod.Flags == 0 && r.k == 0 && in.Dst[1] == pt && p.value(in.Dst[0].Reg)
		if ok {
			p.spreadOffsets(in.Dst[0].Reg)
			for _, u := range p.readers[in.Dst[0].Reg] {
				ok = ok && takesBase(u) && !loops[u.b]
			}
		}
		if ok {
			bases = append(bases, windowBase{in, off})
		}
		all = all && ok
	}
	return bases, all
}

// windowStart is the distance of a word from systemShared, if it is that constant or the sum of it and a literal.
func (p *basePass) windowStart(o isa.Operand) (off uint32, ok bool) {
	for o.Kind == isa.KindReg && o.Flags == 0 && p.value(o.Reg) {
		d := &p.defs[p.n.of(isa.KindReg, o.Reg)]
		in := &d.b.insts[d.i]
		switch {
		case in.Op == isa.OpMOV && in.Mod.Has(modKeep) && isImm(in.Src[0], systemShared):
			return off, true
		case off == 0 && plainAdd(in) && isZero(in.Src[2]):
			c, known := constant(in.Src[1])
			if !known {
				return 0, false
			}
			off, o = c, in.Src[0]
		default:
			return 0, false
		}
	}
	return 0, false
}

// makeUniform lets the bases be computed on the uniform datapath, from the rank that instruction i of the block reads; in a loop as
// early as in a block that is executed in the same rounds.
func (p *basePass) makeUniform(b *block, i int, bases []windowBase, all bool) {
	f, s2r := p.f, &b.insts[i]
	to, at := b, i
	for d := b.idom; b.loop != nil && d != nil && d.loop == b.loop && postDominates(b, d); d = d.idom {
		if to, at = d, len(d.insts); d.terminator() != nil {
			at--
		}
	}
	add := func(op isa.Op, sources ...isa.Operand) isa.Operand {
		d := isa.UR(f.newUReg())
		in := isa.Inst{Op: op, NDst: 1, NSrc: uint8(len(sources)), Pos: s2r.Pos, Dst: [isa.MaxDst]isa.Operand{d}}
		copy(in.Src[:], sources)
		p.added = append(p.added, placed{to, at, in})
		return d
	}
	rank := add(isa.OpS2UR, s2r.Src[0])
	start := add(isa.OpUMOV, imm(systemShared))
	for _, x := range bases {
		from := start
		if x.off != 0 {
			from = add(isa.OpUIADD3, start, imm(x.off), isa.UR(isa.URZ))
		}
		base := add(isa.OpULEA, rank, from, imm(24))
		for _, u := range p.readers[x.lea.Dst[0].Reg] {
			p.setBase(u, base)
		}
		dead(x.lea)
	}
	if all {
		dead(s2r)
	}
}

// value says that the register has one definition, which always executes.
func (p *basePass) value(r isa.Reg) bool {
	id := p.n.of(isa.KindReg, r)
	return r >= isa.VirtualBase && id < len(p.defs) && p.defs[id].value()
}

// isAddress says that the operand is the register part of an address in shared memory.
func isAddress(u baseUse) bool {
	o := &u.in.Src[u.k]
	return o.Kind == isa.KindMem && o.Flags == 0 && memSpaces(u.in) == 2
}

// takesBase says that the operand can be a uniform base.
func takesBase(u baseUse) bool {
	in, o := u.in, &u.in.Src[u.k]
	switch {
	case o.Kind == isa.KindMem:
		return isAddress(u)
	case o.Flags != 0:
		return false
	case in.Op == isa.OpLEA && (in.Mod.Flags == 0 || in.Mod.Flags == isa.ModHI) && u.k == 1:
		return in.Src[0].Kind == isa.KindReg
	case u.k == 2 && scaledSum(in) >= 0:
		return true
	case plainAdd(in):
		t := terms(in, 3)
		return len(t) > 1 && !slices.ContainsFunc(t, func(x isa.Operand) bool { return x.Kind != isa.KindReg })
	}
	return false
}

// scaledSum is n where the instruction is x * 2^n + y with a register x, -1 for others.
func scaledSum(in *isa.Inst) int {
	c, ok := constant(in.Src[1])
	if !ok || in.Op != isa.OpIMAD || in.Mod.Flags != 0 || in.Src[0].Kind != isa.KindReg || (in.Src[0].Flags|in.Src[2].Flags)&^isa.Reuse != 0 || bits.OnesCount32(c) != 1 {
		return -1
	}
	return bits.TrailingZeros32(c)
}

// scaleByShift makes such a sum a LEA, which has a place for a uniform y.
func scaleByShift(in *isa.Inst) {
	n := scaledSum(in)
	if n < 0 {
		return
	}
	in.Op, in.Mod, in.NDst, in.NSrc = isa.OpLEA, isa.Mod{}, 2, 3
	in.Dst[1] = pt
	in.Src = [isa.MaxSrc]isa.Operand{in.Src[0], in.Src[2], imm(uint32(n))}
}

// offset is the constant that the instruction adds to the operand, if that is all it does.
func (p *basePass) offset(u baseUse) (int64, bool) {
	if !plainAdd(u.in) || u.in.Guard.Kind != isa.KindNone || u.in.Src[u.k].Kind != isa.KindReg || u.in.Src[u.k].Flags != 0 || !p.value(u.in.Dst[0].Reg) {
		return 0, false
	}
	t := terms(u.in, 3)
	if len(t) != 2 {
		return 0, false
	}
	for _, o := range t {
		if c, ok := constant(o); ok && o.Imm < dynamicShared/2 {
			return int64(int32(c)), true
		}
	}
	return 0, false
}

// onlyAddresses says that the sum an operand goes into is nothing but an address in shared memory.
func (p *basePass) onlyAddresses(u baseUse) bool {
	if !takesBase(u) || u.in.Guard.Kind != isa.KindNone || !p.value(u.in.Dst[0].Reg) || plainAdd(u.in) && len(terms(u.in, 3)) > 2 {
		return false
	}
	for _, r := range p.readers[u.in.Dst[0].Reg] {
		if !isAddress(r) {
			return false
		}
	}
	return true
}

// spreadOffsets lets addresses made of the base plus a constant use the base, and have the constant as their offset.
func (p *basePass) spreadOffsets(base isa.Reg) {
	for again := true; again; {
		again = false
		for at, u := range p.readers[base] {
			off, ok := p.offset(u)
			if !ok {
				continue
			}
			sum := u.in.Dst[0].Reg
			for _, r := range p.readers[sum] {
				_, more := p.offset(r)
				ok = ok && (isAddress(r) || p.onlyAddresses(r) || more)
			}
			if !ok {
				continue
			}
			for _, r := range p.readers[sum] {
				o := &r.in.Src[r.k]
				switch c, more := p.offset(r); {
				case o.Kind == isa.KindMem:
					o.Imm += off
				case more:
					for k := range r.in.Src[:3] {
						if _, is := constant(r.in.Src[k]); is && !isZero(r.in.Src[k]) {
							r.in.Src[k] = imm(uint32(int32(c + off)))
						}
					}
				default:
					for _, m := range p.readers[r.in.Dst[0].Reg] {
						m.in.Src[m.k].Imm += off
					}
				}
				o.Reg = base
				p.readers[base] = append(p.readers[base], r)
			}
			p.readers[sum] = nil
			p.readers[base] = append(p.readers[base][:at:at], p.readers[base][at+1:]...)
			again = true
			break
		}
	}
}

// setBase replaces an operand that is the base by the uniform register; a sum that is only an address becomes part of it.
func (p *basePass) setBase(u baseUse, base isa.Operand) {
	o := &u.in.Src[u.k]
	if o.Kind == isa.KindMem {
		o.Reg, o.UReg = isa.RZ, base.Reg
		o.Flags |= isa.HasUReg
		return
	}
	addresses := p.onlyAddresses(u)
	*o = base
	scaleByShift(u.in)
	if u.in.Op != isa.OpIADD3 || !addresses {
		return
	}
	sum := p.readers[u.in.Dst[0].Reg]
	for _, x := range terms(u.in, 3) {
		if x.Kind != isa.KindReg {
			continue
		}
		if x.Flags != 0 || x.Reg < isa.VirtualBase || !p.keeps(x.Reg, u, sum) {
			return
		}
		for _, r := range sum {
			m := &r.in.Src[r.k]
			m.Reg, m.UReg = x.Reg, base.Reg
			m.Flags |= isa.HasUReg
		}
	}
}

// keeps says that the register holds at all the uses what it holds at u.
func (p *basePass) keeps(r isa.Reg, u baseUse, uses []baseUse) bool {
	if p.value(r) {
		return true
	}
	last := u.i
	for _, x := range uses {
		if x.b != u.b || x.i < u.i {
			return false
		}
		last = max(last, x.i)
	}
	id, same := p.n.of(isa.KindReg, r), true
	for i := u.i; i < last; i++ {
		p.f.defs(&u.b.insts[i], p.n, func(d int) { same = same && d != id })
	}
	return same
}
