package lower

import "github.com/sarchlab/smsim/isa"

// f64 emits an operation on pairs and gives its result.
func (x *expander) f64(op isa.Op, srcs ...[]word) []word {
	d := x.regs(2)
	x.emitWide(op, isa.Mod{}, [][]word{d}, x.pairs(srcs))
	return d
}

// neg64f is a pair with the sign modifier.
func neg64f(w []word) []word { return negFloat(w, valueTypes["f64"]) }

// one64 is 1.0.
func (x *expander) one64() []word { return x.inRegs([]word{rz, imm(0x3ff00000)}) }

// mufu64 is the 64-bit seed of the special function unit: it works on the upper word.
func (x *expander) mufu64(f isa.Sub, a []word) []word {
	d := x.reg()
	x.emit(isa.OpMUFU, isa.Mod{Sub: f}, []word{d}, []word{a[1]})
	return []word{x.mov(auto, imm(0)), d}
}

// divF64 is a / b, correctly rounded: two Newton steps on the seed of the reciprocal, quotient and one correction.
// Operands with extreme exponents are brought to [1, 2) before and the quotient is scaled back; narrow says that there
// are none, as after widening from f32. Zero, infinite and NaN operands give the product with the seed.
func (x *expander) divF64(d, a, b []word, round isa.Round, narrow bool) {
	x.guarded(func() {
		a, b := x.inRegs(a), x.inRegs(b)
		odd := x.unusual(b)
		special := x.or(auto, x.unusual(a), odd)
		k, extreme, sign := x.reg(), rz, rz
		if !narrow {
			sign = x.and(auto, x.xor(auto, a[1], b[1]), imm(1<<31))
			extreme = x.or(auto, x.farExponent(a[1]), x.farExponent(b[1]))
			near := x.newBlock()
			x.branch(x.test(isa.CmpEQ, isa.U32, x.selBit(extreme, special), rz), near)
			ea, eb := x.unitF64(a, a[1]), x.unitF64(b, b[1])
			x.sub(k, ea, eb)
			x.place(near)
		}
		y := x.mufu64(isa.SubRcp64H, b)
		seed := y
		for i := 0; i < 2; i++ {
			e := x.f64(isa.OpDFMA, neg64f(b), y, x.one64())
			if i == 0 {
				e = x.f64(isa.OpDFMA, e, e, e)
			}
			y = x.f64(isa.OpDFMA, y, e, y)
		}
		q := x.f64(isa.OpDMUL, a, y)
		r := x.f64(isa.OpDFMA, neg64f(b), q, a)
		if round != isa.RN {
			q = x.f64(isa.OpDFMA, r, y, q)
			r = x.f64(isa.OpDFMA, neg64f(b), q, a)
		}
		out := x.regs(2)
		x.emitWide(isa.OpDFMA, isa.Mod{Round: round}, [][]word{out}, x.pairs([][]word{r, y, q}))
		if !narrow {
			done := x.newBlock()
			x.branch(x.test(isa.CmpEQ, isa.U32, x.selBit(extreme, special), rz), done)
			x.scaleQuotient(out, a, b, y, k, sign, round)
			x.place(done)
		}
		if !narrow { // the seed of a subnormal number is infinite
			one := x.or(auto, x.and(auto, b[1], imm(1<<31)), x.mov(auto, imm(0x3ff00000)))
			seed = []word{seed[0], x.sel(auto, seed[1], one, x.test(isa.CmpNE, isa.U32, odd, rz))}
		}
		bad := x.f64(isa.OpDMUL, a, seed)
		x.sel64(asPair(d), asPair(bad), asPair(out), x.test(isa.CmpNE, isa.U32, special, rz))
	})
}

// selBit is bit where special is 0, else 0.
func (x *expander) selBit(bit, special word) word {
	return x.and(auto, bit, x.xor(auto, special, imm(1)))
}

// bit is 1 where the predicate holds.
func (x *expander) bit(p word) word { return x.sel(auto, x.mov(auto, imm(1)), x.mov(auto, imm(0)), p) }

