package lower

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa/ptx"
)

// Operand types, as ptxas checks them: an instruction on unsigned or signed integers takes registers declared .u, .s or .b of
// its width, one on floating-point numbers .f and .b, one on bits registers of any kind. Loads, stores and conversions take wider
// registers too. A literal must be of the instruction's kind. Which operand has which type is written in operands_table.go.

// operandType is one word of a signature, resolved for an instruction.
type operandType struct {
	t     vtype
	wider bool  // a wider register fits too
	fixed bool  // not the instruction's own type: registers of packed halves do not fit
	only  byte  // 'l': literals only, 'r': registers only
	most  int64 // largest literal, 0: any
}

// checkOperands compares the operands of an instruction with its signature. Operations without one, or with a type that this
// package does not know, pass: their rules speak of them.
func (b *builder) checkOperands(in *ptx.Instr) {
	b.checkHint(in)
	words := operandWords(in)
	for i := range in.Args {
		if i < len(words) && b.err == nil {
			b.checkOperand(in, i, &in.Args[i], strings.TrimPrefix(words[i], "="), words[i][0] == '=')
		}
	}
}

// discards are the operations whose result may be _.
var discards = map[string]bool{"atom": true, "match": true, "elect": true, "mbarrier": true}

// checkBare checks an instruction without operands, ret or exit.
func (b *builder) checkBare(in *ptx.Instr) {
	b.checkSyntax(in)
	if len(in.Args) > 0 {
		b.fail(in.Args[0].Pos, "%s takes no operands", in.Op)
	}
}

// operandWords are the words of the instruction's signature, of the one with as many words as there are operands if several apply.
func operandWords(in *ptx.Instr) []string {
	var longest []string
	for _, s := range operandRows[in.Op] {
		if s.when != "" && !in.Has(s.when) {
			continue
		}
		w := strings.Fields(s.operands)
		if len(w) == len(in.Args) {
			return w
		}
		if longest == nil {
			longest = w
		}
	}
	return longest
}

func (b *builder) checkOperand(in *ptx.Instr, i int, a *ptx.Arg, word string, dest bool) {
	if a.Kind == ptx.ArgPair && len(a.Elems) > 0 {
		a = &a.Elems[0]
	}
	if word == "policy" {
		b.checkPolicy(in, a)
		return
	}
	if inner, isList := strings.CutPrefix(word, "{"); isList {
		word = strings.TrimSuffix(inner, "}")
		if a.Kind == ptx.ArgVector { // of several elements ptxas compares the widths and each with each
			if len(a.Elems) == 1 {
				b.checkOperand(in, i, &a.Elems[0], word, dest)
			} else {
				// Lists of integers fit all types, and so do those with a register of bits, whose width the rules check.
				if kind := b.checkAlike(in, a); b.err == nil && (kind == 'f' || kind == 'h') {
					b.checkOperand(in, i, &a.Elems[0], word, dest)
				}
			}
			return
		}
	}
	if word == "*" && a.Kind == ptx.ArgName && ptx.IsSpecial(a.Name) && b.symbolOf(a) == nil {
		b.checkSpecial(in, i, a)
	}
	if inner, isImage := strings.CutPrefix(word, "["); isImage {
		b.checkCoordinates(in, i, a, strings.TrimSuffix(inner, "]"))
		return
	}
	o, ok := resolveOperand(in, word)
	if !ok {
		return
	}
	switch a.Kind {
	case ptx.ArgSink:
		if dest && !discards[in.Op] {
			b.fail(a.Pos, "%s cannot throw its result away", in.Name()).Advise("name a register instead of _")
		}
	case ptx.ArgInt, ptx.ArgFloat:
		b.checkLiteral(in, i, a, o, dest)
	case ptx.ArgName:
		y := b.symbolOf(a)
		switch {
		case y == nil && ptx.IsSpecial(a.Name):
			b.checkSpecial(in, i, a)
		case o.only == 'l':
			b.fail(a.Pos, "operand %d of %s must be a literal", i+1, in.Name())
		case y == nil || y.pred:
		case y.kind == symReg, y.kind == symParam && len(y.words) > 0:
			b.checkRegister(in, i, a, y, o)
		case in.Op != "mov" && !(in.Op == "st" && in.Has("param")) && in.Op != "cvta":
			b.fail(a.Pos, "operand %d of %s must be a register or a literal", i+1, in.Name()).Advise("move the address of %s to a register first", a.Name)
		}
	case ptx.ArgVector:
		if in.Op == "mov" && len(a.Elems) > 0 && !strings.HasPrefix(in.Mods[0], "v") {
			b.checkElements(in, i, a, o.t, dest)
		}
	}
}

// checkElements checks a list of registers that mov packs into a number of bits or takes out of one.
func (b *builder) checkElements(in *ptx.Instr, i int, a *ptx.Arg, t vtype, dest bool) {
	b.checkAlike(in, a)
	elem, ok := valueTypes[fmt.Sprint("b", t.bits/len(a.Elems))]
	if !ok || t.kind != 'b' {
		b.fail(a.Pos, "%s has no list of %d registers: of bits, such as .b32 and .b64, mov packs halves, quarters and bytes", in.Name(), len(a.Elems))
		return
	}
	for k := range a.Elems {
		e := &a.Elems[k]
		if y := b.scope.lookup(b.f, e.Name); e.Kind == ptx.ArgName && y != nil && !y.pred && y.kind == symReg {
			b.checkRegister(in, i, e, y, operandType{t: elem})
		}
	}
}

