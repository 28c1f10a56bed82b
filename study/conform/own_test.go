package conform

import (
	"fmt"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/isa/zipped"
)

// TestOwnIntrinsicCost is TestIntrinsicCost for sm_100 and sm_120 with the PTX that nvcc 13.0 makes of the same expressions for these targets
// ("Based on NVVM 20.0.0"; earlier targets have NVVM 7.0.1) and what ptxas makes of it: with the PTX of sm_90 the difference is
// the front end's.
func TestOwnIntrinsicCost(t *testing.T) {
	s, err := BundledIntrinsics()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []struct{ sm, same, near int }{{100, 915, 995}, {120, 875, 965}} {
		text := zipped.Read(t, fmt.Sprintf("testdata/own/sm_%d.ptx.gz", g.sm))
		m, err := ptx.Parse("intrinsics.ptx", text)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{}
		l := unzip(t, fmt.Sprintf("testdata/own/sm_%d.sass.gz", g.sm))
		for _, fn := range l.Funcs {
			p, err := l.Program(fn, 0)
			if err != nil {
				t.Fatal(err)
			}
			want[fn.Name] = len(core(p))
		}
		var rows []costRow
		for _, in := range s.Intrinsics {
			name := fmt.Sprintf("k%d", in.ID)
			p, err := lower.Compile(m, name, isa.NewTarget(g.sm), lower.Options{})
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, costRow{in.Expr, len(core(p)), want[name]})
		}
		costTable(t, g.sm, rows, g.same, g.near)
	}
}
