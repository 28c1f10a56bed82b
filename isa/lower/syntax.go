package lower

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa/ptx"
)

// syntaxText has the legal modifiers of PTX operations, one form a line: the operation and its modifiers, those in [ ] optional,
// of those in { | } one; ROUND is a rounding of arithmetic, INT one to an integral value, SCOPE and CACHE those of memory
// accesses, and so on (see syntaxSets). Modifiers may stand in any order, as ptxas takes them, but types among themselves, and those
// joined to the operation by + directly behind it. A word before the operation
// limits the line to modules of an age (see syntaxAge). An operation without a line is checked by its rule alone.
//
//go:embed syntax.txt
var syntaxText string

// syntaxSets are the names in syntaxText that stand for one of several modifiers.
var syntaxSets = map[string]string{
	"ROUND":    "rn|rz|rm|rp",
	"INT":      "rni|rzi|rmi|rpi",
	"SCOPE":    "cta|cluster|gpu|sys",
	"BOOL":     "and|or|xor",
	"SPACE":    "global|shared|shared::cta|local|const|param|param::entry|param::func",
	"CMP":      "eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan",
	"MEM":      "b8|u8|s8|b16|u16|s16|b32|u32|s32|b64|u64|s64|b128|f32|f64",
	"ATOM":     "global|shared|shared::cta|shared::cluster",
	"EVICT":    "L2::evict_last|L2::evict_first|L2::evict_normal",
	"PREFETCH": "L2::64B|L2::128B|L2::256B",
	"SEM":      "relaxed|acquire|release|acq_rel",
}

// syntaxAge says for each word before an operation in syntaxText whether a module may use that line.
var syntaxAge = map[string]func(m *ptx.Module) bool{
	"before-1.4": func(m *ptx.Module) bool { return m.Major == 1 && m.Minor < 4 },
	"since-1.4":  func(m *ptx.Module) bool { return m.Major > 1 || m.Minor >= 4 },
	"before-3.2": func(m *ptx.Module) bool { return m.Major < 3 || m.Major == 3 && m.Minor < 2 },
	"sm_1x":      func(m *ptx.Module) bool { return m.SM < 20 },
	"unsynced":   func(m *ptx.Module) bool { return m.SM < 70 || m.Major < 6 || m.Major == 6 && m.Minor < 4 },
}

// syntaxForm is one line: what must be there, of each group one, and what may be there, of each group at most one.
type syntaxForm struct {
	age         string
	text        string   // as written, for messages
	first       []string // modifiers that stand first, in this order
	needed, may [][]string
}

var syntaxForms = parseSyntax(syntaxText)

func parseSyntax(text string) map[string][]syntaxForm {
	forms := map[string][]syntaxForm{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		f := syntaxForm{text: line}
		if age, rest, found := strings.Cut(line, " "); found {
			f.age, f.text = age, strings.TrimSpace(rest)
		}
		op, rest := f.text, ""
		if k := strings.IndexAny(f.text, ".["); k >= 0 {
			op, rest = f.text[:k], f.text[k:]
		}
		joined := strings.Split(op, "+")
		op, f.first = joined[0], joined[1:]
		f.text = strings.ReplaceAll(f.text, "+", ".")
		for rest != "" {
			optional := rest[0] == '['
			rest = strings.TrimPrefix(strings.TrimPrefix(rest, "["), ".")
			end := strings.IndexAny(rest, ".[]")
			if strings.HasPrefix(rest, "{") {
				end = strings.IndexByte(rest, '}') + 1
			}
			if end < 0 {
				end = len(rest)
			}
			group := strings.Trim(rest[:end], "{}")
			rest = strings.TrimPrefix(rest[end:], "]")
			if set, ok := syntaxSets[group]; ok {
				group = set
			}
			if optional {
				f.may = append(f.may, strings.Split(group, "|"))
			} else {
				f.needed = append(f.needed, strings.Split(group, "|"))
			}
		}
		forms[op] = append(forms[op], f)
	}
	return forms
}

// matches says that the modifiers are those of the form, in any order.
func (f *syntaxForm) matches(mods []string) bool {
	n := len(f.first)
	if len(mods) < n || !slices.Equal(mods[:n], f.first) {
		return false
	}
	left := slices.Clone(mods[n:])
	take := func(group []string) bool {
		_, isType := valueTypes[group[0]]
		for i, m := range left {
			if _, t := valueTypes[m]; isType && !t {
				continue
			} else if isType && !slices.Contains(group, m) {
				return false // types have an order
			}
			if slices.ContainsFunc(group, func(g string) bool {
				prefix, any := strings.CutSuffix(g, "*")
				return m == g || any && strings.HasPrefix(m, prefix)
			}) {
				left = slices.Delete(left, i, i+1)
				return true
			}
		}
		return false
	}
	for _, g := range f.needed {
		if !take(g) {
			return false
		}
	}
	for _, g := range f.may {
		take(g)
	}
	return len(left) == 0
}

// checkSyntax compares the modifiers of an instruction with the forms of its operation.
func (b *builder) checkSyntax(in *ptx.Instr) {
	forms := syntaxForms[in.Op]
	if forms == nil {
		return
	}
	var likely []string
	most := -1
	for i := range forms {
		f := &forms[i]
		if f.age != "" && !syntaxAge[f.age](b.f.m) {
			continue
		}
		if f.matches(in.Mods) {
			return
		}
		shared := 0
		for k, m := range f.first {
			if k < len(in.Mods) && in.Mods[k] == m {
				shared++
			}
		}
		for _, g := range slices.Concat(f.needed, f.may) {
			if slices.ContainsFunc(g, in.Has) {
				shared++
			}
		}
		if shared > most {
			likely, most = nil, shared
		}
		if shared == most {
			likely = append(likely, f.text)
		}
	}
	b.fail(in.Pos, "%s has modifiers that do not go together, or lacks one", in.Name()).Advise("write %s", strings.Join(likely[:min(3, len(likely))], " or "))
}
