package plots

import (
	"image/color"
	"math"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Colours of Okabe and Ito ("Color Universal Design", 2008), told apart by colour-blind readers too. Yellow comes late:
// it is weak on white.
var palette = []color.NRGBA{
	rgb(0x0072B2), // blue
	rgb(0xE69F00), // orange
	rgb(0x009E73), // bluish green
	rgb(0xCC79A7), // reddish purple
	rgb(0x56B4E9), // sky blue
	rgb(0xD55E00), // vermillion
	rgb(0xF0E442), // yellow
	rgb(0x999999), // grey
}

var (
	black = rgb(0x000000)
	dark  = rgb(0x333333)
	mid   = rgb(0x707070)
	faint = rgb(0xDDDDDD)
	white = rgb(0xFFFFFF)
)

func rgb(x uint32) color.NRGBA {
	return color.NRGBA{uint8(x >> 16), uint8(x >> 8), uint8(x), 255}
}

func fade(c color.NRGBA, alpha float64) color.NRGBA {
	c.A = uint8(math.Round(alpha * 255))
	return c
}

// Sizes of text in points; 9 points are 12 px at 96 dots per inch.
const (
	titleSize = 12 * vg.Length(1)
	noteSize  = 9 * vg.Length(1)
	labelSize = 9.5 * vg.Length(1)
	tickSize  = 9 * vg.Length(1)
	valueSize = 8 * vg.Length(1)
)

// MinWidth and MinHeight are the least size of a picture, in points: 320 x 214 px at 96 dots an inch.
const (
	MinWidth  = 240 * vg.Length(1)
	MinHeight = 160 * vg.Length(1)
)

// pen holds the fonts of one drawing.
type pen struct {
	handler text.Handler
}

func newPen() pen {
	return pen{text.Plain{Fonts: font.NewCache(liberation.Collection())}}
}

func (p pen) style(size vg.Length, c color.Color) text.Style {
	return text.Style{Color: c, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}, Handler: p.handler}
}

func (p pen) bold(size vg.Length, c color.Color) text.Style {
	s := p.style(size, c)
	s.Font.Weight = xfont.WeightBold
	return s
}

// fit shortens the text with an ellipsis until it is at most that wide.
func fit(s text.Style, txt string, width vg.Length) string {
	if s.Width(txt) <= width {
		return txt
	}
	r := []rune(txt)
	for len(r) > 1 {
		r = r[:len(r)-1]
		if short := string(r) + "…"; s.Width(short) <= width {
			return short
		}
	}
	return "…"
}

// pattern is a hatching drawn over a fill, so that areas differ by more than colour.
type pattern uint8

const (
	solid pattern = iota
	rising
	falling
	dotted
	level
	upright
	crossed
	numPatterns
)

// area is how a bar or segment is filled.
type area struct {
	fill  color.NRGBA
	hatch pattern
}

// areaOf gives series i its look. Colours and patterns have no common period below 56.
func areaOf(i int) area {
	return area{palette[i%len(palette)], pattern(i % int(numPatterns))}
}

// maxSeries is how many series have a look of their own and still can be read.
const maxSeries = 24

// markers and dashes of line series.
var markers = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{}, cross(math.Pi / 4), cross(0), ring{}}

var dashes = [][]vg.Length{nil, {6, 2}, {2, 2}, {8, 2, 2, 2}}

func lineOf(i int) draw.LineStyle {
	return draw.LineStyle{Color: strong(i), Width: 1.5, Dashes: dashes[i%len(dashes)]}
}

func glyphOf(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: strong(i), Radius: 3.4, Shape: markers[i%len(markers)]}
}

// strong is a palette colour for thin lines: yellow is darkened to be seen.
func strong(i int) color.NRGBA {
	c := palette[i%len(palette)]
	if c == rgb(0xF0E442) {
		return rgb(0x8A8000)
	}
	return c
}

// diamond is a filled square on its corner, cross two thick strokes (the number is their turn), ring a thick circle:
// gonum's own are half a point thin.
type (
	diamond struct{}
	cross   float64
	ring    struct{}
)

