package study

import (
	"slices"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/workloads"
)

// TestUnfelt holds what is said of keys to the model: keys of the rows of loads, stores and atomics that are said to have no part in
// their time change no cycle of kernels that execute them.
func TestUnfelt(t *testing.T) {
	tried := map[string]bool{}
	for _, kernel := range []string{"hist", "gemm8"} {
		for _, arch := range []string{"sm_61", "sm_90"} {
			p, err := workloads.LoadFS(workloads.Bundled(), kernel+"/workload.yaml")
			if err != nil {
				t.Fatal(err)
			}
			p.Cases, p.Archs, p.Compare = p.Cases[:1], []string{arch}, nil
			rep, err := Execute(p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			a, err := configs.Load(arch, nil)
			if err != nil {
				t.Fatal(err)
			}
			var set []workloads.Override
			for _, k := range a.Keys() {
				if value, ok := other(k); ok && strings.Contains(unfelt(k.Path, &rep.Runs[0]), "keys of lsu") {
					set = append(set, workloads.Override{Key: k.Path, Value: value})
					tried[strings.Split(k.Path, ".")[1]] = true
				}
			}
			b, err := newBench(p, arch, false)
			if err != nil {
				t.Fatal(err)
			}
			changed, _, err := b.run(set)
			if err != nil {
				t.Fatalf("%s on %s with %v: %v", kernel, arch, settingTexts(set), err)
			}
			if changed.Cycles != rep.Runs[0].Cycles {
				t.Errorf("%s on %s: %d cycles, %d without %v", kernel, arch, changed.Cycles, rep.Runs[0].Cycles, settingTexts(set))
			}
		}
	}
	for _, c := range []isa.Class{isa.ClassLDG, isa.ClassSTG, isa.ClassLDS, isa.ClassSTS, isa.ClassATOMS} {
		if !tried[c.String()] {
			t.Errorf("no key of class %s was tried", c)
		}
	}
}

// other is another value that a number can take.
func other(k configs.Key) (string, bool) {
	switch {
	case k.Kind != "a whole number":
		return "", false
	case k.Value == "0":
		return "3", true
	}
	return "x3", true
}

// TestWithoutEffect: what-if says which keys a kernel cannot feel, and why, and does not call their 1.000x a verdict on the limit.
func TestWithoutEffect(t *testing.T) {
	p := nccPlan(t, "dp4a_c4", "128x1", "sm_90")
	w, err := WhatIfs(p, []Change{change(t, "classes.atoms.latency=x2"), change(t, "classes.ldg.latency=x2"), change(t, "pipes.xu.queue=4")}, WhatIfOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"classes.atoms.latency: no instruction of class atoms runs in this kernel",
		"classes.ldg.latency: the time of ldg is in the keys of lsu and memory, such as lsu.l1_latency and memory.l2_latency",
		"pipes.xu.queue: no instruction of this kernel uses the xu pipe"}
	if got := w.Responses[0].NoEffect; !slices.Equal(got, want) {
		t.Errorf("without effect: %q, want %q", got, want)
	}
	var b strings.Builder
	if err := WriteWhatIf(&b, w, "text"); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "pipes.xu.queue changes nothing: no instruction") || strings.Contains(text, "No change makes it faster") {
		t.Errorf("text:\n%s", text)
	}
}

// TestOwnNumbers: a run that a number set by the user can change rests on that number, and one that does not feel it does not.
func TestOwnNumbers(t *testing.T) {
	for _, c := range []struct{ key, value, confidence string }{
		{"lsu.l1_latency", "16", "assumed"},
		{"classes.idp.latency", "5", "assumed"},
		{"classes.atoms.latency", "9", "measured"},
	} {
		p := nccPlan(t, "dp4a_c1", "128x1", "sm_90")
		p.Overrides = []workloads.Override{{Key: c.key, Value: c.value}}
		rep, err := Execute(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := &rep.Runs[0]
		if felt := slices.Contains(r.OwnNumbers, c.key); r.Confidence != c.confidence || felt != (c.confidence == "assumed") {
			t.Errorf("with %s: %s, own numbers %v", c.key, r.Confidence, r.OwnNumbers)
		}
	}
}
