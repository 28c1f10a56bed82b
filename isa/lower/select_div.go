package lower

import (
	"math"

	"github.com/sarchlab/smsim/isa"
)

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
		name := "div." + t.name
		if rem {
			name = "rem." + t.name
		}
		switch {
		case t.wide():
			d, a, b := x.d64(0, t.name), x.a64(1, t.name), x.a64(2, t.name)
			x.callRoutine(name, append(a.words(), b.words()...), d.words(), func(y *expander, args, d []word) {
				y.div64(pair{d[0], d[1]}, pair{args[0], args[1]}, pair{args[2], args[3]}, t.signed(), rem)
			})
		case t.bits == 16:
			d, a, b := x.d32(0, t.name), x.ext(auto, x.a32(1, t.name), t), x.ext(auto, x.a32(2, t.name), t)
			x.callRoutine(name, []word{a, b}, []word{d}, func(y *expander, args, d []word) {
				y.div16(d[0], args[0], args[1], t.signed(), rem)
			})
		case t.signed():
			x.divS32(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), rem)
		default:
			x.divU32(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), rem)
		}
	}
}

// callRoutine calls a routine that the compiler supplies, as ptxas does with divisions of 16 and 64 bits; body emits it. Before Fermi
// it takes the place of the call.
func (x *expander) callRoutine(name string, args, results []word, body func(y *expander, args, results []word)) {
	if x.sm() < 20 {
		body(x, args, results)
		return
	}
	var after *block
	if x.guard.Kind != isa.KindNone {
		after = x.newBlock()
		x.branch(notP(x.guard), after, false)
		x.guard = word{}
	}
	x.callPrivate(x.f.routineUnit(name, x.in, len(args), len(results), body), args, results)
	if after != nil {
		x.place(after)
	}
}

// reciprocal is floor(2^32/b) or a little less: the float reciprocal, scaled by 2^32 and rounded down by a few
// units, converted back, and improved by one Newton step. minusB is -b, KindNone where ptxas negates the estimate in its place.
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
	var e word
	if minusB.Kind == isa.KindNone {
		e = x.mulLo(auto, x.negate(auto, q), b)
	} else {
		e = x.mulLo(auto, minusB, q)
	}
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

// quotient is what divSteps made of two words: the next division of the same words in the block takes it.
type quotient struct {
	b      *block
	at     int // place of the division in the block
	x, y   word
	signed bool
	result [2]word
}

// divided gives the quotient or the remainder of an earlier division of the same words in this block, if they have not changed since.
func (x *expander) divided(a, b word, signed, rem bool) (word, bool) {
	d := &x.f.lastQuotient
	if x.sm() < 70 || d.b != x.cur || d.x != a || d.y != b || d.signed != signed || x.guard.Kind != isa.KindNone {
		return word{}, false
	}
	for i := d.at; i < len(x.cur.insts); i++ {
		in := &x.cur.insts[i]
		for _, o := range in.Dst[:in.NDst] {
			if o.Kind == isa.KindReg && (o.Reg == a.Reg || o.Reg == b.Reg) {
				return word{}, false
			}
		}
	}
	return x.mov(auto, d.result[pick(rem)]), true
}

// keepQuotient notes a division that began at a place of the block, and gives its quotient or remainder.
func (x *expander) keepQuotient(a, b word, signed, rem bool, at int, result [2]word) word {
	if x.sm() >= 70 && x.guard.Kind == isa.KindNone {
		x.f.lastQuotient = quotient{x.cur, at, a, b, signed, result}
	}
	return x.mov(auto, result[pick(rem)])
}

// pick is the place of the remainder, or of the quotient, in what divSteps gives.
func pick(rem bool) int {
	if rem {
		return 1
	}
	return 0
}

// divSteps corrects the estimate q of a / b twice; it gives quotient and remainder of unsigned words. rest is a - q*b. swapped: the
// first correction tests b > rest. From Volta on both results are computed, and what nobody reads is removed.
func (x *expander) divSteps(q, rest, b word, rem, swapped bool) [2]word {
	both := x.sm() >= 70
	if x.sm() < 70 || x.guard.Kind != isa.KindNone {
		rest = x.mov(auto, rest)
	}
	for i := range 2 {
		var p word
		if swapped && i == 0 {
			p = notP(x.test(isa.CmpGT, isa.U32, b, rest))
		} else {
			p = x.test(isa.CmpGE, isa.U32, rest, b)
		}
		x.under(p, func() {
			if both || rem || i == 0 {
				x.sub(rest, rest, b)
			}
			if both || !rem {
				x.add(q, q, imm(1))
			}
		})
	}
	return [2]word{q, rest}
}

