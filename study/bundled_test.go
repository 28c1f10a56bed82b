package study

import (
	"math"
	"path"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/workloads"
)

// TestBundledWorkloadsAreBitExact runs every bundled kernel with its small launch on one architecture of each kind of
// machine code and compares the output with what the H200 gave: lowering, execution and the timing model must
// all be right for that.
func TestBundledWorkloadsAreBitExact(t *testing.T) {
	archs := []string{"sm_35", "sm_52", "sm_61", "sm_75", "sm_86", "sm_90", "sm_120"}
	if testing.Short() {
		archs = archs[5:6]
	}
	for _, name := range workloads.BundledNames() {
		t.Run(name, func(t *testing.T) {
			plan, err := workloads.LoadFS(workloads.Bundled(), path.Join(name, "study.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			small := plan.Launches()[0]
			var cases []*workloads.Case
			for _, c := range plan.Cases {
				if c.Launch == small {
					cases = append(cases, c)
				}
			}
			plan.Cases, plan.Archs = cases, archs
			rep, err := Execute(plan, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range rep.Failures {
				t.Errorf("%s on %s: %s", f.Variant, f.Arch, firstLine(f.Error))
			}
			for i := range rep.Runs {
				if r := &rep.Runs[i]; r.Check != "passed" {
					t.Errorf("%s: check %s: %s", RunName(r), r.Check, r.CheckNote)
				}
				checkInvariants(t, &rep.Runs[i])
			}
		})
	}
}

// checkInvariants tests what must hold for every result.
func checkInvariants(t *testing.T, r *Run) {
	t.Helper()
	states := uint64(0)
	for _, s := range r.WarpStates {
		states += s.WarpCycles
	}
	o := &r.Occupancy
	if want := o.AchievedWarps * float64(o.ActiveCycles); math.Abs(float64(states)-want) > 1e-9*want || o.ActiveCycles > r.Cycles || states == 0 {
		t.Errorf("%s: warp states sum to %d warp-cycles, resident warps to %.0f in %d of %d cycles", RunName(r), states, want, o.ActiveCycles, r.Cycles)
	}
	for _, p := range r.Pipes {
		if p.Utilization > 1 {
			t.Errorf("%s: pipe %s is busy in %.1f %% of its cycles", RunName(r), p.Name, 100*p.Utilization)
		}
	}
	if r.IssueSlots.Utilization > 1 {
		t.Errorf("%s: %.3f of the issue slots are used", RunName(r), r.IssueSlots.Utilization)
	}
	if r.Limiter.Sentence == "" || r.Limiter.Kind == "" {
		t.Errorf("%s has no limiter", RunName(r))
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
