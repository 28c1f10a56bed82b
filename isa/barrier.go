package isa

import (
	"fmt"
	"math/bits"
)

// numBarriers is the number of named barriers of a block on every architecture.
const numBarriers = 16

// blockBarrier is a named barrier. Arrival is counted in lanes; lanes that have exited, or that a partly filled warp never
// had, count as arrived.
type blockBarrier struct {
	arrived []uint32 // per warp: lanes that have arrived
	count   int      // threads expected by BAR with a thread count, 0: every living lane of the block
	used    bool
	red     Sub
	popc    uint32
	and, or bool
}

func (b *blockBarrier) reset() {
	for i := range b.arrived {
		b.arrived[i] = 0
	}
	b.count, b.used, b.red, b.popc, b.and, b.or = 0, false, SubNone, 0, true, false
}

// complete says whether everyone who is expected has arrived.
func (b *Block) complete(n int) bool {
	bar := &b.bars[n]
	if bar.count == 0 {
		for i, w := range b.Warps {
			if w.live&^bar.arrived[i] != 0 {
				return false
			}
		}
		return true
	}
	total := 0
	for i, w := range b.Warps {
		if bar.arrived[i] != 0 {
			total += bits.OnesCount32(bar.arrived[i] | ^w.live)
		}
	}
	return total >= bar.count
}

// execBAR is BAR in all its forms: SYNC waits, ARV does not, RED combines a predicate of every thread.
func execBAR(w *Warp, u *uop, m uint32) {
	e, b := w.e, w.Block
	at := w.pc
	w.pc++
	if m == 0 {
		return
	}
	if !w.k.volta { // before Volta the whole warp arrives, whichever lanes are active
		m = w.mask
	}
	first := bits.TrailingZeros32(m) & 31
	id := int(w.val(&u.s[0])[first])
	if id < 0 || id >= numBarriers {
		w.err = w.fail(fmt.Sprintf("named barrier %d: a block has barriers 0 to %d", id, numBarriers-1))
		return
	}
	count := 0
	if u.nvals > 1 {
		count = int(w.val(&u.s[1])[first])
		if count%warpLanes != 0 || count < 0 {
			w.err = w.fail(fmt.Sprintf("barrier %d expects %d threads: the count must be a multiple of %d", id, count, warpLanes))
			return
		}
	}
	bar := &b.bars[id]
	if bar.used && bar.count != count {
		w.err = w.fail(fmt.Sprintf("barrier %d expects %d threads here, but %d where other warps arrived (0: the whole block)", id, count, bar.count))
		return
	}
	sub := u.in.Mod.Sub
	bar.used, bar.count = true, count
	mine := m
	if !w.k.volta {
		mine = w.live
	}
	bar.arrived[w.Index] |= mine
	if sub >= SubRedPopc && sub <= SubRedOr {
		v := w.pred(u.ps[0]) & m
		bar.red = sub
		bar.popc += uint32(bits.OnesCount32(v))
		bar.and = bar.and && v == m
		bar.or = bar.or || v != 0
	}
	e.Barrier, e.BarrierArrived = id, true
	if sub != SubArrive {
		w.suspend(m, group{pc: w.pc, wait: waitBlock, bar: uint8(id), at: at})
	}
	if b.complete(id) {
		b.finish(id, w)
	}
	if w.mask == 0 {
		w.next()
	}
	e.Waiting = sub != SubArrive && w.halted
}

// finish lets the warps that wait at barrier n continue. stepping is the warp whose Step completed the barrier (nil: none).
func (b *Block) finish(n int, stepping *Warp) {
	bar := &b.bars[n]
	result := uint32(0)
	switch {
	case bar.red == SubRedPopc:
		result = bar.popc
	case bar.red == SubRedAnd && bar.and, bar.red == SubRedOr && bar.or:
		result = allLanes
	}
	red := bar.red
	bar.reset()
	for _, w := range b.Warps {
		var mask uint32
		for i := range w.groups {
			g := &w.groups[i]
			if g.wait == waitBlock && int(g.bar) == n {
				mask |= g.mask
				if red != SubNone {
					w.takeResult(g, result)
				}
			}
		}
		if mask == 0 {
			continue
		}
		w.release(waitBlock, uint8(n), mask)
		if !w.halted || w == stepping {
			continue // another group of it is running, or it goes on by itself
		}
		w.next()
		b.released = append(b.released, w)
	}
}

// takeResult hands a barrier reduction's result to a waiting group.
func (w *Warp) takeResult(g *group, v uint32) {
	w.barResult = v
	u := &w.k.ops[g.at]
	for i := range u.nd {
		for r := g.mask; r != 0; r &= r - 1 {
			w.regs[u.d[i]][bits.TrailingZeros32(r)&31] = v
		}
	}
	w.setPred(u.pd[0], g.mask, nonzeroMask(v))
}

// nonzeroMask is all lanes for a value other than zero.
func nonzeroMask(v uint32) uint32 {
	if v != 0 {
		return allLanes
	}
	return 0
}

// lanesEnded completes the barriers that only waited for lanes that have now exited.
func (b *Block) lanesEnded(stepping *Warp) {
	for n := range b.bars {
		if b.bars[n].used && b.complete(n) {
			b.finish(n, stepping)
		}
	}
}

// waiting describes for a deadlock report where the groups of a halted warp wait.
func (w *Warp) waiting() []string {
	var out []string
	for i := range w.groups {
		g := &w.groups[i]
		where := w.k.position(int(g.at))
		switch g.wait {
		case waitBlock:
			bar := &w.Block.bars[g.bar]
			need := "all threads of the block"
			if bar.count > 0 {
				need = fmt.Sprintf("%d threads", bar.count)
			}
			out = append(out, fmt.Sprintf("warp %d, lanes %#08x: at barrier %d for %s, %s", w.Index, g.mask, g.bar, need, where))
		case waitBSync:
			miss := g.need & w.live &^ g.mask
			out = append(out, fmt.Sprintf("warp %d, lanes %#08x: at BSYNC B%d for lanes %#08x, %s", w.Index, g.mask, g.bar, miss, where))
		case waitWarpSync:
			out = append(out, fmt.Sprintf("warp %d, lanes %#08x: at WARPSYNC for lanes %#08x, %s", w.Index, g.mask, g.need&w.live&^g.mask, where))
		}
	}
	return out
}
