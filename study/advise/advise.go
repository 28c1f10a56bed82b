package advise

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

// Advice is what would help a kernel, with the simulations that show it.
type Advice struct {
	Schema   int               `json:"schema"`
	Kernel   string            `json:"kernel"`
	File     string            `json:"file"`
	Launch   string            `json:"launch,omitempty"`
	Archs    []string          `json:"archs"`
	Rewrites []Rewritten       `json:"rewrites"`
	Together Together          `json:"together"`
	Equal    bool              `json:"outputs_equal"` // of every rewrite that is advised
	Limiters map[string]string `json:"limiters"`      // of the kernel as it is, by architecture
	Cycles   map[string]uint64 `json:"cycles"`
	Warps    map[string]Warps  `json:"resident_warps,omitempty"`
	Work     map[string]Work   `json:"independent_work,omitempty"` // where the rewrites do not pay as launched
	Subject  []string          `json:"change_for,omitempty"`       // the rules whose gain resident_warps and independent_work are about
	runs     map[string]*study.Run
	failures map[string]string // why the kernel as it is was not simulated, by architecture
	asked    map[string]asked
}

// asked is what is known of an architecture of the plan by its name, which is not that of its file.
type asked struct {
	as string // how the plan asks for it: by name or by file
	sm int    // the number of its target, 86 for sm_86
}

// askedArchs are those of a list of names and files.
func askedArchs(list []string) (map[string]asked, error) {
	out := map[string]asked{}
	for _, as := range list {
		arch, err := study.LoadArch(as)
		if err != nil {
			return nil, &study.InputError{Err: err}
		}
		out[arch.Name] = asked{as, arch.SMNumber()}
	}
	return out, nil
}

// Rewritten is one rule's rewrite, simulated alone.
type Rewritten struct {
	Rule    string             `json:"rule"`
	About   string             `json:"about"`
	Sites   int                `json:"sites"`
	Lines   []Place            `json:"lines"`
	SpeedUp map[string]float64 `json:"speedup"`
	Fewer   map[string]float64 `json:"instruction_ratio"`
	Why     string             `json:"why"`                // on all architectures
	Reasons map[string]string  `json:"reasons"`            // by architecture
	Fast    []string           `json:"fast_for,omitempty"` // launch values for which the rewritten code runs; for others the original does
	Equal   bool               `json:"outputs_equal"`
	Differs string             `json:"first_difference,omitempty"`
	Taken   bool               `json:"in_together"`
	Formed  bool               `json:"formed_already"` // the lowering makes the same machine instructions of the kernel as it is, on each architecture that ran

	change   *Change
	plan     *workloads.Plan // of the rewritten kernel
	replaced bool            // the rules before it leave nothing to rewrite
}

// Together is every rewrite that loses on none of the architectures, applied one after the other.
type Together struct {
	Rules   []string           `json:"rules"`
	SpeedUp map[string]float64 `json:"speedup"`
	Fewer   map[string]float64 `json:"instruction_ratio"`
	Why     string             `json:"why"`
	Reasons map[string]string  `json:"reasons"`
	Fast    []string           `json:"fast_for,omitempty"`
	Equal   bool               `json:"outputs_equal"`
	PTX     string             `json:"-"` // the rewritten module, "" if there is nothing to rewrite

	plan *workloads.Plan // of the rewritten module
}

// Options are the choices of an advice.
type Options struct {
	study.Options
	Rules   []string // only these; empty: all
	NoWarps bool     // do not look for the resident warps and the independent work from which on the rewrites pay
}

const (
	gainFrom = 1.02 // speed-up from which on a rewrite is said to gain
	lossFrom = 0.99
)

// ruleTarget is the target for which a kernel must be complete before rules look at it: one that has or emulates everything modelled.
const ruleTarget = 90

