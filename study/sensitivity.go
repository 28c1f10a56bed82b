package study

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/plots"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/study/page"
	"github.com/sarchlab/smsim/workloads"
)

// Sensitivity ranks the numbers of an architecture by what a step of each does to one kernel.
type Sensitivity struct {
	Schema    int      `json:"schema"`
	Recompile bool     `json:"recompile"`
	Ranked    []Ranked `json:"kernels"`
}

// Ranked is the ranking for one kernel, launch and architecture.
type Ranked struct {
	Arch    string   `json:"arch"`
	Variant string   `json:"variant"`
	Launch  string   `json:"launch,omitempty"`
	Base    Run      `json:"base"`
	Keys    []Effect `json:"keys"`    // strongest first
	Skipped int      `json:"skipped"` // keys that the run cannot feel
	Untried int      `json:"untried"` // keys that are neither numbers nor switches
}

// Effect is what a step down and a step up of one key do.
type Effect struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Doc    string `json:"doc,omitempty"`
	Down   *Step  `json:"down,omitempty"`
	Up     *Step  `json:"up,omitempty"`
	effect float64
}

// Step is one changed value.
type Step struct {
	Value   string  `json:"value"`
	Cycles  uint64  `json:"cycles"`
	Change  float64 `json:"change"` // of the cycles: 0.1 is 10 % slower
	Limiter string  `json:"limiter"`
	Error   string  `json:"error,omitempty"`
	// Followed are the keys, as key=value, that had to go with the changed one.
	Followed []string `json:"followed,omitempty"`
}

// smallInteger is the largest number that a step changes by one; larger ones are halved and doubled.
const smallInteger = 8

// keySteps are the values one step below and above: a switch is turned, a small whole number goes by one, another number, or
// one that counts banks, ways, bytes or sub-partitions, is halved and doubled. A zero, which mostly means "none" or "as another key says", is left alone unless it counts
// something that is whole; words and lists are no numbers.
func keySteps(k configs.Key) (down, up string, number bool) {
	last := k.Path[strings.LastIndexByte(k.Path, '.')+1:]
	switch k.Kind {
	case "true or false":
		if last == "variable" {
			return "", "", false // how a result is signalled, no quantity
		}
		if k.Value == "true" {
			return "false", "", true
		}
		return "", "true", true
	case "a whole number":
		v, err := strconv.Atoi(k.Value)
		switch {
		case err != nil || v < 0:
			return "", "", false
		case v == 0:
			return "", "1", true
		case v <= smallInteger && !powerOfTwo(last):
			return strconv.Itoa(v - 1), strconv.Itoa(v + 1), true
		}
		return strconv.Itoa(v / 2), strconv.Itoa(v * 2), true
	case "a number":
		v, err := strconv.ParseFloat(k.Value, 64)
		if err != nil || v <= 0 {
			return "", "", err == nil
		}
		return strconv.FormatFloat(v/2, 'g', 12, 64), strconv.FormatFloat(v*2, 'g', 12, 64), true
	}
	return "", "", false
}

// powerOfTwo says that a number stands for a size or a division of the hardware, which goes by factors of two.
func powerOfTwo(name string) bool {
	return name == "sub_partitions" || strings.HasSuffix(name, "banks") || strings.HasSuffix(name, "ways") || strings.HasSuffix(name, "bytes")
}

// Sensitivities runs every case of the plan on every architecture, and again with each number that it can feel one step
// down and one step up.
func Sensitivities(plan *workloads.Plan, opt WhatIfOptions) (*Sensitivity, error) {
	out := &Sensitivity{Schema: sim.Schema, Recompile: opt.Recompile}
	archs := planArchs(plan)
	for _, arch := range archs {
		for _, c := range plan.Cases {
			one := *plan
			one.Cases = []*workloads.Case{c}
			r, err := rank(&one, arch, opt)
			if err != nil {
				return nil, err
			}
			out.Ranked = append(out.Ranked, *r)
		}
	}
	return out, nil
}

