package study

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/workloads"
)

// Versus is two or more kernels side by side: every other one against the first, on each architecture and launch.
type Versus struct {
	Schema   int       `json:"schema"`
	Sides    []string  `json:"sides"` // the first is the baseline
	Pairs    []Pair    `json:"pairs"`
	Runs     []Run     `json:"runs"`
	Failures []Failure `json:"failures,omitempty"`

	rep *Report
}

// Pair is one kernel against the baseline, with one launch on one architecture.
type Pair struct {
	Comparison
	// Moved is how the limit moved, in one sentence.
	Moved string `json:"limiter_moved"`
	// Difference is the first place where the outputs differ; absent: they are equal, or the kernels write none.
	OutputsEqual bool        `json:"outputs_equal"`
	Difference   *Difference `json:"first_difference,omitempty"`

	Classes []ClassDelta `json:"classes"` // executed instructions, largest change first
	Pipes   []PipeDelta  `json:"pipes"`
	States  []StateDelta `json:"warp_states"`
	Opcodes []Weight     `json:"opcodes"` // where the warp-cycles go, heaviest first
	Stopped []string     `json:"stopped_mattering,omitempty"`
	Started []string     `json:"started_mattering,omitempty"`
}

// ClassDelta is how often the instructions of a class ran, for the baseline's work.
type ClassDelta struct {
	Class    string  `json:"class"`
	Pipe     string  `json:"pipe"`
	Baseline float64 `json:"baseline"` // warp-instructions
	Variant  float64 `json:"variant"`
}

// PipeDelta is the load of a pipe, busy cycles for the baseline's work.
type PipeDelta struct {
	Pipe         string  `json:"pipe"`
	BaselineUse  float64 `json:"baseline_utilization"`
	VariantUse   float64 `json:"variant_utilization"`
	BaselineBusy float64 `json:"baseline_busy_cycles"`
	VariantBusy  float64 `json:"variant_busy_cycles"`
}

// StateDelta is the time that warps spend in a state, warp-cycles for the baseline's work.
type StateDelta struct {
	State          string  `json:"state"`
	BaselineShare  float64 `json:"baseline_share"`
	VariantShare   float64 `json:"variant_share"`
	BaselineCycles float64 `json:"baseline_warp_cycles"`
	VariantCycles  float64 `json:"variant_warp_cycles"`
}

// Weight is the part of the warp-cycles that passes in front of the instructions with one opcode.
type Weight struct {
	Opcode   string  `json:"opcode"`
	Baseline float64 `json:"baseline_share"`
	Variant  float64 `json:"variant_share"`
}

// matters is the share of the warp-cycles from which on an opcode is said to matter.
const matters = 0.05

// VersusOptions are the choices of a comparison.
type VersusOptions struct {
	Options
	AllowDifferent bool // compare although the outputs differ
}

// CompareKernels runs the plans and compares every other run with that of the first plan's first variant. The plans' cases
// must have distinct variant names; a launch is compared with the launch of the same name, or with the only one.
// Outputs of the whole grids are compared: the blocks that are not timed are executed too.
func CompareKernels(plans []*workloads.Plan, opt VersusOptions) (*Versus, error) {
	if err := checkComparable(plans); err != nil {
		return nil, err
	}
	opt.hot, opt.keepOutputs, opt.wholeOutputs = 1<<20, true, true
	all, err := executeTogether(plans, opt.Options)
	if err != nil {
		return nil, err
	}
	v := &Versus{Schema: sim.Schema, rep: all, Failures: all.Failures, Sides: all.Variants()}
	if len(v.Sides) < 2 {
		return nil, allFailed(all.Failures)
	}
	if err := v.pair(opt.AllowDifferent); err != nil {
		return nil, err
	}
	for i := range v.Pairs {
		all.Comparisons = append(all.Comparisons, v.Pairs[i].Comparison)
	}
	for i := range all.Runs {
		all.Runs[i].Hot = all.Runs[i].Hot[:min(len(all.Runs[i].Hot), 10)]
	}
	v.Runs = all.Runs
	return v, nil
}

// executeTogether runs the plans into one report.
func executeTogether(plans []*workloads.Plan, opt Options) (*Report, error) {
	all := &Report{Schema: sim.Schema, archs: map[string]*configs.Arch{}}
	for _, p := range plans {
		rep, err := Execute(p, opt)
		if err != nil {
			return nil, err
		}
		if all.WorkUnit == "" {
			all.WorkUnit, all.XAxis = rep.WorkUnit, rep.XAxis
		}
		all.Runs = append(all.Runs, rep.Runs...)
		all.Failures = append(all.Failures, rep.Failures...)
		maps.Copy(all.archs, rep.archs)
	}
	return all, nil
}

