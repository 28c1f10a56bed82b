package lower

import "github.com/sarchlab/smsim/isa"

// Barriers in shared memory, with the instructions and the layout of the target (isa/exec_mbarrier.go): from compute capability
// 9.0 on SYNCS works on them, on 8.x shared atomics and loads do.

const (
	mbarrierPhase   = 0x80000000 // of the upper word: the phase's parity
	mbarrierPending = 0x7fffffff // 8.x, of the upper word: 2^31 - arrivals that are pending
)

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
	if (expect || what == "expect_tx" || what == "complete_tx") && !x.hasSYNCS() {
		x.fail("%s has no %s; barriers count bytes from compute capability 9.0 on", x.t().Name, x.in.Name())
	}
	if x.err != nil {
		return
	}
	switch what {
	case "pending_count":
		if x.args(2, 2) {
			x.mbarrierPendingCount(x.d32(0, "u32"), x.a64(1, "b64").hi)
		}
	case "init":
		if x.args(2, 2) {
			x.mbarrierInit(x.mbarrierAt(0), x.a32(1, "u32"))
		}
	case "inval":
		if x.args(1, 1) && x.hasSYNCS() {
			x.syncs(isa.SubMbEnd, nil, x.mbarrierAt(0))
		}
	case "expect_tx", "complete_tx":
		if x.args(2, 2) {
			sub := map[string]isa.Sub{"expect_tx": isa.SubMbA0TR, "complete_tx": isa.SubMbA0TX}[what]
			x.syncs(sub, []word{rz}, x.mbarrierAt(0), x.inReg(x.a32(1, "u32")))
		}
	case "test_wait", "try_wait":
		most := 3
		if what == "try_wait" { // with the time that the thread may sleep
			most = 4
		}
		if x.args(3, most) {
			x.mbarrierTest(x.predDst(0), x.mbarrierAt(1), parity, what == "try_wait")
		}
	case "arrive", "arrive_drop":
		x.mbarrierArrive(what == "arrive_drop", noComplete, expect)
	default:
		x.fail("%s is not modelled", x.in.Name())
	}
}

func (x *expander) hasSYNCS() bool { return x.t().Has(isa.OpSYNCS) }

// mbarrierAt is the address operand i: of a generic address the low word is the offset in shared memory.
func (x *expander) mbarrierAt(i int) word {
	a, _ := x.memoryAt(i, "shared")
	return a
}

// syncs emits SYNCS on the barrier at a place.
func (x *expander) syncs(sub isa.Sub, d []word, at word, srcs ...word) {
	m := isa.Mod{Sub: sub, Size: 8, Type: isa.U64}
	operands := [][]word{{at}}
	for _, s := range srcs {
		operands = append(operands, []word{s})
	}
	var results [][]word
	if d != nil {
		results = [][]word{d}
	}
	x.emitWide(isa.OpSYNCS, m, results, operands)
}

func (x *expander) mbarrierArrive(drop, noComplete, expect bool) {
	least, most := 2, 3
	if expect || noComplete {
		least = 3
	}
	if !x.args(least, most) {
		return
	}
	var n word // arrivals or bytes, none: one arrival
	if len(x.in.Args) == 3 {
		n = x.inReg(x.a32(2, "u32"))
	}
	d, at := x.dst(0, "b64"), x.mbarrierAt(1)
	if !x.hasSYNCS() {
		x.mbarrierArriveAmpere(d, at, n, drop, noComplete)
		return
	}
	sub := isa.SubMbA1T0
	switch {
	case expect:
		sub = isa.SubMbA1TR
	case n.Kind != isa.KindNone:
		sub = isa.SubMbART0
	default:
		n = rz
	}
	if drop {
		sub += isa.SubMbOutA1T0 - isa.SubMbA1T0
	}
	if len(d) == 2 && d[0].Reg == isa.RZ && d[1].Reg == isa.RZ {
		d = []word{rz}
	}
	x.syncs(sub, d, at, n)
}

