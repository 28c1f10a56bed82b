package study

import (
	"github.com/sarchlab/smsim/workloads"
)

// Comparison is one variant against its baseline, with the same launch on the same architecture.
type Comparison struct {
	Arch     string `json:"arch"`
	Launch   string `json:"launch"`
	Label    string `json:"label,omitempty"`
	Baseline string `json:"baseline"`
	Variant  string `json:"variant"`

	// SpeedUp is the time of the baseline divided by that of the variant, for equal work.
	SpeedUp float64 `json:"speed_up"`
	// InstructionRatio is the warp-instructions of the baseline divided by those of the variant, for equal work.
	InstructionRatio float64 `json:"instruction_ratio"`
	// IPCRatio is the variant's warp-instructions a cycle over the baseline's; SpeedUp = InstructionRatio * IPCRatio.
	IPCRatio float64 `json:"ipc_ratio"`

	BaselineLimiter string `json:"baseline_limiter"`
	VariantLimiter  string `json:"variant_limiter"`

	base, vari *Run
}

// Compare makes the pairs that the plan asks for, in the order architecture, pair, launch.
// Where a run is missing the pair is left out.
func Compare(r *Report, pairs []workloads.Comparison) []Comparison {
	var out []Comparison
	for _, arch := range r.Archs() {
		for _, p := range pairs {
			for _, launch := range r.Launches() {
				a, b := r.Find(arch, p.Baseline, launch), r.Find(arch, p.Variant, launch)
				if a == nil || b == nil || a.Cycles == 0 || b.Cycles == 0 {
					continue
				}
				out = append(out, compareRuns(a, b, p.Label))
			}
		}
	}
	return out
}

// compareRuns compares two runs; their work is taken as equal where it is not given.
func compareRuns(a, b *Run, label string) Comparison {
	work := 1.0
	if a.Work > 0 && b.Work > 0 {
		work = b.Work / a.Work
	}
	c := Comparison{Arch: a.Arch, Launch: a.Launch, Label: label, Baseline: a.Variant, Variant: b.Variant, base: a, vari: b,
		SpeedUp:          float64(a.Cycles) / float64(b.Cycles) * work,
		InstructionRatio: float64(a.WarpInstructions) / float64(b.WarpInstructions) * work,
		BaselineLimiter:  ShortLimiter(a), VariantLimiter: ShortLimiter(b)}
	c.IPCRatio = c.SpeedUp / c.InstructionRatio
	return c
}

// comparison is the pair with a label on an architecture and with a launch; nil if there is none.
func (r *Report) comparison(arch, launch, label string) *Comparison {
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Arch == arch && c.Launch == launch && pairLabel(c) == label {
			return c
		}
	}
	return nil
}
