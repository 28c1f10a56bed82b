package gainmap

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/study"
)

// Write writes maps as text, json or csv.
func Write(w io.Writer, maps []*Map, format string) error {
	switch format {
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(maps)
	case "csv":
		c := csv.NewWriter(w)
		rows := [][]string{{"kind", "arch", "map", "row", "column", "speedup", "instruction_ratio"}}
		number := func(f float64) string { return strconv.FormatFloat(f, 'g', 8, 64) }
		for _, m := range maps {
			rows = append(rows, m.Chains.rows(m, "chains_by_warps", number)...)
			rows = append(rows, m.Memory.rows(m, "loads_by_latency", number)...)
		}
		return c.WriteAll(rows)
	case "text":
		var b strings.Builder
		for _, m := range maps {
			fmt.Fprintf(&b, "%s on %s: %s\n", m.Kind, m.Arch, m.About)
			m.Chains.text(&b)
			m.Memory.text(&b)
			b.WriteString("\n")
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
	return &study.InputError{Err: fmt.Errorf("unknown format %q", format)}
}

func (t *Table) rows(m *Map, name string, number func(float64) string) [][]string {
	var out [][]string
	for r := range t.Rows {
		for c := range t.Columns {
			out = append(out, []string{m.Kind, m.Arch, name, number(t.Rows[r]), number(t.Columns[c]), number(t.Gain[r][c]), number(t.Fewer[r][c])})
		}
	}
	return out
}

func (t *Table) text(b *strings.Builder) {
	fmt.Fprintf(b, "\n  speed-up with %s; columns: %s\n  %-28s", t.Title, t.Column, t.Row)
	for _, c := range t.Columns {
		fmt.Fprintf(b, "%8g", c)
	}
	b.WriteString("\n")
	for r := range t.Rows {
		fmt.Fprintf(b, "  %-28g", t.Rows[r])
		for _, v := range t.Gain[r] {
			fmt.Fprintf(b, "%7.2fx", v)
		}
		fmt.Fprintf(b, "   (%.2fx fewer warp-instructions)\n", t.Fewer[r][len(t.Fewer[r])-1])
	}
	lo, hi := t.Gain[0][0], t.Gain[0][0]
	for _, r := range t.Gain {
		for _, v := range r {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	switch {
	case lo >= 1:
		fmt.Fprintf(b, "  no break-even within the map: it gains everywhere, %.2fx to %.2fx\n", lo, hi)
	case hi <= 1:
		fmt.Fprintf(b, "  no break-even within the map: it gains nowhere, %.2fx to %.2fx\n", lo, hi)
	default:
		fmt.Fprintf(b, "  %.2fx to %.2fx; the picture shows the line of break-even\n", lo, hi)
	}
}
