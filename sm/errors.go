package sm

import (
	"fmt"
	"math/bits"
	"sort"
	"strings"

	akita "github.com/sarchlab/akita/v3/sim"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
)

// ExecutionError is an error of the executed program, with the place and time at which it happened.
type ExecutionError struct {
	Cycle       uint64
	Block, Warp int
	Err         error // of the functional execution: names kernel, block, warp, instruction, lane and position
}

func (e *ExecutionError) Error() string {
	return fmt.Sprintf("%v\n  at cycle %d", e.Err, e.Cycle)
}

// Unwrap gives the functional error.
func (e *ExecutionError) Unwrap() error { return e.Err }

// StuckError is a run that did not end: a deadlock or too many cycles. Warps says where the warps are.
type StuckError struct {
	Kernel string
	Cycle  uint64
	Why    string
	Warps  []string
}

func (e *StuckError) Error() string {
	s := fmt.Sprintf("kernel %s: %s (cycle %d)", e.Kernel, e.Why, e.Cycle)
	for _, w := range e.Warps {
		s += "\n  " + w
	}
	return s
}

func (s *SM) fail(w *warp, err error) {
	s.Engine().Fail(&ExecutionError{Cycle: s.Engine().Cycle(), Block: w.block.index, Warp: w.w.Index, Err: err})
}

// stuck describes where the warps are, grouped by instruction.
func (s *SM) stuck(t uint64, why string) error {
	type group struct {
		first string
		n     int
		order int
	}
	groups := map[string]*group{}
	for _, p := range s.smsps {
		for m := p.resident; m != 0; m &= m - 1 {
			w := &p.warps[bits.TrailingZeros64(m)]
			at, idx := "at", w.idx
			if idx < 0 {
				at, idx = "waits at a barrier,", w.prev
			}
			text := at + " " + s.position(idx)
			g := groups[text]
			if g == nil {
				g = &group{order: len(groups), first: fmt.Sprintf("block %d warp %d", w.block.index, w.w.Index)}
				groups[text] = g
			}
			g.n++
		}
	}
	e := &StuckError{Kernel: s.kernel.Program.Name, Cycle: t, Why: why}
	keys := make([]string, 0, len(groups))
	for k := range groups {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		if groups[keys[i]].n != groups[keys[j]].n {
			return groups[keys[i]].n > groups[keys[j]].n
		}
		return keys[i] < keys[j]
	})
	for i, k := range keys {
		if i == 8 {
			e.Warps = append(e.Warps, fmt.Sprintf("and %d other places", len(keys)-i))
			break
		}
		g := groups[k]
		who := g.first
		if g.n > 1 {
			who = fmt.Sprintf("%d warps (first: %s)", g.n, g.first)
		}
		e.Warps = append(e.Warps, who+" "+k)
	}
	return e
}

// position is an instruction with its source position: "BAR at scan.ptx:31:2".
func (s *SM) position(idx int32) string {
	p := s.kernel.Program
	if idx < 0 || int(idx) >= len(p.Insts) {
		return "the start"
	}
	in := &p.Insts[idx]
	source := sourceOf(p, in)
	if in.Pos.Line == 0 { // the compiler's own instruction: what it stands before
		for i := int(idx) + 1; i < len(p.Insts); i++ {
			if next := &p.Insts[i]; next.Pos.Line > 0 {
				source = "before " + sourceOf(p, next)
				break
			}
		}
	}
	return fmt.Sprintf("%s (instruction %d, %s)", in.Op, idx, source)
}

func sourceOf(p *isa.Program, in *isa.Inst) string {
	file := p.SourceFile
	if file == "" {
		file = p.Name
	}
	if in.Pos.Line == 0 {
		return file // the compiler's own instruction
	}
	return fmt.Sprintf("%s:%d:%d", file, in.Pos.Line, in.Pos.Col)
}

// place is where the simulation is, for the report of a broken invariant.
func (s *SM) where() sim.Place {
	var pl sim.Place
	if p := s.at; p != nil {
		pl.Unit = p.Name()
		if p.picked >= 0 {
			w := &p.warps[p.picked]
			if w.block != nil {
				pl.Warp = fmt.Sprintf("block %d warp %d (slot %d)", w.block.index, w.w.Index, w.slot)
				pl.PC = s.position(max(w.idx, 0))
			}
		}
	}
	return pl
}

// invariant is the value of a panic about a state that the model must not reach.
func invariant(format string, args ...any) string {
	return "broken invariant: " + strings.TrimSpace(fmt.Sprintf(format, args...))
}

// hook is the context of an observer's call.
func hook(d akita.Hookable, pos *akita.HookPos, item any) akita.HookCtx {
	return akita.HookCtx{Domain: d, Pos: pos, Item: item}
}
