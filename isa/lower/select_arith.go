package lower

import "github.com/sarchlab/smsim/isa"

const intTypes = "u16 s16 u32 s32 u64 s64"

// peekFloat says whether the instruction's first type is a floating-point one.
func (x *expander) peekFloat() bool {
	for _, m := range x.mods {
		if t, ok := valueTypes[m]; ok {
			return t.float()
		}
	}
	return false
}

// ruleAdd is add and sub (sub: negate b).
func ruleAdd(sub bool) rule {
	return func(x *expander) {
		if x.peekFloat() {
			floatAdd(x, sub)
			return
		}
		sat, cc := x.has("sat"), x.has("cc")
		types := intTypes + " u16x2 s16x2 u8x4 s8x4 b32 b64"
		if cc {
			types = "u32 s32 b32 u64 s64 b64"
		}
		t := x.typ(types)
		if !x.args(3, 3) {
			return
		}
		switch {
		case sat && t.name != "s32":
			x.fail("modifier .sat of %s applies to .s32 only, not .%s", x.in.Op, t.name)
		case cc:
			x.addCarry(t, sub, false, true)
		case t.packed:
			x.addPacked(t, sub)
		case t.wide():
			if sub {
				x.sub64(x.d64(0, t.name), x.a64(1, t.name), x.a64(2, t.name))
			} else {
				x.add64(x.d64(0, t.name), x.a64(1, t.name), x.a64(2, t.name))
			}
		case sat:
			x.addSat(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), sub)
		case sub && t.bits == 16 && x.sm() >= 70:
			b := x.half(auto, x.sub(auto, rz, x.a32(2, t.name)))
			x.add(x.d32(0, t.name), x.a32(1, t.name), b)
		case sub:
			x.sub(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name))
		default:
			x.add(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name))
		}
	}
}

// addSat is the saturating signed addition or subtraction.
func (x *expander) addSat(d, a, b word, sub bool) {
	if sub {
		b = neg(b)
	}
	if x.sm() < 70 {
		x.emit(isa.OpIADD, isa.Mod{Flags: isa.ModSat}, []word{d}, []word{a, b})
		return
	}
	if x.sm() >= 120 {
		x.emit(isa.OpVIADD, isa.Mod{Type: isa.S32, Flags: isa.ModSat}, []word{d}, []word{a, b})
		return
	}
	a, plain := x.inReg(a), b
	if sub {
		plain = neg(b)
	}
	plain = x.inReg(plain)
	if b = plain; sub {
		b = neg(plain)
	}
	s := x.add(auto, a, b)
	// Overflow up: both signs clear and the sum's set; down: the reverse (of -b for a subtraction).
	up, down := uint8(0x02), uint8(0x40)
	if sub {
		up, down = 0x08, 0x10
	}
	p, q := x.signs(a, plain, s, up), x.signs(a, plain, s, down)
	s = x.sel(auto, s, imm(0x7fffffff), notP(p))
	x.sel(d, s, imm(0x80000000), notP(q))
}

// signs is a truth table on the sign bits of three registers.
func (x *expander) signs(a, b, c word, lut uint8) word {
	p := x.pred()
	for _, w := range []*word{&a, &b, &c} {
		w.Flags |= isa.Sign
	}
	x.emit(isa.OpPLOP3, isa.Mod{Lut: lut}, []word{p, pt}, []word{a, b, c})
	return p
}

// ruleAddc is addc and subc: with the carry in, and with .cc also out.
func ruleAddc(sub bool) rule {
	return func(x *expander) {
		cc := x.has("cc")
		t := x.typ("u32 s32 b32 u64 s64 b64")
		if x.args(3, 3) {
			x.addCarry(t, sub, true, cc)
		}
	}
}

// addCarry adds or subtracts with the PTX carry flag as input and output.
func (x *expander) addCarry(t vtype, sub, in, out bool) {
	if t.wide() {
		a, b, d := x.a64(1, t.name), x.a64(2, t.name), x.d64(0, t.name)
		x.carryStep(d.lo, a.lo, b.lo, sub, in, true)
		x.carryStep(d.hi, a.hi, b.hi, sub, true, out)
		return
	}
	a, b, d := x.a32(1, t.name), x.a32(2, t.name), x.d32(0, t.name)
	if in && !out && !sub && isZero(a) && isZero(b) && x.sm() >= 70 { // the carry as a number
		x.sel(d, imm(1), rz, x.carryIn())
		return
	}
	x.carryStep(d, a, b, sub, in, out)
}

