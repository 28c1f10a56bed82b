package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/study/page"
	"github.com/sarchlab/smsim/workloads"
)

// Occupancy answers how many blocks of a kernel are resident on one SM of an architecture, and why.
type Occupancy struct {
	Arch     string   `json:"arch"`
	Board    string   `json:"board"`
	Kernel   string   `json:"kernel,omitempty"`
	Launch   string   `json:"launch,omitempty"`
	Threads  int      `json:"block_threads"`
	Regs     int      `json:"registers_per_thread"`
	Shared   int      `json:"shared_bytes_per_block"` // static and dynamic
	Blocks   int      `json:"blocks"`
	Warps    int      `json:"warps"`
	MaxWarps int      `json:"max_warps"`
	Fraction float64  `json:"occupancy"` // Warps / MaxWarps
	Limiter  string   `json:"limiter"`
	Limiters []string `json:"limiters"`
	// Blocks that each resource alone allows; absent when the kernel uses none of it.
	Limits         []ResourceLimit `json:"limits"`
	RegsBlock      int             `json:"registers_allocated_per_block"`
	SharedBlock    int             `json:"shared_bytes_allocated_per_block"`
	Carveout       int             `json:"carveout_bytes"`
	TooManyRegs    bool            `json:"too_many_registers,omitempty"`
	MostThreads    int             `json:"declared_block_threads,omitempty"` // .maxntid or .reqntid: the curve against block size ends there
	Confidence     string          `json:"confidence"`
	Source         string          `json:"source"`
	BlockCurve     []OccupancyStep `json:"against_block_size"`
	RegisterCurve  []OccupancyStep `json:"against_registers"`
	SharedCurve    []OccupancyStep `json:"against_shared_memory"`
	registerPoints []curvePoint
	blockPoints    []curvePoint
	sharedPoints   []curvePoint
}

// ResourceLimit is what one resource allows, with the arithmetic in words.
type ResourceLimit struct {
	Resource   string `json:"resource"` // warps, blocks, registers, shared
	Blocks     *int   `json:"blocks"`   // nil: the kernel uses none of it
	Arithmetic string `json:"arithmetic"`
}

// OccupancyStep is a range of a curve with the same residency.
type OccupancyStep struct {
	From    int    `json:"from"`
	To      int    `json:"to"`
	Blocks  int    `json:"blocks"`
	Warps   int    `json:"warps"`
	Limiter string `json:"limiter"`
}

type curvePoint struct {
	x int
	r configs.OccupancyResult
}

// OccupancyOf computes the residency of blocks of threads with regs registers a thread and shared bytes, and the three
// curves of NVIDIA's calculator: against block size, registers and shared memory, the others as given.
func OccupancyOf(a *configs.Arch, threads, regs, shared int) *Occupancy {
	r := a.ResidentBlocks(threads, regs, shared)
	o := &a.Occupancy
	q := &Occupancy{Arch: a.Name, Board: a.Board, Threads: threads, Regs: regs, Shared: shared, Blocks: r.Blocks, Warps: r.Warps, MaxWarps: r.MaxWarps,
		Fraction: r.Fraction, Limiter: r.Limiter, Limiters: r.Limiters, RegsBlock: r.RegistersPerBlock, SharedBlock: r.SharedPerBlock,
		Carveout: r.CarveoutBytes, TooManyRegs: r.TooManyRegisters, Confidence: string(o.Confidence), Source: o.Source}
	q.Limits = resourceLimits(a, &r, threads, regs, shared)
	for t := 32; t <= o.MaxThreadsBlock; t += 32 {
		q.blockPoints = append(q.blockPoints, curvePoint{t, a.ResidentBlocks(t, regs, shared)})
	}
	for n := 1; n <= o.MaxRegsThread; n++ {
		q.registerPoints = append(q.registerPoints, curvePoint{n, a.ResidentBlocks(threads, n, shared)})
	}
	for n := 0; n <= o.SharedBlockOptin; n += max(o.SharedUnit, 1) {
		q.sharedPoints = append(q.sharedPoints, curvePoint{n, a.ResidentBlocks(threads, regs, n)})
	}
	q.BlockCurve, q.RegisterCurve, q.SharedCurve = steps(q.blockPoints, 1), steps(q.registerPoints, 1), steps(q.sharedPoints, 0)
	return q
}

