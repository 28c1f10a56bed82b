package lower

import "github.com/sarchlab/smsim/isa"

// Stall counts that hold whatever the latencies are.
const (
	branchStall = 5  // after BRA, BSYNC and their like
	maxStall    = 15 // four bits
	// UISETP to BRA.U (500 in listings for sm_100 and sm_120; from ISETP to BRA there are 13).
	uniformBranchDelay = 9
	uldcDelay          = 2 // ULDC to its reader up to Hopper: listings never set a barrier for it and leave two cycles
	// Without control words a hardware scoreboard holds the warp for as long as it takes; the stall count stands for it.
	maxScoreboardStall = 255
)

// maxStall is the largest stall count of the target.
func (c *controller) maxStall() int {
	if c.t.HasControl {
		return maxStall
	}
	return maxScoreboardStall
}

// horizon is how many cycles back a write of fixed latency can still matter.
func (c *controller) horizon() int {
	if c.t.HasControl {
		return maxStall + 1
	}
	return 64
}

// latency is the number of cycles from the issue of instruction i until instruction j can issue and find
// register r ready; 0 when a dependency barrier signals it.
func (c *controller) latency(i, j int, r int16) int {
	p, q := &c.p.Insts[i], &c.p.Insts[j]
	if p.Ctrl.WriteBar != isa.NoBar {
		return 0
	}
	cl := p.Class()
	if cl == isa.ClassULDC {
		return uldcDelay
	}
	lat := c.t.Latency[cl]
	if r >= ctlPred && r < ctlUReg || r >= ctlUPred && r < ctlCC {
		switch q.Op {
		case isa.OpBRA, isa.OpEXIT, isa.OpBRX, isa.OpRET, isa.OpCALL, isa.OpSYNC, isa.OpBSYNC:
			if r >= ctlUPred {
				return uniformBranchDelay
			}
			if c.t.BranchPred > 0 {
				return c.t.BranchPred
			}
		}
		if q.Guard.Kind == isa.KindPred && q.Guard.Reg == isa.Reg(r-ctlPred) || q.Guard.Kind == isa.KindUPred && q.Guard.Reg == isa.Reg(r-ctlUPred) || q.Class() == isa.ClassVOTE {
			return max(lat, c.t.GuardLatency)
		}
		return max(lat, c.t.PredLatency)
	}
	if r >= ctlUReg && r < ctlUPred {
		if qc := q.Class(); qc != isa.ClassUALU && qc != isa.ClassULDC {
			return max(lat, c.t.UniformLatency)
		}
		return lat
	}
	qc := q.Class()
	if c.t.CrossPipe > 0 && c.t.Pipe[cl] != c.t.Pipe[qc] && !c.variable(q) {
		lat += c.t.CrossPipe
	}
	return lat
}

// stalls sets stall counts so that results of fixed latency are ready, results of one pipe follow at its issue
// interval, and a barrier is set before it can be waited for.
func (c *controller) stalls() {
	nb := len(c.succs)
	type write struct {
		at   int // cycle of issue
		inst int
	}
	var last [ctlRegs]write
	for b := range nb {
		for r := range last {
			last[r].inst = -1
		}
		now := 0
		lo, hi := c.start[b], c.start[b+1]
		for i := lo; i < hi; i++ {
			in := &c.p.Insts[i]
			need := now
			check := func(r int16, waw bool) {
				w := last[r]
				if w.inst < 0 {
					return
				}
				l := c.latency(w.inst, i, r)
				if waw {
					// The later write must land after the earlier one.
					l = max(1, l-c.t.Latency[in.Class()]+1)
					if c.variable(in) {
						l = min(l, 2)
					}
				}
				need = max(need, w.at+l)
			}
			for _, r := range c.uses[i] {
				check(r, false)
			}
			for _, r := range c.defs[i] {
				check(r, true)
			}
			if in.Op == isa.OpCALL {
				for r := range last {
					if w := last[r]; w.inst >= 0 {
						need = max(need, w.at+c.callDelay(w.inst, int16(r)))
					}
				}
			}
			// A barrier set by the previous instruction is seen two cycles later.
			if i > lo && in.Ctrl.WaitMask != 0 {
				for k := i - 1; k >= lo && k >= i-2; k-- {
					prev := &c.p.Insts[k].Ctrl
					at := now - int(prev.Stall)
					if k == i-2 {
						at -= int(c.p.Insts[i-1].Ctrl.Stall)
						at = now - int(c.p.Insts[i-1].Ctrl.Stall) - int(prev.Stall)
					}
					if prev.WriteBar != isa.NoBar && in.Ctrl.WaitMask>>prev.WriteBar&1 != 0 || prev.ReadBar != isa.NoBar && in.Ctrl.WaitMask>>prev.ReadBar&1 != 0 {
						need = max(need, at+2)
					}
				}
			}
			if need > now {
				now = c.widen(lo, i, need-now, now)
			}
			in.Ctrl.Stall = uint8(c.minStall(i))
			for _, r := range c.defs[i] {
				last[r] = write{now, i}
			}
			now += int(in.Ctrl.Stall)
		}
		// What successors read early must be ready when they start.
		extra := 0
		for r := range last {
			w := last[r]
			if w.inst < 0 || c.p.Insts[w.inst].Ctrl.WriteBar != isa.NoBar {
				continue
			}
			if now-w.at > c.horizon() {
				continue
			}
			for _, s := range c.succs[b] {
				extra = max(extra, c.firstUse(s, int16(r), w.inst, now-w.at, 0))
			}
		}
		if extra > 0 && hi > lo {
			c.widen(lo, hi, extra, now)
		}
	}
}

