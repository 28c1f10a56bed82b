package sm

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestExitBesideBarrier: of each warp some lanes wait at a barrier of the block while the others end. Lanes that have ended count
// as arrived, so that the last EXIT lets all warps go on.
func TestExitBesideBarrier(t *testing.T) {
	for _, c := range []struct{ warps, waiting int }{{1, 8}, {2, 8}, {2, 24}, {8, 8}, {8, 24}} {
		compare := stall(13, op(isa.OpISETP, isa.P(0), isa.R(0), isa.I(uint32(c.waiting)), isa.P(isa.PT)))
		compare.NDst, compare.Dst[1], compare.Mod.Cmp, compare.Mod.Type = 2, isa.P(isa.PT), isa.CmpGE, isa.U32
		compare.Ctrl.WaitMask = 1
		leave := stall(5, op(isa.OpBRA, none, isa.Label(5)))
		leave.Guard = isa.P(0)
		p := code(ctl{stall: 2, set: 0}.on(op(isa.OpS2R, isa.R(0), isa.SR(isa.SRLaneID))), compare, leave, bar(), exit(), exit())
		rec, _ := run(t, arch(t, "sm_90"), p, 1, 32*c.warps, Options{})
		for slot := range c.warps {
			if n := len(rec.at[slot]); n != 6 {
				t.Errorf("%d warps, %d lanes of each wait: warp %d executes %d instructions, want 6", c.warps, c.waiting, slot, n)
			}
		}
	}
}
