package published

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/study/page"
)

// Summary counts the figures of a set.
type Summary struct {
	Set     string  `json:"set"`
	Figures int     `json:"figures"`
	Agree   int     `json:"within_tolerance"`
	Doubted int     `json:"doubted"` // outside it, with the reason why the figure is no measure of the model
	MAPE    float64 `json:"mape"`    // of the figures that are not doubted, percent
}

// Summaries are by set, in the order of the figures.
func Summaries(results []Result) []Summary {
	var out []Summary
	for i := range results {
		r := &results[i]
		if len(out) == 0 || out[len(out)-1].Set != r.Set {
			out = append(out, Summary{Set: r.Set})
		}
		s := &out[len(out)-1]
		s.Figures++
		switch {
		case r.Agrees():
			s.Agree++
		case r.Doubt != "":
			s.Doubted++
		}
		if r.Doubt == "" {
			s.MAPE += 100 * math.Abs(r.Deviation())
		}
	}
	for i := range out {
		if n := out[i].Figures - out[i].Doubted; n > 0 {
			out[i].MAPE = math.Round(100*out[i].MAPE/float64(n)) / 100
		}
	}
	return out
}

// WriteJSON writes summaries and figures.
func WriteJSON(w io.Writer, results []Result) error {
	return page.JSON(w, struct {
		Sets    []Summary `json:"sets"`
		Figures []Result  `json:"figures"`
	}{Summaries(results), results})
}

// WriteCSV writes a line for each figure.
func WriteCSV(w io.Writer, results []Result) error {
	rows := [][]string{{"set", "arch", "board", "probe", "quantity", "published", "predicted", "deviation_percent", "within_tolerance", "source", "doubt", "error"}}
	for i := range results {
		r := &results[i]
		rows = append(rows, []string{r.Set, r.Arch, r.Board, r.Probe, r.Quantity, short(r.Published), short(r.Predicted), strconv.FormatFloat(100*r.Deviation(), 'f', 1, 64),
			strconv.FormatBool(r.Agrees()), r.Source, r.Doubt, r.Error})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// WriteMarkdown writes the page docs/published.md.
func WriteMarkdown(w io.Writer, results []Result) error {
	var b strings.Builder
	b.WriteString(`# Predicted against published

Written by ` + "`smsim validate --published --format markdown`" + `. GPUs other than the H200 could not be measured for this project;
their numbers in configs/ come from publications. Here the model runs the instructions of published measurements and is
compared with what others found: rows of study/published/published.csv, with sources as in [sources.md](sources.md).
A test keeps every row within its tolerance, or with the reason why the published figure is no measure of the model.

Tolerances: latencies 15 % or 1.1 cycles; rates 10 %, those of DPX functions 16 % (the benchmark gives up to 13 % more than
the pipe for short functions); peak rates of products 25 % (their clock was not recorded: cards run above the listed boost
clock, at which they are predicted); register bank clocks 6 %. Loops of HOPLOG and GMB are in CUDA, so what depends only on
operands that stay is computed once; in the others every execution does all of its work.

| set | figures | within tolerance | doubted | mean absolute deviation of the others |
|---|---:|---:|---:|---:|
`)
	for _, s := range Summaries(results) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %.1f %% |\n", s.Set, s.Figures, s.Agree, s.Doubted, s.MAPE)
	}
	set := ""
	for i := range results {
		r := &results[i]
		if r.Set != set {
			set = r.Set
			fmt.Fprintf(&b, "\n## %s\n\n| probe | GPU | quantity | published | predicted | deviation | source | doubt |\n|---|---|---|---:|---:|---:|---|---|\n", set)
		}
		predicted := short(r.Predicted)
		if r.Error != "" {
			predicted = r.Error
		}
		fmt.Fprintf(&b, "| `%s` | %s, %s | %s | %s | %s | %+.0f %% | %s | %s |\n", r.Probe, r.Board, r.Arch, r.Quantity, short(r.Published), predicted, 100*r.Deviation(), r.Source, r.Doubt)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteText writes the sets, and the figures that are outside their tolerance.
func WriteText(w io.Writer, results []Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s %8s %8s %8s %8s\n", "set", "figures", "agree", "doubted", "MAPE")
	for _, s := range Summaries(results) {
		fmt.Fprintf(&b, "%-16s %8d %8d %8d %6.1f %%\n", s.Set, s.Figures, s.Agree, s.Doubted, s.MAPE)
	}
	b.WriteString("\nOutside the tolerance\n")
	for i := range results {
		r := &results[i]
		if r.Agrees() && r.Error == "" {
			continue
		}
		probe := r.Probe
		if len(probe) > 32 {
			probe = probe[:31] + "…"
		}
		fmt.Fprintf(&b, "  %-6s %-7s %-32s %8s published, %8s predicted (%s)\n", r.Arch, r.Quantity, probe, short(r.Published), short(r.Predicted), r.Source)
		if text := r.Doubt + r.Error; text != "" {
			fmt.Fprintf(&b, "         %s\n", text)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// short writes a number with at most two decimals.
func short(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
