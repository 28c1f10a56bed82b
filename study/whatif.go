package study

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/workloads"
)

// Change is one key of the architecture with the values it is to take.
type Change struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`

	values string // as written, until the key's kind is known
}

// WhatIf is what kernels would do on changed hardware.
type WhatIf struct {
	Schema    int        `json:"schema"`
	Recompile bool       `json:"recompile"`
	Responses []Response `json:"responses"`
	Failures  []Failure  `json:"failures,omitempty"`
}

// Response is one kernel with one launch on one architecture, changed in several ways.
type Response struct {
	Arch    string   `json:"arch"`
	Variant string   `json:"variant"`
	Launch  string   `json:"launch,omitempty"`
	Changes []Change `json:"changes"` // with the keys of the architecture
	Before  []string `json:"before"`  // their present values
	Base    Run      `json:"base"`
	Points  []Point  `json:"points"`
	// Skipped says which of several changes were not run alone, because the architecture refuses them without the others.
	Skipped []string `json:"skipped,omitempty"`
	// NoEffect says, "key: why", which keys the kernel cannot feel.
	NoEffect []string `json:"no_effect,omitempty"`
}

// Point is the kernel on one changed architecture.
type Point struct {
	Set         []string    `json:"set"`                // key=value
	Followed    []string    `json:"followed,omitempty"` // key=value of keys that had to go with those of Set, see Run.Followed
	SpeedUp     float64     `json:"speed_up"`
	Cycles      uint64      `json:"cycles"`
	IPC         float64     `json:"ipc"`
	Limiter     sim.Limiter `json:"limiter"`
	Confidence  string      `json:"confidence,omitempty"`  // as a run with the same overrides has it: assumed where the kernel feels a changed number
	OwnNumbers  []string    `json:"own_numbers,omitempty"` // the changed numbers that the kernel could feel
	Registers   int         `json:"registers"`
	Occupancy   float64     `json:"occupancy_achieved"`
	Rescheduled bool        `json:"stall_counts_recomputed"` // or the program compiled anew
	SameOutputs bool        `json:"outputs_equal"`
	Error       string      `json:"error,omitempty"`
	Explain     *Pair       `json:"explain,omitempty"`

	values []string // by change, "" where the change is not applied
	run    *Run
}

// WhatIfOptions are the choices of WhatIfs.
type WhatIfOptions struct {
	Options
	Recompile bool // compile the kernel for each changed architecture
	Explain   bool // keep what bound before and after
}

// maxResponse bounds the points of one response.
const maxResponse = 1000

// ParseChange reads key=value, key=v1,v2,... or key=from..to or from..to..step. The values are separated when the key's
// kind is known: commas belong to the value of a list.
func ParseChange(text string) (Change, error) {
	k, v, ok := strings.Cut(text, "=")
	k, v = strings.TrimSpace(k), strings.TrimSpace(v)
	if !ok || k == "" || v == "" {
		return Change{}, fmt.Errorf("%q is not key=value, such as classes.idp.issue_interval=1, lsu.l1_latency=16,32,64 or lsu.l1_latency=16..64..8", text)
	}
	return Change{Key: k, values: v}, nil
}

// split gives the values that a change stands for. Values of lists are separated by semicolons.
func splitValues(text, kind string) ([]string, error) {
	separator := ","
	if strings.HasPrefix(kind, "a list") {
		separator = ";"
	}
	var out []string
	for part := range strings.SplitSeq(text, separator) {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, fmt.Errorf("%q has an empty value", text)
		}
		if !strings.Contains(part, "..") {
			out = append(out, part)
			continue
		}
		more, err := rangeValues(part)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	if len(out) > maxResponse {
		return nil, fmt.Errorf("%q has %d values; at most %d", text, len(out), maxResponse)
	}
	for i, v := range out {
		if slices.Contains(out[:i], v) {
			return nil, fmt.Errorf("%q has the value %s twice", text, v)
		}
	}
	return out, nil
}

// rangeValues reads from..to or from..to..step; the end is included when a step meets it.
func rangeValues(text string) ([]string, error) {
	parts := strings.Split(text, "..")
	bad := fmt.Errorf("%q is not a range such as 0..64 or 0..64..8", text)
	if len(parts) < 2 || len(parts) > 3 {
		return nil, bad
	}
	n := [3]float64{2: 1}
	for i, p := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, bad
		}
		n[i] = v
	}
	if n[1] < n[0] || n[2] <= 0 {
		return nil, fmt.Errorf("%q: a range goes up by a step above 0", text)
	}
	count := math.Floor((n[1]-n[0])/n[2]+1e-9) + 1
	if count > maxResponse {
		return nil, fmt.Errorf("%q has %.0f values; at most %d", text, count, maxResponse)
	}
	out := make([]string, int(count))
	for i := range out {
		out[i] = strconv.FormatFloat(n[0]+float64(i)*n[2], 'g', 12, 64)
	}
	return out, nil
}

// resolve replaces the keys by those of the architecture and separates the values.
func resolve(a *configs.Arch, changes []Change) (out []Change, before []string, err error) {
	var added []string
	for _, c := range changes {
		if name, ok := strings.CutPrefix(c.Key, "pipes."); ok && !strings.Contains(name, ".") {
			if _, known := a.Pipes[name]; !known {
				out, before, added = append(out, Change{Key: c.Key, Values: []string{c.values}}), append(before, "none"), append(added, name)
				continue
			}
		}
		k, err := a.KeyOf(c.Key)
		if parts := strings.Split(c.Key, "."); err != nil && len(parts) == 3 && parts[0] == "pipes" && slices.Contains(added, parts[1]) {
			k, err = configs.Key{Path: c.Key, Kind: "a whole number", Value: "as the pipe it is like"}, nil
		}
		if err != nil {
			return nil, nil, err
		}
		vs, err := splitValues(c.values, k.Kind)
		if err != nil {
			return nil, nil, fmt.Errorf("--set %s: %w", c.Key, err)
		}
		for i, v := range vs {
			if scaled, ok := configs.Scaled(v, k.Value); ok {
				vs[i] = scaled
			}
		}
		if i := slices.IndexFunc(out, func(o Change) bool { return o.Key == k.Path }); i >= 0 {
			return nil, nil, fmt.Errorf("--set %s: %s is set twice; give its values in one, such as %s=1,2", c.Key, k.Path, k.Path)
		}
		out, before = append(out, Change{Key: k.Path, Values: vs}), append(before, k.Value)
	}
	return out, before, nil
}

// combinations lists the values to run, one for each change, "" where a change is left out. Changes with one value each are
// run alone and all together; otherwise every combination is run. A change that adds a pipe is part of all of them.
func combinations(changes []Change) ([][]string, error) {
	adds := func(c Change) bool { return strings.Count(c.Key, ".") == 1 && strings.HasPrefix(c.Key, "pipes.") }
	total, real := 1, 0
	for _, c := range changes {
		total *= len(c.Values)
		if total > maxResponse {
			return nil, fmt.Errorf("these are more than %d combinations", maxResponse)
		}
		if !adds(c) {
			real++
		}
	}
	var out [][]string
	if total == 1 && real > 1 {
		for i, c := range changes {
			if adds(c) {
				continue
			}
			row := make([]string, len(changes))
			for j, d := range changes {
				if j == i || adds(d) {
					row[j] = d.Values[0]
				}
			}
			out = append(out, row)
		}
	}
	for n := range total {
		row := make([]string, len(changes))
		for i := len(changes) - 1; i >= 0; i-- {
			row[i] = changes[i].Values[n%len(changes[i].Values)]
			n /= len(changes[i].Values)
		}
		out = append(out, row)
	}
	return out, nil
}

// WhatIfs runs every case of the plan on every architecture, unchanged and changed.
func WhatIfs(plan *workloads.Plan, changes []Change, opt WhatIfOptions) (*WhatIf, error) {
	w := &WhatIf{Schema: sim.Schema, Recompile: opt.Recompile}
	archs := planArchs(plan)
	for _, arch := range archs {
		for _, c := range plan.Cases {
			one := *plan
			one.Cases = []*workloads.Case{c}
			r, err := respond(&one, arch, changes, opt)
			if err != nil {
				w.Failures = append(w.Failures, Failure{Variant: caseName(c), Launch: c.Launch, Arch: arch, Error: err.Error(), Err: err})
				continue
			}
			w.Responses = append(w.Responses, *r)
		}
	}
	if len(w.Responses) == 0 {
		return nil, allFailed(namedFailures(w.Failures))
	}
	return w, nil
}

// namedFailures puts the names of kernel and architecture before the errors of several failures: those of one text
// become one failure.
func namedFailures(fs []Failure) []Failure {
	if len(fs) < 2 {
		return fs
	}
	var out []Failure
	kernels, archs := map[string][]string{}, map[string][]string{} // by text
	add := func(to map[string][]string, text, name string) {
		if !slices.Contains(to[text], name) {
			to[text] = append(to[text], name)
		}
	}
	for _, f := range fs {
		if archs[f.Error] == nil {
			out = append(out, f)
		}
		add(kernels, f.Error, strings.TrimSpace(f.Variant+" "+f.Launch))
		add(archs, f.Error, f.Arch)
	}
	for i := range out {
		f := &out[i]
		name := strings.Join(kernels[f.Error], ", ")
		if n := len(kernels[f.Error]); n > 2 {
			name = fmt.Sprintf("%d kernels", n)
		}
		f.Err = fmt.Errorf("%s: %w", strings.TrimSpace(name+" on "+strings.Join(archs[f.Error], ", ")), f.Err)
		f.Error = f.Err.Error()
	}
	return out
}

func caseName(c *workloads.Case) string {
	if c.Variant != "" {
		return c.Variant
	}
	return c.Entry
}

func respond(plan *workloads.Plan, arch string, changes []Change, opt WhatIfOptions) (*Response, error) {
	b, err := newBench(plan, arch, opt.Recompile)
	if err != nil {
		return nil, err
	}
	r := &Response{Arch: b.base.arch.Name}
	if r.Changes, r.Before, err = resolve(b.base.arch, changes); err != nil {
		return nil, &InputError{err}
	}
	rows, err := combinations(r.Changes)
	if err != nil {
		return nil, &InputError{err}
	}
	if rows, err = b.feasible(r, rows); err != nil {
		return nil, &InputError{err}
	}
	if opt.Explain {
		b.comp.probes.hot = 1 << 20
	}
	base, _, err := b.run(nil)
	if err != nil {
		return nil, err
	}
	r.Base, r.Variant, r.Launch = *base, base.Variant, base.Launch
	b.comp.plan = unchecked(plan)
	r.Points = make([]Point, len(rows))
	idx := upTo(len(rows))
	track := tracker{report: opt.Progress, share: make([]float64, len(rows)), insts: make([]uint64, len(rows))}
	forEach(idx, opt.Workers, func(i int) {
		r.Points[i] = b.point(base, r.Changes, rows[i], opt.Explain)
		track.update(i, 1, base.WarpInstructions, true)
	})
	r.Base.Hot = r.Base.Hot[:min(10, len(r.Base.Hot))]
	r.NoEffect = withoutEffect(r)
	return r, nil
}

// withoutEffect lists the changed keys that the kernel cannot feel, with the reason. Pipes that a change adds are left out.
func withoutEffect(r *Response) []string {
	var out []string
	for i, c := range r.Changes {
		why := unfelt(c.Key, &r.Base)
		added := strings.HasPrefix(c.Key, "pipes.") && pipe(&r.Base, strings.Split(c.Key, ".")[1]) == nil
		if why == "" || added {
			continue
		}
		// The rule speaks of one key: a point that sets others too says nothing about it.
		felt := slices.ContainsFunc(r.Points, func(p Point) bool {
			only := p.values[i] != "" && !slices.ContainsFunc(slices.Concat(p.values[:i], p.values[i+1:]), func(v string) bool { return v != "" })
			return only && p.Error == "" && p.Cycles != r.Base.Cycles
		})
		if !felt {
			out = append(out, c.Key+": "+why)
		}
	}
	return out
}

// feasible are the rows that the architecture takes. A value that it refuses is the user's mistake: nothing is run then.
// Only a change that it refuses alone but takes with the others is left out.
func (b *bench) feasible(r *Response, rows [][]string) ([][]string, error) {
	var out [][]string
	var refused error
	for _, row := range rows {
		set := overrides(r.Changes, row)
		_, err := b.machine(set)
		switch {
		case err == nil:
			out = append(out, row)
		case !slices.Contains(row, ""):
			return nil, err
		default:
			if refused == nil {
				refused = err
			}
			r.Skipped = append(r.Skipped, strings.Join(settingTexts(set), " "))
		}
	}
	if len(out) == 0 {
		return nil, refused
	}
	return out, nil
}

// followed are the keys that went with the changes of a run, without those that go with the plan's own.
func followed(base, run *Run) []string {
	return slices.DeleteFunc(slices.Clone(run.Followed), func(set string) bool { return slices.Contains(base.Followed, set) })
}

func settingTexts(set []workloads.Override) []string {
	var out []string
	for _, o := range set {
		out = append(out, o.Key+"="+o.Value)
	}
	return out
}

// unchecked is the plan without the comparison with expected outputs, which the unchanged run has made.
func unchecked(plan *workloads.Plan) *workloads.Plan {
	p := *plan
	p.Check = workloads.CheckNone
	return &p
}

func overrides(changes []Change, row []string) []workloads.Override {
	var out []workloads.Override
	for i, c := range changes {
		if row[i] != "" {
			out = append(out, workloads.Override{Key: c.Key, Value: row[i], Place: strictyaml.Place{File: "--set"}})
		}
	}
	return out
}

// point runs one combination. An error of the simulation becomes part of the point.
func (b *bench) point(base *Run, changes []Change, row []string, explain bool) Point {
	set := overrides(changes, row)
	p := Point{Set: settingTexts(set), values: row}
	run, rescheduled, err := b.run(set)
	if err != nil {
		p.Error = err.Error()
		return p
	}
	p.run, p.Rescheduled, p.Followed = run, rescheduled, followed(base, run)
	p.Cycles, p.IPC, p.Limiter, p.Registers, p.Occupancy = run.Cycles, run.IPC, run.Limiter, run.Registers, run.Occupancy.Achieved
	p.Confidence, p.OwnNumbers = run.Confidence, run.OwnNumbers
	p.SpeedUp = float64(base.Cycles) / float64(max(1, run.Cycles))
	// The SM may run another share of the grid (sms), so that outputs are compared only where the same blocks ran.
	p.SameOutputs = slices.EqualFunc(base.ran, run.ran, func(x, y Output) bool { return x.FNV1a64 == y.FNV1a64 })
	if explain {
		e := pairOf(base, run)
		e.Variant, e.Difference, e.OutputsEqual = strings.Join(p.Set, " "), nil, p.SameOutputs
		p.Explain = &e
	}
	run.Hot = run.Hot[:min(10, len(run.Hot))]
	return p
}

// PointErrors joins the errors of changed simulations, nil if all ran.
func (w *WhatIf) PointErrors() error {
	var errs []error
	for i := range w.Responses {
		for _, p := range w.Responses[i].Points {
			if p.Error != "" {
				errs = append(errs, fmt.Errorf("%s with %s: %s", RunName(&w.Responses[i].Base), strings.Join(p.Set, " "), p.Error))
			}
		}
	}
	return errors.Join(errs...)
}
