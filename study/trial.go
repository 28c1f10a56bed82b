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

// Trials runs a base plan and plans to compare with it. Cases are matched by architecture and launch, whatever their variants' names. Outputs are
// compared for the whole grid on the first architecture, on the others for the blocks that are simulated.
func Trials(base *workloads.Plan, tries []*workloads.Plan, opt Options) (*Report, []Trial, error) {
	opt.hot, opt.keepOutputs = 1<<20, true
	run := func(p *workloads.Plan) (*Report, error) {
		first, rest := *p, *p
		archs := p.Archs
		if len(archs) == 0 {
			archs = planArchs(p)
		}
		first.Archs, rest.Archs = archs[:1], archs[1:]
		whole := opt
		whole.wholeOutputs = true
		rep, err := Execute(&first, whole)
		if len(archs) == 1 {
			return rep, err
		}
		more, err2 := Execute(&rest, opt)
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
	b, err := run(base)
	if err != nil {
		return nil, nil, err
	}
	var out []Trial
	for _, p := range tries {
		t := Trial{}
		if t.Report, t.Err = run(p); t.Err == nil {
			for i := range t.Report.Runs {
				v := &t.Report.Runs[i]
				for j := range b.Runs {
					if a := &b.Runs[j]; a.Arch == v.Arch && a.Launch == v.Launch && a.Cycles > 0 && v.Cycles > 0 {
						t.Pairs = append(t.Pairs, pairOf(a, v))
					}
				}
			}
		}
		out = append(out, t)
	}
	return b, out, nil
}

// Runs are the two runs of the comparison: the baseline's and the variant's.
func (c *Comparison) Runs() (base, variant *Run) { return c.base, c.vari }
