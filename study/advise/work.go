package advise

import (
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

// Work is the gain of the rewrites where each thread has several independent pieces of the kernel's work, see [Copies]. Both the kernel
// and the rewritten kernel are multiplied, so that the gain is for equal work.
type Work struct {
	Points []WorkPoint `json:"points,omitempty"`
	// PaysFrom is the smallest number of pieces at which the speed-up reaches PaysAt; 0: none that was tried.
	PaysFrom int     `json:"pays_from_pieces_a_thread,omitempty"`
	PaysAt   float64 `json:"pays_at"`
	Note     string  `json:"note,omitempty"` // why nothing was simulated
}

// WorkPoint is one number of independent pieces of work a thread.
type WorkPoint struct {
	Pieces    int     `json:"pieces_a_thread"`
	SpeedUp   float64 `json:"speedup"`
	Limiter   string  `json:"limiter"`
	Limiter2  string  `json:"limiter_after"`
	Registers int     `json:"registers_after"`
}

// pieces are the numbers of independent pieces of work that are tried beside one.
var pieces = [...]int{2, 4, 8}

// independentWork simulates the kernel and the rewrites with several pieces of work a thread, on the architectures on which they do not pay
// as launched, until they do.
func (a *Advice) independentWork(plan, changed *workloads.Plan, gain map[string]float64, opt Options) map[string]Work {
	out := map[string]Work{}
	for _, arch := range a.Archs {
		if _, ran := gain[arch]; !ran || gain[arch] >= paysAt {
			continue
		}
		w := Work{PaysAt: paysAt}
		for _, n := range pieces {
			pt, err := piecesOn(plan, changed, a.asked[arch].as, n, opt)
			if err != nil {
				// The first line says it; what follows shows the place in the launch's file.
				w.Note, _, _ = strings.Cut(err.Error(), "\n")
				w.Note = fmt.Sprintf("with %d pieces, %s", n, w.Note)
				break
			}
			w.Points = append(w.Points, *pt)
			if pt.SpeedUp >= paysAt {
				w.PaysFrom = n
				break
			}
		}
		out[arch] = w
	}
	return out
}

// piecesOn compares the kernel and its rewrite with n pieces of work a thread.
func piecesOn(plan, changed *workloads.Plan, arch string, n int, opt Options) (*WorkPoint, error) {
	var plans []*workloads.Plan
	for _, kernel := range []*workloads.Plan{plan, changed} {
		p, err := multiplied(kernel, arch, changed.Cases[0].Entry, n)
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	reps, err := study.ExecuteEach(plans, opt.Options)
	if err != nil {
		return nil, err
	}
	var runs [2]*study.Run
	for i := range runs {
		runs[i] = &reps[i].Runs[0]
		// Each piece has written what the first one has.
		outs := runs[i].Outputs
		for j := range outs {
			if outs[j].FNV1a64 != outs[j%(len(outs)/n)].FNV1a64 {
				return nil, fmt.Errorf("its pieces of work are not independent: they write different %s", outs[j].Name)
			}
		}
	}
	for j := range runs[0].Outputs {
		if runs[0].Outputs[j].FNV1a64 != runs[1].Outputs[j].FNV1a64 {
			return nil, fmt.Errorf("with %d pieces of work a thread the rewrite writes another %s", n, runs[0].Outputs[j].Name)
		}
	}
	x, y := runs[0], runs[1]
	return &WorkPoint{Pieces: n, SpeedUp: float64(x.Cycles) / float64(y.Cycles), Limiter: study.ShortLimiter(x), Limiter2: study.ShortLimiter(y), Registers: y.Registers}, nil
}

// multiplied is the plan with n pieces of work a thread: further buffers with the content of the first.
func multiplied(plan *workloads.Plan, arch, entry string, n int) (*workloads.Plan, error) {
	c := plan.Cases[0]
	buffers := make([]bool, len(c.Args))
	for i := range c.Args {
		buffers[i] = c.Args[i].IsBuffer()
		if c.Args[i].Texture != nil {
			return nil, fmt.Errorf("it reads a texture")
		}
	}
	many, err := Copies(c.Kernel.Path, c.Kernel.Text, entry, buffers, c.DynamicShared, n)
	if err != nil {
		return nil, err
	}
	p := withText(plan, many, entry)
	p.Archs, p.Check = []string{arch}, workloads.CheckNone
	one := p.Cases[0]
	one.Args, one.Expect, one.Work = nil, nil, 0
	one.Args = append(one.Args, c.Args...)
	for i := 1; i < n; i++ {
		for j := range c.Args {
			if buffers[j] {
				arg := c.Args[j]
				arg.Name = fmt.Sprintf("%s#%d", arg.Name, i+1)
				one.Args = append(one.Args, arg)
			}
		}
	}
	if c.DynamicShared > 0 {
		one.DynamicShared = n * roundUp(c.DynamicShared)
	}
	return p, nil
}
