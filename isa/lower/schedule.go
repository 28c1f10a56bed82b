package lower

import (
	"github.com/sarchlab/smsim/isa"
)

// Latencies that list scheduling assumes where the target gives none, and the most it looks ahead for a load:
// beyond that, other warps hide the rest.
const (
	defaultALU    = 5
	defaultMemory = 30
	maxLookahead  = 500
	globalLoad    = 300 // a load from global memory that misses L1
	memoryReads   = 12  // until a memory instruction has read its registers
)

// schedLatency is the distance from the instruction to a user of its result.
func (f *fn) schedLatency(in *isa.Inst) int {
	cl := in.Class()
	l := f.t.Latency[cl]
	if l == 0 {
		l = defaultALU
		if cl.IsMemory() || f.t.Variable[cl] {
			l = defaultMemory
		}
	}
	if cl == isa.ClassLDG {
		l = max(l, globalLoad)
	}
	return min(l, maxLookahead)
}

// fewestTarget is the least register target, for the small register files of the first generations.
const fewestTarget = 16

// pressureTarget is the number of general registers that blocks are ordered for: what lets the target's SM hold as many
// warps as it can of blocks of the size that the kernel declares, or of any size.
func (f *fn) pressureTarget(limit int) int {
	file, slots, _ := registerFile(f.t.SM)
	resident := slots
	if threads := f.blockThreads(); threads > 0 {
		resident = max(1, slots/threads) * threads
	}
	return min(max(fewestTarget, file/resident/8*8)-f.systemRegs(), limit)
}

// freeRegs is the number of registers that cost no occupancy on the target.
func (f *fn) freeRegs() int { return f.pressureTarget(f.registerLimit(Options{})) }

// schedule orders the instructions of each block for a number of general registers, see scheduler.list.
func (f *fn) schedule(target int, inOrder bool) {
	l := f.live()
	s := &scheduler{f: f, n: l.n, target: target - registerMargin, inOrder: inOrder}
	s.isLive = newBitset(l.n.total)
	s.lastDef = make([]int32, l.n.total+2)
	s.readers = make([][]int32, l.n.total+2)
	for i := range s.lastDef {
		s.lastDef[i] = -1
	}
	for _, b := range f.blocks {
		if head := headOf(b); len(b.insts)-head > 1 {
			s.reorder(b, head, func() []int32 { return s.list(l.in[b.id], l.out[b.id]) })
		}
	}
}

// registerMargin is how many registers fewer than it aims at the scheduler uses: what operands kept apart cost. Fitted on the order of ptxas
// 13.0's own code (2 or 3) and the cycles of kernels from PTX (2 to 4 tried).
const registerMargin = 2

// arrangeCode schedules for the register count that costs no occupancy and allocates; where that is not enough, it tries with fewer in
// mind, then with the program's own order instead of latencies where registers are short (so does ptxas: the rounds of dot8_dp4a and bigmod follow
// one another only where their kernels fit 32 registers), and then lets every block use as many as the kernel has turned out to need. It
// spills only in the program's own order.
func (f *fn) arrangeCode(limit int) (int, error) {
	before := f.copyInsts()
	try := func(target, most int, inOrder bool) (int, bool) {
		f.schedule(target, inOrder)
		regs, ok := f.allocateWithoutSpill(limit)
		if ok && regs <= most {
			return regs, true
		}
		f.setInsts(before)
		return regs, false
	}
	target := f.pressureTarget(limit)
	best, least := 0, 0
	for i, t := range scheduleTargets(target) {
		most := target
		if i == 0 {
			most += firstOver
		}
		regs, ok := try(t, most, false)
		if ok {
			return regs, nil
		}
		if regs > 0 && (best == 0 || regs < least) {
			best, least = t, regs
		}
	}
	for _, t := range scheduleTargets(target) {
		if least > target+withinReach {
			break
		}
		if regs, ok := try(t, target, true); ok {
			return regs, nil
		}
	}
	if best == 0 {
		return f.allocate(limit)
	}
	for _, extra := range [...]int{registerMargin, registerMargin / 2, 0} {
		if regs, ok := try(least+extra, least+1, false); ok {
			return regs, nil
		}
	}
	if regs, ok := try(best, least, false); ok {
		return regs, nil
	}
	return f.allocate(limit)
}

