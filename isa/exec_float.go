package isa

import "math"

// Single precision: FADD, FMUL, FFMA, FSETP, FSET, FCMP, FCHK, FMNMX.

// nan32 and nan64 are the NaN that arithmetic produces.
const (
	nan32 = 0x7fffffff
	nan64 = 0x7fffffff_ffffffff
)

// flush replaces a denormal by a zero of its sign.
func flush(v uint32) uint32 {
	if v&0x7f800000 == 0 {
		return v & (1 << 31)
	}
	return v
}

// twoSum is the rounded sum of two doubles and its error: a + b = s + e exactly.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	bb := s - a
	e = float64(a-float64(s-bb)) + float64(b-bb)
	return s, e
}

// roundOdd is a + b rounded to a double with an odd last bit unless it is exact: a later rounding to a shorter format then gives
// the correctly rounded sum (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
func roundOdd(a, b float64) float64 {
	s, e := twoSum(a, b)
	if e == 0 || math.IsInf(s, 0) || s != s {
		return s
	}
	n := math.Float64bits(s)
	if n&1 != 0 {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(n + 1)
	}
	return math.Float64frombits(n - 1)
}

// toSingle rounds a double, or a value made by roundOdd, to single precision.
func toSingle(v float64, r Round) uint32 {
	f := float32(v)
	n := math.Float32bits(f)
	if r == RN || float64(f) == v || v != v || math.IsInf(v, 0) {
		return n
	}
	g := float64(f)
	switch r {
	case RZero:
		if math.Abs(g) > math.Abs(v) {
			n--
		}
	case RM:
		if g > v {
			n = stepDown(n)
		}
	case RP:
		if g < v {
			n = stepDown(n^1<<31) ^ 1<<31
		}
	}
	return n
}

// stepDown is the next smaller single.
func stepDown(n uint32) uint32 {
	switch {
	case n == 0:
		return 1<<31 | 1
	case n>>31 == 0:
		return n - 1
	}
	return n + 1
}

// single finishes a result: canonical NaN, saturation to [0, 1], flushing.
func single(n uint32, mod *Mod) uint32 {
	switch {
	case n&0x7fffffff > 0x7f800000:
		if mod.Has(ModSat) {
			return 0
		}
		return nan32
	case mod.Has(ModSat):
		if n>>31 != 0 {
			return 0
		}
		n = min(n, 0x3f800000)
	}
	if mod.Has(ModFTZ) {
		n = flush(n)
	}
	return n
}

// floats puts the first n value sources with their floating-point modifiers into s.
func (d *decoder) floats(n int) {
	for i := range n {
		d.u.s[i] = d.raw(i, 0, floatMods(d.flags(i)))
	}
}

// plain says that single precision results need no rounding mode, flushing or saturation.
func (d *decoder) plain() bool {
	return d.in.Mod.Round == RN && !d.has(ModFTZ) && !d.has(ModSat) && !d.has(ModFMZ)
}

func decFADD(d *decoder) {
	d.floats(2)
	d.u.exec = execFADD
	if !d.plain() {
		d.u.exec = execFADDMode
	}
}

// quiet replaces any NaN by the canonical one.
func quiet(f float32) uint32 {
	if f != f {
		return nan32
	}
	return math.Float32bits(f)
}

func execFADD(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = quiet(math.Float32frombits(a[i]) + math.Float32frombits(b[i]))
	}
	w.commit(u, 1, m)
}

// input reads a single as a double, flushed if the instruction says so.
func input(n uint32, mod *Mod) float64 {
	if mod.Has(ModFTZ) {
		n = flush(n)
	}
	return float64(math.Float32frombits(n))
}

func execFADDMode(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	for i := range d {
		x, y := input(a[i], mod), input(b[i], mod)
		s := roundOdd(x, y)
		if s == 0 && mod.Round == RM && (x != 0 || math.Signbit(x) || math.Signbit(y)) {
			s = math.Copysign(0, -1) // an exact zero sum is -0 when rounding down
		}
		d[i] = single(toSingle(s, mod.Round), mod)
	}
	w.commit(u, 1, m)
}

func decFMUL(d *decoder) {
	d.floats(2)
	d.u.exec = execFMUL
	if !d.plain() {
		d.u.exec = execFMULMode
	}
}

func execFMUL(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = quiet(math.Float32frombits(a[i]) * math.Float32frombits(b[i]))
	}
	w.commit(u, 1, m)
}

// product of two singles: exact in a double. FMZ makes zero times anything zero.
func singleProduct(x, y float64, mod *Mod) float64 {
	if mod.Has(ModFMZ) && (x == 0 || y == 0) {
		return 0
	}
	return float64(x * y)
}

func execFMULMode(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	for i := range d {
		d[i] = single(toSingle(singleProduct(input(a[i], mod), input(b[i], mod), mod), mod.Round), mod)
	}
	w.commit(u, 1, m)
}

func decFFMA(d *decoder) {
	d.floats(3)
	d.u.exec = execFFMA
	if d.plain() {
		d.u.exec = execFFMAPlain
	}
}

// execFFMAPlain rounds to nearest without flushing. The double sum of the exact product and c rounds correctly to single precision
// unless it lies just beside a tie of two singles or is denormal: only then the odd rounding is needed.
func execFFMAPlain(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		p := float64(float64(math.Float32frombits(a[i])) * float64(math.Float32frombits(b[i])))
		z := float64(math.Float32frombits(c[i]))
		s := p + z
		n := math.Float64bits(s)
		const tie, dropped = 1 << 28, 1<<29 - 1
		if n&dropped == tie || n>>52&0x7ff < 1023-126 {
			s = roundOdd(p, z)
		}
		d[i] = quiet(float32(s))
	}
	w.commit(u, 1, m)
}

