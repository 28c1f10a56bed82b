package isatable

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sarchlab/smsim/configs/strictyaml"
)

// Family is what PTX operations have in common whatever their types and modifiers.
type Family struct {
	Ops     string        `yaml:"ops,required"`    // operations, separated by spaces
	Group   string        `yaml:"group,required"`  // heading of the table
	Syntax  string        `yaml:"syntax,required"` // as the PTX reference has it
	Meaning string        `yaml:"meaning,required"`
	Rules   string        `yaml:"rules"`
	AMD     string        `yaml:"amd"`
	CUDA    string        `yaml:"cuda"`
	Since   string        `yaml:"since"` // "1.0 sm_10"; "": not told
	Newer   []string      `yaml:"newer"` // "u16x2 8.0 sm_90": a modifier that came later; "cc+u64|s64 4.3 sm_20": some together
	Table   string        `yaml:"table"` // instructions that the whole table shows
	Shapes  []familyShape `yaml:"forms,required"`
}

// familyShape is how an operation with some modifiers takes its operands.
type familyShape struct {
	Has      string `yaml:"has"`      // modifiers that the word must have
	Op       string `yaml:"op"`       // only this operation
	Before   string `yaml:"before"`   // dressing in front
	Guard    string `yaml:"guard"`    // predicate of the instruction
	Operands string `yaml:"operands"` // "%d, %a, %b"
	Types    string `yaml:"types,required"`
	After    string `yaml:"after"` // dressing behind
	Since    string `yaml:"since"` // where it is later than the family's
	Untimed  bool   `yaml:"untimed"`
	// Where they differ from the family's.
	Syntax  string `yaml:"syntax"`
	Meaning string `yaml:"meaning"`
	Rules   string `yaml:"rules"`
	CUDA    string `yaml:"cuda"`
	AMD     string `yaml:"amd"`
}

//go:embed families.yaml
var familyText []byte

// families are by operation.
var families = sync.OnceValues(func() (map[string]*Family, error) {
	list, err := familyList()
	if err != nil {
		return nil, err
	}
	out := map[string]*Family{}
	for i := range list {
		for _, op := range strings.Fields(list[i].Ops) {
			if out[op] != nil {
				return nil, fmt.Errorf("families.yaml: %s stands in two rows", op)
			}
			out[op] = &list[i]
		}
	}
	return out, nil
})

var familyList = sync.OnceValues(func() ([]Family, error) {
	var doc struct {
		Families []Family `yaml:"families,required"`
	}
	err := strictyaml.Decode("families.yaml", familyText, &doc)
	return doc.Families, err
})

// FamilyOf is the family of a PTX operation, nil if there is none of that name.
func FamilyOf(op string) *Family {
	all, err := families()
	if err != nil {
		return nil
	}
	return all[strings.ToLower(op)]
}

// valueTypes are the types that a PTX opcode names, with the registers that conformance kernels keep them in.
var valueTypes = map[string]string{
	"u8": "u8", "s8": "s8", "b8": "u8", "u16": "u16", "s16": "s16", "b16": "b16", "u32": "u32", "s32": "s32", "b32": "b32",
	"u64": "u64", "s64": "s64", "b64": "b64", "f32": "f32", "f64": "b64", "f16": "b16", "bf16": "b16",
	"u16x2": "b32", "s16x2": "b32", "f16x2": "b32", "bf16x2": "b32", "u8x4": "b32", "s8x4": "b32", "f32x2": "b64", "tf32": "b32",
}

// has says that the word has all the modifiers of a list; | separates alternatives.
func has(mods []string, list string) bool {
	for _, alternatives := range strings.Fields(list) {
		if !slices.ContainsFunc(strings.Split(alternatives, "|"), func(m string) bool { return slices.Contains(mods, m) }) {
			return false
		}
	}
	return true
}

// shape is the first row of the family that fits.
func (f *Family) shape(op string, mods []string) *familyShape {
	for i := range f.Shapes {
		if s := &f.Shapes[i]; (s.Op == "" || s.Op == op) && has(mods, s.Has) {
			return s
		}
	}
	return nil
}

// since is the first PTX version and target that have the operation with its modifiers.
func (f *Family) since(s *familyShape, mods []string) (version, target string) {
	if f.Since == "" {
		return "", ""
	}
	later := func(text string) {
		v, t, _ := strings.Cut(text, " ")
		if version == "" || versionNumber(v) > versionNumber(version) {
			version = v
		}
		if target == "" || smOf(t) > smOf(target) {
			target = t
		}
	}
	later(f.Since)
	if s.Since != "" {
		later(s.Since)
	}
	for _, n := range f.Newer {
		if m, rest, _ := strings.Cut(n, " "); has(mods, strings.ReplaceAll(m, "+", " ")) {
			later(rest)
		}
	}
	return version, target
}

func versionNumber(v string) float64 {
	x, _ := strconv.ParseFloat(v, 64)
	return x
}

func smOf(target string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(target, "sm_"))
	return n
}