// unusual is 1 for zero, infinity and NaN.
func (x *expander) unusual(a []word) word {
	h := x.and(auto, a[1], imm(0x7fffffff))
	zero := x.cmp64(auto, isa.CmpEQ, false, pair{a[0], h}, pair{rz, rz}, isa.BoolAnd, pt)
	return x.bit(x.cmp(auto, isa.CmpGE, isa.U32, h, imm(0x7ff00000), isa.BoolOr, zero))
}

// farExponent is 1 unless the number is in [2^-510, 2^510).
func (x *expander) farExponent(h word) word {
	e := x.sub(auto, x.and(auto, h, imm(0x7fffffff)), x.mov(auto, imm(0x20100000)))
	return x.bit(x.test(isa.CmpGE, isa.U32, e, imm(0x5fd00000-0x20100000)))
}

// unitF64 brings the number to [1, 2), keeping its sign h, and gives the exponent that it had.
func (x *expander) unitF64(a []word, h word) word {
	small := x.bit(x.test(isa.CmpLT, isa.U32, x.and(auto, h, imm(0x7fffffff)), imm(0x00100000)))
	up := x.add(auto, x.mov(auto, imm(0x3ff00000)), x.mul54(small, 20))
	n := x.f64(isa.OpDMUL, a, []word{x.mov(auto, rz), up})
	e := x.and(auto, x.shr(auto, n[1], imm(20)), imm(0x7ff))
	e = x.sub(auto, e, x.mul54(small, 0))
	x.mov(a[0], n[0])
	x.or(a[1], x.and(auto, n[1], imm(0x800fffff)), imm(0x3ff00000))
	return e
}

// mul54 is 54 * bit, shifted left.
func (x *expander) mul54(bit word, shift uint32) word {
	m := x.sub(auto, x.mov(auto, rz), bit) // 0 or all bits
	return x.and(auto, m, imm(54<<shift))
}

// scaleQuotient multiplies the rounded quotient of a and b, both in [1, 2), by 2^k. A subnormal result is rounded
// once: the quotient is added to 2^(-1022-k), whose last place is that of the result; y is the reciprocal of b.
func (x *expander) scaleQuotient(out, a, b, y []word, k, sign word, round isa.Round) {
	x.clampWord(k, -1100, 1100)
	normal := x.newBlock()
	e := x.add(auto, x.and(auto, x.shr(auto, out[1], imm(20)), imm(0x7ff)), k)
	x.branch(x.test(isa.CmpGE, isa.S32, e, imm(1)), normal)

	q := x.regs(2) // nearest quotient
	x.emitWide(isa.OpDMUL, isa.Mod{}, [][]word{q}, x.pairs([][]word{a, y}))
	x.emitWide(isa.OpDFMA, isa.Mod{}, [][]word{q}, x.pairs([][]word{x.f64(isa.OpDFMA, neg64f(b), q, a), y, q}))
	r := x.f64(isa.OpDMUL, x.f64(isa.OpDFMA, neg64f(b), q, a), y)     // what it lacks
	unit := x.shl(auto, x.sub(auto, x.mov(auto, imm(1)), k), imm(20)) // exponent 1023 - 1022 - k
	c := []word{x.mov(auto, rz), x.or(auto, unit, sign)}
	h := x.f64(isa.OpDADD, c, q)
	l := x.f64(isa.OpDADD, q, neg64f(x.f64(isa.OpDADD, h, neg64f(c))))
	lh := x.and(auto, l[1], imm(0x7fffffff))
	none := x.cmp64(auto, isa.CmpEQ, false, pair{l[0], lh}, pair{rz, rz}, isa.BoolAnd, pt)
	if round == isa.RN {
		// Halfway between two results the rest decides: l is half a last place then.
		rh := x.and(auto, r[1], imm(0x7fffffff))
		exact := x.bit(x.cmp64(auto, isa.CmpEQ, false, pair{r[0], rh}, pair{rz, rz}, isa.BoolAnd, pt))
		half := x.sub(auto, unit, x.mov(auto, imm(53<<20)))
		tie := x.bit(x.cmp64(auto, isa.CmpEQ, false, pair{l[0], lh}, pair{rz, half}, isa.BoolAnd, pt))
		other := x.shr(auto, x.xor(auto, l[1], r[1]), imm(31))
		away := x.test(isa.CmpNE, isa.U32, x.selBit(x.selBit(tie, exact), other), rz)
		t := x.f64(isa.OpDFMA, l, []word{x.mov(auto, rz), x.mov(auto, imm(0x40000000))}, h)
		h = []word{x.sel(auto, t[0], h[0], away), x.sel(auto, t[1], h[1], away)}
	} else {
		t := []word{x.sel(auto, r[0], l[0], none), x.sel(auto, r[1], l[1], none)}
		s := x.regs(2)
		x.emitWide(isa.OpDADD, isa.Mod{Round: round}, [][]word{s}, x.pairs([][]word{h, t}))
		h = s
	}
	n := x.f64(isa.OpDADD, h, neg64f(c))
	x.mov(out[0], n[0])
	x.or(out[1], x.and(auto, n[1], imm(0x7fffffff)), sign)

	x.place(normal)
	half := x.sar(auto, k, imm(1))
	for _, n := range []word{half, x.sub(auto, k, half)} {
		f := []word{x.mov(auto, rz), x.shl(auto, x.add(auto, n, x.mov(auto, imm(1023))), imm(20))}
		x.emitWide(isa.OpDMUL, isa.Mod{Round: round}, [][]word{out}, x.pairs([][]word{out, f}))
	}
}

