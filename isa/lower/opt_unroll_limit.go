package lower

import "github.com/sarchlab/smsim/isa"

// Unrolling of counted loops whose number of rounds is not known: by four, on every target alike, where the body's statements of PTX
// count little enough (partialWeight), without the counter's addition, the comparison and the branch. A load from shared memory lets
// the body be a little longer, one from global memory much longer; with several loads from shared memory it may have so
// many machine instructions. Seen in the code of some 400 loops (docs/lowering.md). Branches inside do not matter, ways out of the loop do.
const (
	unrollFactor     = 4
	unrollPair       = 2
	unrollArithmetic = 18
	unrollShared     = 23
	unrollGlobal     = 47
	unrollShares     = 56 // machine instructions, with several loads from shared memory
)

// short says that the loop's body is not too long for four copies.
func (c *loopBody) short() bool {
	f := c.f
	u := f.uniformity()
	parts := u.divergentBranch(c.latch)
	weight, machine, shared := -loopStatements, 0, 0
	global := false
	for _, b := range c.blocks {
		weight += b.weight
		machine += len(b.insts)
		for i := range b.insts {
			in := &b.insts[i]
			if isWarpWide(in) && in.Op != isa.OpWARPSYNC && in.Op != isa.OpBAR && (f.t.SM < 90 || parts) {
				return false
			}
			switch in.Class() {
			case isa.ClassSTG:
				if parts { // probed with 30 loops: lanes that part and store to global memory keep their loop
					return false
				}
			case isa.ClassLDG:
				global = true
			case isa.ClassLDS:
				shared++
			}
			if f.sizes[in.Pos].known == manyStatements { // a division
				return false
			}
		}
	}
	switch {
	case global && weight <= unrollGlobal, shared > 1 && machine <= unrollShares:
		return true
	case shared > 0:
		return weight <= unrollShared
	}
	return weight <= unrollArithmetic
}
