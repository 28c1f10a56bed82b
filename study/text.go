package study

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/sarchlab/smsim/study/page"
)

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
		_, t.err = io.WriteString(t.w, strings.ReplaceAll(fmt.Sprintf(format, args...), page.Joiner, " "))
	}
}

// paragraph writes text wrapped to the width, continuation lines indented.
func (t *textWriter) paragraph(s, indent string) {
	lead := s[:len(s)-len(strings.TrimLeft(s, " "))]
	for i, line := range page.Wrap(s, page.Width-max(len(indent), len(lead))) {
		if i > 0 {
			line = indent + line
		} else {
			line = lead + line
		}
		t.printf("%s\n", line)
	}
}

// table writes a rendered table under a title.
func (t *textWriter) table(title string, tw table.Writer) {
	if title != "" {
		t.printf("\n")
		t.paragraph(title, "  ")
	}
	t.printf("%s", page.Text(tw))
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
	if s := RestsOn(rep, len(rep.Comparisons) > 0); s != "" {
		t.paragraph(s, "  ")
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

// RunName names a run in a sentence: variant, launch, architecture.
func RunName(r *Run) string {
	if r.Launch == "" {
		return r.Variant + " on " + r.Arch
	}
	return r.Variant + " " + r.Launch + " on " + r.Arch
}

// thousands writes an integer in groups: 1 234 567.
func thousands(n uint64) string { return page.Thousands(n) }

// figures writes a number of zero or more with three digits, a large one whole and in groups: 0.0123, 45.6, 1 234.
func figures(x float64) string {
	if x >= 999.5 {
		return thousands(uint64(math.Round(x)))
	}
	return fmt.Sprintf("%.3g", x)
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
