package observe

import (
	"fmt"
	"sort"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
)

// fillClasses lists the executed classes, most first.
func (c *Collector) fillClasses(r *sim.Result) {
	for cl := isa.Class(1); cl < isa.NumClasses; cl++ {
		n := c.classes[cl]
		if n == 0 {
			continue
		}
		pipe := "none"
		if int(cl) < len(c.m.ClassPipe) && c.m.ClassPipe[cl] >= 0 {
			pipe = c.m.Pipes[c.m.ClassPipe[cl]].Name
		}
		r.Classes = append(r.Classes, sim.ClassCount{Class: cl.String(), Pipe: pipe, Insts: n})
	}
	sort.SliceStable(r.Classes, func(i, j int) bool { return r.Classes[i].Insts > r.Classes[j].Insts })
}

// fillHot lists the static instructions on which warps spent most cycles.
func (c *Collector) fillHot(r *sim.Result, total uint64) {
	limit := c.m.Hot
	if limit <= 0 {
		limit = 10
	}
	type entry struct {
		index  int
		cycles uint64
	}
	var all []entry
	for i := range c.insts {
		var n uint64
		for _, s := range c.insts[i].states {
			n += s
		}
		if n > 0 {
			all = append(all, entry{i, n})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].cycles > all[j].cycles })
	for _, e := range all[:min(limit, len(all))] {
		in := &c.m.Program.Insts[e.index]
		top := sim.NotSelected
		for s := sim.NotSelected; s < sim.NumWarpStates; s++ {
			if c.insts[e.index].states[s] > c.insts[e.index].states[top] {
				top = s
			}
		}
		h := sim.HotInst{Index: e.index, PC: in.PC, Text: c.m.Program.Text(e.index), Executed: c.insts[e.index].executed, WarpCycles: e.cycles,
			Share: ratio(e.cycles, total), TopStall: top.String()}
		h.SourceLine, h.SourceText = source(c.m.Program, in)
		r.Hot = append(r.Hot, h)
	}
}

// source names the line an instruction came from, and gives its text if the program has it.
func source(p *isa.Program, in *isa.Inst) (line, text string) {
	if in.Pos.Line <= 0 {
		return "", ""
	}
	line = fmt.Sprintf("%s:%d", p.SourceFile, in.Pos.Line)
	if f := int(in.Pos.CUFile); f >= 0 && f < len(p.Files) && in.Pos.CULine > 0 {
		line += fmt.Sprintf(" (%s:%d)", p.Files[f], in.Pos.CULine)
	}
	if i := int(in.Pos.Line) - 1; i < len(p.Source) {
		text = strings.TrimSpace(p.Source[i])
	}
	return line, text
}

// confidences from best to worst.
var confidences = []string{"measured", "published", "derived", "assumed"}

// confidence is the weakest confidence of the timing of the classes that made up at least 2 % of the executed instructions: timing of rarer ones
// hardly moves the result.
func (c *Collector) confidence() string {
	worst := 0
	for cl, n := range c.classes {
		if n*50 < c.warps || n == 0 || cl >= len(c.m.ClassConfidence) {
			continue
		}
		for i, name := range confidences {
			if name == c.m.ClassConfidence[cl] {
				worst = max(worst, i)
			}
		}
	}
	return confidences[worst]
}
