package plots

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars are grouped vertical bars: one group per column (architecture, pipe), one bar per series (variant, run). With a
// baseline a second panel below shows each bar divided by the baseline's bar of its group.
type Bars struct {
	Title, Note string
	YLabel      string // with unit: "throughput (million columns/s)"
	XLabel      string
	Groups      []string
	Series      []string
	Values      [][]float64 // [series][group]; NaN: no bar
	Baseline    string      // a series, or "" for no second panel
	Limit       float64     // a dashed line across, 0: none
	LimitLabel  string
	Log         bool // logarithmic axis, from half the lowest value; all values above 0, without baseline
}

// Heading is the title.
func (b *Bars) Heading() string { return b.Title }

func (b *Bars) check() (most float64, err error) {
	if len(b.Groups) == 0 || len(b.Series) == 0 {
		return 0, errors.New("bars: no data")
	}
	if len(b.Series) > maxSeries {
		return 0, fmt.Errorf("bars: %d series cannot be told apart; at most %d", len(b.Series), maxSeries)
	}
	if len(b.Values) != len(b.Series) {
		return 0, fmt.Errorf("bars: %d rows of values for %d series", len(b.Values), len(b.Series))
	}
	if b.Log && b.Baseline != "" {
		return 0, errors.New("bars: a logarithmic axis has no panel of speed-ups")
	}
	most = b.Limit
	for i, row := range b.Values {
		if len(row) != len(b.Groups) {
			return 0, fmt.Errorf("bars: %d values of %s for %d groups", len(row), b.Series[i], len(b.Groups))
		}
		for j, v := range row {
			if math.IsInf(v, 0) || v < 0 {
				return 0, fmt.Errorf("bars: value %g of %s, %s", v, b.Series[i], b.Groups[j])
			}
			if b.Log && v == 0 {
				return 0, checkLog("bars", v)
			}
			if v > most { // false for NaN
				most = v
			}
		}
	}
	return most, nil
}

// speedups divides by the baseline; NaN where either is missing or the baseline is zero.
func (b *Bars) speedups() ([][]float64, float64, error) {
	base := -1
	for i, s := range b.Series {
		if s == b.Baseline {
			base = i
		}
	}
	if base < 0 {
		return nil, 0, fmt.Errorf("bars: the baseline %q is no series", b.Baseline)
	}
	out := make([][]float64, len(b.Series))
	most := 1.0
	for i := range b.Series {
		out[i] = make([]float64, len(b.Groups))
		for j := range b.Groups {
			out[i][j] = math.NaN()
			if d := b.Values[base][j]; d > 0 {
				out[i][j] = b.Values[i][j] / d
			}
			if out[i][j] > most {
				most = out[i][j]
			}
		}
	}
	return out, most, nil
}