func rank(plan *workloads.Plan, arch string, opt WhatIfOptions) (*Ranked, error) {
	b, err := newBench(plan, arch, opt.Recompile)
	if err != nil {
		return nil, err
	}
	base, _, err := b.run(nil)
	if err != nil {
		return nil, err
	}
	b.comp.plan = unchecked(plan)
	r := &Ranked{Arch: base.Arch, Variant: base.Variant, Launch: base.Launch, Base: *base}
	type try struct {
		key, side int
		value     string
		set       []workloads.Override
	}
	var tries []try
	for _, k := range b.base.arch.Keys() {
		down, up, number := keySteps(k)
		switch {
		case !number:
			r.Untried++
			continue
		case unfelt(k.Path, base) != "":
			r.Skipped++
			continue
		}
		for side, v := range []string{down, up} {
			if v == "" {
				continue
			}
			set := []workloads.Override{{Key: k.Path, Value: v, Place: strictyaml.Place{File: "--sensitivity"}}}
			if _, err := b.machine(set); err != nil {
				continue // there is no step beyond the least or largest value that the architecture can have
			}
			tries = append(tries, try{len(r.Keys), side, v, set})
		}
		r.Keys = append(r.Keys, Effect{Key: k.Path, Value: k.Value, Doc: k.Doc})
	}
	results := make([]*Step, len(tries))
	idx := upTo(len(tries))
	track := tracker{report: opt.Progress, share: make([]float64, len(tries)), insts: make([]uint64, len(tries))}
	forEach(idx, opt.Workers, func(i int) {
		s := &Step{Value: tries[i].value}
		run, _, err := b.run(tries[i].set)
		if err != nil {
			s.Error = strings.SplitN(err.Error(), "\n", 2)[0]
		} else {
			s.Cycles, s.Limiter, s.Followed = run.Cycles, ShortLimiter(run), followed(base, run)
			s.Change = float64(run.Cycles)/float64(base.Cycles) - 1
		}
		results[i] = s
		track.update(i, 1, base.WarpInstructions, true)
	})
	for i, t := range tries {
		e := &r.Keys[t.key]
		if t.side == 0 {
			e.Down = results[i]
		} else {
			e.Up = results[i]
		}
		e.effect = max(e.effect, math.Abs(results[i].Change))
	}
	slices.SortStableFunc(r.Keys, func(x, y Effect) int { return cmp.Compare(y.effect, x.effect) })
	return r, nil
}

// WriteSensitivity writes rankings in a format: text, json or csv.
func WriteSensitivity(w io.Writer, x *Sensitivity, format string) error {
	return WriteIn(w, format, x, writeSensitivityText, writeSensitivityCSV)
}

func writeSensitivityCSV(w io.Writer, x *Sensitivity) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"arch", "variant", "launch", "grid", "block", "key", "value", "step", "new_value", "cycles", "change", "limiter", "error", "followed"}}
	for i := range x.Ranked {
		r := &x.Ranked[i]
		for _, e := range r.Keys {
			for side, s := range map[string]*Step{"down": e.Down, "up": e.Up} {
				if s != nil {
					rows = append(rows, []string{r.Arch, r.Variant, r.Launch, dims(dim(r.Base.Grid)), dims(dim(r.Base.Block)), e.Key, e.Value, side, s.Value, whole(s.Cycles), number(s.Change), s.Limiter, s.Error, strings.Join(s.Followed, " ")})
				}
			}
		}
	}
	slices.SortStableFunc(rows[1:], func(a, b []string) int {
		return strings.Compare(strings.Join(a[:8], "\x00"), strings.Join(b[:8], "\x00"))
	})
	return c.WriteAll(rows)
}

// noticeable is the change of the cycles from which on a key is listed.
const noticeable = 0.0005

