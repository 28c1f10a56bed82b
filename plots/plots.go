// Package plots draws pictures of simulation results: throughput bars, warp-state stacks, pipe utilisation, curves,
// predicted against measured, and an integer roofline. Every figure is a plain struct of numbers; most can be filled
// from []sim.Result. The bytes of a picture depend on nothing but its figure and size.
package plots

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// DefaultWidth and DefaultHeight give a picture of 900 x 500 px (at 96 dots per inch).
const (
	DefaultWidth  = 675 * vg.Length(1)
	DefaultHeight = 375 * vg.Length(1)
)

// Figure is a picture that can be saved. Draw fails if the figure's numbers make no picture (no data, NaN, a
// non-positive value on a logarithmic axis) or the canvas is too small for it.
type Figure interface {
	Draw(c draw.Canvas) error
	Heading() string // title, for the metadata of the file
}

// formats are the file name extensions that Save knows.
var formats = []string{"svg", "png", "pdf"}

// Save draws the figure in the format of the path's extension (svg, png or pdf) and writes the file in one step: a
// reader never sees half a picture, and an error leaves an older one alone. Width and height are in points (1/72
// inch); zero means the default.
func Save(f Figure, path string, w, h vg.Length) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	data, err := Encode(f, format, w, h)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once renamed, as it should
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Chmod(0o644); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// Encode draws the figure into memory. Formats: "svg", "png", "pdf".
func Encode(f Figure, format string, w, h vg.Length) ([]byte, error) {
	return EncodeLook(f, format, w, h, "light")
}

// EncodeLook draws the figure into memory in one of the styles of [Looks].
func EncodeLook(f Figure, format string, w, h vg.Length, style string) ([]byte, error) {
	tint, err := look(style)
	if err != nil {
		return nil, err
	}
	if w == 0 {
		w = DefaultWidth
	}
	if h == 0 {
		h = DefaultHeight
	}
	if w < MinWidth || h < MinHeight {
		return nil, fmt.Errorf("a picture of %.0f x %.0f points is too small; the least is %.0f x %.0f", w.Points(), h.Points(), MinWidth.Points(), MinHeight.Points())
	}
	var canvas vg.CanvasWriterTo
	switch format {
	case "svg":
		canvas = vgsvg.New(w, h)
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.New(w, h)}
	case "pdf":
		canvas = newPDF(w, h)
	default:
		return nil, fmt.Errorf("picture format %q: use one of %s", format, strings.Join(formats, ", "))
	}
	var on vg.CanvasSizer = canvas
	if tint != nil {
		on = tinted{on, tint}
	}
	c := draw.New(on)
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	if err := f.Draw(c); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	if format == "svg" {
		return finishSVG(b.Bytes(), f.Heading()), nil
	}
	return b.Bytes(), nil
}
