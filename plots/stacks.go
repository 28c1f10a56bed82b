package plots

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sarchlab/smsim/sim"
)

// Stacks are horizontal bars, one a run, split by warp state. Shares below one percent of a run are drawn together
// as "other".
type Stacks struct {
	Title, Note string
	Runs        []string
	States      []string    // Nsight Compute's names
	Share       [][]float64 // [run][state], of all resident warp-cycles; each run sums to 1
	PerIssue    []float64   // warp-cycles per issued instruction of each run, written at the bar's end; nil: none
}

// namedShare is the least share that gets a name.
const namedShare = 0.01

// other is the name of what is too small to be named.
const other = "other"

// stateAreas gives every state the same look in every picture. Working states are green and blue, fixed latencies
// grey, memory orange to red, pipes purple, control yellow.
var stateAreas = map[string]area{
	sim.Selected.String():         {rgb(0x009E73), solid},
	sim.NotSelected.String():      {rgb(0x56B4E9), solid},
	sim.Wait.String():             {rgb(0x999999), solid},
	sim.MathPipeThrottle.String(): {rgb(0xCC79A7), solid},
	sim.LongScoreboard.String():   {rgb(0xD55E00), solid},
	sim.ShortScoreboard.String():  {rgb(0xE69F00), solid},
	sim.Barrier.String():          {rgb(0x0072B2), solid},
	sim.NoInstruction.String():    {rgb(0xF0E442), solid},
	sim.DispatchStall.String():    {rgb(0xCC79A7), rising},
	sim.MIOThrottle.String():      {rgb(0xE69F00), rising},
	sim.LGThrottle.String():       {rgb(0xD55E00), rising},
	sim.TexThrottle.String():      {rgb(0xE69F00), crossed},
	sim.BranchResolving.String():  {rgb(0xF0E442), rising},
	sim.IMCMiss.String():          {rgb(0xF0E442), dotted},
	sim.Membar.String():           {rgb(0x0072B2), rising},
	sim.Sleeping.String():         {rgb(0x0072B2), dotted},
	sim.Drain.String():            {rgb(0xD55E00), dotted},
	sim.Misc.String():             {rgb(0x999999), rising},
	other:                         {rgb(0xFFFFFF), falling},
}

// Heading is the title.
func (s *Stacks) Heading() string { return s.Title }

func (s *Stacks) check() error {
	if len(s.Runs) == 0 || len(s.Share) != len(s.Runs) || s.PerIssue != nil && len(s.PerIssue) != len(s.Runs) {
		return errors.New("warp-state stacks: no runs, or not one row for each")
	}
	for i, row := range s.Share {
		if len(row) != len(s.States) {
			return fmt.Errorf("warp-state stacks: %d shares of %s for %d states", len(row), s.Runs[i], len(s.States))
		}
		sum := 0.0
		for j, v := range row {
			if !(v >= 0) {
				return fmt.Errorf("warp-state stacks: share %g of %s in %s", v, s.States[j], s.Runs[i])
			}
			sum += v
		}
		if math.Abs(sum-1) > 1e-6 {
			return fmt.Errorf("warp-state stacks: the shares of %s sum to %g, not 1", s.Runs[i], sum)
		}
	}
	return nil
}

// Draw draws the stacks.
func (s *Stacks) Draw(c draw.Canvas) error {
	if err := s.check(); err != nil {
		return err
	}
	p := newPen()
	var entries []entry
	rest := false
	for j, name := range s.States {
		named := false
		for i := range s.Runs {
			named = named || s.Share[i][j] >= namedShare
			rest = rest || s.Share[i][j] > 0 && s.Share[i][j] < namedShare
		}
		if named {
			a := s.area(name, j)
			entries = append(entries, entry{name: name, area: &a})
		}
	}
	if rest {
		a := stateAreas[other]
		entries = append(entries, entry{name: other, area: &a})
	}
	c, err := p.page(c, s.Title, s.Note, entries)
	if err != nil {
		return err
	}
	names := p.style(tickSize, black)
	names.XAlign, names.YAlign = text.XRight, text.YCenter
	left := vg.Length(0)
	for _, r := range s.Runs {
		left = max(left, names.Width(r))
	}
	left = min(left, (c.Max.X-c.Min.X)*0.35)
	right := vg.Length(12)
	head := vg.Length(0)
	if s.PerIssue != nil {
		right = names.Width(perIssueHead) + 2*gap
		head = names.FontExtents().Height
	}
	x := axis{label: "share of resident warp-cycles (%)", scale: scale{0, 100, false}}
	for v := 0.0; v <= 100; v += 20 {
		x.ticks = append(x.ticks, tick{v, compact(v)})
	}
	f := &panel{pen: p, c: draw.Crop(c, left+2*gap, -right, p.xMargin(x.label), -head), x: x}
	f.drawX()
	slotHeight := (f.c.Max.Y - f.c.Min.Y) / vg.Length(len(s.Runs))
	height := min(slotHeight*0.72, 34)
	for i, run := range s.Runs {
		y := f.c.Max.Y - (vg.Length(i)+0.5)*slotHeight
		f.c.FillText(names, vg.Point{X: f.c.Min.X - 2*gap, Y: y}, fit(names, run, left))
		f.stack(s, i, y, height)
		if s.PerIssue != nil {
			v := names
			v.XAlign = text.XLeft
			f.c.FillText(v, vg.Point{X: f.c.Max.X + 2*gap, Y: y}, compact(s.PerIssue[i]))
		}
	}
	if s.PerIssue != nil {
		h := p.style(tickSize, mid)
		h.YAlign = text.YBottom
		f.c.FillText(h, vg.Point{X: f.c.Max.X + 2*gap, Y: f.c.Max.Y + 1}, perIssueHead)
	}
	f.border()
	return nil
}

const perIssueHead = "cycles/issue"

func (s *Stacks) area(state string, index int) area {
	if a, ok := stateAreas[state]; ok {
		return a
	}
	return areaOf(index)
}

// stack draws one bar.
func (f *panel) stack(s *Stacks, run int, y, height vg.Length) {
	at, rest := 0.0, 0.0
	for j, v := range s.Share[run] {
		if v < namedShare {
			rest += v
			continue
		}
		f.segment(s.States[j], at, v, y, height, s.area(s.States[j], j))
		at += v
	}
	if rest > 0 {
		f.segment(other, at, rest, y, height, stateAreas[other])
	}
}

// segment draws one part, with its name and percentage if they fit in, or the number alone.
func (f *panel) segment(name string, from, share float64, y, height vg.Length, a area) {
	r := vg.Rectangle{Min: vg.Point{X: f.px(from * 100), Y: y - height/2}, Max: vg.Point{X: f.px((from + share) * 100), Y: y + height/2}}
	fillRect(&f.c, r, a)
	t := f.style(valueSize, black)
	t.XAlign, t.YAlign = text.XCenter, text.YCenter
	if height < t.Font.Size {
		return
	}
	number := fmt.Sprintf("%.0f", share*100)
	for _, txt := range []string{name + " " + number + " %", number + " %", number} {
		if t.Width(txt)+2*gap <= r.Max.X-r.Min.X {
			plate(&f.c, t, vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: y}, txt, black)
			return
		}
	}
}
