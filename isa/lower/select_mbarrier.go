package lower

import "github.com/sarchlab/smsim/isa"

// Barriers in shared memory. Their content is that of isa/exec_mbarrier.go; from compute capability 9.0 on SYNCS works on it,
// before that shared atomics and loads do.

const mbarrierPhaseBit = 29 // of the upper word: the lowest bit of the phase

// ruleMbarrier is every mbarrier instruction but those of clusters.
func ruleMbarrier(x *expander) {
	if x.sm() < 80 {
		x.fail("%s has no %s; barriers in shared memory came with compute capability 8.0", x.t().Name, x.in.Op)
		return
	}
	what := x.take("init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait", "try_wait", "pending_count")
	parity, noComplete, expect := x.has("parity"), x.has("noComplete"), what != "expect_tx" && x.has("expect_tx")
	x.takeMemOrder()
	space := x.takeSpace()
	if what != "expect_tx" && what != "complete_tx" {
		x.typ("b64")
	} else {
		x.has("b64")
	}
	if space != "" && space != "shared" {
		x.fail("%s: a barrier lies in shared memory, not in .%s", x.in.Name(), space)
	}
	if x.err != nil {
		return
	}
	switch what {
	case "pending_count":
		if x.args(2, 2) {
			x.and(x.d32(0, "u32"), x.a64(1, "b64").lo, imm(1<<20-1))
		}
	case "init":
		if x.args(2, 2) {
			x.mbarrierInit(x.mbarrierAt(0), x.a32(1, "u32"))
		}
	case "inval":
		x.args(1, 1)
	case "expect_tx", "complete_tx":
		if x.args(2, 2) {
			sub := map[string]isa.Sub{"expect_tx": isa.SubMbExpectTx, "complete_tx": isa.SubMbCompleteTx}[what]
			x.mbarrierUpdate(sub, []word{rz}, x.mbarrierAt(0), rz, x.a32(1, "u32"))
		}
	case "test_wait", "try_wait":
		most := 3
		if what == "try_wait" { // with the time that the thread may sleep
			most = 4
		}
		if x.args(3, most) {
			x.mbarrierTest(x.predDst(0), x.mbarrierAt(1), parity)
		}
	case "arrive", "arrive_drop":
		x.mbarrierArrive(what == "arrive_drop", noComplete, expect)
	default:
		x.fail("%s is not modelled", x.in.Name())
	}
}

// mbarrierAt is the address operand i: of a generic address the low word is the offset in shared memory.
func (x *expander) mbarrierAt(i int) word {
	a, _ := x.mem(i, "shared")
	return a
}

func (x *expander) mbarrierArrive(drop, noComplete, expect bool) {
	least, most := 2, 3
	if expect || noComplete {
		least = 3
	}
	if !x.args(least, most) {
		return
	}
	n, tx := imm(1), rz
	switch {
	case len(x.in.Args) == 3 && expect:
		tx = x.a32(2, "u32")
	case len(x.in.Args) == 3:
		n = x.a32(2, "u32")
	}
	sub := isa.SubMbArrive
	switch {
	case drop:
		sub = isa.SubMbDrop
	case noComplete:
		sub = isa.SubMbNoComplete
	}
	x.mbarrierUpdate(sub, x.dst(0, "b64"), x.mbarrierAt(1), n, tx)
}

// mbarrierUpdate changes the barrier by n arrivals and tx bytes and gives its content before.
func (x *expander) mbarrierUpdate(sub isa.Sub, d []word, at, n, tx word) {
	op := isa.OpATOMS
	if x.t().Has(isa.OpSYNCS) {
		op = isa.OpSYNCS
	}
	x.emitWide(op, isa.Mod{Sub: sub, Size: 8, Type: isa.U64}, [][]word{d}, [][]word{{at}, {n, tx}})
}

// mbarrierInit stores the start value.
func (x *expander) mbarrierInit(at, count word) {
	v := []word{rz, rz}
	if c, ok := constant(count); ok {
		lo, hi := isa.MbarrierInit(c)
		v[0], v[1] = immWord(lo), immWord(hi)
	} else {
		v[0] = x.or(auto, count, x.shl(auto, count, imm(20)))
		v[1] = x.shr(auto, count, imm(12))
	}
	if x.t().Has(isa.OpSYNCS) {
		x.emitWide(isa.OpSYNCS, isa.Mod{Sub: isa.SubExch, Size: 8, Type: isa.U64}, [][]word{{rz}}, [][]word{{at}, v})
		return
	}
	x.emitWide(isa.OpSTS, isa.Mod{Size: 8}, nil, [][]word{{at}, v})
}

// mbarrierTest writes p = the phase of operand 2 (a content of the barrier or a parity) has ended.
func (x *expander) mbarrierTest(p, at word, parity bool) {
	switch {
	case x.t().Has(isa.OpSYNCS) && parity:
		x.emitWide(isa.OpSYNCS, isa.Mod{Sub: isa.SubMbParity, Size: 4}, [][]word{{p}}, [][]word{{at}, {x.inReg(x.a32(2, "u32"))}})
		return
	case x.t().Has(isa.OpSYNCS):
		x.emitWide(isa.OpSYNCS, isa.Mod{Sub: isa.SubMbPhase, Size: 8}, [][]word{{p}}, [][]word{{at}, x.src(2, "b64")})
		return
	}
	now := x.regs(2)
	x.emitWide(isa.OpLDS, isa.Mod{Size: 8, Flags: isa.ModStrong}, [][]word{now}, [][]word{{at}})
	if parity {
		then := x.shl(auto, x.a32(2, "u32"), imm(mbarrierPhaseBit))
		x.cmp(p, isa.CmpNE, isa.U32, x.lop3(auto, now[1], then, imm(1<<mbarrierPhaseBit), 0x28), rz, isa.BoolAnd, pt)
		return
	}
	then := x.a64(2, "b64").hi
	x.cmp(p, isa.CmpGE, isa.U32, x.xor(auto, now[1], then), imm(1<<mbarrierPhaseBit), isa.BoolAnd, pt)
}

// asyncArrive is cp.async.mbarrier.arrive: copies are complete when they were issued, so that the arrival, which .noinc
// takes from the count, comes at once. Without it the count grows first, and nothing is left of the arrival.
func (x *expander) asyncArrive() {
	x.has("arrive")
	n := rz
	if x.has("noinc") {
		n = imm(1)
	}
	x.takeSpace()
	x.typ("b64")
	switch {
	case x.err != nil || !x.args(1, 1):
	case x.sm() < 80:
		x.fail("%s has no mbarrier; barriers in shared memory came with compute capability 8.0", x.t().Name)
	default:
		x.mbarrierUpdate(isa.SubMbArrive, []word{rz}, x.mbarrierAt(0), n, rz)
	}
}
