package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/study/page"
)

// nextStep says in a clause what would move the limit of a run, with what the run used of it; "" if nothing can be said.
func nextStep(r *Run) string {
	l := &r.Limiter
	switch l.Kind {
	case sim.LimitIssue:
		return "fewer instructions (smsim advise looks for ones that do more): " + largestClasses(r, "")
	case sim.LimitPipe:
		of := largestClasses(r, l.What)
		if of == "" { // a unit behind the path to memory, which its instructions are counted on
			of = largestClasses(r, "mio")
		}
		if of != "" {
			return fmt.Sprintf("less work for the %s pipe: %s", l.What, of)
		}
	case sim.LimitLatency, sim.LimitOccupancy:
		return joinOr(moreWarps(r), "more independent work a thread")
	case sim.LimitMemory:
		switch {
		case strings.HasSuffix(l.What, "bandwidth"):
			return "fewer bytes: " + bytesUsed(&r.Memory)
		case strings.HasSuffix(l.What, "latency"):
			return joinOr(moreWarps(r), "more loads of a thread in flight before the first is used")
		}
		return "fewer, wider requests: " + bytesUsed(&r.Memory)
	case sim.LimitShared:
		if l.What == "shared-memory atomics" {
			return "fewer atomics on one word: add up within the warp first"
		}
		return "a layout in which the lanes of a request use different banks: rows padded by a word, or columns exchanged by row"
	case sim.LimitBarrier:
		return joinOr(moreWarps(r), "smaller blocks, so that others work while one waits")
	case sim.LimitFetch:
		return fmt.Sprintf("less code where it loops: the kernel has %s, loops unrolled or not", bytesText(r.CodeBytes))
	case sim.LimitConstants:
		return "fewer lines of constants touched, or more work for each launch, which finds them cold"
	case sim.LimitRegFile:
		return "operands of an instruction in different register banks (smsim disasm --format sass marks conflicts)"
	case sim.LimitLaunch:
		return "more work for each launch, or for each thread"
	}
	return ""
}

// joinOr joins alternatives that are not empty.
func joinOr(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; or ")
}

// largestClasses are the opcode classes that make most of the executed instructions, of all pipes or of one: "lop 40 %, shf 22 %".
func largestClasses(r *Run, pipe string) string {
	const few = 3
	total := uint64(0)
	var classes []sim.ClassCount
	for _, c := range r.Classes {
		if pipe == "" || c.Pipe == pipe {
			classes = append(classes, c)
			total += c.Insts
		}
	}
	var out []string
	for _, c := range classes[:min(few, len(classes))] {
		if 20*c.Insts >= total {
			out = append(out, fmt.Sprintf("%s %.0f %%", c.Class, 100*float64(c.Insts)/float64(total)))
		}
	}
	if out == nil {
		return ""
	}
	return strings.Join(out, ", ") + " of its instructions"
}

// bytesUsed says how many of the bytes that global accesses move are asked for by lanes, and what follows.
func bytesUsed(m *sim.MemoryUse) string {
	const sector, most = 32, 0.8 // bytes; share from which on accesses count as coalesced
	if moved := sector * float64(m.L1Sectors); moved > 0 && float64(m.GlobalBytes) < most*moved {
		return fmt.Sprintf("lanes use only %.0f %% of those in the %.1f sectors a request moves; let neighbouring lanes use neighbouring addresses", 100*float64(m.GlobalBytes)/moved, m.SectorsPerRequest)
	}
	return "narrower types, or data kept in registers and shared memory"
}

// moreWarps says how more warps become resident; "" if all that can be are.
func moreWarps(r *Run) string {
	o := &r.Occupancy
	switch {
	case r.BlocksRun < o.TheoreticalBlocks:
		return fmt.Sprintf("more warps: the grid gives this SM %s where %d fit", page.Plural(r.BlocksRun, "block"), o.TheoreticalBlocks)
	case o.TheoreticalWarps >= o.MaxWarps:
		return ""
	case o.Limiter == "blocks":
		return "more warps: larger blocks, as the number of blocks is at its most"
	}
	a, err := archOf(r)
	if err != nil {
		return ""
	}
	threads := int(r.Block[0] * r.Block[1] * r.Block[2])
	switch o.Limiter {
	case "registers":
		if n, blocks := nextFit(r.Registers, func(n int) configs.OccupancyResult { return a.ResidentBlocks(threads, n, r.SharedBytes) }); n > 0 {
			return fmt.Sprintf("more warps: with %d registers a thread instead of %d, %s fit instead of %d", n, r.Registers, page.Plural(blocks, "block"), o.TheoreticalBlocks)
		}
	case "shared":
		if n, blocks := nextFit(r.SharedBytes, func(n int) configs.OccupancyResult { return a.ResidentBlocks(threads, r.Registers, n) }); n > 0 {
			return fmt.Sprintf("more warps: with %s of shared memory a block instead of %s, %s fit instead of %d", bytesText(n), bytesText(r.SharedBytes), page.Plural(blocks, "block"), o.TheoreticalBlocks)
		}
	}
	return "more warps: smaller blocks, if another size fills the SM"
}

// nextFit is the largest amount below the present one with which more blocks fit, and their number; 0 if there is none.
func nextFit(now int, fit func(int) configs.OccupancyResult) (amount, blocks int) {
	have := fit(now).Blocks
	for n := now - 1; n > 0; n-- {
		if b := fit(n).Blocks; b > have {
			return n, b
		}
	}
	return 0, 0
}
