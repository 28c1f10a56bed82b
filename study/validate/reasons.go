package validate

import (
	"math"

	"github.com/sarchlab/smsim/sim"
)

// Reasons say how well the model agrees with Nsight Compute on why real kernels take their time. Counters are of the cold
// launches, so only kernels_cold has all of them.
type Reasons struct {
	Launches      int     `json:"launches"`
	TopState      float64 `json:"top_state_equal_percent"`     // launches whose largest warp state is Nsight's
	StateShares   float64 `json:"state_share_distance_points"` // half the summed difference of the shares, mean over launches
	Pipes         float64 `json:"pipe_utilisation_points"`     // mean absolute difference of alu, fma, xu and lsu
	ExactCounts   float64 `json:"instructions_equal_percent"`  // launches with exactly the hardware's warp-instructions
	CountsOff     float64 `json:"instructions_off_percent"`    // mean absolute difference
	BankConflicts float64 `json:"bank_conflicts_off_percent"`  // mean difference relative to the shared wavefronts
	L1HitRate     float64 `json:"l1_hit_rate_points"`          // mean absolute difference
	Occupancy     float64 `json:"occupancy_off_percent"`       // mean absolute difference of the resident warps
}

// reason is the comparison of one launch.
type reason struct {
	topEqual, exact                                 bool
	modelTop, hardwareTop                           string
	shares, pipes, counts, conflicts, l1, occupancy float64
}

// pipeCounters are the counters of instructions a pipe executed.
var pipeCounters = [...]struct{ pipe, counter string }{
	{"alu", "sm__inst_executed_pipe_alu.sum"},
	{"fma", "sm__inst_executed_pipe_fma.sum"},
	{"xu", "sm__inst_executed_pipe_xu.sum"},
	{"lsu", "sm__inst_executed_pipe_lsu.sum"},
}

// compare sets a simulated launch against the hardware's counters. Warm launches were profiled without them.
func compare(res *sim.Result, c map[string]float64, cold bool) *reason {
	if !cold {
		return nil
	}
	r := &reason{}
	var model, hardware, top, hardwareTop float64
	for _, s := range res.WarpStates {
		model += s.PerIssue
		hardware += c["stall_"+s.State]
	}
	for _, s := range res.WarpStates {
		h := c["stall_"+s.State]
		r.shares += 50 * math.Abs(s.PerIssue/model-h/hardware)
		if s.State == sim.Selected.String() || s.State == sim.NotSelected.String() {
			continue
		}
		if s.PerIssue > top {
			top, r.modelTop = s.PerIssue, s.State
		}
		if h > hardwareTop {
			hardwareTop, r.hardwareTop = h, s.State
		}
	}
	r.topEqual = r.modelTop == r.hardwareTop
	cycles := c["sm__cycles_active.avg"]
	for _, p := range pipeCounters {
		var insts float64
		for _, u := range res.Pipes {
			if u.Name == p.pipe || p.pipe == "fma" && (u.Name == "fmaheavy" || u.Name == "fmalite") {
				insts += float64(u.Insts)
			}
		}
		// Warp-instructions a cycle, in points of one a cycle and SM: the intervals of the opcodes do not matter.
		r.pipes += 100 * math.Abs(insts/float64(res.Cycles)-c[p.counter]/measuredSMs/cycles) / float64(len(pipeCounters))
	}
	measured := c["smsp__inst_executed.sum"] / measuredSMs
	r.exact = math.Abs(float64(res.WarpInstructions)-measured) < 0.5
	r.counts = 100 * math.Abs(float64(res.WarpInstructions)-measured) / measured
	if waves := c["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"] / measuredSMs; waves > 0 {
		r.conflicts = 100 * math.Abs(float64(res.Memory.BankConflicts)-c["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"]/measuredSMs) / waves
	}
	r.l1 = math.Abs(100*res.Memory.L1HitRate - c["l1tex__t_sector_hit_rate.pct"])
	if warps := c["sm__warps_active.avg.per_cycle_active"]; warps > 0 {
		r.occupancy = 100 * math.Abs(res.Occupancy.AchievedWarps-warps) / warps
	}
	return r
}

// summarise is the mean over launches, nil if there are none.
func summarise(rs []*reason) *Reasons {
	if len(rs) == 0 {
		return nil
	}
	n := float64(len(rs))
	out := &Reasons{Launches: len(rs)}
	for _, r := range rs {
		if r.topEqual {
			out.TopState += 100 / n
		}
		if r.exact {
			out.ExactCounts += 100 / n
		}
		out.StateShares += r.shares / n
		out.Pipes += r.pipes / n
		out.CountsOff += r.counts / n
		out.BankConflicts += r.conflicts / n
		out.L1HitRate += r.l1 / n
		out.Occupancy += r.occupancy / n
	}
	return out
}
