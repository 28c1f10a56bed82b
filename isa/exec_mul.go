package isa

// Multipliers: IMAD, IMUL, IMAD24, XMAD, IDP.

func decIMAD(d *decoder) {
	u := d.u
	ta, tb := d.in.Mod.Type, d.in.Mod.BType
	sa := signed(ta)
	sb := sa
	if tb != TypeNone {
		sb = signed(tb)
	} else if d.sm < 70 && ta != TypeNone {
		sb = sa
	}
	u.s[0] = d.raw(0, 0, intMods(d.flags(0)))
	u.s[1] = d.raw(1, 0, intMods(d.flags(1)))
	var plus uint32
	u.s[2], plus = d.addend(2)
	u.imm = plus
	u.ps[0] = pref{idx: predTrue, inv: allLanes}
	if d.has(ModX) && len(d.prds) > 0 {
		u.ps[0] = d.carryIn(0)
	}
	old := d.sm < 70
	switch {
	case d.has(ModWide), d.has(ModHI) && !old:
		// 64-bit addend; .HI keeps the upper word of the same sum.
		hi := modKind(0)
		if len(d.vals) > 2 && d.vals[2].Flags&(Neg|Inv) != 0 {
			hi = modInv
		}
		u.s[3] = d.raw(2, 1, hi)
		u.exec = execIMADWide
		if d.has(ModWide) {
			d.dpair()
			if sa != sb {
				d.failf("IMAD.WIDE multiplies two signed or two unsigned factors")
			}
			if plus == 0 && !d.has(ModX) && u.pd[0]&7 == predTrue {
				u.exec = execIMADWideSigned
				if !sa {
					u.exec = execIMADWideUnsigned
				}
			}
		}
		if !sa {
			u.lut = 1 // unsigned factors
		}
	case old && (d.has(ModHI) || d.has(ModCC) || d.has(ModX) || d.has(ModSat)):
		if !sa {
			u.lut |= 1
		}
		if !sb {
			u.lut |= 2
		}
		u.exec = execIMADOld
	default:
		d.ints(3)
		u.imm = 0
		u.exec = execIMAD
		if d.has(ModX) {
			u.s[2], u.imm = d.addend(2)
			u.exec = execIMADX
		}
	}
}

func execIMAD(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = a[i]*b[i] + c[i]
	}
	w.commit(u, 1, m)
}

func execIMADX(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	x := w.pred(u.ps[0])
	var cp uint32
	for i := range d {
		s := uint64(a[i]*b[i]) + uint64(c[i]) + uint64(u.imm) + uint64(x>>uint(i)&1)
		d[i] = uint32(s)
		cp |= bit(s>>32 != 0) << uint(i)
	}
	w.commit(u, 1, m)
	w.setPred(u.pd[0], m, cp)
}

func execIMADWideSigned(w *Warp, u *uop, m uint32) {
	a, b, c, ch := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.val(&u.s[3])
	d, dh := w.out(u, 0, m), w.out(u, 1, m)
	for i := range d {
		s := int64(int32(a[i]))*int64(int32(b[i])) + int64(uint64(ch[i])<<32|uint64(c[i]))
		d[i], dh[i] = uint32(s), uint32(s>>32)
	}
	w.commit(u, 2, m)
}

func execIMADWideUnsigned(w *Warp, u *uop, m uint32) {
	a, b, c, ch := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.val(&u.s[3])
	d, dh := w.out(u, 0, m), w.out(u, 1, m)
	for i := range d {
		s := uint64(a[i])*uint64(b[i]) + (uint64(ch[i])<<32 | uint64(c[i]))
		d[i], dh[i] = uint32(s), uint32(s>>32)
	}
	w.commit(u, 2, m)
}

// execIMADWide is IMAD.WIDE with carries, and IMAD.HI from Volta on: the upper word of the same 64-bit sum.
func execIMADWide(w *Warp, u *uop, m uint32) {
	a, b, c, ch := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.val(&u.s[3])
	d, dh := w.out(u, 0, m), w.out(u, 1, m)
	hi := u.in.Mod.Has(ModHI)
	x := w.pred(u.ps[0])
	var cp uint32
	for i := range d {
		p := uint64(a[i]) * uint64(b[i])
		if u.lut == 0 {
			p = uint64(int64(int32(a[i])) * int64(int32(b[i])))
		}
		s := p + (uint64(ch[i])<<32 | uint64(c[i]))
		over := s < p
		t := s + uint64(u.imm) + uint64(x>>uint(i)&1)
		over = over || t < s
		if over {
			cp |= 1 << uint(i)
		}
		if hi {
			d[i] = uint32(t >> 32)
		} else {
			d[i], dh[i] = uint32(t), uint32(t>>32)
		}
	}
	if hi {
		w.commit(u, 1, m)
	} else {
		w.commit(u, 2, m)
	}
	w.setPred(u.pd[0], m, cp)
}

