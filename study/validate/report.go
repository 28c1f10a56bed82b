package validate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// Report is the outcome of a validation. Errors are in percent of the measured value, positive when the model takes longer.
type Report struct {
	Arch      string `json:"arch"`
	Without   string `json:"without,omitempty"` // mechanism that was switched off
	Every     int    `json:"every"`             // every n-th row of each set was replayed
	ErrorUnit string `json:"error_unit"`        // percent
	Sets      []*Set `json:"sets"`
	// Rows are all results, present if asked for.
	Rows []*Result `json:"rows,omitempty"`
}

// Set is a class of measurements, replayed from one input.
type Set struct {
	Name    string    `json:"name"`
	Input   Input     `json:"input"`
	Rows    int       `json:"rows"`   // replayed
	Failed  int       `json:"failed"` // could not be replayed; not part of the errors below
	MAPE    Percent   `json:"mape"`   // mean of the absolute errors
	Bias    Percent   `json:"bias"`   // mean of the signed errors
	P50     Percent   `json:"p50"`    // of the absolute errors
	P95     Percent   `json:"p95"`
	Max     Percent   `json:"max"`
	Reasons *Reasons  `json:"reasons,omitempty"` // of real kernels: does the model agree why
	Pairs   *Pairs    `json:"pairs,omitempty"`   // variants of one algorithm: does the model see what they gain
	Results []*Result `json:"-"`
	Groups  []Group   `json:"-"` // kinds of rows, largest mean error first
}

// Percent is an error of a set's rows in percent, NaN if none was replayed: null in JSON.
type Percent float64

// MarshalJSON writes the number, or null where there is none.
func (p Percent) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(p)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(p))
}

// format writes the number as fmt does, or - where there is none.
func (p Percent) format(verb string) string {
	if math.IsNaN(float64(p)) {
		return "-"
	}
	return fmt.Sprintf(verb, float64(p))
}

// Result is one row: what the model predicts, what the hardware took.
type Result struct {
	Set       string  `json:"set"`
	Input     Input   `json:"input"`
	Name      string  `json:"name"`
	Kernel    string  `json:"kernel"`
	Group     string  `json:"group"`
	Predicted float64 `json:"predicted"` // cycles
	Measured  float64 `json:"measured"`
	Error     float64 `json:"error"` // percent
	Failure   string  `json:"failure,omitempty"`

	reasons *reason
	work    string // what the launch does, the same for variants of an algorithm
}

// Group is the error of one kind of rows.
type Group struct {
	Name              string
	Rows              int
	MAPE, Bias, Worst float64
}

// finish computes the statistics of all sets.
func (rep *Report) finish() {
	for _, s := range rep.Sets {
		s.finish()
	}
}

func (s *Set) finish() {
	var abs, signed []float64
	groups := map[string][]float64{}
	var reasons []*reason
	for _, r := range s.Results {
		if r.Failure != "" {
			s.Failed++
			continue
		}
		abs, signed = append(abs, math.Abs(r.Error)), append(signed, r.Error)
		groups[r.Group] = append(groups[r.Group], r.Error)
		if r.reasons != nil {
			reasons = append(reasons, r.reasons)
		}
	}
	s.Rows = len(abs)
	slices.Sort(abs)
	s.MAPE, s.Bias = Percent(mean(abs)), Percent(mean(signed))
	s.P50, s.P95, s.Max = Percent(quantile(abs, 0.5)), Percent(quantile(abs, 0.95)), Percent(quantile(abs, 1))
	s.Reasons = summarise(reasons)
	s.Pairs = pairUp(s.Results)
	for name, e := range groups {
		g := Group{Name: name, Rows: len(e), Bias: mean(e)}
		for _, x := range e {
			g.MAPE += math.Abs(x) / float64(len(e))
			if math.Abs(x) > math.Abs(g.Worst) {
				g.Worst = x
			}
		}
		s.Groups = append(s.Groups, g)
	}
	sort.Slice(s.Groups, func(i, j int) bool {
		x, y := &s.Groups[i], &s.Groups[j]
		if x.MAPE != y.MAPE {
			return x.MAPE > y.MAPE
		}
		return x.Name < y.Name
	})
}

// Failed counts the rows that could not be replayed.
func (rep *Report) Failed() int {
	n := 0
	for _, s := range rep.Sets {
		n += s.Failed
	}
	return n
}

// FirstFailure is the first row that could not be replayed, nil if there is none.
func (rep *Report) FirstFailure() *Result {
	if all := failures(rep); len(all) > 0 {
		return all[0]
	}
	return nil
}

// AllRows are the results of all sets in order.
func (rep *Report) AllRows() []*Result {
	var out []*Result
	for _, s := range rep.Sets {
		out = append(out, s.Results...)
	}
	return out
}

// Worst are the n replayed rows with the largest errors.
func (rep *Report) Worst(n int, inputs ...Input) []*Result {
	rows := slices.DeleteFunc(rep.AllRows(), func(r *Result) bool {
		return r.Failure != "" || len(inputs) > 0 && !slices.Contains(inputs, r.Input)
	})
	slices.SortStableFunc(rows, func(x, y *Result) int {
		switch ex, ey := math.Abs(x.Error), math.Abs(y.Error); {
		case ex > ey:
			return -1
		case ex < ey:
			return 1
		}
		return 0
	})
	return rows[:min(n, len(rows))]
}

// mean is NaN of no values.
func mean(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// quantile of sorted values: the smallest that at least the share q of them does not exceed; NaN of no values.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

func list(names []string) string { return strings.Join(names, ", ") }
