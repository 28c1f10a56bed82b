package isa

import (
	"math"
	"math/bits"
)

// Conversions: I2F, F2I, F2F, FRND, I2I, I2IP, I2FP, F2FP, F2IP.

// typeBits is the width of an integer type.
func typeBits(t Type) uint {
	switch t {
	case U8, S8:
		return 8
	case U16, S16:
		return 16
	case U64, S64, B64:
		return 64
	}
	return 32
}

// orType is t, or another if it is none.
func orType(t, other Type) Type {
	if t == TypeNone {
		return other
	}
	return t
}

// decI2F also decodes I2FP and UI2F. lut: the source is signed; sh: its width.
func decI2F(d *decoder) {
	u, m := d.u, &d.in.Mod
	from := orType(m.BType, S32)
	if d.in.Op == OpI2FP && m.BType == TypeNone && m.Type != F32 {
		from = orType(m.Type, S32)
	}
	to := orType(m.Type, F32)
	if to != F16 && to != F64 && to != BF16 {
		to = F32
	}
	u.sh, u.lut = uint8(typeBits(from)), uint8(bit(signed(from)))
	u.s[0], u.s[1] = d.part(0, from), sref{ptr: d.k.zero}
	if u.sh == 64 {
		u.s[0], u.s[1] = d.pair(0)
	}
	u.exec = execI2F
	switch to {
	case F64:
		d.dpair()
		u.exec = execI2D
	case F16, BF16:
		u.exec = execI2H
	}
	if d.flags(0)&(Neg|Abs) != 0 {
		u.imm = uint32(d.flags(0) & (Neg | Abs))
	}
}

// intSource is the value of a conversion's integer source as magnitude and sign.
func (u *uop) intSource(lo, hi uint32) (mag uint64, neg bool) {
	v := uint64(lo)
	switch {
	case u.sh == 64:
		v |= uint64(hi) << 32
		neg = u.lut != 0 && int64(v) < 0
	case u.lut != 0:
		v = uint64(int64(int32(lo)))
		neg = int64(v) < 0
	}
	if neg {
		v = -v
	}
	if OperandFlags(u.imm)&Abs != 0 {
		neg = false
	}
	if OperandFlags(u.imm)&Neg != 0 && v != 0 {
		neg = !neg
	}
	return v, neg
}

// roundBits rounds a magnitude to n significant bits.
func roundBits(mag uint64, n int, r Round, neg bool) (m uint64, exp int) {
	l := bits.Len64(mag)
	if l <= n {
		return mag, 0
	}
	exp = l - n
	m = mag >> uint(exp)
	rest := mag & (1<<uint(exp) - 1)
	up := false
	switch r {
	case RN:
		mid := uint64(1) << uint(exp-1)
		up = rest > mid || rest == mid && m&1 != 0
	case RP:
		up = rest != 0 && !neg
	case RM:
		up = rest != 0 && neg
	}
	if up {
		m++
	}
	return m, exp
}

func signedFloat(m uint64, exp int, neg bool) float64 {
	f := math.Ldexp(float64(m), exp)
	if neg {
		return -f
	}
	return f
}

func execI2F(w *Warp, u *uop, m uint32) {
	a, h := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	r := u.in.Mod.Round
	for i := range d {
		mag, neg := u.intSource(a[i], h[i])
		n, exp := roundBits(mag, 24, r, neg)
		d[i] = math.Float32bits(float32(signedFloat(n, exp, neg)))
	}
	w.commit(u, 1, m)
}

func execI2D(w *Warp, u *uop, m uint32) {
	a, h := w.val(&u.s[0]), w.val(&u.s[1])
	d, dh := w.out(u, 0, m), w.out(u, 1, m)
	for i := range d {
		mag, neg := u.intSource(a[i], h[i])
		n, exp := roundBits(mag, 53, u.in.Mod.Round, neg)
		v := math.Float64bits(signedFloat(n, exp, neg))
		d[i], dh[i] = uint32(v), uint32(v>>32)
	}
	w.commit(u, 2, m)
}

func execI2H(w *Warp, u *uop, m uint32) {
	a, h := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	for i := range d {
		mag, neg := u.intSource(a[i], h[i])
		n, exp := roundBits(mag, 53, RZero, neg)
		if uint64(1)<<uint(exp)*n != mag { // keep a trace of what was cut off for the second rounding
			n |= 1
		}
		d[i] = uint32(floatToHalf(signedFloat(n, exp, neg), mod.Type == BF16, mod.Round))
	}
	w.commit(u, 1, m)
}

