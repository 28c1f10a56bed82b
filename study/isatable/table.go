package isatable

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/strictyaml"
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

// Simulation says what is simulated for a table.
type Simulation uint8

// What is simulated.
const (
	SimulateNothing Simulation = iota
	SimulateHopper             // the loops on sm_90, beside the measurements
	SimulateAll                // the loops on all architectures of the table
)

// Build makes the rows of the forms for the architectures. Equal inputs give equal rows.
func Build(forms []Form, archs []*configs.Arch, s Simulation) ([]Row, error) {
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
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				rows[i] = row(&forms[i], archs, hopper, measured, s)
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
			m.Simulated, _ = Simulate(f, a)
		}
		r.Machines = append(r.Machines, m)
	}
	h := Hardware{}
	if m, ok := measured[f.measured]; ok {
		h.MeasuredLatency, h.MeasuredThroughput = m.Latency, ResultsPerCycle(m.Interval)
	}
	if s != SimulateNothing && !f.Untimed {
		if sim, err := Simulate(f, hopper); err == nil {
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

// Find gives the forms that a word means: a form's whole name, an operation (dp4a), the start of a name (mul.wide), or the
// intrinsic (__dp4a).
func Find(word string, forms []Form) []Form {
	low := strings.ToLower(strings.TrimSpace(word))
	for _, match := range []func(f *Form) bool{
		func(f *Form) bool { return strings.ToLower(f.Name) == low },
		func(f *Form) bool { return operation(f.Name) == low },
		func(f *Form) bool { return strings.HasPrefix(f.Name, low+".") },
		func(f *Form) bool { return slices.Contains(strings.FieldsFunc(f.CUDA, notName), low) },
		func(f *Form) bool { return slices.Contains(strings.FieldsFunc(f.PTX, notWord), low) },
	} {
		var out []Form
		for i := range forms {
			if match(&forms[i]) {
				out = append(out, forms[i])
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// operation is the part of a name before the modifiers.
func operation(name string) string {
	if i := strings.IndexAny(name, ". "); i > 0 {
		return name[:i]
	}
	return name
}

func notName(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

func notWord(r rune) bool { return notName(r) }

// NotFound is the error for a word that is no instruction, with the nearest that are.
func NotFound(word string, forms []Form) error {
	var names []string
	for i := range forms {
		names = append(names, operation(forms[i].Name), forms[i].Name)
	}
	for op := isa.OpNone + 1; op < isa.NumOps; op++ {
		names = append(names, op.String())
	}
	hint := strictyaml.DidYouMean(word, names)
	if !strings.Contains(hint, "did you mean") {
		hint = "; smsim isa lists what there is"
	}
	return fmt.Errorf("no PTX instruction, intrinsic or machine opcode %q%s", word, hint)
}

// Opcode is a machine opcode on the architectures that have it.
type Opcode struct {
	Name    string     `json:"name"`
	Meaning string     `json:"meaning"`
	Class   string     `json:"class"`
	PTX     []string   `json:"ptx"` // forms whose machine code has it on one of the architectures
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

// OpcodeByName finds a machine opcode; modifiers after a dot are ignored.
func OpcodeByName(word string) (isa.Op, bool) {
	name, _, _ := strings.Cut(strings.ToUpper(word), ".")
	return isa.OpByName(name)
}

// DescribeOpcode gives an opcode's timing without modifiers on the architectures that have it.
func DescribeOpcode(op isa.Op, archs []*configs.Arch, forms []Form) Opcode {
	in := isa.Inst{Op: op}
	c := in.Class()
	o := Opcode{Name: op.String(), Meaning: op.Doc(), Class: c.String(), PTX: []string{}, On: []OpcodeOn{}}
	for _, a := range archs {
		row, ok := a.Classes[c.String()]
		if !ok || !op.OnTarget(a.SMNumber()) {
			continue
		}
		t, _ := a.Throughput(c)
		o.On = append(o.On, OpcodeOn{a.Name, a.ComputeCapability, row.Pipe, row.IssueInterval, row.Latency, row.Variable, t, string(row.Confidence), row.Source})
	}
	for i := range forms {
		for _, a := range archs {
			if !op.OnTarget(a.SMNumber()) {
				continue
			}
			m := Lower(&forms[i], a)
			if slices.ContainsFunc(m.Code, func(text string) bool { return opcodeOf(text) == o.Name }) {
				o.PTX = append(o.PTX, forms[i].Name)
				break
			}
		}
	}
	return o
}

// opcodeOf is the opcode of an instruction's text: after a guard, before modifiers.
func opcodeOf(text string) string {
	words := strings.Fields(text)
	if len(words) > 1 && strings.HasPrefix(words[0], "@") {
		words = words[1:]
	}
	name, _, _ := strings.Cut(words[0], ".")
	return strings.TrimSuffix(name, ";")
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
