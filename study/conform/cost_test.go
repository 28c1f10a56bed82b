package conform

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// ptxasCost reads how many machine instructions ptxas (CUDA 13.0) spends on each form, counted in its real machine
// code without thread index, addresses, loads, stores and moves of zero: by target and form.
func ptxasCost(t *testing.T) map[int]map[int]int {
	t.Helper()
	f, err := os.Open("testdata/cost/forms.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	out := map[int]map[int]int{}
	for c, name := range rows[0][1:] {
		m := map[int]int{}
		for _, r := range rows[1:] {
			m[number(r[0])] = number(r[c+1])
		}
		out[number(strings.TrimPrefix(name, "sm_"))] = m
	}
	return out
}

// TestCost compares the number of machine instructions of every form with ptxas's on seven targets. Most of what
// differs are register copies that ptxas leaves in its expansions of video instructions: they follow from its register
// allocation, and no rule for them is known. The bounds are what the rules achieve.
func TestCost(t *testing.T) {
	s, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	want := ptxasCost(t)
	for _, g := range []struct{ sm, same, near int }{ // at least, per thousand: same number; within one instruction or 10 %
		{75, 958, 983}, {80, 934, 980}, {86, 942, 978}, {89, 942, 978}, {90, 958, 988}, {100, 958, 988}, {120, 926, 985},
	} {
		tg := isa.NewTarget(g.sm)
		n, same, near := 0, 0, 0
		for i := range s.Forms {
			f := &s.Forms[i]
			w, ok := want[g.sm][f.ID]
			if !ok {
				continue
			}
			r := s.RunForm(f, tg)
			if r.Err != "" {
				t.Fatalf("sm_%d: %s", g.sm, r.Line())
			}
			n++
			d := max(r.Core-w, w-r.Core)
			if d == 0 {
				same++
			}
			if d <= 1 || d*10 <= w {
				near++
			}
		}
		t.Logf("sm_%d: %d of %d forms have as many instructions as ptxas's, %d nearly", g.sm, same, n, near)
		if n < 1740 || same*1000 < g.same*n || near*1000 < g.near*n {
			t.Errorf("sm_%d: only %d of %d forms have as many instructions as ptxas's, %d nearly", g.sm, same, n, near)
		}
	}
}
