package study

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/plots"
)

// sweepMetric is a number of a point that is drawn.
type sweepMetric struct {
	name, label string
	of          func(*Run) (float64, bool) // false: the point has no such number
}

// sweepMetrics are the numbers that can be drawn of a sweep, the usual ones first.
var sweepMetrics = []sweepMetric{
	{"ipc", "warp-instructions per cycle per SM", func(r *Run) (float64, bool) { return r.IPC, true }},
	{"cycles", "cycles", func(r *Run) (float64, bool) { return float64(r.Cycles), true }},
	{"work", "work per cycle of one SM", func(r *Run) (float64, bool) { return r.WorkCycle, r.WorkCycle > 0 }},
	{"occupancy", "resident warps / most possible", func(r *Run) (float64, bool) { return r.Occupancy.Achieved, true }},
	{"issue", "issue slots used", func(r *Run) (float64, bool) { return r.IssueSlots.Utilization, true }},
	{"registers", "registers a thread", func(r *Run) (float64, bool) { return float64(r.Registers), true }},
}

// usualMetrics is the number of metrics that are drawn when none is asked for.
const usualMetrics = 3

// Metrics lists the numbers that can be drawn of a sweep.
func Metrics() []string {
	var out []string
	for _, m := range sweepMetrics {
		out = append(out, m.name)
	}
	return out
}

// metricsOf are the metrics that are asked for and that the records have.
func metricsOf(records []*SweepRecord, names []string) []sweepMetric {
	var out []sweepMetric
	for i, m := range sweepMetrics {
		has := slices.ContainsFunc(records, func(r *SweepRecord) bool { _, ok := m.of(r.Result); return ok })
		if has && (slices.Contains(names, m.name) || len(names) == 0 && i < usualMetrics) {
			out = append(out, m)
		}
	}
	return out
}

// sweepAxisValues are the distinct values of one key among records, as numbers where all are.
type sweepAxisValues struct {
	key     string
	values  []string
	numbers []float64 // parallel to values; nil: words
}

// numericAxes are the keys that take several values.
func axesOf(records []*SweepRecord) []sweepAxisValues {
	var out []sweepAxisValues
	for _, rec := range records {
		for k := range rec.Overrides {
			if !slices.ContainsFunc(out, func(a sweepAxisValues) bool { return a.key == k }) {
				out = append(out, sweepAxisValues{key: k})
			}
		}
	}
	slices.SortFunc(out, func(a, b sweepAxisValues) int { return strings.Compare(a.key, b.key) })
	for i := range out {
		a := &out[i]
		for _, rec := range records {
			if v, ok := rec.Overrides[a.key]; ok && !slices.Contains(a.values, v) {
				a.values = append(a.values, v)
			}
		}
		for _, v := range a.values {
			f, err := strconv.ParseFloat(v, 64)
			if err != nil {
				a.numbers = nil
				break
			}
			a.numbers = append(a.numbers, f)
		}
	}
	return slices.DeleteFunc(out, func(a sweepAxisValues) bool { return len(a.values) < 2 })
}

// sweepFigures draw a sweep: for each metric and numeric key curves (with a band over seeds), for the first two numeric keys a
// heat map for each kernel and architecture, bars where nothing is numeric, and the warp states of the first points.
func sweepFigures(records []*SweepRecord, metrics []string) ([]figure, error) {
	var good []*SweepRecord
	for _, r := range records {
		if r.Result != nil {
			good = append(good, r)
		}
	}
	axes := axesOf(good)
	numeric := slices.DeleteFunc(slices.Clone(axes), func(a sweepAxisValues) bool { return a.numbers == nil })
	var figs []figure
	for _, m := range metricsOf(good, metrics) {
		for _, a := range numeric {
			if q := sweepCurves(good, a.key, axes, m); q != nil {
				figs = append(figs, figure{"curves_" + m.name + "_" + fileName(a.key), q, 0})
			}
		}
		if len(numeric) >= 2 {
			figs = append(figs, sweepHeats(good, numeric[0], numeric[1], axes, m)...)
		}
		if len(numeric) == 0 {
			figs = append(figs, figure{"bars_" + m.name, sweepBars(good, m), 0})
		}
	}
	var runs []Run
	for i, name := range distinctLabels(good, axes) {
		run := *good[i].Result
		run.Result.Variant = name
		runs = append(runs, run)
	}
	f, err := statesFigure("states", "Where warps spend their time", "points", runs)
	if err != nil {
		return nil, err
	}
	return append(figs, f), nil
}