// carryStep is one word of a chain. The carry of a subtraction is true when nothing was borrowed, as the hardware keeps it.
func (x *expander) carryStep(d, a, b word, sub, in, out bool) {
	var flags isa.ModFlags
	if sub {
		if in {
			b = inv(b)
			if isZero(inv(b)) {
				b = imm(0xffffffff)
			}
		} else {
			b = neg(b)
		}
	}
	if in {
		flags |= isa.ModX
	}
	if x.sm() < 70 {
		if out {
			flags |= isa.ModCC
		}
		x.emit(isa.OpIADD, isa.Mod{Flags: flags}, []word{d}, []word{a, b})
		return
	}
	srcs, to := []word{a, b, rz}, pt
	if in {
		srcs = append(srcs, x.carryIn(), notPT)
	}
	if out {
		to = x.carryOut()
	}
	x.emit(isa.OpIADD3, isa.Mod{Flags: flags}, []word{d, to, pt}, srcs)
}

// ruleNeg is neg.
func ruleNeg(x *expander) {
	if x.peekFloat() {
		floatNeg(x)
		return
	}
	t := x.typ("s16 s32 s64 s8x4 u8x4")
	if !x.args(2, 2) {
		return
	}
	switch {
	case t.packed:
		x.fail("neg.%s is not a PTX instruction of the modelled versions", t.name)
	case t.wide():
		x.sub64(x.d64(0, t.name), pair{rz, rz}, x.a64(1, t.name))
	case t.bits == 16 && x.sm() >= 70:
		x.half(x.d32(0, t.name), x.sub(auto, rz, x.a32(1, t.name)))
	default:
		x.negate(x.d32(0, t.name), x.a32(1, t.name))
	}
}

// ruleAbs is abs.
func ruleAbs(x *expander) {
	if x.peekFloat() {
		floatAbs(x)
		return
	}
	t := x.typ("s16 s32 s64")
	if !x.args(2, 2) {
		return
	}
	switch t.bits {
	case 64:
		a := x.a64(1, t.name)
		if x.sm() >= 120 {
			d := x.d64(0, t.name)
			v := pair{x.mov(auto, a.lo), x.mov(auto, a.hi)}
			x.abs64(v)
			x.mov(d.lo, v.lo)
			x.mov(d.hi, v.hi)
			return
		}
		m := x.sub64(pair{}, pair{rz, rz}, a)
		p := x.test(isa.CmpLT, isa.S32, a.hi, rz)
		x.sel64(x.d64(0, t.name), m, a, p)
	case 16:
		v := x.abs(auto, x.sext(auto, x.a32(1, t.name), 16))
		if x.sm() >= 70 {
			x.half(x.d32(0, t.name), v)
		} else {
			x.mov(x.d32(0, t.name), v)
		}
	default:
		x.abs(x.d32(0, t.name), x.a32(1, t.name))
	}
}

// abs64 is v = |v| for a variable from compute capability 12.0 on, where 64-bit values live in pairs: ptxas copies the
// words to negate them.
func (x *expander) abs64(v pair) {
	lo, hi := x.movKeep(v.lo), x.movKeep(v.hi)
	p := x.test(isa.CmpLT, isa.S32, v.hi, rz)
	m := x.sub64(pair{}, pair{rz, rz}, pair{lo, hi})
	x.under(p, func() {
		for _, w := range [][2]word{{v.hi, m.hi}, {v.lo, m.lo}} {
			x.emit(isa.OpMOV, isa.Mod{Flags: modKeep | modWhole}, []word{w[0]}, []word{w[1]})
		}
	})
}

// abs is d = |a|.
func (x *expander) abs(d, a word) word {
	d = x.out(d)
	if x.sm() >= 70 {
		x.emit(isa.OpIABS, isa.Mod{}, []word{d}, []word{a})
		return d
	}
	a = x.inReg(a)
	a.Flags |= isa.Abs
	x.emit(isa.OpI2I, isa.Mod{Type: isa.S32, BType: isa.S32}, []word{d}, []word{a})
	return d
}

