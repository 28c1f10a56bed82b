package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// comparison is a PTX comparison as the machine has it, and whether it implies unsigned operands (lo, ls, hi, hs).
type comparison struct {
	op       isa.Cmp
	unsigned bool
	float    bool // allowed for floating-point types only
}

var comparisons = map[string]comparison{
	"eq": {op: isa.CmpEQ}, "ne": {op: isa.CmpNE}, "lt": {op: isa.CmpLT}, "le": {op: isa.CmpLE}, "gt": {op: isa.CmpGT}, "ge": {op: isa.CmpGE},
	"lo": {op: isa.CmpLT, unsigned: true}, "ls": {op: isa.CmpLE, unsigned: true}, "hi": {op: isa.CmpGT, unsigned: true}, "hs": {op: isa.CmpGE, unsigned: true},
	"equ": {op: isa.CmpEQU, float: true}, "neu": {op: isa.CmpNEU, float: true}, "ltu": {op: isa.CmpLTU, float: true}, "leu": {op: isa.CmpLEU, float: true},
	"gtu": {op: isa.CmpGTU, float: true}, "geu": {op: isa.CmpGEU, float: true}, "num": {op: isa.CmpNum, float: true}, "nan": {op: isa.CmpNan, float: true},
}

// takeComparison uses up the comparison.
func (x *expander) takeComparison() comparison {
	for i, m := range x.mods {
		if c, ok := comparisons[m]; ok {
			x.mods = slices.Delete(x.mods, i, i+1)
			return c
		}
	}
	x.fail("%s lacks a comparison such as .eq or .lt", x.in.Op)
	return comparison{}
}

// takeBool uses up .and, .or or .xor.
func (x *expander) takeBool() (isa.BoolOp, bool) {
	switch x.take("and", "or", "xor") {
	case "and":
		return isa.BoolAnd, true
	case "or":
		return isa.BoolOr, true
	case "xor":
		return isa.BoolXor, true
	}
	return isa.BoolAnd, false
}

const compareTypes = "b16 b32 b64 u16 s16 u32 s32 u64 s64 f16 f16x2 bf16 bf16x2 f32 f64"

// compare writes p = (a cmp b) combined with q, and n = !(a cmp b) combined with q, for operands i and i+1.
func (x *expander) compare(p, n word, c comparison, t vtype, i int, combine isa.BoolOp, q word) {
	switch {
	case c.unsigned && (t.float() || t.signed()):
		x.fail(".lo, .ls, .hi and .hs of %s compare unsigned integers, not .%s", x.in.Op, t.name)
	case t.kind == 'b' && !t.float() && c.op != isa.CmpEQ && c.op != isa.CmpNE:
		x.fail("%s on .%s has only .eq and .ne", x.in.Op, t.name)
	case t.float():
		x.compareFloat(p, n, c, t, i, combine, q)
	case c.float:
		x.fail("this comparison of %s is for floating-point types, not .%s", x.in.Op, t.name)
	case t.wide():
		x.cmp64x2(p, n, c.op, t.signed() && !c.unsigned, x.a64(i, t.name), x.a64(i+1, t.name), combine, q)
	default:
		a, b := x.comparedHalf(x.a32(i, t.name), t), x.comparedHalf(x.a32(i+1, t.name), t)
		x.cmp2(p, n, c.op, signedType(t.signed() && !c.unsigned), a, b, combine, q)
	}
}

// comparedHalf is an operand of a comparison as a word.
func (x *expander) comparedHalf(a word, t vtype) word {
	if _, known := constant(a); known || !t.signed() || t.bits != 16 || x.sm() < 70 {
		return x.ext(auto, a, t)
	}
	d := x.reg()
	x.emit(isa.OpPRMT, isa.Mod{Size: sizeOperand}, []word{d}, []word{a, imm(0x9910), rz})
	return d
}

// ruleSetp is setp.
func ruleSetp(x *expander) {
	c := x.takeComparison()
	combine, has := x.takeBool()
	ftz := x.has("ftz")
	t := x.typ(compareTypes)
	n := 3
	if has {
		n = 4
	}
	if x.err != nil || !x.args(n, n) {
		return
	}
	if ftz {
		x.ftz = isa.ModFTZ
	}
	q := pt
	if has {
		q = x.predSrc(3)
	}
	x.compare(x.predDst(0), x.predDst2(0), c, t, 1, combine, q)
}

