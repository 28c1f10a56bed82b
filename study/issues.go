package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/plots"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/sim/observe"
)

// IssueTimeline is what every warp does in each cycle of a window.
//
// The model counts the states between two issues of a warp without their order; here they stand in the usual one:
// results and stall counts first, then what holds a ready warp back.
type IssueTimeline struct {
	From uint64      `json:"from"`
	To   uint64      `json:"to"` // first cycle after the window
	Rows []IssueLine `json:"rows"`
}

// IssueLine is one warp. States has a letter for each cycle (see StateLetters), "." where the warp is not resident.
type IssueLine struct {
	SubPartition int       `json:"sub_partition"`
	Slot         int       `json:"slot"`
	Block        int       `json:"block"`
	Warp         int       `json:"warp"`
	States       string    `json:"states"`
	Issued       []IssueAt `json:"issued"`
}

// IssueAt is an instruction issued in a cycle of the window.
type IssueAt struct {
	Cycle uint64 `json:"cycle"`
	Index int    `json:"index"` // of the static instruction
	Class string `json:"class"`
}

// stateOrder is the order in which the states of one wait are drawn.
var stateOrder = [sim.NumWarpStates]int{
	sim.Wait: 1, sim.BranchResolving: 2, sim.NoInstruction: 3, sim.IMCMiss: 4, sim.LongScoreboard: 5, sim.ShortScoreboard: 6, sim.Barrier: 7,
	sim.Membar: 8, sim.Sleeping: 9, sim.Misc: 10, sim.LGThrottle: 11, sim.MIOThrottle: 12, sim.TexThrottle: 13, sim.MathPipeThrottle: 14,
	sim.DispatchStall: 15, sim.NotSelected: 16, sim.Drain: 17,
}

// timelineOf arranges the events of a trace by warp.
func timelineOf(t *observe.IssueTrace) *IssueTimeline {
	out := &IssueTimeline{From: t.From, To: t.To}
	type warp struct{ block, warp int }
	rows := map[warp]*IssueLine{}
	marks := map[warp][]byte{}
	n := int(t.To - t.From)
	for i := range t.Events {
		e := &t.Events[i]
		key := warp{e.Block, e.Warp}
		row := rows[key]
		if row == nil {
			row = &IssueLine{SubPartition: e.SubPartition, Slot: e.Slot, Block: e.Block, Warp: e.Warp}
			rows[key], marks[key] = row, []byte(strings.Repeat(".", n))
		}
		put := func(cycle uint64, s sim.WarpState) {
			if cycle >= t.From && cycle < t.To {
				marks[key][cycle-t.From] = stateLetters[s][0]
			}
		}
		wait := uint64(0)
		states := slices.Clone(e.Waited)
		slices.SortStableFunc(states, func(a, b sim.StateCycles) int { return cmp.Compare(stateOrder[a.State], stateOrder[b.State]) })
		for _, s := range states {
			wait += s.Cycles
		}
		at := e.Cycle - min(e.Cycle, wait)
		for _, s := range states {
			for range s.Cycles {
				put(at, s.State)
				at++
			}
		}
		if e.Index >= 0 {
			put(e.Cycle, sim.Selected)
			if e.Cycle >= t.From && e.Cycle < t.To {
				row.Issued = append(row.Issued, IssueAt{e.Cycle, e.Index, e.Class})
			}
		}
	}
	for key, row := range rows {
		row.States = string(marks[key])
		out.Rows = append(out.Rows, *row)
	}
	slices.SortFunc(out.Rows, func(a, b IssueLine) int {
		return cmp.Or(cmp.Compare(a.SubPartition, b.SubPartition), cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Block, b.Block), cmp.Compare(a.Warp, b.Warp))
	})
	return out
}

func (l *IssueLine) name() string {
	return fmt.Sprintf("p%d s%02d b%d w%d", l.SubPartition, l.Slot, l.Block, l.Warp)
}

// issueColumns is the number of cycles in one line of text.
const issueColumns = 80

