package isa

import (
	"math"
	"math/big"
)

// Double precision: DADD, DMUL, DFMA, DSETP, DMNMX.

// doubles puts n value sources as pairs into s: low words first, then high words with the sign modifiers.
func (d *decoder) doubles(n int) {
	for i := range n {
		d.u.s[i] = d.raw(i, 0, 0)
		d.u.s[i+n] = d.raw(i, 1, floatMods(d.flags(i)))
		if i < len(d.vals) && d.vals[i].Kind == KindImm { // the immediate is the high word
			d.u.s[i] = sref{ptr: d.k.zero}
			d.u.s[i+n] = d.raw(i, 0, floatMods(d.flags(i)))
		}
	}
}

func double(lo, hi uint32) float64 { return math.Float64frombits(uint64(hi)<<32 | uint64(lo)) }

// quiet64 is the bits of a double with canonical NaN.
func quiet64(f float64) uint64 {
	if f != f {
		return nan64
	}
	return math.Float64bits(f)
}

func decDADD(d *decoder) { d.double2(execDADD) }
func decDMUL(d *decoder) { d.double2(execDMUL) }

func (d *decoder) double2(exec func(*Warp, *uop, uint32)) {
	d.doubles(2)
	d.dpair()
	d.u.exec = exec
}

func decDFMA(d *decoder) {
	d.doubles(3)
	d.dpair()
	d.u.exec = execDFMA
}

func execDADD(w *Warp, u *uop, m uint32) {
	w.doubleOp(u, m, func(a, b float64) uint64 { return fma64(a, 1, b, u.in.Mod.Round, a+b) })
}

func execDMUL(w *Warp, u *uop, m uint32) {
	w.doubleOp(u, m, func(a, b float64) uint64 {
		zero := math.Copysign(0, -1)
		if math.Signbit(a) == math.Signbit(b) {
			zero = 0
		}
		return fma64(a, b, zero, u.in.Mod.Round, a*b)
	})
}

// doubleOp applies a two-operand function to the executing lanes.
func (w *Warp) doubleOp(u *uop, m uint32, f func(a, b float64) uint64) {
	a, b, ah, bh := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.val(&u.s[3])
	d, dh := w.out(u, 0, m), w.out(u, 1, m)
	for r := m; r != 0; r &= r - 1 {
		i := lowest(r)
		v := f(double(a[i], ah[i]), double(b[i], bh[i]))
		d[i], dh[i] = uint32(v), uint32(v>>32)
	}
	w.commit(u, 2, m)
}

func execDFMA(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	ah, bh, ch := w.val(&u.s[3]), w.val(&u.s[4]), w.val(&u.s[5])
	d, dh := w.out(u, 0, m), w.out(u, 1, m)
	for r := m; r != 0; r &= r - 1 {
		i := lowest(r)
		x, y, z := double(a[i], ah[i]), double(b[i], bh[i]), double(c[i], ch[i])
		v := fma64(x, y, z, u.in.Mod.Round, math.FMA(x, y, z))
		d[i], dh[i] = uint32(v), uint32(v>>32)
	}
	w.commit(u, 2, m)
}

// fma64 is x*y+z rounded as r says; nearest is the result rounded to nearest.
func fma64(x, y, z float64, r Round, nearest float64) uint64 {
	finite := func(v float64) bool { return v-v == 0 }
	if r == RN || !finite(x) || !finite(y) || !finite(z) {
		return quiet64(nearest)
	}
	// Exact with 2200 bits: products reach from 2^-2148 to 2^2048.
	const exact = 4400
	p := new(big.Float).SetPrec(exact).Mul(new(big.Float).SetPrec(exact).SetFloat64(x), new(big.Float).SetPrec(exact).SetFloat64(y))
	p.Add(p, new(big.Float).SetPrec(exact).SetFloat64(z))
	if p.Sign() == 0 {
		if r == RM && nearest == 0 && !(x*y == 0 && !math.Signbit(x*y) && !math.Signbit(z)) {
			return 1 << 63
		}
		return math.Float64bits(nearest)
	}
	f, acc := p.Float64()
	n := math.Float64bits(f)
	switch {
	case r == RZero && (acc == big.Above) == (p.Sign() > 0) && acc != big.Exact:
		n--
	case r == RM && acc == big.Above:
		n = stepDown64(n)
	case r == RP && acc == big.Below:
		n = stepDown64(n^1<<63) ^ 1<<63
	}
	return n
}

// stepDown64 is the next smaller double.
func stepDown64(n uint64) uint64 {
	switch {
	case n == 0:
		return 1<<63 | 1
	case n>>63 == 0:
		return n - 1
	}
	return n + 1
}

func decDSETP(d *decoder) {
	d.doubles(2)
	d.u.exec = execDSETP
	if d.in.Mod.Sub2 != SubNone {
		d.u.exec = execDSETPMinMax
	}
}

// execDSETPMinMax is DSETP.MIN and .MAX: the first predicate says that a is the result, the second that both are no numbers, in
// which case the code behind it makes one of b.
func execDSETPMinMax(w *Warp, u *uop, m uint32) {
	a, b, ah, bh := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.val(&u.s[3])
	var first, neither uint32
	for i := range a {
		x, y := double(a[i], ah[i]), double(b[i], bh[i])
		v := minmaxFloat(x, y, u.in.Mod.Sub2 == SubMin, false)
		first |= bit(x == x && math.Float64bits(v) == math.Float64bits(x)) << uint(i)
		neither |= bit(x != x && y != y) << uint(i)
	}
	c := w.pred(u.ps[0])
	w.setPred(u.pd[0], m, combine(u.in.Mod.Bool, first, c))
	w.setPred(u.pd[1], m, combine(u.in.Mod.Bool, neither, c))
}

func execDSETP(w *Warp, u *uop, m uint32) {
	a, b, ah, bh := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.val(&u.s[3])
	var r uint32
	for i := range a {
		r |= bit(compareFloat(u.in.Mod.Cmp, double(a[i], ah[i]), double(b[i], bh[i]))) << uint(i)
	}
	w.setCompare(u, m, r)
}

func decDMNMX(d *decoder) { d.double2(execDMNMX) }

func execDMNMX(w *Warp, u *uop, m uint32) {
	p := w.pred(u.ps[0])
	a, b, ah, bh := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.val(&u.s[3])
	d, dh := w.out(u, 0, m), w.out(u, 1, m)
	for i := range d {
		v := quiet64(minmaxFloat(double(a[i], ah[i]), double(b[i], bh[i]), p>>uint(i)&1 != 0, false))
		d[i], dh[i] = uint32(v), uint32(v>>32)
	}
	w.commit(u, 2, m)
}
