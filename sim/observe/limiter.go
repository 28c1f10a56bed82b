package observe

import (
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/sim"
)

// The limiter is decided from the Result alone, in this order:
//
//  0. The launch itself, where the SM holds warps for less than half of the time.
//  1. Shared memory that passes most requests several times, while it is what warps wait for or fills its pipe.
//  2. A unit that is busy for most of the time bounds the run: the issue slots or a pipe at saturated or more.
//  3. Otherwise the largest reason for which warps wait, counted per issued instruction, names it: results and fixed latencies are
//     latency (with few warps) or memory, throttles are the pipe or queue that throttles, barrier, fetch, constants, register file.
//     Memory is bandwidth of DRAM or L2 where a good part of it is used, otherwise the latency of the level that most loads reach.
//  4. Latency with few resident warps although the SM could hold more is occupancy when the cause is a resource of the
//     kernel, and latency when the grid is too small to fill the SM.
const (
	saturated = 0.85 // share of cycles from which on a unit is said to bound the run
	busyIssue = 0.70 // issue slots in use from which on waiting for a slot is the bound if it is the largest wait
	nearIssue = 0.05 // a pipe within this of the issue slots' use, for which warps wait, is named rather than the slots
	strained  = 0.55 // from here on a busy unit is named if warps wait for it more than for anything else
	alsoFrom  = 0.7  // a second reason is told if it takes at least this much of the largest one's time
)

// Limit names what bounds the run.
func Limit(r *sim.Result) sim.Limiter {
	s := stateTable(r)
	pipe := busiest(r)
	top, share := largestWait(s)
	wait := s.perIssue(top)
	if o := &r.Occupancy; o.ActiveCycles > 0 && 2*o.ActiveCycles < r.Cycles {
		return sim.Limiter{Kind: sim.LimitLaunch, What: "launch", Sentence: fmt.Sprintf("launch: the SM holds warps in only %s of the cycles; the rest is starting the blocks and ending the grid", percent(float64(o.ActiveCycles)/float64(r.Cycles)))}
	}
	if lim, ok := sharedLimit(r, pipe, top, share); ok {
		return lim
	}
	switch {
	case r.IssueSlots.Utilization >= saturated:
		return sim.Limiter{Kind: sim.LimitIssue, What: "issue", Sentence: fmt.Sprintf(
			"issue: the schedulers issue in %s of their cycles; %.1f warp-cycles of eligible warps waiting for a slot per issued instruction", percent(r.IssueSlots.Utilization), s.perIssue(sim.NotSelected))}
	case pipe != nil && top == sim.MathPipeThrottle && pipe.Utilization >= busyIssue && pipe.Utilization >= r.IssueSlots.Utilization-nearIssue:
		return pipeLimit(s, pipe)
	case r.IssueSlots.Utilization >= busyIssue && s.cycles[sim.NotSelected] >= s.cycles[top]:
		return sim.Limiter{Kind: sim.LimitIssue, What: "issue", Sentence: fmt.Sprintf(
			"issue: the schedulers issue in %s of their cycles, and more warps are eligible and wait for a slot (%.1f warp-cycles per issued instruction) than wait for anything else",
			percent(r.IssueSlots.Utilization), s.perIssue(sim.NotSelected))}
	case pipe != nil && pipe.Utilization >= saturated && wait > 0:
		return pipeLimit(s, pipe)
	}
	return byWait(r, s, top, share, pipe)
}

// states gives warp-cycles by state.
type states struct {
	cycles [sim.NumWarpStates]uint64
	issued uint64
	total  uint64
}

func stateTable(r *sim.Result) *states {
	t := &states{issued: r.WarpInstructions}
	for i := range r.WarpStates {
		if i < len(t.cycles) {
			t.cycles[i] = r.WarpStates[i].WarpCycles
			t.total += r.WarpStates[i].WarpCycles
		}
	}
	return t
}

func (t *states) perIssue(s sim.WarpState) float64 { return ratio(t.cycles[s], t.issued) }
func (t *states) share(s sim.WarpState) float64    { return ratio(t.cycles[s], t.total) }

// largestWait is the state, other than issuing and being ready, in which warps spend most cycles.
func largestWait(t *states) (sim.WarpState, float64) {
	top := sim.Wait
	for s := sim.Wait; s < sim.NumWarpStates; s++ {
		if t.cycles[s] > t.cycles[top] {
			top = s
		}
	}
	return top, t.share(top)
}

