package lower

import "github.com/sarchlab/smsim/isa"

// testTarget is a target with latencies like Volta's, so that tests need no architecture file.
func testTarget(sm int) *isa.Target {
	t := isa.NewTarget(sm)
	for c := isa.Class(1); c < isa.NumClasses; c++ {
		t.Latency[c], t.Interval[c], t.Pipe[c] = 4, 2, "alu"
		if c.IsMemory() {
			t.Variable[c], t.Latency[c], t.Pipe[c] = true, 30, "lsu"
		}
	}
	for _, c := range []isa.Class{isa.ClassIMAD, isa.ClassIMADHI, isa.ClassIDP, isa.ClassVIADD, isa.ClassIMADWIDE, isa.ClassFFMA} {
		t.Pipe[c] = "fma"
	}
	for _, c := range []isa.Class{isa.ClassMUFU, isa.ClassPOPC, isa.ClassFLO, isa.ClassBREV, isa.ClassI2F, isa.ClassF2I, isa.ClassF2F,
		isa.ClassI2I, isa.ClassS2R, isa.ClassS2UR, isa.ClassLDC, isa.ClassSHFL, isa.ClassMATCH, isa.ClassREDUX, isa.ClassR2UR} {
		t.Variable[c], t.Latency[c], t.Pipe[c] = true, 20, "xu"
	}
	t.Latency[isa.ClassLDG], t.Latency[isa.ClassIMADWIDE] = 200, 5
	t.PredLatency, t.GuardLatency, t.BranchPred, t.CrossPipe = 4, 6, 13, 1
	for c := isa.ClassBRA; c <= isa.ClassBAR; c++ {
		t.Pipe[c] = "cbu"
	}
	return t
}