func (x cross) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	line := draw.LineStyle{Color: sty.Color, Width: 1.8}
	r := float64(sty.Radius) * 1.2
	for _, turn := range []float64{float64(x), float64(x) + math.Pi/2} {
		dx, dy := vg.Length(r*math.Cos(turn)), vg.Length(r*math.Sin(turn))
		c.StrokeLine2(line, pt.X-dx, pt.Y-dy, pt.X+dx, pt.Y+dy)
	}
}

func (ring) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: sty.Color, Width: 1.6})
	var p vg.Path
	p.Move(vg.Point{X: pt.X + sty.Radius, Y: pt.Y})
	p.Arc(pt, sty.Radius, 0, 2*math.Pi)
	p.Close()
	c.Stroke(p)
}

func (diamond) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	r := sty.Radius * 1.25
	c.FillPolygon(sty.Color, []vg.Point{{X: pt.X - r, Y: pt.Y}, {X: pt.X, Y: pt.Y + r}, {X: pt.X + r, Y: pt.Y}, {X: pt.X, Y: pt.Y - r}})
}

// fillRect fills a rectangle with colour and hatching and draws its outline.
func fillRect(c *draw.Canvas, r vg.Rectangle, a area) {
	if r.Max.X <= r.Min.X || r.Max.Y <= r.Min.Y {
		return
	}
	c.SetColor(a.fill)
	c.Fill(r.Path())
	hatch(c, r, a)
	c.SetLineStyle(draw.LineStyle{Color: dark, Width: 0.5})
	c.Stroke(r.Path())
}

// hatchGap is the distance of hatching lines.
const hatchGap = 4.5 * vg.Length(1)

func hatch(c *draw.Canvas, r vg.Rectangle, a area) {
	ink := fade(white, 0.75)
	if luminance(a.fill) > 0.55 {
		ink = fade(black, 0.5)
	}
	line := draw.LineStyle{Color: ink, Width: 0.8}
	switch a.hatch {
	case rising:
		diagonals(c, r, line, 1)
	case falling:
		diagonals(c, r, line, -1)
	case crossed:
		diagonals(c, r, line, 1)
		diagonals(c, r, line, -1)
	case level:
		for y := r.Min.Y + hatchGap/2; y < r.Max.Y; y += hatchGap {
			c.StrokeLine2(line, r.Min.X, y, r.Max.X, y)
		}
	case upright:
		for x := r.Min.X + hatchGap/2; x < r.Max.X; x += hatchGap {
			c.StrokeLine2(line, x, r.Min.Y, x, r.Max.Y)
		}
	case dotted:
		c.SetColor(ink)
		const radius = 0.8
		for i, y := 0, r.Min.Y+hatchGap/2; y < r.Max.Y-radius; i, y = i+1, y+hatchGap {
			x := r.Min.X + hatchGap/2
			if i%2 == 1 {
				x += hatchGap / 2
			}
			for ; x < r.Max.X-radius; x += hatchGap {
				var p vg.Path
				p.Move(vg.Point{X: x + radius, Y: y})
				p.Arc(vg.Point{X: x, Y: y}, radius, 0, 2*math.Pi)
				p.Close()
				c.Fill(p)
			}
		}
	}
}

// diagonals draws 45-degree lines within a rectangle; slope is 1 or -1.
func diagonals(c *draw.Canvas, r vg.Rectangle, line draw.LineStyle, slope vg.Length) {
	w, h := r.Max.X-r.Min.X, r.Max.Y-r.Min.Y
	step := hatchGap * math.Sqrt2
	for d := step / 2; d < w+h; d += step {
		// The line x - slope*y = const; x is measured from the left edge, y from the edge the line starts at.
		x0, y0 := max(0, d-h), min(d, h)
		x1, y1 := min(d, w), max(0, d-w)
		if slope > 0 {
			y0, y1 = h-y0, h-y1
		}
		c.StrokeLine2(line, r.Min.X+x0, r.Min.Y+y0, r.Min.X+x1, r.Min.Y+y1)
	}
}

// luminance is the relative luminance of a colour, 0 to 1 (coefficients of Rec. 709, on linear components).
func luminance(c color.NRGBA) float64 {
	lin := func(v uint8) float64 { return math.Pow(float64(v)/255, 2.2) }
	return 0.2126*lin(c.R) + 0.7152*lin(c.G) + 0.0722*lin(c.B)
}