// nextWait is the state in which warps wait longest after the first; false if that is much shorter.
func (t *states) nextWait(first sim.WarpState) (sim.WarpState, bool) {
	next := sim.NotSelected
	for s := sim.Wait; s < sim.NumWarpStates; s++ {
		if s != first && (next == sim.NotSelected || t.cycles[s] > t.cycles[next]) {
			next = s
		}
	}
	return next, t.cycles[next] > 0 && float64(t.cycles[next]) >= alsoFrom*float64(t.cycles[first])
}

// busiest is the pipe with the highest utilisation.
func busiest(r *sim.Result) *sim.PipeUse {
	var best *sim.PipeUse
	for i := range r.Pipes {
		if p := &r.Pipes[i]; p.Insts > 0 && (best == nil || p.Utilization > best.Utilization) {
			best = p
		}
	}
	return best
}

// pipeLimit names a busy pipe. The evidence is the throttle that warps wait in; where they wait much more for results, as for
// those of a busy memory pipe with little in flight, it is that.
func pipeLimit(t *states, p *sim.PipeUse) sim.Limiter {
	s := sim.MathPipeThrottle
	for _, c := range []sim.WarpState{sim.MIOThrottle, sim.LGThrottle, sim.TexThrottle, sim.DispatchStall} {
		if t.cycles[c] > t.cycles[s] {
			s = c
		}
	}
	lim := sim.Limiter{Kind: sim.LimitPipe, What: p.Name, Sentence: fmt.Sprintf(
		"%s pipe: busy in %s of the cycles; %.1f warp-cycles of waiting for a pipe per issued instruction (%s)", p.Name, percent(p.Utilization), t.perIssue(s), s)}
	if top, share := largestWait(t); t.cycles[s] < t.cycles[top]/4 {
		lim.Sentence = fmt.Sprintf("%s pipe: busy in %s of the cycles; %s of warp-cycles wait for %s (%s)", p.Name, percent(p.Utilization), percent(share), awaited(top), top)
	}
	return lim
}

// sharedLimit recognises a run whose shared memory passes most requests several times, for bank conflicts or for atomics of several
// lanes on one word or bank: the passes fill the load/store pipe, or most waiting is for shared memory and most passes are repeats.
func sharedLimit(r *sim.Result, pipe *sim.PipeUse, top sim.WarpState, share float64) (sim.Limiter, bool) {
	m := &r.Memory
	passes, repeats := m.SharedWavefronts, m.BankConflicts
	if 2*repeats < passes || repeats == 0 || r.IssueSlots.Utilization >= busyIssue || share == 0 {
		return sim.Limiter{}, false
	}
	full := pipe != nil && pipe.Utilization >= strained && float64(passes) >= float64(pipe.BusyCycles)/2
	if waits := top == sim.ShortScoreboard || top == sim.MIOThrottle; !full && !(waits && 3*passes >= r.Cycles) {
		return sim.Limiter{}, false
	}
	atomics := uint64(0)
	for _, c := range r.Classes {
		if c.Class == "atoms" {
			atomics = c.Insts
		}
	}
	const lanes = 31 // most repeats of an access of a word a lane
	what := "bank conflicts"
	switch {
	case atomics > 0 && 2*lanes*(m.SharedLoads+m.SharedStores) < repeats:
		what = "shared-memory atomics"
	case atomics > 0:
		what = "bank conflicts and atomics"
	}
	busy := ""
	if pipe != nil {
		busy = fmt.Sprintf("; the %s pipe is busy in %s of the cycles", pipe.Name, percent(pipe.Utilization))
	}
	return sim.Limiter{Kind: sim.LimitShared, What: what, Sentence: fmt.Sprintf(
		"shared memory: %s of %d wavefronts are repeats by %s%s; %s of warp-cycles wait for %s (%s)", percent(ratio(repeats, passes)), passes, what, busy, percent(share), awaited(top), top)}, true
}

