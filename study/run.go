// Package study answers questions with simulations: it runs the cases of a plan on architectures, compares variants,
// finds what limits them and writes reports. Plain functions over results; it knows nothing of terminals.
//
// execute.go, compile.go, point.go and simulate.go run a plan. A question has a file that computes the answer and one that words it
// as text, JSON and CSV: versus, whatif, sensitivity, rank, occupancy, kerneldiff, archs and sweep_*, with disasm and isa_text for
// what is read off code. answer.go and limits.go are the sentences of a study; pictures.go and plot*.go choose pictures. Questions
// with data or rules of their own are packages below this one.
package study

import (
	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/sim"
)

// Run is one simulated case on one architecture: the simulation's result and what the study knows about the case.
type Run struct {
	Study   string   `json:"study,omitempty"`
	Variant string   `json:"variant"` // name of the variant; the kernel's name where there are no variants
	Launch  string   `json:"launch,omitempty"`
	Title   string   `json:"launch_title,omitempty"`
	Group   string   `json:"group,omitempty"`
	X       *float64 `json:"x,omitempty"` // position on the study's x axis

	sim.Result

	Input      string   `json:"input"`                 // "ptx": lowered here; "sass": machine code of a listing
	SMs        int      `json:"sms"`                   // SMs that share the grid
	Blocks     string   `json:"blocks"`                // which blocks this SM ran
	Overrides  []string `json:"overrides,omitempty"`   // key=value of the numbers of the architecture that were set
	Followed   []string `json:"followed,omitempty"`    // the same of those that could not stay beside them: what is farther away takes no less time, a share is no more than the whole
	OwnNumbers []string `json:"own_numbers,omitempty"` // keys of the user's own numbers that the run could feel; its confidence is assumed then
	Work       float64  `json:"work,omitempty"`        // units of work of the blocks that ran
	WorkUnit   string   `json:"work_unit,omitempty"`
	WorkCycle  float64  `json:"work_per_cycle,omitempty"`
	Outputs    []Output `json:"outputs,omitempty"`
	CodeInsts  int      `json:"code_instructions"` // static machine instructions
	CodeBytes  int      `json:"code_bytes"`
	LocalBytes int      `json:"local_bytes"` // a thread

	written []writtenBuffer // for comparing outputs; nil unless asked for
	ran     []Output        // Outputs as the simulated blocks have left them, before a check executes the others
}

// Output describes a buffer that the kernel writes, after the run.
type Output struct {
	Name    string   `json:"name"`
	Bytes   int      `json:"bytes"`
	FNV1a64 string   `json:"fnv1a64"`
	First   []uint32 `json:"first_words"` // up to eight
}

// Report is everything a command prints or writes: the runs and what follows from them.
type Report struct {
	Schema      int          `json:"schema"`
	Study       string       `json:"study,omitempty"`
	Source      string       `json:"source,omitempty"` // the run file
	Question    string       `json:"question,omitempty"`
	Answer      []string     `json:"answer,omitempty"` // paragraphs
	Runs        []Run        `json:"runs"`
	Comparisons []Comparison `json:"comparisons,omitempty"`
	Failures    []Failure    `json:"failures,omitempty"`

	Issues *IssueTimeline `json:"issues,omitempty"` // of the only run, if asked for

	XAxis    string `json:"x_axis,omitempty"`
	WorkUnit string `json:"work_unit,omitempty"`
	IsStudy  bool   `json:"-"`

	archs map[string]*configs.Arch // of the runs, as simulated
}

// Failure is a case that gave no result on an architecture.
type Failure struct {
	Variant string `json:"variant"`
	Launch  string `json:"launch,omitempty"`
	Arch    string `json:"arch"`
	Error   string `json:"error"`

	Err error `json:"-"`
}

// Failed counts the runs whose output differs from what is expected.
func (r *Report) Failed() int {
	n := 0
	for i := range r.Runs {
		if r.Runs[i].Check == "failed" {
			n++
		}
	}
	return n
}

// Archs lists the architectures of the runs in order of appearance.
func (r *Report) Archs() []string { return r.distinct(func(x *Run) string { return x.Arch }) }

// Variants lists the variants of the runs in order of appearance.
func (r *Report) Variants() []string { return r.distinct(func(x *Run) string { return x.Variant }) }

// Launches lists the launches of the runs in order of appearance.
func (r *Report) Launches() []string { return r.distinct(func(x *Run) string { return x.Launch }) }

func (r *Report) distinct(of func(*Run) string) []string {
	var out []string
	seen := map[string]bool{}
	for i := range r.Runs {
		if n := of(&r.Runs[i]); !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// Find gives the run of a variant and launch on an architecture, nil if there is none.
func (r *Report) Find(arch, variant, launch string) *Run {
	for i := range r.Runs {
		if x := &r.Runs[i]; x.Arch == arch && x.Variant == variant && x.Launch == launch {
			return x
		}
	}
	return nil
}

// InputError marks a mistake in what the user gave, as opposed to a simulation that failed.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap gives the mistake itself.
func (e *InputError) Unwrap() error { return e.Err }
