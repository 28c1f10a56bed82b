package isa

import "math"

// floatMods are the floating-point modifiers of an operand's flags.
func floatMods(f OperandFlags) modKind {
	var k modKind
	if f&Abs != 0 {
		k |= modFAbs
	}
	if f&Neg != 0 {
		k |= modFNeg
	}
	return k
}

// halfToFloat is the value of an IEEE half or, with bf, a bfloat16.
func halfToFloat(h uint16, bf bool) float32 {
	if bf {
		return math.Float32frombits(uint32(h) << 16)
	}
	sign := uint32(h>>15) << 31
	exp, man := uint32(h>>10&31), uint32(h&0x3ff)
	switch {
	case exp == 31:
		return math.Float32frombits(sign | 0x7f800000 | man<<13)
	case exp != 0:
		return math.Float32frombits(sign | (exp+112)<<23 | man<<13)
	}
	v := float32(man) * (1.0 / (1 << 24))
	if sign != 0 {
		v = -v
	}
	return v
}

// floatToHalf rounds to an IEEE half or, with bf, a bfloat16. NaN becomes 0x7fff, as the hardware's canonical NaN.
func floatToHalf(v float64, bf bool, r Round) uint16 {
	if v != v {
		return 0x7fff
	}
	mant, minExp, maxExp := 10, -14, 15
	if bf {
		mant, minExp, maxExp = 7, -126, 127
	}
	sign := uint16(0)
	if math.Signbit(v) {
		sign = 1 << 15
	}
	inf := sign | 0x7c00
	if bf {
		inf = sign | 0x7f80
	}
	a := math.Abs(v)
	if math.IsInf(a, 0) {
		return inf
	}
	if a == 0 {
		return sign
	}
	_, e := math.Frexp(a) // a = f * 2^e with f in [0.5, 1)
	exp := max(e-1, minExp)
	// The unit in the last place is 2^(exp-mant); scaling by a power of two is exact.
	q := roundTo(math.Ldexp(a, mant-exp), r, sign != 0)
	n := uint64(q)
	if n >= 1<<uint(mant+1) {
		n >>= 1
		exp++
	}
	if exp > maxExp {
		// Overflow: to infinity, or to the largest number when rounding away from it.
		if r == RZero || r == RM && sign == 0 || r == RP && sign != 0 {
			return inf - 1
		}
		return inf
	}
	if n < 1<<uint(mant) { // subnormal
		return sign | uint16(n)
	}
	return sign | uint16(exp-minExp+1)<<uint(mant) | uint16(n)&(1<<uint(mant)-1)
}

// roundTo rounds a magnitude to an integer in the given mode; neg is the sign of the value it belongs to.
func roundTo(a float64, r Round, neg bool) float64 {
	switch r {
	case RZero:
		return math.Floor(a)
	case RM:
		if neg {
			return math.Ceil(a)
		}
		return math.Floor(a)
	case RP:
		if neg {
			return math.Floor(a)
		}
		return math.Ceil(a)
	}
	return math.RoundToEven(a)
}

// Packed halves: HADD2, HMUL2, HFMA2, HSETP2, HSET2, HMNMX2.

// halfSources puts the first n value sources into s with half selection and sign modifiers of both halves.
func (d *decoder) halfSources(n int) {
	for i := range n {
		f := d.flags(i)
		var k modKind
		switch {
		case f&SelH0 != 0:
			k |= modH0
		case f&SelH1 != 0:
			k |= modH1
		}
		if f&Abs != 0 {
			k |= modHAbs
		}
		if f&Neg != 0 {
			k |= modHNeg
		}
		d.u.s[i] = d.raw(i, 0, k)
	}
}

// isBF says whether the instruction's halves are bfloat16.
func isBF(m *Mod) bool { return m.Type == BF16x2 || m.Type == BF16 }

// half reads one half of v as a double.
func half(v uint32, at uint, mod *Mod) float64 {
	h := uint16(v >> at)
	if mod.Has(ModFTZ) && !isBF(mod) && h&0x7c00 == 0 {
		h &= 1 << 15
	}
	return float64(halfToFloat(h, isBF(mod)))
}

// packHalf rounds and finishes one half of a result.
func packHalf(v float64, mod *Mod) uint32 {
	if mod.Has(ModSat) {
		if v != v {
			v = 0
		}
		v = min(max(v, 0), 1)
	}
	h := floatToHalf(v, isBF(mod), mod.Round)
	if mod.Has(ModRelu) && (v < 0 || h == 1<<15) {
		h = 0
	}
	if mod.Has(ModFTZ) && !isBF(mod) && h&0x7c00 == 0 {
		h &= 1 << 15
	}
	return uint32(h)
}

func decHADD2(d *decoder) {
	d.halfSources(2)
	d.u.exec = execHADD2
	if d.in.Mod.Type == F32 {
		d.u.exec = execHADD2F32
	}
}

