package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

const bitTypes = "b16 b32 b64 pred"

// ruleLogic is and, or and xor.
func ruleLogic(sub isa.Sub, lut uint8, bool isa.BoolOp) rule {
	return func(x *expander) {
		t := x.typ(bitTypes)
		if !x.args(3, 3) {
			return
		}
		switch t.bits {
		case 1:
			x.boolOp(x.predDst(0), bool, x.predSrc(1), x.predSrc(2))
		case 64:
			a, b, d := x.a64(1, t.name), x.a64(2, t.name), x.d64(0, t.name)
			x.logic(d.lo, a.lo, b.lo, sub, lut)
			x.logic(d.hi, a.hi, b.hi, sub, lut)
		default:
			x.logic(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), sub, lut)
		}
	}
}

// ruleNot is not.
func ruleNot(x *expander) {
	t := x.typ(bitTypes)
	if !x.args(2, 2) {
		return
	}
	switch t.bits {
	case 1:
		x.movP(x.predDst(0), notP(x.predSrc(1)))
	case 64:
		a, d := x.a64(1, t.name), x.d64(0, t.name)
		x.not(d.lo, a.lo)
		x.not(d.hi, a.hi)
	case 16:
		d, a := x.d32(0, t.name), x.a32(1, t.name)
		if x.sm() < 70 {
			x.not(d, a)
			return
		}
		x.emit(isa.OpLOP3, isa.Mod{Lut: 0x33, Size: sizeHalf}, []word{d, pt}, []word{rz, a, rz})
	default:
		x.not(x.d32(0, t.name), x.a32(1, t.name))
	}
}

// ruleCnot is cnot: 1 for zero, else 0.
func ruleCnot(x *expander) {
	t := x.typ("b16 b32 b64")
	if !x.args(2, 2) {
		return
	}
	var p word
	d := pair{hi: rz}
	if t.wide() {
		p = x.cmp64(auto, isa.CmpEQ, false, x.a64(1, t.name), pair{rz, rz}, isa.BoolAnd, pt)
		d = x.d64(0, t.name)
	} else {
		p = x.test(isa.CmpEQ, isa.U32, x.zext(auto, x.a32(1, t.name), t.bits), rz)
		d.lo = x.d32(0, t.name)
	}
	m := x.sel(auto, rz, imm(0xffffffff), notP(p))
	switch {
	case t.bits == 16 && x.sm() >= 70:
		x.half(d.lo, x.negate(auto, m))
	case t.wide():
		lo := x.negate(d.lo, m)
		x.signWord(d.hi, lo)
	default:
		x.negate(d.lo, m)
	}
}

// ruleLop3 is lop3, with an optional predicate result (.BoolOp form).
func ruleLop3(x *expander) {
	bop := x.take("or", "and")
	t := x.typ("b32")
	n := 5
	if bop != "" {
		n = 6
	}
	if !x.args(n, n) {
		return
	}
	lut := x.in.Args[4]
	if lut.Kind != ptx.ArgInt { // ptxas takes the low 8 bits of any number
		x.fail("operand 5 of lop3 is a table of 8 bits, an integer")
		return
	}
	a, b, c := x.a32(1, t.name), x.a32(2, t.name), x.a32(3, t.name)
	if bop == "" {
		d := x.d32(0, t.name)
		if x.sm() >= 70 { // ptxas neither folds it nor merges it with other logic
			x.emit(isa.OpLOP3, isa.Mod{Lut: uint8(lut.Int), Flags: modKeep}, []word{d, pt}, []word{x.inReg(a), b, c})
			return
		}
		x.lop3(d, a, b, c, uint8(lut.Int))
		return
	}
	// d|p: p = (d != 0) BoolOp q.
	v := x.lop3(auto, a, b, c, uint8(lut.Int))
	op := isa.BoolOr
	if bop == "and" {
		op = isa.BoolAnd
	}
	x.cmp(x.predDst2(0), isa.CmpNE, isa.U32, v, rz, op, x.predSrc(5))
	if x.in.Args[0].Kind != ptx.ArgPair || x.in.Args[0].Elems[0].Kind != ptx.ArgSink {
		x.mov(x.d32(0, t.name), v)
	}
}

