//go:build unix

package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// longSweep has more points than end before the interruption.
const longSweep = `sweep: long
run: [ncc]
variants: [imad_c4, dp4a_c4]
launches: ["128x1"]
archs: [sm_90]
overrides: {lsu.l1_latency: 16..175}
`

// program is this program as a file of its own, which a sweep can start again as its workers.
func program(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "smsim")
	if os.Link(os.Args[0], name) == nil {
		return name
	}
	from, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestSweepInterrupted: Ctrl-C ends a sweep with exit code 1 and all files of what is finished; while it runs, no other sweep writes to its
// directory; the same command goes on where it ended.
func TestSweepInterrupted(t *testing.T) {
	smsim, dir := program(t), t.TempDir()
	file, out := filepath.Join(dir, "long.yaml"), filepath.Join(dir, "results")
	if err := os.WriteFile(file, []byte(longSweep), 0o644); err != nil {
		t.Fatal(err)
	}
	var errOut bytes.Buffer
	cmd := exec.Command(smsim, "sweep", file, "--out", out, "--workers", "1")
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(out, "results.jsonl")
	lines := func() int {
		text, _ := os.ReadFile(journal)
		return bytes.Count(text, []byte("\n"))
	}
	for begin := time.Now(); lines() < 2; time.Sleep(20 * time.Millisecond) {
		if time.Since(begin) > time.Minute {
			_ = cmd.Process.Kill()
			t.Fatal("no points within a minute")
		}
	}
	second, err := exec.Command(smsim, "sweep", file, "--out", out).CombinedOutput()
	if code(err) != exitUsage || !strings.Contains(string(second), "another sweep is writing to "+out) {
		t.Errorf("second sweep: exit %d, %s", code(err), second)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); code(err) != exitFailure || !strings.Contains(errOut.String(), "interrupted: ") || !strings.Contains(errOut.String(), "the same command goes on") {
		t.Errorf("exit %d, %s", code(err), errOut.String())
	}
	kept := lines()
	if kept < 2 || kept >= 320 {
		t.Fatalf("%d lines in the journal", kept)
	}
	for _, name := range []string{"results.csv", "results.sqlite"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	rest := exec.Command(smsim, "sweep", file, "--out", out, "--workers", "2")
	var again bytes.Buffer
	rest.Stderr = &again
	if err := rest.Start(); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); lines() <= kept && time.Since(begin) < time.Minute; time.Sleep(20 * time.Millisecond) {
	}
	if err := rest.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = rest.Wait() // interrupted again
	table, err := os.Open(filepath.Join(out, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	rows, err := csv.NewReader(table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if lines() <= kept || len(rows) != lines()+1 {
		t.Errorf("%d lines after going on, %d before; %d rows in the table: %s", lines(), kept, len(rows), again.String())
	}
}

func code(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	return 0
}
