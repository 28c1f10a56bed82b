package plots

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strconv"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
)

// finishSVG adds what gonum's SVG lacks: fonts to fall back on where Liberation Sans is missing (Arial and Helvetica
// have the same widths), the width of each text, to which a viewer fits any other font, and a title for screen readers.
func finishSVG(svg []byte, title string) []byte {
	svg = textWidths(svg)
	svg = bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	at := bytes.Index(svg, []byte("<svg"))
	at += bytes.IndexByte(svg[at:], '>') + 1
	out := append([]byte{}, svg[:at]...)
	out = append(out, "\n<title>"+html.EscapeString(title)+"</title>"...)
	return append(out, svg[at:]...)
}

// svgText is a text of gonum's SVG: its attributes up to the weight, weight, size in points and content.
var svgText = regexp.MustCompile(`<text ([^>]*font-weight:(\w+);[^>]*font-size:([0-9.]+)px[^>]*)>([^<]*)</text>`)

// textWidths gives every text of the picture the width that it was laid out with.
func textWidths(svg []byte) []byte {
	fonts := font.NewCache(liberation.Collection())
	return svgText.ReplaceAllFunc(svg, func(element []byte) []byte {
		m := svgText.FindSubmatch(element)
		size, err := strconv.ParseFloat(string(m[3]), 64)
		if err != nil || len(m[4]) == 0 {
			return element
		}
		f := font.Font{Typeface: "Liberation", Variant: "Sans"}
		if string(m[2]) == "bold" {
			f.Weight = xfont.WeightBold
		}
		face := fonts.Lookup(f, vg.Length(size))
		width := face.Width(html.UnescapeString(string(m[4])))
		return fmt.Appendf(nil, `<text %s textLength="%.4g" lengthAdjust="spacingAndGlyphs">%s</text>`, m[1], width.Points(), m[4])
	})
}
