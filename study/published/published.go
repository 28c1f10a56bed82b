// Package published compares the model with results that others published for GPUs that this project could not measure:
// latencies and rates of instructions, of DPX functions, peak rates of products, and clocks of register bank conflicts. Each
// figure is a row of published.csv with its source; its probe runs on the model as its authors' benchmark did on the GPU.
package published

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/study/isatable"
)

// Figure is one published result.
type Figure struct {
	Set       string  `json:"set"`   // heading
	Arch      string  `json:"arch"`  // "sm_80"
	Board     string  `json:"board"` // the product it was measured on
	Probe     string  `json:"probe"` // instruction as `smsim isa` takes it, or machine code
	Quantity  string  `json:"quantity"`
	Published float64 `json:"published"`
	Source    string  `json:"source"` // key of docs/sources.md
	Doubt     string  `json:"doubt,omitempty"`
}

// Quantities of a figure.
const (
	Latency = "latency" // cycles of a dependent execution
	Rate    = "rate"    // results a cycle and SM
	Clocks  = "clocks"  // cycles between the instructions of one warp
)

// Result is a figure beside the model's.
type Result struct {
	Figure
	Predicted float64 `json:"predicted"`
	Error     string  `json:"error,omitempty"`
}

// Deviation is how far the model is off, as a share of the published figure.
func (r *Result) Deviation() float64 { return r.Predicted/r.Published - 1 }

// Tolerance is how far off the model may be: published latencies are whole cycles of loops with some overhead, peak rates
// were taken at a clock that was not written down (cards run up to a fifth above their listed boost clock), and the DPX
// rates of short functions come out up to 13 % above the pipe's in the benchmark that they are from.
func (r *Result) Tolerance() float64 {
	switch {
	case r.Quantity == Rate && strings.HasPrefix(r.Set, "DPX"):
		return 0.16
	case strings.HasPrefix(r.Quantity, "gops"):
		return 0.25
	case r.Quantity == Rate:
		return 0.1
	case r.Quantity == Clocks:
		return 0.06
	}
	return 0.15
}

// Agrees says that the model is within the tolerance, or a latency within 1.1 cycles.
func (r *Result) Agrees() bool {
	return math.Abs(r.Deviation()) <= r.Tolerance() || r.Quantity == Latency && math.Abs(r.Predicted-r.Published) <= 1.1
}

//go:embed published.csv
var data []byte

// Figures are all published figures in the order of the table.
func Figures() ([]Figure, error) {
	recs, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("published.csv: %w", err)
	}
	var out []Figure
	for i, r := range recs[1:] {
		v, err := strconv.ParseFloat(r[5], 64)
		if err != nil || v <= 0 {
			return nil, fmt.Errorf("published.csv:%d: %q is no positive number", i+2, r[5])
		}
		out = append(out, Figure{r[0], r[1], r[2], r[3], r[4], v, r[6], r[7]})
	}
	return out, nil
}

// Run predicts the figures, several at a time. Results are in the figures' order.
func Run(figures []Figure) ([]Result, error) {
	forms, err := isatable.Forms()
	if err != nil {
		return nil, err
	}
	out := make([]Result, len(figures))
	probes := newProbes(forms)
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				out[i].Figure = figures[i]
				v, err := probes.predict(&figures[i])
				if err != nil {
					out[i].Error = strings.SplitN(err.Error(), "\n", 2)[0]
				}
				out[i].Predicted = v
			}
		})
	}
	for i := range figures {
		next <- i
	}
	close(next)
	wg.Wait()
	return out, nil
}

// probes times instructions, each once for an architecture.
type probes struct {
	forms []isatable.Form
	mu    sync.Mutex
	done  map[string]*isatable.Simulated
}

func newProbes(forms []isatable.Form) *probes {
	return &probes{forms: forms, done: map[string]*isatable.Simulated{}}
}

func (p *probes) predict(f *Figure) (float64, error) {
	a, err := configs.Load(f.Arch, nil)
	if err != nil {
		return 0, err
	}
	if f.Quantity == Clocks {
		return clocks(a, f.Probe)
	}
	probe := isatable.Apart
	if f.Source == "HOPLOG" || f.Source == "GMB" { // loops in CUDA, from which the compiler takes what stays the same
		probe = isatable.Chained
	}
	s, err := p.simulate(a, f.Probe, probe)
	if err != nil {
		return 0, err
	}
	rate := isatable.ResultsPerCycle(s.Interval)
	switch {
	case f.Quantity == Latency:
		return s.Latency, nil
	case f.Quantity == Rate:
		return rate, nil
	}
	ops, err := strconv.ParseFloat(strings.TrimPrefix(f.Quantity, "gops/"), 64)
	if err != nil {
		return 0, fmt.Errorf("published.csv: unknown quantity %q", f.Quantity)
	}
	b, err := configs.LoadBoard(f.Board)
	if err != nil {
		return 0, err
	}
	return rate * ops * float64(b.SMs) * b.ClockMHz / 1000, nil
}

// simulate times the loops of an instruction.
func (p *probes) simulate(a *configs.Arch, word string, probe isatable.Probe) (*isatable.Simulated, error) {
	key := fmt.Sprint(a.Name, probe, word)
	p.mu.Lock()
	s := p.done[key]
	p.mu.Unlock()
	if s != nil {
		return s, nil
	}
	found, err := isatable.Lookup(word, p.forms)
	if err != nil {
		return nil, err
	}
	if len(found.Forms) == 0 {
		return nil, fmt.Errorf("published.csv: %q is no single instruction", word)
	}
	if s, err = isatable.Simulate(&found.Forms[0], a, probe); err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.done[key] = s
	p.mu.Unlock()
	return s, nil
}
