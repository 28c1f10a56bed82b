package plots

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sarchlab/smsim/sim"
)

// IssueGrid is an issue timeline: one row a warp, one box a cycle, coloured by what the warp does in it.
type IssueGrid struct {
	Title, Note string
	From, To    uint64 // cycles [From, To)
	Rows        []IssueRow
}

// IssueRow is one warp.
type IssueRow struct {
	Name string
	// States has one state a cycle of the window; sim.NumWarpStates: the warp is not resident.
	States []sim.WarpState
	Issued []string // class issued in the cycle, "" where none
}

// Heading is the title.
func (g *IssueGrid) Heading() string { return g.Title }

// maxGrid bounds cycles and rows of a picture.
const maxGrid = 2000

// Draw draws the boxes. Cycles of a warp in one state other than selected are joined to one box.
func (g *IssueGrid) Draw(c draw.Canvas) error {
	if len(g.Rows) == 0 || g.To <= g.From {
		return errors.New("issue timeline: no warp is resident in the window")
	}
	n := int(g.To - g.From)
	if n > maxGrid || len(g.Rows) > maxGrid {
		return fmt.Errorf("issue timeline: %d cycles and %d warps; at most %d each", n, len(g.Rows), maxGrid)
	}
	p := newPen()
	var seen [sim.NumWarpStates]bool
	names := p.style(valueSize, black)
	names.XAlign, names.YAlign = text.XRight, text.YCenter
	left := vg.Length(0)
	for _, r := range g.Rows {
		if len(r.States) != n || len(r.Issued) != n {
			return fmt.Errorf("issue timeline: %d states of %s for %d cycles", len(r.States), r.Name, n)
		}
		left = max(left, names.Width(r.Name))
		for _, s := range r.States {
			if s < sim.NumWarpStates {
				seen[s] = true
			}
		}
	}
	var entries []entry
	for s := sim.WarpState(0); s < sim.NumWarpStates; s++ {
		if seen[s] {
			a := stateAreas[s.String()]
			entries = append(entries, entry{name: s.String(), area: &a})
		}
	}
	c, err := p.page(c, g.Title, g.Note, entries)
	if err != nil {
		return err
	}
	x := axis{label: "cycle", scale: scale{float64(g.From), float64(g.To), false}}
	step := max(1, roundStep(float64(n)/10))
	for v := ceilTo(float64(g.From), step); v <= float64(g.To); v += step {
		x.ticks = append(x.ticks, tick{v, fmt.Sprintf("%.0f", v)})
	}
	f := &panel{pen: p, c: draw.Crop(c, left+2*gap, -outer, p.xMargin(x.label), 0), x: x}
	f.drawX()
	slot := (f.c.Max.Y - f.c.Min.Y) / vg.Length(len(g.Rows))
	height := min(slot*0.86, 26)
	last := vg.Length(1e9)
	for i, r := range g.Rows {
		y := f.c.Max.Y - (vg.Length(i)+0.5)*slot
		if last-y >= names.FontExtents().Height {
			f.c.FillText(names, vg.Point{X: f.c.Min.X - gap, Y: y}, r.Name)
			last = y
		}
		for k := 0; k < n; {
			end := k + 1
			for r.States[k] != sim.Selected && end < n && r.States[end] == r.States[k] {
				end++
			}
			if r.States[k] < sim.NumWarpStates {
				f.issueBox(g, r, k, end, y, height)
			}
			k = end
		}
	}
	f.border()
	return nil
}

func ceilTo(v, step float64) float64 {
	k := float64(uint64(v / step))
	if k*step < v {
		k++
	}
	return k * step
}

// issueBox draws the cycles from k to end of a row, with the name of the issued class where it fits.
func (f *panel) issueBox(g *IssueGrid, r IssueRow, k, end int, y, height vg.Length) {
	box := vg.Rectangle{Min: vg.Point{X: f.px(float64(g.From) + float64(k)), Y: y - height/2}, Max: vg.Point{X: f.px(float64(g.From) + float64(end)), Y: y + height/2}}
	a := stateAreas[r.States[k].String()]
	f.c.SetColor(a.fill)
	f.c.Fill(box.Path())
	if box.Max.X-box.Min.X > 2*hatchGap {
		hatch(&f.c, box, a)
	}
	if r.States[k] != sim.Selected {
		return
	}
	f.c.SetLineStyle(draw.LineStyle{Color: dark, Width: 0.4})
	f.c.Stroke(box.Path())
	s := f.style(valueSize, black)
	s.XAlign, s.YAlign = text.XCenter, text.YCenter
	if r.Issued[k] != "" && s.Width(r.Issued[k])+2 < box.Max.X-box.Min.X && height > s.Font.Size {
		f.c.FillText(s, vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: y}, r.Issued[k])
	}
}