// firstOver is how many registers over the target the first order may turn out to need. Nor does ptxas's code stay below: ten of 337 functions for
// sm_80 have 33 or 34 registers, none 35 or 36. Fitted: 0 to 3 give mean errors of cycles of 6.74, 6.67, 6.74 and 6.69 %.
const firstOver = 1

// withinReach is how many registers too many leave hope that another order does with the target; it saves time only.
const withinReach = 12

// copyInsts is a copy of the instructions of all blocks.
func (f *fn) copyInsts() [][]isa.Inst {
	out := make([][]isa.Inst, len(f.blocks))
	for i, b := range f.blocks {
		out[i] = append([]isa.Inst(nil), b.insts...)
	}
	return out
}

// setInsts makes a copy of such a copy the code.
func (f *fn) setInsts(insts [][]isa.Inst) {
	for i, b := range f.blocks {
		b.insts = append(b.insts[:0], insts[i]...)
	}
}

// scheduleTargets are the register counts that arrangeCode schedules for, in this order: the scheduler's estimate leaves out
// what tuples and other blocks need, so that more registers than aimed at can come out.
func scheduleTargets(target int) []int {
	return []int{target, target - 1, target - 2, target - 3, target - 4, target - 6, target - 8, target - target/3, target / 2}
}

// node is an instruction in the dependence graph of a block.
type node struct {
	succs  []edge
	preds  int32
	height int32
	early  int32 // first cycle at which its sources are ready
	reads  []int32
	writes []int32
}

type edge struct {
	to  int32
	lat int32
}

type scheduler struct {
	f       *fn
	n       numbering
	target  int
	inOrder bool // where registers are short the program's order counts and not latencies
	isLive  bitset
	lastDef []int32
	readers [][]int32
	nodes   []node
	insts   []isa.Inst
	old     []int32 // readers of the values that the current instruction overwrites

	physical bool    // registers are allocated: numbers are the controller's
	regs     []int16 // scratch
}

// memSpaces is the set of spaces an instruction accesses, as bits: global, shared, local.
func memSpaces(in *isa.Inst) int {
	switch in.Op {
	case isa.OpLDG, isa.OpSTG, isa.OpATOMG, isa.OpLDU:
		return 1
	case isa.OpLDS, isa.OpSTS, isa.OpATOMS, isa.OpSYNCS, isa.OpARRIVES:
		return 2
	case isa.OpLDL, isa.OpSTL:
		return 4
	case isa.OpLD, isa.OpST, isa.OpATOM, isa.OpRED, isa.OpLDGSTS, isa.OpTEX, isa.OpTLD, isa.OpTLD4, isa.OpTXD, isa.OpTXQ, isa.OpSULD, isa.OpSUST:
		return 7
	}
	return 0
}

// fence says that memory accesses and control keep their order around the instruction.
func fence(in *isa.Inst) bool {
	if in.Class().IsControl() {
		switch in.Op {
		case isa.OpBSSY, isa.OpBMOV, isa.OpSSY, isa.OpPBK, isa.OpPCNT:
			return false
		}
		return true
	}
	switch in.Class() {
	case isa.ClassMEMBAR, isa.ClassDEPBAR:
		return true
	}
	return in.OrdersMemory() || in.Op == isa.OpB2R || readsClock(in)
}

// meets says that the instruction is a barrier of a block's or a warp's threads: accesses to memory that others write stay on
// their side of it; loads of constant data and arithmetic pass it, and exchanges between lanes pass a block's barrier.
func meets(in *isa.Inst) bool { return in.Op == isa.OpBAR || in.Op == isa.OpWARPSYNC }

// stopsAll says that nothing may move over the instruction.
func stopsAll(in *isa.Inst) bool {
	switch in.Op {
	case isa.OpEXIT, isa.OpKILL, isa.OpCALL, isa.OpRET, isa.OpBSYNC, isa.OpSYNC, isa.OpBRK, isa.OpCONT, isa.OpBREAK, isa.OpBPT:
		return true
	}
	return in.Mod.Has(isa.ModS) || readsClock(in)
}

