package isa

import "math/bits"

// Shifts, byte permutes and bit fields: SHF, SHL, SHR, PRMT, SGXT, BMSK, BFE, BFI, BREV, POPC, FLO.

func decSHF(d *decoder) {
	u := d.u
	d.ints(3)
	mod := &d.in.Mod
	left, hi := mod.Has(ModLeft), mod.Has(ModHI)
	if d.sm < 70 {
		hi = left
	}
	wide := mod.Type == U64 || mod.Type == S64
	wrap := mod.Has(ModWrap)
	if left == mod.Has(ModRight) {
		d.failf("SHF needs one of .L and .R")
		return
	}
	n, constant := d.immValue(1)
	zeroLo, zeroHi := u.s[0].ptr == d.k.zero, u.s[2].ptr == d.k.zero
	sgn := mod.Type == S32 || mod.Type == S64
	// Constant shifts of one word are by far the most frequent.
	if constant && !wide && (n < 32 || wrap) {
		n &= 31
		u.sh = uint8(n)
		switch {
		case left && !hi:
			u.exec = execShlImm
			return
		case left && hi && zeroLo:
			u.s[0] = u.s[2]
			u.exec = execShlImm
			return
		case !left && hi && !sgn:
			u.s[0] = u.s[2]
			u.exec = execShrImm
			return
		case !left && hi && sgn:
			u.s[0] = u.s[2]
			u.exec = execSarImm
			return
		case !left && !hi && zeroHi && !sgn:
			u.exec = execShrImm
			return
		case left && hi && n != 0:
			u.exec = execFunnelL
			return
		case !left && !hi && n != 0:
			u.exec = execFunnelR
			return
		}
	}
	limit := uint8(32)
	if wide {
		limit = 64
	}
	u.lut = limit
	switch {
	case left && hi:
		u.exec = execShfLHi
	case left:
		u.exec = execShfLLo
	case hi:
		u.exec = execShfRHi
	default:
		u.exec = execShfRLo
	}
	if wrap {
		u.imm = uint32(limit) - 1
	} else {
		u.imm = ^uint32(0)
	}
	u.sgn = sgn
}

func execShlImm(w *Warp, u *uop, m uint32) {
	a := w.val(&u.s[0])
	d := w.out(u, 0, m)
	n := u.sh & 31
	for i := range d {
		d[i] = a[i] << n
	}
	w.commit(u, 1, m)
}

func execShrImm(w *Warp, u *uop, m uint32) {
	a := w.val(&u.s[0])
	d := w.out(u, 0, m)
	n := u.sh & 31
	for i := range d {
		d[i] = a[i] >> n
	}
	w.commit(u, 1, m)
}

func execSarImm(w *Warp, u *uop, m uint32) {
	a := w.val(&u.s[0])
	d := w.out(u, 0, m)
	n := u.sh & 31
	for i := range d {
		d[i] = uint32(int32(a[i]) >> n)
	}
	w.commit(u, 1, m)
}

func execFunnelL(w *Warp, u *uop, m uint32) {
	a, c := w.val(&u.s[0]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	n := u.sh & 31
	r := (32 - n) & 31
	for i := range d {
		d[i] = c[i]<<n | a[i]>>r
	}
	w.commit(u, 1, m)
}

func execFunnelR(w *Warp, u *uop, m uint32) {
	a, c := w.val(&u.s[0]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	n := u.sh & 31
	r := (32 - n) & 31
	for i := range d {
		d[i] = a[i]>>n | c[i]<<r
	}
	w.commit(u, 1, m)
}

// amount is a shift distance: imm is the wrap mask, or all ones to clamp at lut.
func (u *uop) amount(n uint32) uint { return uint(min(n&u.imm, uint32(u.lut))) }

func execShfLHi(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		v := uint64(c[i])<<32 | uint64(a[i])
		d[i] = uint32(v << u.amount(b[i]) >> 32)
	}
	w.commit(u, 1, m)
}

func execShfLLo(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = uint32(uint64(a[i]) << u.amount(b[i]))
	}
	w.commit(u, 1, m)
}

