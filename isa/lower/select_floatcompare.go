package lower

import "github.com/sarchlab/smsim/isa"

// Comparisons of floating-point numbers, and what is made of their bits.

// compareFloat is compare for floating-point operands i and i+1.
func (x *expander) compareFloat(p, n word, c comparison, t vtype, i int, combine isa.BoolOp, q word) {
	op := c.op
	a, b := x.src(i, t.name), x.src(i+1, t.name)
	m := isa.Mod{Cmp: op, Bool: combine, Flags: x.ftz}
	switch {
	case t.wide():
		m.Flags = 0
		x.emitWide(isa.OpDSETP, m, [][]word{{p}, {n}}, [][]word{a, b, {q}})
	case t.name == "f32":
		x.emit(isa.OpFSETP, m, []word{p, n}, []word{a[0], b[0], q})
	case t.packed:
		// p is the low half's result, the second predicate the high half's.
		bf := t.name[0] == 'b'
		m.Flags &^= isa.ModFTZ
		lo, hi := x.pred(), x.pred()
		x.emit(isa.OpFSETP, m, []word{lo, pt}, []word{x.halfToFloat(a[0], 0, bf), x.halfToFloat(b[0], 0, bf), q})
		x.emit(isa.OpFSETP, m, []word{hi, pt}, []word{x.halfToFloat(a[0], 1, bf), x.halfToFloat(b[0], 1, bf), q})
		x.movP(p, lo)
		x.movP(n, hi)
	default:
		bf := t.name[0] == 'b'
		m.Flags &^= isa.ModFTZ
		x.emit(isa.OpFSETP, m, []word{p, n}, []word{x.halfToFloat(a[0], 0, bf), x.halfToFloat(b[0], 0, bf), q})
	}
}

// saturate01 clamps to [0, 1]; NaN becomes 0.
func (x *expander) saturate01(d, a []word, t vtype) {
	m := floatMods{flags: isa.ModSat}
	zero := []word{rz}
	if t.wide() {
		p := x.pred()
		one := []word{rz, imm(0x3ff00000)}
		x.emitWide(isa.OpDSETP, isa.Mod{Cmp: isa.CmpGT}, [][]word{{p}, {pt}}, [][]word{a, {rz}, {pt}})
		v := x.sel64(pair{}, asPair(a), pair{rz, rz}, p)
		x.emitWide(isa.OpDSETP, isa.Mod{Cmp: isa.CmpLT}, [][]word{{p}, {pt}}, [][]word{v.words(), x.inRegs(one), {pt}})
		x.sel64(asPair(d), v, asPair(one), p)
		return
	}
	x.floatEmit(t, isa.OpFADD, isa.OpDADD, isa.OpHADD2, m, d, a, zero)
}

// inRegs copies words to registers.
func (x *expander) inRegs(w []word) []word {
	out := make([]word, len(w))
	for i := range w {
		out[i] = x.mov(auto, w[i])
	}
	return out
}

// ruleTestp is testp: what kind of number a value is.
func ruleTestp(x *expander) {
	what := x.take("finite", "infinite", "number", "notanumber", "normal", "subnormal")
	t := x.typ("f32 f64")
	if x.err != nil || !x.args(2, 2) {
		return
	}
	if what == "" {
		x.fail("testp lacks .finite, .infinite, .number, .notanumber, .normal or .subnormal")
		return
	}
	a := x.src(1, t.name)
	hi := x.and(auto, a[len(a)-1], imm(0x7fffffff))
	inf, least := uint32(0x7f800000), uint32(0x00800000)
	low := rz
	if t.wide() {
		inf, least, low = 0x7ff00000, 0x00100000, a[0]
	}
	v, top := pair{low, hi}, pair{rz, imm(inf)}
	p := x.predDst(0)
	switch what {
	case "finite":
		x.cmp(p, isa.CmpLT, isa.U32, hi, imm(inf), isa.BoolAnd, pt)
	case "infinite":
		x.cmp64(p, isa.CmpEQ, false, v, top, isa.BoolAnd, pt)
	case "number":
		x.cmp64(p, isa.CmpLE, false, v, top, isa.BoolAnd, pt)
	case "notanumber":
		x.cmp64(p, isa.CmpGT, false, v, top, isa.BoolAnd, pt)
	case "normal":
		q := x.test(isa.CmpGE, isa.U32, hi, imm(least))
		x.cmp(p, isa.CmpLT, isa.U32, hi, imm(inf), isa.BoolAnd, q)
	case "subnormal":
		q := x.test(isa.CmpLT, isa.U32, hi, imm(least))
		x.cmp64(p, isa.CmpNE, false, v, pair{rz, rz}, isa.BoolAnd, q)
	}
}

// ruleCopysign is copysign: the sign of a on b.
func ruleCopysign(x *expander) {
	t := x.typ("f32 f64")
	if x.err != nil || !x.args(3, 3) {
		return
	}
	d, a, b := x.dst(0, t.name), x.src(1, t.name), x.src(2, t.name)
	k := len(d) - 1
	x.lop3(d[k], a[k], imm(0x80000000), b[k], 0xe2)
	if k == 1 {
		x.mov(d[0], b[0])
	}
}