// Draw draws the bars.
func (b *Bars) Draw(c draw.Canvas) error {
	most, err := b.check()
	if err != nil {
		return err
	}
	p := newPen()
	var entries []entry
	for i, s := range b.Series {
		a := areaOf(i)
		entries = append(entries, entry{name: s, area: &a})
	}
	c, err = p.page(c, b.Title, b.Note, entries)
	if err != nil {
		return err
	}
	var ratios [][]float64
	var top float64
	if b.Baseline != "" {
		if ratios, top, err = b.speedups(); err != nil {
			return err
		}
	}
	// The vertical axes depend on the height, the height on the names below, these on the width, and that on the
	// vertical axes; the widest tick labels are known beforehand up to a digit.
	left := p.yMargin(b.axis(most, 0.1)) + gap
	right := vg.Length(0)
	if b.LimitLabel != "" {
		right = p.style(valueSize, dark).Width(b.LimitLabel) + gap
	}
	left, bottom := p.groupMargins(b, c.Max.X-c.Min.X, left, right)
	width := min((c.Max.X-c.Min.X-left-right)/vg.Length(len(b.Groups))*slot/vg.Length(len(b.Series)), widestBar)
	height := c.Max.Y - c.Min.Y - bottom
	if ratios == nil {
		f := &panel{pen: p, c: draw.Crop(c, left, -right, bottom, 0)}
		f.y = b.axis(most, p.barStyle(b.Values, compact, width).air(height))
		f.bars(b, b.Values, compact)
		f.groupLabels(b)
		return nil
	}
	head := p.style(noteSize, dark)
	head.YAlign = text.YBottom
	heading := head.FontExtents().Height + gap
	lower := (height - heading) * 0.38
	f := &panel{pen: p, c: draw.Crop(c, left, -right, bottom+lower+heading+outer/2, 0)}
	f.y = b.axis(most, p.barStyle(b.Values, compact, width).air(f.c.Max.Y-f.c.Min.Y))
	f.bars(b, b.Values, compact)
	f = &panel{pen: p, c: draw.Crop(c, left, -right, bottom, -(height - lower))}
	f.y = linearAxis("speed-up", top, p.barStyle(ratios, times, width).air(lower))
	f.bars(&Bars{Groups: b.Groups, Series: b.Series, Limit: 1}, ratios, times)
	f.groupLabels(b)
	f.c.FillText(head, vg.Point{X: f.c.Min.X, Y: f.c.Max.Y + 1}, fit(head, "speed-up over "+b.Baseline, f.c.Max.X-f.c.Min.X))
	return nil
}

// axis is the vertical axis of the bars, with a fraction of the height as air above the highest.
func (b *Bars) axis(most, air float64) axis {
	if !b.Log {
		return linearAxis(b.YLabel, most, air)
	}
	least := most
	for _, row := range b.Values {
		for _, v := range row {
			if v < least { // false for NaN
				least = v
			}
		}
	}
	return logBarAxis(b.YLabel, least, most, air)
}

// times prints a ratio.
func times(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) + "×" }

// barLabels is how the values are written at the bars.
type barLabels struct {
	style   text.Style
	upright bool      // along the bar, where it is too narrow for a level label
	none    bool      // not at all
	longest vg.Length // of the labels
}

func (p pen) barStyle(values [][]float64, format func(float64) string, width vg.Length) barLabels {
	l := barLabels{style: p.style(valueSize, black)}
	l.style.XAlign, l.style.YAlign = text.XCenter, text.YBottom
	for _, row := range values {
		for _, v := range row {
			if v >= 0 {
				l.longest = max(l.longest, l.style.Width(format(v)))
			}
		}
	}
	if l.longest > width {
		l.upright = true
		l.style.Rotation, l.style.XAlign, l.style.YAlign = math.Pi/2, text.XLeft, text.YCenter
		l.none = width < l.style.Font.Size*0.9
	}
	return l
}

// air is the fraction of a panel's height that the labels of the highest bars need.
func (l barLabels) air(height vg.Length) float64 {
	need := l.style.FontExtents().Height + 3
	switch {
	case l.none:
		need = 4
	case l.upright:
		need = l.longest + 4
	}
	return math.Min(float64(need/height), 0.5)
}

// slot is the share of a group's width that its bars take.
const slot = 0.86

// widestBar keeps few bars from becoming walls.
const widestBar = 56 * vg.Length(1)

func (f *panel) groupWidth(b *Bars) vg.Length {
	return (f.c.Max.X - f.c.Min.X) / vg.Length(len(b.Groups))
}

