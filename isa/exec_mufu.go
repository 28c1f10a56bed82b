package isa

import "math"

// MUFU and RRO. Results are the exact function rounded to single precision, within the error that the PTX ISA documents for the
// .approx instructions; denormal operands and results are zeros of their sign, as the unit gives them.

func decMUFU(d *decoder) {
	u := d.u
	d.floats(1)
	switch d.in.Mod.Sub {
	case SubRcp64H, SubRsq64H:
		u.exec = execMUFU64
	case SubRcp, SubRsq, SubLg2, SubEx2, SubSin, SubCos, SubSqrt, SubTanh:
		u.exec = execMUFU
		if t := d.in.Mod.Type; t == F16 || t == BF16 {
			d.halfSources(1)
			u.exec = execMUFUHalf
		}
	}
}

// mufu is the function of a sub-operation. SIN and COS take turns (the argument divided by 2 pi).
func mufu(s Sub, x float64) float64 {
	switch s {
	case SubRcp:
		return 1 / x
	case SubRsq:
		return 1 / math.Sqrt(x)
	case SubSqrt:
		return math.Sqrt(x)
	case SubLg2:
		return math.Log2(x)
	case SubEx2:
		return math.Exp2(x)
	case SubTanh:
		return math.Tanh(x)
	case SubSin:
		return math.Sin(2 * math.Pi * math.Mod(x, 1))
	case SubCos:
		return math.Cos(2 * math.Pi * math.Mod(x, 1))
	}
	return math.NaN()
}

func execMUFU(w *Warp, u *uop, m uint32) {
	a := w.val(&u.s[0])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	for l := m; l != 0; l &= l - 1 {
		i := lowest(l)
		x := float64(math.Float32frombits(flush(a[i])))
		d[i] = single(flush(math.Float32bits(float32(mufu(mod.Sub, x)))), mod)
	}
	w.commit(u, 1, m)
}

func execMUFUHalf(w *Warp, u *uop, m uint32) {
	a := w.val(&u.s[0])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	for l := m; l != 0; l &= l - 1 {
		i := lowest(l)
		d[i] = packHalf(mufu(mod.Sub, half(a[i], 0, mod)), mod)
	}
	w.commit(u, 1, m)
}

// execMUFU64 gives the high word of the reciprocal (root) of a double whose high word is the source; the low word counts as zero.
func execMUFU64(w *Warp, u *uop, m uint32) {
	a := w.val(&u.s[0])
	d := w.out(u, 0, m)
	sub := SubRcp
	if u.in.Mod.Sub == SubRsq64H {
		sub = SubRsq
	}
	for l := m; l != 0; l &= l - 1 {
		i := lowest(l)
		x := double(0, a[i])
		if a[i]&0x7ff00000 == 0 {
			x = math.Copysign(0, x)
		}
		d[i] = uint32(quiet64(mufu(sub, x)) >> 32)
		if d[i]&0x7ff00000 == 0 {
			d[i] &= 1 << 31
		}
	}
	w.commit(u, 1, m)
}

func decRRO(d *decoder) {
	d.floats(1)
	d.u.exec = execRRO
}

// execRRO prepares an argument for MUFU before Volta: SIN and COS get turns, EX2 the argument itself.
func execRRO(w *Warp, u *uop, m uint32) {
	a := w.val(&u.s[0])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = a[i]
		if s := u.in.Mod.Sub; s == SubSin || s == SubCos {
			d[i] = math.Float32bits(float32(float64(math.Float32frombits(a[i])) / (2 * math.Pi)))
		}
	}
	w.commit(u, 1, m)
}