// clampWord limits the signed word in place.
func (x *expander) clampWord(k word, low, high int32) {
	lo, hi := x.mov(auto, imm(uint32(low))), x.mov(auto, imm(uint32(high)))
	x.sel(k, lo, k, x.test(isa.CmpLT, isa.S32, k, lo))
	x.sel(k, hi, k, x.test(isa.CmpGT, isa.S32, k, hi))
}

// sqrtF64 is the square root by the seed of its reciprocal and Newton steps.
func (x *expander) sqrtF64(d, a []word, round isa.Round) {
	a = x.inRegs(a)
	h := a[1]
	// Subnormal operands are scaled by 2^54, their roots by 2^-27.
	small := x.test(isa.CmpLT, isa.U32, x.and(auto, h, imm(0x7fffffff)), imm(0x03500000))
	up := []word{x.mov(auto, rz), x.sel(auto, imm(0x43500000), x.mov(auto, imm(0x3ff00000)), small)}
	down := []word{x.mov(auto, rz), x.sel(auto, imm(0x3e400000), x.mov(auto, imm(0x3ff00000)), small)}
	s := x.f64(isa.OpDMUL, a, up)
	y := x.mufu64(isa.SubRsq64H, s)
	half := x.inRegs([]word{rz, imm(0x3fe00000)})
	for i := 0; i < 2; i++ {
		t := x.f64(isa.OpDMUL, y, y)
		e := x.f64(isa.OpDFMA, neg64f(s), t, x.one64())
		c := x.f64(isa.OpDFMA, e, x.inRegs([]word{rz, imm(0x3fd80000)}), half)
		y = x.f64(isa.OpDFMA, c, x.f64(isa.OpDMUL, y, e), y)
	}
	q := x.f64(isa.OpDMUL, s, y)
	r := x.f64(isa.OpDFMA, neg64f(q), q, s)
	hy := x.f64(isa.OpDMUL, y, half)
	if round != isa.RN {
		q = x.f64(isa.OpDFMA, r, hy, q)
		r = x.f64(isa.OpDFMA, neg64f(q), q, s)
	}
	out := x.regs(2)
	x.emitWide(isa.OpDFMA, isa.Mod{Round: round}, [][]word{out}, x.pairs([][]word{r, hy, q}))
	out = x.f64(isa.OpDMUL, out, down)
	// Zero and infinity are their own roots; negative numbers and NaN give NaN, which the steps produce.
	zero := x.cmp64(auto, isa.CmpEQ, false, pair{a[0], x.and(auto, h, imm(0x7fffffff))}, pair{rz, rz}, isa.BoolAnd, pt)
	p := x.cmp64(auto, isa.CmpEQ, false, asPair(a), pair{rz, imm(0x7ff00000)}, isa.BoolOr, zero)
	x.sel64(asPair(d), asPair(a), asPair(out), p)
}
