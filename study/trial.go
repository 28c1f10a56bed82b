package study

import (
	"slices"

	"github.com/sarchlab/smsim/workloads"
)

// Trial is a plan that is tried in the place of another one: the same launches with a changed kernel.
type Trial struct {
	Report *Report // nil if nothing ran
	Pairs  []Pair  // against the base, one for each architecture and launch
	Err    error   // why nothing ran
}

// Trials compares plans with a base plan. Cases are matched by architecture and launch, whatever their variants' names.
// Outputs are compared for the whole grid on the first architecture, on the others for the blocks that are simulated.
type Trials struct {
	Base *Report
	opt  Options
}

// NewTrials runs the base plan.
func NewTrials(base *workloads.Plan, opt Options) (*Trials, error) {
	t := &Trials{opt: opt}
	t.opt.hot, t.opt.keepOutputs = 1<<20, true
	var err error
	t.Base, err = t.run(base)
	return t, err
}

// Try runs a plan and compares it with the base.
func (t *Trials) Try(p *workloads.Plan) Trial {
	var out Trial
	if out.Report, out.Err = t.run(p); out.Err != nil {
		return out
	}
	for i := range out.Report.Runs {
		v := &out.Report.Runs[i]
		for j := range t.Base.Runs {
			if a := &t.Base.Runs[j]; a.Arch == v.Arch && a.Launch == v.Launch && a.Cycles > 0 && v.Cycles > 0 {
				out.Pairs = append(out.Pairs, pairOf(a, v))
			}
		}
	}
	return out
}

// run executes a plan on its first architecture with the outputs of the whole grid, then on the others.
func (t *Trials) run(p *workloads.Plan) (*Report, error) {
	first, rest := *p, *p
	archs := planArchs(p)
	first.Archs, rest.Archs = archs[:1], archs[1:]
	whole := t.opt
	whole.wholeOutputs = true
	rep, err := Execute(&first, whole)
	if len(archs) == 1 {
		return rep, err
	}
	more, err2 := Execute(&rest, t.opt)
	switch {
	case err != nil && err2 != nil:
		return nil, err
	case err != nil:
		more.Failures = slices.Concat([]Failure{{Arch: archs[0], Error: err.Error(), Err: err}}, more.Failures)
		return more, nil
	case err2 != nil:
		for _, a := range archs[1:] {
			rep.Failures = append(rep.Failures, Failure{Arch: a, Error: err2.Error(), Err: err2})
		}
		return rep, nil
	}
	rep.Runs, rep.Failures = append(rep.Runs, more.Runs...), append(rep.Failures, more.Failures...)
	return rep, nil
}

// Runs are the two runs of the comparison: the baseline's and the variant's.
func (c *Comparison) Runs() (base, variant *Run) { return c.base, c.vari }