// decF2I: Type is the destination, BType the source.
func decF2I(d *decoder) {
	u, m := d.u, &d.in.Mod
	to := orType(m.Type, S32)
	u.sh, u.lut = uint8(typeBits(to)), uint8(bit(signed(to)))
	switch orType(m.BType, F32) {
	case F64:
		d.doubles(1)
		u.exec = execD2I
	case F16, BF16:
		d.halfSources(1)
		u.exec = execH2I
	default:
		d.floats(1)
		u.exec = execF2I
	}
	if u.sh == 64 {
		d.dpair()
	}
}

// roundInt rounds to an integral value.
func roundInt(v float64, r Round) float64 {
	switch r {
	case RZero:
		return math.Trunc(v)
	case RM:
		return math.Floor(v)
	case RP:
		return math.Ceil(v)
	}
	return math.RoundToEven(v)
}

// toInt converts a float to an integer of n bits: rounded, saturated. NaN gives 0, of a double (long) or for 64-bit results the top
// bit alone (PTX ISA 9.0, cvt).
func toInt(v float64, n uint, sgn, long bool, r Round) uint64 {
	if v != v {
		if n == 64 || long {
			return 1 << (n - 1)
		}
		return 0
	}
	v = roundInt(v, r)
	if sgn {
		top := math.Ldexp(1, int(n)-1)
		switch {
		case v >= top:
			return 1<<(n-1) - 1
		case v < -top:
			return -(uint64(1) << (n - 1))
		}
		return uint64(int64(v))
	}
	switch {
	case v <= 0:
		return 0
	case v >= math.Ldexp(1, int(n)):
		return ^uint64(0) >> (64 - n)
	}
	return uint64(v)
}

func (w *Warp) putInt(u *uop, m uint32, f func(i int) float64) {
	d, dh := w.out(u, 0, m), &w.scratch[1]
	if u.sh == 64 {
		dh = w.out(u, 1, m)
	}
	r, long := u.in.Mod.Round, u.in.Mod.BType == F64
	for l := m; l != 0; l &= l - 1 {
		i := lowest(l)
		v := toInt(f(i), uint(u.sh), u.lut != 0, long, r)
		d[i], dh[i] = uint32(v), uint32(v>>32)
	}
	w.commit(u, 1+int(u.sh)/64, m)
}

func execF2I(w *Warp, u *uop, m uint32) {
	a, mod := w.val(&u.s[0]), &u.in.Mod
	w.putInt(u, m, func(i int) float64 { return input(a[i], mod) })
}

func execD2I(w *Warp, u *uop, m uint32) {
	a, h := w.val(&u.s[0]), w.val(&u.s[1])
	w.putInt(u, m, func(i int) float64 { return double(a[i], h[i]) })
}

func execH2I(w *Warp, u *uop, m uint32) {
	a, bf := w.val(&u.s[0]), u.in.Mod.BType == BF16
	w.putInt(u, m, func(i int) float64 { return float64(halfToFloat(uint16(a[i]), bf)) })
}

// decF2F is F2F and FRND: Type is the destination, BType the source.
func decF2F(d *decoder) {
	u, m := d.u, &d.in.Mod
	from, to := orType(m.BType, orType(m.Type, F32)), orType(m.Type, F32)
	if d.in.Op == OpFRND || m.Has(ModInt) {
		u.lut = 1
	}
	switch from {
	case F64:
		d.doubles(1)
	case F16, BF16:
		d.halfSources(1)
	case F32:
		d.floats(1)
	default:
		return
	}
	u.imm = uint32(from)
	switch to {
	case F64:
		d.dpair()
	case F32, F16, BF16:
	default:
		return
	}
	u.sh = uint8(to)
	u.exec = execF2F
}

