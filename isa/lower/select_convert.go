package lower

import (
	"strings"

	"github.com/sarchlab/smsim/isa"
)

const cvtTypes = "u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64"

var roundings = map[string]isa.Round{"rn": isa.RN, "rz": isa.RZero, "rm": isa.RM, "rp": isa.RP,
	"rni": isa.RN, "rzi": isa.RZero, "rmi": isa.RM, "rpi": isa.RP, "rna": isa.RN}

// ruleCvt is cvt.
func ruleCvt(x *expander) {
	if x.has("pack") {
		x.cvtPack()
		return
	}
	round := x.take("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi")
	hm := halfMods{relu: x.has("relu"), finite: x.has("satfinite")}
	if x.has("ftz") {
		x.ftz = isa.ModFTZ
	}
	sat := x.has("sat")
	for _, m := range x.mods {
		if strings.HasPrefix(m, "e4m3") || strings.HasPrefix(m, "e5m2") || strings.HasPrefix(m, "e2m") || strings.HasPrefix(m, "e3m2") || strings.HasPrefix(m, "ue8m0") || m == "tf32" {
			x.fail("%s is not modelled: number formats of tensor cores", x.in.Name())
			return
		}
	}
	if x.peekPackedFloat() {
		x.cvtPackHalves(round, hm)
		return
	}
	dt, st := x.typ(cvtTypes), x.typ(cvtTypes)
	if x.err != nil || !x.args(2, 2) {
		return
	}
	integral := len(round) == 3
	switch {
	case dt.float() && st.float():
		x.cvtFloat(dt, st, round, sat, hm)
	case hm.relu || hm.finite:
		x.fail(".relu and .satfinite belong to conversions of .f32 to halves, not to cvt.%s.%s", dt.name, st.name)
	case st.float():
		if !integral {
			x.fail("cvt.%s.%s needs an integer rounding: .rni, .rzi, .rmi or .rpi", dt.name, st.name)
			return
		}
		x.cvtToInt(dt, st, roundings[round])
	case dt.float():
		if round == "" || integral {
			x.fail("cvt.%s.%s needs a rounding: .rn, .rz, .rm or .rp", dt.name, st.name)
			return
		}
		x.cvtFromInt(dt, st, roundings[round], sat)
	case round != "":
		x.fail("illegal modifier '.%s' for instruction 'cvt' between integers", round)
	case sat && contains(dt, st):
		x.fail("illegal modifier '.sat' for instruction 'cvt': every .%s value fits .%s", st.name, dt.name)
	default:
		x.cvtInt(dt, st, sat)
	}
}

// contains says that every value of type s is one of type d.
func contains(d, s vtype) bool {
	switch {
	case d.signed() == s.signed():
		return d.bits >= s.bits
	case d.signed():
		return d.bits > s.bits
	}
	return false
}

// peekPackedFloat says that the destination is a pair of halves.
func (x *expander) peekPackedFloat() bool {
	for _, m := range x.mods {
		if t, ok := valueTypes[m]; ok {
			return t.packed && t.float()
		}
	}
	return false
}

// store writes a 32-bit result that already has the right low bits to the destination, extending it to the
// register when that is wider than the type.
func (x *expander) store(v word, dt vtype, extended bool) {
	d := x.dstAll(0)
	if len(d) < 2 {
		if (dt.bits == 8 || dt.bits == 16 && x.wholeRegister(d[0])) && !extended {
			x.extInto(d[0], v, dt)
		} else {
			x.mov(d[0], v)
		}
		return
	}
	lo := v
	if !extended {
		lo = x.ext(auto, v, dt)
	}
	x.mov(d[0], lo)
	if dt.signed() {
		x.signWord(d[1], lo)
	} else {
		x.mov(d[1], rz)
	}
}

// wholeRegister says that a register was not declared with 16 bits: a narrower result is extended to its 32.
func (x *expander) wholeRegister(d word) bool {
	return d.Kind == isa.KindReg && d.Reg != isa.RZ && !x.f.halves[d.Reg]
}

// wideDest says that the destination register is wider than 32 bits although the type is not.
func (x *expander) wideDest() bool { return len(x.dstAll(0)) == 2 }

