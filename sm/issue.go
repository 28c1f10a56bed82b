package sm

import (
	"math/bits"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/pipelines"
	"github.com/sarchlab/smsim/sim"
)

// issue executes the next instruction of a warp and books what it uses. It returns whether the warp may issue its next
// instruction in the same cycle (dual issue), which the caller decides. dual says that this is such a second one.
func (p *smsp) issue(i int, t uint64, dual bool) (again bool) {
	sm := p.sm
	w := &p.warps[i]
	idx := w.idx
	c := &sm.mach.code[idx]
	p.picked = i
	if !dual {
		w.acc[sim.Selected]++
		w.spent++
		w.since = t + 1
	} else {
		p.unwake(i, t)
	}
	e := &p.eff
	if err := w.w.Step(e); err != nil {
		sm.fail(w, err)
		return false
	}
	sm.steps++
	off := e.Exec == 0
	w.unseen = 0
	if c.stall < sm.signalLatency && (c.writeBar < 6 || c.readBar < 6) {
		w.unseen, w.seenAt, w.before = (1<<c.writeBar|1<<c.readBar)&0x3f, t+uint64(sm.signalLatency), w.clear
	}
	done := p.book(w, c, e, t, off)
	if p.NumHooks() > 0 {
		p.emit(w, c, e, t, off, dual, done)
	}
	p.last, p.greedy = i, c.yield && !p.throttled
	p.turns.issued(i, !p.greedy)
	w.prev = idx
	p.follow(i, w, c, e, t, done, off)
	return w.idx >= 0 && !w.atBar
}

// unready takes a selected warp out of its readiness group. Its cycles there go to the states that the group was in.
func (p *smsp) unready(i int, t uint64) {
	w := &p.warps[i]
	n := p.sm.mach.code[w.idx].key
	k := &p.keys[n]
	k.mask &^= 1 << i
	if k.mask == 0 {
		p.active &^= 1 << n
	}
	p.throttled = k.cum[sharedMIO]+k.cum[sharedLG]+k.cum[sharedTex] != w.snap[sharedMIO]+w.snap[sharedLG]+w.snap[sharedTex]
	for s, before := range w.snap {
		if d := k.cum[s] - before; d > 0 {
			w.acc[sharedState[s]] += uint32(d)
			w.spent += d
		}
	}
	w.since = t
}

// book reserves register reads, pipes and units for an issued instruction, sets its dependency barriers, and
// returns the cycle at which its result is available (0: unknown yet).
func (p *smsp) book(w *warp, c *timing, e *isa.Effect, t uint64, off bool) (done uint64) {
	sm := p.sm
	if !off {
		p.rf.read(t, c, w.prev == w.idx-1)
	}
	if c.kind == kindMemory {
		p.record.Pipe, p.record.PipeCycles = int(c.pipe), uint64(c.hold)
		sm.send(p, w, c, e, t)
		return 0
	}
	start, last := t, t // of the first and the last pass
	hold := int(c.hold)
	if off {
		hold = int(c.offHold)
	}
	if c.kind == kindReconverge || c.kind == kindCall || c.kind == kindBranch || c.kind == kindExit {
		hold = sm.convergenceHold(w, c, e, hold)
	}
	k := &sm.mach.keys[c.key]
	p.record.Pipe, p.record.PipeCycles = int(c.pipe), uint64(hold)
	byLane := c.kind == kindConst && e.HasConst && c.indexed && e.Addr != nil && !off // a constant load whose lanes may differ
	if c.queued {
		passes := 1 + int(e.ExtraPasses)
		if byLane {
			passes = pipelines.ConstPasses(e.Addr, e.Exec)
		}
		if u := p.unitOf(c); byLane && u != nil {
			start, last = u.TakeSpaced(t, hold, passes, int(max(c.sharedFor, 1)), passLatency)
		} else {
			start = p.throughQueue(c, t, hold, passes)
		}
	} else if len(k.pipes) > 0 {
		n := k.pipes[0]
		for _, q := range k.pipes[1:] {
			if p.pipes[n].IssueAt() > t && p.pipes[q].IssueAt() < p.pipes[n].IssueAt() {
				n = q
			}
		}
		if c.shared >= 0 && !off && sm.shared[c.shared] != nil {
			start = p.pipes[n].TakeThrough(t, hold, sm.shared[c.shared], int(c.sharedFor))
		} else {
			start = p.pipes[n].Take(t, hold)
		}
		for _, q := range k.holds {
			p.pipes[q].Hold(start, hold)
		}
		p.record.Pipe = n
	}
	p.unitWait = start - t
	done = start + uint64(c.latency) + passLatency*uint64(e.ExtraPasses)
	if c.kind == kindConst && e.HasConst {
		if byLane {
			done = max(sm.consts.LoadLanes(start, passLatency, e.ConstBank, e.Addr, e.Exec), last+uint64(c.latency))
		} else {
			done = sm.consts.Load(start, e.ConstBank, e.ConstAddr)
		}
	}
	if c.kind == kindCopyGroup {
		done = max(done, w.copied)
	}
	if c.writeBar < 6 {
		p.setBarrier(w, c.writeBar, done, c.long || c.kind == kindCopyGroup)
	}
	if c.readBar < 6 {
		p.setBarrier(w, c.readBar, start+uint64(sm.readRelease), c.long)
	}
	return done
}

