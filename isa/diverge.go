package isa

import "math/bits"

// Divergence from Volta on. A warp is a set of groups of lanes; one runs, the others are ready or wait. Groups join
// only at a barrier they share (BSYNC, WARPSYNC, a block barrier), never by meeting at the same address.

// waitKind says what a group waits for.
type waitKind uint8

const (
	waitNone     waitKind = iota // ready
	waitBSync                    // convergence barrier
	waitWarpSync                 // lanes of a mask
	waitBlock                    // named block barrier
)

// group is the state of lanes that are not running. pc is where they continue.
type group struct {
	pc   int32
	mask uint32
	wait waitKind
	bar  uint8  // convergence barrier register or named barrier
	need uint32 // lanes that must arrive (convergence and warp barriers)
	at   int32  // instruction at which it waits
}

// switchAfter is the number of taken backward branches after which another ready group of the warp gets its turn,
// so that lanes spinning on a lock let its holder go on (independent thread scheduling).
const switchAfter = 16

// next lets another ready group run; the running one has been stored or has ended. When none but groups that have yielded is
// ready, convergence barriers that wait for their lanes alone let go; when there are none, those that have yielded run again, the one
// with the lowest lane first. Groups that yielded at one instruction run on as one.
// Without a ready group the warp halts: it has exited, waits at a block barrier, or is in a deadlock.
func (w *Warp) next() {
	w.spins = 0
	yielded := w.yielded
	pick := w.ready(false)
	if pick < 0 && yielded != 0 {
		w.settle()
		if pick = w.ready(false); pick < 0 {
			pick, w.yielded = w.ready(true), 0
		}
	}
	if pick >= 0 {
		w.pc, w.mask, w.halted = w.groups[pick].pc, 0, false
		kept := w.groups[:0]
		for i, g := range w.groups {
			if i == pick || g.wait == waitNone && g.pc == w.pc && g.mask&^yielded == 0 {
				w.mask |= g.mask
			} else {
				kept = append(kept, g)
			}
		}
		w.groups = kept
		w.oldPath, w.newest = w.mask != w.newest, 0
		return
	}
	w.mask, w.halted = 0, true
	if w.live == 0 {
		w.exited()
		return
	}
	for i := range w.groups {
		if w.groups[i].wait == waitBlock {
			return // a block barrier may still let it go on
		}
	}
	w.err = w.warpDeadlock()
}

// ready is the index of the group to run next, -1 without one: of those that have not yielded the one stored last, else the one with the lowest lane.
func (w *Warp) ready(yielded bool) int {
	best := -1
	for i := range w.groups {
		g := &w.groups[i]
		if g.wait != waitNone || (g.mask&^w.yielded == 0) != yielded {
			continue
		}
		if !yielded || best < 0 || bits.TrailingZeros32(g.mask) < bits.TrailingZeros32(w.groups[best].mask) {
			best = i
		}
	}
	return best
}

// rotate stores the running group behind the others and runs the ready group that has waited longest.
func (w *Warp) rotate() {
	w.spins = 0
	for i := range w.groups {
		if w.groups[i].wait == waitNone {
			g := w.groups[i]
			copy(w.groups[i:], w.groups[i+1:])
			w.groups[len(w.groups)-1] = group{pc: w.pc, mask: w.mask}
			w.pc, w.mask = g.pc, g.mask
			return
		}
	}
}

// split makes the lanes of m of the running group a group of their own that continues at pc; the others go on running.
func (w *Warp) split(m uint32, pc int32) {
	w.groups = append(w.groups, group{pc: pc, mask: m})
	w.mask &^= m
	w.newest = m
}

// suspend makes lanes m of the running group wait; w.pc is already the next instruction of the others.
func (w *Warp) suspend(m uint32, g group) {
	g.mask = m
	w.groups = append(w.groups, g)
	w.mask &^= m
}

// branch continues lanes m at target and the others at the following instruction.
func (w *Warp) branch(m uint32, target int32) {
	e := w.e
	back := target <= w.pc
	switch {
	case m == 0:
		w.pc++
		return
	case m == w.mask:
		w.pc = target
	case w.k.volta:
		// The smaller group runs first. Measured: 32 lanes that each wait in a loop for a flag of the lane before make 123 steps in
		// this order, and other ones if the lanes that leave the loop always, or never, go first.
		if w.pc++; bits.OnesCount32(m)*2 < bits.OnesCount32(w.mask) {
			m, w.pc, target = w.mask&^m, target, w.pc
		}
		w.split(m, target)
		e.Diverged = true
	default:
		w.stack = append(w.stack, token{kind: tokenDiv, pc: target, mask: m})
		w.mask &^= m
		w.pc++
		e.Diverged = true
	}
	e.Taken = true
	if back && len(w.groups) > 0 {
		if w.spins++; w.spins >= switchAfter {
			w.rotate()
		}
	}
}

