package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// Unrolling of counted loops whose number of rounds is not known: by four, on every target alike, where the body's statements of PTX
// count little enough (partialSize), without the counter's addition, the comparison and the branch. A load from global or local memory lets
// the body be much longer, each one from shared memory a little. Read off the code of some 800 loops, all of whose limits these are
// (docs/lowering.md). Branches inside do not matter, ways out of the loop do.
const (
	unrollFactor = 4
	unrollPair   = 2
	unrollLimit  = 18
	unrollLoads  = 46 // with loads from global or local memory
	unrollShared = 5  // more for each load from shared memory
	unrollMost   = 98 // with many of these
)

// What a statement counts where it is not one.
const (
	memorySize  = 2
	atomicSize  = 11
	madWideSize = 4
)

// partialCount is what decides whether a loop with an unknown number of rounds is unrolled.
type partialCount struct {
	size  int
	raise int  // how much longer the body may be for its loads from shared memory
	loads bool // from global or local memory
	never bool // divisions
}

func (c *partialCount) add(x partialCount) {
	c.size += x.size
	c.raise += x.raise
	c.loads = c.loads || x.loads
	c.never = c.never || x.never
}

// within says that the body, without the loop's own statements, is not too long.
func (c *partialCount) within() bool {
	limit := min(unrollLimit+c.raise, unrollMost)
	if c.loads {
		limit = max(limit, unrollLoads)
	}
	return !c.never && c.size-loopStatements <= limit
}

// partialSize is what a statement counts where a loop's number of rounds is not known: as where it is known, but memory operations
// more, 64-bit shifts, bit fields and comparisons with a second condition once.
func partialSize(in *ptx.Instr) partialCount {
	switch in.Op {
	case "ld":
		switch {
		case in.Has("param") || in.Has("const"):
			return partialCount{size: 1}
		case in.Has("shared"):
			return partialCount{size: memorySize, raise: unrollShared}
		}
		return partialCount{size: memorySize, loads: true}
	case "st":
		return partialCount{size: memorySize}
	case "atom", "red":
		return partialCount{size: atomicSize}
	case "div", "rem":
		return partialCount{never: !in.Has("approx") && !in.Has("full") && !in.Has("f32") && !in.Has("f64")}
	case "setp", "bfi", "bfe":
		if !in.Has("b64") && !in.Has("u64") && !in.Has("s64") {
			return partialCount{size: 1}
		}
	case "abs":
		return partialCount{}
	case "mad":
		if in.Has("wide") {
			return partialCount{size: madWideSize}
		}
	case "shl", "shr":
		if n := len(in.Mods); n > 0 && typeBits(in.Mods[n-1]) == 64 {
			return partialCount{size: 1}
		}
	}
	return partialCount{size: statementSize(in)}
}

// freeStatements are statements that count nothing where a loop's number of rounds is not known: additions of a constant to a loop's
// counter, and products of words that are only added to 64-bit numbers.
func (f *fn) freeStatements() map[isa.SourcePos]bool {
	free := map[isa.SourcePos]bool{}
	n := f.numbering()
	added := make([]int8, n.total) // low words read: 1 by 64-bit additions alone, 2 by others
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			how := int8(2)
			if in.Op == isa.OpIADD3 && in.Dst[1] != pt || in.Op == isa.OpIADD && in.Mod.Has(isa.ModWide) {
				how = 1
			}
			f.uses(in, n, func(id int) { added[id] = max(added[id], how) })
		}
	}
	for _, l := range f.loops {
		if f.hasInner(l) {
			continue
		}
		counters := f.counters(l)
		for _, b := range l.blocks {
			for i := range b.insts {
				in := &b.insts[i]
				if r, ok := addsConstant(in); ok && counters[r] && in.Dst[0].Reg != r {
					free[in.Pos] = true
				}
				if in.Op == isa.OpIMAD && in.Mod.Has(isa.ModWide) && isZero(in.Src[2]) && f.sizes[in.Pos].partial.size == 1 {
					if regs := f.tuples[in.Dst[0].Reg]; len(regs) == 2 && added[n.of(isa.KindReg, regs[0])] == 1 {
						free[in.Pos] = true
					}
				}
			}
		}
	}
	return free
}

// counters are the registers that a loop changes by a constant, and in no other way.
func (f *fn) counters(l *loop) map[isa.Reg]bool {
	n := f.numbering()
	writes := map[int]int{}
	for _, b := range l.blocks {
		for i := range b.insts {
			f.defs(&b.insts[i], n, func(id int) { writes[id]++ })
		}
	}
	counters := map[isa.Reg]bool{}
	for _, b := range l.blocks {
		for i := range b.insts {
			if r, ok := addsConstant(&b.insts[i]); ok && b.insts[i].Dst[0].Reg == r && writes[n.of(isa.KindReg, r)] == 1 {
				counters[r] = true
			}
		}
	}
	return counters
}

// addsConstant gives the register to which the instruction adds a constant.
func addsConstant(in *isa.Inst) (isa.Reg, bool) {
	if !plainAdd(in) || in.Guard.Kind != isa.KindNone {
		return 0, false
	}
	t := terms(in, 3)
	if len(t) == 2 && t[0].Kind != isa.KindReg {
		t[0], t[1] = t[1], t[0]
	}
	if len(t) != 2 || t[0].Kind != isa.KindReg || t[0].Flags != 0 || t[0].Reg < isa.VirtualBase {
		return 0, false
	}
	_, ok := constant(t[1])
	return t[0].Reg, ok
}

// short says that the loop's body is not too long for four copies.
func (c *loopBody) short() bool {
	f := c.f
	var count partialCount
	together, store := false, false // lanes execute something together; some store to global memory
	for _, b := range c.blocks {
		count.add(b.partial)
		for i := range b.insts {
			in := &b.insts[i]
			together = together || isWarpWide(in) && in.Op != isa.OpWARPSYNC && in.Op != isa.OpBAR
			store = store || in.Class() == isa.ClassSTG
		}
	}
	switch {
	case !count.within(), together && f.t.SM < 90:
		return false
	case together || store: // probed with 30 loops: lanes that part and store to global memory keep their loop
		return !f.uniformity().divergentBranch(c.latch)
	}
	return true
}
