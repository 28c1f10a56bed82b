package study

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/plots"
	"github.com/sarchlab/smsim/sim"
)

// Picture is one file with a plot.
type Picture struct {
	Name string // file name with extension
	data []byte
}

// Write writes the file's content.
func (p *Picture) Write(w io.Writer) error {
	_, err := w.Write(p.data)
	return err
}

// figure is a plot with the name of its files and its height in points, 0 for the usual one.
type figure struct {
	name   string
	f      plots.Figure
	height float64
}

// Pictures draws the report as SVG and PNG. A study gets bars over architectures and variants, speed-ups, and for each
// architecture warp states, pipes, curves over resident warps and along the x axis, and a roofline; other reports the
// pictures of their runs.
func Pictures(rep *Report) ([]Picture, error) {
	figs, err := reportFigures(rep)
	if err != nil {
		return nil, err
	}
	return encode(figs)
}

func reportFigures(rep *Report) ([]figure, error) {
	var figs []figure
	var err error
	if rep.IsStudy {
		figs, err = studyFigures(rep)
	} else {
		figs, err = runFigures(rep)
	}
	return append(figs, timeFigures(rep)...), err
}

// timeFigures are the pictures over time of the runs that have a time series, and the issue timeline.
func timeFigures(rep *Report) []figure {
	var figs []figure
	for i := range rep.Runs {
		r := &rep.Runs[i]
		if q := pipesOverTime(r); q != nil {
			name := "timeline"
			if len(rep.Runs) > 1 {
				name += "_" + fileName(strings.Trim(r.Arch+"_"+r.Variant+"_"+r.Launch, "_"))
			}
			figs = append(figs, figure{name, q, 0})
		}
	}
	if x := rep.Issues; x != nil && len(x.Rows) > 0 {
		figs = append(figs, figure{"issues", gridOf(x, "Issue timeline: "+RunName(&rep.Runs[0])), 130 + 16*float64(len(x.Rows))})
	}
	return figs
}

// encode draws figures as SVG and PNG.
func encode(figs []figure) ([]Picture, error) {
	return encodeAs(figs, []string{"svg", "png"}, "light", 0, 0)
}

// encodeAs draws figures in formats and a style; a size of 0 is the figure's own.
func encodeAs(figs []figure, formats []string, style string, width, height float64) ([]Picture, error) {
	out := make([]Picture, len(figs)*len(formats))
	errs := make([]error, len(out))
	idx := upTo(len(out))
	forEach(idx, 0, func(i int) {
		fig, format := figs[i/len(formats)], formats[i%len(formats)]
		h := height
		if h == 0 {
			h = fig.height
		}
		data, err := plots.EncodeLook(fig.f, format, vg.Points(width), vg.Points(h), style)
		if err != nil {
			errs[i] = fmt.Errorf("picture %s: %w", fig.name, err)
			return
		}
		out[i] = Picture{fig.name + "." + format, data}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// named is the name of a kind of picture and what it is of, the kind alone for a launch without a name.
func named(kind, of string) string {
	return strings.TrimRight(kind+"_"+fileName(of), "_")
}

// fileName makes a name of a launch or kernel fit for a file.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
			return r
		}
		return '_'
	}, s)
}

// metric is the number that a study compares: work a cycle where it is given, else IPC.
func metric(rep *Report) (label string, of func(*Run) float64) {
	if rep.WorkUnit != "" {
		return rep.WorkUnit + " per cycle per SM", func(r *Run) float64 { return r.WorkCycle }
	}
	return "warp-instructions per cycle per SM", func(r *Run) float64 { return r.IPC }
}

func studyFigures(rep *Report) ([]figure, error) {
	var figs []figure
	launches := rep.Launches()
	ends := slices.Compact([]string{launches[0], launches[len(launches)-1]})
	for _, l := range ends {
		figs = append(figs, figure{named("throughput", l), throughput(rep, l), 0})
		if b := speedUps(rep, l); b != nil {
			figs = append(figs, figure{named("speedup", l), b, 0})
		}
	}
	for _, a := range rep.Archs() {
		var last, both []Run
		for _, l := range ends {
			for _, v := range rep.Variants() {
				if r := rep.Find(a, v, l); r != nil {
					x := *r
					if len(ends) > 1 {
						x.Result.Variant = v + " " + l
					}
					both = append(both, x)
					if l == ends[len(ends)-1] {
						last = append(last, *r)
					}
				}
			}
		}
		s, err := statesFigure(a+"_states", "Where warps spend their time on "+a, "runs", both)
		if err != nil {
			return nil, err
		}
		figs = append(figs, s)
		more, err := machineFigures(rep, last, fmt.Sprintf("%s, %s", a, ends[len(ends)-1]), a+"_")
		if err != nil {
			return nil, err
		}
		figs = append(figs, more...)
		if len(launches) > 1 {
			figs = append(figs, figure{a + "_warps", warpCurves(rep, a), 0})
		}
		if q := xCurves(rep, a, ends); q != nil {
			figs = append(figs, figure{a + "_x", q, 0})
		}
	}
	return figs, nil
}

