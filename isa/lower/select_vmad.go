package lower

import "github.com/sarchlab/smsim/isa"

// ruleVmad is vmad: a * b + c with optional negation, +1, shift right and saturation.
func ruleVmad(x *expander) {
	_, at, bt := x.typ("u32 s32"), x.typ("u32 s32"), x.typ("u32 s32")
	po, sat := x.has("po"), x.has("sat")
	shift := map[string]uint32{"": 0, "shr7": 7, "shr15": 15}[x.take("shr7", "shr15")]
	if x.err != nil || !x.args(4, 4) {
		return
	}
	negProduct := x.arg(1).Neg != x.arg(2).Neg
	negC := x.arg(3).Neg
	if (negProduct || negC) && po || negProduct && negC {
		x.fail("vmad negates the product or c, and .po only without negation")
		return
	}
	signed := at.signed() || bt.signed() || negProduct || negC
	if x.vmadUnit(at, bt, sat, shift, signed) {
		x.emitVmad(at, bt, po, sat, shift)
		return
	}
	if x.document() {
		x.documentVmad(at, bt, po, sat, shift, negProduct, negC, signed)
		return
	}
	a, b, c := x.videoOperand(1, at), x.videoOperand(2, bt), x.plainArg(3, "b32")
	d := x.plainDst()
	if !sat && shift == 0 {
		x.vmadWord(d, a.lo, b.lo, c, negProduct, negC, po)
		return
	}
	var v pair
	if negProduct {
		p := x.mulWide(pair{}, a.lo, b.lo, true)
		v = x.addOne(pair{x.not(auto, p.lo), x.not(auto, p.hi)}, c)
	} else {
		if negC {
			c = x.not(auto, c)
		}
		v = x.madWide(pair{}, a.lo, b.lo, pair{c, x.signWord(auto, c)}, true)
		if negC || po {
			v = x.add64(pair{}, v, pair{imm(1), rz})
		}
	}
	if !sat {
		x.shr64Low(d, v, imm(shift), signed)
		return
	}
	if shift > 0 {
		v = x.shr64(pair{}, v, imm(shift), signed)
	}
	if signed {
		if shift == 0 && (x.sm() >= 120 || !negProduct && !negC && !po && x.sm() >= 70) { // in the sum's own pair
			x.mov(d, x.videoSatPair(v))
			return
		}
		r := x.videoSatSigned(v.lo, v.hi)
		if x.vmadCopies(negProduct, negC || po, shift > 0, x.arg(1).Member == "", at, bt) {
			x.moveApart(d, r)
		} else {
			x.mov(d, r)
		}
	} else {
		x.mov(d, x.clampToU32(v, true))
	}
}

// vmadCopies says that ptxas saturates a signed vmad in a register apart from the pair that its result is widened to.
// Found by comparing all forms: it does not where the sum's own pair can hold the result.
func (x *expander) vmadCopies(negProduct, plusOne, shifted, words bool, at, bt vtype) bool {
	switch sm := x.sm(); {
	case sm < 70:
		return false
	case sm >= 120:
		return false
	case negProduct:
		return true
	case sm < 90 && !words && !at.signed() && bt.signed() && plusOne != shifted:
		return false
	case shifted:
		return !words || plusOne
	}
	return plusOne && !words && (at.signed() || bt.signed())
}

// shr64Low is the low word of a 64-bit right shift.
func (x *expander) shr64Low(d word, v pair, n word, signed bool) {
	t := isa.U64
	if signed {
		t = isa.S64
	}
	if x.t().Has(isa.OpSHF) {
		x.emit(isa.OpSHF, isa.Mod{Type: t, Flags: isa.ModRight}, []word{d}, []word{v.lo, n, v.hi})
		return
	}
	x.mov(d, x.shr64(pair{}, v, n, signed).lo)
}

// addOne is v + 1 + c with c sign-extended: one three-input addition from Volta on.
func (x *expander) addOne(v pair, c word) pair {
	if x.sm() < 70 {
		v = x.add64(pair{}, v, pair{imm(1), rz})
		return x.add64(pair{}, v, pair{c, x.signWord(auto, c)})
	}
	if x.sm() >= 120 {
		return x.add64(pair{}, x.add64(pair{}, pair{c, x.signWord(auto, c)}, v), pair{imm(1), rz})
	}
	lo, p, q := x.reg(), x.pred(), x.pred()
	x.emit(isa.OpIADD3, isa.Mod{}, []word{lo, p, q}, []word{v.lo, imm(1), c})
	h := x.signWord(auto, c)
	hi := x.reg()
	x.emit(isa.OpIADD3, isa.Mod{Flags: isa.ModX}, []word{hi, pt, pt}, []word{v.hi, rz, h, p, q})
	return pair{lo, hi}
}

// vmadWord is vmad without shift and saturation: 32 bits suffice.
func (x *expander) vmadWord(d, a, b, c word, negProduct, negC, po bool) {
	switch {
	case negProduct:
		p := x.not(auto, x.mulLo(auto, a, b))
		if x.sm() >= 120 {
			t := x.reg()
			x.emit(isa.OpIADD3, isa.Mod{Flags: modKeep}, []word{t, pt, pt}, []word{c, p, rz})
			x.add(d, t, imm(1))
			return
		}
		x.add3(d, p, imm(1), c)
	case negC:
		x.add(d, x.madLo(auto, a, b, x.not(auto, c)), imm(1))
	case po:
		x.add(d, x.madLo(auto, a, b, c), imm(1))
	default:
		x.madLo(d, a, b, c)
	}
}
