package study

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/plots"
	"github.com/sarchlab/smsim/study/page"
)

// WriteVersus writes the comparison in a format: text, json or csv.
func WriteVersus(w io.Writer, v *Versus, format string) error {
	return WriteIn(w, format, v, writeVersusText, writeVersusCSV)
}

func writeVersusText(w io.Writer, v *Versus) error {
	t := &textWriter{w: w}
	title := strings.Join(v.Sides[1:], ", ") + " against " + v.Sides[0]
	t.printf("%s\n%s\n", title, strings.Repeat("═", min(page.Width, len(title))))
	t.paragraph(sideInputs(v), "")
	tw := page.NewTable("arch", "variant", "launch", "speed-up", "instructions", "IPC", "limit before", "limit after", "outputs")
	page.Right(tw, 4, 6)
	for i := range v.Pairs {
		p := &v.Pairs[i]
		same := "equal"
		if !p.OutputsEqual {
			same = "DIFFER"
		}
		tw.AppendRow([]any{p.Arch, page.Clip(p.Variant, 18), page.Clip(p.Launch, 14), fmt.Sprintf("%.2fx", p.SpeedUp), fmt.Sprintf("%.2fx", p.InstructionRatio),
			fmt.Sprintf("%.2fx", p.IPCRatio), page.Clip(p.BaselineLimiter, 20), page.Clip(p.VariantLimiter, 20), same})
	}
	t.table("Speed-up for equal work = ratio of warp-instructions × ratio of IPC", tw)
	for i := range v.Pairs {
		t.pair(&v.Pairs[i])
	}
	t.notes(v.rep)
	return t.err
}

// sideInputs says what each side was read from, and what a difference then holds.
func sideInputs(v *Versus) string {
	var files, parts []string
	inputs := map[string]bool{}
	for _, side := range v.Sides {
		for i := range v.Runs {
			if r := &v.Runs[i]; r.Variant == side {
				inputs[r.Input] = true
				files = append(files, fmt.Sprintf("%s %s", inputName(r.Input), r.Source))
				parts = append(parts, side+" from "+files[len(files)-1])
				break
			}
		}
	}
	if len(slices.Compact(slices.Clone(files))) == 1 {
		return "All from " + files[0] + "."
	}
	s := "Kernels: " + strings.Join(parts, ", ") + "."
	if len(inputs) > 1 {
		s += " PTX is lowered by smsim and machine code by its own compiler: a part of the difference is theirs."
	}
	return s
}

func (t *textWriter) pair(p *Pair) {
	name := fmt.Sprintf("%s against %s on %s", p.Variant, p.Baseline, p.Arch)
	if p.Launch != "" {
		name += " with " + p.Launch
	}
	t.printf("\n%s\n%s\n", name, strings.Repeat("─", min(page.Width, len(name))))
	t.paragraph(fmt.Sprintf("%s from %s. %s", capital(times(p.SpeedUp)), fewer(p.InstructionRatio), p.Moved), "")
	if p.Difference != nil {
		t.paragraph("Outputs differ: "+p.Difference.String()+".", "")
	}
	for _, m := range []struct {
		what  string
		names []string
	}{{"Stopped mattering", p.Stopped}, {"Started to matter", p.Started}} {
		if m.names != nil {
			t.paragraph(fmt.Sprintf("%s (%.0f %% of the warp-cycles): %s.", m.what, 100*matters, strings.Join(m.names, ", ")), "")
		}
	}
	t.stackPair(p)
	a, b := page.Clip(p.Baseline, 20), page.Clip(p.Variant, 20)
	total := float64(p.base.WarpInstructions)
	tw := page.NewTable("class", "pipe", a, b, "change, % of all")
	page.Right(tw, 3, 5)
	rest := 0
	for i, c := range p.Classes {
		change := 100 * (c.Variant - c.Baseline) / total
		if i >= 12 || i > 0 && math.Abs(change) < 0.05 {
			rest++
			continue
		}
		tw.AppendRow([]any{c.Class, c.Pipe, thousands(uint64(c.Baseline + 0.5)), thousands(uint64(c.Variant + 0.5)), fmt.Sprintf("%+.1f", change)})
	}
	t.table("Warp-instructions for equal work, by class", tw)
	if rest > 0 {
		t.printf("and %s that change little or not at all\n", pluralOf(rest, "class", "classes"))
	}
	tw = page.NewTable("pipe", a+" busy", b+" busy", "cycles for equal work", "")
	page.Right(tw, 2, 5)
	for _, q := range p.Pipes {
		tw.AppendRow([]any{q.Pipe, percent(q.BaselineUse), percent(q.VariantUse), fromTo(q.BaselineBusy, q.VariantBusy), ratio(q.BaselineBusy, q.VariantBusy)})
	}
	t.table("Pipes", tw)
	tw = page.NewTable("opcode", a, b)
	page.Right(tw, 2, 3)
	for i, o := range p.Opcodes {
		if i < 10 && max(o.Baseline, o.Variant) >= 0.01 {
			tw.AppendRow([]any{o.Opcode, percent(o.Baseline), percent(o.Variant)})
		}
	}
	t.table("Where the warp-cycles pass, by opcode of the next instruction", tw)
}

func pluralOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func ratio(a, b float64) string {
	if a == 0 || b == 0 {
		return ""
	}
	return fmt.Sprintf("%.2fx", b/a)
}

