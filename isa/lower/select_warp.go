package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// ruleShfl is shfl and shfl.sync, with an optional predicate result.
func ruleShfl(x *expander) {
	sync := x.has("sync")
	mode := x.take("up", "down", "bfly", "idx")
	t := x.typ("b32 u32 s32 f32")
	n := 4
	if sync {
		n = 5
	}
	if x.err != nil || !x.args(n, n) {
		return
	}
	sub, ok := map[string]isa.Sub{"up": isa.SubUp, "down": isa.SubDown, "bfly": isa.SubBfly, "idx": isa.SubIdx}[mode]
	if !ok {
		x.fail("shfl lacks .up, .down, .bfly or .idx")
		return
	}
	if !x.t().Has(isa.OpSHFL) {
		x.fail("%s has no shuffle between lanes (SHFL), which cannot be emulated without shared memory", x.t().Name)
		return
	}
	x.syncMask(sync, 4)
	d := x.d32(0, t.name)
	x.emit(isa.OpSHFL, isa.Mod{Sub: sub}, []word{x.predDst2(0), d}, []word{x.a32(1, t.name), x.a32(2, "b32"), x.a32(3, "b32")})
}

// syncMask waits for the lanes of a member mask from Volta on. Where the mask is constant and control flow has
// converged, dropSyncs removes the instruction again.
func (x *expander) syncMask(sync bool, i int) {
	if !sync || x.sm() < 70 {
		return
	}
	m := x.a32(i, "b32")
	x.emit(isa.OpWARPSYNC, isa.Mod{}, nil, []word{m})
}

// ruleVote is vote and vote.sync.
func ruleVote(x *expander) {
	sync := x.has("sync")
	mode := x.take("all", "any", "uni", "ballot")
	t := x.typ("pred b32")
	n := 2
	if sync {
		n = 3
	}
	if x.err != nil || !x.args(n, n) {
		return
	}
	if (mode == "ballot") != (t.name == "b32") {
		x.fail("vote.ballot has type .b32, the other votes .pred")
		return
	}
	if !x.t().Has(isa.OpVOTE) {
		x.fail("%s has no vote instruction", x.t().Name)
		return
	}
	x.syncMask(sync, 2)
	p := x.predSrc(1)
	if mode == "ballot" {
		x.emit(isa.OpVOTE, isa.Mod{Sub: isa.SubAny}, []word{x.d32(0, "b32"), pt}, []word{p})
		return
	}
	sub := map[string]isa.Sub{"all": isa.SubAll, "any": isa.SubAny, "uni": isa.SubEq}[mode]
	x.emit(isa.OpVOTE, isa.Mod{Sub: sub}, []word{rz, x.predDst(0)}, []word{p})
}

// ruleActivemask is activemask.
func ruleActivemask(x *expander) {
	x.typ("b32")
	switch {
	case x.err != nil || !x.args(1, 1):
	case !x.t().Has(isa.OpVOTE):
		x.fail("%s has no vote instruction to find the active lanes with; it came with sm_12", x.t().Name)
	default:
		x.ballotAll(x.d32(0, "b32"))
	}
}

// ruleMatch is match.any and match.all; before Volta the lanes are compared one value at a time.
func ruleMatch(x *expander) {
	mode := x.take("any", "all")
	if mode == "" {
		x.fail("match lacks .any or .all")
		return
	}
	if !x.has("sync") {
		x.fail("match lacks .sync")
		return
	}
	t := x.typ("b32 b64")
	if x.err != nil || !x.args(3, 3) {
		return
	}
	if mode == "any" && x.in.Args[0].Kind == ptx.ArgPair {
		x.fail("match.any has no predicate result")
		return
	}
	if !x.t().Has(isa.OpMATCH) {
		x.fail("%s has no match instruction; it came with sm_70", x.t().Name)
		return
	}
	x.syncMask(true, 2)
	m := isa.Mod{Sub: isa.SubAny}
	if mode == "all" {
		m.Sub = isa.SubAll
	}
	if t.wide() {
		m.Type = isa.U64
	}
	x.emitWide(isa.OpMATCH, m, [][]word{{x.predDst2(0)}, {x.d32(0, "b32")}}, [][]word{x.src(1, t.name)})
}

