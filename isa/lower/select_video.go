package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// Scalar video instructions. Only Fermi to Pascal have them; what the hardware of this project was measured with
// computes them as ptxas expands them from Volta on: in 64 bits, with the high word known to be zero or the
// sign of the low word for the operands. That expansion, with its deviations from the PTX document
// (docs/deviations.md), is what every target does here; plain forms use the video unit where there is one.

// highWord says what is known of the upper word of a 64-bit intermediate.
type highWord uint8

const (
	highZero  highWord = iota // zero
	highSign                  // copies of the low word's sign
	highValue                 // in hi
)

// wideValue is an intermediate of a video instruction.
type wideValue struct {
	lo   word
	kind highWord
	hi   word
	// apart: the low word is in a register or pair of its own, so that widening it to another pair takes a copy
	apart bool
}

// high gives the upper word as an operand.
func (x *expander) high(v wideValue) word {
	switch v.kind {
	case highZero:
		return rz
	case highSign:
		return x.signWord(auto, v.lo)
	}
	return v.hi
}

// videoPart is a byte or half selector: the index of the part and its width; width 32 is the whole word.
type videoPart struct{ index, bits int }

func (x *expander) videoPart(a *ptx.Arg) videoPart {
	m := a.Member
	switch {
	case m == "":
		return videoPart{0, 32}
	case len(m) == 2 && m[0] == 'b' && m[1] >= '0' && m[1] <= '3':
		return videoPart{int(m[1] - '0'), 8}
	case len(m) == 2 && m[0] == 'h' && (m[1] == '0' || m[1] == '1'):
		return videoPart{int(m[1] - '0'), 16}
	}
	x.fail("selector .%s is none of .b0 to .b3, .h0, .h1", m)
	return videoPart{0, 32}
}

// plainArg is operand i without its selector, as words of type typ.
func (x *expander) plainArg(i int, typ string) word {
	a := *x.arg(i)
	a.Member, a.Neg = "", a.Neg && a.Kind == ptx.ArgInt
	w := x.value(&a, typ)
	return w[0]
}

// plainDst is destination operand 0 without its selector.
func (x *expander) plainDst() word {
	a := *x.arg(0)
	a.Member = ""
	return x.destination(&a, "b32")[0]
}

// videoOperand selects and extends a part of source operand i.
func (x *expander) videoOperand(i int, t vtype) wideValue {
	a := x.plainArg(i, t.name)
	p := x.videoPart(x.arg(i))
	v := wideValue{kind: highZero}
	if t.signed() {
		v.kind = highSign
	}
	if x.sm() < 70 {
		v.lo = a
		if p.bits < 32 {
			v.lo = x.bfe(auto, a, p.index*p.bits, p.bits, t.signed())
		}
		return v
	}
	k := uint32(p.index)
	switch {
	case p.bits == 32:
		v.lo = x.prmtKeep(a, 0x3210, rz)
	case p.bits == 8 && t.signed():
		v.lo = x.prmt(auto, x.prmt(auto, a, imm(0x7650+k), rz), imm(0x8880), rz)
	case p.bits == 8:
		v.lo = x.prmt(auto, a, imm(0x7770+k), rz)
	case t.signed():
		v.lo = x.prmt(auto, x.prmt(auto, a, imm([]uint32{0x7610, 0x5432}[k]), rz), imm(0x9910), rz)
	default:
		v.lo = x.prmt(auto, a, imm([]uint32{0x7710, 0x7732}[k]), rz)
	}
	return v
}

// prmtKeep is a PRMT that stays although it may change nothing.
func (x *expander) prmtKeep(a word, sel uint32, b word) word {
	if x.sm() < 70 {
		return x.prmt(auto, a, imm(sel), b)
	}
	d := x.reg()
	x.emit(isa.OpPRMT, isa.Mod{Flags: modKeep}, []word{d}, []word{a, imm(sel), b})
	return d
}

// isZeroKeep is p = (a == 0) in an instruction of its own, not as a by-product of the one that computed a.
func (x *expander) isZeroKeep(a word) word {
	p := x.pred()
	m := isa.Mod{Type: isa.S32, Cmp: isa.CmpEQ}
	if x.sm() >= 70 {
		m.Flags = modKeep
	}
	x.emit(isa.OpISETP, m, []word{p, pt}, []word{a, rz, pt})
	return p
}

