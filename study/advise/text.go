package advise

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/study"
)

// Write writes the advice as text, json or csv.
func Write(w io.Writer, a *Advice, format string) error {
	switch format {
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(a)
	case "csv":
		return a.csv(w)
	case "text":
		var b strings.Builder
		a.text(&b)
		_, err := io.WriteString(w, b.String())
		return err
	}
	return &study.InputError{Err: fmt.Errorf("unknown format %q", format)}
}

func (a *Advice) csv(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"kernel", "rule", "arch", "speedup", "instruction_ratio", "outputs_equal", "in_together", "why"}}
	add := func(rule string, speed, fewer map[string]float64, why map[string]string, equal, taken bool) {
		for _, arch := range a.Archs {
			rows = append(rows, []string{a.Kernel, rule, arch, number(speed[arch]), number(fewer[arch]), strconv.FormatBool(equal), strconv.FormatBool(taken), why[arch]})
		}
	}
	for i := range a.Rewrites {
		r := &a.Rewrites[i]
		add(r.Rule, r.SpeedUp, r.Fewer, r.Why, r.Equal, r.Taken)
	}
	if len(a.Together.Rules) > 0 {
		add("together", a.Together.SpeedUp, a.Together.Fewer, a.Together.Why, a.Together.Equal, true)
	}
	return c.WriteAll(rows)
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', 10, 64) }

// maxLines bounds the source lines shown of one rewrite; the JSON has all.
const maxLines = 6

func (a *Advice) text(b *strings.Builder) {
	title := fmt.Sprintf("advice for %s (%s)", a.Kernel, filepath.Base(a.File))
	if a.Launch != "" {
		title += ", launch " + a.Launch
	}
	fmt.Fprintf(b, "%s\n%s\n\nThe kernel as it is\n", title, strings.Repeat("═", len(title)))
	for _, arch := range a.Archs {
		fmt.Fprintf(b, "  %-8s %d cycles; limited by %s\n", arch, a.Cycles[arch], a.Limiters[arch])
	}
	if len(a.Rewrites) == 0 {
		fmt.Fprintf(b, "\nNothing to improve: no rule finds code that another integer instruction would replace.\nWhat limits it stands above.\n")
		return
	}
	gain := false
	for i := range a.Rewrites {
		r := &a.Rewrites[i]
		fmt.Fprintf(b, "\n%s: %s (%s)\n", r.Rule, r.About, plural(r.Sites, "place"))
		for _, v := range r.Valid {
			fmt.Fprintf(b, "  valid only for launches with %s\n", v)
		}
		for _, arch := range a.Archs {
			if s, ok := r.SpeedUp[arch]; ok {
				fmt.Fprintf(b, "  %-8s %.2fx  %s\n", arch, s, r.Why[arch])
				gain = gain || s >= gainFrom && r.Equal
			} else {
				fmt.Fprintf(b, "  %-8s    -  %s\n", arch, r.Why[arch])
			}
		}
		switch {
		case !r.Equal && r.Differs != "":
			fmt.Fprintf(b, "  outputs differ: %s\n", r.Differs)
		case !r.Taken:
			fmt.Fprintf(b, "  not taken together with the others: it loses time, or does not run, on at least one of these architectures\n")
		}
		for j, l := range r.Lines {
			if j == maxLines {
				fmt.Fprintf(b, "    and %d more lines\n", len(r.Lines)-j)
				break
			}
			at := fmt.Sprintf("%s:%d", filepath.Base(a.File), l.PTX)
			if l.Source != "" {
				at += " " + l.Source
			}
			fmt.Fprintf(b, "    %-24s %s\n", at, l.Text)
		}
	}
	a.textTogether(b, gain)
	a.textWarps(b)
}

func (a *Advice) textTogether(b *strings.Builder, gain bool) {
	t := &a.Together
	if len(t.Rules) == 0 {
		fmt.Fprintf(b, "\nNothing to improve on all of these architectures: every rewrite loses time on at least one.\n")
		return
	}
	fmt.Fprintf(b, "\nTogether (%s), outputs equal\n", strings.Join(t.Rules, ", "))
	for _, v := range t.Valid {
		fmt.Fprintf(b, "  valid only for launches with %s\n", v)
	}
	for _, arch := range a.Archs {
		fmt.Fprintf(b, "  %-8s %.2fx  %s\n", arch, t.SpeedUp[arch], t.Why[arch])
	}
	if !gain && !anyGain(t.SpeedUp) {
		fmt.Fprintf(b, "Nothing to improve: no rewrite gains %.0f %% on any of these architectures.\n", 100*(gainFrom-1))
	}
}

func anyGain(m map[string]float64) bool {
	for _, x := range m {
		if x >= gainFrom {
			return true
		}
	}
	return false
}

func (a *Advice) textWarps(b *strings.Builder) {
	if len(a.Warps) == 0 {
		return
	}
	fmt.Fprintf(b, "\nGain together over resident warps a scheduler (blocks on the SM)\n")
	for _, arch := range a.Archs {
		w := a.Warps[arch]
		var cells []string
		for _, p := range w.Points {
			cells = append(cells, fmt.Sprintf("%.1f: %.2fx (%d)", p.Warps, p.SpeedUp, p.Blocks))
		}
		fmt.Fprintf(b, "  %-8s %s\n", arch, strings.Join(cells, ", "))
		switch {
		case w.PaysFrom > 0:
			fmt.Fprintf(b, "           pays (%.0f %% or more) from %.1f warps a scheduler on\n", 100*(paysAt-1), w.PaysFrom)
		case len(w.Points) > 0:
			p := w.Points[len(w.Points)-1]
			fmt.Fprintf(b, "           more resident warps do not make it pay: with all that fit it is limited by %s\n", p.Limiter)
		}
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
