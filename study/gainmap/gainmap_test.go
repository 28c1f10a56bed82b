package gainmap

import (
	"testing"

	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

// TestForms simulates a small map of every pair on an old and a new architecture: Simulate compares the outputs of both forms.
func TestForms(t *testing.T) {
	g := Grid{Chains: []int{1, 3}, Warps: []int{1, 4}, Loads: []float64{0, 2}, Latencies: []int{30, 300}, Iteration: 32, MapLoads: 0.5, MapChains: 2, MapWarps: 2}
	for _, k := range Kinds() {
		for _, arch := range []string{"sm_61", "sm_90"} {
			m, err := Simulate(k, arch, g, workloads.Settings{}, study.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Figures()) != 2 || len(m.Memory.Gain) != 2 || len(m.Memory.Gain[1]) != 2 {
				t.Errorf("%s on %s: %+v", k.Name, arch, m.Memory)
			}
			if k.Name != "dp4a" {
				continue
			}
			// Latency of memory hides the saved instructions where each result needs loads; without loads it does not matter.
			if a, b := m.Memory.Gain[1][0], m.Memory.Gain[1][1]; a <= b {
				t.Errorf("%s: gain %.2f with loads of 30 cycles, %.2f with 300: it should fall", arch, a, b)
			}
			if a, b := m.Memory.Gain[0][0], m.Memory.Gain[0][1]; a != b {
				t.Errorf("%s: without loads the gain is %.2f and %.2f", arch, a, b)
			}
		}
	}
}
