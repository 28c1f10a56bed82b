package study

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// workerEnv makes the test binary a sweep worker; its value says how it misbehaves.
const workerEnv = "SMSIM_TEST_SWEEP_WORKER"

func TestMain(m *testing.M) {
	switch mode := os.Getenv(workerEnv); mode {
	case "":
		os.Exit(m.Run())
	case "good":
		if SweepWorker(os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
	case "dies":
		os.Stderr.WriteString("out of memory\n")
		os.Exit(3)
	case "hangs":
		time.Sleep(time.Minute)
	}
}

func testWorker(mode string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), workerEnv+"="+mode)
	return c
}

const crashSweep = `sweep: crash
run: [ncc]
variants: [dp4a_c4]
launches: ["128x1"]
archs: [sm_90]
overrides: {lsu.l1_latency: [16, 32, 48, 64]}
`

// TestWorkerCrash: a worker that dies fails its point, with what it said; the points after it run in a new one. The next
// sweep runs the failed point alone.
func TestWorkerCrash(t *testing.T) {
	dir := t.TempDir()
	started := 0
	opt := SweepOptions{Workers: 1, Dir: dir, Tool: "t", Command: func() *exec.Cmd {
		if started++; started == 1 {
			return testWorker("dies")
		}
		return testWorker("good")
	}}
	r, err := RunSweep(context.Background(), "crash.yaml", []byte(crashSweep), opt)
	if err != nil {
		t.Fatal(err)
	}
	failed := r.Failed()
	if len(failed) != 1 || failed[0].Index != 0 || !strings.Contains(failed[0].Error, "exit status 3") || !strings.Contains(failed[0].Error, "out of memory") {
		t.Fatalf("failed: %+v", failed)
	}
	if r.Missing() != 0 || r.Records[3].Result == nil {
		t.Fatalf("%d points missing", r.Missing())
	}
	r, err = RunSweep(context.Background(), "crash.yaml", []byte(crashSweep), opt)
	if err != nil || r.Reused != 3 || len(r.Failed()) != 0 {
		t.Fatalf("%d reused, %d failed, %v", r.Reused, len(r.Failed()), err)
	}
	// Another version of the tool reuses nothing.
	opt.Tool = "u"
	if r, err = RunSweep(context.Background(), "crash.yaml", []byte(crashSweep), opt); err != nil || r.Reused != 0 {
		t.Fatalf("%d reused by another version, %v", r.Reused, err)
	}
}

// TestNarrowedSweep: finished points that a narrower file does not list are kept beside its results and used again by the
// wider one; a result of another version of a listed point is outdated and goes.
func TestNarrowedSweep(t *testing.T) {
	dir := t.TempDir()
	opt := SweepOptions{Workers: 1, Dir: dir, Tool: "t", Command: func() *exec.Cmd { return testWorker("good") }}
	narrow := strings.Replace(crashSweep, "[16, 32, 48, 64]", "[32]", 1)
	for _, step := range []struct {
		text, tool                      string
		reused, points, lines, unlisted int
	}{
		{crashSweep, "t", 0, 4, 4, 0},
		{narrow, "t", 1, 1, 1, 3},
		{narrow, "t", 1, 1, 1, 3},
		{crashSweep, "t", 4, 4, 4, 0},
		{narrow, "u", 0, 1, 1, 3},
		{crashSweep, "t", 3, 4, 4, 0},
	} {
		opt.Tool = step.tool
		r, err := RunSweep(context.Background(), "crash.yaml", []byte(step.text), opt)
		if err != nil {
			t.Fatal(err)
		}
		lines := func(name string) int {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			return strings.Count(string(text), "\n")
		}
		if got := []int{r.Reused, len(r.Records), lines(journalName), lines(keptName)}; !slices.Equal(got, []int{step.reused, step.points, step.lines, step.unlisted}) {
			t.Fatalf("%+v: reused, points, lines, unlisted: %v", step, got)
		}
	}
}

// TestInterrupt: what is finished when the context ends is kept, the rest is missing, and the next sweep goes on.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	opt := SweepOptions{Workers: 1, Dir: dir, Tool: "t", Command: func() *exec.Cmd { return testWorker("good") }, Progress: func(p Progress) {
		if p.Done == 2 {
			cancel()
		}
	}}
	r, err := RunSweep(ctx, "crash.yaml", []byte(crashSweep), opt)
	if err != nil || !r.Interrupted || r.Missing() != 2 || len(r.Failed()) != 0 {
		t.Fatalf("interrupted %v, %d missing, %d failed, %v", r.Interrupted, r.Missing(), len(r.Failed()), err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, journalName)); err != nil || strings.Count(string(text), "\n") != 2 {
		t.Fatalf("journal %q, %v", text, err)
	}
	opt.Progress = nil
	if r, err = RunSweep(context.Background(), "crash.yaml", []byte(crashSweep), opt); err != nil || r.Reused != 2 || r.Missing() != 0 {
		t.Fatalf("%d reused, %d missing, %v", r.Reused, r.Missing(), err)
	}
}

// TestInterruptedWorker: a worker that never answers is ended when the sweep is interrupted.
func TestInterruptedWorker(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var cmd *exec.Cmd
	opt := SweepOptions{Workers: 1, Dir: t.TempDir(), Tool: "t", Command: func() *exec.Cmd { cmd = testWorker("hangs"); time.AfterFunc(200*time.Millisecond, cancel); return cmd }}
	r, err := RunSweep(ctx, "crash.yaml", []byte(crashSweep), opt)
	if err != nil || r.Missing() != 4 {
		t.Fatalf("%d missing, %v", r.Missing(), err)
	}
	if cmd.ProcessState == nil || cmd.ProcessState.Success() {
		t.Errorf("the worker ended with %v", cmd.ProcessState)
	}
}

// TestSweepEqualsWhatIf: a point of a sweep is the same simulation as that of whatif.
func TestSweepEqualsWhatIf(t *testing.T) {
	s, err := DecodeSweep("crash.yaml", []byte(crashSweep))
	if err != nil {
		t.Fatal(err)
	}
	r := newSweepRunner(s, "t")
	w, err := WhatIfs(nccPlan(t, "dp4a_c4", "128x1", "sm_90"), []Change{change(t, "lsu.l1_latency=16,32,48,64")}, WhatIfOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Points {
		run, err := r.run(&s.Points[i])
		if err != nil {
			t.Fatal(err)
		}
		if got, want := run.Cycles, w.Responses[0].Points[i].Cycles; got != want {
			t.Errorf("%s: %d cycles, whatif has %d", s.Points[i].Name(), got, want)
		}
	}
}
