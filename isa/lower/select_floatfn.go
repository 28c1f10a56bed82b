package lower

import "github.com/sarchlab/smsim/isa"

// scaled runs f on a scaled by up where p is false, and scales the result by back there. It keeps the special
// function unit, which flushes subnormal numbers, right for them.
func (x *expander) scaled(d, a word, ok func(p word), up, back uint32, f func(a word) word) {
	if x.ftz != 0 {
		x.mov(d, f(a))
		return
	}
	p := x.pred()
	ok(p)
	v := x.mov(auto, a)
	x.under(notP(p), func() { x.fmul(v, v, imm(up), isa.RN) })
	r := f(v)
	x.under(notP(p), func() { x.fmul(r, r, imm(back), isa.RN) })
	x.mov(d, r)
}

// absAtLeast writes p = |a| >= bound (or a is not a number).
func (x *expander) absAtLeast(a word, bound uint32) func(p word) {
	return func(p word) {
		w := x.inReg(a)
		w.Flags |= isa.Abs
		x.emit(isa.OpFSETP, isa.Mod{Cmp: isa.CmpGEU}, []word{p, pt}, []word{w, imm(bound), pt})
	}
}

// fnMods uses up .approx, .ftz and a rounding; approx when there is no rounding.
func (x *expander) fnMods() (approx bool, r isa.Round) {
	round := x.take("rn", "rz", "rm", "rp")
	x.has("approx")
	if x.has("ftz") {
		x.ftz = isa.ModFTZ
	}
	return round == "", roundings[round]
}

const (
	f32Least  = 0x00800000 // smallest normal number
	f32Two24  = 0x4b800000
	f32Two12  = 0x45800000
	f32TwoM12 = 0x39800000
)

// rcpApprox is the reciprocal within one unit in the last place.
func (x *expander) rcpApprox(d, a word) {
	if x.ftz == 0 && x.sm() >= 20 { // neither the operand nor the result may be subnormal
		a = x.inReg(a)
		s := x.scaleForRcp(a)
		v := x.mufu(isa.SubRcp, x.fmul(auto, a, s, isa.RN))
		x.fmul(d, s, v, isa.RN)
		return
	}
	x.scaled(d, a, x.absAtLeast(a, f32Least), f32Two24, f32Two24, func(v word) word { return x.mufu(isa.SubRcp, v) })
}

func ruleRcp(x *expander) {
	approx, r := x.fnMods()
	t := x.typ("f32 f64")
	if x.err != nil || !x.args(2, 2) {
		return
	}
	switch {
	case t.wide() && x.ftz != 0 && x.sm() >= 20: // of the upper word only
		x.movWords(x.dst(0, t.name), x.mufu64(isa.SubRcp64H, x.src(1, t.name)))
	case t.wide():
		x.divF64(x.dst(0, t.name), x.inRegs([]word{rz, imm(0x3ff00000)}), x.src(1, t.name), r, false)
	case approx || x.sm() < 20:
		x.rcpApprox(x.d32(0, t.name), x.a32(1, t.name))
	default:
		x.divF32(x.d32(0, t.name), x.mov(auto, imm(0x3f800000)), x.a32(1, t.name), r)
	}
}

// ruleSqrt is sqrt.
func ruleSqrt(x *expander) {
	approx, r := x.fnMods()
	t := x.typ("f32 f64")
	if x.err != nil || !x.args(2, 2) {
		return
	}
	switch {
	case t.wide():
		x.sqrtF64(x.dst(0, t.name), x.src(1, t.name), r)
	case approx || !x.t().Has(isa.OpDADD):
		a := x.a32(1, t.name)
		x.scaled(x.d32(0, t.name), a, x.absAtLeast(a, f32Least), f32Two24, f32TwoM12, func(v word) word { return x.sqrtUnit(v) })
	default:
		// The square root of an f32 in f64, rounded to f64 and then to f32, is correctly rounded (53 >= 2*24+2).
		w := x.toF64(x.a32(1, t.name))
		s := x.regs(2)
		x.sqrtF64(s, w, isa.RN)
		x.emitWide(isa.OpF2F, isa.Mod{Type: isa.F32, BType: isa.F64, Round: r}, [][]word{{x.d32(0, t.name)}}, [][]word{s})
	}
}