// runFigures are the pictures of a report that is no study.
func runFigures(rep *Report) ([]figure, error) {
	title := rep.Runs[0].Variant
	s, err := statesFigure("states", "Where warps spend their time: "+title, "runs", rep.Runs)
	if err != nil {
		return nil, err
	}
	more, err := machineFigures(rep, rep.Runs[:min(len(rep.Runs), 8)], title, "")
	return append([]figure{s}, more...), err
}

// stacksInPicture is the number of runs whose warp states are drawn below each other.
const stacksInPicture = 24

// statesFigure draws the warp states of the first runs; what is the plural of what each run is.
func statesFigure(name, title, what string, runs []Run) (figure, error) {
	n := min(stacksInPicture, len(runs))
	s, err := plots.WarpStateStacks(title, results(runs[:n]))
	if err != nil {
		return figure{}, err
	}
	s.Note = firstOf(stacksInPicture, len(runs), what)
	return figure{name, s, 150 + 24*float64(n)}, nil
}

// firstOf says that a picture has only the first n of all that there are; "" if it has all.
func firstOf(n, all int, what string) string {
	if all <= n {
		return ""
	}
	return fmt.Sprintf("the first %d of %d %s", n, all, what)
}

// axisLabel names an axis that is a number of the architecture, with its unit.
func axisLabel(key string) string {
	if unit := configs.Unit(key); unit != "" {
		return key + " (" + unit + ")"
	}
	return key
}

// machineFigures are pipe utilisation and roofline of some runs.
func machineFigures(rep *Report, runs []Run, title, prefix string) ([]figure, error) {
	p, err := plots.PipeBars("Pipe utilisation: "+title, results(runs))
	if err != nil {
		return nil, err
	}
	figs := []figure{{prefix + "pipes", p, 0}}
	q, err := roofline(rep, runs, title)
	if err != nil {
		return nil, err
	}
	if q != nil {
		figs = append(figs, figure{prefix + "roofline", q, 0})
	}
	return figs, nil
}

func results(runs []Run) []sim.Result {
	out := make([]sim.Result, len(runs))
	for i := range runs {
		out[i] = runs[i].Result
	}
	return out
}

// throughput has a bar for each variant (series) on each architecture (group).
func throughput(rep *Report, launch string) *plots.Bars {
	label, of := metric(rep)
	b := &plots.Bars{Title: rep.Study + ": throughput, launch " + launch, YLabel: label, XLabel: "architecture", Groups: rep.Archs(), Series: rep.Variants()}
	for _, v := range b.Series {
		row := make([]float64, len(b.Groups))
		for i, a := range b.Groups {
			row[i] = math.NaN()
			if r := rep.Find(a, v, launch); r != nil {
				row[i] = of(r)
			}
		}
		b.Values = append(b.Values, row)
	}
	return b
}

// speedUps has a bar for each pair on each architecture, nil without pairs.
func speedUps(rep *Report, launch string) *plots.Bars {
	if len(rep.Comparisons) == 0 {
		return nil
	}
	v, base := sides(&rep.Comparisons[0])
	b := &plots.Bars{Title: fmt.Sprintf("%s: %s against %s, launch %s", rep.Study, v, base, launch), YLabel: "speed-up for equal work",
		XLabel: "architecture", Groups: rep.Archs(), Series: labels(rep.Comparisons), Limit: 1, LimitLabel: "1: no gain"}
	for _, l := range b.Series {
		row := make([]float64, len(b.Groups))
		for i, a := range b.Groups {
			row[i] = math.NaN()
			if c := rep.comparison(a, launch, l); c != nil {
				row[i] = c.SpeedUp
			}
		}
		b.Values = append(b.Values, row)
	}
	return b
}

// warpCurves has a line for each variant: throughput against resident warps over the launches.
func warpCurves(rep *Report, arch string) *plots.Curves {
	label, of := metric(rep)
	q := &plots.Curves{Title: fmt.Sprintf("%s on %s: throughput against resident warps", rep.Study, arch), XLabel: "resident warps per SM (average)", YLabel: label}
	for _, v := range rep.Variants() {
		c := plots.Curve{Name: v}
		for _, l := range rep.Launches() {
			if r := rep.Find(arch, v, l); r != nil {
				c.X, c.Y = append(c.X, r.Occupancy.AchievedWarps), append(c.Y, of(r))
			}
		}
		q.Lines = append(q.Lines, c)
	}
	return q
}