// passLatency is how much later a result comes with each further pass. Measured on the H200: MATCH.ANY, one distinct value 28
// cycles, 32 distinct values 368 (three and four independent chains of one warp); LDC of 2 to 32 distinct addresses 10.8 to 10.9 cycles a
// pass in a chain, 2.0 in many (`ldcdiv` in testdata/memory_kernels_h200).
const passLatency = 11

// unitOf is the sub-partition's own queue in front of the unit that an instruction goes to, nil if it has none.
func (p *smsp) unitOf(c *timing) *pipelines.UnitQueue {
	if c.shared < 0 || int(c.shared) == p.sm.mach.lsu {
		return nil
	}
	return p.units[c.shared]
}

// throughQueue takes an instruction through the queue of memory instructions to the unit behind it: the load/store unit,
// another unit of the SM, or a pipe of the sub-partition.
func (p *smsp) throughQueue(c *timing, t uint64, port, passes int) (start uint64) {
	sm := p.sm
	passes *= int(max(c.sharedFor, 1))
	switch u := p.unitOf(c); {
	case c.shared < 0 || int(c.shared) == sm.mach.lsu:
		return sm.mem.Through(t, p.id, port, nil, passes)
	case u != nil:
		return u.Take(t, port, passes)
	case sm.shared[c.shared] != nil:
		return sm.mem.Through(t, p.id, port, sm.shared[c.shared], passes)
	}
	return sm.mem.ThroughPipe(t, p.id, port, p.pipes[c.shared], passes)
}

// setBarrier notes that the barrier is busy until the cycle.
func (p *smsp) setBarrier(w *warp, bar uint8, until uint64, long bool) {
	if until >= w.clear[bar] {
		w.clear[bar] = until
		w.long &^= 1 << bar
		if long {
			w.long |= 1 << bar
		}
	}
	w.pending.add(bar, until)
}

