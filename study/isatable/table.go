package isatable

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
)

// Row is a form with what it becomes on the architectures.
type Row struct {
	Form
	Machines []Machine `json:"architectures"`
	Hardware *Hardware `json:"sm_90,omitempty"` // measured on an H200, beside the simulator
}

// Hardware compares the timing loops of the H200 with those of the simulator on sm_90. Absent: not measured, not simulated.
type Hardware struct {
	MeasuredLatency     float64 `json:"measured_latency,omitempty"`
	SimulatedLatency    float64 `json:"simulated_latency,omitempty"`
	MeasuredThroughput  float64 `json:"measured_results_per_cycle_per_sm,omitempty"`
	SimulatedThroughput float64 `json:"simulated_results_per_cycle_per_sm,omitempty"`
	// Folded says that the compiler shortened the measured loop: executions took less time than the instruction can.
	Folded bool `json:"measured_loop_was_shortened_by_the_compiler,omitempty"`
	// SimulatedFolded says the same of smsim's own lowering of the loop.
	SimulatedFolded bool `json:"simulated_loop_was_shortened_by_the_compiler,omitempty"`
}

// LoopsDiffer says that the simulated times of the instruction alone on the architecture of the measurement differ by more than a tenth from those of
// the measured loop, which smsim's lowering may shorten in part as other compilers do.
func (r *Row) LoopsDiffer() bool {
	i := slices.IndexFunc(r.Machines, func(m Machine) bool { return m.Arch == "sm_90" })
	if i < 0 || r.Machines[i].Simulated == nil || r.Hardware == nil || r.Hardware.SimulatedFolded {
		return false
	}
	s, h := r.Machines[i].Simulated, r.Hardware
	differ := func(a, b float64) bool { return a > 0 && b > 0 && max(a, b) > 1.1*min(a, b) }
	return differ(s.Latency, h.SimulatedLatency) || differ(ResultsPerCycle(s.Interval), h.SimulatedThroughput)
}

// Simulation says what is simulated for a table.
type Simulation uint8

// What is simulated.
const (
	SimulateNothing Simulation = iota
	SimulateHopper             // the loops on sm_90, beside the measurements
	SimulateAll                // the loops on all architectures of the table
)

// Build makes the rows of the forms for the architectures. Equal inputs give equal rows. progress, if not nil, is called after each form, by several
// goroutines, one at a time.
func Build(forms []Form, archs []*configs.Arch, s Simulation, progress func(done, total int)) ([]Row, error) {
	measured, err := measurements()
	if err != nil {
		return nil, err
	}
	hopper, err := configs.Load("sm_90", nil)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(forms))
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				rows[i] = row(&forms[i], archs, hopper, measured, s)
				if progress != nil {
					mu.Lock()
					done++
					progress(done, len(forms))
					mu.Unlock()
				}
			}
		})
	}
	for i := range forms {
		next <- i
	}
	close(next)
	wg.Wait()
	return rows, nil
}

func row(f *Form, archs []*configs.Arch, hopper *configs.Arch, measured map[string]Measurement, s Simulation) Row {
	r := Row{Form: *f}
	for _, a := range archs {
		m := Lower(f, a)
		if s == SimulateAll && m.Error == "" && !f.Untimed {
			// What cannot be timed has no number; that it can be lowered is said all the same.
			m.Simulated, _ = Simulate(f, a, Apart)
		}
		r.Machines = append(r.Machines, m)
	}
	h := Hardware{}
	m, ok := measured[f.measured]
	probe := Apart
	if ok {
		h.MeasuredLatency, h.MeasuredThroughput = m.Latency, ResultsPerCycle(m.Interval)
		probe = AsMeasured
	}
	if s != SimulateNothing && !f.Untimed {
		if sim, err := Simulate(f, hopper, probe); err == nil {
			h.SimulatedLatency, h.SimulatedThroughput = sim.Latency, ResultsPerCycle(sim.Interval)
		}
	}
	const lowest = 3.9 // the shortest dependent latency of sm_90's pipes is 4
	h.Folded = h.MeasuredLatency > 0 && h.MeasuredLatency < lowest
	h.SimulatedFolded = h.SimulatedLatency > 0 && h.SimulatedLatency < lowest
	if m := Lower(f, hopper); m.Native && m.Throughput > 0 {
		h.Folded = h.Folded || h.MeasuredThroughput > 1.5*m.Throughput
		h.SimulatedFolded = h.SimulatedFolded || h.SimulatedThroughput > 1.5*m.Throughput
	}
	if h != (Hardware{}) {
		r.Hardware = &h
	}
	return r
}

// Opcode is a machine opcode on the architectures that have it.
type Opcode struct {
	Name    string     `json:"name"`
	Meaning string     `json:"meaning"`
	Class   string     `json:"class"`
	PTX     []string   `json:"ptx"`       // forms whose machine code has it on one of the architectures
	Has     []string   `json:"exists_on"` // compute capabilities of all bundled architectures that have it
	On      []OpcodeOn `json:"architectures"`
}

