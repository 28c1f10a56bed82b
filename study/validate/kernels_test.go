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

func TestTmpKernels(t *testing.T) {
	dir := os.Getenv("VDIR")
	if dir == "" {
		t.Skip()
	}
	ls, err := LoadKernels(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, err := configs.Load("sm_90", nil)
	if err != nil {
		t.Fatal(err)
	}
	step, _ := strconv.Atoi(os.Getenv("STEP"))
	if step == 0 {
		step = 7
	}
	off, _ := strconv.Atoi(os.Getenv("OFF"))
	in := Input(os.Getenv("INPUT"))
	cold := os.Getenv("COLD") != ""
	r := NewKernelRunner(dir, a)
	var es []float64
	type line struct {
		e float64
		s string
	}
	var lines []line
	for i := range ls {
		l := &ls[i]
		if i%step != off || !strings.Contains(l.Function, os.Getenv("NAME")) {
			continue
		}
		res, check, err := r.Predict(l, in, cold)
		if err != nil {
			m := err.Error()
			t.Log(l.Function, m[:min(len(m), 300)])
			continue
		}
		col := "warm:sm__cycles_active.avg"
		if cold {
			col = "sm__cycles_active.avg"
		}
		m := l.Counters[col]
		e := (float64(res.Cycles) - m) / m
		es = append(es, math.Abs(e))
		top := ""
		best := 0.0
		for k, v := range l.Counters {
			if strings.HasPrefix(k, "stall_") && k != "stall_selected" && k != "stall_not_selected" && v > best {
				best, top = v, k[6:]
			}
		}
		simTop, sb := "", 0.0
		for _, s := range res.WarpStates {
			if s.State != "selected" && s.State != "not_selected" && s.PerIssue > sb {
				sb, simTop = s.PerIssue, s.State
			}
		}
		lines = append(lines, line{e, fmt.Sprintf("%-16s b%-4d g%-5d %8d measured %8.0f insts %7d (%.0f) %s top %s %.2f (%s %.2f)", l.Function, l.Block[0], l.Grid[0]/132, res.Cycles, m,
			res.WarpInstructions, l.Counters["warp_inst_per_sm"], check, simTop, sb, top, best)})
	}
	sort.Slice(lines, func(i, j int) bool { return math.Abs(lines[i].e) > math.Abs(lines[j].e) })
	for _, l := range lines {
		t.Logf("%+6.1f%% %s", 100*l.e, l.s)
	}
	sort.Float64s(es)
	sum := 0.0
	for _, e := range es {
		sum += e
	}
	if len(es) > 0 {
		t.Logf("%d launches MAPE %.2f%% p50 %.2f%% p95 %.2f%%", len(es), 100*sum/float64(len(es)), 100*es[len(es)/2], 100*es[len(es)*95/100])
	}
}
