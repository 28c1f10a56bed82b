package validate

import (
	"math"
	"strings"
	"testing"
)

// TestPairs: ratios of known cycles, variants against the first of their algorithm, other work and failures apart.
func TestPairs(t *testing.T) {
	r := func(kernel, work string, measured, predicted float64) *Result {
		return &Result{Kernel: kernel, work: work, Measured: measured, Predicted: predicted}
	}
	lost := r("dot_mad", "dot 3", 100, 0)
	lost.Failure = "lost"
	p := pairUp([]*Result{
		r("dot_dp4a", "dot 1", 100, 110), r("dot_mad", "dot 1", 200, 220), // ratio 2 both: right
		r("dot_dp4a", "dot 2", 100, 100), r("dot_mad", "dot 2", 80, 120), // 0.8 and 1.2: off by 50 %, the wrong side
		r("dot_dp4a", "dot 3", 100, 100), lost,
		r("dot_dp2a", "dot 1", 102, 110), // 1.02 and 1: too near to have a side
		r("dot_mad", "dot 4", 100, 100), r("plain", "", 100, 100),
	})
	if p.Launches != 3 || p.Clear != 2 || p.SameSide != 1 || len(p.Variants) != 2 {
		t.Fatalf("%+v", p)
	}
	v := p.Variants[0]
	if v.Variant != "dot_mad" || v.First != "dot_dp4a" || v.Launches != 2 || math.Abs(v.Measured-math.Sqrt(1.6)) > 1e-9 || math.Abs(v.Predicted-math.Sqrt(2.4)) > 1e-9 || math.Abs(float64(v.Off)-25) > 1e-9 {
		t.Errorf("%+v", v)
	}
	if s := p.summary(); !strings.Contains(s, "3 pairs of launches") || !strings.Contains(s, "1 of 2 that differ by more than 5 %") {
		t.Error(s)
	}
	if p := pairUp([]*Result{r("plain", "", 100, 100), lost}); p != nil {
		t.Errorf("pairs of nothing: %+v", p)
	}
}

// TestVariants: launches of one algorithm with the same blocks and results do the same work, whatever the variant.
func TestVariants(t *testing.T) {
	l := func(function, sum string, block uint32) string {
		return (&launch{Function: function, Grid: [3]uint32{132, 1, 1}, Block: [3]uint32{block, 1, 1}, Checksums: map[string]string{"0": sum}}).work()
	}
	same := l("dot_dp4a", "1f", 64)
	for _, c := range []struct {
		function, sum string
		block         uint32
		same          bool
	}{{"dot_mad", "1f", 64, true}, {"dot_mad", "2f", 64, false}, {"dot_mad", "1f", 96, false}, {"sad_mad", "1f", 64, false}} {
		if got := l(c.function, c.sum, c.block) == same; got != c.same {
			t.Errorf("%+v: the same work: %v", c, got)
		}
	}
	if l("dot", "1f", 64) != "" || l("dot_mad", "", 64) != "" {
		t.Error("a kernel without variants or without results has work")
	}
}
