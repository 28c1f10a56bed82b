package configs

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
)

// Checks that a number can stand beside the others: each names the key to change and what would do.

// checkIdentity checks compute capability, name and board against each other.
func checkIdentity(a *Arch) *fault {
	sm, ok := smNumber(a.ComputeCapability)
	if !ok {
		return &fault{"compute_capability", fmt.Sprintf("compute_capability: expected major.minor such as \"8.6\", found %q", a.ComputeCapability)}
	}
	known := false
	for _, n := range List() {
		known = known || number(n) == sm
	}
	if !known {
		return &fault{"compute_capability", fmt.Sprintf("compute_capability: there is no instruction set of compute capability %s; give one of %s, and change the hardware by the other keys",
			a.ComputeCapability, strings.ReplaceAll(strings.Join(List(), ", "), "sm_", ""))}
	}
	if base, isArch := nameOf(a.Base); isArch && number(base) != sm {
		return &fault{"compute_capability", fmt.Sprintf("compute_capability: %s does not go with base %s, whose instructions are another target's; "+
			"write `base: sm_%d`, or leave this key out", a.ComputeCapability, a.Base, sm)}
	}
	if name, isArch := nameOf(a.Name); isArch && number(name) != sm {
		return &fault{"name", fmt.Sprintf("name: %s is the name of another compute capability than %s; choose a name of your own such as my_%d", a.Name, a.ComputeCapability, sm)}
	}
	if _, err := LoadBoard(a.Board); err != nil {
		return &fault{"board", "board: " + err.Error()}
	}
	return nil
}

// checkShape checks that warps, registers and banks divide as the hardware divides them.
func checkShape(a *Arch) *fault {
	o, l := a.Occupancy, a.LSU
	for _, p := range []struct {
		path string
		v    int
	}{
		{"sm.sub_partitions", a.SM.SubPartitions}, {"register_file.banks", a.RegisterFile.Banks}, {"lsu.shared_banks", l.SharedBanks}, {"lsu.bank_bytes", l.BankBytes},
		{"lsu.l1_line_bytes", l.L1LineBytes}, {"lsu.sector_bytes", l.SectorBytes}, {"memory.l2_line_bytes", a.Memory.L2LineBytes}, {"fetch.line_bytes", a.Fetch.LineBytes},
		{"fetch.chunk_bytes", max(a.Fetch.ChunkBytes, 1)}, // 0: not modelled
		{"occupancy.register_unit", o.RegUnit}, {"occupancy.shared_unit", o.SharedUnit},
	} {
		if bits.OnesCount(uint(p.v)) != 1 {
			low := 1 << (bits.Len(uint(p.v)) - 1)
			return &fault{p.path, fmt.Sprintf("%s: %d is no power of two; the nearest are %d and %d", p.path, p.v, low, 2*low)}
		}
	}
	divides := func(path string, v int, by int, what string) *fault {
		if v%by == 0 {
			return nil
		}
		low := v - v%by
		if low == 0 {
			return &fault{path, fmt.Sprintf("%s: %d is no multiple of %s, %d; the next is %d", path, v, what, by, by)}
		}
		return &fault{path, fmt.Sprintf("%s: %d is no multiple of %s, %d; the nearest are %d and %d", path, v, what, by, low, low+by)}
	}
	for _, f := range []*fault{
		divides("occupancy.max_warps", o.MaxWarps, a.SM.SubPartitions, "sm.sub_partitions"),
		divides("occupancy.max_warps", o.MaxWarps, o.WarpGranularity, "occupancy.warp_granularity"),
		divides("occupancy.max_threads", o.MaxThreads, 32, "a warp's threads"),
		divides("occupancy.max_threads_per_block", o.MaxThreadsBlock, 32, "a warp's threads"),
		divides("occupancy.registers", o.Registers, o.RegUnit, "occupancy.register_unit"),
		divides("occupancy.max_registers_per_block", o.MaxRegsBlock, o.RegUnit, "occupancy.register_unit"),
		divides("occupancy.shared_bytes", o.SharedBytes, o.SharedUnit, "occupancy.shared_unit"),
		divides("lsu.l1_bytes", l.L1Bytes, l.L1LineBytes, "lsu.l1_line_bytes"),
		divides("memory.l2_line_bytes", a.Memory.L2LineBytes, l.SectorBytes, "lsu.sector_bytes"),
	} {
		if f != nil {
			return f
		}
	}
	switch {
	case 32*o.MaxRegsThread > o.Registers:
		return &fault{"occupancy.registers", fmt.Sprintf("occupancy.registers: %d do not hold one warp with occupancy.max_registers_per_thread %d, which takes %d", o.Registers, o.MaxRegsThread, 32*o.MaxRegsThread)}
	case o.MaxThreadsBlock > 32*o.MaxWarps:
		return &fault{"occupancy.max_threads_per_block", fmt.Sprintf("occupancy.max_threads_per_block: %d do not fit into occupancy.max_warps %d", o.MaxThreadsBlock, o.MaxWarps)}
	case o.MaxBlocks > o.MaxWarps:
		return &fault{"occupancy.max_blocks", fmt.Sprintf("occupancy.max_blocks: %d blocks of a warp each do not fit into occupancy.max_warps %d", o.MaxBlocks, o.MaxWarps)}
	}
	return nil
}