// execIMADOld is IMAD and IMUL before Volta with .HI, .SAT or the condition code: the chosen word of the product plus a
// 32-bit addend. lut bit 0: a is unsigned, bit 1: b is.
func execIMADOld(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	hi, sat := mod.Has(ModHI), mod.Has(ModSat)
	var x uint32
	if mod.Has(ModX) {
		x = w.cf
	}
	var cf, of uint32
	for i := range d {
		p := product(a[i], b[i], u.lut&1 != 0, u.lut&2 != 0)
		v := uint32(p)
		if hi {
			v = uint32(p >> 32)
		}
		s := uint64(v) + uint64(c[i]) + uint64(u.imm) + uint64(x>>uint(i)&1)
		r := uint32(s)
		over := (v ^ r) & (c[i] ^ r) >> 31
		cf |= bit(s>>32 != 0) << uint(i)
		of |= over << uint(i)
		if sat && over != 0 {
			r = 0x7fffffff + v>>31
		}
		d[i] = r
	}
	if mod.Has(ModCC) {
		w.setCC(d, m, cf, of, mod.Has(ModX))
	}
	w.commit(u, 1, m)
}

// product is the 64-bit product of two 32-bit factors of the given signedness.
func product(a, b uint32, ua, ub bool) uint64 {
	x, y := uint64(a), uint64(b)
	if !ua {
		x = uint64(int64(int32(a)))
	}
	if !ub {
		y = uint64(int64(int32(b)))
	}
	return x * y
}

func decIMAD24(d *decoder) {
	d.ints(3)
	d.u.exec = execIMAD24
}

// execIMAD24 multiplies the low 24 bits: the low word of the product, with .HI its bits 47 to 16.
func execIMAD24(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	sgn, hi, sat := signed(mod.Type), mod.Has(ModHI), mod.Has(ModSat)
	for i := range d {
		var p int64
		if sgn {
			p = int64(int32(a[i]<<8)>>8) * int64(int32(b[i]<<8)>>8)
		} else {
			p = int64(a[i]&0xffffff) * int64(b[i]&0xffffff)
		}
		v := uint32(p)
		if hi {
			v = uint32(p >> 16)
		}
		if sat {
			d[i] = clampS32(int64(int32(v)) + int64(int32(c[i])))
		} else {
			d[i] = v + c[i]
		}
	}
	w.commit(u, 1, m)
}

func decXMAD(d *decoder) {
	u := d.u
	mod := &d.in.Mod
	half := func(i int, t Type) sref {
		k := modPart
		if d.flags(i)&SelH1 != 0 {
			k |= modPos1
		}
		if t == S16 || t == S32 {
			k |= modSigned
		}
		return d.raw(i, 0, k)
	}
	u.s[0] = half(0, mod.Type)
	u.s[1] = half(1, mod.BType)
	var plus uint32
	u.s[2], plus = d.addend(2)
	u.imm = plus
	u.s[3], u.s[4] = d.raw(1, 0, 0), d.raw(0, 0, 0)
	u.exec = execXMAD
	if d.has(ModCC) || d.has(ModX) || mod.Sub == SubCSFU || plus != 0 {
		return
	}
	x := &xmadop{cMask: allLanes, keep: allLanes}
	switch mod.Sub {
	case SubCBCC:
		x.bMask = 0xffff0000
	case SubCHI:
		x.cShift = 16
	case SubCLO:
		x.cMask = 0xffff
	}
	if d.has(ModPSL) {
		x.shift = 16
	}
	if d.has(ModMRG) {
		x.keep = 0xffff
	}
	u.xmad = x
	u.exec = execXMADFast
}

// xmadop holds the parts of XMAD that its modifiers choose, so that one loop serves them all:
// (a*b << shift) + (c >> cShift & cMask) + (b << 16 & bMask), of which the bits outside of keep are those of b << 16.
type xmadop struct {
	shift, cShift      uint8
	cMask, bMask, keep uint32
}

func execXMADFast(w *Warp, u *uop, m uint32) {
	a, b, c, whole := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.val(&u.s[3])
	d := w.out(u, 0, m)
	x := *u.xmad
	for i := range d {
		up := whole[i] << 16
		r := a[i]*b[i]<<(x.shift&31) + c[i]>>(x.cShift&31)&x.cMask + up&x.bMask
		d[i] = r&x.keep | up&^x.keep
	}
	w.commit(u, 1, m)
}