// readsClock says that the instruction reads a clock: what is measured stays between its two readings.
func readsClock(in *isa.Inst) bool {
	return in.Op == isa.OpS2R && (in.Src[0].Reg == isa.SRClockLo || in.Src[0].Reg == isa.SRClockHi) || in.Op == isa.OpCS2R && in.Src[0].Reg != isa.SRZ
}

func (s *scheduler) addEdge(from, to int32, lat int) {
	if from == to || from < 0 {
		return
	}
	s.nodes[from].succs = append(s.nodes[from].succs, edge{to, int32(lat)})
	s.nodes[to].preds++
}

// reorder puts the block's instructions from head on into the order that the list scheduler gives.
func (s *scheduler) reorder(b *block, head int, list func() []int32) {
	s.insts = b.insts[head:]
	s.nodes = make([]node, len(s.insts))
	s.graph(s.insts)
	moved := make([]isa.Inst, len(s.insts))
	for k, i := range list() {
		moved[k] = s.insts[i]
	}
	copy(s.insts, moved)
}

// graph builds the dependences of a block.
func (s *scheduler) graph(insts []isa.Inst) {
	f, n := s.f, s.n
	ccReg, stack := int32(n.total), int32(n.total+1)
	var touched []int32
	lastFence, lastStop, lastClear := int32(-1), int32(-1), int32(-1)
	lastMeeting, lastWarpSync := int32(-1), int32(-1)
	var loads, stores, constants, exchanges []int32 // since the last fence or meeting that orders them
	for i := range insts {
		in := &insts[i]
		nd := &s.nodes[i]
		s.access(in, nd)
		reads, writes := nd.reads, nd.writes
		if in.Mod.Has(isa.ModX) && f.t.SM < 70 {
			reads = append(reads[:len(reads):len(reads)], ccReg)
		}
		if in.Mod.Has(isa.ModCC) {
			writes = append(writes[:len(writes):len(writes)], ccReg)
		}
		for k := range in.Src[:in.NSrc] {
			if o := &in.Src[k]; (o.Kind == isa.KindMem || o.Kind == isa.KindReg) && o.Reg == stackReg {
				reads = append(reads[:len(reads):len(reads)], stack)
			}
		}
		for k := range in.Dst[:in.NDst] {
			if o := &in.Dst[k]; o.Kind == isa.KindReg && o.Reg == stackReg {
				writes = append(writes[:len(writes):len(writes)], stack)
			}
		}
		i32 := int32(i)
		for _, r := range reads {
			if d := s.lastDef[r]; d >= 0 {
				s.addEdge(d, i32, s.edgeLatency(&insts[d], in, r))
			}
			s.readers[r] = append(s.readers[r], i32)
			touched = append(touched, r)
		}
		s.old = s.old[:0]
		for _, r := range writes {
			for _, p := range s.readers[r] {
				lag := 0
				if cl := insts[p].Class(); cl.IsMemory() {
					lag = memoryReads // later, so that the write need not wait for the operands to be read
				}
				s.addEdge(p, i32, lag)
			}
			s.old = append(s.old, s.readers[r]...)
			// A variable that changes after it was copied from a value: the copy vanishes if nobody reads the value any more.
			if d := s.lastDef[r]; d >= 0 && insts[d].Op == isa.OpMOV && len(s.nodes[d].reads) == 1 {
				for _, p := range s.readers[s.nodes[d].reads[0]] {
					s.addEdge(p, i32, 0)
				}
			}
			s.addEdge(s.lastDef[r], i32, 1)
			s.lastDef[r] = i32
			s.readers[r] = s.readers[r][:0]
			touched = append(touched, r)
		}
		// A copy into a variable vanishes in allocation if the variable's old value is dead when the new one is
		// computed: keep its readers before that.
		if in.Op == isa.OpMOV && len(nd.reads) == 1 && len(nd.writes) == 1 {
			if def := s.lastDef[nd.reads[0]]; def >= 0 {
				for _, p := range s.old {
					if p < def {
						s.addEdge(p, def, 0)
					}
				}
			}
		}
		if in.Op == isa.OpBSSY { // after the instruction that clears its barrier register
			s.addEdge(lastClear, i32, 0)
		}
		if in.Op == isa.OpBMOV {
			lastClear = i32
		}
		last := i == len(insts)-1 && in.Class().IsControl()
		s.addEdge(lastStop, i32, 0)
		if stopsAll(in) || last {
			for p := max(lastStop, 0); p < i32; p++ {
				s.addEdge(p, i32, 0)
			}
			lastStop = i32
		}
		sp := memSpaces(in)
		isFence := fence(in)
		wide := isWarpWide(in)
		if sp == 0 && !isFence && !wide {
			continue
		}
		s.addEdge(lastFence, i32, 0)
		switch {
		case isFence:
			after := func(list *[]int32) {
				for _, p := range *list {
					s.addEdge(p, i32, 0)
				}
				*list = (*list)[:0]
			}
			after(&loads)
			after(&stores)
			s.addEdge(lastMeeting, i32, 0)
			if in.Op != isa.OpBAR {
				after(&exchanges)
			}
			if !meets(in) {
				after(&constants)
				lastFence, lastMeeting, lastWarpSync = i32, -1, -1
				break
			}
			lastMeeting = i32
			if in.Op == isa.OpWARPSYNC {
				lastWarpSync = i32
			}
		case wide:
			s.addEdge(lastWarpSync, i32, 0)
			exchanges = append(exchanges, i32)
		case writesMemory(in):
			s.addEdge(lastMeeting, i32, 0)
			for _, p := range loads {
				if s.mayAlias(&insts[p], in, p, i32) {
					s.addEdge(p, i32, 0)
				}
			}
			for _, p := range stores {
				if s.mayAlias(&insts[p], in, p, i32) {
					s.addEdge(p, i32, 1)
				}
			}
			stores = append(stores, i32)
		default:
			if in.Op == isa.OpLDG && in.Mod.Has(isa.ModConstant) {
				constants = append(constants, i32)
				break
			}
			s.addEdge(lastMeeting, i32, 0)
			for _, p := range stores {
				if s.mayAlias(&insts[p], in, p, i32) {
					s.addEdge(p, i32, 1)
				}
			}
			loads = append(loads, i32)
		}
	}
	for _, r := range touched {
		s.lastDef[r] = -1
		s.readers[r] = s.readers[r][:0]
	}
}

