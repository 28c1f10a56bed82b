package lower

import "github.com/sarchlab/smsim/isa"

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
}

// uniformBases turns the base address of shared memory into a uniform register where every use can take one: as
// part of an address ([R+UR+imm]), or as the addend of LEA and IADD3.
func (f *fn) uniformBases() {
	if f.t.SM < 90 {
		return
	}
	n := f.numbering()
	p := &basePass{f: f, n: n, defs: f.defSites(n), readers: map[isa.Reg][]baseUse{}}
	uses := f.useCounts(n)
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
		for i := 0; i < len(b.insts); i++ {
			in := &b.insts[i]
			if in.Op != isa.OpLEA || in.Mod.Flags != 0 || in.Src[0].Kind != isa.KindReg || in.Src[0].Reg < isa.VirtualBase || in.Dst[1] != pt || in.Dst[0].Reg < isa.VirtualBase {
				continue
			}
			rank := &p.defs[n.of(isa.KindReg, in.Src[0].Reg)]
			if !rank.value() || !p.value(in.Dst[0].Reg) || in.Src[1].Kind == isa.KindReg && in.Src[1].Reg != isa.RZ {
				continue
			}
			s2r := &rank.b.insts[rank.i]
			if rank.b != b || s2r.Op != isa.OpS2R || s2r.Src[0].Reg != isa.SRCgaCtaID || uses[n.of(isa.KindReg, in.Src[0].Reg)] != 1 {
				continue
			}
			d := in.Dst[0].Reg
			p.spreadOffsets(d)
			ok := true
			for _, u := range p.readers[d] {
				ok = ok && takesBase(u)
			}
			if !ok {
				continue
			}
			ur, base := isa.UR(f.newUReg()), isa.UR(f.newUReg())
			s2r.Op, s2r.Dst[0] = isa.OpS2UR, ur
			in.Op, in.NDst = isa.OpULEA, 1
			in.Dst[0], in.Dst[1], in.Src[0] = base, isa.Operand{}, ur
			for _, u := range p.readers[d] {
				p.setBase(u, base)
			}
		}
	}
	f.removeDead()
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
	case in.Op == isa.OpLEA && in.Mod.Flags == 0 && u.k == 1:
		return in.Src[0].Kind == isa.KindReg
	case plainAdd(in):
		t := terms(in, 3)
		return len(t) == 2 && t[0].Kind == isa.KindReg && t[1].Kind == isa.KindReg
	}
	return false
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
	if !takesBase(u) || u.in.Guard.Kind != isa.KindNone || !p.value(u.in.Dst[0].Reg) {
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
