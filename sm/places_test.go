package sm

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestFirstWarps: the first warps of blocks are spread over the sub-partitions.
func TestFirstWarps(t *testing.T) {
	for _, c := range []struct{ blocks, each int }{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {8, 2}} {
		compare := stall(13, op(isa.OpISETP, isa.P(0), isa.R(0), isa.I(32), isa.P(isa.PT)))
		compare.NDst, compare.Dst[1], compare.Mod.Cmp = 2, isa.P(isa.PT), isa.CmpGE
		compare.Ctrl.WaitMask = 1
		leave := stall(5, exit())
		leave.Guard = isa.P(0)
		rec, _ := run(t, arch(t, "sm_90"), code(ctl{stall: 2, set: 0}.on(op(isa.OpS2R, isa.R(0), isa.SR(isa.SRTidX))), compare, leave, nop(), exit()), c.blocks, 128, Options{})
		first := map[int]int{}
		for slot, at := range rec.at {
			if len(at) == 5 {
				first[slot%4]++
			}
		}
		for p, n := range first {
			if n != c.each {
				t.Errorf("%d blocks: %d first warps in sub-partition %d, want %d", c.blocks, n, p, c.each)
			}
		}
		if len(first) != min(c.blocks, 4) {
			t.Errorf("%d blocks: first warps in %d sub-partitions", c.blocks, len(first))
		}
	}
}
