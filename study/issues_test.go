package study

import (
	"strings"
	"testing"

	"github.com/sarchlab/smsim/sim/observe"
)

// TestTimeSeriesAddsUp: the samples of a run sum to its totals, and a time series changes nothing else.
func TestTimeSeriesAddsUp(t *testing.T) {
	for _, arch := range []string{"sm_61", "sm_90"} {
		plain, err := Execute(nccPlan(t, "dp4a_c4", "128x1", arch), Options{})
		if err != nil {
			t.Fatal(err)
		}
		rep, err := Execute(nccPlan(t, "dp4a_c4", "128x1", arch), Options{SampleCycles: 777})
		if err != nil {
			t.Fatal(err)
		}
		r := &rep.Runs[0]
		if r.Cycles != plain.Runs[0].Cycles {
			t.Errorf("%s: %d cycles with a time series, %d without", arch, r.Cycles, plain.Runs[0].Cycles)
		}
		issued := uint64(0)
		busy := make([]uint64, len(r.Pipes))
		for _, s := range r.Timeline {
			issued += s.Issued
			for i, b := range s.PipeBusy {
				busy[i] += b
			}
		}
		if issued != r.WarpInstructions {
			t.Errorf("%s: the samples have %d instructions of %d", arch, issued, r.WarpInstructions)
		}
		for i, p := range r.Pipes {
			if busy[i] != p.BusyCycles {
				t.Errorf("%s: the samples have %d busy cycles of pipe %s of %d", arch, busy[i], p.Name, p.BusyCycles)
			}
		}
	}
}

// TestIssueTimelineAddsUp: a window over the whole run shows every issue and every warp-cycle in its state.
func TestIssueTimelineAddsUp(t *testing.T) {
	tr := &observe.IssueTrace{From: 0, To: 100_000}
	rep, err := Execute(nccPlan(t, "dp4a_c4", "128x1", "sm_90"), Options{Issues: tr})
	if err != nil {
		t.Fatal(err)
	}
	r := &rep.Runs[0]
	issued := 0
	cycles := map[string]int{}
	for i := range rep.Issues.Rows {
		row := &rep.Issues.Rows[i]
		issued += len(row.Issued)
		for _, l := range stateLetters {
			cycles[l] += strings.Count(row.States, l)
		}
	}
	if uint64(issued) != r.WarpInstructions {
		t.Errorf("%d issues of %d", issued, r.WarpInstructions)
	}
	for _, s := range r.WarpStates {
		if got := cycles[stateLetter(s.State)]; uint64(got) != s.WarpCycles {
			t.Errorf("%s: %d cycles drawn of %d", s.State, got, s.WarpCycles)
		}
	}
	// A window shows the same as the part of the whole.
	part := &observe.IssueTrace{From: 5000, To: 5100}
	small, err := Execute(nccPlan(t, "dp4a_c4", "128x1", "sm_90"), Options{Issues: part})
	if err != nil {
		t.Fatal(err)
	}
	for i := range small.Issues.Rows {
		if got, want := small.Issues.Rows[i].States, rep.Issues.Rows[i].States[5000:5100]; got != want {
			t.Errorf("row %d\n%s, whole run has\n%s", i, got, want)
		}
	}
}
