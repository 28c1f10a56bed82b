package sm

import (
	"math/bits"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/pipelines"
	"github.com/sarchlab/smsim/sim"
)

const (
	maxKeys  = 64 // readiness groups of a program
	maxLocal = 64 // warps of a sub-partition
	wheel    = 64 // cycles ahead that wakes are kept by slot
)

// Shared states: those a ready warp can be in because of somebody else. They are counted by key, not by warp.
const (
	sharedNotSelected = iota
	sharedMath
	sharedDispatch
	sharedMIO
	sharedLG
	sharedTex
	sharedBranch
	sharedMisc
	sharedConvergence // waits for the convergence unit: no queue that makes warps take turns
	numShared
)

var sharedState = [numShared]sim.WarpState{sim.NotSelected, sim.MathPipeThrottle, sim.DispatchStall, sim.MIOThrottle,
	sim.LGThrottle, sim.TexThrottle, sim.BranchResolving, sim.Misc, sim.MIOThrottle}

// sharedIndex is the inverse of sharedState.
func sharedIndex(s sim.WarpState) uint8 {
	for i, t := range sharedState {
		if t == s {
			return uint8(i)
		}
	}
	return sharedMisc
}

// warp is one resident warp.
type warp struct {
	w       *isa.Warp
	block   *residentBlock
	slot    int
	seq     uint64 // launch order
	idx     int32  // next instruction; -1 while it waits at a block barrier
	prev    int32  // last issued instruction
	line    int32  // instruction line it has fetched, -1 none
	state   sim.WarpState
	started bool
	atBar   bool
	since   uint64 // first cycle not yet attributed to a state
	start   uint64 // first cycle of residence
	// Dependency barriers: the cycle at which each is clear, and whether its producer is an L1TEX operation.
	clear     [6]uint64
	before    [6]uint64 // clear before the previous instruction took the barriers unseen
	seenAt    uint64    // when they are seen taken
	unseen    uint8
	indexed   uint8  // paths of indexed branches that have not started
	long      uint8  // bit i: barrier i waits for an L1TEX operation
	target    uint64 // when its last taken branch had its target
	chunkAt   uint64 // when the next chunk of instructions is there
	landed    bool   // the warp has turned to a path that goes on with a BSYNC or WARPSYNC
	opened    uint64 // when the convergence unit has done its BSSY
	memDone   uint64 // all its memory operations are performed: MEMBAR waits for it
	storesOut uint64 // its stores have left the SM: the warp's end waits for it
	copied    uint64 // its copies to shared memory (LDGSTS) are there: LDGDEPBAR waits for it
	spent     uint64 // cycles attributed since start
	acc       [sim.NumWarpStates]uint32
	snap      [numShared]uint64
	pending   *outstanding // completions by barrier, only for programs with DEPBAR
}

// keyState is a readiness group of one sub-partition: the ready warps whose next instruction has the key.
type keyState struct {
	mask  uint64
	state uint8
	cum   [numShared]uint64 // cycles in each shared state while any warp was ready
}

// smsp is one sub-partition: warp scheduler, register file, pipes. The SM steps it.
type smsp struct {
	sim.Unit
	sm    *SM
	id    int
	pipes []*pipelines.Pipe      // by machine.pipes; SM-wide ones are shared
	units []*pipelines.UnitQueue // by machine.pipes: own queues in front of units of the SM, nil for the others
	rf    regFile
	warps []warp

	keys   [maxKeys]keyState
	active uint64 // keys with ready warps

	wake     [wheel]uint64 // warps to look at, by cycle mod wheel
	wakeBusy uint64        // wheel slots in use
	far      uint64        // warps with a wake beyond the wheel
	farAt    [maxLocal]uint64
	farMin   uint64

	now        uint64 // next cycle that has not been stepped
	next       uint64 // cycle of the next step
	slotAt     uint64 // next issue slot
	last       int    // local slot of the last issue
	greedy     bool   // the last issue asks to stay with the warp
	throttled  bool   // the warp being issued has waited for a queue of memory instructions or of the transcendental unit
	turns      turns
	ordered    bool // launch order equals slot order
	resident   uint64
	branchFree float64
	chunks     chunkPort
	unitWait   uint64 // cycles for which the instruction being issued waits in front of its unit
	branched   uint64 // warps that may wait for the target of a taken branch
	eff        isa.Effect
	record     sim.IssueRecord
	waited     []sim.StateCycles
	warpRecord sim.WarpRecord
	picked     int // warp being issued, for error reports; -1 none
	// latch is the warp whose instruction was selected but waits in the dispatch stage for register reads until
	// latchAt; -1: none. Nothing else issues meanwhile.
	latch   int
	latchAt uint64
}