// branchEach continues every lane of m at its own target (by instruction index) and the others at the following instruction.
func (w *Warp) branchEach(m uint32, target *[warpLanes]int32) {
	e := w.e
	rest := w.mask &^ m
	fall := w.pc + 1
	first := true
	if rest != 0 {
		w.mask, w.pc, first = rest, fall, false
	}
	for m != 0 {
		t := target[bits.TrailingZeros32(m)&31]
		var same uint32
		for r := m; r != 0; r &= r - 1 {
			if l := bits.TrailingZeros32(r) & 31; target[l] == t {
				same |= 1 << uint(l)
			}
		}
		m &^= same
		e.Taken = true
		if first {
			w.mask, w.pc, first = same, t, false
			continue
		}
		e.Diverged = true
		if w.k.volta {
			w.groups = append(w.groups, group{pc: t, mask: same})
			w.newest = same
		} else {
			w.stack = append(w.stack, token{kind: tokenDiv, pc: t, mask: same})
		}
	}
}

// exitLanes ends lanes m of the running group.
func (w *Warp) exitLanes(m uint32) {
	w.live &^= m
	w.mask &^= m
	w.pc++
	if !w.k.volta {
		w.dropTokens(m, -1)
		if w.mask == 0 {
			w.unwind()
		}
	} else {
		w.settle()
	}
	if m != 0 {
		w.Block.lanesEnded(w)
	}
	if w.mask == 0 && !w.halted {
		w.next()
	}
}

// exited tells the block that the warp's last lane has ended.
func (w *Warp) exited() { w.Block.running-- }

// settle releases the groups whose convergence or warp barrier is complete, after lanes arrived, ended, yielded or left a barrier.
func (w *Warp) settle() {
	for i := 0; i < len(w.groups); i++ {
		g := &w.groups[i]
		if g.wait != waitBSync && g.wait != waitWarpSync || g.need&w.live&^w.arrived(g) != 0 {
			continue
		}
		if g.wait == waitBSync {
			w.complete(g.bar, g.need)
		} else {
			w.release(waitWarpSync, g.bar, g.need&w.live|g.mask)
		}
		i = -1 // groups have moved
	}
}

// complete lets the lanes go on that wait at a convergence barrier for these participants. The barrier is then empty, unless it has been set anew.
func (w *Warp) complete(bar uint8, need uint32) {
	w.empty(bar, need)
	var lanes uint32
	for i := range w.groups {
		if g := &w.groups[i]; g.waitsFor(bar, need) {
			lanes |= g.mask
		}
	}
	w.release(waitBSync, bar, lanes)
}

// waitsFor says whether the group waits at the convergence barrier for these participants. Groups that wait at it for others do so in another call of the
// function, which kept the barrier of its caller in a register.
func (g *group) waitsFor(bar uint8, need uint32) bool {
	return g.wait == waitBSync && g.bar == bar && g.need == need
}

// aim makes the groups that wait at the convergence barrier for these participants wait for others.
func (w *Warp) aim(bar uint8, parts, need uint32) {
	for i := range w.groups {
		if g := &w.groups[i]; g.waitsFor(bar, parts) {
			g.need = need
		}
	}
}

// arrived is the lanes for which group g need not wait any more: those that wait as it does and, at a convergence barrier, those that have yielded.
func (w *Warp) arrived(g *group) uint32 {
	var have uint32
	if g.wait == waitBSync {
		have = w.yielded
	}
	for i := range w.groups {
		if o := &w.groups[i]; g.wait == waitWarpSync && o.wait == waitWarpSync || g.wait == waitBSync && o.waitsFor(g.bar, g.need) {
			have |= o.mask
		}
	}
	return have
}

// release makes the groups that wait in the given way and belong to lanes ready, joining those that continue at one address.
func (w *Warp) release(kind waitKind, bar uint8, lanes uint32) {
	kept := w.groups[:0]
	firstReady := -1
	for _, g := range w.groups {
		if g.wait != kind || g.mask&lanes == 0 || (g.bar != bar && kind != waitWarpSync) {
			kept = append(kept, g)
			continue
		}
		if firstReady >= 0 && kept[firstReady].pc == g.pc {
			kept[firstReady].mask |= g.mask
			continue
		}
		firstReady = len(kept)
		kept = append(kept, group{pc: g.pc, mask: g.mask})
	}
	w.groups = kept
}

