package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/sarchlab/smsim/study"
)

// TestProgress shows a bar on a terminal only after a second, a line elsewhere only after ten, then less and less often.
func TestProgress(t *testing.T) {
	state := study.Progress{Done: 3, Total: 12, Share: 0.25, WarpInsts: 5_000_000}
	for _, c := range []struct {
		name  string
		on    bool
		lines bool
		since time.Duration
		last  time.Duration // when something was shown before; 0: never
		shown bool
	}{
		{"terminal, long run", true, false, 2 * time.Second, 0, true},
		{"terminal, short run", true, false, 0, 0, false},
		{"quiet, long run", false, true, time.Hour, 0, false},
		{"pipe, short run", true, true, 9 * time.Second, 0, false},
		{"pipe, long run", true, true, 11 * time.Second, 0, true},
		{"pipe, shown just before", true, true, 15 * time.Second, 11 * time.Second, false},
		{"pipe, shown long before", true, true, 25 * time.Second, 11 * time.Second, true},
		{"pipe, very long run", true, true, 11 * time.Minute, 10 * time.Minute, false},
	} {
		var b bytes.Buffer
		p := &progress{w: &b, on: c.on, lines: c.lines, begin: time.Now().Add(-c.since)}
		if c.last > 0 {
			p.shown = p.begin.Add(c.last)
		}
		p.update(state)
		if shown := strings.Contains(b.String(), "3 of 12 runs"); shown != c.shown {
			t.Errorf("%s: shown %v, want %v: %q", c.name, shown, c.shown, b.String())
		}
		p.finish()
	}
	if !newProgress(&bytes.Buffer{}, false).lines {
		t.Error("a buffer is no terminal")
	}
	got := describe(state, 2*time.Second)
	if want := "3 of 12 runs, 2.5 M warp-instructions/s, 6s left"; got != want {
		t.Errorf("describe gives %q, want %q", got, want)
	}
	if got := describe(study.Progress{Total: 1, WarpInsts: 1e6}, time.Second); strings.Contains(got, "left") {
		t.Errorf("remaining time of a run that has not ended a block: %q", got)
	}
}