func execHADD2(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	for i := range d {
		d[i] = packHalf(roundOdd(half(a[i], 0, mod), half(b[i], 0, mod)), mod) |
			packHalf(roundOdd(half(a[i], 16, mod), half(b[i], 16, mod)), mod)<<16
	}
	w.commit(u, 1, m)
}

// execHADD2F32 is HADD2.F32: the sum of the low halves in single precision, the usual conversion of a half.
func execHADD2F32(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = quiet(halfToFloat(uint16(a[i]), false) + halfToFloat(uint16(b[i]), false))
	}
	w.commit(u, 1, m)
}

func decHMUL2(d *decoder) {
	d.halfSources(2)
	d.u.exec = execHMUL2
}

func execHMUL2(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	for i := range d {
		d[i] = packHalf(singleProduct(half(a[i], 0, mod), half(b[i], 0, mod), mod), mod) |
			packHalf(singleProduct(half(a[i], 16, mod), half(b[i], 16, mod), mod), mod)<<16
	}
	w.commit(u, 1, m)
}

// decHFMA2 also takes the move of a constant pair, HFMA2 Rd, -RZ, RZ, hi, lo: the last source is the immediate pair.
func decHFMA2(d *decoder) {
	u := d.u
	d.halfSources(3)
	u.exec = execHFMA2
	zero := func(i int) bool { return i < len(d.vals) && d.vals[i].Kind == KindReg && d.vals[i].Reg == RZ }
	if zero(0) && zero(1) && len(d.vals) > 2 && d.vals[2].Kind == KindImm && !d.has(ModSat) && !d.has(ModRelu) && !d.has(ModFTZ) {
		u.s[0] = u.s[2]
		u.exec = execMOV
	}
}

func execHFMA2(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	for i := range d {
		var r uint32
		for at := uint(0); at < 32; at += 16 {
			p := singleProduct(half(a[i], at, mod), half(b[i], at, mod), mod)
			r |= packHalf(roundOdd(p, half(c[i], at, mod)), mod) << at
		}
		d[i] = r
	}
	w.commit(u, 1, m)
}

func decHSETP2(d *decoder) {
	d.halfSources(2)
	d.u.exec = execHSETP2
}

// compareHalves are the lane masks of the comparisons of the low and high halves.
func compareHalves(mod *Mod, a, b *lanes) (lo, hi uint32) {
	for i := range a {
		lo |= bit(compareFloat(mod.Cmp, half(a[i], 0, mod), half(b[i], 0, mod))) << uint(i)
		hi |= bit(compareFloat(mod.Cmp, half(a[i], 16, mod), half(b[i], 16, mod))) << uint(i)
	}
	return lo, hi
}

func execHSETP2(w *Warp, u *uop, m uint32) {
	mod, c := &u.in.Mod, w.pred(u.ps[0])
	lo, hi := compareHalves(mod, w.val(&u.s[0]), w.val(&u.s[1]))
	w.setPred(u.pd[0], m, combine(mod.Bool, lo, c))
	w.setPred(u.pd[1], m, combine(mod.Bool, hi, c))
}

func decHSET2(d *decoder) {
	d.halfSources(2)
	d.u.exec = execHSET2
}

// execHSET2 stores all ones or, with .BF, 1.0 in each half where the comparison holds.
func execHSET2(w *Warp, u *uop, m uint32) {
	mod, c := &u.in.Mod, w.pred(u.ps[0])
	lo, hi := compareHalves(mod, w.val(&u.s[0]), w.val(&u.s[1]))
	lo, hi = combine(mod.Bool, lo, c), combine(mod.Bool, hi, c)
	yes := uint32(0xffff)
	if mod.Has(ModBF) {
		yes = uint32(floatToHalf(1, isBF(mod), RN))
	}
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = -(lo>>uint(i)&1)&yes | -(hi>>uint(i)&1)&yes<<16
	}
	w.commit(u, 1, m)
}

func decHMNMX2(d *decoder) {
	d.halfSources(2)
	if len(d.prds) == 0 {
		d.failf("%s needs the predicate that chooses min (PT) or max (!PT)", d.in.Op)
		return
	}
	d.u.exec = execHMNMX2
}

func execHMNMX2(w *Warp, u *uop, m uint32) {
	a, b, p := w.val(&u.s[0]), w.val(&u.s[1]), w.pred(u.ps[0])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	for i := range d {
		var r uint32
		for at := uint(0); at < 32; at += 16 {
			v := minmaxFloat(half(a[i], at, mod), half(b[i], at, mod), p>>uint(i)&1 != 0, mod.Has(ModNaN))
			r |= packHalf(v, mod) << at
		}
		d[i] = r
	}
	w.commit(u, 1, m)
}