// ruleShift is shl and shr. Amounts are unsigned 32-bit numbers that clamp at the width.
func ruleShift(left bool) rule {
	return func(x *expander) {
		types := "b16 b32 b64"
		if !left {
			types = "b16 b32 b64 " + intTypes
		}
		t := x.typ(types)
		if !x.args(3, 3) {
			return
		}
		n := x.a32(2, "u32")
		switch {
		case t.wide() && left:
			x.shl64(x.d64(0, t.name), x.a64(1, t.name), n)
		case t.wide():
			x.shr64(x.d64(0, t.name), x.a64(1, t.name), n, t.signed())
		case t.bits == 16:
			x.shift16(x.d32(0, t.name), x.a32(1, t.name), n, left, t)
		case left:
			x.shl(x.d32(0, t.name), x.a32(1, t.name), n)
		default:
			x.shiftRight(x.d32(0, t.name), x.a32(1, t.name), n, signedType(t.signed()))
		}
	}
}

// shift16 shifts a 16-bit value; ptxas clamps the amount into 16 bits from Volta on.
func (x *expander) shift16(d, a, n word, left bool, t vtype) {
	if _, known := constant(n); !known && x.sm() >= 70 {
		limit := uint32(0xffff)
		if t.signed() && !left {
			limit = 0x7fff
		}
		p := x.test(isa.CmpGT, isa.U32, n, imm(limit))
		n = x.sel(auto, n, imm(limit), notP(p))
		if !left {
			a = x.ext(auto, a, t)
		}
		n = x.ext(auto, n, vtype{bits: 16, kind: map[bool]byte{true: 's', false: 'u'}[limit == 0x7fff]})
	} else if !left {
		a = x.ext(auto, a, t)
	}
	switch k, known := constant(n); {
	case left && known && k == 8 && x.justByte(a):
		x.prmt(d, x.cur.insts[len(x.cur.insts)-1].Src[0], imm(0x7604), rz)
	case left:
		x.shl(d, a, n)
	default:
		x.shiftRight(d, a, n, signedType(t.signed()))
	}
}

// justByte says that the instruction before this one masked a with 255, unconditionally: its shift by a byte is one permutation.
func (x *expander) justByte(a word) bool {
	n := len(x.cur.insts)
	if n == 0 || x.sm() < 70 || x.guard.Kind != isa.KindNone {
		return false
	}
	in := &x.cur.insts[n-1]
	m, known := constant(in.Src[1])
	return in.Op == isa.OpLOP3 && in.Mod.Lut == lutAnd && in.Guard.Kind == isa.KindNone && known && m == 0xff && isZero(in.Src[2]) && in.Dst[0] == a && in.Src[0].Kind == isa.KindReg && in.Src[0] != a
}

// shl64 is a 64-bit left shift.
func (x *expander) shl64(d, a pair, n word) pair {
	d = pair{x.out(d.lo), x.out(d.hi)}
	if x.t().Has(isa.OpSHF) {
		hi := d.hi
		if hi == a.lo {
			hi = x.reg()
		}
		x.emit(isa.OpSHF, isa.Mod{Type: isa.U64, Flags: isa.ModLeft | isa.ModHI}, []word{hi}, []word{a.lo, n, a.hi})
		x.shl(d.lo, a.lo, n)
		if hi != d.hi {
			x.mov(d.hi, hi)
		}
		return d
	}
	hi := x.or(auto, x.shl(auto, a.hi, n), x.shr(auto, a.lo, x.sub(auto, imm(32), n)))
	hi = x.or(auto, hi, x.shl(auto, a.lo, x.add(auto, n, imm(0xffffffe0))))
	x.shl(d.lo, a.lo, n)
	x.mov(d.hi, hi)
	return d
}

// shr64 is a 64-bit right shift, arithmetic when signed.
func (x *expander) shr64(d, a pair, n word, signed bool) pair {
	d = pair{x.out(d.lo), x.out(d.hi)}
	t := signedType(signed)
	if x.t().Has(isa.OpSHF) {
		wide := isa.U64
		if signed {
			wide = isa.S64
		}
		lo := d.lo
		if lo == a.hi {
			lo = x.reg()
		}
		x.emit(isa.OpSHF, isa.Mod{Type: wide, Flags: isa.ModRight}, []word{lo}, []word{a.lo, n, a.hi})
		x.shiftRight(d.hi, a.hi, n, t)
		if lo != d.lo {
			x.mov(d.lo, lo)
		}
		return d
	}
	lo := x.or(auto, x.shr(auto, a.lo, n), x.shl(auto, a.hi, x.sub(auto, imm(32), n)))
	far := x.shiftRight(auto, a.hi, x.add(auto, n, imm(0xffffffe0)), t)
	if signed {
		p := x.test(isa.CmpGT, isa.U32, n, imm(31))
		lo = x.sel(auto, far, lo, p)
	} else {
		lo = x.or(auto, lo, far)
	}
	x.shiftRight(d.hi, a.hi, n, t)
	x.mov(d.lo, lo)
	return d
}

