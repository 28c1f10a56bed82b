package gainmap

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/study/page"
)

// Write writes maps as text, json or csv.
func Write(w io.Writer, maps []*Map, format string) error {
	return study.WriteIn(w, format, Saved{sim.Schema, maps}, writeText, writeCSV)
}

func writeCSV(w io.Writer, s Saved) error {
	rows := [][]string{{"kind", "arch", "map", "row", "column", "speed_up", "instruction_ratio"}}
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', 8, 64) }
	for _, m := range s.Maps {
		rows = append(rows, m.Chains.rows(m, "chains_by_warps", number)...)
		rows = append(rows, m.Memory.rows(m, "loads_by_latency", number)...)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func writeText(w io.Writer, s Saved) error {
	var b strings.Builder
	for _, m := range s.Maps {
		b.WriteString(page.Paragraph("", fmt.Sprintf("%s on %s: %s", m.Kind, m.Arch, m.About)))
		m.Chains.text(&b)
		m.Memory.text(&b)
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
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

// Saved is the JSON form of maps.
type Saved struct {
	Schema int    `json:"schema"`
	Maps   []*Map `json:"gain_maps"`
}

// Read reads maps back from their JSON form; nil if the text is another result.
func Read(name string, text []byte) (*study.Saved, error) {
	var s Saved
	if err := json.Unmarshal(text, &s); err != nil || len(s.Maps) == 0 {
		return nil, nil //nolint:nilerr // whoever reads other results says what is wrong
	}
	if s.Schema != sim.Schema {
		return nil, fmt.Errorf("%s: a gain map of another version (schema %d, this program reads %d)", name, s.Schema, sim.Schema)
	}
	var out study.Saved
	for _, m := range s.Maps {
		for _, t := range []*Table{&m.Chains, &m.Memory} {
			if len(t.Gain) == 0 || len(t.Gain) != len(t.Rows) {
				return nil, fmt.Errorf("%s: damaged result: a map has not one line for each %s", name, t.Row)
			}
		}
		out.Drawings = append(out.Drawings, m.Figures()...)
	}
	return &out, nil
}

// text writes the table, in parts where it has more columns than a line takes.
func (t *Table) text(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s", page.Paragraph("  ", fmt.Sprintf("speed-up with %s; columns: %s; last: how many times fewer warp-instructions", t.Title, t.Column)))
	const cell, last = 8, 10
	label := max(10, len(t.Row))
	most := max(1, (page.Width-2-label-last)/cell)
	for from := 0; from < len(t.Columns); from += most {
		to := min(len(t.Columns), from+most)
		fmt.Fprintf(b, "  %-*s", label, t.Row)
		for _, c := range t.Columns[from:to] {
			fmt.Fprintf(b, "%*g", cell, c)
		}
		fmt.Fprintf(b, "%*s\n", last, "fewer")
		for r := range t.Rows {
			fmt.Fprintf(b, "  %-*g", label, t.Rows[r])
			fewer := 0.0
			for c := from; c < to; c++ {
				if v := t.Gain[r][c]; v == 0 {
					fmt.Fprintf(b, "%*s", cell, "-")
				} else {
					fmt.Fprintf(b, "%*.2fx", cell-1, v)
					fewer = t.Fewer[r][c]
				}
			}
			fmt.Fprintf(b, "%*.2fx\n", last-1, fewer)
		}
	}
	lo, hi := extremes(t.Gain)
	switch {
	case lo >= 1:
		fmt.Fprintf(b, "  no break-even within the map: it gains everywhere, %.2fx to %.2fx\n", lo, hi)
	case hi <= 1:
		fmt.Fprintf(b, "  no break-even within the map: it gains nowhere, %.2fx to %.2fx\n", lo, hi)
	default:
		fmt.Fprintf(b, "  %.2fx to %.2fx; the picture shows the line of break-even\n", lo, hi)
	}
}