// sqrtUnit is MUFU.SQRT, which came with Maxwell; before it the reciprocal square root times the operand.
func (x *expander) sqrtUnit(v word) word {
	if x.sm() >= 52 {
		return x.mufu(isa.SubSqrt, v)
	}
	return x.mufu(isa.SubRcp, x.mufu(isa.SubRsq, v))
}

func ruleRsqrt(x *expander) {
	x.fnMods()
	t := x.typ("f32 f64")
	if x.err != nil || !x.args(2, 2) {
		return
	}
	if t.wide() && x.ftz != 0 && x.sm() >= 20 { // of the upper word only
		x.movWords(x.dst(0, t.name), x.mufu64(isa.SubRsq64H, x.src(1, t.name)))
		return
	}
	if t.wide() {
		s := x.regs(2)
		x.sqrtF64(s, x.src(1, t.name), isa.RN)
		x.divF64(x.dst(0, t.name), x.inRegs([]word{rz, imm(0x3ff00000)}), s, isa.RN, false)
		return
	}
	a := x.a32(1, t.name)
	x.scaled(x.d32(0, t.name), a, x.absAtLeast(a, f32Least), f32Two24, f32Two12, func(v word) word { return x.mufu(isa.SubRsq, v) })
}

// ruleTrig is sin and cos: the unit takes its argument in turns, or after range reduction before Volta.
func ruleTrig(f isa.Sub) rule {
	return func(x *expander) {
		x.fnMods()
		x.typ("f32")
		if x.err != nil || !x.args(2, 2) {
			return
		}
		a := x.a32(1, "f32")
		if x.sm() >= 70 {
			a = x.fmul(auto, a, imm(0x3e22f983), isa.RZero)
		} else {
			r := x.reg()
			x.emit(isa.OpRRO, isa.Mod{Sub: isa.SubSin}, []word{r}, []word{a})
			a = r
		}
		x.mov(x.d32(0, "f32"), x.mufu(f, a))
	}
}

func ruleLg2(x *expander) {
	x.fnMods()
	x.typ("f32")
	if x.err != nil || !x.args(2, 2) {
		return
	}
	d, a := x.d32(0, "f32"), x.a32(1, "f32")
	if x.ftz != 0 {
		x.mov(d, x.mufu(isa.SubLg2, a))
		return
	}
	p := x.pred()
	x.absAtLeast(a, f32Least)(p)
	v := x.mov(auto, a)
	x.under(notP(p), func() { x.fmul(v, v, imm(f32Two24), isa.RN) })
	r := x.mufu(isa.SubLg2, v)
	x.under(notP(p), func() { x.emit(isa.OpFADD, isa.Mod{}, []word{r}, []word{r, imm(0xc1c00000)}) }) // - 24
	x.mov(d, r)
}

func ruleEx2(x *expander) {
	x.fnMods()
	t := x.typ("f32 f16 f16x2 bf16 bf16x2")
	if x.err != nil || !x.args(2, 2) {
		return
	}
	if t.name != "f32" {
		x.halfFunction(t, isa.SubEx2)
		return
	}
	d, a := x.d32(0, "f32"), x.a32(1, "f32")
	exp := func(v word) word {
		if x.sm() < 70 {
			r := x.reg()
			x.emit(isa.OpRRO, isa.Mod{Sub: isa.SubEx2}, []word{r}, []word{v})
			v = r
		}
		return x.mufu(isa.SubEx2, v)
	}
	if x.ftz != 0 {
		x.mov(d, exp(a))
		return
	}
	// Below 2^-126 the result is subnormal: square the root of it.
	p := x.pred()
	x.emit(isa.OpFSETP, isa.Mod{Cmp: isa.CmpGEU}, []word{p, pt}, []word{x.inReg(a), imm(0xc2fc0000), pt})
	v := x.mov(auto, a)
	x.under(notP(p), func() { x.fmul(v, v, imm(0x3f000000), isa.RN) })
	r := exp(v)
	x.under(notP(p), func() { x.fmul(r, r, r, isa.RN) })
	x.mov(d, r)
}

