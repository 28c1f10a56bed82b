package advise

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/study/page"
)

// Write writes the advice as text, json or csv.
func Write(w io.Writer, a *Advice, format string) error {
	return study.WriteIn(w, format, a, writeText, writeCSV)
}

func writeText(w io.Writer, a *Advice) error {
	var b strings.Builder
	a.text(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func writeCSV(w io.Writer, a *Advice) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"kernel", "rule", "arch", "speed_up", "instruction_ratio", "outputs_equal", "in_together", "why"}}
	add := func(rule string, speed, fewer map[string]float64, why map[string]string, equal, taken bool) {
		for _, arch := range a.Archs {
			rows = append(rows, []string{a.Kernel, rule, arch, number(speed[arch]), number(fewer[arch]), strconv.FormatBool(equal), strconv.FormatBool(taken), why[arch]})
		}
	}
	for i := range a.Rewrites {
		r := &a.Rewrites[i]
		add(r.Rule, r.SpeedUp, r.Fewer, r.Reasons, r.Equal, r.Taken)
	}
	if len(a.Together.Rules) > 0 {
		add("together", a.Together.SpeedUp, a.Together.Fewer, a.Together.Reasons, a.Together.Equal, true)
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
		if _, ran := a.Cycles[arch]; ran {
			b.WriteString(page.Paragraph(fmt.Sprintf("  %-8s ", arch), fmt.Sprintf("%s cycles; limited by %s", page.Thousands(a.Cycles[arch]), a.Limiters[arch])))
		} else {
			b.WriteString(page.Paragraph(fmt.Sprintf("  %-8s ", arch), "not simulated: "+a.failures[arch]))
		}
	}
	if len(a.Rewrites) == 0 {
		b.WriteString("\n" + page.Paragraph("", "Nothing to improve: no rule finds code that another integer instruction would replace. What limits it stands above."))
		return
	}
	for i := range a.Rewrites {
		if !a.Rewrites[i].Formed {
			a.textRewrite(b, &a.Rewrites[i])
		}
	}
	a.textFormed(b)
	a.textTogether(b)
	a.textChange(b)
	rep := &study.Report{}
	for _, arch := range a.Archs {
		if r := a.runs[arch]; r != nil {
			rep.Runs = append(rep.Runs, *r)
		}
	}
	b.WriteString("\n" + page.Paragraph("", study.RestsOn(rep, true)))
}

func (a *Advice) textRewrite(b *strings.Builder, r *Rewritten) {
	b.WriteString("\n" + page.Paragraph("", fmt.Sprintf("%s: %s (%s)", r.Rule, r.About, page.Plural(r.Sites, "place"))))
	a.textFast(b, r.Fast)
	a.textGains(b, r.SpeedUp, r.Reasons)
	switch {
	case !r.Equal && r.Differs != "":
		b.WriteString(page.Paragraph("  ", "outputs differ: "+r.Differs))
	case r.replaced:
		b.WriteString(page.Paragraph("  ", "not taken together with the others: they leave nothing of it"))
	case !r.Taken && len(r.Fast) > 0 && a.keeps(r):
		b.WriteString(page.Paragraph("  ", "not taken together with the others: it gains nothing and needs a second body of the kernel"))
	case !r.Taken:
		b.WriteString(page.Paragraph("  ", "not taken together with the others: it loses time, does not run, or cannot be compiled on at least one of these architectures"))
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
		b.WriteString(page.Paragraph(fmt.Sprintf("    %-24s ", at), l.Text))
	}
}

// textFormed lists the rewrites that change nothing, shortly.
func (a *Advice) textFormed(b *strings.Builder) {
	var parts []string
	for i := range a.Rewrites {
		if r := &a.Rewrites[i]; r.Formed {
			part := fmt.Sprintf("%s (%s", r.Rule, page.Plural(r.Sites, "place"))
			if len(r.Lines) > 0 {
				part += fmt.Sprintf(", first %s:%d", filepath.Base(a.File), r.Lines[0].PTX)
			}
			parts = append(parts, part+")")
		}
	}
	if len(parts) > 0 {
		b.WriteString("\n" + page.Paragraph("", "No change from "+strings.Join(parts, ", ")+": "+formedAlready+"."))
	}
}

func (a *Advice) textFast(b *strings.Builder, fast []string) {
	if len(fast) > 0 {
		b.WriteString(page.Paragraph("  ", fmt.Sprintf("launches with %s run the rewritten code, others the original", strings.Join(fast, ", "))))
	}
}

func (a *Advice) textGains(b *strings.Builder, speed map[string]float64, reasons map[string]string) {
	type line struct{ gain, reason string }
	of := map[line][]string{} // architectures of which the same is said stand together
	var lines []line
	for _, arch := range a.Archs {
		l := line{"    -", reasons[arch]}
		if s, ok := speed[arch]; ok {
			l.gain = fmt.Sprintf("%4.2fx", s)
		}
		if of[l] == nil {
			lines = append(lines, l)
		}
		of[l] = append(of[l], arch)
	}
	for _, l := range lines {
		b.WriteString(page.Paragraph(fmt.Sprintf("  %-8s %s  ", strings.Join(of[l], ", "), l.gain), l.reason))
	}
}

