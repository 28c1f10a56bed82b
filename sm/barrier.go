package sm

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
)

// barrierUnit is the SM's unit for block barriers: it takes one arrival every few cycles, from whichever block.
type barrierUnit struct {
	sim.Unit
	free float64
}

// arrive notes that a warp issued a BAR, which its unit takes at start, behind other instructions of the address unit. The last arrival lets all waiting warps of the block go on at once, after the
// unit has taken all arrivals (measured: 11 + 2.05 cycles a warp from 1 to 32 warps on the H200).
func (s *SM) arrive(p *smsp, i int, w *warp, e *isa.Effect, t, start uint64) {
	cf := &s.mach.arch.Control
	u := &s.barrier
	u.free = max(u.free, float64(start)) + cf.BarPerWarp
	at := uint64(u.free) + uint64(cf.BarBase)
	switch e.Inst.Mod.Sub {
	case isa.SubRedPopc, isa.SubRedAnd, isa.SubRedOr:
		at += uint64(cf.BarRed)
	}
	at = max(at, t+1)
	if e.Inst.Mod.Sub != isa.SubArrive {
		// The stall count is a wait, as Nsight Compute has it; the barrier opens later.
		w.spend(sim.Wait, min(uint64(max(s.mach.code[w.prev].stall, 1)), at-t)-1)
	}
	switch {
	case e.Waiting:
		w.atBar = true
		w.idx = -1
		w.state = sim.Barrier
		return
	case e.Inst.Mod.Sub == isa.SubArrive:
		p.wakeAt(i, t+uint64(max(s.mach.code[w.prev].stall, 1)), t)
	default:
		w.state = sim.Barrier
		p.wakeAt(i, at, t)
	}
	s.release(w, t, at)
}

// release lets the warps of w's block go on that its last step freed from a barrier.
func (s *SM) release(w *warp, t, at uint64) {
	for _, other := range w.w.Block.Released() {
		q, j := s.place(w.block, other.Index)
		x := &q.warps[j]
		x.idx = int32(other.PC())
		x.line = -1
		x.atBar = false
		q.wakeAt(j, at, t)
	}
}

// place finds the sub-partition and local slot of a warp of a resident block.
func (s *SM) place(b *residentBlock, warp int) (*smsp, int) {
	slot := b.slots[warp]
	n := len(s.smsps)
	return s.smsps[slot%n], slot / n
}

// membar is the cycle at which a memory barrier lets its warp go on: all its memory operations are performed and the
// barrier unit has answered. The unit takes one barrier every few cycles.
func (s *SM) membar(t uint64, e *isa.Effect, w *warp) uint64 {
	cf := &s.mach.arch.Control
	cost := uint64(cf.MembarGPU)
	if isBlockScope(e.Inst) {
		cost = uint64(cf.MembarCTA)
	}
	s.membarFree = max(s.membarFree, t) + membarInterval
	return max(s.membarFree-membarInterval+cost, w.memDone)
}

// membarInterval is the distance in cycles of the memory barriers of one SM (measured: MEMBAR.CTA takes 9.4 cycles from
// one warp and 102 from 32, MEMBAR.GPU 266 and 367: three more cycles for every further warp).
const membarInterval = 3

// isBlockScope says whether a memory barrier orders for the threads of its block only.
func isBlockScope(in *isa.Inst) bool { return in.Mod.Has(isa.ModCTA) }

// pairStall is the part of control_flow.reconverge that the BSSY's own stall count was in the measured pair.
const pairStall = 4

// reconverge is the number of cycles from a BSYNC (SYNC, WARPSYNC) to the next instruction of the warp. A WARPSYNC that had to wait costs nothing
// more if the warp turned to the last path right at it (measured on the H200, testdata/h200_paths.csv).
func (s *SM) reconverge(w *warp, c *timing, e *isa.Effect, jumped bool) uint64 {
	cf := &s.mach.arch.Control
	n := uint64(max(cf.Reconverge-pairStall, 0))
	switch {
	case jumped:
		return n + uint64(cf.DivergedPath)
	case c.class == isa.ClassBSYNC:
		return n
	case e.Joined && !w.landed:
		return uint64(cf.WarpsyncWait)
	}
	return 0
}

// turn is what it takes the warp beyond that to go on with an older path.
func (s *SM) turn(w *warp, e *isa.Effect) (n uint64) {
	w.landed = s.mach.code[e.Next].kind == kindReconverge
	if e.OldPath {
		return uint64(s.mach.arch.Control.OlderPath)
	}
	return 0
}

// convergenceHold is for how many cycles the convergence unit is busy with an instruction that has executed: a turn to another path of the warp, a
// jump to an address in a register, or as its class says. Measured on the
// H200 with 8 and 16 warps a sub-partition (testdata/h200_paths.csv: each further path that ends at the barrier takes 16.1 cycles a warp, 7.6 if it is the
// one stored last; a switch of 16 paths by comparisons 162; a call by name and its return 16.3, a call through a register and its return 40.7 with BSSY and BSYNC,
// 40.1 for each further function that lanes of the warp call).
func (s *SM) convergenceHold(w *warp, c *timing, e *isa.Effect, class int) int {
	cf := &s.mach.arch.Control
	jumped := e.Next >= 0 && e.Next != e.Index+1
	switch {
	case c.kind == kindBranch && c.indexed:
		return max(class, cf.IndexedPort/2)
	case w.indexed > 0 && jumped && (c.kind == kindReconverge || c.kind == kindExit):
		return max(class, cf.IndexedPort)
	case cf.TurnHold == 0:
		return class
	case c.kind == kindCall && c.indexed && e.Inst.Op == isa.OpRET:
		return max(class, cf.ReturnHold)
	case c.kind == kindCall && c.indexed:
		return max(class, cf.RegisterHold)
	case c.kind != kindReconverge || !jumped:
		return class
	case e.OldPath:
		return max(class, cf.OlderHold)
	}
	return max(class, cf.TurnHold)
}
