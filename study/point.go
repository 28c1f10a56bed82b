package study

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/workloads"
)

// cheapSteps bounds the warp-instructions that an automatic whole-output check may execute beyond the simulated blocks:
// about a second.
const cheapSteps = 4_000_000

// run simulates one point and checks its output.
func (c *compiler) run(pt point, progress func(ended, blocks int, insts uint64)) (*Run, error) {
	m := c.machines[pt.arch]
	p, err := c.program(pt.c, m)
	if err != nil {
		return nil, &InputError{err}
	}
	return c.time(pt, m, p, progress)
}

// time simulates one point with a given program on a given machine and checks its output.
func (c *compiler) time(pt point, m *machine, p *isa.Program, progress func(ended, blocks int, insts uint64)) (*Run, error) {
	if err := checkLimits(pt.c, p, m.arch); err != nil {
		return nil, &InputError{err}
	}
	launch, bufs, err := pt.c.NewLaunch(p)
	if err != nil {
		return nil, &InputError{err}
	}
	s := &c.plan.Settings
	sms, blocks, total, err := c.blocks(pt, m)
	if err != nil {
		return nil, err
	}
	launch.SMID, launch.NumSMs = 0, sms
	res, err := simulate(m, p, launch, pt.c.Args, blocks, s, &c.probes, progress)
	if err != nil {
		return nil, err
	}
	r := c.describe(pt, m, p, res, sms, len(blocks), total)
	r.ran = outputs(pt.c, bufs)
	v, err := c.check(pt.c, m, p, launch, bufs, blocks, total, r.WarpInstructions)
	if err != nil {
		return nil, err
	}
	r.Check, r.CheckNote = v.Status, v.Note
	r.Outputs = outputs(pt.c, bufs)
	if c.probes.keepOutputs {
		r.written = written(pt.c, bufs)
	}
	return r, nil
}

// blocks gives how many SMs share the grid of a point, which of its blocks this one runs, and how many there are.
func (c *compiler) blocks(pt point, m *machine) (sms int, blocks []int, total int, err error) {
	s := &c.plan.Settings
	sms = s.SMs
	if sms == 0 {
		sms = m.board.SMs
	}
	total, err = gridBlocks(pt.c)
	if err != nil {
		return 0, nil, 0, &InputError{err}
	}
	blocks, err = s.Blocks.Select(total, sms)
	if err != nil {
		at := s.Places["blocks"]
		if at.IsZero() {
			at = pt.c.At.Grid
		}
		if at.IsZero() {
			at = pt.c.Place
		}
		return 0, nil, 0, &InputError{at.Errorf("%s", err)}
	}
	return sms, blocks, total, nil
}

// describe is a run with its result and what it was of: of so many blocks of all.
func (c *compiler) describe(pt point, m *machine, p *isa.Program, res *sim.Result, sms, blocks, total int) *Run {
	s := &c.plan.Settings
	r := &Run{Study: c.plan.Name, Launch: pt.c.Launch, Title: pt.c.Title, Group: pt.c.Group, Result: *res,
		Input: inputOf(pt.c.Kernel), SMs: sms, Blocks: s.Blocks.String(), CodeInsts: len(p.Insts), CodeBytes: codeBytes(p), LocalBytes: p.LocalBytes}
	if !c.plan.Study {
		r.Study = ""
	}
	r.Kernel, r.Source, r.Variant = p.Name, pt.c.Kernel.Path, pt.c.Variant
	if r.Variant == "" {
		r.Variant = p.Name
	}
	r.Result.Variant = r.Variant
	if pt.c.HasX {
		x := pt.c.X
		r.X = &x
	}
	for _, o := range s.Overrides {
		r.Overrides = append(r.Overrides, o.Key+"="+o.Value)
	}
	for _, o := range m.arch.Followed {
		r.Followed = append(r.Followed, o.String())
	}
	for _, key := range m.arch.OwnGuesses() {
		if unfelt(key, r) == "" {
			r.OwnNumbers, r.Confidence = append(r.OwnNumbers, key), "assumed"
		}
	}
	if len(r.Followed) > 0 {
		r.Notes = append(r.Notes, "on "+r.Arch+" "+followNote("with", strings.Join(r.Overrides, " and "), r.Followed))
	}
	if pt.c.Work > 0 {
		r.Work, r.WorkUnit = pt.c.Work*float64(blocks)/float64(total), c.plan.WorkUnit
		if r.Cycles > 0 {
			r.WorkCycle = r.Work / float64(r.Cycles)
		}
	}
	return r
}