// videoAdd is a + b or a - b; needHigh says whether the upper word counts.
func (x *expander) videoAdd(a, b wideValue, sub, needHigh bool) wideValue {
	bl := b.lo
	if sub {
		bl = neg(bl)
	}
	if !needHigh {
		return wideValue{lo: x.add(auto, a.lo, bl), kind: highSign}
	}
	if x.sm() >= 120 {
		d, second := x.regs(2), x.tupleSrc([]word{b.lo, x.high(b)})
		if sub {
			second.Flags ^= isa.Neg
		}
		x.emitWide(isa.OpIADD, isa.Mod{Flags: isa.ModWide}, [][]word{d}, [][]word{{a.lo, x.high(a)}, {second}})
		return wideValue{lo: d[0], kind: highValue, hi: d[1]}
	}
	lo, c := x.addCC(auto, a.lo, bl)
	flip := func(w word) word {
		if !sub {
			return w
		}
		if isZero(w) {
			return imm(0xffffffff)
		}
		return inv(w)
	}
	v := wideValue{lo: lo, kind: highValue}
	switch {
	case x.sm() < 70:
		v.hi = x.highSum(a, b, flip, c)
	case a.kind == highZero:
		h := rz
		if b.kind == highSign {
			if !sub {
				v.hi = x.leaSign(b.lo, rz, c)
				return v
			}
			h = x.signWord(auto, b.lo)
		}
		v.hi = x.addX(auto, rz, flip(h), c)
	case b.kind == highZero:
		v.hi = x.leaSign(a.lo, flip(rz), c)
	default:
		v.hi = x.leaSign(a.lo, flip(x.signWord(auto, b.lo)), c)
	}
	return v
}

// highSum adds the upper words before Volta. The condition code must survive: sign words are made by SHR, which leaves it alone.
func (x *expander) highSum(a, b wideValue, flip func(word) word, c carry) word {
	return x.addX(auto, x.high(a), flip(x.high(b)), c)
}

// leaSign is the sign of a, plus b and carry: LEA.HI.X.SX32.
func (x *expander) leaSign(a, b word, c carry) word {
	d := x.reg()
	x.emit(isa.OpLEA, isa.Mod{Flags: isa.ModHI | isa.ModX | isa.ModSX32}, []word{d, pt}, []word{a, b, imm(1), c.p})
	return d
}

// ruleVideo is vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr and vset.
func ruleVideo(x *expander) {
	op := x.in.Op
	if op == "vset" {
		x.videoSet()
		return
	}
	dt, at, bt := x.typ("u32 s32"), x.typ("u32 s32"), x.typ("u32 s32")
	sat := x.has("sat")
	shift := op == "vshl" || op == "vshr"
	wrap := ""
	if shift {
		if wrap = x.take("clamp", "wrap"); wrap == "" {
			x.fail("%s lacks .clamp or .wrap", op)
			return
		}
		if bt.name != "u32" {
			x.fail("the shift amount of %s has type .u32", op)
			return
		}
	}
	second := x.take("add", "min", "max")
	if x.err != nil || !x.videoArgs(second) {
		return
	}
	merge := x.videoPart(x.arg(0))
	if x.videoUnit(op, sat, dt, merge, second) {
		x.emitVideo(op, dt, at, bt, sat, wrap == "wrap", 0, merge, second)
		return
	}
	if x.document() {
		x.documentVideo(op, dt, at, bt, sat, wrap == "wrap", 0, merge, second)
		return
	}
	a, b := x.videoOperand(1, at), x.videoOperand(2, bt)
	if !shift && (sat || op != "vadd" && op != "vsub") {
		x.pairOperand(&a, &b, at, bt)
	}
	var v wideValue
	full := false // the saturation looks at all of the upper word
	signOfLow := false
	switch op {
	case "vadd", "vsub":
		v = x.videoAdd(a, b, op == "vsub", sat)
		v.apart = !sat && x.extendedPart(1, at) && x.extendedPart(2, bt)
		signOfLow = true
	case "vabsdiff":
		v = x.videoAbs(x.videoAdd(a, b, true, true), sat || second == "min" || second == "max")
		v.apart = x.sm() < 120 && (!sat && !(x.extendedPart(1, at) && x.extendedPart(2, bt)) || sat && dt.signed() && x.sm() < 90)
	case "vmin", "vmax":
		v = x.videoMinMax(a, b, op == "vmax", sat)
		v.apart = sat && dt.signed() && x.extendedPart(1, at) && (x.sm() < 90 || x.sm() < 120 && !bt.signed())
	default:
		v = x.videoShift(a, b.lo, op == "vshl", wrap == "wrap", sat, second == "min" || second == "max")
		v.apart = sat && dt.signed() && x.sm() < 90 && (op == "vshl" || at.signed())
		full, signOfLow = true, true
	}
	x.videoFinish(v, dt, sat, full, signOfLow, merge, second)
}

