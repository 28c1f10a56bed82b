package plots

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"sort"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Roofline shows runs by integer operations per byte of memory traffic and operations per cycle, under the ceilings of
// issue and pipes and the slopes of bandwidths. An operation is one thread's integer instruction.
type Roofline struct {
	Title, Note string
	XLabel      string // "integer operations per byte of DRAM traffic"
	YLabel      string // "integer operations per cycle per SM"
	Ceilings    []Ceiling
	Slopes      []Slope
	Points      []RoofPoint
}

// Ceiling is a rate that no traffic changes: the issue of four schedulers is 128 operations per cycle.
type Ceiling struct {
	Name string
	Ops  float64 // operations per cycle per SM
}

// Slope is a bandwidth.
type Slope struct {
	Name  string
	Bytes float64 // bytes per cycle per SM
}

// RoofPoint is one run. Intensity is operations per byte; +Inf means no traffic, drawn at the right edge.
type RoofPoint struct {
	Name      string
	Intensity float64
	Ops       float64 // operations per cycle per SM
}

// Heading is the title.
func (r *Roofline) Heading() string { return r.Title }

func (r *Roofline) check() error {
	if len(r.Points) == 0 || len(r.Ceilings) == 0 || len(r.Slopes) == 0 {
		return errors.New("roofline: it needs a point, a ceiling and a bandwidth at least")
	}
	if len(r.Points) > maxSeries {
		return fmt.Errorf("roofline: %d points cannot be told apart; at most %d", len(r.Points), maxSeries)
	}
	for _, c := range r.Ceilings {
		if err := checkLog("roofline, ceiling "+c.Name, c.Ops); err != nil {
			return err
		}
	}
	for _, s := range r.Slopes {
		if err := checkLog("roofline, bandwidth "+s.Name, s.Bytes); err != nil {
			return err
		}
	}
	for _, p := range r.Points {
		if err := checkLog("roofline, rate of "+p.Name, p.Ops); err != nil {
			return err
		}
		if !(p.Intensity > 0) {
			return fmt.Errorf("roofline, operations per byte of %s: %g", p.Name, p.Intensity)
		}
	}
	return nil
}

// axes cover all points and the corners where slopes meet ceilings.
func (r *Roofline) axes() (x, y axis) {
	var xs, ys []float64
	for _, c := range r.Ceilings {
		ys = append(ys, c.Ops)
		for _, s := range r.Slopes {
			xs = append(xs, c.Ops/s.Bytes)
		}
	}
	for _, p := range r.Points {
		ys = append(ys, p.Ops)
		if !math.IsInf(p.Intensity, 0) {
			xs = append(xs, p.Intensity)
		}
	}
	spread := func(v []float64, down, up float64) []float64 {
		lo, hi := v[0], v[0]
		for _, w := range v {
			lo, hi = min(lo, w), max(hi, w)
		}
		return []float64{lo / down, hi * up}
	}
	return logAxis(r.XLabel, spread(xs, 3, 6)), logAxis(r.YLabel, spread(ys, 2.5, 1.6))
}

// Draw draws the roofline.
func (r *Roofline) Draw(c draw.Canvas) error {
	if err := r.check(); err != nil {
		return err
	}
	p := newPen()
	direct := len(r.Points) <= 10 // more names would cover each other: a legend then
	var entries []entry
	if !direct {
		for i, pt := range r.Points {
			g := glyphOf(i)
			entries = append(entries, entry{name: pt.Name, glyph: &g})
		}
	}
	c, err := p.page(c, r.Title, r.Note, entries)
	if err != nil {
		return err
	}
	f := &panel{pen: p}
	f.x, f.y = r.axes()
	f.c = draw.Crop(c, p.yMargin(f.y), -outer, p.xMargin(r.XLabel), 0)
	f.drawY()
	f.drawX()
	f.border()
	var at []vg.Point
	var taken []vg.Rectangle
	for _, pt := range r.Points {
		m := vg.Point{X: f.px(math.Min(pt.Intensity, f.x.max/1.3)), Y: f.py(pt.Ops)}
		at = append(at, m)
		taken = append(taken, square(m, 5))
	}
	taken = r.roofs(f, taken)
	for i, pt := range r.Points {
		if math.IsInf(pt.Intensity, 1) {
			f.c.StrokeLine2(draw.LineStyle{Color: strong(i), Width: 1}, at[i].X, at[i].Y, f.c.Max.X, at[i].Y)
		}
		drawGlyph(&f.c, glyphOf(i), at[i])
	}
	if !direct {
		return nil
	}
	for i, pt := range r.Points {
		name := pt.Name
		if math.IsInf(pt.Intensity, 1) {
			name += " (no traffic)"
		}
		taken = append(taken, f.callout(at[i], name, strong(i), taken))
	}
	return nil
}

func square(m vg.Point, half vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: m.X - half, Y: m.Y - half}, Max: vg.Point{X: m.X + half, Y: m.Y + half}}
}

