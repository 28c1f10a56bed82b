package conform

import (
	"math"
	"math/rand"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestDoubleDivision checks the division of f64 against the host's: any exponents, subnormal operands and results,
// overflow, zeros and infinities.
func TestDoubleDivision(t *testing.T) {
	const n = 1 << 12
	f := &Form{PTX: "{ .reg .f64 %x<4>; mov.b64 %x1, %a; mov.b64 %x2, %b; div.rn.f64 %x3, %x1, %x2; mov.b64 %d, %x3; }",
		Result: "u64", Operands: []string{"u64", "u64"}, Accepted: true}
	s := &Set{Vectors: n, D: map[int][]uint64{}, E: map[int][]uint64{0: make([]uint64, n)}}
	r := rand.New(rand.NewSource(1))
	short := func(low, span int) float64 { // few mantissa bits give ties
		x := math.Ldexp(float64(1+r.Int63n(1<<uint(1+r.Intn(52)))), low+r.Intn(span))
		return math.Copysign(x, r.Float64()-0.5)
	}
	corners := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 0x1p-1074, math.MaxFloat64, 0x1p-1022, 1}
	for i := 0; i < n; i++ {
		a, b := math.Float64frombits(r.Uint64()), math.Float64frombits(r.Uint64())
		switch {
		case i < len(corners)*len(corners):
			a, b = corners[i/len(corners)], corners[i%len(corners)]
		case i%3 == 0:
			a, b = short(-1074, 200), short(-20, 200)
		}
		if q := a / b; math.IsNaN(q) {
			a, b = 1, 3
		}
		s.A, s.B, s.C = append(s.A, math.Float64bits(a)), append(s.B, math.Float64bits(b)), append(s.C, 0)
		s.D[0] = append(s.D[0], math.Float64bits(a/b))
	}
	for _, sm := range []int{13, 20, 35, 61, 75, 90, 120} {
		if r := s.RunForm(f, isa.NewTarget(sm)); r.Outcome != Equal {
			t.Errorf("sm_%d: %s", sm, r.Line())
		}
	}
}
