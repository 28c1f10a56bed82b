package validate

import "testing"

// TestKnownReason: the arithmetic of shortened loops, and the most special rule first.
func TestKnownReason(t *testing.T) {
	for _, c := range []struct {
		r    Result
		want string
	}{
		{Result{Set: "forms", Input: FromPTX, Name: "L neg.s16 %d, %a;", Group: "latency", Measured: 511}, "fewer cycles than executions: ptxas shortened the timed loop, the lowering here did not, or less"},
		{Result{Set: "forms", Input: FromPTX, Name: "L neg.s16 %d, %a;", Group: "latency", Measured: 512}, "the lowering chooses other instructions or another order than ptxas"},
		{Result{Set: "forms", Input: FromPTX, Name: "T abs.s16 %d, %a;", Group: "throughput", Measured: 8191}, "fewer cycles than executions: ptxas shortened the timed loop, the lowering here did not, or less"},
		{Result{Set: "forms", Input: FromSASS, Name: "T neg.s32 %d, %a;", Group: "throughput", Measured: 118},
			"ptxas removed the loop: a few instructions between two clock reads, tens of cycles of skew between the 16 warps"},
		{Result{Set: "forms", Input: FromSASS, Name: "L shr.u64 %d, %a, %b;", Group: "latency", Measured: 4396}, "not understood"},
		{Result{Set: "mixes", Input: FromSASS, Group: "2 IMAD.WIDE+MUFU"}, "beside a transcendental instruction: both pipes are busy 8 of 8 cycles, the hardware needs 9, why is not known"},
		{Result{Set: "kernels_cold", Input: FromPTX, Group: "overhead"}, "an empty kernel: start and end of a launch are most of it"},
	} {
		if got := knownReason(&c.r); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.r.Set, c.r.Name+c.r.Group, got, c.want)
		}
	}
}