// bounded ends the curve against block size at the largest block that the kernel declares, 0 for none.
func (q *Occupancy) bounded(most int) {
	if most == 0 {
		return
	}
	q.MostThreads = most
	q.blockPoints = slices.DeleteFunc(q.blockPoints, func(p curvePoint) bool { return p.x-31 > most })
	q.BlockCurve = steps(q.blockPoints, 1)
}

// steps joins neighbours with the same residency. A value between two points is rounded up to the next in the allocation, so
// that the ranges have no gaps; they begin at from.
func steps(points []curvePoint, from int) []OccupancyStep {
	var out []OccupancyStep
	for i, p := range points {
		if i > 0 {
			from = points[i-1].x + 1
		}
		if n := len(out) - 1; n >= 0 && out[n].Blocks == p.r.Blocks && out[n].Warps == p.r.Warps && out[n].Limiter == p.r.Limiter {
			out[n].To = p.x
			continue
		}
		out = append(out, OccupancyStep{from, p.x, p.r.Blocks, p.r.Warps, p.r.Limiter})
	}
	return out
}

// resourceLimits tells how each resource's limit comes about, rounding included.
func resourceLimits(a *configs.Arch, r *configs.OccupancyResult, threads, regs, shared int) []ResourceLimit {
	o := &a.Occupancy
	if threads > o.MaxThreadsBlock || threads < 1 {
		return []ResourceLimit{{"threads", new(int), fmt.Sprintf("a block may have 1 to %d threads, not %d", o.MaxThreadsBlock, threads)}}
	}
	warps := (threads + 31) / 32
	slots := min(o.MaxWarps, o.MaxThreads/32)
	number := func(n int) *int {
		if n == configs.Unlimited {
			return nil
		}
		return &n
	}
	out := []ResourceLimit{
		{"warps", number(r.LimitByWarps), fmt.Sprintf("%d threads are %s; %d warp slots / %d = %d", threads, page.Plural(warps, "warp"), slots, warps, r.LimitByWarps)},
		{"blocks", number(r.LimitByBlocks), fmt.Sprintf("%d block slots", r.LimitByBlocks)},
	}
	words := "the kernel uses none"
	switch {
	case regs == 0:
	case o.RegScope == "block":
		rounded := (warps + o.WarpGranularity - 1) / o.WarpGranularity * o.WarpGranularity
		words = fmt.Sprintf("allocated by block: %s", page.Plural(warps, "warp"))
		if rounded != warps {
			words += fmt.Sprintf(", rounded up to a multiple of %d: %d", o.WarpGranularity, rounded)
		}
		words += fmt.Sprintf("; %d x 32 x %d = %d%s; %d registers / %d = %d", rounded, regs, rounded*32*regs,
			roundedTo(rounded*32*regs, r.RegistersPerBlock, o.RegUnit), o.Registers, r.RegistersPerBlock, r.LimitByRegisters)
	default:
		perWarp := r.RegistersPerBlock / warps
		unit := o.RegUnit
		if o.RegUnitCoarse > 0 && perWarp%o.RegUnitCoarse == 0 && perWarp-32*regs >= o.RegUnit {
			unit = o.RegUnitCoarse
		}
		part := o.Registers / a.SM.SubPartitions
		words = fmt.Sprintf("allocated by warp: %d x 32 = %d%s; %d registers in each of %s hold %d warps, together %d; %d / %d = %d",
			regs, 32*regs, roundedTo(32*regs, perWarp, unit), part, page.Plural(a.SM.SubPartitions, "sub-partition"), part/perWarp,
			part/perWarp*a.SM.SubPartitions, part/perWarp*a.SM.SubPartitions, warps, r.LimitByRegisters)
		if need := perWarp * ((warps + o.LaunchGranularity - 1) / o.LaunchGranularity * o.LaunchGranularity); need > o.MaxRegsBlock {
			words = fmt.Sprintf("allocated by warp: %d x 32 = %d%s; a block of %s takes %d, more than the %d a block may have", regs, 32*regs,
				roundedTo(32*regs, perWarp, unit), page.Plural(warps, "warp"), need, o.MaxRegsBlock)
		}
	}
	if r.TooManyRegisters {
		words += fmt.Sprintf("; but an instruction of %s can name only %d registers", a.Name, o.MaxRegsThread)
	}
	out = append(out, ResourceLimit{"registers", number(r.LimitByRegisters), words})
	words = "the kernel uses none"
	switch {
	case shared > o.SharedBlockOptin:
		words = fmt.Sprintf("a block may have at most %d bytes", o.SharedBlockOptin)
	case r.SharedPerBlock > 0:
		words = fmt.Sprintf("%d bytes", shared)
		if o.SharedReserved > 0 {
			words += fmt.Sprintf(" + %d for the system = %d", o.SharedReserved, shared+o.SharedReserved)
		}
		words += fmt.Sprintf("%s; %d bytes / %d = %d", roundedTo(shared+o.SharedReserved, r.SharedPerBlock, o.SharedUnit), o.SharedBytes, r.SharedPerBlock, r.LimitByShared)
		if shared > o.SharedBlock {
			words += fmt.Sprintf(" (the kernel must opt in to more than %d bytes)", o.SharedBlock)
		}
	}
	return append(out, ResourceLimit{"shared", number(r.LimitByShared), words})
}

