package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curve is one line of a plot. The points may come in any order.
type Curve struct {
	Name string
	X, Y []float64
	// Low and High are a confidence band around Y, drawn as a shade; nil: none.
	Low, High []float64
}

// Curves are lines with markers: throughput against resident warps, columns a thread, a swept parameter.
type Curves struct {
	Title, Note    string
	XLabel, YLabel string // with units
	LogX, LogY     bool
	Lines          []Curve
}

// mostMarkers bounds the markers of a line: more, as of a time series, would run together.
const mostMarkers = 40

// Heading is the title.
func (q *Curves) Heading() string { return q.Title }

func (q *Curves) check() (xs, ys []float64, err error) {
	if len(q.Lines) > maxSeries {
		return nil, nil, fmt.Errorf("curves: %d lines cannot be told apart; at most %d", len(q.Lines), maxSeries)
	}
	for _, l := range q.Lines {
		if len(l.X) != len(l.Y) {
			return nil, nil, fmt.Errorf("curves: %d x and %d y values of %s", len(l.X), len(l.Y), l.Name)
		}
		if !finite(l.X...) || !finite(l.Y...) {
			return nil, nil, fmt.Errorf("curves: a point of %s is not finite", l.Name)
		}
		if (l.Low != nil || l.High != nil) && (len(l.Low) != len(l.X) || len(l.High) != len(l.X) || !finite(l.Low...) || !finite(l.High...)) {
			return nil, nil, fmt.Errorf("curves: the band of %s has not one finite low and high value for each point", l.Name)
		}
		xs, ys = append(xs, l.X...), append(append(append(ys, l.Y...), l.Low...), l.High...)
	}
	if len(xs) == 0 {
		return nil, nil, errors.New("curves: no points")
	}
	if q.LogX {
		err = checkLog("curves, x", xs...)
	}
	if q.LogY && err == nil {
		err = checkLog("curves, y", ys...)
	}
	return xs, ys, err
}

// Draw draws the curves.
func (q *Curves) Draw(c draw.Canvas) error {
	xs, ys, err := q.check()
	if err != nil {
		return err
	}
	p := newPen()
	var entries []entry
	for i, l := range q.Lines {
		line, glyph := lineOf(i), glyphOf(i)
		entries = append(entries, entry{name: l.Name, line: &line, glyph: &glyph})
	}
	c, err = p.page(c, q.Title, q.Note, entries)
	if err != nil {
		return err
	}
	f := &panel{pen: p, x: valueAxis(q.XLabel, xs, q.LogX), y: heightAxis(q.YLabel, ys, q.LogY)}
	f.c = draw.Crop(c, p.yMargin(f.y), -outer, p.xMargin(q.XLabel), 0)
	f.drawY()
	f.drawX()
	f.border()
	for i, l := range q.Lines {
		if l.Low == nil {
			continue
		}
		outline := f.points(Curve{X: l.X, Y: l.Low})
		high := f.points(Curve{X: l.X, Y: l.High})
		slices.Reverse(high)
		f.c.FillPolygon(fade(strong(i), 0.22), append(outline, high...))
	}
	for i, l := range q.Lines {
		pts := f.points(l)
		for k := 1; k < len(pts); k++ {
			f.c.StrokeLine2(lineOf(i), pts[k-1].X, pts[k-1].Y, pts[k].X, pts[k].Y)
		}
		every := (len(pts) + mostMarkers - 1) / mostMarkers
		for k := 0; k < len(pts); k += every {
			drawGlyph(&f.c, glyphOf(i), pts[k])
		}
	}
	return nil
}

// points are the curve's places on the canvas, by x.
func (f *panel) points(l Curve) []vg.Point {
	order := make([]int, len(l.X))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return l.X[order[i]] < l.X[order[j]] })
	pts := make([]vg.Point, len(order))
	for i, k := range order {
		pts[i] = vg.Point{X: f.px(l.X[k]), Y: f.py(l.Y[k])}
	}
	return pts
}

// valueAxis is an x axis: ticks stand at the values where these are few.
func valueAxis(label string, values []float64, log bool) axis {
	distinct := slices.Clone(values)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	lo, hi := distinct[0], distinct[len(distinct)-1]
	if log {
		a := logAxis(label, values)
		if len(distinct) <= 10 {
			a.ticks = valueTicks(distinct)
		}
		return a
	}
	a := linearAxis(label, hi, 0.05)
	pad := (hi - lo) * 0.04
	if pad == 0 {
		pad = math.Max(math.Abs(hi)*0.1, 1)
	}
	a.min, a.max = lo-pad, hi+pad
	if lo >= 0 && lo < hi/4 {
		a.min = 0
	}
	if len(distinct) <= 10 || lo < 0 {
		a.ticks = valueTicks(distinct)
	}
	return a
}

func valueTicks(values []float64) []tick {
	ticks := make([]tick, len(values))
	for i, v := range values {
		ticks[i] = tick{v, compact(v)}
	}
	return ticks
}

// heightAxis is a y axis: from zero if linear, so that heights compare as they look.
func heightAxis(label string, values []float64, log bool) axis {
	if log {
		return logAxis(label, values)
	}
	most, least := 0.0, 0.0
	for _, v := range values {
		most, least = max(most, v), min(least, v)
	}
	a := linearAxis(label, most, 0.06)
	if least < 0 {
		a.min = least * 1.08
		for v := range 4 {
			t := least * float64(v+1) / 4
			a.ticks = append(a.ticks, tick{t, compact(t)})
		}
	}
	return a
}
