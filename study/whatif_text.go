package study

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/plots"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/study/page"
)

// WriteWhatIf writes responses in a format: text, json or csv.
func WriteWhatIf(w io.Writer, x *WhatIf, format string) error {
	return WriteIn(w, format, x, writeWhatIfText, writeWhatIfCSV)
}

func writeWhatIfText(w io.Writer, x *WhatIf) error {
	t := &textWriter{w: w}
	for i := range x.Responses {
		if i > 0 {
			t.printf("\n")
		}
		t.response(&x.Responses[i], x.Recompile)
	}
	rep := &Report{Failures: x.Failures}
	for i := range x.Responses {
		rep.Runs = append(rep.Runs, x.Responses[i].Base)
	}
	t.notes(rep)
	if len(x.Responses) > 0 {
		t.paragraph("What a change gives is the model's answer to a number of your own: nobody measured such hardware, and the confidence above is of the unchanged one.", "  ")
	}
	return t.err
}

func (t *textWriter) response(r *Response, recompile bool) {
	title := "What if: " + RunName(&r.Base)
	t.printf("%s\n%s\n", title, strings.Repeat("═", min(page.Width, len(title))))
	for i, c := range r.Changes {
		t.paragraph(fmt.Sprintf("%s is %s; tried: %s", c.Key, r.Before[i], list(c.Values)), "  ")
	}
	t.printf("\n")
	t.paragraph("Before: "+fmt.Sprintf("%s cycles, IPC %.2f. ", thousands(r.Base.Cycles), r.Base.IPC)+r.Base.Limiter.Sentence, "  ")
	header := []any{"change", "cycles", "speed-up", "IPC", "occupancy", "limit", "program", ""}
	rows := [][]any{{"none", thousands(r.Base.Cycles), "1.000x", fmt.Sprintf("%.2f", r.Base.IPC), percent(r.Base.Occupancy.Achieved), ShortLimiter(&r.Base), "", ""}}
	for _, p := range r.Points {
		name := strings.Join(shortSet(r, p), " ")
		if p.Error != "" {
			rows = append(rows, []any{name, "failed", "", "", "", strings.SplitN(p.Error, "\n", 2)[0], "", ""})
			continue
		}
		program := "same"
		switch {
		case recompile:
			program = "new"
		case p.Rescheduled:
			program = "new stalls"
		}
		note := ""
		if asBefore(r, &p) {
			note = "present value"
		}
		if !p.SameOutputs {
			note = "outputs differ"
		}
		rows = append(rows, []any{name, thousands(p.Cycles), fmt.Sprintf("%.3fx", p.SpeedUp), fmt.Sprintf("%.2f", p.IPC), percent(p.Occupancy), ShortLimiter(p.run), program, note})
	}
	tw := page.FittedTable(header, rows, 0, 5)
	page.Right(tw, 2, 5)
	t.table("", tw)
	t.followed(r)
	t.printf("\n")
	for _, s := range r.NoEffect {
		key, why, _ := strings.Cut(s, ": ")
		t.paragraph(fmt.Sprintf("%s changes nothing: %s.", key, why), "")
	}
	if b := best(r); b != nil && len(r.NoEffect) < len(r.Changes) {
		t.paragraph(verdict(r, b), "")
	}
	for _, p := range r.Points {
		if p.Explain != nil && !asBefore(r, &p) {
			t.explained(&p)
		}
	}
}

// asBefore says that a point sets nothing but values that the architecture has.
func asBefore(r *Response, p *Point) bool {
	for i, v := range p.values {
		if v != "" && v != r.Before[i] {
			return false
		}
	}
	return true
}

// shortSet are the settings of a point with short keys.
func shortSet(r *Response, p Point) []string {
	keys := make([]string, len(r.Changes))
	for i, c := range r.Changes {
		keys[i] = c.Key
	}
	var out []string
	short := shortKeys(keys)
	for i, v := range p.values {
		if v != "" {
			out = append(out, short[i]+"="+v)
		}
	}
	return out
}

