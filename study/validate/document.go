package validate

import (
	"fmt"
	"io"
	"strings"
)

// WriteDocument writes the model quality page in Markdown: tables, worst rows with the reason, what is not modelled. The
// picture is named relative to the page.
func WriteDocument(w io.Writer, rep *Report, picture string) error {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("# How far the model is from a real H200\n\n")
	p("Made by `smsim validate --doc`; do not edit. Architecture %s%s.\n\n", rep.Arch, scope(rep))
	p("Each row of a set is a measured kernel, run again on the model from its machine code (sass) or through this project's own\n")
	p("compiler (ptx). Errors are in percent of the measured cycles; positive means that the model takes longer. MAPE is the mean\n")
	p("absolute error, bias the mean signed error, p50, p95 and max are of the absolute errors. No row is left out; rows that\n")
	p("cannot be run are counted as failed. The measurements repeat to 0.1-0.3 %% in the median, 1.4 %% at the 95th percentile.\n\n")
	p("| set | input | rows | failed | MAPE | bias | p50 | p95 | max |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, s := range rep.Sets {
		p("| %s | %s | %d | %d | %s | %s | %s | %s | %s |\n", s.Name, s.Input, s.Rows, s.Failed, s.MAPE.format("%.2f"), s.Bias.format("%+.2f"), s.P50.format("%.2f"),
			s.P95.format("%.2f"), s.Max.format("%.1f"))
	}
	p("\n![predicted against measured cycles](%s)\n", picture)
	for _, s := range rep.Sets {
		if s.Reasons == nil {
			continue
		}
		p("\n## Reasons: %s, input %s\n\n| the model against Nsight Compute | |\n| --- | --- |\n", s.Name, s.Input)
		for _, r := range s.Reasons.table() {
			p("| %s | %s |\n", r[0], r[1])
		}
	}
	for _, s := range rep.Sets {
		if s.Pairs == nil {
			continue
		}
		p("\n## Variants of one algorithm: %s, input %s\n\nDoes an instruction help: %s.\n\n", s.Name, s.Input, s.Pairs.summary())
		p("| %s |\n| --- | ---: | ---: | ---: | ---: |\n", strings.Join(pairHead, " | "))
		for _, row := range s.Pairs.rows() {
			p("| %s |\n", strings.Join(row, " | "))
		}
	}
	for _, in := range []struct {
		input Input
		title string
	}{{FromSASS, "Worst rows, machine code"}, {FromPTX, "Worst rows, PTX"}} {
		worst := rep.Worst(worstRows, in.input)
		if len(worst) == 0 {
			continue
		}
		p("\n## %s\n\n| error | predicted | measured | set | row | reason |\n| ---: | ---: | ---: | --- | --- | --- |\n", in.title)
		for _, r := range worst {
			p("| %+.1f %% | %.0f | %.0f | %s | %s | %s |\n", r.Error, r.Predicted, r.Measured, r.Set, escape(r.Name), knownReason(r))
		}
	}
	p("\n## Kinds of rows with the largest errors\n\nThe five worst kinds of each set, of machine code.\n\n")
	p("| set | kind | rows | MAPE | bias | worst |\n| --- | --- | ---: | ---: | ---: | ---: |\n")
	for _, s := range rep.Sets {
		if s.Input != FromSASS {
			continue
		}
		for i, g := range s.Groups {
			if i == 5 {
				break
			}
			p("| %s | %s | %d | %.1f | %+.1f | %+.1f |\n", s.Name, escape(g.Name), g.Rows, g.MAPE, g.Bias, g.Worst)
		}
	}
	p("\n## Not modelled\n\n")
	for _, n := range notModelled {
		p("* %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func escape(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// notModelled lists what the measurements show or may hold and the model leaves out.
var notModelled = []string{
	"Other SMs: one SM is simulated; the others appear as its share of L2 and DRAM bandwidth, and as the L2 contents that they leave.",
	"The placement of blocks: this SM runs blocks 0, 132, 264, ..., the hardware gives it others, dynamically when there is more than one wave.",
	"Address translation (TLB misses), DRAM pages and refresh.",
	"The distance of an SM to each L2 slice: latency spreads over lines by a hash.",
	"Clock changes: all times are in SM cycles; the ratio of SM and memory clocks is fixed.",
	"Asynchronous copies, TMA, thread block clusters and tensor cores.",
}