// halfFunction computes a function of halves in f32.
func (x *expander) halfFunction(t vtype, f isa.Sub) {
	bf := t.name[0] == 'b'
	a, d := x.a32(1, t.name), x.d32(0, t.name)
	one := func(k int) word {
		v := x.halfToFloat(a, k, bf)
		if f == isa.SubTanh && !x.hasTanh() {
			return x.floatToHalf(auto, x.tanhSteps(v), bf, isa.RN)
		}
		if f == isa.SubEx2 && x.sm() < 70 {
			r := x.reg()
			x.emit(isa.OpRRO, isa.Mod{Sub: isa.SubEx2}, []word{r}, []word{v})
			v = r
		}
		return x.floatToHalf(auto, x.mufu(f, v), bf, isa.RN)
	}
	lo := one(0)
	if !t.packed {
		x.mov(d, lo)
		return
	}
	x.prmt(d, lo, imm(0x5410), one(1))
}

func (x *expander) hasTanh() bool { return x.sm() >= 75 }

func ruleTanh(x *expander) {
	x.fnMods()
	t := x.typ("f32 f16 f16x2 bf16 bf16x2")
	if x.err != nil || !x.args(2, 2) {
		return
	}
	switch {
	case t.name != "f32":
		x.halfFunction(t, isa.SubTanh)
	case x.hasTanh():
		x.mov(x.d32(0, t.name), x.mufu(isa.SubTanh, x.a32(1, t.name)))
	default:
		x.mov(x.d32(0, t.name), x.tanhSteps(x.a32(1, t.name)))
	}
}

// tanhSteps is tanh(a) = 1 - 2 / (2^(2a log2 e) + 1).
func (x *expander) tanhSteps(a word) word {
	v := x.fmul(auto, a, imm(0x4038aa3b), isa.RN) // 2 log2(e)
	if x.sm() < 70 {
		r := x.reg()
		x.emit(isa.OpRRO, isa.Mod{Sub: isa.SubEx2}, []word{r}, []word{v})
		v = r
	}
	e := x.reg()
	x.emit(isa.OpFADD, isa.Mod{}, []word{e}, []word{x.mufu(isa.SubEx2, v), imm(0x3f800000)})
	q := x.fmul(auto, x.mufu(isa.SubRcp, e), imm(0xc0000000), isa.RN)
	d := x.reg()
	x.emit(isa.OpFADD, isa.Mod{}, []word{d}, []word{q, imm(0x3f800000)})
	return d
}

// toF64 widens an f32.
func (x *expander) toF64(a word) []word {
	d := x.regs(2)
	x.emitWide(isa.OpF2F, isa.Mod{Type: isa.F64, BType: isa.F32}, [][]word{d}, [][]word{{a}})
	return d
}

// floatDiv is div on floating-point types.
func floatDiv(x *expander) {
	full := x.has("full")
	approx, r := x.fnMods()
	t := x.typ("f32 f64")
	if x.err != nil || !x.args(3, 3) {
		return
	}
	switch {
	case t.wide():
		x.divF64(x.dst(0, t.name), x.src(1, t.name), x.src(2, t.name), r, false)
	case full || approx || x.sm() < 20:
		// a * (1/b), with b and a scaled when b is so large or small that its reciprocal is not normal.
		a, b := x.a32(1, t.name), x.inReg(x.a32(2, t.name))
		s := x.scaleForRcp(b)
		q := x.fmul(auto, x.fmul(auto, a, s, isa.RN), x.mufu(isa.SubRcp, x.fmul(auto, b, s, isa.RN)), isa.RN)
		x.mov(x.d32(0, t.name), q)
	default:
		x.divF32(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), r)
	}
}

// divF32 is the rounded quotient, computed in f64: rounding its 53 bits to 24 once more is still right, as 53 >= 2*24+2.
func (x *expander) divF32(d, a, b word, round isa.Round) {
	if !x.t().Has(isa.OpDADD) {
		x.fail("a rounded division needs f64 arithmetic, which %s lacks", x.t().Name).Advise("use div.full.f32")
		return
	}
	q := x.regs(2)
	x.divF64(q, x.toF64(a), x.toF64(b), isa.RN, true)
	x.emitWide(isa.OpF2F, isa.Mod{Type: isa.F32, BType: isa.F64, Round: round, Flags: x.ftz}, [][]word{{d}}, [][]word{q})
}
