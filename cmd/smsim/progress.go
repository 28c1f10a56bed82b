package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar with rate and remaining time, shown on a terminal once a second has passed.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	on    bool
	begin time.Time
	bar   *progressbar.ProgressBar
}

func newProgress(w io.Writer, quiet bool) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, on: ok && !quiet && term.IsTerminal(int(f.Fd())), begin: time.Now()}
}

// update is called after every simulation.
func (p *progress) update(done, total int, insts uint64) {
	if !p.on {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	took := time.Since(p.begin)
	if p.bar == nil {
		if took < time.Second {
			return
		}
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetElapsedTime(true))
	}
	p.bar.Describe(fmt.Sprintf("simulating, %.1f M warp-instructions/s", float64(insts)/1e6/took.Seconds()))
	// A failed write to the terminal only loses the bar.
	_ = p.bar.Set(done)
}

// finish removes the bar.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