// ruleShf is the funnel shift.
func ruleShf(x *expander) {
	dir := x.take("l", "r")
	if dir == "" {
		x.fail("shf lacks .l or .r")
		return
	}
	mode := x.take("clamp", "wrap")
	if mode == "" {
		x.fail("shf lacks .clamp or .wrap")
		return
	}
	t := x.typ("b32")
	if x.args(4, 4) {
		x.funnel(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), x.a32(3, "u32"), dir == "l", mode == "wrap")
	}
}

// funnel shifts {hi, lo} and keeps the high word (left) or the low word (right).
func (x *expander) funnel(d, lo, hi, n word, left, wrap bool) word {
	d = x.out(d)
	if x.t().Has(isa.OpSHF) {
		m := isa.Mod{Type: isa.U32, Flags: isa.ModRight}
		if left {
			m.Flags = isa.ModLeft | isa.ModHI
		}
		if wrap {
			m.Flags |= isa.ModWrap
		}
		x.emit(isa.OpSHF, m, []word{d}, []word{lo, n, hi})
		return d
	}
	if v, ok := constant(n); ok && wrap && lo == hi && x.t().Has(isa.OpIMAD) {
		// A rotation by a constant: IMAD.HI gives the bits that leave, SHL the others.
		if !left {
			v = 32 - v&31
		}
		if v &= 31; v == 0 {
			return x.mov(d, lo)
		}
		t := x.shl(auto, lo, imm(v))
		x.emit(isa.OpIMAD, isa.Mod{Type: isa.U32, BType: isa.U32, Flags: isa.ModHI}, []word{d}, []word{lo, imm(1 << v), t})
		return d
	}
	if wrap {
		n = x.and(auto, n, imm(31))
	} else if v, ok := constant(n); !ok || v > 32 {
		n = x.minmax(auto, n, imm(32), false, isa.U32)
	}
	m := x.sub(auto, imm(32), n)
	if left {
		return x.or(d, x.shl(auto, hi, n), x.shr(auto, lo, m))
	}
	return x.or(d, x.shr(auto, lo, n), x.shl(auto, hi, m))
}

var prmtModes = map[string]isa.Sub{"f4e": isa.SubF4E, "b4e": isa.SubB4E, "rc8": isa.SubRC8, "ecl": isa.SubECL, "ecr": isa.SubECR, "rc16": isa.SubRC16}

// modeSelectors are the generic selectors that a PRMT mode stands for, by the low bits of its third source.
var modeSelectors = map[string][4]uint32{
	"f4e": {0x3210, 0x4321, 0x5432, 0x6543}, "b4e": {0x5670, 0x6701, 0x7012, 0x0123}, "rc8": {0x0000, 0x1111, 0x2222, 0x3333},
	"ecl": {0x3210, 0x3211, 0x3222, 0x3333}, "ecr": {0x0000, 0x1110, 0x2210, 0x3210}, "rc16": {0x1010, 0x3232, 0x1010, 0x3232},
}

// rulePrmt is prmt in all modes.
func rulePrmt(x *expander) {
	mode := x.take("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
	t := x.typ("b32")
	if !x.args(4, 4) {
		return
	}
	d, a, b, c := x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), x.a32(3, "u32")
	switch v, known := constant(c); {
	case mode == "":
		if known {
			c = imm(v & 0xffff)
		}
		x.prmt(d, a, c, b)
	case known:
		x.prmt(d, a, imm(modeSelectors[mode][v&3]), b)
	case x.t().Has(isa.OpPRMT):
		x.emit(isa.OpPRMT, isa.Mod{Sub: prmtModes[mode]}, []word{d}, []word{a, c, b})
	default:
		s := modeSelectors[mode]
		p := x.test(isa.CmpNE, isa.U32, x.and(auto, c, imm(1)), rz)
		q := x.test(isa.CmpNE, isa.U32, x.and(auto, c, imm(2)), rz)
		lo := x.sel(auto, imm(s[1]), x.mov(auto, imm(s[0])), p)
		hi := x.sel(auto, imm(s[3]), x.mov(auto, imm(s[2])), p)
		x.permuteVar(d, a, x.sel(auto, hi, lo, q), b)
	}
}
