package lower

import (
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// ruleBar is bar and barrier: sync, arrive and red.
func ruleBar(x *expander) {
	if len(x.mods) > 0 && x.mods[0] == "cta" { // the only place
		x.mods = x.mods[1:]
	}
	x.drop("aligned")
	what := x.take("sync", "arrive", "red", "warp")
	if what == "warp" {
		x.has("sync")
		if x.args(1, 1) {
			x.warpSync(0)
		}
		return
	}
	if x.has("cluster") {
		x.fail("%s is not modelled: clusters", x.in.Name())
		return
	}
	switch what {
	case "red":
		x.barRed()
	case "arrive":
		if x.args(2, 2) {
			id := x.a32(0, "u32")
			x.noteBarrier(id)
			if a := &x.in.Args[1]; a.Kind == ptx.ArgInt && a.Int == 0 {
				x.fail("%s expects no thread: a multiple of 32", x.in.Name())
			}
			x.emit(isa.OpBAR, isa.Mod{Sub: isa.SubArrive}, nil, []word{id, x.barrierCount(1)})
		}
	case "sync":
		if !x.args(1, 2) {
			return
		}
		id := x.a32(0, "u32")
		x.noteBarrier(id)
		m := isa.Mod{Sub: isa.SubSync}
		if x.sm() >= 80 {
			m.Flags = isa.ModDeferBlk
		}
		srcs := []word{id}
		if len(x.in.Args) == 2 {
			srcs = append(srcs, x.barrierCount(1))
		}
		x.emit(isa.OpBAR, m, nil, srcs)
	default:
		x.fail("%s lacks .sync, .arrive or .red", x.in.Op)
	}
}

// barrierCount is the operand i with the number of threads of a barrier, which as a literal is one of whole warps.
func (x *expander) barrierCount(i int) word {
	n := x.a32(i, "u32")
	if v, ok := constant(n); ok && v%32 != 0 {
		x.fail("%s expects %d threads: a multiple of 32", x.in.Name(), int32(v))
	}
	return n
}

// noteBarrier counts the named barriers of the kernel.
func (x *expander) noteBarrier(id word) {
	if v, ok := constant(id); ok {
		if v > 15 {
			x.fail("barrier %d does not exist", v).Advise("a block has barriers 0 to 15")
			return
		}
		x.f.barriers = max(x.f.barriers, int(v)+1)
		return
	}
	x.f.barriers = 16
}

// barRed is bar.red: the barrier also counts or combines a predicate of all threads.
func (x *expander) barRed() {
	if x.sm() < 20 {
		x.fail("%s has no barrier reductions; they came with sm_20", x.t().Name)
		return
	}
	op := x.take("popc", "and", "or")
	t := x.typ("u32 pred")
	if x.err != nil || !x.args(3, 4) {
		return
	}
	sub, ok := map[string]isa.Sub{"popc": isa.SubRedPopc, "and": isa.SubRedAnd, "or": isa.SubRedOr}[op]
	if !ok || (op == "popc") != (t.name == "u32") {
		x.fail("bar.red is .popc.u32, .and.pred or .or.pred")
		return
	}
	id := x.a32(1, "u32")
	x.noteBarrier(id)
	last := len(x.in.Args) - 1
	srcs := []word{id}
	if last == 3 {
		srcs = append(srcs, x.barrierCount(2))
	}
	srcs = append(srcs, x.predSrc(last))
	x.emit(isa.OpBAR, isa.Mod{Sub: sub}, nil, srcs)
	if op == "popc" {
		x.emit(isa.OpB2R, isa.Mod{}, []word{x.d32(0, "u32"), pt}, nil)
		return
	}
	x.emit(isa.OpB2R, isa.Mod{}, []word{rz, x.predDst(0)}, nil)
}

// warpSync is bar.warp.sync.
func (x *expander) warpSync(i int) {
	if x.sm() >= 70 {
		x.emit(isa.OpWARPSYNC, isa.Mod{}, nil, []word{x.a32(i, "b32")})
	}
}

// ruleNanosleep is nanosleep.
func ruleNanosleep(x *expander) {
	x.typ("u32")
	if !x.args(1, 1) {
		return
	}
	ns := x.a32(0, "u32")
	if x.t().Has(isa.OpNANOSLEEP) {
		x.emit(isa.OpNANOSLEEP, isa.Mod{}, nil, []word{ns})
	}
}

// ruleTrap is trap: an error of the run.
func ruleTrap(x *expander) {
	if x.args(0, 0) {
		x.trap()
	}
}

func (b *builder) trap() { b.emit(isa.OpBPT, isa.Mod{Sub: isa.SubTrap}, nil, []word{imm(1)}) }

// ruleCp is cp.async: a load and a store, with the machine's own instruction from sm_80 on.
func ruleCp(x *expander) {
	bulk := x.in.Has("bulk") || x.in.Has("tensor") || x.in.Has("reduce")
	switch {
	case bulk:
		x.fail("%s is not modelled: TMA (bulk and tensor copies)", x.in.Name())
		return
	case !x.has("async"):
		x.fail("%s is not modelled", x.in.Name())
		return
	case x.has("mbarrier"):
		x.asyncArrive()
		return
	case x.has("commit_group"):
		if x.t().Has(isa.OpLDGDEPBAR) {
			x.emit(isa.OpLDGDEPBAR, isa.Mod{}, nil, nil)
		}
		return
	case x.has("wait_group"), x.has("wait_all"):
		if n := map[bool]int{true: 1}[x.in.Has("wait_group")]; !x.args(n, n) {
			return
		}
		if x.t().Has(isa.OpLDGDEPBAR) {
			n := imm(0)
			if len(x.in.Args) == 1 {
				n = x.a32(0, "u32")
			} else {
				x.emit(isa.OpLDGDEPBAR, isa.Mod{}, nil, nil)
			}
			x.emit(isa.OpDEPBAR, isa.Mod{Cmp: isa.CmpLE}, nil, []word{{Kind: isa.KindBarrier, Reg: copyBarrier}, n})
		}
		return
	}
	x.drop("ca", "cg", "shared", "global", "shared::cta")
	x.dropPrefix("L2::")
	if !x.args(3, 5) {
		return
	}
	args := x.in.Args
	if x.in.Has("L2::cache_hint") && len(args) > 3 { // the last is the policy
		args = args[:len(args)-1]
	}
	size := args[2]
	if size.Kind != ptx.ArgInt || size.Int != 4 && size.Int != 8 && size.Int != 16 {
		x.fail("cp.async copies 4, 8 or 16 bytes")
		return
	}
	if size.Int != 16 && x.in.Has("cg") {
		x.fail("cp.async.cg copies 16 bytes; with .ca it copies 4, 8 or 16")
		return
	}
	to, _ := x.memoryAt(0, "shared")
	from, _ := x.memoryAt(1, "global")
	if x.err != nil {
		return
	}
	n := int(size.Int)
	// A fourth operand is the number of bytes that are read (the rest is zero) or a predicate that ignores the source.
	partial := len(args) >= 4 && !(len(args) == 4 && args[3].Kind == ptx.ArgInt && args[3].Int == size.Int)
	if partial && args[3].Kind == ptx.ArgInt && (args[3].Int < 0 || args[3].Int > size.Int) {
		x.fail("%s copies %d bytes and cannot read %d", x.in.Name(), size.Int, args[3].Int)
		return
	}
	m := isa.Mod{Size: uint8(n), Flags: isa.ModE64}
	if !partial && x.t().Has(isa.OpLDGSTS) {
		if x.in.Has("cg") {
			m.Flags |= isa.ModStrong
		}
		x.emitWide(isa.OpLDGSTS, m, nil, [][]word{{to}, {from}})
		return
	}
	v := x.regs(n / 4)
	if partial {
		for i := range v {
			v[i] = x.mov(auto, rz)
		}
		x.partialCopy(v, from)
	} else {
		x.emitWide(x.loadOp("global"), m, [][]word{v}, [][]word{{from}})
	}
	x.emitWide(x.storeOp("shared"), isa.Mod{Size: uint8(n)}, nil, [][]word{{to}, v})
}

// partialCopy loads the words of a cp.async that lie within its source size, or all unless its predicate ignores the source.
func (x *expander) partialCopy(v []word, from word) {
	load := func(p word, v []word, at word) {
		if x.guard.Kind != isa.KindNone {
			p = x.boolOp(auto, isa.BoolAnd, p, x.guard)
		}
		x.under(p, func() {
			x.emitWide(x.loadOp("global"), isa.Mod{Size: uint8(4 * len(v)), Flags: isa.ModE64}, [][]word{v}, [][]word{{at}})
		})
	}
	if y := x.scope.lookup(x.f, x.arg(3).Name); y != nil && y.pred {
		load(notP(x.predSrc(3)), v, from)
		return
	}
	n := x.a32(3, "u32")
	for i := range v {
		at := from
		at.Imm += int64(4 * i)
		load(x.test(isa.CmpGT, isa.U32, n, imm(uint32(4*i))), v[i:i+1], at)
	}
}

// notModelled are families of instructions with the reason in the error's words.
var notModelled = []struct{ prefix, why string }{
	{"wmma", "tensor cores"}, {"mma", "tensor cores"}, {"wgmma", "tensor cores"}, {"tcgen05", "tensor cores"}, {"ldmatrix", "tensor cores"},
	{"stmatrix", "tensor cores"}, {"movmatrix", "tensor cores"}, {"tensormap", "TMA"}, {"multimem", "multicast memory"},
	{"clusterlaunchcontrol", "clusters"}, {"getctarank", "clusters"}, {"mapa", "clusters"},
	{"sured", "surfaces"}, {"suq", "surfaces"},
	{"istypep", "textures"}, {"setmaxnreg", "register reallocation"}, {"alloca", "stack allocation"}, {"stacksave", "stack allocation"},
	{"stackrestore", "stack allocation"}, {"st.async", "clusters"}, {"red.async", "clusters"},
}

// ruleNotModelled rejects an instruction with the reason.
func ruleNotModelled(x *expander) {
	for _, n := range notModelled {
		if strings.HasPrefix(x.in.Op, n.prefix) {
			x.fail("%s is not modelled: %s", x.in.Name(), n.why)
			return
		}
	}
	x.fail("%s is not modelled", x.in.Name())
}