// wakeAt asks for a look at the warp at a later cycle.
func (p *smsp) wakeAt(i int, at, now uint64) {
	if at-now < wheel-1 {
		s := at % wheel
		p.wake[s] |= 1 << i
		p.wakeBusy |= 1 << s
	} else {
		p.far |= 1 << i
		p.farAt[i] = at
		p.farMin = min(p.farMin, at)
	}
	p.next = min(p.next, at)
}

// nextWake is the first wake after the cycle.
func (p *smsp) nextWake(now uint64) uint64 {
	next := p.farMin
	if p.wakeBusy != 0 {
		r := bits.RotateLeft64(p.wakeBusy, -int((now+1)%wheel))
		next = min(next, now+1+uint64(lowest(r)))
	}
	return next
}

// step runs one cycle. Cycles since the last step were idle: no state of the sub-partition changed in them.
func (p *smsp) step(t uint64) {
	if gap := t - p.now; gap > 0 {
		for a := p.active; a != 0; a &= a - 1 {
			k := &p.keys[lowest(a)]
			k.cum[k.state] += gap
		}
	}
	p.now = t + 1
	if s := t % wheel; p.wakeBusy>>s&1 != 0 {
		m := p.wake[s]
		p.wake[s] = 0
		p.wakeBusy &^= 1 << s
		for ; m != 0; m &= m - 1 {
			p.evaluate(lowest(m), t)
		}
	}
	if p.farMin <= t {
		p.wakeFar(t)
	}
	next := uint64(sim.Never)
	if p.latch >= 0 && t >= p.latchAt {
		i := p.latch
		p.latch = -1
		p.dispatch(i, t)
		next = t + 1
		p.slotAt = t + p.sm.issueInterval
	}
	if p.active != 0 || p.latch >= 0 {
		eligible, until := p.check(t)
		next = min(next, until)
		if eligible != 0 && p.latch < 0 {
			next = t + 1
			if t >= p.slotAt {
				p.slotAt = t + p.sm.issueInterval
				p.issueSlot(eligible, t)
			}
		}
		if p.latch >= 0 {
			next = min(next, p.latchAt)
		}
		for a := p.active; a != 0; a &= a - 1 {
			k := &p.keys[lowest(a)]
			k.cum[k.state]++
		}
		if p.active == 0 && p.latch < 0 {
			next = sim.Never
		}
	}
	p.next = min(next, p.nextWake(t))
}

// wakeFar looks at warps whose wake was beyond the wheel.
func (p *smsp) wakeFar(t uint64) {
	p.farMin = sim.Never
	for m := p.far; m != 0; m &= m - 1 {
		i := lowest(m)
		if p.farAt[i] <= t {
			p.far &^= 1 << i
			p.evaluate(i, t)
		}
	}
	for m := p.far; m != 0; m &= m - 1 {
		p.farMin = min(p.farMin, p.farAt[lowest(m)])
	}
}

// check finds the state of every group of ready warps, the warps that can issue, and otherwise the first cycle at
// which that can change.
func (p *smsp) check(t uint64) (eligible, next uint64) {
	next = sim.Never
	for a := p.active; a != 0; a &= a - 1 {
		n := lowest(a)
		k := &p.keys[n]
		state, until := p.blocked(&p.sm.mach.keys[n], t)
		if until <= t {
			state = sharedNotSelected
			eligible |= k.mask
		} else {
			next = min(next, until)
		}
		if k.state = state; p.latch >= 0 {
			k.state = sharedDispatch
		}
	}
	return eligible, next
}