// stackPair draws the warp states of both sides as bars of equal scale: a letter for each part of the warp-cycles.
func (t *textWriter) stackPair(p *Pair) {
	a, b := page.Clip(p.Baseline, 20), page.Clip(p.Variant, 20)
	tw := page.NewTable("", "state", a, b, "warp-cycles for equal work", "")
	page.Right(tw, 3, 6)
	total := [2]float64{}
	for _, s := range p.States {
		total[0] += s.BaselineCycles
		total[1] += s.VariantCycles
	}
	most := max(total[0], total[1])
	var bars [2]strings.Builder
	var ends [2]float64
	for _, s := range p.States {
		if max(s.BaselineShare, s.VariantShare) < 0.005 {
			continue
		}
		letter := stateLetter(s.State)
		tw.AppendRow([]any{letter, s.State, percent(s.BaselineShare), percent(s.VariantShare), fromTo(s.BaselineCycles, s.VariantCycles), ratio(s.BaselineCycles, s.VariantCycles)})
		for k, c := range []float64{s.BaselineCycles, s.VariantCycles} {
			ends[k] += c
			if n := int(ends[k]/most*70+0.5) - bars[k].Len(); n > 0 {
				bars[k].WriteString(strings.Repeat(letter, n))
			}
		}
	}
	t.table("Warp states", tw)
	w := max(len([]rune(a)), len([]rune(b)))
	t.printf("%-*s %s\n", w, a, bars[0].String())
	t.printf("%-*s %s\n", w, b, bars[1].String())
}

// fromTo writes two counts of cycles for equal work: 38 229 to 19 263.
func fromTo(a, b float64) string {
	return thousands(uint64(math.Round(a))) + " to " + thousands(uint64(math.Round(b)))
}

func writeVersusCSV(w io.Writer, v *Versus) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"arch", "launch", "grid", "block", "baseline", "variant", "speed_up", "instruction_ratio", "ipc_ratio", "baseline_limiter", "variant_limiter",
		"outputs_equal", "part", "name", "baseline_value", "variant_value", "baseline_input", "variant_input"}}
	for i := range v.Pairs {
		p := &v.Pairs[i]
		head := []string{p.Arch, p.Launch, dims(dim(p.base.Grid)), dims(dim(p.base.Block)), p.Baseline, p.Variant, number(p.SpeedUp), number(p.InstructionRatio), number(p.IPCRatio), p.BaselineLimiter, p.VariantLimiter, fmt.Sprint(p.OutputsEqual)}
		add := func(part, name string, a, b float64) {
			rows = append(rows, append(append([]string{}, head...), part, name, number(a), number(b), p.base.Input, p.vari.Input))
		}
		add("cycles", "", float64(p.base.Cycles), float64(p.vari.Cycles))
		for _, k := range p.Classes {
			add("class", k.Class, k.Baseline, k.Variant)
		}
		for _, k := range p.Pipes {
			add("pipe", k.Pipe, k.BaselineUse, k.VariantUse)
		}
		for _, k := range p.States {
			add("state", k.State, k.BaselineShare, k.VariantShare)
		}
		for _, k := range p.Opcodes {
			add("opcode", k.Opcode, k.Baseline, k.Variant)
		}
	}
	return c.WriteAll(rows)
}

// VersusPictures are the speed-up of every pair, and for each architecture the warp states, pipes and instruction mix
// of all sides.
func VersusPictures(v *Versus) ([]Picture, error) {
	figs, err := versusFigures(v)
	if err != nil {
		return nil, err
	}
	return encode(figs)
}

func versusFigures(v *Versus) ([]figure, error) {
	rep := v.rep
	rep.Study = "Comparison"
	var figs []figure
	for _, l := range rep.Launches() {
		if b := speedUps(rep, l); b != nil {
			b.Title = strings.TrimSpace("Speed-up against " + v.Sides[0] + " " + l)
			figs = append(figs, figure{strings.TrimRight("speedup_"+fileName(l), "_"), b, 0})
		}
	}
	for _, arch := range rep.Archs() {
		var runs []Run
		for i := range rep.Runs {
			if r := rep.Runs[i]; r.Arch == arch && len(runs) < 12 {
				r.Result.Variant = strings.TrimSpace(r.Variant + " " + r.Launch)
				runs = append(runs, r)
			}
		}
		s, err := plots.WarpStateStacks("Where warps spend their time on "+arch, results(runs))
		if err != nil {
			return nil, err
		}
		figs = append(figs, figure{arch + "_states", s, 150 + 24*float64(len(runs))})
		more, err := machineFigures(rep, runs, arch, arch+"_")
		if err != nil {
			return nil, err
		}
		figs = append(figs, more...)
		figs = append(figs, figure{arch + "_mix", mixBars(runs, arch), 0})
	}
	return figs, nil
}

// mixBars has a bar for each run over the most executed classes.
func mixBars(runs []Run, arch string) *plots.Bars {
	b := &plots.Bars{Title: "Executed instructions by class on " + arch, YLabel: "warp-instructions", XLabel: "class"}
	seen := map[string]bool{}
	for i := range runs {
		for k, c := range runs[i].Classes {
			if k < 6 && !seen[c.Class] {
				seen[c.Class] = true
				b.Groups = append(b.Groups, c.Class)
			}
		}
	}
	for i := range runs {
		row := make([]float64, len(b.Groups))
		for g, name := range b.Groups {
			for _, c := range runs[i].Classes {
				if c.Class == name {
					row[g] = float64(c.Insts)
				}
			}
		}
		b.Series = append(b.Series, runs[i].Result.Variant)
		b.Values = append(b.Values, row)
	}
	return b
}
