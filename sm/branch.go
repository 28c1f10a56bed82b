package sm

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
)

// mostApart is the number of further warps waiting for their targets that put those of a warp further apart.
const mostApart = 2

// targetAt is the cycle at which a taken branch that issues at t has its target, which alone it would have at the given one.
//
// Measured on the H200 (chains of BRA, testdata/h200_kernels.csv): 10.0 cycles a branch from one warp of a sub-partition, 13.0, 14.0, 14.1 and
// 15.2 from 2, 3, 4 and 6; with one NOP before each, two warps still need 13.0, with two 13.3, with four and eight one more than one warp.
func (p *smsp) targetAt(i int, w *warp, c *timing, e *isa.Effect, t, at uint64) uint64 {
	cf := &p.sm.mach.arch.Control
	if others := p.resolving(i, t); others > 0 {
		at = max(at+uint64(cf.BranchOverlap), w.target+uint64(cf.BranchApart+min(others-1, mostApart)))
	}
	if p.chunks.insts > 0 {
		further := 0
		if wrongPath(c) || c.stall < wrongPathStall && p.chunks.last(int32(e.Index)) {
			further = 1
		}
		at = p.chunks.redirect(t, at, int32(e.Next), further)
		if p.chunks.last(int32(e.Next)) {
			w.chunkAt = at + chunkGap
		}
	} else {
		p.branchFree = max(p.branchFree, float64(t)) + cf.BranchPort
	}
	w.target = at
	p.branched |= 1 << i
	return at
}

// A branch with a stall count below wrongPathStall does not keep its warp from issuing what is behind it until the target is known. With a stall
// count of 1 and the bit that keeps the warp the instructions behind it are fetched for nothing: one more cycle of the port, measured 1.06
// (chains from eight warps 3.3 cycles a branch). Otherwise one instruction is, which asks for a chunk if it begins one: measured 0.28, a quarter of the branches.
const wrongPathStall = 3

func wrongPath(c *timing) bool { return c.stall == 1 && c.yield }

// inLine is the cycle at which a warp that goes on in line can issue its next instruction: a chunk that begins there may not be there yet.
func (p *smsp) inLine(w *warp, next int32, t, at uint64) uint64 {
	n := p.chunks.insts
	if n == 0 {
		return at
	}
	place := next & (n - 1)
	if place == 0 && w.chunkAt > at {
		w.spend(sim.Wait, at-w.since)
		w.state = sim.NoInstruction
		at = w.chunkAt
	}
	if place == n-1 {
		w.chunkAt = p.chunks.next(t)
	}
	return at
}

// resolving is the number of other warps of the sub-partition that wait for the target of a taken branch.
func (p *smsp) resolving(i int, t uint64) (n int) {
	for m := p.branched &^ (1 << i); m != 0; m &= m - 1 {
		if j := lowest(m); p.warps[j].target > t {
			n++
		} else {
			p.branched &^= 1 << j
		}
	}
	return n
}
