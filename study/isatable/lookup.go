package isatable

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/isa"
)

// Found is what a word of the user means: one of its fields, of Forms one or more.
type Found struct {
	Forms  []Form
	Family *Family // a bare PTX operation; Forms are those of its instructions that the table has
	Group  string  // a heading of the table; Forms are its instructions
	Opcode *OpcodeQuery
}

// OpcodeQuery is a machine opcode with the modifiers that were asked for.
type OpcodeQuery struct {
	Op   isa.Op
	Mods []string
}

// Name is the opcode with its modifiers.
func (q *OpcodeQuery) Name() string {
	return strings.Join(append([]string{q.Op.String()}, q.Mods...), ".")
}

// class is the timing class of the opcode with its modifiers.
func (q *OpcodeQuery) class() isa.Class {
	in := isa.Inst{Op: q.Op}
	for _, m := range q.Mods {
		in.Mod.Flags |= map[string]isa.ModFlags{"WIDE": isa.ModWide, "HI": isa.ModHI, "MMA": isa.ModMMA}[m]
	}
	return in.Class()
}

// Lookup finds what a word means, whatever its case: a form of the table, any PTX instruction with its types and modifiers, a
// PTX operation, an intrinsic, a machine opcode, a heading, or an AMD instruction that is closest to some of them.
func Lookup(word string, all []Form) (Found, error) {
	word = strings.TrimSpace(word)
	low := strings.ToLower(word)
	op, isOp := opcodeQuery(word)
	if isOp && word == strings.ToUpper(word) && !slices.Contains(op.Mods, "B32") && !slices.Contains(op.Mods, "B64") {
		return Found{Opcode: op}, nil
	}
	if forms := pick(all, func(f *Form) bool {
		n := strings.ToLower(f.Name)
		return n == low || strings.HasPrefix(n, low+" (")
	}); len(forms) > 0 {
		return Found{Forms: forms}, nil
	}
	if fam := FamilyOf(low); fam != nil {
		return Found{Family: fam, Forms: pick(all, func(f *Form) bool { return f.Kind == KindPTX && slices.Contains(operations(f.Name), low) })}, nil
	}
	f, isPTX, err := FromWord(word)
	switch {
	case isPTX && err == nil:
		return Found{Forms: []Form{*f}}, nil
	case isPTX: // perhaps the beginning of instructions that the table has
		if forms := pick(all, func(f *Form) bool { return strings.HasPrefix(strings.ToLower(f.Name), low+".") }); len(forms) > 0 && !strings.ContainsAny(low, " ,") {
			return Found{Forms: forms}, nil
		}
		return Found{}, err
	}
	if group := groupNamed(low, all); group != "" {
		return Found{Group: group, Forms: pick(all, func(f *Form) bool { return f.Group == group })}, nil
	}
	names := func(text string) bool {
		return slices.Contains(strings.FieldsFunc(strings.ToLower(text), notName), low)
	}
	for _, match := range []func(f *Form) bool{
		func(f *Form) bool { return names(f.CUDA) },
		func(f *Form) bool { return strings.Contains(low, "_") && names(f.AMD) },
	} {
		if forms := pick(all, match); len(forms) > 0 {
			return Found{Forms: forms}, nil
		}
	}
	if isOp {
		return Found{Opcode: op}, nil
	}
	return Found{}, notFound(word, all)
}

func pick(all []Form, match func(f *Form) bool) []Form {
	var out []Form
	for i := range all {
		if match(&all[i]) {
			out = append(out, all[i])
		}
	}
	return out
}

// operations are the PTX operations of a name: one, or those of a sequence ("setp + selp").
func operations(name string) []string {
	var out []string
	for part := range strings.SplitSeq(name, " + ") {
		out = append(out, operation(part))
	}
	return out
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

// groupNamed is the heading that begins with the word or has it among its words.
func groupNamed(low string, all []Form) string {
	for _, match := range []func(group string) bool{
		func(g string) bool { return g == low || g == low+" intrinsics" },
		func(g string) bool { return len(low) > 2 && slices.Contains(strings.FieldsFunc(g, notName), low) },
	} {
		for i := range all {
			if match(strings.ToLower(all[i].Group)) {
				return all[i].Group
			}
		}
	}
	return ""
}

// opcodeQuery reads a machine opcode with modifiers.
func opcodeQuery(word string) (*OpcodeQuery, bool) {
	parts := strings.Split(strings.ToUpper(word), ".")
	op, ok := isa.OpByName(parts[0])
	if !ok {
		return nil, false
	}
	return &OpcodeQuery{op, parts[1:]}, true
}

// notFound is the error for a word that is no instruction, with the nearest that are.
func notFound(word string, all []Form) error {
	names := map[string]bool{}
	for i := range all {
		names[operation(all[i].Name)] = true
		names[all[i].Name] = true
		names[all[i].Group] = true
	}
	if list, err := familyList(); err == nil {
		for i := range list {
			for _, op := range strings.Fields(list[i].Ops) {
				names[op] = true
			}
		}
	}
	candidates := make([]string, 0, len(names))
	for n := range names {
		candidates = append(candidates, n)
	}
	if word == strings.ToUpper(word) {
		candidates = candidates[:0]
		for op := isa.OpNone + 1; op < isa.NumOps; op++ {
			candidates = append(candidates, op.String())
		}
	}
	slices.Sort(candidates)
	low := word
	if word != strings.ToUpper(word) {
		low = strings.ToLower(word)
	}
	hint := ""
	for _, w := range []string{low, operation(low)} {
		if n := strictyaml.NearestOfMany(w, candidates); n != "" {
			hint = fmt.Sprintf("; did you mean %q?", n)
			break
		}
	}
	if hint == "" {
		hint = "; smsim isa lists what there is"
	}
	return fmt.Errorf("no PTX instruction, CUDA intrinsic, machine opcode, group or AMD instruction %q%s", word, hint)
}
