package study

import (
	"strings"
	"testing"

	"github.com/sarchlab/smsim/sim"
)

// TestNextStep: what is said for each kind of limit, with the numbers of the run.
func TestNextStep(t *testing.T) {
	classes := []sim.ClassCount{{Class: "ldg", Pipe: "mio", Insts: 100}, {Class: "shf", Pipe: "alu", Insts: 60}, {Class: "lop", Pipe: "alu", Insts: 38}, {Class: "isetp", Pipe: "alu", Insts: 2}}
	full := sim.Occupancy{TheoreticalBlocks: 8, TheoreticalWarps: 64, MaxWarps: 64, Limiter: "warps"}
	for _, c := range []struct {
		name string
		kind sim.LimiterKind
		what string
		set  func(*Run)
		want string
	}{
		{"classes of the pipe", sim.LimitPipe, "alu", nil, "less work for the alu pipe: shf 60 %, lop 38 % of its instructions"},
		{"a unit behind the path to memory", sim.LimitPipe, "lsu", nil, "less work for the lsu pipe: ldg 100 %"},
		{"all classes", sim.LimitIssue, "issue", nil, "ldg 50 %, shf 30 %, lop 19 % of its instructions"},
		{"small grid", sim.LimitLatency, "wait", func(r *Run) { r.BlocksRun = 1 }, "the grid gives this SM 1 block where 8 fit; or more independent work a thread"},
		{"full SM", sim.LimitLatency, "wait", nil, "more independent work a thread"},
		{"registers", sim.LimitOccupancy, "registers", func(r *Run) {
			r.Registers, r.Occupancy.TheoreticalBlocks, r.Occupancy.TheoreticalWarps, r.Occupancy.Limiter = 66, 3, 24, "registers"
		}, "with 64 registers a thread instead of 66, 4 blocks fit instead of 3"},
		{"shared memory", sim.LimitOccupancy, "shared", func(r *Run) {
			r.SharedBytes, r.Occupancy.TheoreticalBlocks, r.Occupancy.TheoreticalWarps, r.Occupancy.Limiter = 40000, 5, 40, "shared"
		}, "with 37 KiB of shared memory a block instead of 40000 B, 6 blocks fit instead of 5"},
		{"scattered lanes", sim.LimitMemory, "DRAM bandwidth", func(r *Run) { r.Memory = sim.MemoryUse{L1Sectors: 100, GlobalBytes: 800, SectorsPerRequest: 12} }, "lanes use only 25 % of those in the 12.0 sectors"},
		{"neighbouring lanes", sim.LimitMemory, "L2 bandwidth", func(r *Run) { r.Memory = sim.MemoryUse{L1Sectors: 100, GlobalBytes: 3200} }, "narrower types"},
		{"latency of loads", sim.LimitMemory, "L2 latency", nil, "more loads of a thread in flight"},
		{"launch", sim.LimitLaunch, "launch", nil, "more work for each launch"},
	} {
		r := &Run{Result: sim.Result{Arch: "sm_90", Block: [3]uint32{256, 1, 1}, Registers: 32, BlocksRun: 8, Classes: classes, Occupancy: full, Limiter: sim.Limiter{Kind: c.kind, What: c.what}}}
		if c.set != nil {
			c.set(r)
		}
		if got := nextStep(r); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q lacks %q", c.name, got, c.want)
		}
	}
}