// xCurves has a line for each group and launch along the x axis, nil if no line has two points.
func xCurves(rep *Report, arch string, launches []string) *plots.Curves {
	label, of := metric(rep)
	q := &plots.Curves{Title: fmt.Sprintf("%s on %s: throughput against %s", rep.Study, arch, rep.XAxis), XLabel: rep.XAxis, YLabel: label}
	at := map[string]int{}
	for i := range rep.Runs {
		r := &rep.Runs[i]
		if r.X == nil || r.Arch != arch || !slices.Contains(launches, r.Launch) {
			continue
		}
		name := strings.TrimSpace(r.Group + " " + r.Launch)
		j, ok := at[name]
		if !ok {
			j = len(q.Lines)
			at[name] = j
			q.Lines = append(q.Lines, plots.Curve{Name: name})
		}
		q.Lines[j].X, q.Lines[j].Y = append(q.Lines[j].X, *r.X), append(q.Lines[j].Y, of(r))
	}
	if !slices.ContainsFunc(q.Lines, func(c plots.Curve) bool { return len(c.X) > 1 }) {
		return nil
	}
	return q
}

// roofline places runs of one architecture under its issue rate, the pipes that they use most, and L2's bandwidth;
// nil if no run does integer work.
func roofline(rep *Report, runs []Run, title string) (*plots.Roofline, error) {
	a := rep.archs[runs[0].Arch]
	if a == nil {
		var err error
		if a, err = archOf(&runs[0]); err != nil {
			return nil, err
		}
	}
	lanes := float64(32 * a.SM.SubPartitions * max(1, a.SM.IssueWidth))
	ceilings := []plots.Ceiling{{Name: "issue", Ops: lanes / float64(max(1, a.SM.IssueInterval))}}
	for _, name := range integerPipes(runs) {
		if rate := pipeRate(runs, name); rate > 0 {
			ceilings = append(ceilings, plots.Ceiling{Name: name + " pipe alone", Ops: rate})
		}
	}
	share := a.Memory.L2BytesCycleAll
	if share == 0 {
		share = a.Memory.L2BytesCycle
	}
	var some []Run
	for _, r := range runs {
		if r.Arch == runs[0].Arch && plots.PointOf(&r.Result, plots.L2, integer).Ops > 0 {
			some = append(some, r)
		}
	}
	if len(some) == 0 || share <= 0 {
		return nil, nil
	}
	return plots.RooflineOf("Integer roofline: "+title, results(some), plots.L2, integer, ceilings, []plots.Slope{{Name: "L2 share", Bytes: share}}), nil
}

// archOf is the architecture that a run was simulated on, with its changed numbers.
func archOf(r *Run) (*configs.Arch, error) {
	var over []configs.Override
	for _, text := range r.Overrides {
		o, err := configs.ParseOverride(text)
		if err != nil {
			return nil, err
		}
		over = append(over, o)
	}
	return configs.Load(r.Arch, over)
}

// integerPipes are the pipes that execute at least a tenth of the runs' integer instructions, most used first.
func integerPipes(runs []Run) []string {
	count := map[string]uint64{}
	var names []string
	total := uint64(0)
	for i := range runs {
		for _, c := range runs[i].Classes {
			if !integer(c) {
				continue
			}
			if count[c.Pipe] == 0 {
				names = append(names, c.Pipe)
			}
			count[c.Pipe] += c.Insts
			total += c.Insts
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return count[n]*10 < total })
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	return names
}

// pipeRate is the thread-instructions a cycle that a pipe takes when it is always busy, from what the runs executed; 0
// if none used it.
func pipeRate(runs []Run, name string) float64 {
	insts, busy, instances := 0.0, 0.0, 0
	for i := range runs {
		if p := pipe(&runs[i], name); p != nil {
			insts, busy, instances = insts+float64(p.Insts), busy+float64(p.BusyCycles), p.Instances
		}
	}
	if busy == 0 {
		return 0
	}
	return 32 * insts / busy * float64(instances)
}

// integer says that a class does integer arithmetic or logic on every lane.
func integer(c sim.ClassCount) bool {
	k, ok := isa.ClassByName(c.Class)
	switch {
	case !ok, k == isa.ClassMOV:
		return false
	case k >= isa.ClassIADD && k <= isa.ClassVIADD, k == isa.ClassPOPC, k == isa.ClassFLO, k == isa.ClassBREV, k == isa.ClassI2I:
		return true
	}
	return false
}