// pair makes the pairs of the runs. Different outputs are an error unless they are allowed, and so is no pair at all.
func (v *Versus) pair(allowDifferent bool) error {
	var differ []error
	for _, arch := range v.rep.Archs() {
		for _, side := range v.Sides[1:] {
			for i := range v.rep.Runs {
				b := &v.rep.Runs[i]
				if b.Arch != arch || b.Variant != side || b.Cycles == 0 {
					continue
				}
				a := baselineOf(v.rep, arch, v.Sides[0], b.Launch)
				if a == nil || a.Cycles == 0 {
					continue
				}
				p := pairOf(a, b)
				v.Pairs = append(v.Pairs, p)
				if p.Difference != nil && !allowDifferent {
					differ = append(differ, fmt.Errorf("the outputs of %s and %s differ: %s", RunName(a), RunName(b), p.Difference))
				}
			}
		}
	}
	if differ != nil {
		return fmt.Errorf("%w\n  kernels with different outputs do different things; compare them all the same with --allow-different", errors.Join(differ...))
	}
	if len(v.Pairs) == 0 {
		return &InputError{fmt.Errorf("nothing to compare: %s and %s have no architecture and launch in common", v.Sides[0], list(v.Sides[1:]))}
	}
	return nil
}

// checkComparable is the error for plans that cannot be compared with the first variant of the first plan, before anything runs: there is
// no other variant, or a plan has none of the baseline's launches and the baseline has several.
func checkComparable(plans []*workloads.Plan) error {
	if len(plans) == 0 || len(plans[0].Cases) == 0 {
		return nil
	}
	base := plans[0].Cases[0].Variant
	var launches, variants []string
	for i, p := range plans {
		for _, c := range p.Cases {
			variants = appendNew(variants, c.Variant)
			if i == 0 && c.Variant == base {
				launches = append(launches, c.Launch)
			}
		}
	}
	if len(variants) < 2 {
		return &InputError{fmt.Errorf("nothing to compare %s with: name a second file or kernel, or a file with several kernels", base)}
	}
	if len(launches) < 2 {
		return nil
	}
	for i, p := range plans {
		common, others := false, 0
		var own, names []string
		for _, c := range p.Cases {
			if i > 0 || c.Variant != base {
				others++
				common = common || slices.Contains(launches, c.Launch)
				own, names = appendNew(own, c.Launch), appendNew(names, c.Variant)
			}
		}
		if others > 0 && !common {
			if own == nil {
				own = []string{"one without a name"}
			}
			return &InputError{fmt.Errorf("nothing to compare: %s and %s have no launch in common (%s; %s); choose one of the baseline with --launch",
				base, list(names), list(launches), list(own))}
		}
	}
	return nil
}

// baselineOf is the run of the baseline with a launch, or its only run on the architecture.
func baselineOf(rep *Report, arch, variant, launch string) *Run {
	if r := rep.Find(arch, variant, launch); r != nil {
		return r
	}
	var only *Run
	for i := range rep.Runs {
		if r := &rep.Runs[i]; r.Arch == arch && r.Variant == variant {
			if only != nil {
				return nil
			}
			only = r
		}
	}
	return only
}

func pairOf(a, b *Run) Pair {
	p := Pair{Comparison: compareRuns(a, b, "")}
	work := p.InstructionRatio * float64(b.WarpInstructions) / float64(a.WarpInstructions)
	p.Difference = firstDifference(a.written, b.written)
	p.OutputsEqual = p.Difference == nil
	p.Classes = classDeltas(a, b, work)
	p.Pipes = pipeDeltas(a, b, work)
	p.States = stateDeltas(a, b, work)
	p.Opcodes = weights(a, b)
	for _, w := range p.Opcodes {
		switch {
		case w.Baseline >= matters && w.Variant < matters:
			p.Stopped = append(p.Stopped, fmt.Sprintf("%s (%s to %s)", w.Opcode, percent(w.Baseline), percent(w.Variant)))
		case w.Baseline < matters && w.Variant >= matters:
			p.Started = append(p.Started, fmt.Sprintf("%s (%s to %s)", w.Opcode, percent(w.Baseline), percent(w.Variant)))
		}
	}
	p.Moved = moved(a, b)
	return p
}

