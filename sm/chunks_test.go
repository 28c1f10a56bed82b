package sm

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestChunkPort: what the port has promised stays, also when a request for an earlier cycle comes later.
func TestChunkPort(t *testing.T) {
	c := newChunkPort(&arch(t, "sm_90").Fetch, 16)
	for i, s := range []struct{ now, at, n, want uint64 }{
		{100, 110, 2, 110}, // a target in ten cycles
		{100, 110, 2, 112}, // another behind it
		{101, 101, 1, 101}, // a chunk in line before both
		{109, 109, 1, 109},
		{109, 109, 2, 114}, // no two cycles before
		{110, 110, 1, 116},
		{500, 500, 3, 500}, // long after
		{500, 500, 1, 503},
	} {
		if got := c.take(s.now, s.at, int(s.n)); got != s.want {
			t.Errorf("request %d: cycle %d, want %d", i, got, s.want)
		}
	}
	if c := newChunkPort(&arch(t, "sm_80").Fetch, 16); c.insts != 0 {
		t.Error("sm_80 has chunks without a measurement")
	}
}

// TestChunkEnd: behind a target that is the last instruction of its chunk the next one comes a cycle late, with the state no_instruction.
func TestChunkEnd(t *testing.T) {
	for _, c := range []struct {
		target int
		late   bool
	}{{4, false}, {5, false}, {6, false}, {7, true}, {8, false}} {
		body := []isa.Inst{bar(), stall(5, op(isa.OpBRA, none, isa.Label(c.target)))}
		for range 12 {
			body = append(body, nop())
		}
		rec, _ := run(t, arch(t, "sm_90"), code(append(body, exit())...), 1, 32, Options{})
		want := uint64(1)
		if c.late {
			want = 2
		}
		if got := rec.at[0][3] - rec.at[0][2]; got != want {
			t.Errorf("target %d: next instruction after %d cycles, want %d", c.target, got, want)
		}
		if got := rec.at[0][2] - rec.at[0][1]; got != 10 {
			t.Errorf("target %d: after %d cycles, want 10", c.target, got)
		}
	}
}
