package lower

import (
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// statementCount is what a statement counts where a loop's number of rounds is known, and where it is not, and whether it is slct.
type statementCount struct {
	known   int
	partial partialCount
	slct    bool
}

// statementSizes notes for every block how many statements ptxas would count in it.
func (f *fn) statementSizes() {
	free := f.freeStatements()
	for _, b := range f.blocks {
		b.statements, b.partial = 0, partialCount{}
		machine := map[isa.SourcePos]int{} // instructions of a statement, without copies
		var order []isa.SourcePos
		for i := range b.insts {
			p := b.insts[i].Pos
			if _, seen := machine[p]; !seen {
				order = append(order, p)
			}
			if b.insts[i].Op != isa.OpMOV {
				machine[p]++
			} else {
				machine[p] += 0
			}
		}
		for _, p := range order {
			n := f.sizes[p]
			if n.known == videoSize && machine[p] == 1 { // the target has it
				n = statementCount{known: 1, partial: partialCount{size: 1}}
			}
			b.statements += n.known
			if !free[p] {
				b.partial.add(n.partial)
			}
		}
	}
}

// videoSize is what a video instruction counts that the target does not have: more than lets a loop of 16 be unrolled.
const videoSize = 9

// operationSize is how often a PTX operation counts when a loop is unrolled, where that is not once: what the compiler
// builds early from several operations counts each of them. Columns: 64-bit operands, 16-bit operands, others. 8 stands
// for all numbers with which a loop of 16 is not unrolled.
var operationSize = map[string]struct{ wide, narrow, other int }{
	"neg":      {0, 0, 0}, // becomes a modifier of what reads it
	"div":      {8, 8, 8},
	"rem":      {8, 8, 8},
	"clz":      {8, 2, 2},
	"popc":     {8, 1, 1},
	"bfind":    {8, 1, 1},
	"brev":     {8, 1, 1},
	"bfe":      {8, 2, 2},
	"bfi":      {8, 2, 2},
	"sub":      {1, 2, 1},
	"sad":      {1, 4, 1},
	"shr":      {2, 4, 1},
	"shl":      {2, 2, 1},
	"slct":     {2, 2, 1},
	"set":      {1, 4, 1},
	"cnot":     {2, 3, 1},
	"mul":      {1, 3, 1},
	"mad":      {1, 4, 1},
	"mul.hi":   {1, 4, 1},
	"mad.hi":   {1, 8, 1},
	"mul.wide": {1, 3, 1}, // by the type of the factors
	"mad.wide": {8, 3, 8},
	"mul24":    {3, 3, 3},
	"mad24":    {3, 3, 3},
	"mul24.hi": {8, 8, 8},
	"mad24.hi": {8, 8, 8},
	"addc":     {2, 2, 2},
	"subc":     {2, 2, 2},
	"madc":     {2, 2, 2},
	"addc.cc":  {3, 3, 3},
	"subc.cc":  {3, 3, 3},
	"madc.cc":  {3, 3, 3},
	"madc.hi":  {3, 3, 3}, // with its mad.lo.cc, of which nothing is left
}

// statementSize is how much one PTX statement counts when a loop is unrolled. Copies and truncations, which cost nothing,
// count nothing.
func statementSize(in *ptx.Instr) int {
	switch {
	case in.Op == "mov":
		if len(in.Args) == 2 && (in.Args[0].Kind == ptx.ArgVector || in.Args[1].Kind == ptx.ArgVector) {
			return 1
		}
		return 0
	case in.Op == "cvta":
		return 0
	case in.Op == "ld" && in.Has("const"): // an operand of what reads it
		return 0
	case in.Op == "ld" && !in.Has("param") || in.Op == "st":
		return memorySize
	case in.Op == "cvt":
		return conversionSize(in)
	case in.Op[0] == 'v' && in.Op != "vote":
		return videoSize
	}
	size, ok := operationSize[in.Op]
	for _, m := range []string{"hi", "wide", "cc"} {
		if s, has := operationSize[in.Op+"."+m]; has && in.Has(m) {
			size = s
		}
	}
	typ := ""
	if n := len(in.Mods); n > 0 {
		typ = in.Mods[n-1]
	}
	if in.Op == "slct" && typ != "" { // the selected values' type comes before the condition's
		typ = in.Mods[0]
	}
	switch {
	case in.Op == "setp" && (in.Has("and") || in.Has("or") || in.Has("xor")):
		return 3
	case in.Has("u16x2") || in.Has("s16x2"):
		return 2
	case !ok:
		return 1
	case typeBits(typ) == 64:
		return size.wide
	case typeBits(typ) == 16:
		return size.narrow
	}
	return size.other
}

// conversionSize is statementSize of cvt: a conversion to a byte that has to be bounded counts twice.
func conversionSize(in *ptx.Instr) int {
	if len(in.Mods) < 2 {
		return 1
	}
	to, from := in.Mods[len(in.Mods)-2], in.Mods[len(in.Mods)-1]
	d, s := typeBits(to), typeBits(from)
	float := strings.ContainsAny(to[:1]+from[:1], "fbe")
	switch {
	case !float && !in.Has("sat") && (d == s || d == 16 && s == 32):
		return 0
	case d == 8 && (in.Has("sat") || float || s == 64 && to[0] == 's'):
		return 2
	}
	return 1
}
