package plots

import (
	"errors"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// HeatMap shows a number over two others as coloured cells with contour lines and a colour bar. The cells are of equal
// size, whatever the distances of the axis values.
type HeatMap struct {
	Title, Note            string
	XLabel, YLabel, ZLabel string // with units
	X, Y                   []float64
	XNames, YNames         []string    // instead of the numbers, where given
	Z                      [][]float64 // [y][x]; NaN: no cell
	Center                 float64     // two-sided colours around this value (1 for a speed-up); 0: from low to high
	Contours               []float64
}

// Heading is the title.
func (h *HeatMap) Heading() string { return h.Title }

func (h *HeatMap) check() (lo, hi float64, err error) {
	if len(h.X) == 0 || len(h.Y) == 0 || len(h.Z) != len(h.Y) {
		return 0, 0, errors.New("heat map: no cells, or not one row for each y")
	}
	if h.XNames != nil && len(h.XNames) != len(h.X) || h.YNames != nil && len(h.YNames) != len(h.Y) {
		return 0, 0, errors.New("heat map: not one name for each column and row")
	}
	lo, hi = math.Inf(1), math.Inf(-1)
	for i, row := range h.Z {
		if len(row) != len(h.X) {
			return 0, 0, fmt.Errorf("heat map: %d cells in row %d for %d columns", len(row), i, len(h.X))
		}
		for _, z := range row {
			if math.IsInf(z, 0) {
				return 0, 0, fmt.Errorf("heat map: a value in row %d is not finite", i)
			}
			if !math.IsNaN(z) {
				lo, hi = min(lo, z), max(hi, z)
			}
		}
	}
	if lo > hi {
		return 0, 0, errors.New("heat map: no values")
	}
	if h.Center != 0 {
		lo, hi = min(lo, h.Center), max(hi, h.Center)
	}
	if hi == lo {
		lo, hi = lo-0.5, hi+0.5
	}
	return lo, hi, nil
}

// Colour scales: from low to high (dark blue, green, yellow) and two-sided (blue, near white, orange).
var (
	sequential = []color.NRGBA{rgb(0x2D1E5F), rgb(0x30588C), rgb(0x218F8C), rgb(0x5DC863), rgb(0xF6E526)}
	below      = []color.NRGBA{rgb(0x08407E), rgb(0x5B9BD5), rgb(0xF4F4F0)}
	above      = []color.NRGBA{rgb(0xF4F4F0), rgb(0xF2A65A), rgb(0xA63603)}
)

func blend(scale []color.NRGBA, x float64) color.NRGBA {
	x = math.Max(0, math.Min(1, x)) * float64(len(scale)-1)
	i := min(int(x), len(scale)-2)
	f := x - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-f) + float64(b)*f)) }
	a, b := scale[i], scale[i+1]
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// colour is the colour of a value. Two-sided scales are symmetric, so that equal distances from the centre look alike.
func (h *HeatMap) colour(z, lo, hi float64) color.NRGBA {
	if h.Center == 0 {
		return blend(sequential, (z-lo)/(hi-lo))
	}
	reach := math.Max(hi-h.Center, h.Center-lo)
	if z < h.Center {
		return blend(below, 1-(h.Center-z)/reach)
	}
	return blend(above, (z-h.Center)/reach)
}

const (
	barWidth  = 16 * vg.Length(1)
	barPieces = 64
)