// OpcodeOn is an opcode's timing on one architecture.
type OpcodeOn struct {
	Arch          string   `json:"arch"`
	CC            string   `json:"compute_capability"`
	Pipes         []string `json:"pipes"`
	IssueInterval int      `json:"issue_interval"`
	Latency       int      `json:"latency"`
	Variable      bool     `json:"variable_latency"`
	Throughput    float64  `json:"results_per_cycle_per_sm"`
	Confidence    string   `json:"confidence"`
	Source        string   `json:"source"`
}

// DescribeOpcode gives an opcode's timing on the architectures that have it.
func DescribeOpcode(q *OpcodeQuery, archs []*configs.Arch, forms []Form) Opcode {
	c := q.class()
	o := Opcode{Name: q.Name(), Meaning: q.Op.Doc(), Class: c.String(), PTX: []string{}, Has: q.existsOn(), On: []OpcodeOn{}}
	for _, a := range archs {
		row, ok := a.Classes[c.String()]
		if !ok || !q.on(a.SMNumber()) {
			continue
		}
		t, _ := a.Throughput(c)
		o.On = append(o.On, OpcodeOn{a.Name, a.ComputeCapability, row.Pipe, row.IssueInterval, row.Latency, row.Variable, t, string(row.Confidence), row.Source})
	}
	for i := range forms {
		for _, a := range archs {
			if !q.on(a.SMNumber()) {
				continue
			}
			m := Lower(&forms[i], a)
			if slices.ContainsFunc(m.Code, q.matches) {
				o.PTX = append(o.PTX, forms[i].Name)
				break
			}
		}
	}
	return o
}

// on says that the target has the opcode with the modifiers: the 64-bit product of IMAD came with Volta.
func (q *OpcodeQuery) on(sm int) bool {
	return q.Op.OnTarget(sm) && (q.class() != isa.ClassIMADWIDE || sm >= 70)
}

// existsOn are the compute capabilities of the bundled architectures that have the opcode.
func (q *OpcodeQuery) existsOn() []string {
	out := []string{}
	for _, name := range configs.List() {
		if n := smOf(name); q.on(n) {
			out = append(out, fmt.Sprintf("%d.%d", n/10, n%10))
		}
	}
	return out
}

// Ranges shortens a list of compute capabilities in ascending order: neighbours among the bundled ones become a range.
func Ranges(list []string) string {
	var all []string
	for _, name := range configs.List() {
		n := smOf(name)
		all = append(all, fmt.Sprintf("%d.%d", n/10, n%10))
	}
	var parts []string
	for i := 0; i < len(list); {
		k := i
		at := slices.Index(all, list[i])
		for k+1 < len(list) && at+k+1-i < len(all) && all[at+k+1-i] == list[k+1] {
			k++
		}
		part := list[i]
		if k > i {
			part += " to " + list[k]
		}
		parts = append(parts, part)
		i = k + 1
	}
	return strings.Join(parts, ", ")
}

// matches says that an instruction's text has the opcode with the modifiers.
func (q *OpcodeQuery) matches(text string) bool {
	name := opcodeOf(text)
	if operation(name) != q.Op.String() {
		return false
	}
	mods := strings.Split(name, ".")
	return !slices.ContainsFunc(q.Mods, func(m string) bool { return !slices.Contains(mods, m) })
}

// opcodeOf is the opcode of an instruction's text with its modifiers: after a guard, before the operands.
func opcodeOf(text string) string {
	words := strings.Fields(text)
	if len(words) > 1 && strings.HasPrefix(words[0], "@") {
		words = words[1:]
	}
	return strings.TrimSuffix(words[0], ";")
}

// Span is a run of architectures on which a form is the same.
type Span struct {
	From, To string // compute capabilities
	*Machine
}

// Spans joins neighbouring architectures with the same code, pipes and timing.
func Spans(ms []Machine) []Span {
	var out []Span
	same := func(a, b *Machine) bool {
		return a.Accepted == b.Accepted && a.Error == b.Error && registerless(a) == registerless(b) && slices.Equal(a.Pipes, b.Pipes) && a.Latency == b.Latency &&
			a.Throughput == b.Throughput && a.Confidence == b.Confidence && (a.Simulated == nil) == (b.Simulated == nil) && (a.Simulated == nil || *a.Simulated == *b.Simulated)
	}
	for i := range ms {
		if n := len(out) - 1; n >= 0 && same(out[n].Machine, &ms[i]) {
			out[n].To = ms[i].ComputeCapability
			continue
		}
		out = append(out, Span{ms[i].ComputeCapability, ms[i].ComputeCapability, &ms[i]})
	}
	return out
}

// registerless is the sequence of opcodes with modifiers: register numbers differ between targets.
func registerless(m *Machine) string {
	var b strings.Builder
	for _, c := range m.Code {
		words := strings.Fields(c)
		b.WriteString(words[0])
		if strings.HasPrefix(words[0], "@") && len(words) > 1 {
			b.WriteString(words[1])
		}
		b.WriteByte(';')
	}
	return b.String()
}