// cvtInt converts between integers.
func (x *expander) cvtInt(dt, st vtype, sat bool) {
	if st.wide() {
		a := x.a64(1, st.name)
		switch {
		case dt.wide() && sat:
			x.sat64(x.d64(0, dt.name), a, dt.signed())
		case dt.wide():
			d := x.d64(0, dt.name)
			x.mov(d.lo, a.lo)
			x.mov(d.hi, a.hi)
		case sat:
			x.store(x.clamp64(a, dt, st.signed()), dt, dt.bits == 32)
		default:
			x.store(a.lo, dt, dt.bits == 32)
		}
		return
	}
	a := x.a32(1, st.name)
	if sat {
		v := x.clamp32(x.extFor(a, st), dt, st)
		if dt.wide() {
			d := x.d64(0, dt.name)
			x.mov(d.lo, v)
			x.mov(d.hi, rz)
			return
		}
		x.store(v, dt, dt.bits == 32)
		return
	}
	if dt.wide() {
		d := x.d64(0, dt.name)
		lo := a
		if st.bits < 32 {
			lo = x.ext(auto, a, st)
		}
		x.mov(d.lo, lo)
		if st.signed() {
			x.signWord(d.hi, lo)
		} else {
			x.mov(d.hi, rz)
		}
		return
	}
	switch {
	case dt.bits == 16 && st.bits == 8 && st.signed() && !dt.signed() && x.wholeRegister(x.dstAll(0)[0]):
		x.store(x.ext(auto, a, st), dt, false)
	case dt.bits > st.bits && !x.wideDest():
		x.extInto(x.d32(0, dt.name), a, st)
	case dt.bits > st.bits:
		x.store(x.ext(auto, a, st), dt, true)
	default:
		x.store(a, dt, dt.bits == 32)
	}
}

// extFor extends a saturation source as ptxas does: unsigned ones with PRMT from Volta on.
func (x *expander) extFor(a word, st vtype) word {
	switch {
	case st.bits == 32:
		return a
	case st.signed() || x.sm() < 70:
		return x.ext(auto, a, st)
	case st.bits == 16:
		return x.prmt(auto, a, imm(0x7710), rz)
	}
	return x.prmt(auto, a, imm(0x7770), rz)
}

// limits are the bounds of an integer type of at most 32 bits, as words.
func limits(t vtype) (lo, hi uint32) {
	if t.signed() {
		return -uint32(1 << (t.bits - 1)), 1<<(t.bits-1) - 1
	}
	return 0, uint32(1<<t.bits - 1)
}

// clamp32 saturates the extended value v of type st to the range of dt.
func (x *expander) clamp32(v word, dt, st vtype) word {
	lo, hi := uint32(0), uint32(0xffffffff)
	if dt.bits <= 32 {
		lo, hi = limits(dt)
	}
	if !st.signed() {
		var p word
		if dt.bits == 32 {
			p = x.test(isa.CmpGE, isa.U32, v, imm(0x80000000))
		} else {
			p = x.test(isa.CmpGT, isa.U32, v, imm(hi))
		}
		return x.sel(auto, v, imm(hi), notP(p))
	}
	if st.bits == 32 && dt.bits < 32 && x.t().Has(isa.OpI2I) {
		return x.i2iSat(auto, v, dt)
	}
	p := x.test(isa.CmpLT, isa.S32, v, immOrZero(lo))
	q := word{}
	if dt.bits < 32 {
		q = x.test(isa.CmpGT, isa.S32, v, imm(hi))
	}
	v = x.sel(auto, v, immOrZero(lo), notP(p))
	if dt.bits < 32 {
		v = x.sel(auto, v, imm(hi), notP(q))
	}
	return v
}

func immOrZero(v uint32) word { return immWord(v) }

// i2iSat is the conversion pipe's saturation of a signed word.
func (x *expander) i2iSat(d, a word, dt vtype) word {
	d = x.out(d)
	x.emit(isa.OpI2I, isa.Mod{Type: dt.machine(), BType: isa.S32, Flags: isa.ModSat}, []word{d}, []word{a})
	return d
}

// maskIf is all ones where p, else 0.
func (x *expander) maskIf(p word) word { return x.sel(auto, rz, imm(0xffffffff), notP(p)) }

// clampToU32 saturates a 64-bit value to an unsigned word.
func (x *expander) clampToU32(a pair, signed bool) word {
	p := x.test(isa.CmpNE, isa.U32, a.hi, rz)
	if !signed {
		return x.or(auto, x.maskIf(p), a.lo)
	}
	q := x.test(isa.CmpGE, isa.S32, a.hi, rz)
	return x.lop3(auto, x.maskIf(q), x.maskIf(p), a.lo, 0xe0)
}

// clampToS32 saturates a signed 64-bit value to a signed word.
func (x *expander) clampToS32(a pair) word {
	top := x.mov(auto, imm(0x7fffffff))
	s := x.signWord(auto, a.lo)
	p := x.test(isa.CmpGE, isa.S32, a.hi, rz)
	s = x.xor(auto, s, a.hi)
	edge := x.sel(auto, top, imm(0x80000000), p)
	fits := x.isZeroKeep(s)
	return x.sel(auto, a.lo, edge, fits)
}

// clamp64 saturates a 64-bit value to a type of at most 32 bits.
func (x *expander) clamp64(a pair, dt vtype, signed bool) word {
	if signed && dt.signed() {
		v := x.clampToS32(a)
		if dt.bits < 32 {
			return x.clamp32(v, dt, valueTypes["s32"])
		}
		return v
	}
	v := x.clampToU32(a, signed)
	if dt.bits < 32 || dt.signed() {
		return x.clamp32(v, dt, valueTypes["u32"])
	}
	return v
}