// Draw draws the map.
func (h *HeatMap) Draw(c draw.Canvas) error {
	lo, hi, err := h.check()
	if err != nil {
		return err
	}
	p := newPen()
	c, err = p.page(c, h.Title, h.Note, nil)
	if err != nil {
		return err
	}
	xs, ys := cellTicks(h.X, h.XNames), cellTicks(h.Y, h.YNames)
	z := axis{label: h.ZLabel, scale: scale{lo, hi, false}}
	step := roundStep((hi - lo) / 5)
	for v := math.Ceil(lo/step) * step; v <= hi+step*1e-9; v += step {
		z.ticks = append(z.ticks, tick{v, compact(v)})
	}
	y := axis{label: h.YLabel, scale: scale{-0.5, float64(len(h.Y)) - 0.5, false}, ticks: ys}
	x := axis{label: h.XLabel, scale: scale{-0.5, float64(len(h.X)) - 0.5, false}, ticks: xs}
	right := barWidth + 4*gap + p.yMargin(z)
	f := &panel{pen: p, c: draw.Crop(c, p.yMargin(y), -right, p.xMargin(x.label), 0), x: x, y: y}
	numbers := p.style(valueSize, black)
	numbers.XAlign, numbers.YAlign = text.XCenter, text.YCenter
	w, t := (f.c.Max.X-f.c.Min.X)/vg.Length(len(h.X)), (f.c.Max.Y-f.c.Min.Y)/vg.Length(len(h.Y))
	fits := t > numbers.FontExtents().Height+2
	for _, row := range h.Z {
		for _, v := range row {
			fits = fits && (math.IsNaN(v) || numbers.Width(short(v))+2 < w)
		}
	}
	cell := func(i, j int) vg.Rectangle {
		return vg.Rectangle{Min: vg.Point{X: f.px(float64(j) - 0.5), Y: f.py(float64(i) - 0.5)}, Max: vg.Point{X: f.px(float64(j) + 0.5), Y: f.py(float64(i) + 0.5)}}
	}
	for i, row := range h.Z {
		for j, v := range row {
			if math.IsNaN(v) {
				hatch(&f.c, cell(i, j), area{white, rising})
				continue
			}
			f.c.SetColor(h.colour(v, lo, hi))
			f.c.Fill(cell(i, j).Path())
		}
	}
	f.contours(h)
	// The numbers stand on plates of their cell's colour, so that a line through the cell does not cross them.
	for i, row := range h.Z {
		for j, v := range row {
			if !fits || math.IsNaN(v) {
				continue
			}
			fill := h.colour(v, lo, hi)
			s := numbers
			if luminance(fill) < 0.28 {
				s.Color = white
			}
			r := cell(i, j)
			at := vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: (r.Min.Y + r.Max.Y) / 2}
			half := vg.Point{X: s.Width(short(v))/2 + 3, Y: 0.7 * s.FontExtents().Height}
			back := vg.Rectangle{Min: at.Sub(half), Max: at.Add(half)}
			f.c.SetColor(fill)
			f.c.Fill(back.Path())
			f.c.FillText(s, at, short(v))
		}
	}
	f.drawTicks()
	f.border()
	f.contourLabels(h)
	f.colourBar(h, z, lo, hi)
	return nil
}

// short prints a cell's value with three digits.
func short(v float64) string { return compact(math.Round(v*1000) / 1000) }

// cellTicks stand at the cells' indices.
func cellTicks(values []float64, names []string) []tick {
	ticks := make([]tick, len(values))
	for i, v := range values {
		ticks[i] = tick{float64(i), compact(v)}
		if names != nil {
			ticks[i].label = names[i]
		}
	}
	return ticks
}

// drawTicks draws both axes without grid; labels that would touch are left out.
func (f *panel) drawTicks() {
	write := f.labelX()
	for _, t := range f.x.ticks {
		write(f.px(t.at), t.label)
	}
	f.xLabel(f.x.label)
	s := f.style(tickSize, dark)
	s.XAlign, s.YAlign = text.XRight, text.YCenter
	last := vg.Length(math.Inf(-1))
	for _, t := range f.y.ticks {
		y := f.py(t.at)
		if y < last+s.FontExtents().Height {
			continue
		}
		last = y
		f.c.FillText(s, vg.Point{X: f.c.Min.X - tickLen - 2, Y: y}, t.label)
	}
	l := f.style(labelSize, black)
	l.Rotation, l.XAlign, l.YAlign = math.Pi/2, text.XCenter, text.YTop
	f.c.FillText(l, vg.Point{X: f.c.Min.X - f.yMargin(f.y), Y: (f.c.Min.Y + f.c.Max.Y) / 2}, fit(l, f.y.label, f.c.Max.Y-f.c.Min.Y+4*outer))
}