// blocked says which shared resource holds the key's instructions back at the cycle, and until when.
func (p *smsp) blocked(k *key, t uint64) (state uint8, until uint64) {
	if k.shared >= 0 && p.units[k.shared] != nil {
		return sharedMIO, max(p.units[k.shared].IssueAt(), t)
	}
	if k.memory {
		s, u, b := p.sm.mem.Blocked(t, p.id, k.class)
		if b {
			return sharedIndex(s), u
		}
		return 0, t
	}
	if len(k.pipes) > 0 {
		best := p.pipes[k.pipes[0]]
		at := best.IssueAt()
		for _, n := range k.pipes[1:] {
			if q := p.pipes[n]; q.IssueAt() < at {
				best, at = q, q.IssueAt()
			}
		}
		if at > t {
			if k.control && best.Stall == sim.MIOThrottle {
				return sharedConvergence, at
			}
			return sharedIndex(best.Stall), at
		}
		for _, n := range k.holds {
			if q := p.pipes[n]; q.IssueAt() > t {
				return sharedIndex(q.Stall), q.IssueAt()
			}
		}
	}
	if k.branch {
		if free := uint64(p.branchFree); free > t {
			return sharedBranch, free
		}
	}
	return 0, t
}

// issueSlot issues one instruction, or two of one warp where the generation dual-issues.
func (p *smsp) issueSlot(eligible, t uint64) {
	i := p.pick(eligible)
	p.unready(i, t)
	w := &p.warps[i]
	c := &p.sm.mach.code[w.idx]
	if at := p.rf.dispatchAt(t, c, w.prev == w.idx-1); at > t {
		w.state = sim.DispatchStall
		p.latch, p.latchAt = i, at
		p.pushBack(i, t, at-t)
		return
	}
	p.dispatch(i, t)
}

// pushBack delays the warp that issued last by the cycles for which another warp's instruction waits behind its reads.
func (p *smsp) pushBack(waiting int, t, cycles uint64) {
	w := &p.warps[p.last]
	if p.last == waiting || w.idx < 0 || w.prev < 0 || w.state != sim.Wait || p.sm.mach.code[w.prev].passes > 1 {
		return
	}
	if at, ok := p.takeWake(p.last, t); ok {
		p.wakeAt(p.last, at+cycles, t)
	}
}

// dispatch issues the instruction of a selected warp, and the next one of the same warp where the generation dual-issues.
func (p *smsp) dispatch(i int, t uint64) {
	first := p.warps[i].idx
	p.warps[i].attribute(t)
	again := p.issue(i, t, false)
	for n := 1; n < p.sm.issueWidth && again; n++ {
		w := &p.warps[i]
		if w.idx != first+1 || !p.pairs(first, w, t) {
			return
		}
		first = w.idx
		again = p.issue(i, t, true)
	}
}

// pairs says whether the warp's next instruction can issue in the same cycle as the one before it: its barriers are
// clear, its pipe is free. The warp is not in a readiness group then; it waits for its next cycle.
func (p *smsp) pairs(prev int32, w *warp, t uint64) bool {
	m := p.sm.mach
	d, c := &m.code[prev], &m.code[w.idx]
	if !d.dual || w.line != p.sm.fetch.lineOf(w.idx) || c.kind >= kindBar || c.waitMask>>d.writeBar&1 != 0 || c.waitMask>>d.readBar&1 != 0 {
		return false
	}
	for b := c.waitMask; b != 0; b &= b - 1 {
		if w.clear[bits.TrailingZeros8(b)] > t {
			return false
		}
	}
	_, until := p.blocked(&m.keys[c.key], t)
	return until <= t
}