// execBSSY sets a convergence barrier, one register of the warp: the running lanes take part. Groups that wait at it wait for them from now on,
// unless its participants have been kept in a register (by a function for its caller).
func execBSSY(w *Warp, u *uop, m uint32) {
	if kept := w.bars.kept>>u.b&1 != 0; !kept && m != 0 {
		w.aim(u.b, w.participants(u.b, m), m)
	}
	w.bars.kept &^= 1 << u.b
	w.setParticipants(u.b, m, m)
}

// execBSYNC waits until every participant that still lives and has not left the barrier is here or has yielded, and lets all that wait at the
// barrier go on; the barrier is then empty, and lanes that yielded pass it later. Lanes that do not take part wait with the others: while
// they had yielded, others have set the barrier for themselves.
func execBSYNC(w *Warp, u *uop, m uint32) {
	at := w.pc
	w.pc++
	need := w.participants(u.b, m)
	switch {
	case need&w.live == 0 || m == 0:
		return
	case need&w.live&^m == 0:
		if len(w.groups) > 0 {
			w.complete(u.b, need)
		}
		return
	}
	w.suspend(m, group{pc: w.pc, wait: waitBSync, bar: u.b, need: need, at: at})
	w.settle()
	if w.mask == 0 {
		w.next()
	}
}

// execBREAK takes the executing lanes out of the convergence barrier.
func execBREAK(w *Warp, u *uop, m uint32) {
	w.pc++
	if m &= w.pred(u.ps[0]); m != 0 {
		parts := w.participants(u.b, m)
		w.leave(u.b, parts, m)
		w.aim(u.b, parts, parts&^m)
		w.settle()
	}
}

// execBMOVtoR copies the convergence barrier to a register, and clears it with .CLEAR. Without a register to keep it in (RZ, which 7.x
// writes before every BSSY) its participants are given up: whoever waits for them waits for those that set the barrier next.
func execBMOVtoR(w *Warp, u *uop, m uint32) {
	d := w.out(u, 0, m)
	parts := w.participants(u.b, m)
	for r := m; r != 0; r &= r - 1 {
		d[bits.TrailingZeros32(r)&31] = parts
	}
	w.commit(u, 1, m)
	if m == 0 {
		return
	}
	drop := u.in.Dst[0].Kind == KindReg && u.in.Dst[0].Reg == RZ
	if !drop {
		w.bars.kept |= 1 << u.b
	}
	if u.in.Mod.Has(ModClear) {
		w.setParticipants(u.b, m, 0)
		if drop {
			w.aim(u.b, parts, 0)
		}
	}
}

// execBMOVtoB copies a register to the convergence barrier.
func execBMOVtoB(w *Warp, u *uop, m uint32) {
	if m != 0 {
		w.setParticipants(u.b, m, w.val(&u.s[0])[bits.TrailingZeros32(m)&31])
	}
}

// execWARPSYNC waits until all living lanes of the mask are at a WARPSYNC.
func execWARPSYNC(w *Warp, u *uop, m uint32) {
	at := w.pc
	w.pc++
	if m == 0 {
		return
	}
	need := w.live
	if !u.in.Mod.Has(ModAllLanes) {
		need &= w.val(&u.s[0])[lowest(m)]
	}
	if u.in.Mod.Sub == SubExclusive || u.in.Mod.Sub == SubCollective {
		need |= m & -m                      // also a lane that its own mask lacks comes to its turn
		if later := m &^ need; later != 0 { // lanes with another mask
			w.groups = append(w.groups, group{pc: at, mask: later})
			w.mask &^= later
			m &= need
			w.e.Diverged = true
		}
	}
	if need&^m == 0 {
		return
	}
	w.e.Joined = true
	w.suspend(m, group{pc: w.pc, wait: waitWarpSync, need: need, at: at})
	w.settle()
	if w.mask == 0 {
		w.next()
	}
}

// execYIELD puts the running group behind the others, and convergence barriers no longer wait for it: on an H200 the lanes that leave a loop with
// YIELD run on, some to the program's end, while those that stay take turns. With nobody to yield to they count as not having yielded.
func execYIELD(w *Warp, u *uop, m uint32) {
	w.pc++
	if len(w.groups) == 0 {
		w.yielded &^= m
		return
	}
	if m == 0 {
		return
	}
	w.yielded |= m
	w.groups = append(w.groups, group{pc: w.pc, mask: m})
	if w.mask &^= m; w.mask == 0 {
		w.next()
	}
}
