package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sarchlab/smsim/sim"
)

// RunName names a result in a picture: its variant (or kernel), with the architecture if the results have several.
func RunName(r *sim.Result, withArch bool) string {
	name := r.Variant
	if name == "" {
		name = r.Kernel
	}
	if withArch {
		name += " " + r.Arch
	}
	return name
}

func severalArchs(results []sim.Result) bool {
	for i := range results {
		if results[i].Arch != results[0].Arch {
			return true
		}
	}
	return false
}

// indexOf finds the name in the list, appending it if it is new.
func indexOf(list *[]string, name string) int {
	if i := slices.Index(*list, name); i >= 0 {
		return i
	}
	*list = append(*list, name)
	return len(*list) - 1
}

// WarpStateStacks draws one bar a result.
func WarpStateStacks(title string, results []sim.Result) (*Stacks, error) {
	s := &Stacks{Title: title}
	arch := severalArchs(results)
	for i := range results {
		r := &results[i]
		var row []float64
		sum := uint64(0)
		for _, st := range r.WarpStates {
			sum += st.WarpCycles
		}
		if sum == 0 {
			return nil, fmt.Errorf("%s has no warp-cycles", RunName(r, arch))
		}
		per := 0.0
		for j, st := range r.WarpStates {
			if i == 0 {
				s.States = append(s.States, st.State)
			} else if j >= len(s.States) || s.States[j] != st.State {
				return nil, errors.New("results with different lists of warp states")
			}
			row = append(row, float64(st.WarpCycles)/float64(sum))
			per += st.PerIssue
		}
		s.Runs = append(s.Runs, RunName(r, arch))
		s.Share = append(s.Share, row)
		s.PerIssue = append(s.PerIssue, per)
	}
	return s, nil
}

// PipeBars draws the utilisation of issue slots and of every pipe that any of the results used, in percent.
func PipeBars(title string, results []sim.Result) (*Bars, error) {
	b := &Bars{Title: title, YLabel: "utilisation (% of peak)", XLabel: "pipe", Limit: 100, LimitLabel: "100 %: full"}
	arch := severalArchs(results)
	b.Groups = []string{"issue"}
	for i := range results {
		for _, p := range results[i].Pipes {
			if p.BusyCycles > 0 {
				indexOf(&b.Groups, p.Name)
			}
		}
	}
	for i := range results {
		r := &results[i]
		row := make([]float64, len(b.Groups))
		row[0] = 100 * r.IssueSlots.Utilization
		for g := range row[1:] {
			row[g+1] = math.NaN() // the architecture may lack the pipe
		}
		for _, p := range r.Pipes {
			if g := slices.Index(b.Groups, p.Name); g > 0 {
				row[g] = 100 * p.Utilization
			}
		}
		b.Series = append(b.Series, RunName(r, arch))
		b.Values = append(b.Values, row)
	}
	return b, nil
}

// Level is where a roofline counts traffic.
type Level uint8

// Levels of traffic.
const (
	DRAM Level = iota
	L2
)

func (l Level) String() string { return [...]string{"DRAM", "L2"}[l] }

// sectorBytes is the size of a cache sector.
const sectorBytes = 32

// PointOf places a result on a roofline. Operations are the thread-instructions of the classes that counts accepts;
// predicated-off lanes are taken out in proportion, since a Result counts lanes over all classes only.
func PointOf(r *sim.Result, level Level, counts func(sim.ClassCount) bool) RoofPoint {
	insts := uint64(0)
	for _, c := range r.Classes {
		if counts(c) {
			insts += c.Insts
		}
	}
	ops := 0.0
	if r.WarpInstructions > 0 {
		ops = float64(insts) * float64(r.ThreadInstructions) / float64(r.WarpInstructions)
	}
	bytes := float64(r.Memory.DRAMBytes)
	if level == L2 {
		bytes = float64(r.Memory.L2Sectors) * sectorBytes
	}
	p := RoofPoint{Name: RunName(r, false), Intensity: math.Inf(1)}
	if r.Cycles > 0 {
		p.Ops = ops / float64(r.Cycles)
	}
	if bytes > 0 {
		p.Intensity = ops / bytes
	}
	return p
}

// RooflineOf places results under ceilings and bandwidths.
func RooflineOf(title string, results []sim.Result, level Level, counts func(sim.ClassCount) bool, ceilings []Ceiling, slopes []Slope) *Roofline {
	q := &Roofline{Title: title, Ceilings: ceilings, Slopes: slopes,
		XLabel: "integer operations per byte of " + level.String() + " traffic", YLabel: "integer operations per cycle per SM"}
	arch := severalArchs(results)
	for i := range results {
		p := PointOf(&results[i], level, counts)
		p.Name = RunName(&results[i], arch)
		q.Points = append(q.Points, p)
	}
	return q
}
