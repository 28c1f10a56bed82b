package configs

import (
	"fmt"
	"math"
	"slices"
)

// Unlimited is the block limit of a resource that a kernel does not use.
const Unlimited = math.MaxInt32

// OccupancyResult says how many blocks of a kernel are resident on one SM, and which resource stops the next one.
type OccupancyResult struct {
	Blocks   int     // resident blocks an SM; 0: the kernel cannot launch
	Warps    int     // resident warps an SM
	MaxWarps int     // warp slots an SM
	Fraction float64 // Warps / MaxWarps, "occupancy"

	// Limiter is the resource that stops the next block: warps, blocks, registers or shared. With Blocks 0 it is
	// what makes the launch impossible: threads (block too large), registers or shared. When several
	// resources give the same limit, the first of warps, blocks, registers, shared is named, the order of
	// NVIDIA's calculator: a kernel at full occupancy is limited by warps.
	Limiter  string
	Limiters []string // all resources that give the limit, in the same order

	// Blocks that each resource alone would allow; Unlimited when the kernel uses none of it.
	LimitByWarps, LimitByBlocks, LimitByRegisters, LimitByShared int

	RegistersPerBlock int // registers allocated to a block, rounding included
	SharedPerBlock    int // shared memory allocated to a block in bytes, reserved part and rounding included
	// TooManyRegisters says that no kernel with so many registers a thread can exist on the target. The blocks
	// are counted all the same, as NVIDIA's calculator does.
	TooManyRegisters bool
	CarveoutBytes    int // smallest selectable shared memory size that holds the resident blocks
}

// ResidentBlocks computes the resident blocks of a kernel with block threads a block, regs registers a thread
// and shared bytes (static and dynamic) of shared memory a block. It follows NVIDIA's occupancy calculator:
//
//   - warps = ceil(block/32); their slots limit the blocks;
//   - registers, allocated by warp (compute capability 2.0 on): regs*32 rounded up to the unit is taken for each
//     warp from the register file of its sub-partition, so the number of warps that fit is counted there;
//   - registers, allocated by block (1.x): warps rounded up to the granularity, times regs*32, rounded up;
//   - shared memory: the block's bytes plus the reserved part, rounded up, out of the SM's largest size.
//
// Negative arguments and block 0 give Blocks 0.
func (a *Arch) ResidentBlocks(block, regs, shared int) OccupancyResult {
	o := &a.Occupancy
	r := OccupancyResult{MaxWarps: o.MaxWarps, LimitByRegisters: Unlimited, LimitByShared: Unlimited}
	warps := ceilDiv(block, 32)
	if block < 1 || block > o.MaxThreadsBlock || regs < 0 || shared < 0 {
		r.Limiter, r.Limiters = "threads", []string{"threads"}
		return r
	}
	r.LimitByWarps = min(o.MaxWarps, o.MaxThreads/32) / warps
	r.LimitByBlocks = o.MaxBlocks
	r.LimitByRegisters, r.RegistersPerBlock = o.limitByRegisters(warps, regs, a.SM.SubPartitions)
	r.TooManyRegisters = regs > o.MaxRegsThread
	r.LimitByShared, r.SharedPerBlock = o.limitByShared(shared)

	r.Blocks = min(r.LimitByWarps, r.LimitByBlocks, r.LimitByRegisters, r.LimitByShared)
	for _, l := range []struct {
		name  string
		limit int
	}{{"warps", r.LimitByWarps}, {"blocks", r.LimitByBlocks}, {"registers", r.LimitByRegisters}, {"shared", r.LimitByShared}} {
		if l.limit == r.Blocks {
			r.Limiters = append(r.Limiters, l.name)
		}
	}
	r.Limiter = r.Limiters[0]
	r.Warps = r.Blocks * warps
	r.Fraction = float64(r.Warps) / float64(r.MaxWarps)
	r.CarveoutBytes = o.carveout(r.Blocks * r.SharedPerBlock)
	return r
}

// limitByRegisters gives the blocks of `warps` warps with regs registers a thread that the register files
// hold, and the registers that one block takes.
func (o *Occupancy) limitByRegisters(warps, regs, subPartitions int) (blocks, perBlock int) {
	switch {
	case regs == 0:
		return Unlimited, 0
	case o.RegScope == "block":
		perBlock = roundUp(roundUp(warps, o.WarpGranularity)*32*regs, o.RegUnit)
		return o.Registers / perBlock, perBlock
	}
	unit := o.RegUnit
	if slices.Contains(o.RegCountsCoarse, regs) {
		unit = o.RegUnitCoarse
	}
	perWarp := roundUp(32*regs, unit)
	perBlock = perWarp * warps
	if perWarp*roundUp(warps, o.LaunchGranularity) > o.MaxRegsBlock {
		return 0, perBlock
	}
	fit := o.Registers / subPartitions / perWarp * subPartitions
	return fit / warps, perBlock
}

// limitByShared gives the blocks that the SM's shared memory holds, and the bytes that one block takes.
func (o *Occupancy) limitByShared(shared int) (blocks, perBlock int) {
	perBlock = roundUp(shared+o.SharedReserved, o.SharedUnit)
	switch {
	case shared > o.SharedBlockOptin:
		return 0, perBlock
	case perBlock == 0:
		return Unlimited, 0
	}
	return o.SharedBytes / perBlock, perBlock
}

// carveout is the smallest selectable size of shared memory that holds the bytes.
func (o *Occupancy) carveout(bytes int) int {
	for _, c := range o.SharedCarveouts {
		if c >= bytes {
			return c
		}
	}
	return o.SharedBytes
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func roundUp(a, unit int) int { return ceilDiv(a, unit) * unit }

// String is one line: "2 blocks, 14 of 48 warps (29.2 %), limited by registers".
func (r OccupancyResult) String() string {
	if r.Blocks == 0 {
		return "does not fit: " + r.Limiter
	}
	return fmt.Sprintf("%d blocks, %d of %d warps (%.1f %%), limited by %s", r.Blocks, r.Warps, r.MaxWarps, 100*r.Fraction, r.Limiter)
}