// follow decides when the warp's next instruction may issue.
func (p *smsp) follow(i int, w *warp, c *timing, e *isa.Effect, t, done uint64, off bool) {
	sm := p.sm
	cf := &sm.mach.arch.Control
	w.idx = int32(e.Next)
	w.state = sim.Wait
	stall := uint64(max(c.stall, 1))
	if !off {
		stall += uint64(c.extraHold)
	}
	at := t + stall
	jumped := e.Next != e.Index+1 || c.kind == kindBranch && e.Taken
	if jumped {
		w.line = -1
		w.chunkAt = 0
	}
	if c.class == isa.ClassBSSY {
		w.opened = t + uint64(c.hold)
	}
	if c.kind == kindExit && !e.Exited { // these lanes may have been the last that a barrier waited for
		sm.release(w, t, t+uint64(cf.BarBase))
	}
	switch {
	case e.Exited:
		w.idx = -1
		p.exited(i, w, t)
		sm.release(w, t, t+uint64(cf.BarBase))
		return
	case c.kind == kindBar && e.BarrierArrived:
		sm.arrive(p, i, w, e, t, max(t, done-uint64(c.latency)))
		return
	case c.kind == kindMembar && !off:
		w.state = sim.Membar
		at = max(at, sm.membar(t, e, w))
	case c.kind == kindSleep && !off:
		w.state = sim.Sleeping
		at = max(at, t+uint64(max(cf.Nanosleep, 0))+uint64(float64(e.SleepNS)*sm.cyclesPerNS))
	case c.kind == kindCall && jumped:
		w.state = sim.BranchResolving
		at = max(at, t+uint64(cf.CallReturn))
		if c.indexed {
			at = max(at, t+uint64(cf.RegisterReturn))
		}
	case c.kind == kindReconverge && !off:
		from := t
		if c.class == isa.ClassBSYNC {
			from = max(t, w.opened)
		}
		at = max(at, from+sm.reconverge(w, c, e, jumped))
		w.landed = false
		if at > t+stall {
			w.state = sim.BranchResolving
		}
	case (e.Inst.Op == isa.OpBREAK || c.kind == kindExit && !jumped) && !off: // lanes leave, others go on: 8 cycles more than EXIT when nobody leaves, from 1 to 16 warps
		w.state = sim.BranchResolving
		at = max(at, t+stall+uint64(cf.BreakLeave))
	case jumped:
		w.state = sim.BranchResolving
		at = max(at, t+uint64(cf.BranchTaken))
		if c.kind == kindExit {
			at = max(at, t+uint64(cf.BranchTaken+cf.DivergedPath))
		}
	}
	if c.indexed && c.kind == kindBranch && jumped && cf.Indexed > 0 {
		at += uint64(cf.Indexed) + p.unitWait
		w.indexed = min(w.indexed, 255-e.ExtraPasses) + e.ExtraPasses
	} else if w.indexed > 0 && jumped && (c.kind == kindReconverge || c.kind == kindExit) {
		w.indexed-- // the next path: its lanes take the indexed branch again
		further := cf.IndexedPath
		if further == 0 {
			further = cf.BranchTaken + cf.Indexed
		}
		at += uint64(further) + p.unitWait
	} else if jumped && w.idx >= 0 && (c.kind == kindReconverge || c.kind == kindExit) {
		at += sm.turn(w, e)
	}
	if jumped && c.kind == kindBranch {
		at = p.targetAt(i, w, c, e, t, at)
	}
	if w.idx < 0 {
		// Lanes of the warp wait for others at a barrier that this instruction did not name: cannot continue by itself.
		w.atBar = true
		w.state = sim.Barrier
		return
	}
	switch w.state {
	case sim.BranchResolving:
		// The branch's own stall count is a wait; of what its target takes beyond that the end is its fetch.
		w.spend(sim.Wait, stall-1)
		fetch := uint64(targetFetch)
		if e.Next <= e.Index {
			fetch *= 2
		}
		if jumped && at >= t+stall+fetch {
			w.spend(sim.NoInstruction, fetch)
		}
	case sim.Wait:
		if !off {
			w.spend(sim.DispatchStall, uint64(c.passHold))
		}
		at = p.inLine(w, int32(e.Next), t, at)
	}
	p.wakeAt(i, at, t)
}

// targetFetch is the part of a taken branch in which its warp has no instruction; twice that backwards. Measured on the H200 (Nsight
// Compute, one warp a sub-partition): of ten cycles 4 wait, 4 resolve and 1 fetches in if-ladders (collatz, gcdbin, lifeb, mtwist), 4, 3 and 2 in loops (ncc, scan, ntt).
const targetFetch = 1

// spend gives the warp's next cycles to a state.
func (w *warp) spend(state sim.WarpState, cycles uint64) {
	w.acc[state] += uint32(cycles)
	w.spent += cycles
	w.since += cycles
}

// exited ends a warp after its last instruction, or leaves it draining its stores.
func (p *smsp) exited(i int, w *warp, t uint64) {
	w.state = sim.Drain
	p.wakeAt(i, max(t+1, w.storesOut), t)
}