// roofs draws slopes and ceilings with their names, off the places taken, and adds lines and names to these.
func (r *Roofline) roofs(f *panel, taken []vg.Rectangle) []vg.Rectangle {
	ceilings := mergeCeilings(r.Ceilings)
	top := ceilings[len(ceilings)-1].Ops
	widest := 0.0
	for _, s := range r.Slopes {
		widest = max(widest, s.Bytes)
	}
	s := f.style(valueSize+0.5, black)
	for i, sl := range r.Slopes {
		line := draw.LineStyle{Color: dark, Width: 1.1, Dashes: dashes[i%len(dashes)]}
		x0 := math.Max(f.x.min, f.y.min/sl.Bytes)
		x1 := math.Min(f.x.max, top/sl.Bytes)
		if x0 >= x1 {
			continue
		}
		a, b := vg.Point{X: f.px(x0), Y: f.py(x0 * sl.Bytes)}, vg.Point{X: f.px(x1), Y: f.py(x1 * sl.Bytes)}
		f.c.StrokeLine2(line, a.X, a.Y, b.X, b.Y)
		t := s
		t.Rotation = math.Atan2(float64(b.Y-a.Y), float64(b.X-a.X))
		label := fmt.Sprintf("%s: %s B/cycle", sl.Name, compact(sl.Bytes))
		sin, cos := vg.Length(math.Sin(t.Rotation)), vg.Length(math.Cos(t.Rotation))
		// Above the line, a little up from its lower end.
		at := vg.Point{X: a.X + 10*cos - 4*sin, Y: a.Y + 10*sin + 4*cos}
		f.c.FillText(t, at, label)
		// The slanted name as a chain of squares, so that nothing is put upon it.
		for d := vg.Length(0); d < t.Width(label); d += 8 {
			taken = append(taken, square(vg.Point{X: at.X + d*cos - 4*sin, Y: at.Y + d*sin + 4*cos}, 5))
		}
		for x := a.X; x < b.X; x += 4 { // and the line
			taken = append(taken, square(vg.Point{X: x, Y: a.Y + (x-a.X)*sin/cos}, 1.5))
		}
	}
	for _, c := range ceilings {
		x0, y := f.px(math.Max(f.x.min, c.Ops/widest)), f.py(c.Ops)
		f.c.StrokeLine2(draw.LineStyle{Color: dark, Width: 1.1}, x0, y, f.c.Max.X, y)
		taken = append(taken, vg.Rectangle{Min: vg.Point{X: x0, Y: y - 0.7}, Max: vg.Point{X: f.c.Max.X, Y: y + 0.7}})
	}
	s.XAlign = text.XRight
	h := s.FontExtents().Height
	for i := len(ceilings) - 1; i >= 0; i-- {
		c := ceilings[i]
		label := c.Name + ": " + compact(c.Ops)
		w := s.Width(label)
		var box vg.Rectangle
		// Above the line's right end, or below it, or further left where other lines are close.
	places:
		for right := f.c.Max.X - 2; right > f.c.Min.X+w; right -= 20 {
			for _, dy := range []vg.Length{h/2 + 1.5, -h/2 - 1.5} {
				m := f.py(c.Ops) + dy
				box = vg.Rectangle{Min: vg.Point{X: right - w, Y: m - h/2}, Max: vg.Point{X: right, Y: m + h/2}}
				if !overlaps(box, taken) {
					break places
				}
			}
		}
		s.YAlign = text.YCenter
		f.c.FillText(s, vg.Point{X: box.Max.X, Y: (box.Min.Y + box.Max.Y) / 2}, label)
		taken = append(taken, box)
	}
	return taken
}

// mergeCeilings sorts by height and joins the names of equal ones.
func mergeCeilings(list []Ceiling) []Ceiling {
	sorted := append([]Ceiling{}, list...)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Ops < sorted[j].Ops })
	var out []Ceiling
	for _, c := range sorted {
		if n := len(out); n > 0 && out[n-1].Ops == c.Ops {
			out[n-1].Name += ", " + c.Name
			continue
		}
		out = append(out, c)
	}
	return out
}

func overlaps(r vg.Rectangle, taken []vg.Rectangle) bool {
	for _, t := range taken {
		if r.Min.X < t.Max.X && t.Min.X < r.Max.X && r.Min.Y < t.Max.Y && t.Min.Y < r.Max.Y {
			return true
		}
	}
	return false
}

// callout writes a name beside a point, where it covers nothing, with a leader if it stands off. It returns its place.
func (f *panel) callout(at vg.Point, name string, ink color.NRGBA, taken []vg.Rectangle) vg.Rectangle {
	s := f.style(valueSize, black)
	w, h := s.Width(name), s.FontExtents().Height
	within := f.c.Rectangle
	var best vg.Rectangle
	for _, d := range []vg.Length{6, 16, 28, 42, 58, 76} {
		for _, dir := range []vg.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}, {X: 0.8, Y: 0.8}, {X: 0.8, Y: -0.8}, {X: -0.8, Y: 0.8}, {X: -0.8, Y: -0.8}} {
			tip := vg.Point{X: at.X + dir.X*d, Y: at.Y + dir.Y*d}
			r := vg.Rectangle{Min: vg.Point{X: tip.X - w/2, Y: tip.Y - h/2}}
			switch {
			case dir.X > 0:
				r.Min.X = tip.X
			case dir.X < 0:
				r.Min.X = tip.X - w
			case dir.Y > 0:
				r.Min.Y = tip.Y
			default:
				r.Min.Y = tip.Y - h
			}
			r.Max = vg.Point{X: r.Min.X + w, Y: r.Min.Y + h}
			if best == (vg.Rectangle{}) {
				best = r
			}
			if r.Min.X < within.Min.X || r.Max.X > within.Max.X || r.Min.Y < within.Min.Y || r.Max.Y > within.Max.Y || overlaps(r, taken) {
				continue
			}
			if d > 6 {
				f.c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.6}, at.X, at.Y, tip.X, tip.Y)
			}
			f.name(s, r, name)
			return r
		}
	}
	f.name(s, best, name)
	return best
}

func (f *panel) name(s text.Style, r vg.Rectangle, name string) {
	s.YAlign = text.YCenter
	plate(&f.c, s, vg.Point{X: r.Min.X, Y: (r.Min.Y + r.Max.Y) / 2}, name, black)
}