// divU32 is unsigned division or remainder. Dividing by zero gives all ones for both.
func (x *expander) divU32(d, a, b word, rem bool) {
	if c, known := constant(b); known {
		if c == 0 {
			x.mov(d, imm(0xffffffff))
			return
		}
		q := x.mulHi(auto, x.reciprocal(b, imm(-c)), a, false)
		x.mov(d, x.divSteps(q, x.madLo(auto, q, imm(-c), a), b, rem, false)[pick(rem)])
		return
	}
	v, known := x.divided(a, b, false, rem)
	at, by := len(x.cur.insts), b
	b = x.inReg(b)
	if !known {
		m := x.negate(auto, b)
		q := x.mulHi(auto, x.reciprocal(b, m), a, false)
		rest := word{}
		if x.sm() >= 70 {
			rest = x.madLo(auto, b, x.negate(auto, q), a)
		} else {
			rest = x.madLo(auto, q, m, a)
		}
		v = x.keepQuotient(a, by, false, rem, at, x.divSteps(q, rest, b, rem, false))
	}
	nonzero := x.test(isa.CmpNE, isa.U32, b, rz)
	x.under(notP(nonzero), func() { x.not(v, b) })
	x.mov(d, v)
}

// divS32 is signed division (truncating) or remainder (sign of the dividend).
func (x *expander) divS32(d, a, b word, rem bool) {
	if c, known := constant(b); known {
		x.divS32By(d, x.inReg(a), c, rem)
		return
	}
	v, known := x.divided(a, b, true, rem)
	at, of, by := len(x.cur.insts), a, b
	a, b = x.inReg(a), x.inReg(b)
	if !known {
		ab := x.abs(auto, b)
		volta := x.sm() >= 70
		again, minusB := ab, word{}
		if volta { // ptxas takes the absolute value twice
			again = x.reg()
			x.emit(isa.OpIABS, isa.Mod{Flags: modKeep}, []word{again}, []word{b})
		}
		m := x.negate(auto, again)
		if !volta {
			minusB = m
		}
		aa := x.abs(auto, a)
		q := x.mulHi(auto, x.reciprocal(ab, minusB), aa, false)
		v = x.keepQuotient(of, by, true, rem, at, x.divSteps(q, x.madLo(auto, q, m, aa), ab, rem, volta))
	}
	sign := a
	if !rem {
		sign = x.xor(auto, a, b)
	}
	positive := x.test(isa.CmpGE, isa.S32, sign, rz)
	nonzero := x.test(isa.CmpNE, isa.S32, b, rz)
	x.under(notP(positive), func() { x.negate(v, v) })
	x.under(notP(nonzero), func() { x.not(v, b) })
	x.mov(d, v)
}

// divS32By is divS32 by a literal.
func (x *expander) divS32By(d, a word, c uint32, rem bool) {
	if c == 0 {
		x.mov(d, imm(0xffffffff))
		return
	}
	abs := c
	if int32(c) < 0 {
		abs = -c
	}
	sign := a
	if !rem {
		sign = x.xor(auto, a, imm(c))
	}
	aa := x.abs(auto, a)
	q := x.mulHi(auto, x.reciprocal(imm(abs), imm(-abs)), aa, false)
	v := x.mov(auto, x.divSteps(q, x.madLo(auto, q, imm(-abs), aa), imm(abs), rem, false)[pick(rem)])
	positive := x.test(isa.CmpGE, isa.S32, sign, rz)
	x.under(notP(positive), func() { x.negate(v, v) })
	x.mov(d, v)
}

// div16 divides 16-bit values in f32: the quotient of such integers is exact after one rounding toward zero when
// the reciprocal is taken two units too large. Dividing by zero gives all ones.
func (x *expander) div16(d, a, b word, signed, rem bool) {
	au, bu := a, b
	c, literal := constant(b)
	switch {
	case literal && signed && int32(c) < 0:
		c = -c
	case !literal && signed:
		bu = x.abs(auto, b)
	}
	if signed {
		au = x.abs(auto, a)
	}
	if literal && c == 0 {
		x.mov(d, imm(0xffffffff))
		return
	}
	var r word
	if literal { // the reciprocal is a literal too
		r = imm(math.Float32bits(1/float32(c)) + 2)
	} else {
		fb := x.reg()
		x.emit(isa.OpI2F, isa.Mod{Type: isa.F32, BType: isa.U16}, []word{fb}, []word{bu})
		scale := x.scaleForRcp(fb)
		r = x.mufu(isa.SubRcp, x.fmul(auto, fb, scale, isa.RN))
		r = x.add(auto, x.fmul(auto, scale, r, isa.RN), imm(2))
	}
	fa := x.reg()
	if !signed && x.t().Has(isa.OpI2FP) {
		x.emit(isa.OpI2FP, isa.Mod{Type: isa.F32, BType: isa.U32, Round: isa.RZero}, []word{fa}, []word{au})
	} else {
		x.emit(isa.OpI2F, isa.Mod{Type: isa.F32, BType: isa.U16, Round: isa.RZero}, []word{fa}, []word{au})
	}
	f := x.fmul(auto, fa, r, isa.RZero)
	q := x.reg()
	m := isa.Mod{Type: isa.U32, BType: isa.F32, Round: isa.RZero}
	if x.sm() >= 70 {
		m.Flags = isa.ModNTZ
	}
	x.emit(isa.OpF2I, m, []word{q}, []word{f})
	var nonzero word
	if !literal {
		nonzero = x.test(isa.CmpNE, isa.U32, b, rz)
	}
	v := q
	if rem {
		minusB := imm(-c)
		if !literal {
			minusB = x.negate(auto, bu)
		}
		v = x.madLo(auto, x.zext(auto, q, 16), minusB, au)
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
	if literal {
		x.mov(d, v)
		return
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
