package conform

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
)

var (
	registers = regexp.MustCompile(`\bU?[RP][0-9]+\b`)
	zeroText  = regexp.MustCompile(`^-?(U?RZ|0|0x0|!?U?PT|SRZ)$`)
)

// line is one machine instruction as its text: opcode with modifiers, destinations, sources (the guard too).
type line struct {
	op       string
	dst, src []string
}

// predicateResults is how many predicates an opcode may write behind its first destination.
var predicateResults = map[string]int{"IADD3": 2, "UIADD3": 2, "LEA": 1, "IMAD": 1, "IADD": 1, "LOP3": 1, "ISETP": 1, "FSETP": 1, "PLOP3": 1}

func parseLine(text string) line {
	var l line
	var guard []string
	if strings.HasPrefix(text, "@") {
		g, rest, _ := strings.Cut(text, " ")
		guard, text = []string{g}, strings.TrimSpace(rest)
	}
	op, rest, _ := strings.Cut(text, " ")
	l.op = op
	var args []string
	for _, a := range strings.Split(rest, ",") {
		args = append(args, strings.TrimSpace(a))
	}
	base, _, _ := strings.Cut(op, ".")
	n := 1
	switch base {
	case "STG", "ST", "STS", "STL", "EXIT", "BRA", "BSYNC", "RET", "CALL", "NOP", "WARPSYNC", "BAR":
		n = 0
	default:
		for n < len(args) && n <= predicateResults[base] && regexp.MustCompile(`^U?P([0-9]|T)$`).MatchString(args[n]) {
			n++
		}
	}
	l.dst, l.src = args[:n], append(args[n:], guard...)
	return l
}

// wideBy is how many registers a destination with these modifiers covers.
func (l *line) wideBy() int {
	switch {
	case strings.Contains(l.op, ".128"):
		return 4
	case strings.Contains(l.op, ".64"), strings.Contains(l.op, "WIDE"):
		return 2
	}
	return 1
}

// writes says that the instruction defines the register.
func (l *line) writes(r string) bool {
	for _, d := range l.dst {
		if d == r {
			return true
		}
		b, errB := strconv.Atoi(strings.TrimLeft(d, "UR"))
		c, errC := strconv.Atoi(strings.TrimLeft(r, "UR"))
		if errB == nil && errC == nil && strings.TrimRight(d, "0123456789") == strings.TrimRight(r, "0123456789") && c > b && c-b < l.wideBy() {
			return true
		}
	}
	return false
}

// core finds the instructions of a replay kernel that compute its results, by position: without what reads thread index,
// parameters and operands, what their addresses come from, stores, ends, fillers and moves of zero. The order of the
// text stands for control flow: good for code without loops.
func core(p *isa.Program) []int {
	lines := make([]line, len(p.Insts))
	for i := range lines {
		lines[i] = parseLine(strings.ReplaceAll(p.Text(i), ".reuse", ""))
	}
	drop := make([]bool, len(lines))
	var address func(i int, operands []string)
	address = func(i int, operands []string) {
		for _, o := range operands {
			for _, r := range registers.FindAllString(o, -1) {
				both := []string{r}
				if k, err := strconv.Atoi(strings.TrimLeft(r, "UR")); err == nil && strings.Contains(o, "[") {
					both = append(both, strings.TrimRight(r, "0123456789")+strconv.Itoa(k+1))
				}
				for _, r := range both {
					for j := i - 1; j >= 0; j-- {
						if !lines[j].writes(r) {
							continue
						}
						if base, _, _ := strings.Cut(lines[j].op, "."); base != "LDG" && !drop[j] {
							drop[j] = true
							address(j, lines[j].src)
						}
						break
					}
				}
			}
		}
	}
	end := len(lines)
	for end > 0 && (p.Insts[end-1].Op == isa.OpNOP || p.Insts[end-1].Op == isa.OpBRA) {
		end--
	}
	for i := range lines {
		l := &lines[i]
		switch p.Insts[i].Op {
		case isa.OpLDG:
			drop[i] = true
			address(i, l.src)
		case isa.OpSTG:
			drop[i] = true
			address(i, l.src[:1])
		case isa.OpS2R, isa.OpS2UR, isa.OpLDC, isa.OpULDC, isa.OpLDCU, isa.OpEXIT, isa.OpNOP:
			drop[i] = true
		}
		drop[i] = drop[i] || i == 0 || i >= end || zeroes(l)
	}
	var out []int
	for i := range drop {
		if !drop[i] {
			out = append(out, i)
		}
	}
	return out
}

// zeroes says that the instruction only writes zero.
func zeroes(l *line) bool {
	base, _, _ := strings.Cut(l.op, ".")
	if base != "MOV" && base != "UMOV" && base != "HFMA2" && base != "CS2R" && !strings.HasPrefix(l.op, "IMAD.MOV") {
		return false
	}
	return !slices.ContainsFunc(l.src, func(s string) bool { return !zeroText.MatchString(s) })
}

// pipes counts instructions by the pipe that executes them on the architecture; moves, additions and shifts, which
// the compiler gives to the multiply-add pipe or the ALU by what else runs, count as one.
func pipes(a *configs.Arch, p *isa.Program, at []int) map[string]int {
	out := map[string]int{}
	for _, i := range at {
		in := &p.Insts[i]
		op, _, _ := strings.Cut(p.Text(i), " ")
		switch {
		case strings.HasPrefix(op, "@"):
			_, rest, _ := strings.Cut(p.Text(i), " ")
			op, _, _ = strings.Cut(rest, " ")
		}
		switch {
		case in.Op == isa.OpMOV, in.Op == isa.OpHFMA2, strings.HasPrefix(op, "IMAD.MOV"):
			out["move"]++
		case in.Op == isa.OpIADD3, in.Op == isa.OpVIADD, strings.HasPrefix(op, "IMAD.IADD"), strings.HasPrefix(op, "IMAD.X"):
			out["add"]++
		case in.Op == isa.OpSHF && in.Mod.Has(isa.ModLeft), strings.HasPrefix(op, "IMAD.SHL"):
			out["shift left"]++
		default:
			out[strings.Join(a.Classes[in.Class().String()].Pipe, "+")]++
		}
	}
	return out
}
