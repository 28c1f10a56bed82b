package lower

import "github.com/sarchlab/smsim/isa"

// div64 divides 64-bit values: reciprocal from I2F.U64 and MUFU.RCP, two Newton steps on 64 bits, quotient, two
// corrections. Zero divisors give all ones.
func (x *expander) div64(d, a, b pair, signed, rem bool) {
	ua, ub := a, b
	var positive word
	if signed {
		ub, _ = x.magnitude64(b)
		ua, positive = x.magnitude64(a)
		if !rem {
			positive = x.test(isa.CmpGE, isa.S32, x.xor(auto, b.hi, a.hi), rz)
		}
	}
	f, r := x.reg(), x.regs(2)
	x.emitWide(isa.OpI2F, isa.Mod{Type: isa.F32, BType: isa.U64, Round: isa.RP}, [][]word{{f}}, [][]word{x.inRegs(ub.words())})
	g := x.add(auto, x.mufu(isa.SubRcp, f), imm(0x1ffffffe))
	x.emitWide(isa.OpF2I, isa.Mod{Type: isa.U64, BType: isa.F32, Round: isa.RZero}, [][]word{r}, [][]word{{g}})
	y := pair{r[0], r[1]}
	for range 2 { // y += high(y * -(y*b))
		y = x.plusHighProduct(y, x.sub64(pair{}, pair{rz, rz}, x.lowProduct(y, ub)))
	}
	q := x.highProduct(y, ua)
	rest := x.sub64(pair{}, ua, x.lowProduct(q, ub))
	one := pair{imm(1), rz}
	for i := range 2 {
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
		v = x.sel64(pair{}, x.sub64(pair{}, pair{rz, rz}, v), v, notP(positive))
	}
	lo, okLo := constant(b.lo)
	if hi, okHi := constant(b.hi); okLo && okHi && lo|hi != 0 {
		x.mov(d.lo, v.lo)
		x.mov(d.hi, v.hi)
		return
	}
	nonzero := x.cmp64(auto, isa.CmpNE, false, b, pair{rz, rz}, isa.BoolAnd, pt)
	ones := imm(0xffffffff)
	x.sel64(d, v, pair{ones, ones}, nonzero)
}

// magnitude64 is the absolute value of a 64-bit number, and whether it is not negative.
func (x *expander) magnitude64(a pair) (pair, word) {
	positive := x.test(isa.CmpGE, isa.S32, a.hi, rz)
	return x.sel64(pair{}, x.sub64(pair{}, pair{rz, rz}, a), a, notP(positive)), positive
}

// lowProduct is the low 64 bits of a product: the cross products are added to the high word one after the other.
func (x *expander) lowProduct(a, b pair) pair {
	if x.sm() <= 70 {
		return x.mulLo64(pair{}, a, b)
	}
	w := x.mulWide(pair{}, a.lo, b.lo, false)
	hi := w.hi
	if !isZero(b.hi) {
		hi = x.madLo(auto, a.lo, b.hi, hi)
	}
	return pair{w.lo, x.madLo(auto, a.hi, b.lo, hi)}
}

// highProduct is the high 64 bits of a product of two values of which the first has few bits in its low word's carry: ptxas's sequence,
// whose middle sum cannot overflow.
func (x *expander) highProduct(a, b pair) pair {
	if x.sm() <= 70 {
		return x.mulHi64(pair{}, a, b, false)
	}
	low := x.highWord(a.lo, b.lo)
	m := x.regs(2)
	wide := isa.Mod{Type: isa.U32, Flags: isa.ModWide}
	x.emitWide(isa.OpIMAD, wide, [][]word{m, {pt}}, [][]word{{a.lo}, {b.hi}, {low, x.mov(auto, imm(0))}})
	hh := x.mulLo(auto, a.hi, b.hi)
	mid, c := x.highWordPlus(a.hi, b.lo, m)
	top := x.highWord(a.hi, b.hi)
	lo, c2 := x.reg(), x.pred()
	x.emit(isa.OpIADD3, isa.Mod{}, []word{lo, c2, pt}, []word{hh, mid, rz})
	top = x.addX(auto, top, rz, carry{c})
	return pair{lo, x.addX(auto, rz, top, carry{c2})}
}

// plusHighProduct is y plus the high 64 bits of y * e, with ptxas's sequence: y's low word joins the sum of the products in its place.
func (x *expander) plusHighProduct(y, e pair) pair {
	if x.sm() <= 70 {
		return x.add64(pair{}, x.mulHi64(pair{}, y, e, false), y)
	}
	low := x.highWord(y.lo, e.lo)
	m, c := x.regs(2), x.pred()
	wide := isa.Mod{Type: isa.U32, Flags: isa.ModWide}
	x.emitWide(isa.OpIMAD, wide, [][]word{m, {c}}, [][]word{{y.lo}, {e.hi}, {low, y.lo}})
	hh := x.mulLo(auto, y.hi, e.hi)
	mid, c1 := x.highWordPlus(y.hi, e.lo, m)
	top := x.addX(auto, x.highWord(y.hi, e.hi), y.hi, carry{c})
	lo, c2, hi := x.reg(), x.pred(), x.reg()
	x.emit(isa.OpIADD3, isa.Mod{}, []word{lo, c2, pt}, []word{hh, mid, rz})
	x.emit(isa.OpIADD3, isa.Mod{Flags: isa.ModX}, []word{hi, pt, pt}, []word{rz, rz, top, c2, c1})
	return pair{lo, hi}
}

// highWord is the high word of a product of two words.
func (x *expander) highWord(a, b word) word { return x.mulHi(auto, a, b, false) }

// highWordPlus is the high word of a product of two words plus a 64-bit number, and the carry of the sum.
func (x *expander) highWordPlus(a, b word, add []word) (word, word) {
	d, c := x.reg(), x.pred()
	x.emitWide(isa.OpIMAD, isa.Mod{Type: isa.U32, Flags: isa.ModHI}, [][]word{{d}, {c}}, [][]word{{a}, {b}, add})
	return d, c
}