// pairOperand makes 64-bit pairs of the operands from compute capability 12.0 on: the first that is a sign-extended
// part is copied there, see keepWidening.
func (x *expander) pairOperand(a, b *wideValue, at, bt vtype) {
	switch {
	case x.sm() < 120:
	case x.extendedPart(1, at):
		a.lo = x.movKeep(a.lo)
	case x.extendedPart(2, bt):
		b.lo = x.movKeep(b.lo)
	}
}

// extendedPart says that source operand i is a byte or half whose sign is extended.
func (x *expander) extendedPart(i int, t vtype) bool {
	return t.signed() && x.videoPart(x.arg(i)).bits < 32
}

// moveApart is d = v for a variable v that is not allocated as a word of a pair: see keepWidening.
func (x *expander) moveApart(d, v word) {
	x.emit(isa.OpMOV, isa.Mod{Flags: modApart}, []word{d}, []word{v})
}

// videoArgs checks the number of operands: a third source belongs to a merge or a secondary operation.
func (x *expander) videoArgs(second string) bool {
	if !x.args(3, 4) {
		return false
	}
	merge := x.arg(0).Member != ""
	switch {
	case merge && second != "":
		x.fail("%s takes a destination selector or a secondary operation, not both", x.in.Op)
	case (merge || second != "") != (len(x.in.Args) == 4):
		x.fail("%s takes a third source exactly with a destination selector or a secondary operation", x.in.Op)
	default:
		return true
	}
	return false
}

// videoAbs is the absolute value of a difference.
func (x *expander) videoAbs(v wideValue, sat bool) wideValue {
	hi := x.high(v)
	if x.sm() >= 120 {
		x.abs64(pair{v.lo, hi})
		return wideValue{lo: v.lo, kind: highValue, hi: hi}
	}
	if !sat {
		p := x.test(isa.CmpLT, isa.S32, hi, rz)
		x.under(p, func() { x.negate(v.lo, v.lo) })
		return wideValue{lo: v.lo, kind: highZero}
	}
	m := x.sub64(pair{}, pair{rz, rz}, pair{v.lo, hi})
	p := x.test(isa.CmpLT, isa.S32, hi, rz)
	h := x.sel(auto, m.hi, hi, p)
	return wideValue{lo: x.sel(auto, m.lo, v.lo, p), kind: highValue, hi: h}
}

// videoMinMax compares in 64 bits.
func (x *expander) videoMinMax(a, b wideValue, max, sat bool) wideValue {
	op := isa.CmpLT
	if max {
		op = isa.CmpGT
	}
	ah, bh := x.high(a), x.high(b)
	if x.sm() >= 120 {
		d, sel := x.regs(2), pt
		if max {
			sel = notPT
		}
		x.emitWide(isa.OpIMNMX, isa.Mod{Type: isa.S64}, [][]word{d}, [][]word{{a.lo, ah}, {b.lo, bh}, {sel}})
		return wideValue{lo: d[0], kind: highValue, hi: d[1]}
	}
	p := x.cmp64(auto, op, true, pair{a.lo, ah}, pair{b.lo, bh}, isa.BoolAnd, pt)
	v := wideValue{lo: x.sel(auto, a.lo, b.lo, p)}
	switch {
	case a.kind == highZero && b.kind == highZero:
		v.kind = highZero
	case sat:
		v.kind, v.hi = highValue, x.sel(auto, ah, bh, p)
	default:
		v.kind = highSign
	}
	return v
}

