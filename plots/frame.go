package plots

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	outer   = 10 * vg.Length(1) // margin around the picture
	gap     = 4 * vg.Length(1)  // between things that belong together
	tickLen = 3 * vg.Length(1)
)

// page draws title, note and legend at the top of the canvas and returns what is left for the data.
func (p pen) page(c draw.Canvas, title, note string, entries []entry) (draw.Canvas, error) {
	c = draw.Crop(c, outer, -outer, outer, -outer)
	width := c.Max.X - c.Min.X
	if title != "" {
		s := p.bold(titleSize, black)
		s.YAlign = text.YTop
		c.FillText(s, vg.Point{X: c.Min.X, Y: c.Max.Y}, fit(s, title, width))
		c.Max.Y -= s.FontExtents().Height + 1
	}
	if note != "" {
		s := p.style(noteSize, mid)
		s.YAlign = text.YTop
		c.FillText(s, vg.Point{X: c.Min.X, Y: c.Max.Y}, fit(s, note, width))
		c.Max.Y -= s.FontExtents().Height + 1
	}
	if len(entries) > 0 {
		c.Max.Y -= gap
		c.Max.Y -= p.legend(c, entries) + gap
	}
	c.Max.Y -= gap
	if c.Max.Y-c.Min.Y < 80 {
		return c, fmt.Errorf("title and legend of %d entries leave no room for the data: make the picture larger", len(entries))
	}
	return c, nil
}

// entry is one line of a legend: a filled area or a line with its marker.
type entry struct {
	name  string
	area  *area
	line  *draw.LineStyle
	glyph *draw.GlyphStyle
}

const swatchW, swatchH = 20 * vg.Length(1), 9 * vg.Length(1)

// legend draws the entries in rows below the canvas's top edge and returns the height it took.
func (p pen) legend(c draw.Canvas, entries []entry) vg.Length {
	s := p.style(tickSize, black)
	s.YAlign = text.YCenter
	row := max(s.FontExtents().Height, swatchH) + 2
	width := c.Max.X - c.Min.X
	// Columns of equal width read better than ragged rows.
	cell := vg.Length(0)
	for _, e := range entries {
		cell = max(cell, swatchW+gap+s.Width(e.name)+4*gap)
	}
	cell = min(cell, width)
	columns := max(1, int(width/cell))
	rows := (len(entries) + columns - 1) / columns
	columns = (len(entries) + rows - 1) / rows
	for i, e := range entries {
		x := c.Min.X + vg.Length(i%columns)*cell
		y := c.Max.Y - vg.Length(i/columns)*row - row/2
		if e.area != nil {
			fillRect(&c, vg.Rectangle{Min: vg.Point{X: x, Y: y - swatchH/2}, Max: vg.Point{X: x + swatchW, Y: y + swatchH/2}}, *e.area)
		}
		if e.line != nil {
			c.StrokeLine2(*e.line, x, y, x+swatchW, y)
		}
		if e.glyph != nil {
			drawGlyph(&c, *e.glyph, vg.Point{X: x + swatchW/2, Y: y})
		}
		c.FillText(s, vg.Point{X: x + swatchW + gap, Y: y}, fit(s, e.name, cell-swatchW-gap))
	}
	return vg.Length(rows) * row
}

func drawGlyph(c *draw.Canvas, g draw.GlyphStyle, at vg.Point) {
	c.SetLineDash(nil, 0)
	c.DrawGlyphNoClip(g, at)
}

// panel is the data area of one pair of axes.
type panel struct {
	pen
	c    draw.Canvas // its rectangle is the data area
	x, y axis
}

func (f *panel) px(v float64) vg.Length {
	return f.c.Min.X + vg.Length(f.x.norm(v))*(f.c.Max.X-f.c.Min.X)
}

func (f *panel) py(v float64) vg.Length {
	return f.c.Min.Y + vg.Length(f.y.norm(v))*(f.c.Max.Y-f.c.Min.Y)
}

// yMargin is the width that the labels of a vertical axis need.
func (p pen) yMargin(y axis) vg.Length {
	s := p.style(tickSize, dark)
	w := vg.Length(0)
	for _, t := range y.ticks {
		w = max(w, s.Width(t.label))
	}
	return w + tickLen + gap + p.style(labelSize, black).FontExtents().Height + gap
}