// issues writes the timeline as text: one row a warp, one character a cycle.
func (t *textWriter) issues(x *IssueTimeline) {
	if x == nil {
		return
	}
	t.printf("\n")
	t.paragraph(fmt.Sprintf("Issue timeline, cycles %d to %d: one row a warp (sub-partition, slot, block, warp), one character a cycle.", x.From, x.To-1), "")
	var used []string
	for s, l := range stateLetters {
		if slices.ContainsFunc(x.Rows, func(r IssueLine) bool { return strings.Contains(r.States, l) }) {
			used = append(used, l+" "+sim.WarpState(s).String())
		}
	}
	t.paragraph(strings.Join(append(used, ". not resident"), ", "), "  ")
	width := 0
	for i := range x.Rows {
		width = max(width, len(x.Rows[i].name()))
	}
	for from := 0; from < int(x.To-x.From); from += issueColumns {
		end := min(from+issueColumns, int(x.To-x.From))
		ruler := []byte(strings.Repeat(" ", end-from))
		for k := from; k < end; k++ {
			if label := fmt.Sprint(x.From + uint64(k)); (x.From+uint64(k))%20 == 0 && k-from+len(label) <= len(ruler) {
				copy(ruler[k-from:], label)
			}
		}
		t.printf("%*s %s\n", width, "", strings.TrimRight(string(ruler), " "))
		for i := range x.Rows {
			t.printf("%-*s %s\n", width, x.Rows[i].name(), x.Rows[i].States[from:end])
		}
	}
	if len(x.Rows) == 0 {
		t.printf("no warp is resident in these cycles\n")
	}
}

// gridOf is the timeline as a picture.
func gridOf(x *IssueTimeline, title string) *plots.IssueGrid {
	g := &plots.IssueGrid{Title: title, From: x.From, To: x.To, Note: "one row a warp: sub-partition, slot, block, warp"}
	byLetter := map[byte]sim.WarpState{}
	for s, l := range stateLetters {
		byLetter[l[0]] = sim.WarpState(s)
	}
	for i := range x.Rows {
		r := &x.Rows[i]
		row := plots.IssueRow{Name: r.name(), States: make([]sim.WarpState, len(r.States)), Issued: make([]string, len(r.States))}
		for k := range r.States {
			s, ok := byLetter[r.States[k]]
			if !ok {
				s = sim.NumWarpStates
			}
			row.States[k] = s
		}
		for _, e := range r.Issued {
			if k := int(e.Cycle - x.From); k >= 0 && k < len(row.Issued) {
				row.Issued[k] = e.Class
			}
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// timelinePipes is the number of pipes drawn over time.
const timelinePipes = 6

// pipesOverTime draws issue and the busiest pipes of a run over time, nil without a time series.
func pipesOverTime(r *Run) *plots.Curves {
	if len(r.Timeline) == 0 {
		return nil
	}
	q := &plots.Curves{Title: "Pipe utilisation over time: " + RunName(r), XLabel: "cycle", YLabel: "utilisation (% of peak)",
		Note: fmt.Sprintf("averages over %d cycles", r.Timeline[0].Width)}
	busy := make([]int, 0, len(r.Pipes))
	for i, p := range r.Pipes {
		if p.BusyCycles > 0 {
			busy = append(busy, i)
		}
	}
	slices.SortStableFunc(busy, func(a, b int) int { return cmp.Compare(r.Pipes[b].Utilization, r.Pipes[a].Utilization) })
	busy = busy[:min(len(busy), timelinePipes)]
	subs := 1.0
	if r.Cycles > 0 {
		subs = float64(r.IssueSlots.Total) / float64(r.Cycles)
	}
	lines := make([]plots.Curve, len(busy)+1)
	lines[0].Name = "issue"
	for i, n := range busy {
		lines[i+1].Name = r.Pipes[n].Name
	}
	for _, s := range r.Timeline {
		width := float64(s.Width)
		if end := s.Cycle + s.Width; end > r.Cycles && r.Cycles > s.Cycle {
			width = float64(r.Cycles - s.Cycle)
		}
		x := float64(s.Cycle) + width/2
		add := func(l *plots.Curve, v float64) { l.X, l.Y = append(l.X, x), append(l.Y, v) }
		add(&lines[0], 100*float64(s.Issued)/(width*subs))
		for i, n := range busy {
			add(&lines[i+1], 100*float64(s.PipeBusy[n])/(width*float64(max(1, r.Pipes[n].Instances))))
		}
	}
	q.Lines = lines
	return q
}
