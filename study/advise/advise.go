package advise

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

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
	runs     map[string]*study.Run
}

// Rewritten is one rule's rewrite, simulated alone.
type Rewritten struct {
	Rule    string             `json:"rule"`
	About   string             `json:"about"`
	Sites   int                `json:"sites"`
	Lines   []Place            `json:"lines"`
	SpeedUp map[string]float64 `json:"speedup"`
	Fewer   map[string]float64 `json:"instruction_ratio"`
	Why     map[string]string  `json:"why"`
	Valid   []string           `json:"valid_for,omitempty"` // launch values that the rewrite relies on
	Equal   bool               `json:"outputs_equal"`
	Differs string             `json:"first_difference,omitempty"`
	Taken   bool               `json:"in_together"`

	change *Change
}

// Together is every rewrite that loses on none of the architectures, applied one after the other.
type Together struct {
	Rules   []string           `json:"rules"`
	SpeedUp map[string]float64 `json:"speedup"`
	Fewer   map[string]float64 `json:"instruction_ratio"`
	Why     map[string]string  `json:"why"`
	Valid   []string           `json:"valid_for,omitempty"` // launch values that the rewrites rely on
	Equal   bool               `json:"outputs_equal"`
	PTX     string             `json:"-"` // the rewritten module, "" if there is nothing to rewrite
}

// Options are the choices of an advice.
type Options struct {
	study.Options
	Rules   []string // only these; empty: all
	NoWarps bool     // do not look for the number of resident warps from which on the rewrites pay
}

const (
	gainFrom = 1.02 // speed-up from which on a rewrite is said to gain
	lossFrom = 0.99
)

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
	var tries []*workloads.Plan
	for _, ch := range found {
		tries = append(tries, withText(plan, ch.Text, fn.Name))
	}
	base, trials, err := study.Trials(plan, tries, opt.Options)
	if err != nil {
		return nil, err
	}
	a := &Advice{Schema: sim.Schema, Kernel: fn.Name, File: c.Kernel.Path, Launch: c.Launch, Archs: base.Archs(), Equal: true,
		Rewrites: []Rewritten{}, Limiters: map[string]string{}, Cycles: map[string]uint64{}, runs: map[string]*study.Run{}}
	for i := range base.Runs {
		r := &base.Runs[i]
		a.Limiters[r.Arch], a.Cycles[r.Arch], a.runs[r.Arch] = r.Limiter.Sentence, r.Cycles, r
	}
	for i, t := range trials {
		a.Rewrites = append(a.Rewrites, judge(a.Archs, found[i], &t))
	}
	if err := a.combine(plan, fn.Name, params, opt); err != nil {
		return nil, err
	}
	if !opt.NoWarps && a.Together.PTX != "" {
		a.Warps, err = a.residentWarps(plan, fn.Name, opt)
	}
	return a, err
}

// scalars are the launch values of a kernel's 32-bit scalar parameters.
func scalars(fn *ptx.Func, c *workloads.Case) map[string]uint32 {
	out := map[string]uint32{}
	for i, p := range fn.Params {
		if i < len(c.Args) && !c.Args[i].IsBuffer() && len(c.Args[i].Raw) == 4 && p.Type != "f32" {
			out[p.Name] = binary.LittleEndian.Uint32(c.Args[i].Raw)
		}
	}
	return out
}

// withText is the plan with another text of the kernel file. The file's name stays, so that messages and profiles show it.
func withText(plan *workloads.Plan, text, entry string) *workloads.Plan {
	p, c := *plan, *plan.Cases[0]
	c.Kernel = &workloads.KernelFile{Path: c.Kernel.Path, Text: []byte(text)}
	c.Entry = entry
	p.Cases = []*workloads.Case{&c}
	return &p
}

func judge(archs []string, ch *Change, t *study.Trial) Rewritten {
	r := Rewritten{Rule: ch.Rule.Name, About: ch.Rule.About, Sites: ch.Sites, Lines: ch.Lines, Valid: ch.Notes, Equal: len(t.Pairs) > 0, change: ch,
		SpeedUp: map[string]float64{}, Fewer: map[string]float64{}, Why: map[string]string{}}
	for _, arch := range archs {
		p := pairOn(t, arch)
		if p == nil {
			r.Why[arch] = "not simulated: " + failure(t, arch)
			continue
		}
		r.SpeedUp[arch], r.Fewer[arch] = p.SpeedUp, p.InstructionRatio
		r.Why[arch] = why(p, ch.Rule.trades)
		if !p.OutputsEqual {
			r.Equal = false
			r.Differs = p.Difference.String()
		}
	}
	return r
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

// keeps says that the rewrite ran on every architecture and loses on none.
func (r *Rewritten) keeps(archs []string) bool {
	for _, a := range archs {
		if r.SpeedUp[a] < lossFrom {
			return false
		}
	}
	return true
}

// combine applies the rules that keep the outputs and lose on no architecture, one after the other, and simulates the result.
func (a *Advice) combine(plan *workloads.Plan, entry string, params map[string]uint32, opt Options) error {
	c := plan.Cases[0]
	text := c.Kernel.Text
	var last *Rewritten
	for i := range a.Rewrites {
		r := &a.Rewrites[i]
		if !r.Equal || !r.keeps(a.Archs) {
			continue
		}
		ch, err := Rewrite(c.Kernel.Path, text, entry, params, r.change.Rule)
		if err != nil {
			return fmt.Errorf("rule %s: %w", r.Rule, err)
		}
		if ch == nil {
			continue
		}
		text, r.Taken, last = []byte(ch.Text), true, r
		a.Together.Rules, a.Together.Valid = append(a.Together.Rules, r.Rule), append(a.Together.Valid, r.Valid...)
	}
	switch len(a.Together.Rules) {
	case 0:
		a.Together.Rules, a.Together.Equal = []string{}, true
		return nil
	case 1:
		a.Together = Together{Rules: a.Together.Rules, Valid: a.Together.Valid, SpeedUp: last.SpeedUp, Fewer: last.Fewer, Why: last.Why, Equal: true, PTX: last.change.Text}
		return nil
	}
	_, trials, err := study.Trials(plan, []*workloads.Plan{withText(plan, string(text), entry)}, opt.Options)
	if err != nil {
		return err
	}
	trades := false
	for _, r := range a.Rewrites {
		trades = trades || r.Taken && r.change.Rule.trades
	}
	r := judge(a.Archs, &Change{Rule: Rule{trades: trades}}, &trials[0])
	a.Together = Together{Rules: a.Together.Rules, Valid: a.Together.Valid, SpeedUp: r.SpeedUp, Fewer: r.Fewer, Why: r.Why, Equal: r.Equal, PTX: string(text)}
	if !r.Equal {
		a.Equal, a.Together.PTX = false, ""
		return errors.New("the rewrites together change the outputs, though each alone does not: " + r.Differs)
	}
	return nil
}
