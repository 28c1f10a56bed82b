package sass

import (
	"fmt"
	"sort"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// families are name prefixes of opcodes with the class that an unknown one gets: the longest prefix counts.
var families = []struct {
	prefix string
	class  isa.Class
}{
	{"ATOMS", isa.ClassATOMS}, {"ATOM", isa.ClassATOMG}, {"LDGSTS", isa.ClassLDGSTS}, {"LDGDEP", isa.ClassDEPBAR},
	{"UATOM", isa.ClassATOMG}, {"REDG", isa.ClassRED}, {"REDS", isa.ClassATOMS}, {"CREDUX", isa.ClassREDUX}, {"REDUX", isa.ClassREDUX}, {"RED", isa.ClassRED},
	{"LDS", isa.ClassLDS}, {"LDL", isa.ClassLDL}, {"LDC", isa.ClassLDC}, {"LD", isa.ClassLDG}, {"STS", isa.ClassSTS}, {"STL", isa.ClassSTL}, {"ST", isa.ClassSTG},
	{"MEMBAR", isa.ClassMEMBAR}, {"FENCE", isa.ClassMEMBAR}, {"CCTL", isa.ClassMEMBAR}, {"ERRBAR", isa.ClassMEMBAR},
	{"TEX", isa.ClassTEX}, {"TLD", isa.ClassTEX}, {"TXQ", isa.ClassTEX}, {"TMML", isa.ClassTEX}, {"SULD", isa.ClassTEX}, {"SUST", isa.ClassTEX}, {"SU", isa.ClassTEX},
	{"SHFL", isa.ClassSHFL}, {"MATCH", isa.ClassMATCH}, {"VOTE", isa.ClassVOTE}, {"MUFU", isa.ClassMUFU},
	{"I2F", isa.ClassI2F}, {"F2I", isa.ClassF2I}, {"F2F", isa.ClassF2F}, {"I2I", isa.ClassI2I}, {"POPC", isa.ClassPOPC}, {"FLO", isa.ClassFLO}, {"BREV", isa.ClassBREV},
	{"S2UR", isa.ClassS2UR}, {"S2R", isa.ClassS2R}, {"CS2", isa.ClassCS2R}, {"R2UR", isa.ClassR2UR}, {"ULDC", isa.ClassULDC}, {"USET", isa.ClassUALU},
	{"IMAD", isa.ClassIMAD}, {"IMUL", isa.ClassIMAD}, {"IMMA", isa.ClassHFMA2}, {"BMMA", isa.ClassHFMA2}, {"IDP", isa.ClassIDP}, {"ISET", isa.ClassISETP},
	{"BAR", isa.ClassBAR}, {"DEPBAR", isa.ClassDEPBAR}, {"NANO", isa.ClassWARPSYNC}, {"WARP", isa.ClassWARPSYNC},
	{"VMAD", isa.ClassVMAD}, {"V", isa.ClassIADD3}, {"P", isa.ClassPLOP3},
	{"U", isa.ClassUALU}, {"H", isa.ClassHFMA2}, {"F", isa.ClassFFMA}, {"D", isa.ClassDFMA}, {"M", isa.ClassMOV}, {"SH", isa.ClassSHF},
	{"I", isa.ClassIADD3}, {"L", isa.ClassLOP}, {"S", isa.ClassLOP}, {"B", isa.ClassLOP},
}

// ancient replaces classes that came later by what the first generations have.
func ancient(sm int, c isa.Class) isa.Class {
	switch {
	case c == isa.ClassIADD3 && sm < 50:
		return isa.ClassIADD
	case c == isa.ClassUALU && sm < 75, c == isa.ClassIDP && sm < 61:
		return ancient(sm, isa.ClassIADD3)
	case c == isa.ClassHFMA2 && sm < 53:
		return isa.ClassFFMA
	case c == isa.ClassIMAD && sm >= 50 && sm < 70:
		return isa.ClassXMAD
	case c == isa.ClassPLOP3 && sm < 20:
		return isa.ClassLOP
	}
	return c
}

// assume is the instruction that stands for an unknown one: its guard, and a class by the family of its name.
func assume(sm int, text string) isa.Inst {
	in := isa.Inst{Op: isa.OpNOP}
	s := strings.TrimSpace(text)
	if strings.HasPrefix(s, "@") {
		g, rest, _ := strings.Cut(s, " ")
		p := operandParser{sm: sm}
		if o, ok := p.parse(g[1:]); ok && (o.Kind == isa.KindPred || o.Kind == isa.KindUPred) {
			in.Guard = o
		}
		s = strings.TrimSpace(rest)
	}
	name, _, _ := strings.Cut(s, " ")
	name, _, _ = strings.Cut(name, ".")
	in.Mod.Assumed = ancient(sm, isa.ClassLOP)
	if op, ok := isa.OpByName(name); ok { // a known opcode with an unknown modifier or operand
		known := isa.Inst{Op: op}
		if c := known.Class(); !c.IsControl() && c != isa.ClassNOP {
			in.Mod.Assumed = c
		}
		return in
	}
	longest := 0
	for _, f := range families {
		if len(f.prefix) > longest && strings.HasPrefix(name, f.prefix) && !f.class.IsControl() {
			longest, in.Mod.Assumed = len(f.prefix), ancient(sm, f.class)
		}
	}
	return in
}

// assumptions says which unknown instructions got which class, with counts.
func assumptions(p *isa.Program) string {
	counts := map[string]int{}
	for i, text := range p.Unknown {
		if strings.HasPrefix(text, "@") {
			_, text, _ = strings.Cut(text, " ")
		}
		name, _, _ := strings.Cut(strings.TrimSpace(text), " ")
		counts[fmt.Sprintf("%s (timed as %s)", name, p.Insts[i].Class())]++
	}
	var parts []string
	for k, n := range counts {
		parts = append(parts, fmt.Sprintf("%d x %s", n, k))
	}
	sort.Strings(parts)
	return fmt.Sprintf("%d instructions are not known and change no values, so results may be wrong: %s", len(p.Unknown), strings.Join(parts, ", "))
}