// callDelay is the number of cycles between the issue of an instruction of fixed latency and that of a CALL behind it: the function
// may read the result at once. Read off 300 calls in listings of ptxas 13.0 for each target: the shortest distances of arithmetic
// are 3 on sm_75, 2 on sm_80 to 89 and 7 from sm_90 on, of predicates 5 or 6 more, of uniform instructions the same; slower
// instructions wait longer by what they take longer.
func (c *controller) callDelay(i int, r int16) int {
	if c.t.SM < 70 || c.p.Insts[i].Ctrl.WriteBar != isa.NoBar {
		return 0
	}
	delay, other := 2, 6
	switch {
	case c.t.SM >= 90:
		delay = 7
	case c.t.SM < 80:
		delay, other = 3, 4
	}
	cl := c.p.Insts[i].Class()
	if r >= ctlPred || cl == isa.ClassUALU {
		return delay + other
	}
	return delay + max(0, c.t.Latency[cl]-c.t.Latency[isa.ClassMOV])
}

// widen raises the stalls of the instructions before i, nearest first, by cycles in total, and returns the new time.
func (c *controller) widen(lo, i, cycles, now int) int {
	for k := i - 1; k >= lo && cycles > 0; k-- {
		s := int(c.p.Insts[k].Ctrl.Stall)
		add := min(cycles, c.maxStall()-s)
		c.p.Insts[k].Ctrl.Stall = uint8(s + add)
		cycles -= add
		now += add
	}
	return now
}

// minStall is the stall of instruction i before dependences are considered.
func (c *controller) minStall(i int) int {
	in := &c.p.Insts[i]
	cl := in.Class()
	if cl.IsControl() {
		switch in.Op {
		case isa.OpBSSY, isa.OpSSY, isa.OpPBK, isa.OpPCNT, isa.OpBAR:
			return 1
		}
		return branchStall
	}
	if c.pairs(i) {
		return 0
	}
	if i+1 < len(c.p.Insts) {
		next := c.p.Insts[i+1].Class()
		if p := c.t.Pipe[cl]; p != "" && p == c.t.Pipe[next] && !c.variable(in) {
			return min(c.maxStall(), max(1, c.t.Interval[cl]))
		}
	}
	if in.Ctrl.WriteBar != isa.NoBar && i+1 < len(c.p.Insts) && c.p.Insts[i+1].Ctrl.WaitMask>>in.Ctrl.WriteBar&1 != 0 {
		return 2
	}
	return 1
}

// firstUse is how many more cycles must pass before block s starts, so that register r, written by instruction
// w elapsed cycles before, is ready at its first access there.
func (c *controller) firstUse(s int, r int16, w, elapsed, depth int) int {
	at := elapsed
	for i := c.start[s]; i < c.start[s+1]; i++ {
		for _, u := range c.uses[i] {
			if u == r {
				return c.latency(w, i, r) - at
			}
		}
		for _, d := range c.defs[i] {
			if d == r {
				return c.latency(w, i, r) - c.t.Latency[c.p.Insts[i].Class()] + 1 - at
			}
		}
		at++
		if at-elapsed > c.horizon() {
			return 0
		}
	}
	if depth >= 2 {
		return 0
	}
	extra := 0
	for _, n := range c.succs[s] {
		extra = max(extra, c.firstUse(n, r, w, at, depth+1))
	}
	return extra
}