func execShfRHi(w *Warp, u *uop, m uint32) {
	b, c := w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		n := u.amount(b[i])
		if u.sgn {
			d[i] = uint32(int64(int32(c[i])) >> n)
		} else {
			d[i] = uint32(uint64(c[i]) >> n)
		}
	}
	w.commit(u, 1, m)
}

func execShfRLo(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		v := uint64(c[i])<<32 | uint64(a[i])
		n := u.amount(b[i])
		if u.sgn {
			d[i] = uint32(int64(v) >> n)
		} else {
			d[i] = uint32(v >> n)
		}
	}
	w.commit(u, 1, m)
}

func decSHL(d *decoder) { d.oldShift(execShfLLo, execShlImm, execShlImm) }

func decSHR(d *decoder) {
	u := d.u
	d.oldShift(execShfRHi, execSarImm, execShrImm)
	u.s[2] = u.s[0] // the word that SHF.R.HI shifts
	u.sgn = signed(d.in.Mod.Type)
}

// oldShift decodes SHL and SHR of Tesla to Pascal.
func (d *decoder) oldShift(general, immSigned, immUnsigned func(*Warp, *uop, uint32)) {
	u := d.u
	d.ints(2)
	u.imm, u.lut = ^uint32(0), 32
	if d.has(ModWrap) {
		u.imm = 31
	}
	u.exec = general
	if n, ok := d.immValue(1); ok && (n < 32 || d.has(ModWrap)) && !d.has(ModCC) && !d.has(ModX) {
		u.sh = uint8(n & 31)
		u.exec = immUnsigned
		if signed(d.in.Mod.Type) {
			u.exec = immSigned
		}
	}
}

func decPRMT(d *decoder) {
	u := d.u
	d.ints(3)
	switch d.in.Mod.Sub {
	case SubNone:
		u.exec = execPRMT
		if sel, ok := d.immValue(1); ok && sel&0x8888 == 0 {
			u.imm = sel
			u.exec = execPRMTImm
		}
	case SubF4E, SubB4E, SubRC8, SubECL, SubECR, SubRC16:
		u.exec = execPRMTMode
	}
}

// prmt picks four bytes of {c, a}; bit 3 of a selector replicates the byte's sign.
func prmt(a, c, sel uint32) uint32 {
	v := uint64(c)<<32 | uint64(a)
	var r uint32
	for i := uint(0); i < 4; i++ {
		s := sel >> (4 * i)
		b := uint32(v >> (s & 7 * 8) & 0xff)
		if s&8 != 0 {
			b = uint32(int32(int8(b))>>7) & 0xff
		}
		r |= b << (8 * i)
	}
	return r
}

func execPRMT(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = prmt(a[i], c[i], b[i])
	}
	w.commit(u, 1, m)
}

