package study

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Width is the number of columns that text reports keep to.
const Width = 100

// WriteText writes the report for people: the answer first, then tables. A study gets tables over variants, launches
// and architectures; other reports a page for every run, and a table over the runs if there are several.
func WriteText(w io.Writer, rep *Report) error {
	t := &textWriter{w: w}
	if rep.IsStudy {
		t.study(rep)
	} else {
		if len(rep.Runs) > 1 {
			t.overview(rep)
		}
		for i := range rep.Runs {
			t.run(&rep.Runs[i])
		}
	}
	t.issues(rep.Issues)
	t.notes(rep)
	return t.err
}

// textWriter keeps the first error of a sequence of writes.
type textWriter struct {
	w   io.Writer
	err error
}

func (t *textWriter) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = io.WriteString(t.w, strings.ReplaceAll(fmt.Sprintf(format, args...), joiner, " "))
	}
}

// paragraph writes text wrapped to the width, continuation lines indented.
func (t *textWriter) paragraph(s, indent string) {
	lead := s[:len(s)-len(strings.TrimLeft(s, " "))]
	for i, line := range wrap(s, Width-max(len(indent), len(lead))) {
		if i > 0 {
			line = indent + line
		} else {
			line = lead + line
		}
		t.printf("%s\n", line)
	}
}

// Paragraph is a lead and text behind it, wrapped to the width of reports; further lines stand under the text.
func Paragraph(lead, s string) string {
	var b strings.Builder
	indent := text.StringWidth(lead)
	for i, line := range wrap(s, Width-indent) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		b.WriteString(strings.TrimRight(lead+strings.ReplaceAll(line, joiner, " "), " ") + "\n")
	}
	return b.String()
}

// joiner is a space at which no line is broken: between a number and its unit. It is written as a space.
const joiner = "\u00a0"

// wrap breaks text at spaces into lines of at most width characters.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.SplitSeq(strings.ReplaceAll(s, " %", joiner+"%"), " ") {
		if word == "" {
			continue
		}
		if line != "" && text.StringWidth(line)+1+text.StringWidth(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// newTable is a table in the style of all reports: no outer border, a line under the header.
func newTable(header ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true, SeparateColumns: true}
	style.Box.MiddleVertical = " "
	style.Box.MiddleSeparator = "─"
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", " "
	t.SetStyle(style)
	t.AppendHeader(header)
	return t
}

// leastColumn is the width below which a column is not cut.
const leastColumn = 8

// fittedTable is a table of the rows that keeps to the width of reports: of the given columns, counted from 0, the widest
// are cut as far as needed.
func fittedTable(header []any, rows [][]any, flexible ...int) table.Writer {
	widths := make([]int, len(header))
	for _, row := range append([][]any{header}, rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], text.StringWidth(fmt.Sprint(c)))
		}
	}
	total := 0
	for _, w := range widths {
		if w > 0 { // a column without text, such as one for remarks, stands last
			total += w + 2
		}
	}
	for total -= 2; total > Width; total-- {
		widest := flexible[0]
		for _, i := range flexible {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= leastColumn {
			break
		}
		widths[widest]--
	}
	t := newTable(header...)
	for _, row := range rows {
		cut := slices.Clone(row)
		for _, i := range flexible {
			cut[i] = clip(fmt.Sprint(cut[i]), widths[i])
		}
		t.AppendRow(cut)
	}
	return t
}

