package conform

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
)

// Target is the result of all forms on one target.
type Target struct {
	SM      int
	Forms   int
	Equal   int
	Refused int // of the equal ones: ptxas rejects them, and so does the lowering
	Listed  int
	Failed  int
	Reports []Report // of the forms that failed, in form order
	Known   []Report // of the forms that are listed
}

// Name is the target's name, "sm_90".
func (t *Target) Name() string { return fmt.Sprintf("sm_%d", t.SM) }

// Options of a run.
type Options struct {
	// Semantics Document compares scalar video instructions, bit fields and fns with what the PTX document says instead of the
	// GPU's results. A form that gives the document's results where these are not the GPU's counts as listed.
	Semantics lower.Semantics

	// These do not change results.
	Workers  int                   // forms at once; 0: one per CPU
	Progress func(done, total int) // called after each form on each target, from the goroutines that run them
}

// Run replays the set on the targets and reports each in the given order.
func (s *Set) Run(targets []int) []Target {
	ts := make([]*isa.Target, len(targets))
	for i, sm := range targets {
		ts[i] = isa.NewTarget(sm)
	}
	return s.RunTargets(ts, Options{})
}

// RunTargets replays every form on every target, several at a time. Reports are in form order, whatever the number of
// workers.
func (s *Set) RunTargets(targets []*isa.Target, opt Options) []Target {
	return opt.replay(len(s.Forms), targets, func(i int, t *isa.Target) Report { return s.runForm(&s.Forms[i], t, opt.Semantics) })
}

// replay runs n cases on every target, several at a time, and counts the reports of each target in the order of the cases.
func (o Options) replay(n int, targets []*isa.Target, run func(i int, t *isa.Target) Report) []Target {
	reps := make([]Report, n*len(targets))
	o.each(len(reps), func(i int) { reps[i] = run(i%n, targets[i/n]) })
	out := make([]Target, len(targets))
	for t := range targets {
		for _, r := range reps[t*n : (t+1)*n] {
			out[t].count(r)
		}
		out[t].SM = targets[t].SM
	}
	return out
}

// each calls f for 0 to n-1 on the workers.
func (o Options) each(n int, f func(i int)) {
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
				if d := done.Add(1); o.Progress != nil {
					o.Progress(int(d), n)
				}
			}
		})
	}
	wg.Wait()
}

// Line says in one line what went wrong with a form.
func (r *Report) Line() string {
	if r.Diff == nil {
		return fmt.Sprintf("form %d, %s: %s", r.Form.ID, r.Form.PTX, r.Err)
	}
	d := r.Diff
	who := "the GPU"
	if r.Err != "" {
		who = "the PTX document"
	}
	s := fmt.Sprintf("form %d, %s: vector %d: a=%#x b=%#x c=%#x gives %#x, %s %#x", r.Form.ID, r.Form.PTX, d.Vector, d.A, d.B, d.C, d.Got, who, d.Want)
	if r.Form.Second != "" {
		s += fmt.Sprintf(", second result %#x, the GPU %#x", d.GotE, d.WantE)
	}
	return s
}