// bars draws axis, bars and value labels.
func (f *panel) bars(b *Bars, values [][]float64, format func(float64) string) {
	f.drawY()
	group := f.groupWidth(b)
	width := min(group*slot/vg.Length(len(b.Series)), widestBar)
	labels := f.barStyle(values, format, width)
	write := func(x, y vg.Length, txt string) {
		if !labels.none {
			f.c.FillText(labels.style, vg.Point{X: x, Y: y + 1.5}, txt)
		}
	}
	if b.Limit > 0 {
		f.limit(b.Limit, b.LimitLabel)
	}
	for j := range b.Groups {
		x := f.c.Min.X + vg.Length(j)*group + (group-width*vg.Length(len(b.Series)))/2
		for i := range b.Series {
			v := values[i][j]
			if math.IsNaN(v) {
				write(x+(vg.Length(i)+0.5)*width, f.c.Min.Y, "–")
				continue
			}
			r := vg.Rectangle{Min: vg.Point{X: x + vg.Length(i)*width, Y: f.c.Min.Y}, Max: vg.Point{X: x + vg.Length(i+1)*width, Y: f.py(v)}}
			if width > 6 {
				r.Min.X += 0.6
				r.Max.X -= 0.6
			}
			fillRect(&f.c, r, areaOf(i))
			write((r.Min.X+r.Max.X)/2, r.Max.Y, format(v))
		}
	}
	f.border()
}

// limit draws a dashed line across, behind the bars, with its label in the right margin.
func (f *panel) limit(v float64, label string) {
	y := f.py(v)
	f.c.StrokeLine2(draw.LineStyle{Color: black, Width: 1, Dashes: []vg.Length{5, 3}}, f.c.Min.X, y, f.c.Max.X, y)
	s := f.style(valueSize, dark)
	s.YAlign = text.YCenter
	f.c.FillText(s, vg.Point{X: f.c.Max.X + gap, Y: y}, label)
}

// groupStyle says how the groups' names are written: level if they fit, else slanted.
func (p pen) groupStyle(b *Bars, width vg.Length) text.Style {
	s := p.style(tickSize, dark)
	s.XAlign, s.YAlign = text.XCenter, text.YTop
	for _, g := range b.Groups {
		if s.Width(g)+gap > width/vg.Length(len(b.Groups)) {
			s.Rotation, s.XAlign, s.YAlign = math.Pi/6, text.XRight, text.YTop
			return s
		}
	}
	return s
}

// slantedWidth is the most a slanted name may be long.
const slantedWidth = 130 * vg.Length(1)

// groupMargins gives the margins at the left, at least what the vertical axis needs, and at the bottom that the groups'
// names and the axis label need; slanted names reach out to the left.
func (p pen) groupMargins(b *Bars, width, left, right vg.Length) (l, bottom vg.Length) {
	s := p.groupStyle(b, width-left-right)
	bottom = p.xMargin(b.XLabel)
	if s.Rotation == 0 {
		return left, bottom
	}
	longest := vg.Length(0)
	reach := left
	group := (width - left - right) / vg.Length(len(b.Groups))
	for j, g := range b.Groups {
		w := min(s.Width(g), slantedWidth)
		longest = max(longest, w)
		reach = max(reach, w*vg.Length(math.Cos(s.Rotation))-(vg.Length(j)+0.4)*group)
	}
	return min(reach, width/3), bottom + longest*vg.Length(math.Sin(s.Rotation))
}

func (f *panel) groupLabels(b *Bars) {
	group := f.groupWidth(b)
	s := f.groupStyle(b, f.c.Max.X-f.c.Min.X)
	for j, g := range b.Groups {
		at := vg.Point{X: f.c.Min.X + (vg.Length(j)+0.5)*group, Y: f.c.Min.Y - tickLen - 1}
		if s.Rotation != 0 {
			at.X += 3
			g = fit(s, g, slantedWidth)
		}
		f.c.FillText(s, at, g)
	}
	if b.XLabel == "" {
		return
	}
	l := f.style(labelSize, black)
	l.XAlign, l.YAlign = text.XCenter, text.YBottom
	drop := f.xMargin(b.XLabel)
	if s.Rotation != 0 {
		longest := vg.Length(0)
		for _, g := range b.Groups {
			longest = max(longest, min(s.Width(g), slantedWidth))
		}
		drop += longest * vg.Length(math.Sin(s.Rotation))
	}
	f.c.FillText(l, vg.Point{X: (f.c.Min.X + f.c.Max.X) / 2, Y: f.c.Min.Y - drop}, b.XLabel)
}
