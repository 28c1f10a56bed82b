package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/sarchlab/smsim/study"
)

// progress is a bar with rate and remaining time, shown on a terminal once a second has passed. Elsewhere, such as in a pipe or a log, it
// is a line now and then, the first after ten seconds.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	on    bool
	lines bool // lines in the place of a bar
	begin time.Time
	shown time.Time // last update of the bar
	bar   *progressbar.ProgressBar
}

// progressSteps is the length of the bar in its own unit.
const progressSteps = 1000

// lineFrom is when the first line is written; lineEvery is the share of the time so far after which the next one follows, so that a long
// run does not write ever more of them.
const (
	lineFrom  = 10 * time.Second
	lineEvery = 0.5
)

// newProgress is a bar on a terminal, lines elsewhere, and nothing when quiet.
func newProgress(w io.Writer, quiet bool) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, on: !quiet, lines: !ok || !term.IsTerminal(int(f.Fd())), begin: time.Now()}
}

// due says whether something is to be shown; the caller holds the lock.
func (p *progress) due(now time.Time) bool {
	took := now.Sub(p.begin)
	if !p.lines {
		return took >= time.Second && now.Sub(p.shown) >= 100*time.Millisecond
	}
	return took >= lineFrom && (p.shown.IsZero() || now.Sub(p.shown) >= max(lineFrom, time.Duration(lineEvery*float64(p.shown.Sub(p.begin)))))
}

// update is called now and then by the simulations.
func (p *progress) update(s study.Progress) {
	p.tell(s.Share, func(took time.Duration) string { return describe(s, took) })
}

// count shows how many of a number of things are done.
func (p *progress) count(what string, done, total int) {
	share := float64(done) / float64(max(1, total))
	p.tell(share, func(took time.Duration) string {
		return fmt.Sprintf("%d of %d %s%s", done, total, what, remaining(share, took))
	})
}

// tell shows the share that is done with a text, if something is to be shown now.
func (p *progress) tell(share float64, text func(took time.Duration) string) {
	if !p.on {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !p.due(now) {
		return
	}
	p.shown = now
	p.show(share, text(now.Sub(p.begin)))
}

// show sets the bar, or writes a line; the caller holds the lock.
func (p *progress) show(share float64, text string) {
	if p.lines {
		fmt.Fprintf(p.w, "%3.0f %% after %s: %s\n", 100*share, p.shown.Sub(p.begin).Round(time.Second), text)
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(progressSteps, progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(24),
			progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish())
	}
	p.bar.Describe(text)
	// A failed write to the terminal only loses the bar.
	_ = p.bar.Set(int(share * (progressSteps - 1)))
}

// describe is the text beside the bar: runs done, rate, remaining time as far as it can be told.
func describe(s study.Progress, took time.Duration) string {
	text := fmt.Sprintf("%d of %d runs, %.1f M warp-instructions/s", s.Done, s.Total, float64(s.WarpInsts)/1e6/took.Seconds())
	return text + remaining(s.Share, took)
}

// remaining is the estimated time left, "" while too little is done to tell.
func remaining(share float64, took time.Duration) string {
	if share <= 0.02 {
		return ""
	}
	left := time.Duration(float64(took) * (1 - share) / share)
	return fmt.Sprintf(", %s left", left.Round(time.Second))
}

// finish removes the bar.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