// drawY draws the vertical axis with its grid at the left of the data area.
func (f *panel) drawY() {
	s := f.style(tickSize, dark)
	s.XAlign, s.YAlign = text.XRight, text.YCenter
	for _, t := range f.y.ticks {
		y := f.py(t.at)
		if y < f.c.Min.Y-0.01 || y > f.c.Max.Y+0.01 {
			continue
		}
		if t.label == "" {
			f.c.StrokeLine2(draw.LineStyle{Color: mid, Width: 0.4}, f.c.Min.X-tickLen/2, y, f.c.Min.X, y)
			continue
		}
		f.c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.6}, f.c.Min.X, y, f.c.Max.X, y)
		f.c.StrokeLine2(draw.LineStyle{Color: dark, Width: 0.6}, f.c.Min.X-tickLen, y, f.c.Min.X, y)
		f.c.FillText(s, vg.Point{X: f.c.Min.X - tickLen - 2, Y: y}, t.label)
	}
	l := f.style(labelSize, black)
	l.Rotation, l.XAlign, l.YAlign = math.Pi/2, text.XCenter, text.YTop
	room := f.c.Max.Y - f.c.Min.Y + 4*outer
	f.c.FillText(l, vg.Point{X: f.c.Min.X - f.yMargin(f.y), Y: (f.c.Min.Y + f.c.Max.Y) / 2}, fit(l, f.y.label, room))
}

// xMargin is the height that a horizontal axis with one row of labels needs.
func (p pen) xMargin(label string) vg.Length {
	h := tickLen + p.style(tickSize, dark).FontExtents().Height
	if label != "" {
		h += p.style(labelSize, black).FontExtents().Height + 2
	}
	return h
}

// drawX draws the numeric horizontal axis with its grid below the data area; labels that would touch are left out.
func (f *panel) drawX() {
	write := f.labelX()
	for _, t := range f.x.ticks {
		x := f.px(t.at)
		if x < f.c.Min.X-0.01 || x > f.c.Max.X+0.01 {
			continue
		}
		if t.label == "" {
			f.c.StrokeLine2(draw.LineStyle{Color: mid, Width: 0.4}, x, f.c.Min.Y-tickLen/2, x, f.c.Min.Y)
			continue
		}
		f.c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.6}, x, f.c.Min.Y, x, f.c.Max.Y)
		f.c.StrokeLine2(draw.LineStyle{Color: dark, Width: 0.6}, x, f.c.Min.Y-tickLen, x, f.c.Min.Y)
		write(x, t.label)
	}
	f.xLabel(f.x.label)
}

// labelX writes labels below the data area, from left to right; one that would touch the last is left out.
func (f *panel) labelX() func(x vg.Length, label string) {
	s := f.style(tickSize, dark)
	s.XAlign, s.YAlign = text.XCenter, text.YTop
	last := vg.Length(math.Inf(-1))
	return func(x vg.Length, label string) {
		w := s.Width(label)
		if x-w/2 < last+gap {
			return
		}
		last = x + w/2
		f.c.FillText(s, vg.Point{X: x, Y: f.c.Min.Y - tickLen - 1}, label)
	}
}

func (f *panel) xLabel(label string) {
	l := f.style(labelSize, black)
	l.XAlign, l.YAlign = text.XCenter, text.YTop
	y := f.c.Min.Y - f.xMargin("") - 2
	f.c.FillText(l, vg.Point{X: (f.c.Min.X + f.c.Max.X) / 2, Y: y}, fit(l, label, f.c.Max.X-f.c.Min.X+4*outer))
}

// border draws the left and bottom edge of the data area.
func (f *panel) border() {
	line := draw.LineStyle{Color: dark, Width: 0.8}
	f.c.StrokeLine2(line, f.c.Min.X, f.c.Min.Y, f.c.Max.X, f.c.Min.Y)
	f.c.StrokeLine2(line, f.c.Min.X, f.c.Min.Y, f.c.Min.X, f.c.Max.Y)
}

// plate writes a text on a white plate, so that it can be read over lines and hatching.
func plate(c *draw.Canvas, s text.Style, at vg.Point, txt string, ink color.Color) {
	s.Color = ink
	r := s.Rectangle(txt).Add(at)
	r.Min.X -= 1.5
	r.Max.X += 1.5
	c.SetColor(fade(white, 0.85))
	c.Fill(r.Path())
	c.FillText(s, at, txt)
}