// shortKeys are the ends of keys that still tell them apart: l2_latency of memory.l2_latency. A key of a class or pipe
// keeps the name of that: idp.latency.
func shortKeys(keys []string) []string {
	end := func(key string, n int) string {
		parts := strings.Split(key, ".")
		if parts[0] == "classes" || parts[0] == "pipes" {
			n++
		}
		return strings.Join(parts[max(0, len(parts)-n):], ".")
	}
	out := make([]string, len(keys))
	for i, k := range keys {
		for n := 1; n <= 3; n++ {
			out[i] = end(k, n)
			if !slices.ContainsFunc(keys, func(o string) bool { return o != k && end(o, n) == out[i] }) {
				break
			}
		}
	}
	return out
}

// followNote says which keys went with a change; the sentence begins with the given word, with or With.
func followNote(with, set string, followed []string) string {
	return fmt.Sprintf("%s %s also %s: these cannot stay as they are (what is farther away takes no less time, a share is no more than the whole).",
		with, set, strings.Join(followed, " and "))
}

// followed writes what went with the points' changes, and what could not be run alone.
func (t *textWriter) followed(r *Response) {
	n := 0
	for _, p := range r.Points {
		if p.Followed == nil {
			continue
		}
		if n++; n > 3 {
			continue
		}
		t.paragraph(followNote("With", strings.Join(p.Set, " and "), p.Followed), "  ")
	}
	if n > 3 {
		t.paragraph(fmt.Sprintf("So it is with %d more changes; the CSV and JSON forms list them.", n-3), "  ")
	}
	for _, s := range r.Skipped {
		t.paragraph(fmt.Sprintf("%s is not run alone: %s takes it only with the other changes.", s, r.Arch), "  ")
	}
}

// best is the point with the largest speed-up, nil if none ran.
func best(r *Response) *Point {
	var b *Point
	for i := range r.Points {
		if p := &r.Points[i]; p.Error == "" && (b == nil || p.SpeedUp > b.SpeedUp) {
			b = p
		}
	}
	return b
}

// verdict says what the best point gives and how the limit moves.
func verdict(r *Response, p *Point) string {
	set := strings.Join(p.Set, " and ")
	switch {
	case p.SpeedUp > 1.005:
		return fmt.Sprintf("%s makes it %.2fx as fast. %s", set, p.SpeedUp, moved(&r.Base, p.run))
	case p.SpeedUp < 0.995:
		s := fmt.Sprintf("Every change slows it down; the least harmful, %s, to %.2fx. %s", set, p.SpeedUp, moved(&r.Base, p.run))
		if faster(r, p) {
			s += " Faster hardware can cost time where warps meet: results come in another order, the scheduler picks other warps, and those that the" +
				" rest waits for (at a barrier, or at the end) may get their turn later."
		}
		return s
	}
	s := fmt.Sprintf("No change makes it faster (best %.3fx)", p.SpeedUp)
	if len(r.Points) == 1 {
		s = fmt.Sprintf("%s changes nothing that matters (%.3fx)", set, p.SpeedUp)
	}
	limit := ShortLimiter(&r.Base)
	switch touched := slices.ContainsFunc(r.Changes, func(c Change) bool { return atLimit(c.Key, &r.Base) }); {
	case !touched:
		return fmt.Sprintf("%s: the kernel is limited by %s, which this leaves as it was.", s, limit)
	case faster(r, p):
		return fmt.Sprintf("%s although the kernel is limited by %s. %s", s, limit, moved(&r.Base, p.run))
	}
	return fmt.Sprintf("%s: the kernel is limited by %s.", s, limit)
}