// videoShift shifts a by n bits, which clamp at 32 or wrap.
func (x *expander) videoShift(a wideValue, n word, left, wrap, sat, compared bool) wideValue {
	if wrap {
		n = x.and(auto, n, imm(0x1f))
	} else if x.sm() >= 120 {
		d := x.regs(2)
		x.emitWide(isa.OpIMNMX, isa.Mod{Type: isa.S64}, [][]word{d}, [][]word{{n, rz}, x.wide64(pair{imm(0x20), rz}), {pt}})
		n = d[0]
	} else {
		p := x.cmp64(auto, isa.CmpLT, true, pair{n, rz}, pair{imm(0x20), rz}, isa.BoolAnd, pt)
		n = x.sel(auto, n, imm(0x20), p)
	}
	v := wideValue{kind: highSign}
	if left {
		if sat {
			s := x.shl64(pair{}, pair{a.lo, x.high(a)}, n)
			return x.signAt34(s)
		}
		if compared {
			s := x.shl64(pair{}, pair{a.lo, x.high(a)}, n)
			return wideValue{lo: s.lo, kind: highValue, hi: s.hi}
		}
		v.lo = x.shl(auto, a.lo, n)
		return v
	}
	hi := x.high(a)
	if !sat || a.kind == highZero {
		if x.sm() >= 70 {
			v.lo = x.reg()
			x.emit(isa.OpSHF, isa.Mod{Type: isa.S64, Flags: isa.ModRight}, []word{v.lo}, []word{a.lo, n, hi})
		} else {
			v.lo = x.shr64(pair{}, pair{a.lo, hi}, n, true).lo
		}
		if a.kind == highZero {
			v.kind = highZero
		}
		return v
	}
	return x.signAt34(x.shr64(pair{}, pair{a.lo, hi}, n, true))
}

// signAt34 extends the sign of a 34-bit value.
func (x *expander) signAt34(s pair) wideValue {
	hi := x.and(auto, s.hi, imm(3))
	top := x.shr(auto, x.and(auto, hi, imm(2)), imm(1))
	p := x.cmp64(auto, isa.CmpNE, false, pair{top, rz}, pair{imm(1), rz}, isa.BoolAnd, pt)
	if x.sm() >= 120 { // the other way round
		v := x.reg()
		x.or(v, hi, imm(0xfffffffc))
		x.under(p, func() { x.mov(v, hi) })
		return wideValue{lo: s.lo, kind: highValue, hi: v}
	}
	x.under(notP(p), func() { x.or(hi, hi, imm(0xfffffffc)) })
	return wideValue{lo: s.lo, kind: highValue, hi: hi}
}

// videoSet is vset: 1 where the comparison holds.
func (x *expander) videoSet() {
	at, bt := x.typ("u32 s32"), x.typ("u32 s32")
	name := x.take("eq", "ne", "lt", "le", "gt", "ge")
	c, ok := comparisons[name]
	if !ok {
		x.fail("vset lacks a comparison such as .eq or .lt")
		return
	}
	second := x.take("add", "min", "max")
	if x.err != nil || !x.videoArgs(second) {
		return
	}
	merge := x.videoPart(x.arg(0))
	if x.videoUnit("vset", false, valueTypes["u32"], merge, second) {
		x.emitVideo("vset", valueTypes["u32"], at, bt, false, false, c.op, merge, second)
		return
	}
	if x.document() {
		x.documentVideo("vset", valueTypes["u32"], at, bt, false, false, c.op, merge, second)
		return
	}
	a, b := x.videoOperand(1, at), x.videoOperand(2, bt)
	x.pairOperand(&a, &b, at, bt)
	p := x.cmp64(auto, c.op, true, pair{a.lo, x.high(a)}, pair{b.lo, x.high(b)}, isa.BoolAnd, pt)
	m := x.maskIf(p)
	q := x.test(isa.CmpNE, isa.U32, m, imm(0xffffffff))
	v := x.sel(auto, m, imm(1), q)
	v = x.sel(auto, v, rz, notP(q))
	dt := valueTypes["u32"]
	if second != "" && at.signed() { // the secondary comparison has the sign of the first operand
		dt = valueTypes["s32"]
	}
	x.videoFinish(wideValue{lo: v, kind: highZero}, dt, false, false, true, merge, second)
}
