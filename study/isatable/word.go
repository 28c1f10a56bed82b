package isatable

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/study/conform"
)

// number is a PTX constant.
var number = regexp.MustCompile(`^-?(0[xX][0-9a-fA-F]+|0[fFdD][0-9a-fA-F]+|0[bB][01]+|[0-9]+)[uU]?$`)

// FromWord makes the form of any PTX instruction from what a user types: the operation with its modifiers, and if they like
// its operands ("mad.wide.u32", "shl.b32 %r1, %r2, 4", "lop3.b32 0x54"). Operands that are constants or select bytes become
// part of the form. ok is false when the first word is no PTX operation with modifiers; err says what is wrong with one.
func FromWord(word string) (f *Form, ok bool, err error) {
	opcode, rest, _ := strings.Cut(strings.TrimRight(strings.TrimSpace(word), "; "), " ")
	parts := strings.Split(opcode, ".")
	op := strings.ToLower(parts[0])
	fam := FamilyOf(op)
	if fam == nil {
		return nil, false, nil
	}
	mods := make([]string, 0, len(parts)-1)
	for _, m := range parts[1:] {
		mods = append(mods, modifierCase(op, m))
	}
	s := fam.shape(op, mods)
	if s == nil {
		return nil, true, fmt.Errorf("%s has no form with the modifiers of %q; its syntax: %s", op, opcode, fam.Syntax)
	}
	f = &Form{Kind: KindPTX, Group: fam.Group, Name: strings.Join(append([]string{op}, mods...), "."), Syntax: cmp.Or(s.Syntax, fam.Syntax), Meaning: cmp.Or(s.Meaning, fam.Meaning),
		Rules: cmp.Or(s.Rules, fam.Rules), AMD: cmp.Or(s.AMD, fam.AMD), CUDA: cmp.Or(s.CUDA, fam.CUDA), Untimed: s.Untimed}
	f.Since, f.Target = fam.since(s, slices.Concat(mods, []string{op}))
	if err := f.build(op, s, mods, strings.TrimSpace(rest)); err != nil {
		return nil, true, fmt.Errorf("%s: %w; its syntax: %s", f.Name, err, fam.Syntax)
	}
	if err := f.valid(); err != nil {
		return nil, true, fmt.Errorf("%s: %w; its syntax: %s", f.Name, err, fam.Syntax)
	}
	return f, true, nil
}

// modifierCase writes a modifier as PTX does, which is in lower case but for the names of caches and NaN.
func modifierCase(op, m string) string {
	low := strings.ToLower(m)
	switch {
	case strings.HasPrefix(low, "l1") || strings.HasPrefix(low, "l2"):
		return strings.ToUpper(low[:1]) + strings.Replace(low[1:], "128b", "128B", 1)
	case low == "nan" && (op == "min" || op == "max"):
		return "NaN"
	}
	return low
}

// build fills PTX, Types and what follows from them.
func (f *Form) build(op string, s *familyShape, mods []string, given string) error {
	var types []string
	for _, m := range mods {
		if _, ok := valueTypes[m]; ok {
			types = append(types, m)
		}
	}
	one := "b32"
	if len(types) > 0 {
		one = types[0]
	}
	reg := valueTypes[one]
	if reg == "" {
		reg = one
	}
	fill := strings.NewReplacer("$1", one, "$r1", conform.Register(reg), "$m1", moveType(reg)).Replace
	operands := s.Operands
	byLetter := map[string]string{}
	letters := (&Form{PTX: s.Before + " " + operands + " " + s.After}).symbols()
	for i, t := range strings.Fields(s.Types) {
		if i >= len(letters) {
			return fmt.Errorf("internal error: %d types for operands %v", i+1, letters)
		}
		byLetter[letters[i]] = typeOf(t, types)
	}
	if given != "" {
		var err error
		if operands, err = mergeOperands(op, operands, given); err != nil {
			return err
		}
		f.Name += " " + strings.NewReplacer("%", "").Replace(operands)
	}
	core := strings.TrimSpace(s.Guard + " " + strings.TrimSpace(strings.Join(append([]string{op}, mods...), ".")+" "+operands) + ";")
	text := core
	if s.Before != "" || s.After != "" {
		text = strings.TrimSpace("{ "+fill(s.Before)) + "\n" + core + "\n" + strings.TrimSpace(fill(s.After)+" }")
	}
	// Operands that a constant took the place of leave no gap between the letters.
	next := 0
	for _, l := range []string{"a", "b", "c"} {
		here := regexp.MustCompile(`%` + l + `\b`)
		if !here.MatchString(text) {
			continue
		}
		to := string("abc"[next])
		text, core, byLetter[to] = here.ReplaceAllString(text, "%"+to), here.ReplaceAllString(core, "%"+to), byLetter[l]
		next++
	}
	f.PTX, f.core, f.measured = text, core, core
	var list []string
	for _, l := range f.symbols() {
		list = append(list, byLetter[l])
	}
	f.Types = strings.Join(list, " ")
	return nil
}

