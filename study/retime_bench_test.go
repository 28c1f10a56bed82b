package study

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// The two benchmarks say what executing once and timing many times could save: the functional part of a run.
func BenchmarkTimedRun(b *testing.B) {
	bn, _ := newBench(nccPlan(b, "imad_c4", "128x1", "sm_90"), "sm_90", false)
	for b.Loop() {
		if _, _, err := bn.run(nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFunctionalRun(b *testing.B) {
	bn, _ := newBench(nccPlan(b, "imad_c4", "128x1", "sm_90"), "sm_90", false)
	for b.Loop() {
		l, _, err := bn.cs.NewLaunch(bn.prog)
		if err != nil {
			b.Fatal(err)
		}
		l.NumSMs = 132
		k, err := isa.Bind(bn.prog, bn.base.target, l)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := k.RunGrid([]int{0}); err != nil {
			b.Fatal(err)
		}
	}
}