// colourBar draws the scale at the right, with a line at every contour.
func (f *panel) colourBar(h *HeatMap, z axis, lo, hi float64) {
	b := *f
	b.y = z
	b.c.Min.X = f.c.Max.X + 4*gap
	b.c.Max.X = b.c.Min.X + barWidth
	for i := range barPieces {
		v := lo + (hi-lo)*(float64(i)+0.5)/barPieces
		b.c.SetColor(h.colour(v, lo, hi))
		r := vg.Rectangle{Min: vg.Point{X: b.c.Min.X, Y: b.py(lo + (hi-lo)*float64(i)/barPieces)}, Max: vg.Point{X: b.c.Max.X, Y: b.py(lo+(hi-lo)*float64(i+1)/barPieces) + 0.3}}
		b.c.Fill(r.Path())
	}
	b.c.StrokeLines(draw.LineStyle{Color: dark, Width: 0.8}, []vg.Point{b.c.Min, {X: b.c.Max.X, Y: b.c.Min.Y}, b.c.Max, {X: b.c.Min.X, Y: b.c.Max.Y}, b.c.Min})
	for k, v := range h.Contours {
		if v > lo && v < hi {
			y := b.py(v)
			b.c.StrokeLine2(contourLine(k), b.c.Min.X, y, b.c.Max.X, y)
		}
	}
	s := f.style(tickSize, dark)
	s.XAlign, s.YAlign = text.XLeft, text.YCenter
	for _, t := range z.ticks {
		y := b.py(t.at)
		b.c.StrokeLine2(draw.LineStyle{Color: dark, Width: 0.6}, b.c.Max.X, y, b.c.Max.X+tickLen, y)
		b.c.FillText(s, vg.Point{X: b.c.Max.X + tickLen + 2, Y: y}, t.label)
	}
	l := f.style(labelSize, black)
	l.Rotation, l.XAlign, l.YAlign = math.Pi/2, text.XCenter, text.YBottom
	b.c.FillText(l, vg.Point{X: b.c.Max.X + f.yMargin(z), Y: (b.c.Min.Y + b.c.Max.Y) / 2}, fit(l, z.label, b.c.Max.Y-b.c.Min.Y+4*outer))
}

func contourLine(k int) draw.LineStyle {
	return draw.LineStyle{Color: black, Width: 1.6, Dashes: dashes[k%len(dashes)]}
}

// pieces calls fn with the line pieces of a level.
func (f *panel) pieces(h *HeatMap, level float64, fn func(a, b vg.Point)) {
	for _, s := range h.level(level) {
		fn(vg.Point{X: f.px(s[0]), Y: f.py(s[1])}, vg.Point{X: f.px(s[2]), Y: f.py(s[3])})
	}
}

// level gives the line pieces (x1, y1, x2, y2 in cells, whole numbers at their centres) of a level, by marching squares between the centres
// with linear interpolation. Between the outermost centres and the border the value is that of the centre, so that lines run out to the
// border. A square with a missing corner is left out.
func (h *HeatMap) level(level float64) [][4]float64 {
	// at is the place of node k of n+2: the centres, and the borders before and behind them; of is its cell.
	at := func(k, n int) float64 { return max(-0.5, min(float64(k-1), float64(n)-0.5)) }
	of := func(k, n int) int { return max(0, min(k-1, n-1)) }
	nx, ny := len(h.X), len(h.Y)
	var out [][4]float64
	for i := range ny + 1 {
		low, high := h.Z[of(i, ny)], h.Z[of(i+1, ny)]
		y, height := at(i, ny), at(i+1, ny)-at(i, ny)
		for j := range nx + 1 {
			a, b := of(j, nx), of(j+1, nx)
			x, width := at(j, nx), at(j+1, nx)-at(j, nx)
			for _, s := range crossings(low[a], low[b], high[b], high[a], level) {
				out = append(out, [4]float64{x + width*s[0], y + height*s[1], x + width*s[2], y + height*s[3]})
			}
		}
	}
	return out
}