// pick chooses among the warps that can issue.
func (p *smsp) pick(eligible uint64) int {
	if eligible&(eligible-1) == 0 {
		return lowest(eligible)
	}
	switch p.sm.policy {
	case policyGTY:
		if p.greedy && eligible>>p.last&1 != 0 {
			return p.last
		}
		return p.turns.pick(eligible)
	case policyGTO:
		if p.greedy && eligible>>p.last&1 != 0 {
			return p.last
		}
		if !p.greedy {
			return p.rotate(eligible) // the bit says: prefer another warp
		}
		return p.oldest(eligible)
	}
	return p.rotate(eligible)
}

// rotate takes the next warp after the last one, downwards in slots.
func (p *smsp) rotate(eligible uint64) int {
	if below := eligible & (1<<p.last - 1); below != 0 {
		return 63 - bits.LeadingZeros64(below)
	}
	return 63 - bits.LeadingZeros64(eligible)
}

func (p *smsp) oldest(eligible uint64) int {
	if p.ordered {
		return lowest(eligible)
	}
	best := -1
	for m := eligible; m != 0; m &= m - 1 {
		if i := lowest(m); best < 0 || p.warps[i].seq < p.warps[best].seq {
			best = i
		}
	}
	return best
}

// residents is the number of warps that hold a slot.
func (p *smsp) residents() int { return bits.OnesCount64(p.resident) }

// attribute gives the cycles up to the given one to the warp's present state.
func (w *warp) attribute(t uint64) {
	if t > w.since {
		n := t - w.since
		w.acc[w.state] += uint32(n)
		w.spent += n
		w.since = t
	}
}

// evaluate looks at a warp that may have become ready: it goes into its readiness group or to the next wake.
func (p *smsp) evaluate(i int, t uint64) {
	w := &p.warps[i]
	if !w.started {
		p.begin(w, t)
	}
	w.attribute(t)
	if w.idx < 0 {
		if w.w == nil || w.atBar {
			return
		}
		p.end(i, t)
		return
	}
	w.atBar = false
	sm := p.sm
	c := &sm.mach.code[w.idx]
	if line := sm.fetch.lineOf(w.idx); line != w.line {
		if at := sm.fetch.ready(p.id, w.idx, t); at > t {
			w.state = sim.NoInstruction
			p.wakeAt(i, at, t)
			return
		}
		w.line = line
	}
	if c.waitMask != 0 || c.kind == kindDepBar {
		if at, state := w.barriers(c, t); at > t {
			w.state = state
			p.wakeAt(i, at, t)
			return
		}
	}
	if c.hasConst {
		at, ready := uint64(0), false
		if c.uniformConst {
			at, ready = sm.consts.Uniform(t, p.id, c.constBank, c.constAddr)
		} else {
			at, ready = sm.consts.Operand(t, c.constBank, c.constAddr)
		}
		if !ready {
			w.state = sim.IMCMiss
			p.wakeAt(i, at, t)
			return
		}
	}
	k := &p.keys[c.key]
	k.mask |= 1 << i
	p.active |= 1 << c.key
	w.snap = k.cum
}

// barriers is the cycle at which the barriers that the instruction waits for are clear, and the state of the wait. An
// instruction that comes before the signal of the previous one's barriers does not see them taken: measured on the H200, a load
// with a stall count of 1 is not waited for by the next instruction ("mlp" of one load takes 4 cycles).
func (w *warp) barriers(c *timing, t uint64) (at uint64, state sim.WarpState) {
	state = sim.ShortScoreboard
	for b := c.waitMask; b != 0; b &= b - 1 {
		n := bits.TrailingZeros8(b)
		if n >= 6 {
			continue
		}
		clear := w.clear[n]
		if w.unseen>>n&1 != 0 && t < w.seenAt {
			clear = w.before[n]
		}
		if clear > at {
			at = clear
			state = sim.ShortScoreboard
			if w.long>>n&1 != 0 {
				state = sim.LongScoreboard
			}
		}
	}
	if c.kind == kindDepBar && c.depBar < 6 {
		if u := w.pending.until(int(c.depBar), int(c.depCount), w.clear[c.depBar]); u > at {
			at = u
			state = sim.ShortScoreboard
			if w.long>>c.depBar&1 != 0 {
				state = sim.LongScoreboard
			}
		}
	}
	return at, state
}