// typeOf resolves a type of a family's row: a number is one of the word's types.
func typeOf(t string, types []string) string {
	n := strings.TrimSuffix(t, "w")
	if n < "1" || n > "3" || len(n) != 1 {
		return t
	}
	i := int(n[0] - '1')
	if len(types) == 0 {
		return "b32" // the instruction lacks its type, which lowering says
	}
	v := types[min(i, len(types)-1)]
	if strings.HasSuffix(t, "w") {
		v = strings.NewReplacer("16", "32", "32", "64").Replace(v)
	}
	return valueTypes[v]
}

// mergeOperands puts the constants, signs and selectors of the given operands into those of a form.
func mergeOperands(op, operands, given string) (string, error) {
	want, have := splitOperands(operands), splitOperands(given)
	if op == "lop3" && len(have) == 1 && number.MatchString(have[0]) {
		want[4] = have[0] // the truth table alone
		return strings.Join(want, ", "), nil
	}
	if len(want) != len(have) {
		return "", fmt.Errorf("%s takes the operands %s; %d given", op, strings.ReplaceAll(operands, "%", ""), len(have))
	}
	for i, h := range have {
		w := want[i]
		switch {
		case number.MatchString(h):
			if strings.HasPrefix(w, "%d") || strings.HasPrefix(w, "[") || strings.HasPrefix(w, "{") {
				return "", fmt.Errorf("operand %d, %s, cannot be a constant", i+1, strings.TrimPrefix(w, "%"))
			}
			want[i] = h
		case strings.HasPrefix(w, "%") && !strings.Contains(w, "|"):
			sign := ""
			if strings.HasPrefix(h, "-") {
				sign = "-"
			}
			name, selector, found := strings.Cut(strings.TrimPrefix(h, "-"), ".")
			if found && !strings.HasPrefix(name, "%") && strings.Contains(name, "%") {
				return "", fmt.Errorf("operand %q is no register", h)
			}
			want[i] = sign + w
			if found {
				want[i] += "." + selector
			}
		}
	}
	return strings.Join(want, ", "), nil
}

// splitOperands splits at commas outside brackets.
func splitOperands(text string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range text {
		switch r {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(text[from:i]))
				from = i + 1
			}
		}
	}
	if last := strings.TrimSpace(text[from:]); last != "" || len(out) > 0 {
		out = append(out, last)
	}
	return out
}

// valid says what is wrong with a form that no target takes. What is right but not modelled is valid: its page says so.
func (f *Form) valid() error {
	c := f.conform()
	mod, err := ptx.Parse(f.Name, []byte(c.Kernel()))
	if err != nil {
		return errors.New(reason(err))
	}
	for _, sm := range []int{90, 120, 61, 20} {
		_, e := lower.Compile(mod, "", isa.NewTarget(sm), lower.Options{})
		if e == nil {
			return nil
		}
		if err == nil {
			err = e
		}
	}
	if text := reason(err); !strings.Contains(text, "not modelled") {
		return errors.New(text)
	}
	return nil
}

// reason is the first thing that an error of the parser or of lowering says, without its place in a kernel that the user
// has not written.
func reason(err error) string {
	var in *ptx.Error
	if list := (*lower.ErrorList)(nil); errors.As(err, &list) && len(list.Errs) > 0 {
		err = list.Errs[0]
	}
	if errors.As(err, &in) {
		return in.Msg
	}
	var es ptx.Errors
	if errors.As(err, &es) && len(es) > 0 {
		return es[0].Msg
	}
	return strings.SplitN(err.Error(), "\n", 2)[0]
}

// tableWords are the instructions that the whole table shows beside those of instructions.yaml.
func tableWords() ([]string, error) {
	list, err := familyList()
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range list {
		out = append(out, strings.Fields(list[i].Table)...)
	}
	return out, nil
}
