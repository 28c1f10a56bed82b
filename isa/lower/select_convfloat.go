package lower

import "github.com/sarchlab/smsim/isa"

// Conversions between floating-point types, and from integers to bfloat16.

// halfMods are .relu and .satfinite of a conversion to halves.
type halfMods struct{ relu, finite bool }

// cvtFloat converts between floating-point types.
func (x *expander) cvtFloat(dt, st vtype, round string, sat bool, hm halfMods) {
	d, a := x.dst(0, dt.name), x.src(1, st.name)
	r, integral := roundings[round], len(round) == 3
	if (hm.relu || hm.finite) && (dt.bits != 16 || st.name != "f32") {
		x.fail(".relu and .satfinite belong to conversions of .f32 to halves, not to cvt.%s.%s", dt.name, st.name)
		return
	}
	if st.name == "bf16" {
		a = []word{x.halfToFloat(a[0], 0, true)}
		st = valueTypes["f32"]
	}
	out := d
	if sat {
		out = x.regs(len(d))
	}
	switch {
	case dt.name == "bf16":
		v := x.floatOf(a, st)
		if integral {
			w := x.reg()
			x.emit(x.roundOp(), isa.Mod{Type: isa.F32, BType: isa.F32, Round: r, Flags: x.ftz | isa.ModInt}, []word{w}, []word{v})
			v = w
		}
		x.floatToHalf(out[0], x.halfInput(v, dt, hm), true, r)
	case dt.name == "f16" && st.name == "f32" && !integral:
		x.floatToHalf(out[0], x.halfInput(a[0], dt, hm), false, r)
	case dt.name == st.name && !integral:
		for k := range out {
			x.mov(out[k], a[k])
		}
	default:
		m := isa.Mod{Type: dt.machine(), BType: st.machine(), Round: r, Flags: x.ftz}
		op := isa.OpF2F
		if integral {
			m.Flags |= isa.ModInt
			op = x.roundOp()
		}
		x.emitWide(op, m, [][]word{out}, [][]word{a})
	}
	if sat {
		x.saturate01(d, out, dt)
	}
}

// roundOp is the opcode that rounds to integral values.
func (x *expander) roundOp() isa.Op {
	if x.t().Has(isa.OpFRND) {
		return isa.OpFRND
	}
	return isa.OpF2F
}

// floatOf is a value as f32 from which rounding to bfloat16 gives the same as from the value itself.
func (x *expander) floatOf(a []word, st vtype) word {
	switch {
	case st.wide():
		f, back, p := x.reg(), x.regs(2), x.pred()
		x.emitWide(isa.OpF2F, isa.Mod{Type: isa.F32, BType: isa.F64, Round: isa.RZero}, [][]word{{f}}, [][]word{a})
		x.emitWide(isa.OpF2F, isa.Mod{Type: isa.F64, BType: isa.F32}, [][]word{back}, [][]word{{f}})
		x.emitWide(isa.OpDSETP, isa.Mod{Cmp: isa.CmpNE}, [][]word{{p}, {pt}}, [][]word{back, a, {pt}})
		return x.sticky(f, p)
	case st.name == "f16":
		return x.halfToFloat(a[0], 0, false)
	}
	return a[0]
}

// sticky sets the last bit of a truncated f32 where p says that it is not exact ("rounding to odd"): rounding that to fewer bits
// is right.
func (x *expander) sticky(f, p word) word {
	x.under(p, func() { x.or(f, f, imm(1)) })
	return f
}

// halfInput prepares an f32 for its conversion to halves of type dt: the largest finite number is the limit of .satfinite,
// zero that of .relu; what is not a number stays so.
func (x *expander) halfInput(a word, dt vtype, hm halfMods) word {
	limit := func(bound uint32, p word) {
		r := x.reg()
		x.emit(isa.OpFMNMX, isa.Mod{Flags: isa.ModNaN}, []word{r}, []word{a, immWord(bound), p})
		a = r
	}
	if hm.finite {
		most := uint32(0x477fe000) // 65504
		if dt.name[0] == 'b' {
			most = 0x7f7f0000
		}
		limit(most, pt)
		limit(most|0x80000000, notPT)
	}
	if hm.relu {
		limit(0, notPT)
	}
	return a
}

// intToBF16 converts an integer to bfloat16: to f32 with the lost bits remembered, then rounded once.
func (x *expander) intToBF16(st vtype, r isa.Round, sat bool) {
	a := x.src(1, st.name)
	if st.bits < 32 {
		a = []word{x.ext(auto, a[0], st)}
	}
	t := signedType(st.signed())
	if st.wide() {
		t = st.machine()
	}
	f, p := x.reg(), x.pred()
	x.emitWide(isa.OpI2F, isa.Mod{Type: isa.F32, BType: t, Round: isa.RZero}, [][]word{{f}}, [][]word{a})
	back := x.regs(len(a))
	x.emitWide(isa.OpF2I, isa.Mod{Type: t, BType: isa.F32, Round: isa.RZero}, [][]word{back}, [][]word{{f}})
	if st.wide() {
		p = x.cmp64(p, isa.CmpNE, false, asPair(back), asPair(a), isa.BoolAnd, pt)
	} else {
		p = x.test(isa.CmpNE, isa.U32, back[0], a[0])
	}
	d := x.d32(0, "bf16")
	if !sat {
		x.floatToHalf(d, x.sticky(f, p), true, r)
		return
	}
	v := x.floatToHalf(auto, x.sticky(f, p), true, r)
	x.saturate01([]word{d}, []word{v}, valueTypes["bf16"])
}

// cvtPackHalves is cvt.rn.f16x2.f32 and its like: two floats become a pair of halves, the first one on top.
func (x *expander) cvtPackHalves(round string, hm halfMods) {
	dt := x.typ("f16x2 bf16x2")
	st := x.typ("f32")
	if x.err != nil || !x.args(3, 3) {
		return
	}
	if round != "rn" && round != "rz" {
		x.fail("cvt.%s.%s needs .rn or .rz", dt.name, st.name)
		return
	}
	d, a, b := x.d32(0, "b32"), x.a32(1, "f32"), x.a32(2, "f32")
	bf := dt.name[0] == 'b'
	if x.sm() >= 80 {
		m := isa.Mod{Type: dt.machine(), Round: roundings[round], Flags: isa.ModPackAB}
		if hm.relu {
			m.Flags |= isa.ModRelu
			hm.relu = false
		}
		x.emit(isa.OpF2FP, m, []word{d}, []word{x.halfInput(a, dt, hm), x.halfInput(b, dt, hm)})
		return
	}
	a, b = x.halfInput(a, dt, hm), x.halfInput(b, dt, hm)
	lo, hi := x.floatToHalf(auto, b, bf, roundings[round]), x.floatToHalf(auto, a, bf, roundings[round])
	x.prmt(d, lo, imm(0x5410), hi)
}