// Advise tries the rules on the kernel of a plan with exactly one case.
func Advise(plan *workloads.Plan, opt Options) (*Advice, error) {
	if len(plan.Cases) != 1 {
		return nil, &study.InputError{Err: fmt.Errorf("advise works on one kernel with one launch, not %d", len(plan.Cases))}
	}
	c := plan.Cases[0]
	if c.Kernel.IsListing() {
		return nil, &study.InputError{Err: fmt.Errorf("%s is machine code; advise rewrites PTX", filepath.Base(c.Kernel.Path))}
	}
	m, err := ptx.Parse(c.Kernel.Path, c.Kernel.Text)
	if err != nil {
		return nil, &study.InputError{Err: err}
	}
	fn := m.Entry(c.Entry)
	if fn == nil {
		return nil, &study.InputError{Err: c.EntryAt.Errorf("%s: name one of its kernels", filepath.Base(c.Kernel.Path))}
	}
	// Rules take instructions as their definitions have them: a kernel that no target can run is told first.
	if _, err := lower.Compile(m, fn.Name, isa.NewTarget(ruleTarget), lower.Options{}); err != nil {
		return nil, &study.InputError{Err: err}
	}
	params := scalars(fn, c)
	var found []*Change
	for _, r := range Rules() {
		if len(opt.Rules) > 0 && !slices.Contains(opt.Rules, r.Name) {
			continue
		}
		ch, err := Rewrite(c.Kernel.Path, c.Kernel.Text, fn.Name, params, r)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.Name, err)
		}
		if ch != nil {
			found = append(found, ch)
		}
	}
	opt.Compiled = &study.Compiled{}
	trials, err := study.NewTrials(plan, opt.Options)
	if err != nil {
		return nil, err
	}
	base := trials.Base
	a := &Advice{Schema: sim.Schema, Kernel: fn.Name, File: c.Kernel.Path, Launch: c.Launch, Archs: base.Archs(), Equal: true,
		Rewrites: []Rewritten{}, Limiters: map[string]string{}, Cycles: map[string]uint64{}, runs: map[string]*study.Run{}, failures: map[string]string{}}
	for i := range base.Runs {
		r := &base.Runs[i]
		a.Limiters[r.Arch], a.Cycles[r.Arch], a.runs[r.Arch] = r.Limiter.Sentence, r.Cycles, r
	}
	for _, f := range base.Failures {
		a.failures[f.Arch] = f.Error
	}
	list := plan.Archs
	if len(list) == 0 {
		list = a.Archs
	}
	if a.asked, err = askedArchs(list); err != nil {
		return nil, err
	}
	for _, ch := range found {
		p := withText(plan, ch.Text, fn.Name)
		t := trials.Try(p)
		if r := a.judge(ch, &t); !ch.silent || r.matters() {
			r.plan = p
			a.Rewrites = append(a.Rewrites, r)
		}
	}
	if err := a.combine(plan, fn.Name, params, trials); err != nil {
		return nil, err
	}
	changed, gain := a.subject()
	if opt.NoWarps || changed == nil {
		return a, nil
	}
	if a.Warps, err = a.residentWarps(plan, changed, opt); err != nil {
		return nil, err
	}
	a.Work = a.independentWork(plan, changed, gain, opt)
	return a, nil
}

// subject is the rewritten kernel of which is told what would have to change for it to pay: all rewrites that are taken, or else the best
// of those that keep the outputs; nil if there is none that changes the machine code.
func (a *Advice) subject() (changed *workloads.Plan, gain map[string]float64) {
	for i := range a.Rewrites {
		if r := &a.Rewrites[i]; r.Taken && !r.Formed {
			a.Subject = append(a.Subject, r.Rule)
		}
	}
	if len(a.Subject) > 0 {
		return a.Together.plan, a.Together.SpeedUp
	}
	var best *Rewritten
	most := 0.0
	for i := range a.Rewrites {
		r := &a.Rewrites[i]
		sum := 0.0
		for _, s := range r.SpeedUp {
			sum += s
		}
		if r.Equal && !r.Formed && sum > most {
			best, most = r, sum
		}
	}
	if best == nil {
		return nil, nil
	}
	a.Subject = []string{best.Rule}
	return best.plan, best.SpeedUp
}

// withText is the plan with another text of the kernel file. The file's name stays, so that messages and profiles show it.
func withText(plan *workloads.Plan, text, entry string) *workloads.Plan {
	p, c := *plan, *plan.Cases[0]
	c.Kernel = &workloads.KernelFile{Path: c.Kernel.Path, Text: []byte(text)}
	c.Entry = entry
	p.Cases = []*workloads.Case{&c}
	return &p
}