func (a *Advice) textTogether(b *strings.Builder) {
	t := &a.Together
	var changing []string
	somewhere := false // a rewrite gains on some architecture and is not taken, because it loses on another
	for i := range a.Rewrites {
		r := &a.Rewrites[i]
		switch {
		case r.Formed:
		case r.Taken:
			changing = append(changing, r.Rule)
		default:
			somewhere = somewhere || anyGain(r.SpeedUp)
		}
	}
	if len(t.Rules) == 0 || len(changing) == 0 && somewhere {
		b.WriteString("\n" + page.Paragraph("", "Nothing to improve on all of these architectures: no rewrite gains on one of them that neither loses on another nor is too new for it."))
		return
	}
	if len(changing) == 0 {
		b.WriteString("\n" + page.Paragraph("", "Nothing to improve: no rewrite that does not lose changes the machine code."))
		return
	}
	if len(changing) > 1 { // of one it stands above
		b.WriteString("\n" + page.Paragraph("", fmt.Sprintf("Together (%s), outputs equal", strings.Join(t.Rules, ", "))))
		a.textFast(b, t.Fast)
		a.textGains(b, t.SpeedUp, t.Reasons)
	}
	if !anyGain(t.SpeedUp) {
		what := "together they gain"
		if len(changing) == 1 {
			b.WriteString("\n")
			what = changing[0] + " gains"
		}
		b.WriteString(page.Paragraph("", fmt.Sprintf("Nothing to improve: %s less than %.0f %% on each of these architectures.", what, 100*(gainFrom-1))))
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

// textChange says what would have to change for the rewrites to pay.
func (a *Advice) textChange(b *strings.Builder) {
	if len(a.Warps) == 0 {
		return
	}
	b.WriteString("\n" + page.Paragraph("", fmt.Sprintf("What would have to change first for %s to pay (%.0f %% or more)", strings.Join(a.Subject, ", "), 100*(paysAt-1))))
	from := a.subjectFrom()
	for _, arch := range a.Archs {
		w, ran := a.Warps[arch]
		if !ran {
			continue
		}
		if from > a.asked[arch].sm {
			b.WriteString(page.Paragraph(fmt.Sprintf("  %-8s ", arch), fmt.Sprintf("another target: PTX has this from sm_%d on", from)))
			continue
		}
		b.WriteString(page.Paragraph(fmt.Sprintf("  %-8s ", arch), strings.Join(a.changes(arch), "; ")))
		var cells []string
		for _, p := range w.Points {
			cells = append(cells, fmt.Sprintf("%.1f: %.2fx", p.Warps, p.SpeedUp))
		}
		b.WriteString(page.Paragraph("             ", "warps a scheduler: "+strings.Join(cells, ", ")))
		cells = nil
		for _, p := range a.Work[arch].Points {
			cells = append(cells, fmt.Sprintf("%d: %.2fx", p.Pieces, p.SpeedUp))
		}
		if cells != nil {
			b.WriteString(page.Paragraph("             ", "independent pieces of its work a thread: "+strings.Join(cells, ", ")))
		}
	}
}

// subjectFrom is the first target that has all that the rules asked about write.
func (a *Advice) subjectFrom() (sm int) {
	for i := range a.Rewrites {
		if r := &a.Rewrites[i]; r.change != nil && slices.Contains(a.Subject, r.Rule) {
			sm = max(sm, r.change.needs)
		}
	}
	return sm
}

// changes are the answers for an architecture: resident warps, then independent work.
func (a *Advice) changes(arch string) []string {
	var out []string
	w, work := a.Warps[arch], a.Work[arch]
	_, short := a.Work[arch]
	last := w.Points[len(w.Points)-1]
	worst := w.worst()
	switch {
	case !short && w.PaysFrom == 0:
		out = append(out, fmt.Sprintf("it pays as launched, but not with the resident warps below where the rest of the machine is as busy: at most %.2fx, limited by %s", w.best().SpeedUp, w.best().Limiter))
	case !short && worst.SpeedUp < paysAt:
		out = append(out, fmt.Sprintf("it pays as launched and from %.1f resident warps a scheduler on, but not with all: with %.1f it is limited by %s", w.PaysFrom, worst.Warps, worst.Limiter))
	case !short && w.PaysFrom == w.Points[0].Warps:
		out = append(out, "nothing: it pays as launched, and with one block on the SM")
	case !short:
		out = append(out, fmt.Sprintf("nothing: it pays as launched, from %.1f resident warps a scheduler on", w.PaysFrom))
	case w.PaysFrom > 0 && short:
		out = append(out, fmt.Sprintf("resident warps: it pays with %.1f a scheduler", w.PaysFrom))
	case short:
		out = append(out, fmt.Sprintf("resident warps do not make it pay: with the %.1f a scheduler that fit and are launched it is limited by %s", last.Warps, last.Limiter))
	}
	switch n := len(work.Points); {
	case !short:
	case work.PaysFrom > 0:
		out = append(out, fmt.Sprintf("independent work: it pays from %d pieces a thread", work.PaysFrom))
	case n > 0:
		p := work.Points[n-1]
		out = append(out, fmt.Sprintf("independent work: up to %d pieces a thread do not make it pay, then it is limited by %s", p.Pieces, p.Limiter))
	}
	if work.Note != "" {
		out = append(out, "not simulated: independent work "+work.Note)
	}
	return out
}
