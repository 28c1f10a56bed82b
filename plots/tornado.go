package plots

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Tornado shows what a step down and a step up of each of many parameters do to a number: a pair of horizontal bars
// from the line of no change, the strongest parameter on top.
type Tornado struct {
	Title, Note string
	XLabel      string // "change of the cycles (%)"
	Rows        []TornadoRow
}

// TornadoRow is one parameter.
type TornadoRow struct {
	Name               string
	Down, Up           float64 // change; NaN: not tried
	DownLabel, UpLabel string  // the values tried: "4", "16"
}

// Heading is the title.
func (t *Tornado) Heading() string { return t.Title }

// Draw draws the bars.
func (t *Tornado) Draw(c draw.Canvas) error {
	if len(t.Rows) == 0 {
		return errors.New("tornado: no parameters")
	}
	lo, hi := 0.0, 0.0
	for _, r := range t.Rows {
		for _, v := range []float64{r.Down, r.Up} {
			if math.IsInf(v, 0) {
				return fmt.Errorf("tornado: the change by %s is not finite", r.Name)
			}
			if !math.IsNaN(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	if lo == hi {
		lo, hi = -1, 1
	}
	p := newPen()
	down, up := area{palette[0], rising}, area{palette[1], solid}
	c, err := p.page(c, t.Title, t.Note, []entry{{name: "one step down", area: &down}, {name: "one step up", area: &up}})
	if err != nil {
		return err
	}
	names := p.style(tickSize, black)
	names.XAlign, names.YAlign = text.XRight, text.YCenter
	left := vg.Length(0)
	for _, r := range t.Rows {
		left = max(left, names.Width(r.Name))
	}
	left = min(left, (c.Max.X-c.Min.X)*0.4)
	pad := (hi - lo) * 0.14
	x := axis{label: t.XLabel, scale: scale{lo - pad, hi + pad, false}}
	step := roundStep((hi - lo) / 6)
	for v := math.Ceil(x.min/step) * step; v <= x.max; v += step {
		x.ticks = append(x.ticks, tick{v, compact(math.Round(v/step) * step)})
	}
	f := &panel{pen: p, c: draw.Crop(c, left+2*gap, -outer, p.xMargin(x.label), 0), x: x}
	f.drawX()
	slot := (f.c.Max.Y - f.c.Min.Y) / vg.Length(len(t.Rows))
	height := min(slot*0.4, 14)
	values := p.style(valueSize, dark)
	for i, r := range t.Rows {
		y := f.c.Max.Y - (vg.Length(i)+0.5)*slot
		f.c.FillText(names, vg.Point{X: f.c.Min.X - 2*gap, Y: y}, fit(names, r.Name, left))
		f.tornadoBar(r.Down, r.DownLabel, y, height, down, values)
		f.tornadoBar(r.Up, r.UpLabel, y-height, height, up, values)
	}
	f.c.StrokeLine2(draw.LineStyle{Color: black, Width: 1}, f.px(0), f.c.Min.Y, f.px(0), f.c.Max.Y)
	return nil
}

// tornadoBar draws one bar above y with its label at the far end.
func (f *panel) tornadoBar(v float64, label string, y, height vg.Length, a area, s text.Style) {
	if math.IsNaN(v) {
		return
	}
	x0, x1 := f.px(math.Min(0, v)), f.px(math.Max(0, v))
	fillRect(&f.c, vg.Rectangle{Min: vg.Point{X: x0, Y: y}, Max: vg.Point{X: x1, Y: y + height}}, a)
	if height < s.Font.Size*0.8 {
		return
	}
	s.YAlign = text.YCenter
	at := vg.Point{X: x1 + 3, Y: y + height/2}
	if v < 0 {
		s.XAlign, at.X = text.XRight, x0-3
	}
	f.c.FillText(s, at, label)
}