// right aligns the columns from the given one (counted from 1) to the last of n to the right.
func right(t table.Writer, from, n int) {
	var cfg []table.ColumnConfig
	for i := from; i <= n; i++ {
		cfg = append(cfg, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(cfg)
}

// table writes a rendered table under a title.
func (t *textWriter) table(title string, tw table.Writer) {
	if title != "" {
		t.printf("\n")
		t.paragraph(title, "  ")
	}
	for line := range strings.SplitSeq(tw.Render(), "\n") {
		line = strings.TrimRight(line, " ")
		if strings.HasPrefix(line, "─") {
			line = string([]rune(line)[:min(len([]rune(line)), Width)]) // it goes on under the last column's padding
		}
		t.printf("%s\n", line)
	}
}

// notes ends a report: what the numbers rest on, failures, failed checks.
func (t *textWriter) notes(rep *Report) {
	passed, none := 0, 0
	for i := range rep.Runs {
		switch rep.Runs[i].Check {
		case "passed":
			passed++
		case "none":
			none++
		}
	}
	t.printf("\n")
	if n := len(rep.Runs); n > 1 || rep.IsStudy {
		t.paragraph(fmt.Sprintf("Checks: %d of %d runs passed, %d failed, %d without expected output.", passed, n, rep.Failed(), none), "  ")
	}
	for i := range rep.Runs {
		if r := &rep.Runs[i]; r.Check == "failed" {
			t.paragraph(fmt.Sprintf("FAILED: %s: %s.", RunName(r), r.CheckNote), "  ")
		}
	}
	for _, f := range rep.Failures {
		name := strings.TrimSpace(f.Variant + " " + f.Launch)
		t.paragraph(fmt.Sprintf("NOT RUN: %s on %s: %s", name, f.Arch, strings.SplitN(f.Error, "\n", 2)[0]), "  ")
	}
	if c := confidence(rep); c != "" {
		t.paragraph(confidenceWords(c), "  ")
	}
	for _, n := range mergedNotes(rep) {
		t.paragraph("Note: "+n, "  ")
	}
}

// mergedNotes are the notes of all runs, each once; notes that differ only in kernel and architecture become one.
func mergedNotes(rep *Report) []string {
	type group struct{ kernels, archs []string }
	groups := map[string]*group{}
	var order []string
	for i := range rep.Runs {
		r := &rep.Runs[i]
		for _, n := range r.Notes {
			// Architecture first: it may be a part of no kernel name, but a kernel name can hold anything.
			key := strings.ReplaceAll(strings.ReplaceAll(n+" ", r.Arch+" ", "\x01 "), r.Kernel, "\x02")
			g := groups[key]
			if g == nil {
				g = &group{}
				groups[key] = g
				order = append(order, key)
			}
			if !slices.Contains(g.kernels, r.Kernel) {
				g.kernels = append(g.kernels, r.Kernel)
			}
			if !slices.Contains(g.archs, r.Arch) {
				g.archs = append(g.archs, r.Arch)
			}
		}
	}
	out := make([]string, len(order))
	for i, key := range order {
		g := groups[key]
		kernels := list(g.kernels)
		if len(g.kernels) > 2 {
			kernels = fmt.Sprintf("%d kernels", len(g.kernels))
		}
		out[i] = strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(key, "\x01", strings.Join(g.archs, ", ")), "\x02", kernels))
	}
	return out
}

func confidenceWords(c string) string {
	switch c {
	case "measured":
		return "Confidence: measured. The model's numbers that mattered were measured on hardware."
	case "published":
		return "Confidence: published. Some of the numbers that mattered come from documents or others' measurements."
	case "derived":
		return "Confidence: derived. Some of the numbers that mattered are inferred from published ones."
	}
	return "Confidence: " + c + ". Some of the numbers that mattered are assumed (smsim arch show NAME lists them); treat differences " +
		"that hang on them with care."
}

// RunName names a run in a sentence: variant, launch, architecture.
func RunName(r *Run) string {
	if r.Launch == "" {
		return r.Variant + " on " + r.Arch
	}
	return r.Variant + " " + r.Launch + " on " + r.Arch
}

// thousands writes an integer in groups: 1 234 567.
func thousands(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + joiner + s[i:]
	}
	return s
}

func percent(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) }

func bytesText(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<10) == 0:
		return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
	case n >= 1<<10 && n%(1<<8) == 0:
		return fmt.Sprintf("%.4g KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
