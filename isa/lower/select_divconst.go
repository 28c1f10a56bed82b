package lower

import "math/bits"

// divByConst divides by a constant with a shift or a multiplication by its reciprocal; false when the divisor
// is no constant or is zero.
func (x *expander) divByConst(t vtype, rem bool) bool {
	b, known := constant(x.a32(2, t.name))
	if !known {
		return false
	}
	if t.signed() {
		b = uint32(int32(b<<(32-t.bits)) >> (32 - t.bits))
	}
	if b == 0 {
		return false
	}
	d, a := x.d32(0, t.name), x.ext(auto, x.a32(1, t.name), t)
	var q word
	if t.signed() {
		q = x.divConstS32(a, int32(b))
	} else {
		if b&(b-1) == 0 && rem {
			x.and(d, a, imm(b-1))
			return true
		}
		q = x.divConstU32(a, b)
	}
	if !rem {
		x.mov(d, q)
		return true
	}
	x.madLo(d, q, imm(-b), a)
	return true
}

// divConstU32 is a / b for a constant b > 0: the high word of a * ceil(2^(32+s)/b), shifted by s. When that factor
// needs 33 bits, its top bit is added as a + (a's share) without overflow.
func (x *expander) divConstU32(a word, b uint32) word {
	s := uint32(bits.Len32(b - 1))
	if b&(b-1) == 0 {
		if s = uint32(bits.TrailingZeros32(b)); s == 0 {
			return a
		}
		return x.shr(auto, a, imm(s))
	}
	// m = ceil(2^(32+s)/b) has 33 bits: 2^32 + low. Halve it while it stays exact enough.
	m := ceilDivPow2(32+s, b)
	for s > 0 && m&1 == 0 {
		m, s = m>>1, s-1
	}
	if m < 1<<32 {
		h := x.mulHi(auto, a, imm(uint32(m)), false)
		if s == 0 {
			return h
		}
		return x.shr(auto, h, imm(s))
	}
	if tz := uint32(bits.TrailingZeros32(b)); tz > 0 { // shift first: then 32 bits are enough
		return x.divConstU32(x.shr(auto, a, imm(tz)), b>>tz)
	}
	h := x.mulHi(auto, a, imm(uint32(m)), false)
	u := x.shr(auto, x.sub(auto, a, h), imm(1))
	return x.shr(auto, x.add(auto, u, h), imm(s-1))
}

// ceilDivPow2 is ceil(2^n / b) for n < 64.
func ceilDivPow2(n, b uint32) uint64 {
	if n == 64 {
		q, r := bits.Div64(1%uint64(b), 0, uint64(b))
		if r > 0 {
			q++
		}
		return q
	}
	p := uint64(1) << n
	return (p + uint64(b) - 1) / uint64(b)
}

// divConstS32 is a / b truncated, for a constant b.
func (x *expander) divConstS32(a word, b int32) word {
	abs := uint32(b)
	if b < 0 {
		abs = -abs
	}
	var q word
	switch {
	case abs == 1:
		q = a
	case abs&(abs-1) == 0:
		k := uint32(bits.TrailingZeros32(abs))
		bias := x.shr(auto, x.signWord(auto, a), imm(32-k))
		q = x.sar(auto, x.add(auto, a, bias), imm(k))
	default:
		m, s := signedMagic(abs)
		h := x.mulHi(auto, a, imm(m), true)
		if int32(m) < 0 {
			h = x.add(auto, h, a)
		}
		if s > 0 {
			h = x.sar(auto, h, imm(s))
		}
		q = x.add(auto, h, x.shr(auto, a, imm(31)))
	}
	if b < 0 {
		q = x.negate(auto, q)
	}
	return q
}

// signedMagic is the factor and shift with which high(a*m) (+a when m is negative) >> s, plus one for negative a, is a / d.
func signedMagic(d uint32) (m, s uint32) {
	// The smallest p with 2^p > nc * (d - 2^p mod d), nc the largest value below 2^31 with remainder d-1.
	nc := uint64(1<<31) - 1 - uint64(1<<31)%uint64(d)
	p := uint32(31)
	for {
		p++
		r := uint64(1) << p % uint64(d)
		if uint64(1)<<p > nc*(uint64(d)-r) {
			return uint32((uint64(1)<<p + uint64(d) - r) / uint64(d)), p - 32
		}
	}
}