// resolveOperand gives the type that a word of a signature stands for in the instruction; false for "*" and unknown types.
func resolveOperand(in *ptx.Instr, word string) (o operandType, ok bool) {
	if word == "*" || word == "p" {
		return o, false
	}
	if strings.IndexByte("lr", word[0]) >= 0 {
		o.only, word = word[0], word[1:]
	}
	word, o.wider = strings.CutSuffix(word, "~")
	if name, most, found := strings.Cut(word, ":"); found {
		word = name
		o.most, _ = strconv.ParseInt(most, 10, 64)
	}
	name := word
	o.fixed = true
	if k := strings.Index("TUV", word); k >= 0 || word == "W" {
		name, o.fixed = nthType(in, max(k, 0)), false
	}
	o.t, ok = valueTypes[name]
	if ok && word == "W" {
		o.t, ok = valueTypes[fmt.Sprintf("%c%d", o.t.kind, 2*o.t.bits)]
	}
	return o, ok
}

// nthType is the n-th type among the modifiers, counted from 0.
func nthType(in *ptx.Instr, n int) string {
	for _, m := range in.Mods {
		if _, ok := valueTypes[m]; ok {
			if n == 0 {
				return m
			}
			n--
		}
	}
	return ""
}

// checkRegister compares the declared type of a register with the type of the operand.
func (b *builder) checkRegister(in *ptx.Instr, i int, a *ptx.Arg, y *symbol, o operandType) {
	have, ok := valueTypes[y.typ]
	if !ok {
		return
	}
	if have.packed && !o.t.float() { // registers of packed halves are bits
		have.kind = 'b'
	}
	if o.fixed && o.t.kind == 'u' && have.packed {
		b.fail(a.Pos, "operand %d of %s is .%s, but %s is declared .%s", i+1, in.Name(), o.t.name, a.Name, y.typ).Advise("it takes %s", o.takes())
		return
	}
	fits := have.bits == o.t.bits || o.wider && have.bits > o.t.bits
	switch {
	case !o.t.float() && o.t.packed:
		fits = fits && have.kind == 'b'
	case !o.t.float() && o.t.kind != 'b':
		fits = fits && !have.float()
	case o.t.float():
		fits = fits && (have.kind == 'b' || have.name == o.t.name)
	}
	if !fits {
		b.fail(a.Pos, "operand %d of %s is .%s, but %s is declared .%s", i+1, in.Name(), o.t.name, a.Name, y.typ).Advise("it takes %s", o.takes())
	}
}

// takes names the declarations that fit: ".u32, .s32 or .b32 registers".
func (o operandType) takes() string {
	var kinds []string
	switch {
	case o.t.float() && o.t.packed:
		kinds = []string{o.t.name, "b32"}
	case o.t.packed:
		kinds = []string{"b32"}
	case o.t.float():
		kinds = []string{o.t.name, fmt.Sprint("b", o.t.bits)}
	default:
		kinds = []string{fmt.Sprint("u", o.t.bits), fmt.Sprint("s", o.t.bits), fmt.Sprint("b", o.t.bits)}
		if o.t.kind == 'b' {
			kinds = append(kinds, fmt.Sprint("f", o.t.bits))
		}
	}
	s := oneOf(kinds)
	if o.wider {
		s += " and wider"
	}
	return s + " registers"
}

// checkLiteral compares a literal with the type of the operand.
func (b *builder) checkLiteral(in *ptx.Instr, i int, a *ptx.Arg, o operandType, dest bool) {
	v := a.Int
	if a.Neg {
		v = -v
	}
	switch {
	case o.only == 'r':
		b.fail(a.Pos, "operand %d of %s must be a register", i+1, in.Name()).Advise("move the literal to one first")
	case a.Kind == ptx.ArgInt && o.t.packed && !o.t.float():
		b.fail(a.Pos, "operand %d of %s is .%s, of which there are no literals", i+1, in.Name(), o.t.name).Advise("move its bits to a register first")
	case o.most > 0 && a.Kind == ptx.ArgInt && (v < 0 || v > o.most):
		b.fail(a.Pos, "operand %d of %s is %d", i+1, in.Name(), v).Advise("a literal here is 0 to %d", o.most)
	case dest:
		b.fail(a.Pos, "operand %d of %s is its result", i+1, in.Name()).Advise("name a register")
	case a.Kind == ptx.ArgInt && o.t.float() && o.t.bits >= 32 && !o.t.packed:
		b.fail(a.Pos, "operand %d of %s is .%s, not an integer", i+1, in.Name(), o.t.name).Advise("write %d.0 or its bits as %s", a.Int, hexForm(o.t))
	case o.t.float() && (o.t.bits < 32 || o.t.packed && o.t.bits == 32):
		b.fail(a.Pos, "operand %d of %s is .%s, of which there are no literals", i+1, in.Name(), o.t.name).Advise("move its bits to a register first")
	case a.Kind == ptx.ArgFloat && o.t.kind == 'b' && (o.t.bits != 64 && !(o.t.bits == 32 && a.HexFloat && a.Single) || o.t.bits == 64 && a.HexFloat && a.Single):
		b.fail(a.Pos, "operand %d of %s is .%s, of which this floating-point literal does not give the bits", i+1, in.Name(), o.t.name).Advise("write the bits of a number as an integer, of .b32 as 0f and of .b64 as 0d with their hexadecimal digits")
	case a.Kind == ptx.ArgFloat && (o.t.kind == 'u' || o.t.kind == 's'):
		b.fail(a.Pos, "operand %d of %s is .%s, not a floating-point number", i+1, in.Name(), o.t.name).Advise("convert it or write its bits as an integer")
	}
}

func hexForm(t vtype) string {
	if t.bits == 64 {
		return "0d and 16 hexadecimal digits"
	}
	return "0f and 8 hexadecimal digits"
}
