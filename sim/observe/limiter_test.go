package observe

import (
	"strings"
	"testing"

	"github.com/sarchlab/smsim/sim"
)

// TestLimit gives synthetic results of which only the named numbers differ.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		name     string
		issue    float64
		pipe     string
		busy     float64
		states   map[sim.WarpState]uint64 // warp-cycles per 100 instructions
		warps    float64
		change   func(*sim.Result)
		kind     sim.LimiterKind
		what     string
		sentence string // contained
	}{
		{name: "issue slots", issue: 0.93, pipe: "alu", busy: 0.7, states: map[sim.WarpState]uint64{sim.NotSelected: 800, sim.Wait: 100},
			warps: 64, kind: sim.LimitIssue, what: "issue", sentence: "93 % of their cycles; 8.0 warp-cycles of eligible warps"},
		{name: "pipe as busy as the issue slots", issue: 0.79, pipe: "alu", busy: 0.80, states: map[sim.WarpState]uint64{sim.NotSelected: 600, sim.MathPipeThrottle: 510},
			warps: 64, kind: sim.LimitPipe, what: "alu", sentence: "alu pipe: busy in 80 %"}, // ncc_imad_c1 on a full H200 SM: unpacking bytes fills the ALU
		{name: "many eligible warps", issue: 0.75, pipe: "alu", busy: 0.6, states: map[sim.WarpState]uint64{sim.NotSelected: 800, sim.MathPipeThrottle: 500},
			warps: 64, kind: sim.LimitIssue, what: "issue", sentence: "75 %"},
		{name: "pipe", issue: 0.6, pipe: "alu", busy: 0.94, states: map[sim.WarpState]uint64{sim.MathPipeThrottle: 510, sim.NotSelected: 200},
			warps: 48, kind: sim.LimitPipe, what: "alu", sentence: "alu pipe: busy in 94 % of the cycles; 5.1 warp-cycles of waiting"},
		{name: "pipe below saturation but most waited for", issue: 0.5, pipe: "xu", busy: 0.7, states: map[sim.WarpState]uint64{sim.MIOThrottle: 900, sim.Wait: 100},
			warps: 48, kind: sim.LimitPipe, what: "xu", sentence: "9.0 warp-cycles of waiting for a pipe per issued instruction (mio_throttle)"},
		{name: "latency", issue: 0.3, pipe: "alu", busy: 0.28, states: map[sim.WarpState]uint64{sim.Wait: 200, sim.LongScoreboard: 20},
			warps: 4, kind: sim.LimitLatency, what: "wait", sentence: "1.0 warps a scheduler; 62 % of warp-cycles wait for fixed-latency results"},
		{name: "memory latency", issue: 0.1, pipe: "lsu", busy: 0.2, states: map[sim.WarpState]uint64{sim.LongScoreboard: 900},
			warps: 8, kind: sim.LimitMemory, what: "DRAM latency", sentence: "memory latency: 90 %"},
		{name: "bandwidth", issue: 0.1, pipe: "lsu", busy: 0.2, states: map[sim.WarpState]uint64{sim.LongScoreboard: 900}, warps: 64,
			change: func(r *sim.Result) { r.Memory.DRAMBytes, r.MemoryCeiling = 16000, 17.4 }, kind: sim.LimitMemory, what: "DRAM bandwidth", sentence: "DRAM moves 16.0 of at most 17.4 bytes a cycle"},
		{name: "bandwidth of L2", issue: 0.1, pipe: "lsu", busy: 0.2, states: map[sim.WarpState]uint64{sim.LongScoreboard: 900}, warps: 64,
			change: func(r *sim.Result) {
				r.Memory.DRAMBytes, r.MemoryCeiling, r.Memory.L2ReadSectors, r.L2Ceiling = 10000, 17.4, 700, 30 // 57 % of DRAM, 75 % of L2
			}, kind: sim.LimitMemory, what: "L2 bandwidth", sentence: "L2 gives 22.4 of at most 30.0 bytes a cycle for this SM; 90 % of warp-cycles wait for loads (long_scoreboard)"},
		{name: "little of L2's bandwidth", issue: 0.1, pipe: "lsu", busy: 0.2, states: map[sim.WarpState]uint64{sim.LongScoreboard: 900}, warps: 64,
			change: func(r *sim.Result) {
				r.Memory.L2ReadSectors, r.L2Ceiling, r.Memory.L2HitRate = 500, 30, 1 // 53 %
			}, kind: sim.LimitMemory, what: "L2 latency", sentence: "memory latency: 90 %"},
		{name: "bandwidth while warps are there", issue: 0.1, pipe: "lsu", busy: 0.2, states: map[sim.WarpState]uint64{sim.LongScoreboard: 900}, warps: 64,
			change: func(r *sim.Result) {
				r.Memory.L2ReadSectors, r.L2Ceiling, r.Memory.L2HitRate, r.Occupancy.ActiveCycles = 500, 30, 1, 600 // 89 % of these cycles
			}, kind: sim.LimitMemory, what: "L2 bandwidth", sentence: "L2 gives 26.7 of at most 30.0"},
		{name: "launch", issue: 0.01, pipe: "adu", busy: 0.01, states: map[sim.WarpState]uint64{sim.Wait: 900}, warps: 1,
			change: func(r *sim.Result) { r.Occupancy.ActiveCycles = 499 }, kind: sim.LimitLaunch, what: "launch", sentence: "holds warps in only 50 % of the cycles"},
		{name: "half of the time is no launch", issue: 0.01, pipe: "adu", busy: 0.01, states: map[sim.WarpState]uint64{sim.Wait: 900}, warps: 1,
			change: func(r *sim.Result) { r.Occupancy.ActiveCycles = 500 }, kind: sim.LimitLatency, what: "wait", sentence: "latency: "},
		{name: "constants", issue: 0.1, pipe: "alu", busy: 0.2, states: map[sim.WarpState]uint64{sim.IMCMiss: 900}, warps: 4,
			kind: sim.LimitConstants, what: "imc_miss", sentence: "constants: 90 % of warp-cycles wait for constants that miss their cache (imc_miss)"},
		{name: "two latencies", issue: 0.3, pipe: "alu", busy: 0.28, states: map[sim.WarpState]uint64{sim.Wait: 200, sim.LongScoreboard: 140}, warps: 4,
			kind: sim.LimitLatency, what: "wait", sentence: "45 % of warp-cycles wait for fixed-latency results (wait), 32 % for loads (long_scoreboard); "},
		{name: "one latency", issue: 0.3, pipe: "alu", busy: 0.28, states: map[sim.WarpState]uint64{sim.Wait: 200, sim.LongScoreboard: 139}, warps: 4,
			kind: sim.LimitLatency, what: "wait", sentence: "wait for fixed-latency results (wait); the busiest"},
		{name: "barrier", issue: 0.3, pipe: "lsu", busy: 0.2, states: map[sim.WarpState]uint64{sim.Barrier: 900}, warps: 32,
			kind: sim.LimitBarrier, what: "barrier", sentence: "90 % of warp-cycles wait at block barriers"},
		{name: "fetch", issue: 0.3, pipe: "alu", busy: 0.2, states: map[sim.WarpState]uint64{sim.NoInstruction: 900}, warps: 4,
			kind: sim.LimitFetch, what: "no_instruction", sentence: "fetch: 90 %"},
		{name: "register file", issue: 0.3, pipe: "alu", busy: 0.6, states: map[sim.WarpState]uint64{sim.DispatchStall: 900}, warps: 16,
			kind: sim.LimitRegFile, what: "register read ports", sentence: "register file: 90 %"},
		{name: "bank conflicts fill the pipe", issue: 0.05, pipe: "lsu", busy: 0.94, states: map[sim.WarpState]uint64{sim.ShortScoreboard: 760, sim.MathPipeThrottle: 1}, warps: 5,
			change: func(r *sim.Result) {
				r.Pipes[0].BusyCycles, r.Memory.SharedWavefronts, r.Memory.BankConflicts, r.Memory.SharedLoads = 940, 900, 873, 27
			}, kind: sim.LimitShared, what: "bank conflicts",
			sentence: "shared memory: 97 % of 900 wavefronts are repeats by bank conflicts; the lsu pipe is busy in 94 % of the cycles; 88 % of warp-cycles wait for results of shared memory"},
		{name: "shared-memory atomics", issue: 0.05, pipe: "lsu", busy: 0.5, states: map[sim.WarpState]uint64{sim.ShortScoreboard: 760}, warps: 5,
			change: func(r *sim.Result) {
				r.Memory.SharedWavefronts, r.Memory.BankConflicts, r.Memory.SharedLoads = 500, 480, 1
				r.Classes = []sim.ClassCount{{Class: "atoms", Insts: 20}}
			}, kind: sim.LimitShared, what: "shared-memory atomics", sentence: "96 % of 500 wavefronts"},
		{name: "few bank conflicts", issue: 0.05, pipe: "lsu", busy: 0.94, states: map[sim.WarpState]uint64{sim.ShortScoreboard: 760, sim.MathPipeThrottle: 1}, warps: 5,
			change: func(r *sim.Result) {
				r.Pipes[0].BusyCycles, r.Memory.SharedWavefronts, r.Memory.BankConflicts = 940, 900, 300
			}, kind: sim.LimitPipe, what: "lsu", sentence: "lsu pipe: busy in 94 % of the cycles; 88 % of warp-cycles wait for results of shared memory, conversions or special functions (short_scoreboard)"},
		{name: "global atomics", issue: 0.1, pipe: "lsu", busy: 0.2, states: map[sim.WarpState]uint64{sim.LongScoreboard: 900}, warps: 8,
			change: func(r *sim.Result) { r.Memory.Atomics, r.Memory.GlobalLoads = 30, 3 }, kind: sim.LimitMemory, what: "DRAM latency", sentence: "30 of 33 global accesses are atomics"},
		{name: "occupancy", issue: 0.3, pipe: "alu", busy: 0.3, states: map[sim.WarpState]uint64{sim.LongScoreboard: 900}, warps: 8,
			change: func(r *sim.Result) {
				r.Occupancy.TheoreticalWarps, r.Occupancy.Theoretical, r.Occupancy.Limiter = 8, 0.125, "registers"
			}, kind: sim.LimitOccupancy, what: "registers", sentence: "registers keep the SM at 8 of 64 warps"},
	} {
		r := &sim.Result{Cycles: 1000, WarpInstructions: 100, IssueSlots: sim.IssueSlots{Utilization: c.issue},
			Latencies: sim.Latencies{L1: 32, L2: 273, DRAM: 668},
			Pipes:     []sim.PipeUse{{Name: c.pipe, Insts: 1, Instances: 4, Utilization: c.busy}},
			Occupancy: sim.Occupancy{AchievedWarps: c.warps, TheoreticalWarps: 64, MaxWarps: 64, Theoretical: 1, Limiter: "warps"}}
		for s := sim.WarpState(0); s < sim.NumWarpStates; s++ {
			n := c.states[s]
			if s == sim.Selected {
				n = 100
			}
			r.WarpStates = append(r.WarpStates, sim.StateShare{State: s.String(), WarpCycles: n})
		}
		if c.change != nil {
			c.change(r)
		}
		got := Limit(r)
		if got.Kind != c.kind || got.What != c.what || !strings.Contains(got.Sentence, c.sentence) {
			t.Errorf("%s: %+v\nwant %s %s with %q", c.name, got, c.kind, c.what, c.sentence)
		}
	}
}

// TestSlowestLevel: few misses outweigh many hits, as many as the level behind is slower on this architecture.
func TestSlowestLevel(t *testing.T) {
	hopper, tesla := sim.Latencies{L1: 32, L2: 273, DRAM: 668}, sim.Latencies{L1: 500, L2: 500, DRAM: 550}
	for _, c := range []struct {
		l1, l2 float64
		on     sim.Latencies
		want   string
	}{{1, 0, hopper, "L1"}, {0.95, 1, hopper, "L1"}, {0.85, 1, hopper, "L2"}, {0.85, 0, hopper, "DRAM"}, {0.2, 0.9, hopper, "L2"}, {0, 0.2, hopper, "DRAM"},
		{0.85, 1, tesla, "L1"}, {0.6, 0, tesla, "L1"}, {0.45, 0, tesla, "DRAM"}} {
		if got := slowestLevel(&sim.MemoryUse{L1HitRate: c.l1, L2HitRate: c.l2}, c.on); got != c.want {
			t.Errorf("L1 hits %g, L2 hits %g, latencies %+v: %s, want %s", c.l1, c.l2, c.on, got, c.want)
		}
	}
}