// ruleSet is set: all ones (or 1.0) where the comparison holds.
func ruleSet(x *expander) {
	c := x.takeComparison()
	combine, has := x.takeBool()
	ftz := x.has("ftz")
	dt := x.typ("u32 s32 f32 u16 s16 f16 bf16 f16x2 bf16x2")
	t := x.typ(compareTypes)
	n := 3
	if has {
		n = 4
	}
	if x.err != nil || !x.args(n, n) {
		return
	}
	if ftz {
		x.ftz = isa.ModFTZ
	}
	q := pt
	if has {
		q = x.predSrc(3)
	}
	if dt.packed || t.packed {
		x.setHalves(c, dt, t, combine, q)
		return
	}
	p := x.pred()
	d := x.d32(0, dt.name)
	x.compare(p, pt, c, t, 1, combine, q)
	yes := imm(0xffffffff)
	switch dt.name {
	case "f32":
		yes = imm(0x3f800000)
	case "f16":
		yes = imm(0x3c00)
	case "bf16":
		yes = imm(0x3f80)
	}
	if t.bits == 16 && !t.float() && dt.bits == 32 && !dt.float() && x.sm() >= 70 {
		// ptxas compares in 16 bits and widens the result.
		v := x.sel(auto, rz, yes, notP(p))
		x.prmt(d, v, imm(0x9910), rz)
		return
	}
	x.sel(d, rz, yes, notP(p))
}

// setHalves is set on pairs of halves: 1.0, or all ones for an integer destination, in each half whose comparison holds.
func (x *expander) setHalves(c comparison, dt, t vtype, combine isa.BoolOp, q word) {
	if !t.packed || !t.float() || dt.bits != 32 || dt.name == "f32" || dt.packed && dt.name != t.name {
		x.fail("set.%s.%s does not exist: pairs of halves give .%s, .u32 or .s32", dt.name, t.name, t.name)
		return
	}
	bf := t.name[0] == 'b'
	one := uint32(0xffff)
	switch {
	case dt.packed && bf:
		one = 0x3f80
	case dt.packed:
		one = 0x3c00
	}
	d := x.d32(0, dt.name)
	if x.t().Has(isa.OpHSET2) && (!bf || x.sm() >= 90) {
		m := isa.Mod{Cmp: c.op, Bool: combine, Flags: x.ftz}
		if dt.packed {
			m.Flags |= isa.ModBF
		}
		if bf {
			m.Type = isa.BF16x2
		}
		x.emit(isa.OpHSET2, m, []word{d}, []word{x.a32(1, t.name), x.a32(2, t.name), q})
		return
	}
	lo, hi := x.pred(), x.pred()
	x.compareFloat(lo, hi, c, t, 1, combine, q)
	v := x.sel(auto, rz, imm(one), notP(lo))
	x.or(d, v, x.sel(auto, rz, imm(one<<16), notP(hi)))
}

// ruleSelp is selp.
func ruleSelp(x *expander) {
	t := x.typ("b16 b32 b64 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64 b8")
	if !x.args(4, 4) {
		return
	}
	p := x.predSrc(3)
	if t.wide() {
		x.sel64(x.d64(0, t.name), x.a64(1, t.name), x.a64(2, t.name), p)
		return
	}
	if t.name == "f32" && x.sm() >= 70 {
		x.emit(isa.OpFSEL, isa.Mod{}, []word{x.d32(0, t.name)}, []word{x.a32(1, t.name), x.a32(2, t.name), p})
		return
	}
	x.sel(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), p)
}

// ruleSlct is slct: a where c >= 0, else b.
func ruleSlct(x *expander) {
	ftz := x.has("ftz")
	t := x.typ("b16 b32 b64 u16 s16 u32 s32 u64 s64 f32 f64")
	ct := x.typ("s32 f32")
	if x.err != nil || !x.args(4, 4) {
		return
	}
	var p word
	c := x.a32(3, ct.name)
	if ct.float() {
		p = x.pred()
		m := isa.Mod{Cmp: isa.CmpGE}
		if ftz {
			m.Flags = isa.ModFTZ
		}
		x.emit(isa.OpFSETP, m, []word{p, pt}, []word{c, rz, pt})
	} else {
		p = x.test(isa.CmpGE, isa.S32, c, rz)
	}
	if t.wide() {
		x.sel64(x.d64(0, t.name), x.a64(1, t.name), x.a64(2, t.name), p)
		return
	}
	x.sel(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), p)
}
