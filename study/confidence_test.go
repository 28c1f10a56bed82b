package study

import (
	"strings"
	"testing"

	"github.com/sarchlab/smsim/sim"
)

// TestRestsOn: a report names the weakest confidence of its runs, the error of the inputs that ran, speed-ups only where it has some, and
// the architectures that were not measured.
func TestRestsOn(t *testing.T) {
	run := func(arch, input, confidence string) Run {
		return Run{Input: input, Result: sim.Result{Arch: arch, Confidence: confidence}}
	}
	s, p := unseen[inputSASS], unseen[inputPTX]
	for _, c := range []struct {
		name      string
		rep       Report
		has, lack []string
	}{
		{"machine code on the measured architecture", Report{Runs: []Run{run("sm_90", inputSASS, "measured")}},
			[]string{"Confidence: measured.", "From machine code", s.median, "(on an H200)."}, []string{"PTX", "speed-ups", p.mean}},
		{"PTX elsewhere", Report{Runs: []Run{run("sm_90", inputPTX, "measured"), run("sm_86", inputPTX, "derived")}},
			[]string{"Confidence: derived.", "From PTX", p.median, s.median, "no kernel was timed on sm_86)"}, []string{"speed-ups"}},
		{"both, compared", Report{Runs: []Run{run("sm_90", inputPTX, "measured"), run("sm_90", inputSASS, "measured")}, Comparisons: []Comparison{{}}},
			[]string{"From PTX", "speed-ups by " + p.ratio + " and " + s.ratio}, []string{"no kernel was timed"}},
		{"assumed numbers", Report{Runs: []Run{run("sm_10", inputPTX, "assumed"), run("sm_90", inputPTX, "measured")}},
			[]string{"Confidence: assumed.", "smsim arch show", "no kernel was timed on sm_10"}, nil},
		{"numbers of the user", Report{Runs: []Run{{Input: inputPTX, OwnNumbers: []string{"lsu.l1_latency"}, Result: sim.Result{Arch: "sm_90", Confidence: "assumed"}}}},
			[]string{"Confidence: assumed. It rests on numbers of your own: lsu.l1_latency."}, []string{"smsim arch show"}},
	} {
		got := RestsOn(&c.rep, len(c.rep.Comparisons) > 0)
		for _, w := range c.has {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q lacks %q", c.name, got, w)
			}
		}
		for _, w := range c.lack {
			if strings.Contains(got, w) {
				t.Errorf("%s: %q has %q", c.name, got, w)
			}
		}
	}
	if got := RestsOn(&Report{}, true); got != "" {
		t.Errorf("nothing ran: %q", got)
	}
}
