package advise

import (
	"cmp"
	"slices"

	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

// Warps is the gain of the rewrites together over the number of warps resident on the SM.
type Warps struct {
	Points []WarpPoint `json:"points"`
	// PaysFrom is the smallest number of resident warps a scheduler at which the speed-up reaches PaysAt; 0: none that fits on the SM does.
	PaysFrom float64 `json:"pays_from_warps_a_scheduler,omitempty"`
	PaysAt   float64 `json:"pays_at"`
}

// WarpPoint is one number of blocks on the SM.
type WarpPoint struct {
	Blocks   int     `json:"blocks"`
	Warps    float64 `json:"warps_a_scheduler"`
	SpeedUp  float64 `json:"speedup"`
	Limiter  string  `json:"limiter"`
	Limiter2 string  `json:"limiter_after"`
}

// paysAt is the speed-up at which an instruction is said to pay.
const paysAt = 1.05

// residentWarps simulates the kernel and the rewrites with one block on the SM, then two, four, up to what fits: more warps are more independent work
// to hide latencies behind. The blocks are of the launch; the rest of the machine is taken as equally busy.
func (a *Advice) residentWarps(plan, changed *workloads.Plan, opt Options) (map[string]Warps, error) {
	type point struct {
		arch   string
		blocks int
	}
	var points []point
	var plans []*workloads.Plan // the kernel as it is and changed, by turns
	total := plan.Cases[0].Grid.Count()
	for _, arch := range a.Archs {
		r := a.runs[arch]
		if r == nil {
			continue
		}
		most := min(r.Occupancy.TheoreticalBlocks, total)
		for n := 1; n <= most; n = next(n, most) {
			points = append(points, point{arch, n})
			for _, kernel := range []*workloads.Plan{plan, changed} {
				p := *kernel
				p.Archs, p.Check = []string{a.asked[arch].as}, workloads.CheckNone
				p.Blocks = workloads.Blocks{Mode: workloads.BlocksCount, Count: n}
				plans = append(plans, &p)
			}
		}
	}
	reps, err := study.ExecuteEach(plans, opt.Options)
	if err != nil {
		return nil, err
	}
	out := map[string]Warps{}
	for i, at := range points {
		x, y := &reps[2*i].Runs[0], &reps[2*i+1].Runs[0]
		pt := WarpPoint{Blocks: at.blocks, Warps: x.Occupancy.AchievedWarps / float64(schedulers(x)),
			SpeedUp: float64(x.Cycles) / float64(y.Cycles), Limiter: study.ShortLimiter(x), Limiter2: study.ShortLimiter(y)}
		w := out[at.arch]
		w.PaysAt, w.Points = paysAt, append(w.Points, pt)
		if w.PaysFrom == 0 && pt.SpeedUp >= paysAt {
			w.PaysFrom = pt.Warps
		}
		out[at.arch] = w
	}
	return out, nil
}

// best is the point with the highest speed-up.
func (w *Warps) best() WarpPoint {
	return slices.MaxFunc(w.Points, func(a, b WarpPoint) int { return cmp.Compare(a.SpeedUp, b.SpeedUp) })
}

// worst is the point with the lowest speed-up of those from PaysFrom on.
func (w *Warps) worst() WarpPoint {
	from := max(0, slices.IndexFunc(w.Points, func(p WarpPoint) bool { return w.PaysFrom > 0 && p.Warps >= w.PaysFrom }))
	return slices.MinFunc(w.Points[from:], func(a, b WarpPoint) int { return cmp.Compare(a.SpeedUp, b.SpeedUp) })
}

// next doubles a number of blocks and ends with the most.
func next(n, most int) int {
	if n < most && 2*n > most {
		return most
	}
	return 2 * n
}

// schedulers is the number of warp schedulers of the SM: the instances of a pipe that each sub-partition has.
func schedulers(r *study.Run) int {
	n := 1
	for _, p := range r.Pipes {
		n = max(n, p.Instances)
	}
	return n
}
