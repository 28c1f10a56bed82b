package study

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/study/page"
)

// SweepTable is the results as one tidy table: one row a point, one column a property.
type SweepTable struct {
	Columns []string
	Numeric []bool // the column holds numbers only
	Rows    [][]string
}

// Table gives the table of all points that have a record.
func (r *SweepResult) Table() *SweepTable {
	rep := &Report{}
	for _, rec := range r.Records {
		if rec != nil && rec.Result != nil {
			rep.Runs = append(rep.Runs, *rec.Result)
		}
	}
	var measured []csvColumn
	for _, c := range csvColumns(rep) {
		if !slices.Contains([]string{"variant", "launch", "arch"}, c.name) {
			measured = append(measured, c)
		}
	}
	t := &SweepTable{Columns: []string{"point", "hash", "run", "variant", "launch", "arch", "seed"}}
	for _, k := range r.Sweep.Axes {
		t.Columns = append(t.Columns, "set_"+k)
	}
	for _, c := range measured {
		t.Columns = append(t.Columns, c.name)
	}
	t.Columns = append(t.Columns, "error")
	for _, rec := range r.Records {
		if rec == nil {
			continue
		}
		row := []string{strconv.Itoa(rec.Index), rec.Hash, rec.Run, rec.Variant, rec.Launch, rec.Arch, strconv.FormatUint(rec.Seed, 10)}
		for _, k := range r.Sweep.Axes {
			row = append(row, rec.Overrides[k])
		}
		for _, c := range measured {
			v := ""
			if rec.Result != nil {
				v = c.value(rec.Result)
			}
			row = append(row, v)
		}
		t.Rows = append(t.Rows, append(row, rec.Error))
	}
	t.Numeric = make([]bool, len(t.Columns))
	for i := range t.Columns {
		numbers := 0
		t.Numeric[i] = true
		for _, row := range t.Rows {
			if row[i] == "" {
				continue
			}
			numbers++
			if _, err := strconv.ParseFloat(row[i], 64); err != nil {
				t.Numeric[i] = false
			}
		}
		t.Numeric[i] = t.Numeric[i] && numbers > 0 && t.Columns[i] != "hash"
	}
	return t
}

// WriteCSV writes the table.
func (t *SweepTable) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(t.Columns); err != nil {
		return err
	}
	return c.WriteAll(t.Rows)
}

// WriteSweep writes the result in a format: text, json (lines) or csv.
func WriteSweep(w io.Writer, r *SweepResult, format string) error {
	switch format {
	case "text":
		return writeSweepText(w, r)
	case "json":
		return r.writeLines(w)
	case "csv":
		return r.Table().WriteCSV(w)
	}
	return &InputError{fmt.Errorf("unknown format %q", format)}
}

// sweepRows is the number of points that the text lists; files have all.
const sweepRows = 60

func writeSweepText(w io.Writer, r *SweepResult) error {
	t := &textWriter{w: w}
	s := r.Sweep
	t.printf("%s\n%s\n", s.Name, strings.Repeat("═", min(page.Width, len(s.Name))))
	if s.About != "" {
		t.paragraph(s.About, "")
	}
	failed := r.Failed()
	t.printf("%s: %d with a result, %d failed, %d not run\n", page.Plural(len(r.Records), "point"), len(r.Records)-len(failed)-r.Missing(), len(failed), r.Missing())
	header := []any{"variant", "launch", "arch", "changes", "cycles", "IPC", "limit"}
	var rows [][]any
	shown := 0
	var fast, slow *SweepRecord
	for _, rec := range r.Records {
		if rec == nil || rec.Result == nil {
			continue
		}
		if fast == nil || rec.Result.IPC > fast.Result.IPC {
			fast = rec
		}
		if slow == nil || rec.Result.IPC < slow.Result.IPC {
			slow = rec
		}
		if shown++; shown <= sweepRows {
			rows = append(rows, []any{rec.Variant, rec.Launch, rec.Arch, strings.Join(s.changes(rec), " "), thousands(rec.Result.Cycles),
				fmt.Sprintf("%.2f", rec.Result.IPC), ShortLimiter(rec.Result)})
		}
	}
	if shown > 0 {
		tw := page.FittedTable(header, rows, 0, 1, 3, 6)
		page.Right(tw, 5, 6)
		t.table("", tw)
	}
	if shown > sweepRows {
		t.printf("and %d more points\n", shown-sweepRows)
	}
	if fast != nil && fast != slow {
		t.printf("\n")
		t.paragraph(fmt.Sprintf("Highest IPC: %.2f, %s (%s). Lowest: %.2f, %s (%s).", fast.Result.IPC, s.Points[fast.Index].Name(), ShortLimiter(fast.Result),
			slow.Result.IPC, s.Points[slow.Index].Name(), ShortLimiter(slow.Result)), "")
	}
	for _, rec := range failed {
		t.paragraph(fmt.Sprintf("FAILED: %s: %s", s.Points[rec.Index].Name(), strings.SplitN(rec.Error, "\n", 2)[0]), "  ")
	}
	for _, rec := range r.Records {
		if rec != nil && rec.Result != nil && rec.Result.Check == "failed" {
			t.paragraph(fmt.Sprintf("CHECK FAILED: %s: %s", s.Points[rec.Index].Name(), rec.Result.CheckNote), "  ")
		}
	}
	return t.err
}

// changes are the overrides of a record in the order of the axes, with short keys.
func (s *Sweep) changes(rec *SweepRecord) []string {
	var out []string
	short := shortKeys(s.Axes)
	for i, k := range s.Axes {
		if v, ok := rec.Overrides[k]; ok {
			out = append(out, short[i]+"="+v)
		}
	}
	if rec.Seed != 0 {
		out = append(out, fmt.Sprintf("seed=%d", rec.Seed))
	}
	return out
}