// unwake takes back the wake of a warp that issues again in the same cycle.
func (p *smsp) unwake(i int, t uint64) { p.takeWake(i, t) }

// takeWake takes back the wake of a warp and returns its cycle, if there is one after the given cycle.
func (p *smsp) takeWake(i int, t uint64) (at uint64, ok bool) {
	for d := uint64(1); d < wheel; d++ {
		s := (t + d) % wheel
		if p.wake[s]>>i&1 != 0 {
			p.wake[s] &^= 1 << i
			if p.wake[s] == 0 {
				p.wakeBusy &^= 1 << s
			}
			return t + d, true
		}
	}
	if p.far>>i&1 != 0 {
		p.far &^= 1 << i
		return p.farAt[i], true
	}
	return 0, false
}

// emit tells the observers of an issue.
func (p *smsp) emit(w *warp, c *timing, e *isa.Effect, t uint64, off, dual bool, done uint64) {
	r := &p.record
	r.Cycle, r.SubPartition, r.Slot = t, p.id, w.slot
	r.Block, r.Warp = w.block.index, w.w.Index
	r.Effect, r.Class, r.Completes, r.Dual = e, c.class, done, dual
	r.Shared, r.SharedCycles = int(c.shared), uint64(c.sharedFor)
	if c.shared < 0 || off || c.kind == kindMemory { // memory: passes are in the MemoryRecord
		r.Shared, r.SharedCycles = -1, 0
	}
	r.Holds = p.sm.mach.keys[c.key].holds
	r.Waited = w.take(p.waited[:0])
	p.waited = r.Waited
	p.InvokeHook(hook(p, sim.HookPosIssue, r))
}

// take returns and clears the warp's cycles by state, without the Selected cycle of an issue.
func (w *warp) take(out []sim.StateCycles) []sim.StateCycles {
	for s := range w.acc {
		if n := w.acc[s]; n != 0 {
			if sim.WarpState(s) != sim.Selected {
				out = append(out, sim.StateCycles{State: sim.WarpState(s), Cycles: uint64(n)})
			}
			w.acc[s] = 0
		}
	}
	return out
}

// begin makes a warp resident.
func (p *smsp) begin(w *warp, t uint64) {
	w.started = true
	w.since, w.start, w.spent = t, t, 0
	w.state = sim.NoInstruction
	if p.NumHooks() > 0 {
		p.warpRecord = sim.WarpRecord{Cycle: t, SubPartition: p.id, Slot: w.slot, Block: w.block.index, Warp: w.w.Index}
		p.InvokeHook(hook(p, sim.HookPosWarp, &p.warpRecord))
	}
}

// end frees the slot of a warp that has exited and drained. Its cycles must all have a state.
func (p *smsp) end(i int, t uint64) {
	w := &p.warps[i]
	if w.spent != t-w.start {
		panic(invariant("warp states of slot %d cover %d of %d cycles", w.slot, w.spent, t-w.start))
	}
	if p.NumHooks() > 0 {
		r := &p.warpRecord
		*r = sim.WarpRecord{Cycle: t, SubPartition: p.id, Slot: w.slot, Block: w.block.index, Warp: w.w.Index, End: true, Index: int(w.prev)}
		r.States = w.take(p.waited[:0])
		p.waited = r.States
		p.InvokeHook(hook(p, sim.HookPosWarp, r))
	}
	p.resident &^= 1 << i
	b := w.block
	p.turns.leave(b, i)
	w.w, w.block = nil, nil
	p.order()
	p.sm.warpDone(b, t)
}

// order finds out whether launch order equals slot order, which makes oldest and youngest a bit operation.
func (p *smsp) order() {
	p.ordered = true
	last := uint64(0)
	for m := p.resident; m != 0; m &= m - 1 {
		s := p.warps[lowest(m)].seq
		if s < last {
			p.ordered = false
			return
		}
		last = s
	}
}

// lanes is the number of lanes of a mask.
func lanes(m uint32) int { return bits.OnesCount32(m) }