// atLimit says that a key is one of those that set the limit of a run: of the pipe, the memory level or the wait that it names.
func atLimit(key string, r *Run) bool {
	l := &r.Limiter
	section, rest, _ := strings.Cut(key, ".")
	row, _, _ := strings.Cut(rest, ".")
	switch l.Kind {
	case sim.LimitPipe:
		class := func(c sim.ClassCount) bool { return c.Class == row && (c.Pipe == l.What || c.Pipe == "mio") }
		return section == "pipes" && row == l.What || section == "classes" && slices.ContainsFunc(r.Classes, class) || section == "lsu" && l.What == "lsu"
	case sim.LimitIssue:
		return section == "sm"
	case sim.LimitMemory:
		level, _, _ := strings.Cut(strings.ToLower(l.What), " ")
		return strings.HasPrefix(rest, level+"_") || strings.HasPrefix(rest, "misses")
	case sim.LimitLatency:
		return strings.HasSuffix(rest, "latency")
	case sim.LimitOccupancy:
		return section == "occupancy"
	case sim.LimitShared:
		return section == "lsu" && (strings.HasPrefix(rest, "shared_") || strings.HasPrefix(rest, "bank"))
	case sim.LimitBarrier:
		return strings.HasPrefix(rest, "bar_")
	case sim.LimitFetch:
		return section == "fetch"
	case sim.LimitConstants:
		return strings.HasPrefix(rest, "constant")
	case sim.LimitRegFile:
		return section == "register_file"
	case sim.LimitLaunch:
		return section == "launch"
	}
	return false
}

// faster says that every change of a point shortens a latency or an interval.
func faster(r *Response, p *Point) bool {
	for i, v := range p.values {
		a, err := strconv.ParseFloat(r.Before[i], 64)
		b, err2 := strconv.ParseFloat(v, 64)
		key := r.Changes[i].Key
		if v != "" && (err != nil || err2 != nil || b >= a || !strings.HasSuffix(key, "latency") && !strings.HasSuffix(key, "interval")) {
			return false
		}
	}
	return true
}

// explained writes what bound before and after.
func (t *textWriter) explained(p *Point) {
	e := p.Explain
	t.printf("\n%s\n", strings.Join(p.Set, " "))
	t.fact("  before", e.base.Limiter.Sentence)
	t.fact("  after", e.vari.Limiter.Sentence)
	t.fact("  moved", e.Moved)
	pipes := slices.Clone(e.Pipes)
	slices.SortStableFunc(pipes, func(a, b PipeDelta) int {
		x, y := max(a.BaselineUse, a.VariantUse), max(b.BaselineUse, b.VariantUse)
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	var parts []string
	for _, q := range pipes[:min(4, len(pipes))] {
		parts = append(parts, fmt.Sprintf("%s %s to %s", q.Pipe, percent(q.BaselineUse), percent(q.VariantUse)))
	}
	t.fact("  pipes", strings.Join(parts, ", "))
	parts = nil
	for _, s := range e.States {
		if d := s.VariantCycles - s.BaselineCycles; max(d, -d) >= 0.01*max(s.BaselineCycles, 1) && max(s.BaselineShare, s.VariantShare) >= 0.01 {
			parts = append(parts, fmt.Sprintf("%s %s to %s (%s warp-cycles)", s.State, percent(s.BaselineShare), percent(s.VariantShare), ratio(s.BaselineCycles, s.VariantCycles)))
		}
	}
	if parts != nil {
		t.fact("  states", strings.Join(parts, ", "))
	}
}

func writeWhatIfCSV(w io.Writer, x *WhatIf) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"arch", "variant", "launch", "grid", "block", "set", "cycles", "speed_up", "ipc", "occupancy_achieved", "limiter", "limiter_what",
		"registers", "stall_counts_recomputed", "outputs_equal", "error", "followed", "confidence", "own_numbers"}}
	for i := range x.Responses {
		r := &x.Responses[i]
		b := &r.Base
		grid, block := dims(dim(b.Grid)), dims(dim(b.Block))
		rows = append(rows, []string{r.Arch, r.Variant, r.Launch, grid, block, "", whole(b.Cycles), "1", number(b.IPC), number(b.Occupancy.Achieved), string(b.Limiter.Kind),
			b.Limiter.What, strconv.Itoa(b.Registers), "false", "true", "", "", b.Confidence, ""})
		for _, p := range r.Points {
			rows = append(rows, []string{r.Arch, r.Variant, r.Launch, grid, block, strings.Join(p.Set, " "), whole(p.Cycles), number(p.SpeedUp), number(p.IPC), number(p.Occupancy),
				string(p.Limiter.Kind), p.Limiter.What, strconv.Itoa(p.Registers), fmt.Sprint(p.Rescheduled), fmt.Sprint(p.SameOutputs), p.Error, strings.Join(p.Followed, " "), p.Confidence, strings.Join(p.OwnNumbers, " ")})
		}
	}
	return c.WriteAll(rows)
}