// contours draws the lines of equal value.
func (f *panel) contours(h *HeatMap) {
	for k, level := range h.Contours {
		f.pieces(h, level, func(a, b vg.Point) {
			f.c.StrokeLine2(draw.LineStyle{Color: fade(white, 0.7), Width: 3}, a.X, a.Y, b.X, b.Y)
			f.c.StrokeLine2(contourLine(k), a.X, a.Y, b.X, b.Y)
		})
	}
}

// contourLabels writes each line's value where the line is farthest from the numbers of the cells and from the other labels; a line without such a
// place keeps its mark in the colour bar.
func (f *panel) contourLabels(h *HeatMap) {
	var taken []vg.Point
	for i, row := range h.Z {
		for j := range row {
			taken = append(taken, vg.Point{X: f.px(float64(j)), Y: f.py(float64(i))})
		}
	}
	s := f.style(valueSize, black)
	s.XAlign, s.YAlign = text.XCenter, text.YCenter
	for _, level := range h.Contours {
		txt := compact(level)
		reach := vg.Point{X: s.Width(txt) + 4, Y: s.FontExtents().Height}
		var at vg.Point
		best := 1.0 // in units of the size of two texts side by side or one above the other
		f.pieces(h, level, func(a, b vg.Point) {
			for _, p := range []vg.Point{{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2}, a, b} {
				if p.X < f.c.Min.X+reach.X || p.X > f.c.Max.X-reach.X || p.Y < f.c.Min.Y+reach.Y || p.Y > f.c.Max.Y-reach.Y {
					continue // the border would cut it
				}
				near := math.Inf(1)
				for _, t := range taken {
					near = min(near, max(math.Abs(float64((p.X-t.X)/reach.X)), math.Abs(float64((p.Y-t.Y)/reach.Y))))
				}
				if near > best+1e-9 {
					at, best = p, near
				}
			}
		})
		if best > 1 {
			plate(&f.c, s, at, txt, black)
			taken = append(taken, at)
		}
	}
}

// crossings are the line pieces (x1, y1, x2, y2 within the unit square) at which the bilinear surface over the corners
// crosses the level; corners go around from the lower left.
func crossings(a, b, c, d, level float64) [][4]float64 {
	if math.IsNaN(a + b + c + d) {
		return nil
	}
	corner := [4]float64{a, b, c, d}
	place := [4][2]float64{{0, 0}, {1, 0}, {1, 1}, {0, 1}}
	var pts [][2]float64
	for i := range corner {
		u, v := corner[i], corner[(i+1)%4]
		if (u < level) == (v < level) {
			continue
		}
		t := (level - u) / (v - u)
		p, q := place[i], place[(i+1)%4]
		pts = append(pts, [2]float64{p[0] + t*(q[0]-p[0]), p[1] + t*(q[1]-p[1])})
	}
	switch len(pts) {
	case 2:
		return [][4]float64{{pts[0][0], pts[0][1], pts[1][0], pts[1][1]}}
	case 4:
		// A saddle: the value in the middle says which corners belong together.
		if ((a+b+c+d)/4 < level) == (a < level) {
			return [][4]float64{{pts[0][0], pts[0][1], pts[1][0], pts[1][1]}, {pts[2][0], pts[2][1], pts[3][0], pts[3][1]}}
		}
		return [][4]float64{{pts[3][0], pts[3][1], pts[0][0], pts[0][1]}, {pts[1][0], pts[1][1], pts[2][0], pts[2][1]}}
	}
	return nil
}
