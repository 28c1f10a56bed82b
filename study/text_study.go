package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/sarchlab/smsim/study/page"
)

// study writes the tables over variants, launches and architectures.
func (t *textWriter) study(rep *Report) {
	t.printf("%s\n", rep.Study)
	t.printf("%s\n", strings.Repeat("═", len(rep.Study)))
	if rep.Question != "" {
		t.paragraph(strings.TrimSpace(rep.Question), "")
	}
	for i, p := range rep.Answer {
		if i == 0 {
			t.printf("\nAnswer\n")
		}
		if strings.HasPrefix(p, "- ") {
			t.paragraph("  "+p, "    ")
		} else {
			t.paragraph(p, "")
		}
	}
	t.launches(rep)
	t.gains(rep)
	t.grid(rep, "What limits each variant", func(r *Run) string { return ShortLimiter(r) }, false)
	if rep.WorkUnit != "" {
		t.grid(rep, fmt.Sprintf("%s a cycle of one SM", capital(rep.WorkUnit)), func(r *Run) string { return figures(r.WorkCycle) }, true)
	}
	t.grid(rep, "Cycles (warp-instructions a cycle)", func(r *Run) string { return fmt.Sprintf("%s (%.2f)", thousands(r.Cycles), r.IPC) }, true)
}

// launches explains the launch names.
func (t *textWriter) launches(rep *Report) {
	var lines []string
	for _, l := range rep.Launches() {
		for i := range rep.Runs {
			if r := &rep.Runs[i]; r.Launch == l {
				if r.Title != "" {
					lines = append(lines, fmt.Sprintf("%s: %s", l, r.Title))
				}
				break
			}
		}
	}
	if lines != nil {
		t.printf("\nLaunches\n")
	}
	for _, l := range lines {
		t.paragraph("  "+l, "    ")
	}
}

// gainCell is the width of "12.34x (12.34, 12.34)".
const gainCell = 21

// gains is the table of speed-ups: a row for each architecture and pair, a column for each launch.
func (t *textWriter) gains(rep *Report) {
	if len(rep.Comparisons) == 0 {
		return
	}
	v, b := sides(&rep.Comparisons[0])
	title := fmt.Sprintf("Speed-up of %s over %s for equal work (= ratio of warp-instructions, ratio of IPC)", v, b)
	ls := labels(rep.Comparisons)
	for _, launches := range columnGroups(rep.Launches(), leftWidth(rep, ls), gainCell) {
		tw := page.NewTable(append([]any{"arch", "pair"}, columnNames(launches, "speed-up", gainCell)...)...)
		page.Right(tw, 3, 2+len(launches))
		archRows(tw, rep.Archs(), ls, launches, func(arch, label, launch string) string {
			c := rep.comparison(arch, launch, label)
			if c == nil {
				return ""
			}
			return fmt.Sprintf("%.2fx (%.2f, %.2f)", c.SpeedUp, c.InstructionRatio, c.IPCRatio)
		})
		t.table(title, tw)
	}
}

// archRows adds a row for each architecture and name with a cell for each launch; the architecture stands in its first row.
func archRows(tw table.Writer, archs, names, launches []string, cell func(arch, name, launch string) string) {
	for _, arch := range archs {
		first := arch
		for _, name := range names {
			row := []any{first, page.Clip(name, maxName)}
			for _, l := range launches {
				row = append(row, cell(arch, name, l))
			}
			tw.AppendRow(row)
			first = ""
		}
	}
}

// gridCell is the least width of a column in a grid.
const gridCell = 17

// grid is a table with a row for each architecture and variant and a column for each launch.
func (t *textWriter) grid(rep *Report, title string, cell func(*Run) string, numbers bool) {
	left := leftWidth(rep, rep.Variants())
	for _, launches := range columnGroups(rep.Launches(), left, gridCell) {
		width := (page.Width-left)/len(launches) - columnGap
		cut := natural(rep, launches, cell) > page.Width-left
		tw := page.NewTable(append([]any{"arch", "variant"}, columnNames(launches, "", width)...)...)
		if numbers {
			page.Right(tw, 3, 2+len(launches))
		}
		archRows(tw, rep.Archs(), rep.Variants(), launches, func(arch, variant, launch string) string {
			r := rep.Find(arch, variant, launch)
			switch {
			case r == nil:
				return ""
			case cut:
				return page.Clip(cell(r), width)
			}
			return cell(r)
		})
		t.table(title, tw)
	}
}

// natural is the width that the columns of launches take if no cell is cut.
func natural(rep *Report, launches []string, cell func(*Run) string) int {
	total := 0
	for _, l := range launches {
		widest := len([]rune(l))
		for i := range rep.Runs {
			if r := &rep.Runs[i]; r.Launch == l {
				widest = max(widest, len([]rune(cell(r))))
			}
		}
		total += widest + columnGap
	}
	return total
}

const (
	maxName   = 32 // longest name in a table
	columnGap = 2  // between two columns
)

// leftWidth is the width of the architecture and name columns.
func leftWidth(rep *Report, names []string) int {
	arch, name := len("arch"), len("variant")
	for _, a := range rep.Archs() {
		arch = max(arch, len([]rune(a)))
	}
	for _, n := range names {
		name = max(name, min(maxName, len([]rune(n))))
	}
	return arch + name + 2*columnGap
}

// columnGroups splits columns into tables that fit the width.
func columnGroups(columns []string, left, cell int) [][]string {
	n := max(1, (page.Width-left)/(cell+columnGap))
	return slices.Collect(slices.Chunk(columns, n))
}

// columnNames are the launches as table headers, cut to a width; a launch without name is called unnamed.
func columnNames(launches []string, unnamed string, width int) []any {
	out := make([]any, len(launches))
	for i, l := range launches {
		if l == "" {
			l = unnamed
		}
		out[i] = page.Clip(l, width)
	}
	return out
}

// overview is one line for each run.
func (t *textWriter) overview(rep *Report) {
	tw := page.NewTable("kernel", "arch", "cycles", "time (µs)", "IPC", "occupancy", "check", "limit")
	page.Right(tw, 3, 6)
	for i := range rep.Runs {
		r := &rep.Runs[i]
		tw.AppendRow([]any{page.Clip(r.Variant, 24), r.Arch, thousands(r.Cycles), microseconds(r.TimeUS), fmt.Sprintf("%.2f", r.IPC),
			percent(r.Occupancy.Achieved), r.Check, page.Clip(ShortLimiter(r), 28)})
	}
	t.table("", tw)
}
