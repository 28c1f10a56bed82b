package isatable

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
)

// Machine is a form on one architecture.
type Machine struct {
	Arch              string   `json:"arch"`
	ComputeCapability string   `json:"compute_capability"`
	Accepted          bool     `json:"accepted_by_ptx"`
	Code              []string `json:"code"` // machine instructions that the form becomes
	Native            bool     `json:"native"`
	Pipes             []string `json:"pipes"` // that they use, in order of appearance
	// Latency of a dependent instruction in cycles: the class's for one instruction, else 0 (see Simulated).
	Latency float64 `json:"latency,omitempty"`
	// Throughput is the most results a cycle and SM: what the busiest pipe, SM-wide unit or the issue slots allow. 0: unknown (loops).
	Throughput float64    `json:"results_per_cycle_per_sm,omitempty"`
	Confidence string     `json:"confidence,omitempty"` // of the weakest timing row used
	Simulated  *Simulated `json:"simulated,omitempty"`
	Error      string     `json:"error,omitempty"`
}

// Lower lowers a kernel that executes the form once for the architecture and describes the form's instructions.
func Lower(f *Form, a *configs.Arch) Machine {
	m := Machine{Arch: a.Name, ComputeCapability: a.ComputeCapability, Accepted: accepted(f, a)}
	c := f.conform()
	text := c.Kernel()
	mod, err := ptx.Parse(f.Name, []byte(text))
	if err != nil {
		m.Error = reason(err)
		return m
	}
	p, err := lower.Compile(mod, "", a.Target(), lower.Options{OpaqueMoves: true})
	if err != nil {
		m.Error = reason(err)
		return m
	}
	line, core := int32(0), f.core
	if core == "" {
		core = f.PTX
	}
	for i, l := range strings.Split(text, "\n") {
		if strings.TrimSpace(l) == core {
			line = int32(i + 1)
		}
	}
	var insts []*isa.Inst
	for i := range p.Insts {
		if in := &p.Insts[i]; in.Pos.Line == line {
			insts = append(insts, in)
			m.Code = append(m.Code, p.Text(i))
		}
	}
	m.Native = len(insts) == 1
	m.describe(insts, a)
	return m
}

// accepted says whether PTX allows the form on the architecture.
func accepted(f *Form, a *configs.Arch) bool {
	return a.SMNumber() >= smOf(f.Target)
}

// describe gives pipes, latency and throughput of a sequence.
func (m *Machine) describe(insts []*isa.Inst, a *configs.Arch) {
	load := newPipeLoad(a)
	rank := 0
	looped := false
	var rows []configs.ClassRow
	for _, in := range insts {
		row, ok := a.Classes[in.Class().String()]
		if !ok {
			continue
		}
		looped = looped || in.Class().IsControl()
		rows = append(rows, row)
		rank = max(rank, confidenceRank(row.Confidence))
		name := strings.Join(row.Pipe, " or ")
		seen := false
		for _, p := range m.Pipes {
			seen = seen || p == name
		}
		if !seen {
			m.Pipes = append(m.Pipes, name)
		}
		if len(insts) == 1 {
			m.Latency = float64(row.Latency)
		}
	}
	// Those with few pipes to choose from first: the others fill what is left.
	slices.SortStableFunc(rows, func(x, y configs.ClassRow) int { return len(x.Pipe) - len(y.Pipe) })
	for i := range rows {
		load.add(&rows[i])
	}
	if len(rows) > 0 {
		m.Confidence = string(confidences[rank])
		if !looped {
			m.Throughput = load.resultsPerCycle()
		}
	}
}

var confidences = []configs.Confidence{configs.Measured, configs.Published, configs.Derived, configs.Assumed}

func confidenceRank(c configs.Confidence) int {
	for i, x := range confidences {
		if x == c {
			return i
		}
	}
	return len(confidences) - 1
}

// pipeLoad adds up the cycles that instructions hold the units of an SM; each sub-partition runs its own warps, so the
// load of a sub-partition's pipe is that of one warp.
type pipeLoad struct {
	a      *configs.Arch
	cycles map[string]float64 // of one instance
	issue  float64
}

func newPipeLoad(a *configs.Arch) *pipeLoad { return &pipeLoad{a: a, cycles: map[string]float64{}} }

// add spreads an instruction over its alternative pipes so that the busiest of them is as little busy as possible.
func (l *pipeLoad) add(row *configs.ClassRow) {
	l.issue += float64(l.a.SM.IssueInterval) / float64(max(1, l.a.SM.IssueWidth))
	need := float64(row.IssueInterval)
	// fits gives what the pipes can take up to a level of business.
	fits := func(level float64) (room float64) {
		for _, p := range row.Pipe {
			room += max(0, level/l.share(p)-l.cycles[p])
		}
		return room
	}
	low, high := 0.0, 1.0
	for fits(high) < need {
		high *= 2
	}
	for range 60 {
		if mid := (low + high) / 2; fits(mid) < need {
			low = mid
		} else {
			high = mid
		}
	}
	for _, p := range row.Pipe {
		l.cycles[p] = max(l.cycles[p], high/l.share(p))
	}
	for _, p := range row.Holds {
		l.cycles[p] += need
	}
	if row.SharedPipe != "" {
		l.cycles[row.SharedPipe] += float64(row.SharedHold)
	}
}

// share is how many sub-partitions use one instance of the pipe.
func (l *pipeLoad) share(pipe string) float64 {
	if l.a.Pipes[pipe].Per == "sm" {
		return float64(l.a.SM.SubPartitions)
	}
	return 1
}

// resultsPerCycle is the bound of the busiest unit.
func (l *pipeLoad) resultsPerCycle() float64 {
	busiest := l.issue
	for p, c := range l.cycles {
		busiest = max(busiest, c*l.share(p))
	}
	if busiest == 0 {
		return 0
	}
	// Nine digits: the water level is found by halving.
	r := 32 * float64(l.a.SM.SubPartitions) / busiest
	return math.Round(r*1e9) / 1e9
}

// CodeText is the machine code on one line, long ones cut to their first instructions.
func (m *Machine) CodeText(most int) string {
	switch {
	case m.Error != "":
		return m.Error
	case len(m.Code) == 0:
		return "no instruction (folded into its neighbours)"
	case len(m.Code) > most:
		return strings.Join(m.Code[:most], "; ") + fmt.Sprintf("; ... (%d in all)", len(m.Code))
	}
	return strings.Join(m.Code, "; ")
}
