package validate

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/sarchlab/smsim/study/page"
)

// worstRows is how many of the rows with the largest errors a report shows.
const worstRows = 20

// WriteJSON writes the report as JSON, all rows too if asked for.
func WriteJSON(w io.Writer, rep *Report, rows bool) error {
	out := *rep
	if rows {
		out.Rows = rep.AllRows()
	}
	return page.JSON(w, &out)
}

// WriteCSV writes one line for each set, or for each row if rows are asked for.
func WriteCSV(w io.Writer, rep *Report, rows bool) error {
	c := csv.NewWriter(w)
	num := func(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }
	if rows {
		recs := [][]string{{"set", "input", "name", "kernel", "group", "predicted", "measured", "error_percent", "failure"}}
		for _, r := range rep.AllRows() {
			recs = append(recs, []string{r.Set, string(r.Input), r.Name, r.Kernel, r.Group, num(r.Predicted), num(r.Measured), num(r.Error), r.Failure})
		}
		return c.WriteAll(recs)
	}
	of := func(p Percent) string { return strings.TrimSuffix(p.format("%.8g"), "-") } // an empty field where there is none
	recs := [][]string{{"set", "input", "rows", "failed", "mape_percent", "bias_percent", "p50_percent", "p95_percent", "max_percent"}}
	for _, s := range rep.Sets {
		recs = append(recs, []string{s.Name, string(s.Input), strconv.Itoa(s.Rows), strconv.Itoa(s.Failed), of(s.MAPE), of(s.Bias), of(s.P50), of(s.P95), of(s.Max)})
	}
	return c.WriteAll(recs)
}

// WriteText writes the report for people: errors by set, agreement on the reasons, the worst rows, or all rows.
func WriteText(w io.Writer, rep *Report, rows bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Model against measured H200 cycles, %s%s. Errors in %% of the measured value.\n", rep.Arch, scope(rep))
	t := page.NewTable("set", "input", "rows", "failed", "MAPE", "bias", "p50", "p95", "max")
	for _, s := range rep.Sets {
		t.AppendRow(table.Row{s.Name, s.Input, s.Rows, s.Failed, s.MAPE.format("%.2f"), s.Bias.format("%+.2f"), s.P50.format("%.2f"), s.P95.format("%.2f"), s.Max.format("%.2f")})
	}
	page.Right(t, 3, 9)
	b.WriteString(page.Text(t))
	for _, s := range rep.Sets {
		if s.Reasons == nil {
			continue
		}
		t := page.NewTable("why: "+s.Name+", "+string(s.Input), "model against Nsight Compute")
		for _, r := range s.Reasons.table() {
			t.AppendRow(table.Row{r[0], r[1]})
		}
		fmt.Fprintln(&b)
		b.WriteString(page.Text(t))
	}
	for _, s := range rep.Sets {
		if s.Pairs != nil {
			b.WriteString(pairTable(s))
		}
	}
	shown := rep.Worst(worstRows)
	fmt.Fprintf(&b, "\nWorst rows\n")
	if rows {
		shown = rep.AllRows()
		b.Reset()
	}
	t = page.NewTable("error", "predicted", "measured", "set", "row")
	for _, r := range shown {
		e := signed(r.Error)
		if r.Failure != "" {
			e = "failed"
		}
		t.AppendRow(table.Row{e, cycles(r.Predicted), cycles(r.Measured), setInput(r), page.Clip(r.Name, 46)})
	}
	page.Right(t, 1, 3)
	b.WriteString(page.Text(t))
	for i, r := range failures(rep) {
		if i == worstRows {
			fmt.Fprintf(&b, "... and %d more\n", rep.Failed()-i)
			break
		}
		b.WriteString(page.Paragraph("FAILED: ", fmt.Sprintf("%s %s: %s", setInput(r), r.Name, strings.SplitN(r.Failure, "\n", 2)[0])))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// scope says in words what part of the measurements and of the model a report covers.
func scope(rep *Report) string {
	s := ""
	if rep.Every > 1 {
		s += fmt.Sprintf(", every %dth row", rep.Every)
	}
	if rep.Without != "" {
		s += ", without " + rep.Without
	}
	return s
}

// table is the names and values of the comparison.
func (r *Reasons) table() [][2]string {
	return [][2]string{
		{"largest warp state is the same", fmt.Sprintf("%.0f %% of %d launches", r.TopState, r.Launches)},
		{"warp-state shares differ by", fmt.Sprintf("%.1f points (half the summed difference)", r.StateShares)},
		{"alu, fma, xu, lsu instructions a cycle differ by", fmt.Sprintf("%.1f points of one a cycle", r.Pipes)},
		{"executed warp-instructions are the same", fmt.Sprintf("%.0f %% of launches, off by %.3f %% on average", r.ExactCounts, r.CountsOff)},
		{"bank conflicts differ by", fmt.Sprintf("%.2f %% of the shared wavefronts", r.BankConflicts)},
		{"L1 hit rate differs by", fmt.Sprintf("%.2f points", r.L1HitRate)},
		{"achieved occupancy differs by", fmt.Sprintf("%.2f %%", r.Occupancy)},
	}
}

func failures(rep *Report) []*Result {
	var out []*Result
	for _, r := range rep.AllRows() {
		if r.Failure != "" {
			out = append(out, r)
		}
	}
	return out
}

func setInput(r *Result) string {
	if r.Input == FromPTX {
		return r.Set + " (ptx)"
	}
	return r.Set
}

func signed(v float64) string { return fmt.Sprintf("%+.2f", v) }
func cycles(v float64) string { return fmt.Sprintf("%.0f", v) }
