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

// divF64 is a / b: two Newton steps on the seed of the reciprocal, quotient and one correction, which rounds
// correctly where nothing leaves the normal range. Zero, infinite and NaN operands give the product with the seed.
func (x *expander) divF64(d, a, b []word, round isa.Round) {
	a, b = x.inRegs(a), x.inRegs(b)
	scale, p := x.divScale(b)
	bs, as := x.f64(isa.OpDMUL, b, scale), x.f64(isa.OpDMUL, a, scale)
	y := x.mufu64(isa.SubRcp64H, bs)
	seed := y
	for i := 0; i < 2; i++ {
		e := x.f64(isa.OpDFMA, neg64f(bs), y, x.one64())
		if i == 0 {
			e = x.f64(isa.OpDFMA, e, e, e)
		}
		y = x.f64(isa.OpDFMA, y, e, y)
	}
	q := x.f64(isa.OpDMUL, as, y)
	r := x.f64(isa.OpDFMA, neg64f(bs), q, as)
	out := x.regs(2)
	x.emitWide(isa.OpDFMA, isa.Mod{Round: round}, [][]word{out}, x.pairs([][]word{r, y, q}))
	special := x.f64(isa.OpDMUL, as, seed)
	x.sel64(asPair(d), asPair(special), asPair(out), p)
}

// divScale is a power of two that brings b near 1 when it is extreme, and the predicate that is true for operands
// without finite reciprocal.
func (x *expander) divScale(b []word) ([]word, word) {
	h := x.and(auto, b[1], imm(0x7fffffff))
	small := x.test(isa.CmpLT, isa.U32, h, imm(0x20000000)) // < 2^-509
	large := x.test(isa.CmpGT, isa.U32, h, imm(0x5fe00000)) // > 2^511
	s := x.sel(auto, imm(0x5fe00000), x.mov(auto, imm(0x3ff00000)), small)
	s = x.sel(auto, imm(0x1fe00000), s, large)
	zero := x.cmp64(auto, isa.CmpEQ, false, pair{b[0], h}, pair{rz, rz}, isa.BoolAnd, pt)
	p := x.cmp(auto, isa.CmpGE, isa.U32, h, imm(0x7ff00000), isa.BoolOr, zero)
	return []word{x.mov(auto, rz), s}, p
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
	out := x.regs(2)
	x.emitWide(isa.OpDFMA, isa.Mod{Round: round}, [][]word{out}, x.pairs([][]word{r, hy, q}))
	out = x.f64(isa.OpDMUL, out, down)
	// Zero and infinity are their own roots; negative numbers and NaN give NaN, which the steps produce.
	zero := x.cmp64(auto, isa.CmpEQ, false, pair{a[0], x.and(auto, h, imm(0x7fffffff))}, pair{rz, rz}, isa.BoolAnd, pt)
	p := x.cmp64(auto, isa.CmpEQ, false, asPair(a), pair{rz, imm(0x7ff00000)}, isa.BoolOr, zero)
	x.sel64(asPair(d), asPair(a), asPair(out), p)
}