// awaited says in words what a warp in the state waits for.
func awaited(s sim.WarpState) string {
	switch s {
	case sim.Wait:
		return "fixed-latency results"
	case sim.ShortScoreboard:
		return "results of shared memory, conversions or special functions"
	case sim.LongScoreboard:
		return "loads"
	case sim.BranchResolving:
		return "branch targets"
	case sim.Sleeping:
		return "the end of a sleep"
	case sim.MIOThrottle, sim.LGThrottle, sim.TexThrottle:
		return "a place in a queue"
	case sim.Barrier:
		return "the block's other warps"
	case sim.NoInstruction:
		return "instructions"
	case sim.IMCMiss:
		return "constants that miss their cache"
	case sim.DispatchStall:
		return "register reads"
	case sim.Membar:
		return "memory fences"
	case sim.Drain:
		return "their last stores to leave"
	}
	return strings.ReplaceAll(s.String(), "_", " ")
}

// atomicsNote says that most global accesses are atomics, which one address takes one after the other; "" if they are not.
func atomicsNote(r *sim.Result) string {
	m := &r.Memory
	atomics := m.Atomics
	for _, c := range r.Classes {
		if c.Class == "atoms" {
			atomics -= min(atomics, c.Insts)
		}
	}
	all := m.GlobalLoads + m.GlobalStores + atomics
	if atomics == 0 || 2*atomics < all {
		return ""
	}
	return fmt.Sprintf("%d of %d global accesses are atomics; ", atomics, all)
}

// byWait decides when no unit is saturated.
func byWait(r *sim.Result, t *states, top sim.WarpState, share float64, pipe *sim.PipeUse) sim.Limiter {
	warps := r.Occupancy.AchievedWarps
	busy := "no pipe is used"
	if pipe != nil {
		busy = fmt.Sprintf("the busiest pipe, %s, is used in %s of the cycles", pipe.Name, percent(pipe.Utilization))
	}
	per := fmt.Sprintf("%.1f warps a scheduler", warps/float64(schedulers(r)))
	why := fmt.Sprintf("%s of warp-cycles", percent(share))
	switch top {
	case sim.MathPipeThrottle, sim.MIOThrottle, sim.LGThrottle, sim.TexThrottle:
		if pipe != nil && pipe.Utilization >= strained {
			return pipeLimit(t, pipe)
		}
		if top == sim.LGThrottle {
			return memoryLimit(r, top, why)
		}
		if pipe != nil {
			return sim.Limiter{Kind: sim.LimitPipe, What: pipe.Name, Sentence: fmt.Sprintf("%s pipe: warps wait for it in %s (%s) though it is used in %s of the cycles: its work comes in bursts",
				pipe.Name, why, top, percent(pipe.Utilization))}
		}
	case sim.DispatchStall:
		return sim.Limiter{Kind: sim.LimitRegFile, What: "register read ports", Sentence: fmt.Sprintf(
			"register file: %s wait for %s (%s); %s", why, awaited(top), top, busy)}
	case sim.Barrier:
		return sim.Limiter{Kind: sim.LimitBarrier, What: top.String(), Sentence: fmt.Sprintf("barrier: %s wait at block barriers with %s; %s", why, per, busy)}
	case sim.NoInstruction:
		return sim.Limiter{Kind: sim.LimitFetch, What: top.String(), Sentence: fmt.Sprintf("fetch: %s wait for %s (%s); %s", why, awaited(top), top, busy)}
	case sim.IMCMiss:
		return sim.Limiter{Kind: sim.LimitConstants, What: top.String(), Sentence: fmt.Sprintf("constants: %s wait for %s (%s); %s", why, awaited(top), top, busy)}
	case sim.LongScoreboard, sim.Membar, sim.Drain:
		if bound, ok := bandwidth(r, top, why); ok {
			return bound
		}
		return memoryLatency(r, top, why, per, busy)
	}
	return latencyLimit(r, t, top, why, per, busy)
}

// schedulers is the number of warp schedulers, from the issue slots.
func schedulers(r *sim.Result) int {
	for _, p := range r.Pipes {
		if p.Instances > 1 {
			return p.Instances
		}
	}
	return 1
}

