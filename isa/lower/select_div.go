package lower

import "github.com/sarchlab/smsim/isa"

// ruleDiv is div and rem.
func ruleDiv(rem bool) rule {
	return func(x *expander) {
		if x.peekFloat() || x.in.Has("full") || x.in.Has("approx") {
			if rem {
				x.fail("rem has no floating-point form")
				return
			}
			floatDiv(x)
			return
		}
		t := x.typ(intTypes)
		if x.err != nil || !x.args(3, 3) {
			return
		}
		switch {
		case t.wide():
			x.div64(x.d64(0, t.name), x.a64(1, t.name), x.a64(2, t.name), t.signed(), rem)
		case x.divByConst(t, rem):
		case t.bits == 16:
			x.div16(x.d32(0, t.name), x.ext(auto, x.a32(1, t.name), t), x.ext(auto, x.a32(2, t.name), t), t.signed(), rem)
		case t.signed():
			x.divS32(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), rem)
		default:
			x.divU32(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), rem)
		}
	}
}

// reciprocal is floor(2^32/b) or a little less: the float reciprocal, scaled by 2^32 and rounded down by a few
// units, converted back, and improved by one Newton step.
func (x *expander) reciprocal(b word, minusB word) word {
	f := x.reg()
	x.emit(isa.OpI2F, isa.Mod{Type: isa.F32, BType: isa.U32, Round: isa.RP}, []word{f}, []word{b})
	r := x.mufu(isa.SubRcp, f)
	r = x.add(auto, r, imm(0x0ffffffe))
	q := x.reg()
	m := isa.Mod{Type: isa.U32, BType: isa.F32, Round: isa.RZero, Flags: isa.ModFTZ}
	if x.sm() >= 70 {
		m.Flags |= isa.ModNTZ
	}
	x.emit(isa.OpF2I, m, []word{q}, []word{r})
	e := x.mulLo(auto, minusB, q)
	if x.sm() > 70 {
		d := x.reg()
		low := x.mov(auto, imm(0))
		x.emitWide(isa.OpIMAD, isa.Mod{Type: isa.U32, Flags: isa.ModHI}, [][]word{{d}, {pt}}, [][]word{{q}, {e}, {low, q}})
		return d
	}
	return x.madHi(auto, q, e, q, false)
}

// mufu is a function of the special function unit on f32.
func (x *expander) mufu(f isa.Sub, a word) word {
	d := x.reg()
	x.emit(isa.OpMUFU, isa.Mod{Sub: f}, []word{d}, []word{a})
	return d
}

// divSteps estimates a / b and corrects it twice; it gives quotient or remainder of unsigned words. p0 guards
// nothing but temporaries.
func (x *expander) divSteps(a, b, minusB word, rem bool) word {
	r := x.reciprocal(b, minusB)
	q := x.mulHi(auto, r, a, false)
	rest := x.madLo(auto, q, minusB, a)
	if x.sm() < 70 || x.guard.Kind != isa.KindNone {
		rest = x.mov(auto, rest)
	}
	for i := 0; i < 2; i++ {
		p := x.test(isa.CmpGE, isa.U32, rest, b)
		x.under(p, func() {
			if rem || i == 0 {
				x.sub(rest, rest, b)
			}
			if !rem {
				x.add(q, q, imm(1))
			}
		})
	}
	if rem {
		return rest
	}
	return q
}

// divU32 is unsigned division or remainder. Dividing by zero gives all ones for both.
func (x *expander) divU32(d, a, b word, rem bool) {
	b = x.inReg(b)
	m := x.negate(auto, b)
	nonzero := x.test(isa.CmpNE, isa.U32, b, rz)
	v := x.divSteps(a, b, m, rem)
	x.under(notP(nonzero), func() { x.not(v, b) })
	x.mov(d, v)
}

// divS32 is signed division (truncating) or remainder (sign of the dividend).
func (x *expander) divS32(d, a, b word, rem bool) {
	a, b = x.inReg(a), x.inReg(b)
	ab := x.abs(auto, b)
	m := x.negate(auto, x.abs(auto, b))
	aa := x.abs(auto, a)
	sign := a
	if !rem {
		sign = x.xor(auto, a, b)
	}
	v := x.divSteps(aa, ab, m, rem)
	positive := x.test(isa.CmpGE, isa.S32, sign, rz)
	nonzero := x.test(isa.CmpNE, isa.S32, b, rz)
	x.under(notP(positive), func() { x.negate(v, v) })
	x.under(notP(nonzero), func() { x.not(v, b) })
	x.mov(d, v)
}