// execXMAD is the 16 x 16 + 32 bit multiply-add of Maxwell and Pascal.
func execXMAD(w *Warp, u *uop, m uint32) {
	a, b, c, whole := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.val(&u.s[3])
	wholeA := w.val(&u.s[4])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	psl, mrg := mod.Has(ModPSL), mod.Has(ModMRG)
	var x uint32
	if mod.Has(ModX) {
		x = w.cf
	}
	var cf, of uint32
	for i := range d {
		p := a[i] * b[i]
		if psl {
			p <<= 16
		}
		t := c[i]
		switch mod.Sub {
		case SubCBCC:
			t += whole[i] << 16
		case SubCHI:
			t >>= 16
		case SubCLO:
			t &= 0xffff
		case SubCSFU:
			t -= csfu(a[i], whole[i]) + csfu(b[i], wholeA[i])
		}
		s := uint64(p) + uint64(t) + uint64(u.imm) + uint64(x>>uint(i)&1)
		r := uint32(s)
		cf |= bit(s>>32 != 0) << uint(i)
		of |= (p ^ r) & (t ^ r) >> 31 << uint(i)
		if mrg {
			r = r&0xffff | whole[i]<<16
		}
		d[i] = r
	}
	if mod.Has(ModCC) {
		w.setCC(d, m, cf, of, mod.Has(ModX))
	}
	w.commit(u, 1, m)
}

// csfu is what .CSFU takes off c for one factor: 0x10000 when its half is negative and the other register's low half is not
// zero, which is when the mixed product of the two is negative. With it the sequence that the compiler emits for mul.hi.s32
// (XMAD, XMAD.U16.S16, XMAD.S16.S16.CSFU, XMAD.S16.U16.CHI, IADD3.RS, whose 33-bit sum is unsigned) is exact for all operands;
// the rule is derived from that, no document states it.
func csfu(half, other uint32) uint32 {
	if half>>15&1 != 0 && other&0xffff != 0 {
		return 0x10000
	}
	return 0
}

func decIDP(d *decoder) {
	u := d.u
	d.ints(3)
	mod := &d.in.Mod
	sa, sb := signed(mod.Type), signed(mod.BType)
	switch mod.Sub {
	case Sub4A, SubNone:
		switch {
		case sa && sb:
			u.exec = execIDP4SS
		case !sa && !sb:
			u.exec = execIDP4UU
		case sa:
			u.exec = execIDP4SU
		default:
			u.s[0], u.s[1] = u.s[1], u.s[0]
			u.exec = execIDP4SU
		}
	case Sub2ALo, Sub2AHi:
		u.sh = 0
		if mod.Sub == Sub2AHi {
			u.sh = 16
		}
		if !sa {
			u.lut |= 1
		}
		if !sb {
			u.lut |= 2
		}
		u.exec = execIDP2
	}
}

func execIDP4UU(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		x, y := a[i], b[i]
		d[i] = c[i] + (x&0xff)*(y&0xff) + (x>>8&0xff)*(y>>8&0xff) + (x>>16&0xff)*(y>>16&0xff) + (x>>24)*(y>>24)
	}
	w.commit(u, 1, m)
}

func execIDP4SS(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		x, y := int32(a[i]), int32(b[i])
		d[i] = c[i] + uint32(int32(int8(x))*int32(int8(y))+int32(int8(x>>8))*int32(int8(y>>8))+
			int32(int8(x>>16))*int32(int8(y>>16))+(x>>24)*(y>>24))
	}
	w.commit(u, 1, m)
}

// execIDP4SU multiplies signed bytes of a with unsigned bytes of b.
func execIDP4SU(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		x, y := int32(a[i]), b[i]
		d[i] = c[i] + uint32(int32(int8(x))*int32(y&0xff)+int32(int8(x>>8))*int32(y>>8&0xff)+
			int32(int8(x>>16))*int32(y>>16&0xff)+(x>>24)*int32(y>>24))
	}
	w.commit(u, 1, m)
}

// execIDP2 is the product of two halves of a with two bytes of b.
func execIDP2(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	sa, sb, at := u.lut&1 == 0, u.lut&2 == 0, uint(u.sh)
	for i := range d {
		s := laneOf(a[i], 0, 16, sa)*laneOf(b[i], at, 8, sb) + laneOf(a[i], 16, 16, sa)*laneOf(b[i], at+8, 8, sb)
		d[i] = c[i] + uint32(s)
	}
	w.commit(u, 1, m)
}
