// Package isatable is an instruction table for integer GPU code: for every PTX instruction, CUDA intrinsic and machine
// opcode its meaning, rules and closest AMD instruction, which are data, and its machine code, pipes, latency and
// throughput on every architecture, which are computed by lowering and simulating it.
package isatable

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/study/conform"
)

// Kinds of forms.
const (
	KindPTX       = "ptx"
	KindIntrinsic = "intrinsic"
)

// Form is one PTX instruction, a short sequence that machines fuse, or a CUDA intrinsic as the compiler expands it.
type Form struct {
	Kind    string `yaml:"-" json:"kind"`
	Group   string `yaml:"group,required" json:"group"`
	Name    string `yaml:"name" json:"name"`                  // "dp4a.s32.s32", "add + max", "__vadd4"
	PTX     string `yaml:"ptx,required" json:"ptx"`           // %a %b %c operands, %d result, %e second result
	Types   string `yaml:"types,required" json:"types"`       // of d, e if there is one, a, b, c
	Since   string `yaml:"since,required" json:"ptx_version"` // first PTX version, "" for intrinsics
	Target  string `yaml:"target,required" json:"target"`     // first target that PTX accepts
	Meaning string `yaml:"meaning,required" json:"meaning"`
	Rules   string `yaml:"rules" json:"rules,omitempty"`
	AMD     string `yaml:"amd" json:"amd,omitempty"`
	CUDA    string `yaml:"cuda" json:"cuda,omitempty"`
	Untimed bool   `yaml:"untimed" json:"-"` // no loop makes a chain of it
	Syntax  string `yaml:"-" json:"syntax,omitempty"`

	core     string // the line of PTX that is the instruction itself; "": all of it
	measured string // key of the measurement
}

//go:embed instructions.yaml
var instructionText []byte

//go:embed intrinsics.yaml
var intrinsicText []byte

//go:embed measured_sm90.csv.gz
var measuredData []byte

// Forms are all forms: PTX instructions, then intrinsics.
var Forms = sync.OnceValues(func() ([]Form, error) {
	var doc struct {
		Instructions []Form `yaml:"instructions,required"`
	}
	if err := strictyaml.Decode("instructions.yaml", instructionText, &doc); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i := range doc.Instructions {
		f := &doc.Instructions[i]
		f.Kind, f.measured = KindPTX, f.PTX
		if f.Name == "" {
			f.Name = strings.Fields(f.PTX)[0]
		}
		if lut := lutOf(f); lut != "" {
			f.Name += " " + lut
		}
		if seen[f.Name] {
			return nil, fmt.Errorf("instructions.yaml: two rows are called %s", f.Name)
		}
		seen[f.Name] = true
		if n := strings.Count(f.Types, " ") + 1; n != len(f.symbols()) {
			return nil, fmt.Errorf("instructions.yaml: %s: %d types for %d operands", f.Name, n, len(f.symbols()))
		}
	}
	out, err := familyForms(doc.Instructions, seen)
	if err != nil {
		return nil, err
	}
	intrinsics, err := intrinsicForms()
	if err != nil {
		return nil, err
	}
	out = append(out, intrinsics...)
	rank := map[string]int{}
	for i := range out {
		if _, known := rank[out[i].Group]; !known {
			rank[out[i].Group] = len(rank)
		}
	}
	slices.SortStableFunc(out, func(a, b Form) int { return rank[a.Group] - rank[b.Group] })
	return out, nil
})

// familyForms adds the instructions that the families give to the table, and to all forms their syntax.
func familyForms(forms []Form, seen map[string]bool) ([]Form, error) {
	words, err := tableWords()
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		f, ok, err := FromWord(w)
		if err != nil || !ok {
			return nil, fmt.Errorf("families.yaml: %s: %v", w, err)
		}
		if !seen[f.Name] {
			seen[f.Name] = true
			forms = append(forms, *f)
		}
	}
	for i := range forms {
		f := &forms[i]
		if fam := FamilyOf(operation(f.Name)); fam != nil && !strings.Contains(f.Name, " + ") {
			f.Syntax = fam.Syntax
		}
	}
	return forms, nil
}

// Dressed says that the form has instructions around the one it is about, which make or use its predicates or addresses.
func (f *Form) Dressed() bool { return f.core != "" && f.core != f.PTX }

// Dressing are the operations around the instruction.
func (f *Form) Dressing() string {
	before, after, _ := strings.Cut(f.PTX, f.core)
	var ops []string
	for _, part := range strings.FieldsFunc(before+";"+after, func(r rune) bool { return r == ';' || r == '{' || r == '}' }) {
		words := strings.Fields(part)
		if len(words) > 1 && (strings.HasPrefix(words[0], "@") || strings.HasSuffix(words[0], ":")) {
			words = words[1:]
		}
		if len(words) > 0 && !strings.HasPrefix(words[0], ".") {
			ops = append(ops, words[0])
		}
	}
	return strings.Join(ops, ", ")
}

// Text is the instruction that the form is about.
func (f *Form) Text() string {
	if f.core != "" {
		return f.core
	}
	return f.PTX
}

// lutOf is the truth table of a lop3, which makes it another instruction.
func lutOf(f *Form) string {
	if !strings.HasPrefix(f.PTX, "lop3") {
		return ""
	}
	i := strings.LastIndex(f.PTX, ", ")
	return strings.TrimSuffix(f.PTX[i+2:], ";")
}

// symbols are the operand letters of the form in the order of Types.
func (f *Form) symbols() []string {
	out := []string{"d"}
	for _, s := range []string{"e", "a", "b", "c"} {
		if regexp.MustCompile(`%` + s + `\b`).MatchString(f.PTX) {
			out = append(out, s)
		}
	}
	return out
}

// conform is the form as the conformance kernels take it.
func (f *Form) conform() conform.Form {
	types := strings.Fields(f.Types)
	c := conform.Form{ID: 0, PTX: f.PTX, Result: types[0]}
	syms := f.symbols()
	rest := types[1:]
	if len(syms) > 1 && syms[1] == "e" {
		c.Second, rest = rest[0], rest[1:]
	}
	c.Operands = rest
	return c
}

// Measurement is what a GPU took, in cycles of one SM for each warp-wide execution.
type Measurement struct {
	Latency  float64 // of a dependent execution of one warp; 0: not measured
	Interval float64 // between executions of the SM when 16 warps with 4 chains each keep it busy; 0: not measured
}

// Loop shapes of the measurement: executions of a chain in the latency loop and in the throughput loop, and how many of
// these the SM executes in all.
const (
	latencyBody, latencyLoops       = 16, 32
	throughputBody, throughputLoops = 8, 64
	throughputChains                = 4
	throughputWarps                 = 16
	latencyRuns                     = latencyBody * latencyLoops
	throughputRuns                  = throughputBody * throughputLoops * throughputChains * throughputWarps
)

// measurements are by the form's text.
var measurements = sync.OnceValues(func() (map[string]Measurement, error) {
	z, err := gzip.NewReader(bytes.NewReader(measuredData))
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(z)
	r.Comment = '#'
	recs, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	out := map[string]Measurement{}
	for _, rec := range recs[1:] {
		var m Measurement
		if rec[1] != "" {
			v, err := strconv.ParseFloat(rec[1], 64)
			if err != nil {
				return nil, err
			}
			m.Latency = v / latencyRuns
		}
		if rec[2] != "" {
			v, err := strconv.ParseFloat(rec[2], 64)
			if err != nil {
				return nil, err
			}
			m.Interval = v / throughputRuns
		}
		out[rec[0]] = m
	}
	return out, nil
})