func execFFMA(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	for i := range d {
		x, y, z := input(a[i], mod), input(b[i], mod), input(c[i], mod)
		p := singleProduct(x, y, mod)
		s := roundOdd(p, z)
		if s == 0 && mod.Round == RM && (p != 0 || math.Signbit(p) || math.Signbit(z)) {
			s = math.Copysign(0, -1)
		}
		d[i] = single(toSingle(s, mod.Round), mod)
	}
	w.commit(u, 1, m)
}

func decFMAD(d *decoder) {
	d.floats(3)
	d.u.exec = execFMAD
}

// execFMAD truncates the product to single precision; subnormal numbers are zeros throughout.
func execFMAD(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	mod := u.in.Mod
	mod.Flags |= ModFTZ
	for i := range d {
		p := toSingle(singleProduct(input(a[i], &mod), input(b[i], &mod), &mod), RZero)
		s := roundOdd(float64(math.Float32frombits(flush(p))), input(c[i], &mod))
		d[i] = single(math.Float32bits(float32(s)), &mod)
	}
	w.commit(u, 1, m)
}

// compareFloat is a floating-point comparison; the U forms are true when an operand is NaN.
func compareFloat(c Cmp, x, y float64) bool {
	un := x != x || y != y
	switch c {
	case CmpLT:
		return x < y
	case CmpEQ:
		return x == y
	case CmpLE:
		return x <= y
	case CmpGT:
		return x > y
	case CmpNE:
		return !un && x != y
	case CmpGE:
		return x >= y
	case CmpNum:
		return !un
	case CmpNan:
		return un
	case CmpLTU:
		return un || x < y
	case CmpEQU:
		return un || x == y
	case CmpLEU:
		return un || x <= y
	case CmpGTU:
		return un || x > y
	case CmpNEU:
		return un || x != y
	case CmpGEU:
		return un || x >= y
	case CmpT:
		return true
	}
	return false
}

// compareSingles is the lane mask of a comparison.
func compareSingles(mod *Mod, a, b *lanes) uint32 {
	var r uint32
	for i := range a {
		r |= bit(compareFloat(mod.Cmp, input(a[i], mod), input(b[i], mod))) << uint(i)
	}
	return r
}

func decFSETP(d *decoder) {
	d.floats(2)
	d.u.exec = execFSETP
}

func execFSETP(w *Warp, u *uop, m uint32) {
	w.setCompare(u, m, compareSingles(&u.in.Mod, w.val(&u.s[0]), w.val(&u.s[1])))
}

func decFSET(d *decoder) {
	d.floats(2)
	d.u.exec = execFSET
}

func execFSET(w *Warp, u *uop, m uint32) {
	r := compareSingles(&u.in.Mod, w.val(&u.s[0]), w.val(&u.s[1]))
	w.putBool(u, m, combine(u.in.Mod.Bool, r, w.pred(u.ps[0])))
}

func decFCMP(d *decoder) {
	d.floats(3)
	d.u.exec = execFCMP
}

func execFCMP(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	r := compareSingles(&u.in.Mod, w.val(&u.s[2]), w.k.zero)
	d := w.out(u, 0, m)
	for i := range d {
		k := -(r >> uint(i) & 1)
		d[i] = b[i] ^ (a[i]^b[i])&k
	}
	w.commit(u, 1, m)
}

func decFCHK(d *decoder) {
	d.floats(2)
	d.u.exec = execFCHK
}

// execFCHK is true when a / b is outside of the range in which the short division sequence (reciprocal and two FFMA steps) is
// exact: special operands, or exponents whose quotient, reciprocal or remainder could be denormal or infinite.
func execFCHK(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	var r uint32
	for i := range a {
		ea, eb := int(a[i]>>23&0xff), int(b[i]>>23&0xff)
		q := ea - eb
		slow := ea == 255 || ea < 25 || eb < 2 || eb > 252 || q > 125 || q < -124
		r |= bit(slow) << uint(i)
	}
	w.setPred(u.pd[0], m, r)
}

func decFMNMX(d *decoder) {
	d.floats(2)
	if len(d.prds) == 0 {
		d.failf("%s needs the predicate that chooses min (PT) or max (!PT)", d.in.Op)
		return
	}
	d.u.exec = execFMNMX
}

// minmaxFloat is the smaller or larger number; a NaN loses unless .NAN is set; -0 is below +0.
func minmaxFloat(x, y float64, minimum, nan bool) float64 {
	switch {
	case x != x && y != y, nan && (x != x || y != y):
		return math.NaN()
	case x != x:
		return y
	case y != y:
		return x
	case minimum:
		return math.Min(x, y)
	}
	return math.Max(x, y)
}

func execFMNMX(w *Warp, u *uop, m uint32) {
	a, b, p := w.val(&u.s[0]), w.val(&u.s[1]), w.pred(u.ps[0])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	for i := range d {
		v := minmaxFloat(input(a[i], mod), input(b[i], mod), p>>uint(i)&1 != 0, mod.Has(ModNaN))
		d[i] = single(math.Float32bits(float32(v)), mod)
	}
	w.commit(u, 1, m)
}