// pointLabel names a record by everything but one key and the seed.
func pointLabel(r *SweepRecord, axes []sweepAxisValues, but ...string) string {
	parts := []string{r.Variant, r.Launch, r.Arch}
	for _, a := range axes {
		if v, ok := r.Overrides[a.key]; ok && !slices.Contains(but, a.key) {
			parts = append(parts, a.key[strings.LastIndexByte(a.key, '.')+1:]+"="+v)
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// distinctLabels name records by what is not the same in all of them, but for the architecture, which pictures of runs add.
func distinctLabels(records []*SweepRecord, axes []sweepAxisValues) []string {
	parts := make([][]string, len(records))
	for i, r := range records {
		parts[i] = []string{r.Variant, r.Launch}
		for _, a := range axes {
			v := ""
			if r.Overrides[a.key] != "" {
				v = a.key[strings.LastIndexByte(a.key, '.')+1:] + "=" + r.Overrides[a.key]
			}
			parts[i] = append(parts[i], v)
		}
		parts[i] = append(parts[i], fmt.Sprintf("seed=%d", r.Seed))
	}
	out := make([]string, len(records))
	for i := range records {
		var keep []string
		for k, p := range parts[i] {
			same := true
			for j := range parts {
				same = same && parts[j][k] == p
			}
			if p != "" && (!same || k == 0 && len(records) == 1) {
				keep = append(keep, p)
			}
		}
		if out[i] = strings.Join(keep, " "); out[i] == "" {
			out[i] = records[i].Variant
		}
	}
	return out
}

// sweepLines is the number of lines that can be told apart in one picture.
const sweepLines = 12

// sweepCurves has a line for each combination of everything but the key and the seed, nil if there are too many.
func sweepCurves(records []*SweepRecord, key string, axes []sweepAxisValues, m sweepMetric) *plots.Curves {
	type at struct {
		name string
		x    float64
	}
	samples := map[at][]float64{}
	var names []string
	xs := map[string][]float64{}
	seeds := map[uint64]bool{}
	for _, r := range records {
		x, err := strconv.ParseFloat(r.Overrides[key], 64)
		y, ok := m.of(r.Result)
		if err != nil || !ok {
			continue
		}
		name := pointLabel(r, axes, key)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		k := at{name, x}
		if samples[k] == nil {
			xs[name] = append(xs[name], x)
		}
		samples[k] = append(samples[k], y)
		seeds[r.Seed] = true
	}
	q := &plots.Curves{Title: "Sweep over " + key, XLabel: axisLabel(key), YLabel: m.label}
	if len(seeds) > 1 {
		q.Note = fmt.Sprintf("mean and 95 %% confidence band of the mean over %d seeds", len(seeds))
	}
	if note := firstOf(sweepLines, len(names), "lines"); note != "" {
		q.Note = strings.TrimPrefix(q.Note+"; "+note, "; ")
		names = names[:sweepLines]
	}
	for _, name := range names {
		l := plots.Curve{Name: name, X: xs[name]}
		slices.Sort(l.X)
		for _, x := range l.X {
			mean, half := meanBand(samples[at{name, x}])
			l.Y = append(l.Y, mean)
			if len(seeds) > 1 {
				l.Low, l.High = append(l.Low, mean-half), append(l.High, mean+half)
			}
		}
		q.Lines = append(q.Lines, l)
	}
	if len(q.Lines) == 0 {
		return nil
	}
	return q
}

// studentT is the 97.5 % quantile of Student's t for 1 to 10 degrees of freedom; beyond, the normal value is close enough.
var studentT = [...]float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228}

// meanBand is the mean and half the width of its 95 % confidence interval; 0 for one sample.
func meanBand(v []float64) (mean, half float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	if len(v) < 2 {
		return mean, 0
	}
	sum := 0.0
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	t := 1.96
	if n := len(v) - 1; n <= len(studentT) {
		t = studentT[n-1]
	}
	return mean, t * math.Sqrt(sum/float64(len(v)-1)/float64(len(v)))
}

// sweepMaps is the number of heat maps of one metric that are drawn.
const sweepMaps = 4

// sweepHeats has a map over two keys for each combination of the rest, for the first sweepMaps of them.
func sweepHeats(records []*SweepRecord, x, y sweepAxisValues, axes []sweepAxisValues, m sweepMetric) []figure {
	var names []string
	groups := map[string][]*SweepRecord{}
	for _, r := range records {
		name := pointLabel(r, axes, x.key, y.key)
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], r)
	}
	var figs []figure
	for _, name := range names[:min(sweepMaps, len(names))] {
		h := &plots.HeatMap{Title: name, Note: firstOf(sweepMaps, len(names), "maps"),
			XLabel: axisLabel(x.key), YLabel: axisLabel(y.key), ZLabel: m.label,
			X: slices.Sorted(slices.Values(x.numbers)), Y: slices.Sorted(slices.Values(y.numbers))}
		cells := make([][][]float64, len(h.Y))
		for i := range cells {
			cells[i] = make([][]float64, len(h.X))
		}
		for _, r := range groups[name] {
			fx, ex := strconv.ParseFloat(r.Overrides[x.key], 64)
			fy, ey := strconv.ParseFloat(r.Overrides[y.key], 64)
			if z, ok := m.of(r.Result); ok && ex == nil && ey == nil {
				i, j := slices.Index(h.Y, fy), slices.Index(h.X, fx)
				cells[i][j] = append(cells[i][j], z)
			}
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range cells {
			row := make([]float64, len(h.X))
			for j, v := range cells[i] {
				row[j] = math.NaN()
				if v != nil {
					row[j], _ = meanBand(v)
					lo, hi = min(lo, row[j]), max(hi, row[j])
				}
			}
			h.Z = append(h.Z, row)
		}
		if hi > lo*1.05 {
			h.Contours = []float64{lo + (hi-lo)/4, lo + (hi-lo)/2, lo + 3*(hi-lo)/4}
		}
		figs = append(figs, figure{"heat_" + m.name + "_" + fileName(name), h, 0})
	}
	return figs
}

// sweepBars has a bar for each point, over architectures.
func sweepBars(records []*SweepRecord, m sweepMetric) *plots.Bars {
	b := &plots.Bars{Title: "Sweep", YLabel: m.label, XLabel: "architecture"}
	index := func(list *[]string, name string) int {
		if i := slices.Index(*list, name); i >= 0 {
			return i
		}
		*list = append(*list, name)
		return len(*list) - 1
	}
	type cell struct{ s, g int }
	cells := map[cell][]float64{}
	for _, r := range records {
		name := strings.TrimSpace(r.Variant + " " + r.Launch)
		for k, v := range r.Overrides {
			if len(r.Overrides) == 1 {
				name += " " + k[strings.LastIndexByte(k, '.')+1:] + "=" + v
			}
		}
		c := cell{index(&b.Series, name), index(&b.Groups, r.Arch)}
		if v, ok := m.of(r.Result); ok {
			cells[c] = append(cells[c], v)
		}
	}
	b.Note = firstOf(sweepLines, len(b.Series), "series")
	b.Series = b.Series[:min(sweepLines, len(b.Series))]
	for s := range b.Series {
		row := make([]float64, len(b.Groups))
		for g := range row {
			row[g] = math.NaN()
			if v := cells[cell{s, g}]; v != nil {
				row[g], _ = meanBand(v)
			}
		}
		b.Values = append(b.Values, row)
	}
	return b
}
