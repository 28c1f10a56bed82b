package isatable

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/study/conform"
)

var (
	entryLine  = regexp.MustCompile(`(?m)^\.visible \.entry (k\d+)\(`)
	loadParam  = regexp.MustCompile(`^ld\.param\.u64\s+(%rd\d+), \[k\d+_param_(\d)\];`)
	toGlobal   = regexp.MustCompile(`^cvta\.to\.global\.u64\s+(%rd\d+), (%rd\d+);`)
	addOffset  = regexp.MustCompile(`^add\.s64\s+(%rd\d+), (%rd\d+), (%rd\d+);`)
	loadGlobal = regexp.MustCompile(`^ld\.global\.(\w+)\s+(%\w+), \[(%rd\d+)\];`)
	store      = regexp.MustCompile(`^st\.global\.u64\s+\[(%rd\d+)\], (%\w+);`)
	widen      = regexp.MustCompile(`^cvt\.u64\.(\w+)\s+(%rd\d+), (%\w+);`)
	threadLine = regexp.MustCompile(`^(mov\.u32\s+%r\d+, %(ctaid|ntid|tid)\.x;|mad\.lo\.s32\s+(%r\d+), .*|mul\.wide\.u32\s+%rd\d+, %r\d+, 8;|ret;)`)
)

// intrinsicForms makes forms of the bundled intrinsics: the lines of each one's kernel that compute, between its loads
// and its store, in a scope of their own.
func intrinsicForms() ([]Form, error) {
	var doc struct {
		Intrinsics map[string]string `yaml:"intrinsics,required"`
	}
	if err := strictyaml.Decode("intrinsics.yaml", intrinsicText, &doc); err != nil {
		return nil, err
	}
	set, err := conform.BundledIntrinsics()
	if err != nil {
		return nil, err
	}
	text := strings.Join(set.Module.Lines, "\n")
	bodies := map[string]string{}
	starts := entryLine.FindAllStringSubmatchIndex(text, -1)
	for i, m := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		bodies[text[m[2]:m[3]]] = text[m[0]:end]
	}
	var out []Form
	names := map[string]int{}
	for i := range set.Intrinsics {
		in := &set.Intrinsics[i]
		name, _, _ := strings.Cut(in.Expr, "(")
		meaning, ok := doc.Intrinsics[name]
		if !ok {
			return nil, fmt.Errorf("intrinsics.yaml: no meaning of %s", name)
		}
		f := Form{Kind: KindIntrinsic, Group: intrinsicGroup(name), Name: name, Meaning: meaning, Target: "sm_20", CUDA: in.Expr, measured: in.Expr}
		if names[name]++; names[name] > 1 {
			f.Name += " (unsigned)"
		}
		if err := f.fromKernel(bodies[fmt.Sprintf("k%d", in.ID)]); err != nil {
			return nil, fmt.Errorf("intrinsic %s: %w", name, err)
		}
		out = append(out, f)
	}
	return out, nil
}

// intrinsicGroup is the heading of an intrinsic: the instructions of dynamic programming, those on halves and bytes, others.
func intrinsicGroup(name string) string {
	switch {
	case strings.HasPrefix(name, "__vi"):
		return "DPX intrinsics"
	case strings.HasPrefix(name, "__v"):
		return "SIMD intrinsics"
	}
	return "Integer intrinsics"
}

// fromKernel fills PTX and Types from an intrinsic's kernel.
func (f *Form) fromKernel(text string) error {
	k, err := readIntrinsic(text)
	if err != nil {
		return err
	}
	core, inputs := k.core, k.inputs
	result := k.result
	// The widening of the result for the store is not part of the intrinsic.
	typ := "u64"
	if narrow := k.narrow[result]; narrow != "" {
		core = slices.DeleteFunc(core, func(l string) bool { return widen.MatchString(l) && strings.Contains(l, result+",") })
		result, typ = narrow, k.widths[result]
	}
	types := []string{typ}
	slices.SortStableFunc(inputs, func(x, y intrinsicInput) int { return strings.Compare(x.letter, y.letter) })
	lines := append([]string{"{"}, k.decls...)
	for i, in := range inputs {
		bits := "b32"
		if strings.HasSuffix(in.typ, "64") {
			bits = "b64"
		}
		if i == 0 || inputs[i-1].letter != in.letter {
			types = append(types, in.typ)
		}
		lines = append(lines, fmt.Sprintf("mov.%s %s, %%%s;", bits, in.reg, in.letter))
	}
	bits := "b32"
	if typ == "u64" {
		bits = "b64"
	}
	lines = append(append(lines, core...), fmt.Sprintf("mov.%s %%d, %s;", bits, result), "}")
	f.PTX, f.Types = strings.Join(strings.Fields(strings.Join(lines, " ")), " "), strings.Join(types, " ")
	return nil
}

// intrinsicKernel is what a kernel around an intrinsic consists of, without what brings its operands and stores its result.
type intrinsicKernel struct {
	decls, core []string
	inputs      []intrinsicInput
	result      string            // register that is stored
	narrow      map[string]string // widened register -> the one it was widened from
	widths      map[string]string // widened register -> type of that
}

// intrinsicInput is an operand: a, b or c, its type and register.
type intrinsicInput struct{ letter, typ, reg string }

// readIntrinsic takes an intrinsic's kernel apart.
func readIntrinsic(text string) (*intrinsicKernel, error) {
	open, end := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if open < 0 || end < open {
		return nil, fmt.Errorf("its kernel has no body")
	}
	k := &intrinsicKernel{narrow: map[string]string{}, widths: map[string]string{}}
	address := map[string]string{} // register -> parameter number it points to
	for line := range strings.SplitSeq(text[open+1:end], "\n") {
		line = strings.TrimSpace(line)
		if i := strings.Index(line, "//"); i >= 0 {
			line = strings.TrimSpace(line[:i])
		}
		switch {
		case line == "" || threadLine.MatchString(line):
		case strings.HasPrefix(line, ".reg") && len(k.core) == 0 && len(address) == 0:
			k.decls = append(k.decls, line)
		case loadParam.MatchString(line):
			m := loadParam.FindStringSubmatch(line)
			address[m[1]] = m[2]
		case toGlobal.MatchString(line):
			m := toGlobal.FindStringSubmatch(line)
			address[m[1]] = address[m[2]]
		case addOffset.MatchString(line) && address[addOffset.FindStringSubmatch(line)[2]] != "":
			m := addOffset.FindStringSubmatch(line)
			address[m[1]] = address[m[2]]
		case loadGlobal.MatchString(line):
			m := loadGlobal.FindStringSubmatch(line)
			letter, ok := map[string]string{"0": "a", "1": "b", "2": "c"}[address[m[3]]]
			if !ok {
				return nil, fmt.Errorf("%q loads from no operand", line)
			}
			k.inputs = append(k.inputs, intrinsicInput{letter, m[1], m[2]})
		case store.MatchString(line):
			if m := store.FindStringSubmatch(line); address[m[1]] == "3" {
				k.result = m[2]
			}
		default:
			if m := widen.FindStringSubmatch(line); m != nil {
				k.narrow[m[2]], k.widths[m[2]] = m[3], m[1]
			}
			k.core = append(k.core, line)
		}
	}
	if k.result == "" {
		return nil, fmt.Errorf("its kernel stores no result")
	}
	return k, nil
}