// bandwidth recognises a run that moves as many bytes a cycle as DRAM has for this SM, or reads as many from L2: reported from strained
// on, seen over the cycles in which the SM holds warps, for the one of the two that is nearer to its most.
func bandwidth(r *sim.Result, top sim.WarpState, why string) (sim.Limiter, bool) {
	cycles := float64(r.Cycles)
	if n := r.Occupancy.ActiveCycles; n > 0 {
		cycles = float64(n)
	}
	const sector = 32 // bytes
	level, does, bytes, most := "DRAM", "moves", float64(r.Memory.DRAMBytes)/cycles, r.MemoryCeiling
	if l2 := sector * float64(r.Memory.L2ReadSectors) / cycles; r.L2Ceiling > 0 && (most <= 0 || l2/r.L2Ceiling > bytes/most) {
		level, does, bytes, most = "L2", "gives", l2, r.L2Ceiling
	}
	if most <= 0 || bytes < strained*most {
		return sim.Limiter{}, false
	}
	return sim.Limiter{Kind: sim.LimitMemory, What: level + " bandwidth", Sentence: fmt.Sprintf("memory bandwidth: %s %s %.1f of at most %.1f bytes a cycle for this SM; %s wait for %s (%s)",
		level, does, bytes, most, why, awaited(top), top)}, true
}

func memoryLimit(r *sim.Result, top sim.WarpState, why string) sim.Limiter {
	if b, ok := bandwidth(r, top, why); ok {
		return b
	}
	return sim.Limiter{Kind: sim.LimitMemory, What: top.String(), Sentence: fmt.Sprintf("memory: %s wait for a place in the load/store queue (%s); %s%.1f sectors a request, L1 hits %s", why, top,
		atomicsNote(r), r.Memory.SectorsPerRequest, percent(r.Memory.L1HitRate))}
}

// memoryLatency: warps wait for loads while no bandwidth is used up.
func memoryLatency(r *sim.Result, top sim.WarpState, why, per, busy string) sim.Limiter {
	if lim, ok := occupancyLimit(r, top, why); ok {
		return lim
	}
	return sim.Limiter{Kind: sim.LimitMemory, What: slowestLevel(&r.Memory, r.Latencies) + " latency", Sentence: fmt.Sprintf("memory latency: %s wait for %s (%s) with %s; %sL1 hits %s, L2 hits %s; %s", why, awaited(top), top, per, atomicsNote(r),
		percent(r.Memory.L1HitRate), percent(r.Memory.L2HitRate), busy)}
}

// slowestLevel is the level of the memory on which loads spend most of their time: the share of sectors it serves times its latency on this
// architecture. So one sector of ten that misses L1 outweighs the nine that do not, where L2 is nine times as far.
func slowestLevel(m *sim.MemoryUse, c sim.Latencies) string {
	miss := 1 - m.L1HitRate
	l1, l2, dram := float64(c.L1)*m.L1HitRate, float64(c.L2)*miss*m.L2HitRate, float64(c.DRAM)*miss*(1-m.L2HitRate)
	switch {
	case dram > l2 && dram > l1:
		return "DRAM"
	case l2 > l1:
		return "L2"
	}
	return "L1"
}

// latencyLimit: too few instructions in flight for the latencies. A second reason that takes nearly as long is told too.
func latencyLimit(r *sim.Result, t *states, top sim.WarpState, why, per, busy string) sim.Limiter {
	if lim, ok := occupancyLimit(r, top, why); ok {
		return lim
	}
	also := ""
	if second, ok := t.nextWait(top); ok {
		also = fmt.Sprintf(", %s for %s (%s)", percent(t.share(second)), awaited(second), second)
	}
	return sim.Limiter{Kind: sim.LimitLatency, What: top.String(), Sentence: fmt.Sprintf("latency: %s; %s wait for %s (%s)%s; %s", per, why, awaited(top), top, also, busy)}
}

// occupancyLimit: latency could be hidden by more warps, and a resource of the kernel keeps them out.
func occupancyLimit(r *sim.Result, top sim.WarpState, why string) (sim.Limiter, bool) {
	o := &r.Occupancy
	if o.Theoretical > 0.5 || r.BlocksRun > 0 && r.BlocksRun < o.TheoreticalBlocks ||
		o.AchievedWarps < 0.7*float64(o.TheoreticalWarps) || (o.Limiter != "registers" && o.Limiter != "shared" && o.Limiter != "blocks") {
		return sim.Limiter{}, false
	}
	return sim.Limiter{Kind: sim.LimitOccupancy, What: o.Limiter, Sentence: fmt.Sprintf("occupancy: %s keep the SM at %d of %d warps, and %s wait for latency (%s)",
		map[string]string{"registers": "registers", "shared": "shared memory", "blocks": "the block limit"}[o.Limiter], o.TheoreticalWarps, o.MaxWarps, why, top)}, true
}

func percent(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }
