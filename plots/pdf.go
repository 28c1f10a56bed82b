package plots

import (
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	xfont "golang.org/x/image/font"
	"golang.org/x/text/encoding/charmap"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfCanvas mends two things in gonum's PDF canvas: it registers bold faces under the regular name, and it passes
// text on as UTF-8 although its fonts are encoded in code page 1252.
type pdfCanvas struct{ *vgpdf.Canvas }

// pdfDefaults makes PDF bytes a function of the figure: fpdf otherwise writes today's date and its fonts in the random
// order of a map. gonum hides the document, so only fpdf's own package-wide defaults are left to set; they are set once,
// before the first document.
var pdfDefaults sync.Once

func newPDF(w, h vg.Length) pdfCanvas {
	pdfDefaults.Do(func() {
		date := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		fpdf.SetDefaultCreationDate(date)
		fpdf.SetDefaultModificationDate(date)
		fpdf.SetDefaultCatalogSort(true)
	})
	return pdfCanvas{vgpdf.New(w, h)}
}

// FillString writes text; a character outside of the code page becomes '?'.
func (c pdfCanvas) FillString(face font.Face, pt vg.Point, s string) {
	if face.Font.Weight == xfont.WeightBold {
		face.Font.Weight = xfont.WeightNormal
		face.Font.Typeface += "Bold"
	}
	var b []byte
	for _, r := range s {
		x, ok := charmap.Windows1252.EncodeRune(r)
		if !ok {
			x = '?'
		}
		b = append(b, x)
	}
	c.Canvas.FillString(face, pt, string(b))
}