// ruleRedux is redux.sync: a reduction over the lanes of the mask.
func ruleRedux(x *expander) {
	x.has("sync")
	op := x.take("add", "min", "max", "and", "or", "xor")
	t := x.typ("u32 s32 b32")
	if x.err != nil || !x.args(3, 3) {
		return
	}
	if op == "" {
		x.fail("redux lacks an operation such as .add")
		return
	}
	x.syncMask(true, 2)
	d, a := x.d32(0, t.name), x.a32(1, t.name)
	if x.t().Has(isa.OpREDUX) {
		mask := x.a32(2, "b32")
		if x.literal(2) {
			x.reduce(d, a, atomOps[op], t)
			return
		}
		// Lanes with different masks reduce apart, one group after the other; usually all lanes have one mask. The barrier of the branch gathers them.
		x.guarded(func() {
			mask = x.mov(auto, mask)
			here := x.reg()
			x.ballotAll(here)
			apart, done := x.newBlock(), x.newBlock()
			x.branch(x.test(isa.CmpNE, isa.U32, here, mask), apart)
			x.reduce(d, a, atomOps[op], t)
			x.jump(done)
			x.place(apart)
			x.emit(isa.OpWARPSYNC, isa.Mod{Sub: isa.SubExclusive}, nil, []word{mask})
			x.reduce(d, a, atomOps[op], t)
			x.place(done)
		})
		return
	}
	if !x.t().Has(isa.OpSHFL) {
		x.fail("%s has neither redux nor shuffles to emulate it", x.t().Name)
		return
	}
	x.reduceByLane(d, a, atomOps[op], t, x.a32(2, "b32"))
}

// literal says that argument i is a literal, or a register that holds one throughout.
func (x *expander) literal(i int) bool {
	a := &x.in.Args[i]
	_, known := x.scope.literals[a.Name]
	return a.Kind == ptx.ArgInt || a.Kind == ptx.ArgName && known
}

// reduce is the reduction over all active lanes.
func (x *expander) reduce(d, a word, op isa.Sub, t vtype) {
	u := isa.UR(x.f.newUReg())
	x.emit(isa.OpREDUX, isa.Mod{Sub: op, Type: signedType(t.signed())}, []word{u}, []word{a})
	x.mov(d, u)
}

// reduceByLane visits the lanes of the mask one after the other and broadcasts each one's value.
func (x *expander) reduceByLane(d, a word, op isa.Sub, t vtype, mask word) {
	x.guarded(func() {
		a = x.mov(auto, a)
		left, acc := x.mov(auto, mask), x.reg()
		lane := x.flo(auto, left, false, false)
		x.emit(isa.OpSHFL, isa.Mod{Sub: isa.SubIdx}, []word{pt, acc}, []word{a, lane, imm(0x1f)})
		again, done := x.newBlock(), x.newBlock()
		x.place(again)
		low := x.shl(auto, x.mov(auto, imm(1)), x.flo(auto, left, false, false))
		x.xor(left, left, low)
		x.branch(x.test(isa.CmpEQ, isa.U32, left, rz), done)
		v := x.reg()
		x.emit(isa.OpSHFL, isa.Mod{Sub: isa.SubIdx}, []word{pt, v}, []word{a, x.flo(auto, left, false, false), imm(0x1f)})
		x.mov(acc, x.apply([]word{acc}, []word{v}, op, t)[0])
		x.jump(again)
		x.place(done)
		x.mov(d, acc)
	})
}

// ruleElect is elect.sync: the lowest lane of the mask is told that it is the one.
func ruleElect(x *expander) {
	x.has("sync")
	if !x.args(2, 2) {
		return
	}
	mask := x.a32(1, "b32")
	low := x.and(auto, mask, x.negate(auto, mask))
	self := x.reg()
	x.emit(isa.OpS2R, isa.Mod{}, []word{self}, []word{{Kind: isa.KindSpecial, Reg: isa.SREqMask}})
	if a := x.in.Args[0]; a.Kind == ptx.ArgPair && a.Elems[0].Kind != ptx.ArgSink {
		x.flo(x.d32(0, "b32"), low, false, false)
	}
	x.cmp(x.predDst2(0), isa.CmpEQ, isa.U32, low, self, isa.BoolAnd, pt)
}