// roundedTo words a rounding, nothing if there was none.
func roundedTo(from, to, unit int) string {
	if from == to {
		return ""
	}
	return fmt.Sprintf(", rounded up to a multiple of %d: %d", unit, to)
}

// OccupancyOfPlan computes the residency of the kernels of a run file, each with its launches, on the plan's
// architectures: registers and shared memory are those of the lowered kernels.
func OccupancyOfPlan(plan *workloads.Plan) ([]*Occupancy, error) {
	archs := plan.Archs
	if len(archs) == 0 {
		archs = []string{DefaultArch}
	}
	c, err := newCompiler(plan, archs)
	if err != nil {
		return nil, &InputError{err}
	}
	var out []*Occupancy
	seen := map[string]bool{}
	for _, name := range c.order {
		m := c.machines[name]
		for _, cs := range plan.Cases {
			p, err := c.program(cs, m)
			if err != nil {
				return nil, &InputError{err}
			}
			if err := checkDeclared(cs, p); err != nil {
				return nil, &InputError{err}
			}
			threads, shared := cs.Block.Count(), p.SharedBytes+cs.DynamicShared
			key := fmt.Sprint(name, cs.Kernel.Path, p.Name, threads, shared)
			if seen[key] {
				continue
			}
			seen[key] = true
			q := OccupancyOf(m.arch, threads, p.Regs, shared)
			q.bounded(max(p.MaxThreads, p.ReqBlock.Count()))
			q.Board, q.Kernel, q.Launch = m.board.Name, p.Name, cs.Launch
			out = append(out, q)
		}
	}
	return out, nil
}

// Sentence is the answer in one line.
func (q *Occupancy) Sentence() string {
	if q.Blocks == 0 {
		return fmt.Sprintf("no block fits: %s", q.Limiter)
	}
	return fmt.Sprintf("%s of %s, %d of %d warps: occupancy %s, limited by %s", page.Plural(q.Blocks, "resident block"), page.Plural((q.Threads+31)/32, "warp"), q.Warps, q.MaxWarps,
		percent(q.Fraction), strings.Join(q.Limiters, " and "))
}

// LoadArchs loads the architectures of a plan with its overrides, each once; a board must be one of theirs.
func LoadArchs(plan *workloads.Plan) ([]*configs.Arch, error) {
	c, err := newCompiler(plan, plan.Archs)
	if err != nil {
		return nil, &InputError{err}
	}
	var out []*configs.Arch
	for _, n := range c.order {
		out = append(out, c.machines[n].arch)
	}
	return out, nil
}