// classDeltas joins the classes of both runs; work scales the variant to the baseline's work.
func classDeltas(a, b *Run, work float64) []ClassDelta {
	var out []ClassDelta
	at := map[string]int{}
	row := func(c sim.ClassCount) *ClassDelta {
		i, ok := at[c.Class]
		if !ok {
			i = len(out)
			at[c.Class] = i
			out = append(out, ClassDelta{Class: c.Class, Pipe: c.Pipe})
		}
		return &out[i]
	}
	for _, c := range a.Classes {
		row(c).Baseline += float64(c.Insts)
	}
	for _, c := range b.Classes {
		row(c).Variant += float64(c.Insts) * work
	}
	slices.SortStableFunc(out, func(x, y ClassDelta) int {
		return cmp.Compare(max(y.Baseline-y.Variant, y.Variant-y.Baseline), max(x.Baseline-x.Variant, x.Variant-x.Baseline))
	})
	return out
}

func pipeDeltas(a, b *Run, work float64) []PipeDelta {
	var out []PipeDelta
	for _, q := range a.Pipes {
		d := PipeDelta{Pipe: q.Name, BaselineUse: q.Utilization, BaselineBusy: float64(q.BusyCycles)}
		if r := pipe(b, q.Name); r != nil {
			d.VariantUse, d.VariantBusy = r.Utilization, float64(r.BusyCycles)*work
		}
		if d.BaselineBusy+d.VariantBusy > 0 {
			out = append(out, d)
		}
	}
	return out
}

func stateDeltas(a, b *Run, work float64) []StateDelta {
	var out []StateDelta
	for i, s := range a.WarpStates {
		t := b.WarpStates[i]
		if s.WarpCycles+t.WarpCycles == 0 {
			continue
		}
		out = append(out, StateDelta{State: s.State, BaselineShare: s.Share, VariantShare: t.Share,
			BaselineCycles: float64(s.WarpCycles), VariantCycles: float64(t.WarpCycles) * work})
	}
	return out
}

// weights adds the instructions' warp-cycles up by opcode, without modifiers.
func weights(a, b *Run) []Weight {
	var out []Weight
	at := map[string]int{}
	row := func(h *sim.HotInst) *Weight {
		op := opcode(h.Text)
		i, ok := at[op]
		if !ok {
			i = len(out)
			at[op] = i
			out = append(out, Weight{Opcode: op})
		}
		return &out[i]
	}
	for i := range a.Hot {
		row(&a.Hot[i]).Baseline += a.Hot[i].Share
	}
	for i := range b.Hot {
		row(&b.Hot[i]).Variant += b.Hot[i].Share
	}
	slices.SortStableFunc(out, func(x, y Weight) int { return cmp.Compare(max(y.Baseline, y.Variant), max(x.Baseline, x.Variant)) })
	return out
}

// opcode is the first word of an instruction after its guard, without modifiers: "@!P0 IMAD.WIDE R2, ..." is IMAD.
func opcode(text string) string {
	f := strings.Fields(text)
	if len(f) > 1 && strings.HasPrefix(f[0], "@") {
		f = f[1:]
	}
	if len(f) == 0 {
		return text
	}
	name, _, _ := strings.Cut(strings.TrimRight(f[0], ";"), ".")
	return name
}

// moved says how the limit moved from run a to run b.
func moved(a, b *Run) string {
	before, after := ShortLimiter(a), ShortLimiter(b)
	var s string
	if limiterKey(a) == limiterKey(b) {
		s = fmt.Sprintf("The limit stays: %s before, %s after", before, after)
	} else {
		s = fmt.Sprintf("The limit moves from %s to %s", before, after)
		if a.Limiter.Kind == sim.LimitPipe {
			if q := pipe(b, a.Limiter.What); q != nil {
				s += fmt.Sprintf("; the %s pipe is now busy for %s of the time", q.Name, percent(q.Utilization))
			}
		}
	}
	i := largestShift(a, b)
	x, y := a.WarpStates[i], b.WarpStates[i]
	if d := y.PerIssue - x.PerIssue; d > 0.05 || d < -0.05 {
		s += fmt.Sprintf("; %s changes most among the warp states, from %.2f to %.2f cycles an instruction", x.State, x.PerIssue, y.PerIssue)
	}
	return s + "."
}

// largestShift is the warp state whose cycles an instruction change most.
func largestShift(a, b *Run) int {
	best, most := 0, -1.0
	for i := range a.WarpStates {
		d := b.WarpStates[i].PerIssue - a.WarpStates[i].PerIssue
		if d = max(d, -d); d > most {
			best, most = i, d
		}
	}
	return best
}
