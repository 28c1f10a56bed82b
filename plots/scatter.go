package plots

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Scatter compares predicted with measured values on two equal logarithmic axes, with the line of agreement and
// lines at a relative error.
type Scatter struct {
	Title, Note string
	Unit        string  // "cycles": of both axes
	Error       float64 // relative error of the guide lines, 0.1 for ±10 %; 0: none
	Clouds      []Cloud
}

// Cloud is one class of points.
type Cloud struct {
	Name                string // with its error, if wanted: "IMAD (median 3 %)"
	Measured, Predicted []float64
}

// Heading is the title.
func (s *Scatter) Heading() string { return s.Title }

func (s *Scatter) check() (all []float64, err error) {
	if len(s.Clouds) > maxSeries {
		return nil, fmt.Errorf("scatter: %d classes cannot be told apart; at most %d", len(s.Clouds), maxSeries)
	}
	for _, c := range s.Clouds {
		if len(c.Measured) != len(c.Predicted) {
			return nil, fmt.Errorf("scatter: %d measured and %d predicted values of %s", len(c.Measured), len(c.Predicted), c.Name)
		}
		if err := checkLog("scatter, "+c.Name, append(append([]float64{}, c.Measured...), c.Predicted...)...); err != nil {
			return nil, err
		}
		all = append(append(all, c.Measured...), c.Predicted...)
	}
	if len(all) == 0 {
		return nil, errors.New("scatter: no points")
	}
	if s.Error < 0 || s.Error >= 1 {
		return nil, fmt.Errorf("scatter: guide lines at a relative error of %g", s.Error)
	}
	return all, nil
}

// Draw draws the points. Smaller clouds are drawn last, on top.
func (s *Scatter) Draw(c draw.Canvas) error {
	all, err := s.check()
	if err != nil {
		return err
	}
	p := newPen()
	var entries []entry
	for i, cl := range s.Clouds {
		g := glyphOf(i)
		entries = append(entries, entry{name: cl.Name, glyph: &g})
	}
	c, err = p.page(c, s.Title, s.Note, entries)
	if err != nil {
		return err
	}
	f := &panel{pen: p, x: logAxis("measured ("+s.Unit+")", all), y: logAxis("predicted ("+s.Unit+")", all)}
	f.c = draw.Crop(c, p.yMargin(f.y), -outer, p.xMargin(f.x.label), 0)
	f.drawY()
	f.drawX()
	f.border()
	f.guide(1, draw.LineStyle{Color: dark, Width: 1})
	if s.Error > 0 {
		side := draw.LineStyle{Color: mid, Width: 0.8, Dashes: []vg.Length{4, 3}}
		f.guide(1+s.Error, side)
		f.guide(1-s.Error, side)
		t := f.style(valueSize, mid)
		t.XAlign, t.YAlign = text.XRight, text.YBottom
		plate(&f.c, t, vg.Point{X: f.c.Max.X - 2, Y: f.c.Min.Y + 3}, fmt.Sprintf("line: equal; dashed: ±%.0f %%", s.Error*100), mid)
	}
	for _, i := range bySize(s.Clouds) {
		g := glyphOf(i)
		g.Radius *= 0.8
		for k := range s.Clouds[i].Measured {
			drawGlyph(&f.c, g, vg.Point{X: f.px(s.Clouds[i].Measured[k]), Y: f.py(s.Clouds[i].Predicted[k])})
		}
	}
	return nil
}

// guide draws y = factor * x within the data area.
func (f *panel) guide(factor float64, line draw.LineStyle) {
	lo := max(f.x.min, f.y.min/factor)
	hi := min(f.x.max, f.y.max/factor)
	if lo < hi {
		f.c.StrokeLine2(line, f.px(lo), f.py(lo*factor), f.px(hi), f.py(hi*factor))
	}
}

// bySize orders the clouds from the largest to the smallest.
func bySize(clouds []Cloud) []int {
	order := make([]int, len(clouds))
	for i := range order {
		order[i] = i
		for k := i; k > 0 && len(clouds[order[k-1]].Measured) < len(clouds[order[k]].Measured); k-- {
			order[k-1], order[k] = order[k], order[k-1]
		}
	}
	return order
}