// edgeLatency is the distance from a definition of register r to an instruction that reads it.
func (s *scheduler) edgeLatency(def, use *isa.Inst, r int32) int {
	l := s.f.schedLatency(def)
	if s.physical {
		l = min(l, fillLatency)
	}
	if int(r) >= s.n.preds && int(r) < s.n.uregs {
		if use.Class().IsControl() {
			return max(l, s.f.t.BranchPred)
		}
		if use.Guard.Kind == isa.KindPred && s.number(isa.KindPred, use.Guard.Reg) == int(r) {
			return max(l, s.f.t.GuardLatency)
		}
		return max(l, s.f.t.PredLatency)
	}
	if int(r) >= s.n.upreds && use.Class().IsControl() {
		return uniformBranchDelay
	}
	if int(r) >= s.n.uregs && !uniformOp(use) {
		return max(l, s.f.t.UniformLatency)
	}
	return l
}

// mayAlias says whether two memory instructions can access a common byte. Accesses of one base register with
// different offsets do not, unless the base changes between them.
func (s *scheduler) mayAlias(a, b *isa.Inst, i, j int32) bool {
	if memSpaces(a)&memSpaces(b) == 0 {
		return false
	}
	x, y := memOperand(a), memOperand(b)
	if x == nil || y == nil || a.Mod.Has(isa.ModStrong) || b.Mod.Has(isa.ModStrong) {
		return true
	}
	if x.Reg != y.Reg || x.Flags != y.Flags || x.UReg != y.UReg {
		return true
	}
	changed := false
	s.baseRegs(x, func(id int) { changed = changed || s.lastDef[id] > i && s.lastDef[id] < j })
	if changed {
		return true
	}
	return x.Imm < y.Imm+int64(b.Mod.Size) && y.Imm < x.Imm+int64(a.Mod.Size)
}

func memOperand(in *isa.Inst) *isa.Operand {
	for k := range in.Src[:in.NSrc] {
		if in.Src[k].Kind == isa.KindMem {
			return &in.Src[k]
		}
	}
	return nil
}