func (a *Advice) judge(ch *Change, t *study.Trial) Rewritten {
	r := Rewritten{Rule: ch.Rule.Name, About: ch.Rule.About, Sites: ch.Sites, Lines: ch.Lines, Fast: ch.Fast, Equal: len(t.Pairs) > 0, change: ch,
		SpeedUp: map[string]float64{}, Fewer: map[string]float64{}, Reasons: map[string]string{}}
	for _, arch := range a.Archs {
		p := pairOn(t, arch)
		if p == nil {
			r.Reasons[arch] = "not simulated: " + failure(t, arch)
			continue
		}
		r.SpeedUp[arch], r.Fewer[arch] = p.SpeedUp, p.InstructionRatio
		r.Reasons[arch] = why(p, ch.Rule.trades)
		if ch.needs > a.asked[arch].sm {
			r.Reasons[arch] += fmt.Sprintf("; but PTX has this from sm_%d on: ptxas does not take it for %s", ch.needs, arch)
		}
		if !p.OutputsEqual {
			r.Equal = false
			r.Differs = p.Difference.String()
		}
	}
	r.Why = joined(a.Archs, r.Reasons)
	r.Formed = r.Equal && !slices.ContainsFunc(a.Archs, func(arch string) bool { _, ran := r.SpeedUp[arch]; return ran && r.Reasons[arch] != formedAlready })
	return r
}

// joined is what is said of the architectures in one text; those of which the same is said stand together.
func joined(archs []string, reasons map[string]string) string {
	var texts []string
	of := map[string][]string{}
	for _, a := range archs {
		t := reasons[a]
		if of[t] == nil {
			texts = append(texts, t)
		}
		of[t] = append(of[t], a)
	}
	for i, t := range texts {
		texts[i] = strings.Join(of[t], ", ") + ": " + t
	}
	return strings.Join(texts, "; ")
}

func pairOn(t *study.Trial, arch string) *study.Pair {
	for i := range t.Pairs {
		if t.Pairs[i].Arch == arch {
			return &t.Pairs[i]
		}
	}
	return nil
}

func failure(t *study.Trial, arch string) string {
	if t.Err != nil {
		return t.Err.Error()
	}
	for _, f := range t.Report.Failures {
		if f.Arch == arch {
			return f.Error
		}
	}
	return "no result"
}

// matters says that the rewrite changes something on an architecture.
func (r *Rewritten) matters() bool {
	for a, s := range r.SpeedUp {
		if s >= gainFrom || r.Fewer[a] >= 1.01 {
			return true
		}
	}
	return false
}

// keeps says that the rewrite ran on every architecture, loses on none, and can be compiled for all of them.
func (a *Advice) keeps(r *Rewritten) bool {
	for _, arch := range a.Archs {
		if r.SpeedUp[arch] < lossFrom || r.change.needs > a.asked[arch].sm {
			return false
		}
	}
	return true
}

// combine applies the rules that keep the outputs and lose on no architecture, one after the other, and simulates the result.
func (a *Advice) combine(plan *workloads.Plan, entry string, params map[string]uint64, trials *study.Trials) error {
	c := plan.Cases[0]
	text := c.Kernel.Text
	var last *Rewritten
	for i := range a.Rewrites {
		r := &a.Rewrites[i]
		if !r.Equal || !a.keeps(r) || len(r.Fast) > 0 && !anyGain(r.SpeedUp) {
			continue // a second body for launch values must be worth its place
		}
		ch, err := Rewrite(c.Kernel.Path, text, entry, params, r.change.Rule)
		if err != nil {
			return fmt.Errorf("rule %s: %w", r.Rule, err)
		}
		if ch == nil {
			r.replaced = true
			continue
		}
		text, r.Taken, last = []byte(ch.Text), true, r
		a.Together.Rules, a.Together.Fast = append(a.Together.Rules, r.Rule), append(a.Together.Fast, r.Fast...)
	}
	switch len(a.Together.Rules) {
	case 0:
		a.Together = Together{Rules: []string{}, SpeedUp: map[string]float64{}, Fewer: map[string]float64{}, Reasons: map[string]string{}, Equal: true}
		return nil
	case 1:
		a.Together = Together{Rules: a.Together.Rules, Fast: a.Together.Fast, SpeedUp: last.SpeedUp, Fewer: last.Fewer, Why: last.Why, Reasons: last.Reasons, Equal: true, PTX: last.change.Text, plan: last.plan}
		return nil
	}
	all := withText(plan, string(text), entry)
	t := trials.Try(all)
	trades := false
	for _, r := range a.Rewrites {
		trades = trades || r.Taken && r.change.Rule.trades
	}
	r := a.judge(&Change{Rule: Rule{trades: trades}}, &t)
	a.Together = Together{Rules: a.Together.Rules, Fast: a.Together.Fast, SpeedUp: r.SpeedUp, Fewer: r.Fewer, Why: r.Why, Reasons: r.Reasons, Equal: r.Equal, PTX: string(text), plan: all}
	if !r.Equal {
		a.Equal, a.Together.PTX = false, ""
		return errors.New("the rewrites together change the outputs, though each alone does not: " + r.Differs)
	}
	return nil
}