// div16 divides 16-bit values in f32: the quotient of such integers is exact after one rounding toward zero when
// the reciprocal is taken two units too large. Dividing by zero gives all ones.
func (x *expander) div16(d, a, b word, signed, rem bool) {
	au, bu := a, b
	if signed {
		au, bu = x.abs(auto, a), x.abs(auto, b)
	}
	fb, fa := x.reg(), x.reg()
	x.emit(isa.OpI2F, isa.Mod{Type: isa.F32, BType: isa.U16}, []word{fb}, []word{bu})
	scale := x.scaleForRcp(fb)
	r := x.mufu(isa.SubRcp, x.fmul(auto, fb, scale, isa.RN))
	r = x.fmul(auto, scale, r, isa.RN)
	r = x.add(auto, r, imm(2))
	x.emit(isa.OpI2F, isa.Mod{Type: isa.F32, BType: isa.U16, Round: isa.RZero}, []word{fa}, []word{au})
	f := x.fmul(auto, fa, r, isa.RZero)
	q := x.reg()
	m := isa.Mod{Type: isa.U32, BType: isa.F32, Round: isa.RZero}
	if x.sm() >= 70 {
		m.Flags = isa.ModNTZ
	}
	x.emit(isa.OpF2I, m, []word{q}, []word{f})
	nonzero := x.test(isa.CmpNE, isa.U32, b, rz)
	v := q
	if rem {
		v = x.madLo(auto, x.zext(auto, q, 16), x.negate(auto, bu), au)
	} else {
		v = x.zext(auto, q, 16)
	}
	if signed {
		s := a
		if !rem {
			s = x.xor(auto, a, b)
		}
		one := x.shr(auto, s, imm(31))
		v = x.add(auto, one, x.xor(auto, x.negate(auto, one), v))
	}
	x.sel(d, v, imm(0xffffffff), nonzero)
}

// scaleForRcp is the power of two that keeps MUFU.RCP away from subnormal operands and results.
func (x *expander) scaleForRcp(f word) word {
	abs := f
	abs.Flags |= isa.Abs
	small, large := x.pred(), x.pred()
	x.emit(isa.OpFSETP, isa.Mod{Cmp: isa.CmpGEU}, []word{small, pt}, []word{abs, imm(0x00800000), pt})
	x.emit(isa.OpFSETP, isa.Mod{Cmp: isa.CmpGT}, []word{large, pt}, []word{abs, imm(0x7e800000), pt})
	s := x.fsel(x.mov(auto, imm(0x4b800000)), imm(0x3f800000), notP(small))
	return x.fsel(s, imm(0x3e800000), notP(large))
}

func (x *expander) fsel(a, b, p word) word {
	if !x.t().Has(isa.OpFSEL) {
		return x.sel(auto, a, b, p)
	}
	d := x.reg()
	x.emit(isa.OpFSEL, isa.Mod{}, []word{d}, []word{a, b, p})
	return d
}

func (x *expander) fmul(d, a, b word, r isa.Round) word {
	d = x.out(d)
	x.emit(isa.OpFMUL, isa.Mod{Round: r}, []word{d}, []word{a, b})
	return d
}

// div64 divides 64-bit values: reciprocal from I2F.U64 and MUFU.RCP, two Newton steps on 64 bits, quotient, two
// corrections. ptxas puts this sequence into a called subroutine; here it is in line. Zero divisors give all ones.
func (x *expander) div64(d, a, b pair, signed, rem bool) {
	ua, ub := a, b
	var neg word
	if signed {
		an := x.test(isa.CmpLT, isa.S32, a.hi, rz)
		bn := x.test(isa.CmpLT, isa.S32, b.hi, rz)
		ua = x.sel64(pair{}, x.sub64(pair{}, pair{rz, rz}, a), a, an)
		ub = x.sel64(pair{}, x.sub64(pair{}, pair{rz, rz}, b), b, bn)
		neg = an
		if !rem {
			neg = x.boolOp(auto, isa.BoolXor, an, bn)
		}
	}
	f, r := x.reg(), x.regs(2)
	x.emitWide(isa.OpI2F, isa.Mod{Type: isa.F32, BType: isa.U64, Round: isa.RP}, [][]word{{f}}, [][]word{x.inRegs(ub.words())})
	g := x.add(auto, x.mufu(isa.SubRcp, f), imm(0x1ffffffe))
	x.emitWide(isa.OpF2I, isa.Mod{Type: isa.U64, BType: isa.F32, Round: isa.RZero}, [][]word{r}, [][]word{{g}})
	y := pair{r[0], r[1]}
	for i := 0; i < 2; i++ { // y += high(y * -(y*b))
		e := x.sub64(pair{}, pair{rz, rz}, x.mulLo64(pair{}, y, ub))
		y = x.add64(pair{}, x.mulHi64(pair{}, y, e, false), y)
	}
	q := x.mulHi64(pair{}, y, ua, false)
	rest := x.sub64(pair{}, ua, x.mulLo64(pair{}, q, ub))
	one := pair{imm(1), rz}
	for i := 0; i < 2; i++ {
		p := x.cmp64(auto, isa.CmpGE, false, rest, ub, isa.BoolAnd, pt)
		if rem || i == 0 {
			rest = x.sel64(pair{}, x.sub64(pair{}, rest, ub), rest, p)
		}
		if !rem {
			q = x.sel64(pair{}, x.add64(pair{}, q, one), q, p)
		}
	}
	v := q
	if rem {
		v = rest
	}
	if signed {
		v = x.sel64(pair{}, x.sub64(pair{}, pair{rz, rz}, v), v, neg)
	}
	nonzero := x.cmp64(auto, isa.CmpNE, false, b, pair{rz, rz}, isa.BoolAnd, pt)
	ones := imm(0xffffffff)
	x.sel64(d, v, pair{ones, ones}, nonzero)
}
