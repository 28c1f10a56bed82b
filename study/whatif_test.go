package study

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/workloads"
)

func nccPlan(t testing.TB, variant, launch, arch string) *workloads.Plan {
	t.Helper()
	p, err := workloads.LoadFS(workloads.Bundled(), "ncc/study.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []*workloads.Case
	for _, c := range p.Cases {
		if c.Variant == variant && c.Launch == launch {
			cases = append(cases, c)
		}
	}
	p.Cases, p.Archs, p.Compare = cases, []string{arch}, nil
	return p
}

func change(t *testing.T, text string) Change {
	t.Helper()
	c, err := ParseChange(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestUnchangedEqualsRun compares a run with what whatif makes of it when a value is set to what it is.
func TestUnchangedEqualsRun(t *testing.T) {
	for _, arch := range []string{"sm_61", "sm_90"} {
		plan := nccPlan(t, "dp4a_c4", "128x1", arch)
		rep, err := Execute(plan, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, recompile := range []bool{false, true} {
			w, err := WhatIfs(plan, []Change{change(t, "warp_scheduler=gto,gty,lrr")}, WhatIfOptions{Recompile: recompile})
			if err != nil {
				t.Fatal(err)
			}
			r := &w.Responses[0]
			if !reflect.DeepEqual(r.Base.Result, rep.Runs[0].Result) {
				t.Errorf("%s: the unchanged run differs from smsim run", arch)
			}
			same := false
			for _, p := range r.Points {
				if p.values[0] == r.Before[0] {
					same = true
					if p.Cycles != rep.Runs[0].Cycles || !reflect.DeepEqual(p.run.WarpStates, rep.Runs[0].WarpStates) {
						t.Errorf("%s: %v gives %d cycles, run gives %d", arch, p.Set, p.Cycles, rep.Runs[0].Cycles)
					}
				}
			}
			if !same {
				t.Fatalf("%s: no point has the present value %s", arch, r.Before[0])
			}
		}
	}
}

// TestProgramStays: what a change does to the program. A doubled DP4A rate leaves it alone, a longer DP4A latency gives
// the same instructions other stall counts, a latency of no executed class nothing.
func TestProgramStays(t *testing.T) {
	for _, c := range []struct {
		set         string
		rescheduled bool
	}{
		{"classes.idp.issue_interval=1", false},
		{"classes.idp.latency=9", true},
		{"classes.ffma.latency=30", false},
		{"lsu.l1_latency=64", false},
		{"sm.branch_predicate_latency=20", true},
	} {
		b, err := newBench(nccPlan(t, "dp4a_c1", "128x1", "sm_90"), "sm_90", false)
		if err != nil {
			t.Fatal(err)
		}
		ch, _, err := resolve(b.base.arch, []Change{change(t, c.set)})
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.machine(overrides(ch, []string{ch[0].Values[0]}))
		if err != nil {
			t.Fatal(err)
		}
		p, rescheduled, err := b.program(m)
		if err != nil || rescheduled != c.rescheduled {
			t.Fatalf("%s: stall counts recomputed: %v, %v", c.set, rescheduled, err)
		}
		if len(p.Insts) != len(b.prog.Insts) || p.Regs != b.prog.Regs {
			t.Errorf("%s: another program", c.set)
		}
		stalls := false
		for i := range p.Insts {
			got, was := p.Insts[i].String(), b.prog.Insts[i].String()
			if c.rescheduled { // reuse flags are control information too: they hang on where the warp yields
				got, was = strings.ReplaceAll(got, ".reuse", ""), strings.ReplaceAll(was, ".reuse", "")
			}
			if got != was {
				t.Fatalf("%s: instruction %d is %s, was %s", c.set, i, got, was)
			}
			stalls = stalls || p.Insts[i].Ctrl.Stall != b.prog.Insts[i].Ctrl.Stall
		}
		if stalls != c.rescheduled {
			t.Errorf("%s: stall counts differ: %v", c.set, stalls)
		}
	}
}

// TestSlowerPipeSlowsDown: a longer issue interval of the busiest pipe costs in proportion.
func TestSlowerPipeSlowsDown(t *testing.T) {
	w, err := WhatIfs(nccPlan(t, "dp4a_c4", "1024x2", "sm_86"), []Change{change(t, "classes.idp.issue_interval=1,4,8")}, WhatIfOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ps := w.Responses[0].Points
	if !(ps[0].SpeedUp > 0.9 && ps[1].SpeedUp < 0.9 && ps[2].SpeedUp < 0.6*ps[1].SpeedUp+0.1) {
		t.Errorf("speed-ups %.3f, %.3f, %.3f of DP4A at an interval of 1, 4, 8 cycles", ps[0].SpeedUp, ps[1].SpeedUp, ps[2].SpeedUp)
	}
}

// TestRanges reads lists and ranges of values.
func TestRanges(t *testing.T) {
	for text, want := range map[string][]string{
		"1,2,4": {"1", "2", "4"}, "0..64..16": {"0", "16", "32", "48", "64"}, "1..3": {"1", "2", "3"}, "0.5..1.5..0.5": {"0.5", "1", "1.5"}, "1,10..30..10": {"1", "10", "20", "30"},
	} {
		got, err := splitValues(text, "a number")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	if got, err := splitValues("alu,fma;xu", "a list of text"); err != nil || !reflect.DeepEqual(got, []string{"alu,fma", "xu"}) {
		t.Errorf("lists: %v, %v", got, err)
	}
	for _, text := range []string{"1,,2", "5..1", "1..5..0", "a..b", "1..2..3..4", "1,1"} {
		if got, err := splitValues(text, "a number"); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestOwnArchitecture: a change is laid over the user's architecture file, also where that has the name of a bundled one or of none.
func TestOwnArchitecture(t *testing.T) {
	for _, name := range []string{"sm_90.yaml", "mine.yaml"} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte("base: sm_90\nmemory:\n  l2_latency: 137\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := newBench(nccPlan(t, "dp4a_c1", "128x1", file), file, false)
		if err != nil {
			t.Fatal(err)
		}
		ch, _, err := resolve(b.base.arch, []Change{change(t, "lsu.l1_latency=64")})
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.machine(overrides(ch, []string{ch[0].Values[0]}))
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{"memory.l2_latency": "137", "lsu.l1_latency": "64"} {
			if k, err := m.arch.KeyOf(key); err != nil || k.Value != want {
				t.Errorf("%s: %s is %s (%v), want %s", name, key, k.Value, err, want)
			}
		}
	}
}
