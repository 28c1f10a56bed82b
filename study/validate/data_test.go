package validate

import (
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs"
)

func TestTmp(t *testing.T) {
	dir := os.Getenv("VDIR")
	if dir == "" {
		t.Skip()
	}
	rows, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, err := configs.Load("sm_90", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := NewReplayer(dir, a)
	sets := os.Getenv("SETS")
	step, _ := strconv.Atoi(os.Getenv("STEP"))
	if step == 0 {
		step = 50
	}
	errs := map[string][]float64{}
	type bad struct {
		e float64
		s string
	}
	var worst []bad
	fails := map[string]int{}
	for i := range rows {
		row := &rows[i]
		if !strings.Contains(sets, row.Set) || i%step != 0 || !strings.Contains(row.Name, os.Getenv("NAME")) {
			continue
		}
		if row.Measured < 8 {
			continue
		}
		v, _, err := r.Predict(row)
		if err != nil {
			m := err.Error()
			if len(m) > 150 {
				m = m[:150]
			}
			fails[m]++
			continue
		}
		e := (v - row.Measured) / row.Measured
		errs[row.Set] = append(errs[row.Set], math.Abs(e))
		worst = append(worst, bad{e, fmt.Sprintf("%s %s thr %d: %.0f measured %.0f (%s)", row.Set, row.Name, row.Threads, v, row.Measured, row.Kernel)})
	}
	for s, e := range errs {
		sort.Float64s(e)
		sum := 0.0
		for _, x := range e {
			sum += x
		}
		t.Logf("%s: %d rows MAPE %.2f%% p50 %.2f%% p95 %.2f%%", s, len(e), 100*sum/float64(len(e)), 100*e[len(e)/2], 100*e[len(e)*95/100])
	}
	sort.Slice(worst, func(i, j int) bool { return math.Abs(worst[i].e) > math.Abs(worst[j].e) })
	for i := 0; i < len(worst) && i < 40; i++ {
		t.Logf("%+.1f%% %s", 100*worst[i].e, worst[i].s)
	}
	for m, n := range fails {
		t.Log(n, m)
	}
}