// execPRMTImm is the permute with a constant selector without sign replication.
func execPRMTImm(w *Warp, u *uop, m uint32) {
	a, c := w.val(&u.s[0]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	s0, s1, s2, s3 := u.imm&7*8, u.imm>>4&7*8, u.imm>>8&7*8, u.imm>>12&7*8
	for i := range d {
		v := uint64(c[i])<<32 | uint64(a[i])
		d[i] = uint32(v>>(s0&63))&0xff | uint32(v>>(s1&63))&0xff<<8 | uint32(v>>(s2&63))&0xff<<16 | uint32(v>>(s3&63))<<24
	}
	w.commit(u, 1, m)
}

// prmtModes are the generic selectors of the special modes, by mode and the low two bits of the selector.
// Source: PTX ISA, prmt, table of the modes.
var prmtModes = map[Sub][4]uint32{
	SubF4E:  {0x3210, 0x4321, 0x5432, 0x6543},
	SubB4E:  {0x5670, 0x6701, 0x7012, 0x0123},
	SubRC8:  {0x0000, 0x1111, 0x2222, 0x3333},
	SubECL:  {0x3210, 0x3211, 0x3222, 0x3333},
	SubECR:  {0x0000, 0x1110, 0x2210, 0x3210},
	SubRC16: {0x1010, 0x3232, 0x1010, 0x3232},
}

func execPRMTMode(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	table := prmtModes[u.in.Mod.Sub]
	for i := range d {
		d[i] = prmt(a[i], c[i], table[b[i]&3])
	}
	w.commit(u, 1, m)
}

func decSGXT(d *decoder) {
	d.ints(2)
	d.u.exec = execSGXT
}

// execSGXT extends the low n bits; n of 32 and more leaves the value, with .W n is taken modulo 32.
func execSGXT(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	sgn, wrap := signed(u.in.Mod.Type), u.in.Mod.Has(ModWrap)
	for i := range d {
		n := b[i]
		if wrap {
			n &= 31
		}
		switch {
		case n >= 32:
			d[i] = a[i]
		case n == 0:
			d[i] = 0
		case sgn:
			d[i] = uint32(int32(a[i]<<(32-n)) >> (32 - n))
		default:
			d[i] = a[i] & (1<<n - 1)
		}
	}
	w.commit(u, 1, m)
}

func decBMSK(d *decoder) {
	d.ints(2)
	d.u.exec = execBMSK
}

// execBMSK makes a field of ones from bit a, b wide, cut off at bit 31.
func execBMSK(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	wrap := u.in.Mod.Has(ModWrap)
	for i := range d {
		pos, n := a[i], b[i]
		if wrap {
			pos, n = pos&31, n&31
		}
		pos, n = min(pos, 32), min(n, 32)
		d[i] = uint32((uint64(1)<<n - 1) << pos)
	}
	w.commit(u, 1, m)
}

func decBFE(d *decoder) {
	d.ints(2)
	d.u.exec = execBFE
}

// bitField is the PTX bit field extract of 32 bits.
func bitField(a, pos, n uint32, sgn bool) uint32 {
	if n == 0 {
		return 0
	}
	if sgn {
		v := int64(int32(a)) // beyond bit 31 the field continues with the sign
		return uint32(v >> min(pos, 32) << (64 - min(n, 32)) >> (64 - min(n, 32)))
	}
	return uint32(uint64(a) >> min(pos, 32) & (1<<min(n, 32) - 1))
}

func execBFE(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	sgn, rev := signed(u.in.Mod.Type), u.in.Mod.Has(ModBrev)
	for i := range d {
		v := a[i]
		if rev {
			v = bits.Reverse32(v)
		}
		d[i] = bitField(v, b[i]&0xff, b[i]>>8&0xff, sgn)
	}
	w.commit(u, 1, m)
}

func decBFI(d *decoder) {
	d.ints(3)
	d.u.exec = execBFI
}

func execBFI(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		pos, n := min(b[i]&0xff, 32), min(b[i]>>8&0xff, 32)
		k := uint32((uint64(1)<<n - 1) << pos)
		d[i] = c[i]&^k | uint32(uint64(a[i])<<pos)&k
	}
	w.commit(u, 1, m)
}

func decBREV(d *decoder) {
	d.ints(1)
	d.u.exec = execBREV
}

func execBREV(w *Warp, u *uop, m uint32) {
	a := w.val(&u.s[0])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = bits.Reverse32(a[i])
	}
	w.commit(u, 1, m)
}

// decPOPC counts the ones of a, before Volta of a & b.
func decPOPC(d *decoder) {
	d.ints(2)
	if len(d.vals) < 2 {
		d.u.s[1] = sref{ptr: d.k.broadcast(allLanes)}
	}
	d.u.exec = execPOPC
}

func execPOPC(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = uint32(bits.OnesCount32(a[i] & b[i]))
	}
	w.commit(u, 1, m)
}

func decFLO(d *decoder) {
	d.ints(1)
	d.u.exec = execFLO
}

// execFLO is the position of the most significant bit that differs from the sign (U32: that is one), all ones if there is none.
func execFLO(w *Warp, u *uop, m uint32) {
	a := w.val(&u.s[0])
	d := w.out(u, 0, m)
	sgn, sh := signed(u.in.Mod.Type), u.in.Mod.Has(ModSH)
	var none uint32
	for i := range d {
		v := a[i]
		if sgn {
			v ^= uint32(int32(v) >> 31)
		}
		switch {
		case v == 0:
			d[i] = allLanes
			none |= 1 << uint(i)
		case sh:
			d[i] = uint32(bits.LeadingZeros32(v))
		default:
			d[i] = uint32(31 - bits.LeadingZeros32(v))
		}
	}
	w.commit(u, 1, m)
	w.setPred(u.pd[0], m, none)
}
