package lower

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// gatesText says from which PTX version and for which targets features exist, as ptxas checks them against .version and .target of
// the module (not against the target that is compiled for, to which everything is lowered). A line: version, target, then operations
// with modifiers that an instruction must all have, one of each group in { }; "*" is any operation. "generic" behind them means without
// a state space, "4 operands" with so many, "without noComplete" not with that modifier, "predicate" with a predicate as last operand. Types stand in the order of the instruction's.
// Names with % are special registers.
//
//go:embed gates.txt
var gatesText string

// gate is one line of gatesText.
type gate struct {
	version   string // "7.8", "" for every one
	sm        int    // 0: every target
	ops       []string
	needed    [][]string
	generic   bool
	operands  int    // 0: any number
	predicate bool   // the last operand is a predicate
	without   string // a modifier that the instruction does not have, "": none
}

var gates = parseGates(gatesText)

func parseGates(text string) (list []gate) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0][0] == '#' {
			continue
		}
		g := gate{version: strings.Trim(f[0], "-")}
		g.sm, _ = strconv.Atoi(strings.Trim(f[1], "-"))
		ops, mods, _ := strings.Cut(f[2], ".")
		g.ops = strings.Split(ops, "|")
		for _, group := range strings.FieldsFunc(mods, func(c rune) bool { return c == '.' }) {
			g.needed = append(g.needed, strings.Split(strings.Trim(group, "{}"), "|"))
		}
		for i, w := range f[3:] {
			switch w {
			case "generic":
				g.generic = true
			case "operands":
				g.operands, _ = strconv.Atoi(f[3+i-1])
			case "predicate":
				g.predicate = true
			case "without":
				g.without = f[3+i+1]
			}
		}
		list = append(list, g)
	}
	return list
}

// matches says whether the instruction has the feature.
func (g *gate) matches(in *ptx.Instr) bool {
	if g.ops[0][0] == '%' {
		return slices.ContainsFunc(in.Args, func(a ptx.Arg) bool { return a.Kind == ptx.ArgName && slices.Contains(g.ops, a.Name) })
	}
	if g.ops[0] != "*" && !slices.Contains(g.ops, in.Op) || g.operands > 0 && len(in.Args) != g.operands || g.without != "" && in.Has(g.without) {
		return false
	}
	types := 0 // passed among the modifiers
	for _, group := range g.needed {
		if _, isType := valueTypes[group[0]]; isType {
			k := slices.IndexFunc(in.Mods[types:], func(m string) bool { return slices.Contains(group, m) })
			if k < 0 {
				return false
			}
			types += k + 1
			continue
		}
		if !slices.ContainsFunc(group, func(m string) bool {
			prefix, any := strings.CutSuffix(m, "*")
			return in.Has(m) || any && slices.ContainsFunc(in.Mods, func(x string) bool { return strings.HasPrefix(x, prefix) })
		}) {
			return false
		}
	}
	return !g.generic || !slices.ContainsFunc(in.Mods, isSpace)
}

// isSpace says whether a modifier names a state space.
func isSpace(m string) bool {
	m, _, _ = strings.Cut(m, "::")
	switch m {
	case "global", "shared", "local", "const", "param":
		return true
	}
	return false
}

// older says whether the module's .version is below the one given, as "7.8".
func older(m *ptx.Module, version string) bool {
	a, b, _ := strings.Cut(version, ".")
	major, _ := strconv.Atoi(a)
	minor, _ := strconv.Atoi(b)
	return m.Major < major || m.Major == major && m.Minor < minor
}

// checkGates compares the instruction with what the module says it was written for.
func (b *builder) checkGates(in *ptx.Instr) {
	m := b.f.m
	version, sm := "", 0
	for i := range gates {
		g := &gates[i]
		if late := g.version != "" && older(m, g.version); !late && g.sm <= m.SM || !g.matches(in) || g.predicate && !b.lastIsPredicate(in) {
			continue
		} else if late && (version == "" || newer(g.version, version)) {
			version = g.version
		}
		if g.sm > m.SM {
			sm = max(sm, g.sm)
		}
	}
	name := in.Name()
	if special := slices.IndexFunc(in.Args, func(a ptx.Arg) bool { return a.Kind == ptx.ArgName && ptx.IsSpecial(a.Name) }); special >= 0 {
		name += " of " + in.Args[special].Name
	}
	switch {
	case version != "" && sm > 0:
		b.fail(in.Pos, "%s needs .version %s and .target sm_%d or newer; the module says .version %d.%d and .target %s", name, version, sm, m.Major, m.Minor, m.Target).Advise(gateHint)
	case version != "":
		b.fail(in.Pos, "%s needs .version %s or newer; the module says .version %d.%d", name, version, m.Major, m.Minor).Advise(gateHint)
	case sm > 0:
		b.fail(in.Pos, "%s needs .target sm_%d or newer; the module says .target %s", name, sm, m.Target).Advise(gateHint)
	}
}

// noteEmulated notes that ptxas takes the instruction for later targets only than the one compiled for, where others stand for it.
func (b *builder) noteEmulated(in *ptx.Instr) {
	if b.f.m.SM <= b.f.t.SM {
		return
	}
	from := 0
	for i := range gates {
		if g := &gates[i]; g.sm > max(from, b.f.t.SM) && g.sm <= b.f.m.SM && g.matches(in) && (!g.predicate || b.lastIsPredicate(in)) {
			from = g.sm
		}
	}
	if from > 0 {
		if text := fmt.Sprintf("%s (sm_%d)", in.Name(), from); !slices.Contains(b.f.link.emulated, text) {
			b.f.link.emulated = append(b.f.link.emulated, text)
		}
	}
}

// emulatedNote says which instructions that are.
func (u *unitInfo) emulatedNote(t *isa.Target) string {
	slices.Sort(u.emulated)
	return fmt.Sprintf("ptxas takes for later targets only: %s; for %s other instructions stand for them here", strings.Join(u.emulated, ", "), t.Name)
}

func (b *builder) lastIsPredicate(in *ptx.Instr) bool {
	y := b.scope.lookup(b.f, in.Args[len(in.Args)-1].Name)
	return y != nil && y.pred
}

// newer compares two versions.
func newer(a, b string) bool {
	am, an, _ := strings.Cut(a, ".")
	bm, bn, _ := strings.Cut(b, ".")
	if am != bm {
		return am > bm // both have one digit
	}
	return an > bn
}