func writeSensitivityText(w io.Writer, x *Sensitivity) error {
	t := &textWriter{w: w}
	rep := &Report{}
	for i := range x.Ranked {
		r := &x.Ranked[i]
		rep.Runs = append(rep.Runs, r.Base)
		title := "Sensitivity: " + RunName(&r.Base)
		if i > 0 {
			t.printf("\n")
		}
		t.printf("%s\n%s\n", title, strings.Repeat("═", min(page.Width, len(title))))
		t.paragraph(fmt.Sprintf("%s cycles, IPC %.2f. %s", thousands(r.Base.Cycles), r.Base.IPC, r.Base.Limiter.Sentence), "  ")
		tw := page.NewTable("key", "value", "down", "cycles", "up", "cycles", "")
		page.Right(tw, 2, 6)
		quiet := 0
		for _, e := range r.Keys {
			if e.effect < noticeable {
				quiet++
				continue
			}
			row := []any{page.Clip(e.Key, 40), e.Value}
			for _, s := range []*Step{e.Down, e.Up} {
				switch {
				case s == nil:
					row = append(row, "", "")
				case s.Error != "":
					row = append(row, s.Value, "failed")
				default:
					row = append(row, s.Value, fmt.Sprintf("%+.2f %%", 100*s.Change))
				}
			}
			tw.AppendRow(append(row, bar(min(1, e.effect))))
		}
		t.table("Change of the cycles by one step of each number: ±1 up to 8, else half and double", tw)
		t.printf("\n")
		t.paragraph(fmt.Sprintf("%d more keys change less than %.2f %%; %d belong to classes, pipes or memory levels that the run does not use; %d are words or lists and were not tried.",
			quiet, 100*noticeable, r.Skipped, r.Untried), "  ")
		for _, e := range r.Keys {
			for _, s := range []*Step{e.Down, e.Up} {
				if s != nil && s.Followed != nil && e.effect >= noticeable {
					t.paragraph(followNote("With", e.Key+"="+s.Value, s.Followed), "  ")
				}
			}
		}
		t.paragraph(programRule(x.Recompile), "  ")
	}
	t.notes(rep)
	return t.err
}

// programRule says what the program is when the hardware changes.
func programRule(recompile bool) string {
	if recompile {
		return "The kernel is compiled anew for every changed architecture."
	}
	return "The program stays the one compiled for the unchanged architecture; only a changed latency that stall counts cover gives it new stall counts."
}

// tornadoRows is the number of keys in a tornado picture.
const tornadoRows = 20

// SensitivityPictures draw a tornado for each ranking.
func SensitivityPictures(x *Sensitivity) ([]Picture, error) { return encode(sensitivityFigures(x)) }

func sensitivityFigures(x *Sensitivity) []figure {
	var figs []figure
	for i := range x.Ranked {
		r := &x.Ranked[i]
		q := tornado(r)
		figs = append(figs, figure{"sensitivity_" + fileName(strings.Trim(r.Arch+"_"+r.Variant+"_"+r.Launch, "_")), q, 110 + 26*float64(len(q.Rows))})
	}
	return figs
}

func tornado(r *Ranked) *plots.Tornado {
	q := &plots.Tornado{Title: "Sensitivity of " + RunName(&r.Base), Note: "one step: ±1 up to 8, else half and double", XLabel: "change of the cycles (%)"}
	for _, e := range r.Keys {
		if len(q.Rows) == tornadoRows || e.effect < noticeable && len(q.Rows) > 0 {
			break
		}
		row := plots.TornadoRow{Name: e.Key + " = " + e.Value, Down: math.NaN(), Up: math.NaN()}
		if e.Down != nil && e.Down.Error == "" {
			row.Down, row.DownLabel = 100*e.Down.Change, e.Down.Value
		}
		if e.Up != nil && e.Up.Error == "" {
			row.Up, row.UpLabel = 100*e.Up.Change, e.Up.Value
		}
		q.Rows = append(q.Rows, row)
	}
	return q
}

// heatOf draws a response over two numeric keys.
func heatOf(r *Response, title string, ky, kx int, values [][]float64) *plots.HeatMap {
	h := &plots.HeatMap{Title: title, XLabel: axisLabel(r.Changes[kx].Key), YLabel: axisLabel(r.Changes[ky].Key), ZLabel: "speed-up over the unchanged architecture",
		X: slices.Sorted(slices.Values(values[kx])), Y: slices.Sorted(slices.Values(values[ky])), Center: 1, Contours: []float64{1}}
	h.Z = make([][]float64, len(h.Y))
	for i := range h.Z {
		h.Z[i] = slices.Repeat([]float64{math.NaN()}, len(h.X))
	}
	for _, p := range r.Points {
		if p.Error != "" {
			continue
		}
		x, _ := strconv.ParseFloat(p.values[kx], 64)
		y, _ := strconv.ParseFloat(p.values[ky], 64)
		h.Z[slices.Index(h.Y, y)][slices.Index(h.X, x)] = p.SpeedUp
	}
	return h
}