// check compares the output; the blocks that were not simulated are executed without timing where the check mode wants it.
func (c *compiler) check(cs *workloads.Case, m *machine, p *isa.Program, l *isa.Launch, bufs []*isa.Buffer,
	blocks []int, total int, steps uint64) (workloads.Verdict, error) {
	complete := len(blocks) == total
	mode := c.plan.Check
	if mode == workloads.CheckNone && !c.probes.wholeOutputs {
		return workloads.Verdict{Status: workloads.NoCheck, Note: "not asked for"}, nil
	}
	perBlock := steps / uint64(max(1, len(blocks)))
	cheap := perBlock*uint64(total-len(blocks)) <= cheapSteps
	want := mode == workloads.CheckWhole || mode == workloads.CheckAuto && cheap && !cs.CoversBlocks(blocks)
	note := ""
	if !complete && (want && cs.NeedsWhole() || c.probes.wholeOutputs) {
		// Outputs of the simulated blocks are compared first: they alone show what was timed.
		if v := cs.Check(bufs, blocks, false); v.Status == workloads.Failed {
			return v, nil
		}
		rest := *l
		rest.MaxSteps = stepLimit(&c.plan.Settings)
		k, err := isa.Bind(p, m.target, &rest)
		if err != nil {
			return workloads.Verdict{}, err
		}
		for _, b := range others(blocks, total) {
			if _, err := k.RunBlock(b); err != nil {
				return workloads.Verdict{}, err
			}
		}
		complete = true
	} else if !complete && cs.NeedsWhole() && !cs.CoversBlocks(blocks) {
		note = fmt.Sprintf("; the other %d blocks of the grid were not run (--check whole executes them)", total-len(blocks))
	}
	v := cs.Check(bufs, blocks, complete)
	v.Note += note
	return v, nil
}

// stepLimit bounds the warp-instructions of a block that is executed without timing: what an SM could issue within the
// cycle limit, so that an endless loop ends there too.
func stepLimit(s *workloads.Settings) uint64 {
	if s.CycleLimit > 0 {
		return 4 * s.CycleLimit
	}
	return 4 * DefaultCycleLimit
}

// others lists the blocks of the grid that are not in the list.
func others(blocks []int, total int) []int {
	ran := make(map[int]bool, len(blocks))
	for _, b := range blocks {
		ran[b] = true
	}
	out := make([]int, 0, total-len(ran))
	for b := range total {
		if !ran[b] {
			out = append(out, b)
		}
	}
	return out
}

// gridBlocks is the number of blocks in the grid; it must fit in 31 bits for block indices.
func gridBlocks(cs *workloads.Case) (int, error) {
	g := cs.Grid
	n := float64(g.X) * float64(g.Y) * float64(g.Z)
	if n > math.MaxInt32 {
		return 0, cs.GridErrorf("the grid of %s has %.0f blocks; at most %d are supported", dims(g), n, math.MaxInt32)
	}
	return g.Count(), nil
}

func codeBytes(p *isa.Program) int {
	if n := len(p.Insts); n > 0 {
		return int(p.Insts[n-1].PC) + int(p.InstBytes)
	}
	return 0
}

// outputs describes the buffers that the kernel writes.
func outputs(cs *workloads.Case, bufs []*isa.Buffer) []Output {
	var out []Output
	for i := range cs.Args {
		if !cs.Args[i].Out || bufs[i] == nil {
			continue
		}
		b := bufs[i]
		o := Output{Name: b.Name, Bytes: len(b.Data), FNV1a64: fmt.Sprintf("%016x", workloads.FNV1a64(b.Data))}
		for w := 0; w < 8 && 4*w+4 <= len(b.Data); w++ {
			o.First = append(o.First, binary.LittleEndian.Uint32(b.Data[4*w:]))
		}
		out = append(out, o)
	}
	return out
}