// sat64 saturates between the 64-bit types.
func (x *expander) sat64(d, a pair, toSigned bool) {
	if toSigned {
		p := x.test(isa.CmpLT, isa.S32, a.hi, rz)
		q := x.test(isa.CmpGE, isa.U32, a.hi, imm(0x80000000))
		lo := x.or(auto, x.maskIf(p), a.lo)
		x.sel(d.hi, a.hi, imm(0x7fffffff), notP(q))
		x.mov(d.lo, lo)
		return
	}
	p := x.test(isa.CmpGE, isa.S32, a.hi, rz)
	q := x.test(isa.CmpLT, isa.S32, a.hi, rz)
	lo := x.and(auto, x.maskIf(p), a.lo)
	x.sel(d.hi, a.hi, rz, notP(q))
	x.mov(d.lo, lo)
}

// cvtToInt converts a floating-point value to an integer.
func (x *expander) cvtToInt(dt, st vtype, r isa.Round) {
	if st.name == "bf16" {
		x.cvtToIntFrom(dt, valueTypes["f32"], r, []word{x.shl(auto, x.a32(1, st.name), imm(16))})
		return
	}
	x.cvtToIntFrom(dt, st, r, x.src(1, st.name))
}

func (x *expander) cvtToIntFrom(dt, st vtype, r isa.Round, a []word) {
	m := isa.Mod{Type: dt.machine(), BType: st.machine(), Round: r, Flags: x.ftz}
	if dt.bits <= 32 && st.name == "f32" && x.sm() >= 70 {
		m.Flags |= isa.ModNTZ
	}
	if dt.wide() {
		x.emitWide(isa.OpF2I, m, [][]word{x.dst(0, dt.name)}, [][]word{a})
		return
	}
	if dt.bits == 32 && !x.wideDest() {
		x.emitWide(isa.OpF2I, m, [][]word{{x.d32(0, dt.name)}}, [][]word{a})
		return
	}
	v := x.reg()
	if dt.name == "u8" && st.name == "f32" && x.t().Has(isa.OpF2IP) && (r == isa.RN || r == isa.RZero) { // only these roundings
		x.emit(isa.OpF2IP, m, []word{v}, []word{rz, a[0], rz})
		x.store(v, dt, false)
		return
	}
	x.emitWide(isa.OpF2I, m, [][]word{{v}}, [][]word{a})
	x.store(v, dt, dt.bits == 32)
}

// cvtFromInt converts an integer to floating point.
func (x *expander) cvtFromInt(dt, st vtype, r isa.Round, sat bool) {
	if dt.name == "bf16" {
		x.intToBF16(st, r, sat)
		return
	}
	a := x.src(1, st.name)
	m := isa.Mod{Type: dt.machine(), BType: st.machine(), Round: r}
	if st.bits < 32 { // the converter reads the low part of the register
		a = []word{x.ext(auto, a[0], st)}
		m.BType = signedType(st.signed())
	}
	d := x.dst(0, dt.name)
	to := d
	if sat {
		to = x.regs(len(d))
	}
	if dt.name == "f32" && !st.wide() && x.t().Has(isa.OpI2FP) && (r == isa.RN || r == isa.RZero) {
		x.emit(isa.OpI2FP, m, to, a)
	} else {
		x.emitWide(isa.OpI2F, m, [][]word{to}, [][]word{a})
	}
	if sat {
		x.saturate01(d, to, dt)
	}
}

// cvtPack is cvt.pack.sat: two words become two halves, or two bytes pushed into c.
func (x *expander) cvtPack() {
	if !x.has("sat") {
		x.fail("cvt.pack needs .sat")
		return
	}
	dt := x.typ("u16 s16 u8 s8 u4 s4 u2 s2")
	st := x.typ("s32")
	c := x.take("b32") != ""
	n := 3
	if c {
		n = 4
	}
	if x.err != nil || !x.args(n, n) {
		return
	}
	if c != (dt.bits == 8) {
		x.fail("cvt.pack.sat.%s.%s: the .b32 operand belongs to the byte forms", dt.name, st.name)
		return
	}
	d, a, b := x.d32(0, "b32"), x.a32(1, "s32"), x.a32(2, "s32")
	add := rz
	if c {
		add = x.a32(3, "b32")
	}
	if x.t().Has(isa.OpI2IP) {
		x.emit(isa.OpI2IP, isa.Mod{Type: dt.machine(), BType: isa.S32, Flags: isa.ModSat}, []word{d}, []word{a, b, add})
		return
	}
	u, v := x.clamp32(a, dt, st), x.clamp32(b, dt, st)
	if dt.bits == 16 {
		x.prmt(d, v, imm(0x5410), u)
		return
	}
	// d = {c's low half, a, b}
	low := x.prmt(auto, v, imm(0x0040), u)
	x.prmt(d, low, imm(0x5410), add)
}