// checkOrder checks that what is farther away is slower and what is shared is no faster than the whole.
func checkOrder(a *Arch) *fault {
	l, m := a.LSU, a.Memory
	type pair struct {
		path string
		v    float64
		than string
		w    float64
	}
	for _, p := range []pair{
		{"lsu.constant_miss", float64(l.ConstantMiss), "lsu.constant_latency", float64(l.ConstantLatency)},
		{"lsu.constant_miss_l2", float64(l.ConstantMissL2), "lsu.constant_miss", float64(l.ConstantMiss)},
	} {
		if p.v < p.w {
			return &fault{p.path, fmt.Sprintf("%s: %v is less than %s, %v; it cannot be, since the access passes both", p.path, p.v, p.than, p.w)}
		}
	}
	for _, p := range []pair{
		{"memory.l2_bytes_per_cycle_all", m.L2BytesCycleAll, "memory.l2_bytes_per_cycle", m.L2BytesCycle},
		{"memory.dram_bytes_per_cycle_all", m.DRAMBytesCycleAll, "memory.dram_bytes_per_cycle", m.DRAMBytesCycle},
	} {
		if p.v > p.w {
			return &fault{p.path, fmt.Sprintf("%s: an SM's share with all SMs active, %v, is more than one SM alone gets by %s, %v", p.path, p.v, p.than, p.w)}
		}
	}
	if l.Unified && l.L1Bytes > l.UnifiedBytes {
		return &fault{"lsu.l1_bytes", fmt.Sprintf("lsu.l1_bytes: %d is more than the array of L1 and shared memory, lsu.unified_bytes %d", l.L1Bytes, l.UnifiedBytes)}
	}
	if l.Unified && a.Occupancy.SharedBytes > l.UnifiedBytes {
		return &fault{"occupancy.shared_bytes", fmt.Sprintf("occupancy.shared_bytes: %d is more than the array of L1 and shared memory, lsu.unified_bytes %d", a.Occupancy.SharedBytes, l.UnifiedBytes)}
	}
	return nil
}

// checkTimes checks the timing rows: no result before its instruction has left the pipe's first stage, no rate beyond the
// issue slots, waits within what a programme can notice.
func checkTimes(a *Arch) *fault {
	const slowest = 2000 // cycles: the longest latency of an instruction that does not leave the SM
	for _, name := range slices.Sorted(maps.Keys(a.Classes)) {
		row, path := a.Classes[name], "classes."+name
		switch {
		case !row.Variable && row.Latency > slowest:
			return &fault{path + ".latency", fmt.Sprintf("%s.latency: %d is beyond a fixed latency, which ends at %d; for a result that is signalled when it is there add variable: true", path, row.Latency, slowest)}
		case row.IssueInterval > slowest:
			return &fault{path + ".issue_interval", fmt.Sprintf("%s.issue_interval: %d is beyond what any pipe takes, %d cycles", path, row.IssueInterval, slowest)}
		}
	}
	return nil
}
