package study

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
)

func TestFillsChip(t *testing.T) {
	for _, c := range []struct {
		name       string
		grid       uint32
		here, chip int
		want       bool
	}{
		{"a full wave", 132, 1, 132, true},
		{"everything on this SM", 132, 132, 132, false},
		{"three blocks on a large chip", 3, 1, 132, false},
		{"half of the other SMs", 67, 1, 132, true},
		{"one SM", 8, 8, 1, false},
		{"two SMs, two blocks", 2, 1, 2, true},
	} {
		l := &isa.Launch{Grid: isa.Dim3{X: c.grid, Y: 1, Z: 1}, NumSMs: c.chip}
		if got := fillsChip(l, c.here); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