// ruleMinMax is min and max.
func ruleMinMax(max bool) rule {
	return func(x *expander) {
		if x.peekFloat() {
			floatMinMax(x, max)
			return
		}
		relu := x.has("relu")
		t := x.typ(intTypes + " u16x2 s16x2 u8x4 s8x4")
		if !x.args(3, 3) {
			return
		}
		if relu && t.name != "s32" && t.name != "s16x2" {
			x.fail("modifier .relu of %s applies to .s32 and .s16x2, not .%s", x.in.Op, t.name)
			return
		}
		switch {
		case t.wide():
			op := isa.CmpLT
			if max {
				op = isa.CmpGT
			}
			a, b := x.a64(1, t.name), x.a64(2, t.name)
			if x.sm() >= 120 {
				m := isa.U64
				if t.signed() {
					m = isa.S64
				}
				sel := pt
				if max {
					sel = notPT
				}
				x.emitWide(isa.OpIMNMX, isa.Mod{Type: m}, [][]word{x.dst(0, t.name)}, [][]word{x.wide64(a), x.wide64(b), {sel}})
				return
			}
			p := x.cmp64(auto, op, t.signed(), a, b, isa.BoolAnd, pt)
			x.sel64(x.d64(0, t.name), a, b, p)
		case t.packed:
			x.minmaxPacked(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), max, relu, t)
		case t.bits == 16 && x.sm() >= 90:
			m := isa.U16x2
			if t.signed() {
				m = isa.S16x2
			}
			x.minmax(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), max, m)
		case t.bits == 16:
			a, b := x.ext(auto, x.a32(1, t.name), t), x.ext(auto, x.a32(2, t.name), t)
			x.minmax(x.d32(0, t.name), a, b, max, signedType(t.signed()))
		case relu && x.sm() >= 90:
			p := pt
			if max {
				p = notPT
			}
			x.emit(isa.OpVIMNMX, isa.Mod{Type: isa.S32, Flags: isa.ModRelu}, []word{x.d32(0, t.name)}, []word{x.a32(1, t.name), x.a32(2, t.name), p})
		case relu:
			v := x.minmax(auto, x.a32(1, t.name), x.a32(2, t.name), max, isa.S32)
			x.minmax(x.d32(0, t.name), v, rz, true, isa.S32)
		default:
			x.minmax(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), max, signedType(t.signed()))
		}
	}
}

// ruleSad is sad: c + |a - b|.
func ruleSad(x *expander) {
	t := x.typ(intTypes)
	if !x.args(4, 4) {
		return
	}
	if t.wide() {
		a, b, c := x.a64(1, t.name), x.a64(2, t.name), x.a64(3, t.name)
		if x.sm() >= 120 {
			p := x.cmp64(auto, isa.CmpGE, t.signed(), a, b, isa.BoolAnd, pt)
			v := x.sub64(pair{}, a, b)
			v = pair{x.mov(auto, v.lo), x.mov(auto, v.hi)}
			x.under(notP(p), func() { x.sub64(v, b, a) })
			x.add64(x.d64(0, t.name), c, v)
			return
		}
		p := x.cmp64(auto, isa.CmpLT, t.signed(), a, b, isa.BoolAnd, pt)
		m := x.sel64(pair{}, b, a, p)
		n := x.sel64(pair{}, a, b, p)
		x.add64(x.d64(0, t.name), x.sub64(pair{}, m, n), c)
		return
	}
	a, b, c := x.ext(auto, x.a32(1, t.name), t), x.ext(auto, x.a32(2, t.name), t), x.a32(3, t.name)
	if x.sm() >= 70 {
		c = x.ext(auto, c, t)
	}
	x.absDiff(x.d32(0, t.name), a, b, c, t.signed())
}

// absDiff is d = |a - b| + c.
func (x *expander) absDiff(d, a, b, c word, signed bool) word {
	d = x.out(d)
	m := signedType(signed)
	switch sm := x.sm(); {
	case !x.t().Has(isa.OpVABSDIFF) && !x.t().Has(isa.OpISAD): // compute capability 11.0 on: the larger minus the smaller
		big, small := x.reg(), x.reg()
		x.emit(isa.OpVIMNMX, isa.Mod{Type: m}, []word{big}, []word{a, b, notPT})
		x.emit(isa.OpVIMNMX, isa.Mod{Type: m}, []word{small}, []word{a, b, pt})
		x.emit(isa.OpIADD3, isa.Mod{}, []word{d}, []word{c, big, small.Negated()})
	case sm >= 70:
		x.emit(isa.OpVABSDIFF, isa.Mod{Type: m}, []word{d}, []word{a, b, c})
	case sm >= 50:
		x.emit(isa.OpVABSDIFF, isa.Mod{Type: m, BType: m, DType: isa.U32, Sub2: isa.SubAdd, Flags: isa.ModAcc}, []word{d}, []word{a, b, c})
	default:
		x.emit(isa.OpISAD, isa.Mod{Type: m}, []word{d}, []word{a, b, c})
	}
	return d
}
