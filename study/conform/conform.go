package conform

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/sarchlab/smsim/isa"
)

// Target is the result of all forms on one target.
type Target struct {
	SM      int
	Forms   int
	Equal   int
	Listed  int
	Failed  int
	Reports []Report // of the forms that failed, in form order
}

// Name is the target's name, "sm_90".
func (t *Target) Name() string { return fmt.Sprintf("sm_%d", t.SM) }

// Run replays the set on the targets, several at a time, and reports each in the given order.
func (s *Set) Run(targets []int) []Target {
	out := make([]Target, len(targets))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, sm := range targets {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			out[i] = s.runTarget(sm)
			<-slots
		}()
	}
	wg.Wait()
	return out
}

func (s *Set) runTarget(sm int) Target {
	t := isa.NewTarget(sm)
	r := Target{SM: sm, Forms: len(s.Forms)}
	for i := range s.Forms {
		rep := s.RunForm(&s.Forms[i], t)
		switch rep.Outcome {
		case Equal:
			r.Equal++
		case Listed:
			r.Listed++
		default:
			r.Failed++
			r.Reports = append(r.Reports, rep)
		}
	}
	return r
}

// Line says in one line what went wrong with a form.
func (r *Report) Line() string {
	if r.Diff == nil {
		return fmt.Sprintf("form %d, %s: %s", r.Form.ID, r.Form.PTX, r.Err)
	}
	d := r.Diff
	s := fmt.Sprintf("form %d, %s: vector %d: a=%#x b=%#x c=%#x gives %#x, the GPU %#x", r.Form.ID, r.Form.PTX, d.Vector, d.A, d.B, d.C, d.Got, d.Want)
	if r.Form.Second != "" {
		s += fmt.Sprintf(", second result %#x, the GPU %#x", d.GotE, d.WantE)
	}
	return s
}
