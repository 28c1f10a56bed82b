package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// everybody is the mask of all lanes of a warp.
const everybody = 0xffffffff

// meetInLoops lets the lanes of a warp meet (WARPSYNC) before the barriers of the whole block in loops that lanes can leave in
// different rounds, and before the first barrier that follows such a loop, as ptxas does. What a barrier's reduction gives is the same
// in all lanes, but ptxas takes it for different: "do ... while (__syncthreads_or(changed))" is such a loop.
func (f *fn) meetInLoops() {
	f.eachMeeting(func(b *block, inside bool) bool {
		if inside {
			return f.meetBefore(b, len(b.insts))
		}
		return f.meetBefore(b, 1)
	})
}

// eachMeeting calls meet for the blocks of every loop that lanes leave apart, and, if one of them has a barrier of the whole block, which meet says, for those
// that certainly follow, up to the first that has one.
func (f *fn) eachMeeting(meet func(b *block, inside bool) bool) {
	if f.t.SM < 70 || !slices.ContainsFunc(f.blocks, hasBlockBarrier) {
		return
	}
	f.divergentRegions(f.uniformityOf(true), func(branch *block, body map[*block]bool) {
		if !body[branch] {
			return
		}
		met := false
		for b := range body {
			met = meet(b, true) || met
		}
		for b := branch.ipdom; met && b != nil; b = b.ipdom {
			if meet(b, false) {
				break
			}
		}
	})
}

// meetBefore puts WARPSYNC before the first barriers of the whole block in b, at most so many, and says whether there are any.
func (f *fn) meetBefore(b *block, most int) bool {
	some := 0
	b.meets = b.meets || hasBlockBarrier(b)
	for i := 0; i < len(b.insts) && some < most; i++ {
		if !isBlockBarrier(&b.insts[i]) {
			continue
		}
		some++
		if i > 0 && b.insts[i-1].Op == isa.OpWARPSYNC {
			continue
		}
		meet := isa.Inst{Op: isa.OpWARPSYNC, NSrc: 1, Pos: b.insts[i].Pos}
		meet.Src[0] = imm(everybody)
		b.insts = slices.Insert(b.insts, i, meet)
		i++
	}
	return some > 0
}

// isBlockBarrier says that the instruction waits for all threads of the block.
func isBlockBarrier(in *isa.Inst) bool {
	if in.Op != isa.OpBAR || in.Guard.Kind != isa.KindNone {
		return false
	}
	switch in.Mod.Sub {
	case isa.SubRedPopc, isa.SubRedAnd, isa.SubRedOr:
		return in.NSrc == 2
	case isa.SubSync:
		return in.NSrc == 1
	}
	return false
}

func hasBlockBarrier(b *block) bool {
	for i := range b.insts {
		if isBlockBarrier(&b.insts[i]) {
			return true
		}
	}
	return false
}

// meetsAnyway says that the lanes of a region meet before a barrier of the block in it or in the block behind it: nothing else gathers them.
func (r *region) meetsAnyway() bool {
	if r.join.meets {
		return true
	}
	for b := range r.body {
		if b.meets && b.loop != nil && !b.loop.contains(r.join) {
			return true
		}
	}
	return false
}