// mbarrierArriveAmpere is an arrival on compute capability 8.x. Where it may not end the phase it is an addition to the pending
// arrivals; all but one of several arrivals are, too.
func (x *expander) mbarrierArriveAmpere(d []word, at, n word, drop, noComplete bool) {
	upper := at
	upper.Imm += 4
	add := func(to, at, n word) {
		x.emitWide(isa.OpATOMS, isa.Mod{Sub: isa.SubAdd, Size: 4}, [][]word{{to}}, [][]word{{at}, {n}})
	}
	x.emit(isa.OpMEMBAR, isa.Mod{Flags: isa.ModCTA}, nil, nil)
	if drop {
		one := n
		if n.Kind == isa.KindNone {
			one = x.mov(auto, imm(1))
		}
		add(rz, at, one)
	}
	if noComplete {
		old := x.reg()
		add(old, upper, n)
		for _, w := range d {
			x.mov(w, old)
		}
		return
	}
	var rest word
	if n.Kind != isa.KindNone {
		rest = x.add(auto, n, imm(0xffffffff))
		add(rz, upper, rest)
	}
	old := d
	if n.Kind != isa.KindNone {
		old = x.regs(2)
	}
	if len(old) == 2 && old[0].Reg == isa.RZ && old[1].Reg == isa.RZ {
		old = []word{rz}
	}
	x.emitWide(isa.OpATOMS, isa.Mod{Sub: isa.SubMbArrive, Size: 8, Type: isa.U64}, [][]word{old}, [][]word{{at}})
	if n.Kind != isa.KindNone {
		x.mov(d[0], old[0])
		x.sub(d[1], old[1], rest)
	}
}

// mbarrierPendingCount is the number of pending arrivals that a barrier's upper word holds.
func (x *expander) mbarrierPendingCount(d, hi word) {
	if x.hasSYNCS() {
		x.sub(d, x.mov(auto, imm(1<<20)), x.bfe(auto, hi, 11, 20, false))
		return
	}
	x.sub(d, x.mov(auto, imm(mbarrierPhase)), x.and(auto, hi, imm(mbarrierPending)))
}

// mbarrierInit stores the start value.
func (x *expander) mbarrierInit(at, count word) {
	v := []word{rz, rz}
	c, known := constant(count)
	switch {
	case known:
		lo, hi := isa.MbarrierInit(x.sm(), c)
		v[0], v[1] = x.mov(auto, imm(lo)), x.mov(auto, imm(hi))
	case x.hasSYNCS():
		left := x.sub(auto, x.mov(auto, imm(1<<20)), count)
		v[0], v[1] = x.shl(auto, left, imm(1)), x.shl(auto, left, imm(11))
	default:
		v[0], v[1] = x.sub(auto, x.mov(auto, imm(1<<30)), count), x.sub(auto, x.mov(auto, imm(1<<31)), count)
	}
	if x.hasSYNCS() {
		x.emitWide(isa.OpSYNCS, isa.Mod{Sub: isa.SubExch, Size: 8, Type: isa.U64}, [][]word{{rz}}, [][]word{{at}, v})
		return
	}
	x.emitWide(isa.OpSTS, isa.Mod{Size: 8}, nil, [][]word{{at}, v})
}

// mbarrierTest writes p = the phase of operand 2 (a content of the barrier or a parity) has ended.
func (x *expander) mbarrierTest(p, at word, parity, try bool) {
	var then word
	if parity {
		then = x.shl(auto, x.a32(2, "u32"), imm(31))
	} else {
		then = x.a64(2, "b64").hi
	}
	if x.hasSYNCS() {
		sub := isa.SubMbPhase
		if try {
			sub = isa.SubMbTryWait
		}
		x.syncs(sub, []word{p}, at, x.inReg(then))
		return
	}
	at.Imm += 4
	now := x.reg()
	x.emitWide(isa.OpLDS, isa.Mod{Size: 4, Flags: isa.ModStrong}, [][]word{{now}}, [][]word{{at}})
	x.cmp(p, isa.CmpNE, isa.U32, x.lop3(auto, now, imm(mbarrierPhase), then, 0x48), rz, isa.BoolAnd, pt)
}

// asyncArrive is cp.async.mbarrier.arrive: the barrier is told that the copies so far are there. Without .noinc it first expects
// one arrival more, from compute capability 9.0 on one byte.
func (x *expander) asyncArrive() {
	x.has("arrive")
	noInc := x.has("noinc")
	x.takeSpace()
	x.typ("b64")
	if x.err != nil || !x.args(1, 1) {
		return
	}
	if x.sm() < 80 {
		x.fail("%s has no mbarrier; barriers in shared memory came with compute capability 8.0", x.t().Name)
		return
	}
	at, sub := x.mbarrierAt(0), isa.SubMbCopies
	switch {
	case x.hasSYNCS() && noInc:
		sub = isa.SubMbCopiesArv
	case x.hasSYNCS():
		sub = isa.SubMbCopiesTx
		x.syncs(isa.SubMbA0T1, []word{rz}, at, rz)
	case !noInc:
		upper := at
		upper.Imm += 4
		x.emitWide(isa.OpATOMS, isa.Mod{Sub: isa.SubAdd, Size: 4}, [][]word{{rz}}, [][]word{{upper}, {x.mov(auto, imm(0xffffffff))}})
	}
	x.emitWide(isa.OpARRIVES, isa.Mod{Sub: sub, Size: 8}, nil, [][]word{{at}})
}