func execF2F(w *Warp, u *uop, m uint32) {
	a, h := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	dh := &w.scratch[1]
	from, to, mod := Type(u.imm), Type(u.sh), &u.in.Mod
	n := 1
	if to == F64 {
		n, dh = 2, w.out(u, 1, m)
	}
	for l := m; l != 0; l &= l - 1 {
		i := lowest(l)
		var v float64
		switch from {
		case F64:
			v = double(a[i], h[i])
		case F16, BF16:
			v = float64(halfToFloat(uint16(a[i]), from == BF16))
		default:
			v = input(a[i], mod)
		}
		if u.lut != 0 {
			v = roundInt(v, mod.Round)
		}
		switch to {
		case F64:
			q := quiet64(v)
			if mod.Has(ModSat) {
				q = math.Float64bits(min(max(v, 0), 1))
			}
			d[i], dh[i] = uint32(q), uint32(q>>32)
		case F16, BF16:
			d[i] = uint32(floatToHalf(v, to == BF16, mod.Round))
		default:
			d[i] = single(toSingle(v, mod.Round), mod)
		}
	}
	w.commit(u, n, m)
}

// decI2I converts between integer types: sign modifiers, saturation to Type.
func decI2I(d *decoder) {
	u, m := d.u, &d.in.Mod
	from := orType(m.BType, S32)
	to := orType(m.Type, S32)
	u.s[0] = d.part(0, from)
	u.imm = uint32(d.flags(0) & (Neg | Abs))
	u.lut = uint8(bit(signed(from)) | bit(signed(to))<<1 | bit(m.Has(ModSat))<<2)
	u.sh = uint8(typeBits(to))
	u.exec = execI2I
}

func execI2I(w *Warp, u *uop, m uint32) {
	a := w.val(&u.s[0])
	d := w.out(u, 0, m)
	for i := range d {
		v := wideValue(a[i], u.lut&1 != 0)
		if OperandFlags(u.imm)&Abs != 0 {
			v = max(v, -v)
		}
		if OperandFlags(u.imm)&Neg != 0 {
			v = -v
		}
		if u.lut&4 != 0 {
			v = clampTo(v, uint(u.sh), u.lut&2 != 0)
		}
		r := uint32(v)
		switch {
		case u.sh == 8 && u.lut&2 != 0:
			r = uint32(int32(int8(r)))
		case u.sh == 16 && u.lut&2 != 0:
			r = uint32(int32(int16(r)))
		case u.sh < 32:
			r &= 1<<u.sh - 1
		}
		d[i] = r
	}
	w.commit(u, 1, m)
}

// decPack is I2IP and F2IP: a and b saturated and packed, a above b; for 8-bit results the low half of c above both.
func decPack(d *decoder) {
	u, m := d.u, &d.in.Mod
	u.sh = uint8(typeBits(m.Type))
	if u.sh > 16 {
		d.failf("%s packs 8- or 16-bit integers", d.in.Op)
		return
	}
	u.lut = uint8(bit(signed(m.Type)) | bit(signed(orType(m.BType, S32)))<<1)
	if d.in.Op == OpF2IP {
		d.floats(2)
		u.s[2] = d.raw(2, 0, 0)
		u.exec = execF2IP
		return
	}
	d.ints(3)
	u.exec = execI2IP
}

func (u *uop) pack(hi, lo, c uint32) uint32 {
	if u.sh == 16 {
		return hi<<16 | lo&0xffff
	}
	return c<<16 | hi&0xff<<8 | lo&0xff
}

func execI2IP(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	n, to, from := uint(u.sh), u.lut&1 != 0, u.lut&2 != 0
	for i := range d {
		d[i] = u.pack(uint32(clampTo(wideValue(a[i], from), n, to)), uint32(clampTo(wideValue(b[i], from), n, to)), c[i])
	}
	w.commit(u, 1, m)
}

func execF2IP(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	mod, n, sgn := &u.in.Mod, uint(u.sh), u.lut&1 != 0
	for i := range d {
		hi, lo := toInt(input(a[i], mod), n, sgn, false, mod.Round), toInt(input(b[i], mod), n, sgn, false, mod.Round)
		d[i] = u.pack(uint32(hi), uint32(lo), c[i])
	}
	w.commit(u, 1, m)
}

func decF2FP(d *decoder) {
	d.floats(2)
	d.u.exec = execF2FP
}

// execF2FP packs two singles into halves, a above b.
func execF2FP(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	for i := range d {
		d[i] = packHalf(input(a[i], mod), mod)<<16 | packHalf(input(b[i], mod), mod)
	}
	w.commit(u, 1, m)
}
