package plots

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Looks are the styles of a picture: light (dark ink on white), dark (light ink on a dark ground) and print (shades of
// grey; hatching and markers tell the series apart).
var looks = []string{"light", "dark", "print"}

// Looks lists the styles.
func Looks() []string { return append([]string(nil), looks...) }

// tinted is a canvas that changes every colour before it is used.
type tinted struct {
	vg.CanvasSizer
	tint func(color.Color) color.Color
}

// SetColor sets the changed colour.
func (t tinted) SetColor(c color.Color) { t.CanvasSizer.SetColor(t.tint(c)) }

// look is the change of colours of a style.
func look(name string) (func(color.Color) color.Color, error) {
	switch name {
	case "light", "":
		return nil, nil
	case "dark":
		return darkened, nil
	case "print":
		return grey, nil
	}
	return nil, fmt.Errorf("picture style %q: use one of %s", name, strings.Join(looks, ", "))
}

// darkened turns the lightness of greys around and leaves colours, which stand out on a dark ground too.
func darkened(c color.Color) color.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	if max(n.R, n.G, n.B)-min(n.R, n.G, n.B) > 24 {
		return n
	}
	turn := func(v uint8) uint8 { return uint8(math.Round(24 + float64(255-v)*(240-24)/255)) }
	n.R, n.G, n.B = turn(n.R), turn(n.G), turn(n.B)
	return n
}

// printGreys are far enough apart for the colours of series, several of which have the same lightness.
var printGreys = map[[3]uint8]uint8{
	{0x00, 0x72, 0xB2}: 0x30, {0xD5, 0x5E, 0x00}: 0x55, {0x00, 0x9E, 0x73}: 0x78, {0xCC, 0x79, 0xA7}: 0x94,
	{0x99, 0x99, 0x99}: 0xAC, {0xE6, 0x9F, 0x00}: 0xC2, {0x56, 0xB4, 0xE9}: 0xD8, {0xF0, 0xE4, 0x42}: 0xF0,
}

// grey is the colour's grey in print: its own if it is one of a series, else its lightness.
func grey(c color.Color) color.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	if g, ok := printGreys[[3]uint8{n.R, n.G, n.B}]; ok {
		n.R, n.G, n.B = g, g, g
		return n
	}
	v := uint8(math.Round(255 * math.Pow(luminance(n), 1/2.2)))
	n.R, n.G, n.B = v, v, v
	return n
}
