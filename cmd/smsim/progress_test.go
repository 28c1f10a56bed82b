package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/sarchlab/smsim/study"
)

// TestProgress shows the bar only after a second and only where it is on.
func TestProgress(t *testing.T) {
	state := study.Progress{Done: 3, Total: 12, Share: 0.25, WarpInsts: 5_000_000}
	for _, c := range []struct {
		name  string
		on    bool
		since time.Duration
		shown bool
	}{
		{"terminal, long run", true, 2 * time.Second, true},
		{"terminal, short run", true, 0, false},
		{"pipe, long run", false, 2 * time.Second, false},
	} {
		var b bytes.Buffer
		p := &progress{w: &b, on: c.on, begin: time.Now().Add(-c.since)}
		p.update(state)
		if shown := strings.Contains(b.String(), "3 of 12 runs"); shown != c.shown {
			t.Errorf("%s: shown %v, want %v: %q", c.name, shown, c.shown, b.String())
		}
		p.finish()
	}
	if newProgress(&bytes.Buffer{}, false).on {
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
