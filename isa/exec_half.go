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