// WhatIfPictures draw each response: a curve over the values of one numeric key, a heat map over two, bars otherwise;
// and the warp states before and after for few points.
func WhatIfPictures(x *WhatIf) ([]Picture, error) {
	figs, err := whatIfFigures(x)
	if err != nil {
		return nil, err
	}
	return encode(figs)
}

func whatIfFigures(x *WhatIf) ([]figure, error) {
	var figs []figure
	for i := range x.Responses {
		r := &x.Responses[i]
		name := fileName(strings.Trim(r.Arch+"_"+r.Variant+"_"+r.Launch, "_"))
		figs = append(figs, figure{"whatif_" + name, responseFigure(r), 0})
		runs := []Run{r.Base}
		runs[0].Result.Variant = "unchanged"
		for _, p := range r.Points {
			if p.run != nil { // what was read back has no runs but the first
				run := *p.run
				run.Result.Variant = strings.Join(shortSet(r, p), " ")
				runs = append(runs, run)
			}
		}
		s, err := statesFigure("whatif_states_"+name, "Where warps spend their time: "+RunName(&r.Base), "runs", runs)
		if err != nil {
			return nil, err
		}
		figs = append(figs, s)
	}
	return figs, nil
}

func responseFigure(r *Response) plots.Figure {
	title := "What if: " + RunName(&r.Base)
	var numeric []int // changes with several numeric values
	values := make([][]float64, len(r.Changes))
	for i, c := range r.Changes {
		for _, v := range c.Values {
			f, err := strconv.ParseFloat(v, 64)
			if err != nil {
				values[i] = nil
				break
			}
			values[i] = append(values[i], f)
		}
		if len(values[i]) > 1 {
			numeric = append(numeric, i)
		}
	}
	several := 0
	for _, c := range r.Changes {
		if len(c.Values) > 1 {
			several++
		}
	}
	switch {
	case several == 2 && len(numeric) == 2:
		return heatOf(r, title, numeric[0], numeric[1], values)
	case several == 1 && len(numeric) == 1:
		k := numeric[0]
		q := &plots.Curves{Title: title, XLabel: axisLabel(r.Changes[k].Key), YLabel: "speed-up over the unchanged architecture"}
		line := plots.Curve{Name: "speed-up"}
		for _, p := range r.Points {
			if p.Error == "" {
				v, _ := strconv.ParseFloat(p.values[k], 64)
				line.X, line.Y = append(line.X, v), append(line.Y, p.SpeedUp)
			}
		}
		q.Lines = append(q.Lines, line)
		if v, err := strconv.ParseFloat(r.Before[k], 64); err == nil {
			q.Lines = append(q.Lines, plots.Curve{Name: "unchanged", X: []float64{v}, Y: []float64{1}})
		}
		return q
	}
	b := &plots.Bars{Title: title, YLabel: "speed-up over the unchanged architecture", XLabel: "change", Series: []string{"speed-up"}, Limit: 1, LimitLabel: "1: no gain", Values: [][]float64{nil}}
	for _, p := range r.Points {
		if p.Error == "" {
			b.Groups = append(b.Groups, strings.Join(shortSet(r, p), " "))
			b.Values[0] = append(b.Values[0], p.SpeedUp)
		}
	}
	const bars = 40 // that can be told apart
	b.Note = firstOf(bars, len(b.Groups), "changes")
	n := min(bars, len(b.Groups))
	b.Groups, b.Values[0] = b.Groups[:n], b.Values[0][:n]
	return b
}
