// Package lut works with the truth tables of bitwise logic: the immLut of LOP3 from an expression and back, and how
// many LOP3 an expression of more than three inputs needs.
package lut

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxInputs bounds the different inputs of an expression: its truth table has 2^MaxInputs rows.
const MaxInputs = 10

// Error is a mistake in an expression.
type Error struct {
	Expr string
	Col  int // of the offending character, from 1
	Msg  string
}

// Error shows the expression with a caret under the place.
func (e *Error) Error() string {
	from := max(0, min(e.Col-maxShown/2, len(e.Expr)-maxShown))
	to := min(len(e.Expr), from+maxShown)
	lead, tail := "", ""
	if from > 0 {
		lead = "..."
	}
	if to < len(e.Expr) {
		tail = "..."
	}
	return fmt.Sprintf("expression:%d: %s\n  %s%s%s\n  %s^", e.Col, e.Msg, lead, strings.ToValidUTF8(e.Expr[from:to], ""), tail,
		strings.Repeat(" ", len(lead)+utf8.RuneCountInString(e.Expr[from:min(e.Col-1, len(e.Expr))])))
}

// Expr is a parsed expression.
type Expr struct {
	Text  string
	Names []string // inputs in operand order: the first has weight 4 in the index of a three-input truth table
	Table Table
}

// Parse reads an expression over ~ ! & ^ | ?: ( ) with the precedence of C, names and the constants 0 and 1 (all bits).
// With names given, these are the inputs in operand order, and others are errors. Without, the inputs are a, b, c, ... by
// letter when all names are among the first letters of the alphabet, else the names in order of appearance.
func Parse(text string, names []string) (*Expr, error) {
	p := &parser{text: text, fixed: names != nil, names: slices.Clone(names)}
	p.space()
	root, err := p.choice()
	if err != nil {
		return nil, err
	}
	if p.at < len(p.text) {
		return nil, p.errorf(p.at, "unexpected %q after the expression; operators are ~ & ^ | ?: ( )", p.char(p.at))
	}
	if !p.fixed {
		p.order(root)
	}
	n := len(p.names)
	e := &Expr{Text: strings.TrimSpace(text), Names: p.names, Table: make(Table, 1<<n)}
	for i := range e.Table {
		e.Table[i] = root.eval(i, n)
	}
	return e, nil
}

// node is an expression tree.
type node struct {
	op   byte // 'v' variable, '0', '1', '~', '&', '|', '^', '?'
	name int  // of a variable, index into the names
	kids [3]*node
}

func (x *node) eval(row, n int) bool {
	switch x.op {
	case 'v':
		return row>>(n-1-x.name)&1 != 0
	case '1':
		return true
	case '~':
		return !x.kids[0].eval(row, n)
	case '&':
		return x.kids[0].eval(row, n) && x.kids[1].eval(row, n)
	case '|':
		return x.kids[0].eval(row, n) || x.kids[1].eval(row, n)
	case '^':
		return x.kids[0].eval(row, n) != x.kids[1].eval(row, n)
	case '?':
		if x.kids[0].eval(row, n) {
			return x.kids[1].eval(row, n)
		}
		return x.kids[2].eval(row, n)
	}
	return false // '0'
}

func (x *node) rename(to []int) {
	if x == nil {
		return
	}
	if x.op == 'v' {
		x.name = to[x.name]
	}
	for _, k := range x.kids {
		k.rename(to)
	}
}

// order gives inputs called a, b, c, ... the operand that their letter stands for, with at least three operands.
func (p *parser) order(root *node) {
	letters := 3
	for _, n := range p.names {
		if len(n) != 1 || n[0] < 'a' || n[0] >= 'a'+MaxInputs {
			return
		}
		letters = max(letters, int(n[0]-'a')+1)
	}
	if letters > max(3, len(p.names)) {
		return // a, b and j: no ten operands for three names
	}
	to := make([]int, len(p.names))
	for i, n := range p.names {
		to[i] = int(n[0] - 'a')
	}
	root.rename(to)
	p.names = nil
	for i := range letters {
		p.names = append(p.names, string(rune('a'+i)))
	}
}

type parser struct {
	text  string
	at    int
	depth int
	fixed bool // names are given
	names []string
}

// maxDepth bounds the nesting of parentheses and operators.
const maxDepth = 500

func (p *parser) errorf(at int, format string, args ...any) error {
	return &Error{Expr: strings.ReplaceAll(p.text, "\t", " "), Col: at + 1, Msg: fmt.Sprintf(format, args...)}
}

// char is the whole character at a place.
func (p *parser) char(at int) string {
	_, n := utf8.DecodeRuneInString(p.text[at:])
	return p.text[at : at+n]
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

// accept takes a one-character operator; && and || count as & and |.
func (p *parser) accept(c byte) bool {
	if p.at >= len(p.text) || p.text[p.at] != c {
		return false
	}
	p.at++
	if (c == '&' || c == '|') && p.at < len(p.text) && p.text[p.at] == c {
		p.at++
	}
	p.space()
	return true
}

func (p *parser) choice() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.errorf(p.at, "nested deeper than %d levels", maxDepth)
	}
	defer func() { p.depth-- }()
	x, err := p.binary(0)
	if err != nil || !p.accept('?') {
		return x, err
	}
	y, err := p.choice()
	if err != nil {
		return nil, err
	}
	if !p.accept(':') {
		return nil, p.errorf(p.at, "expected \":\" of the ?: operator")
	}
	z, err := p.choice()
	if err != nil {
		return nil, err
	}
	return &node{op: '?', kids: [3]*node{x, y, z}}, nil
}

// levels are the binary operators, weakest first.
const levels = "|^&"

func (p *parser) binary(level int) (*node, error) {
	if level == len(levels) {
		return p.unary()
	}
	x, err := p.binary(level + 1)
	for err == nil && p.accept(levels[level]) {
		var y *node
		if y, err = p.binary(level + 1); err == nil {
			x = &node{op: levels[level], kids: [3]*node{x, y}}
		}
	}
	return x, err
}

func (p *parser) unary() (*node, error) {
	not := false
	for p.accept('~') || p.accept('!') {
		not = !not
	}
	x, err := p.primary()
	if err == nil && not {
		x = &node{op: '~', kids: [3]*node{x}}
	}
	return x, err
}

func (p *parser) primary() (*node, error) {
	start := p.at
	if p.accept('(') {
		x, err := p.choice()
		if err != nil {
			return nil, err
		}
		if !p.accept(')') {
			return nil, p.errorf(p.at, "expected \")\" for the \"(\" in column %d", start+1)
		}
		return x, nil
	}
	for p.at < len(p.text) && isNameByte(p.text[p.at], p.at > start) {
		p.at++
	}
	word := p.text[start:p.at]
	switch {
	case word != "":
		p.space()
		return p.variable(word, start)
	case start == len(p.text):
		return nil, p.errorf(start, "expected an input, ~ or ( here")
	}
	end := start
	for end < len(p.text) && (isNameByte(p.text[end], true)) {
		end++
	}
	switch digits := p.text[start:end]; digits {
	case "0", "1":
		p.at = end
		p.space()
		return &node{op: digits[0]}, nil
	case "":
		return nil, p.errorf(start, "unexpected %q; expected an input, ~ or (", p.char(start))
	default:
		return nil, p.errorf(start, "%q is no input; constants are 0 and 1 (all bits set)", digits)
	}
}

func (p *parser) variable(word string, at int) (*node, error) {
	i := slices.Index(p.names, word)
	if i < 0 {
		if p.fixed {
			return nil, p.errorf(at, "%q is not among the inputs %s", word, strings.Join(p.names, ", "))
		}
		if len(p.names) == MaxInputs {
			return nil, p.errorf(at, "%q is input %d; at most %d are supported", word, MaxInputs+1, MaxInputs)
		}
		i = len(p.names)
		p.names = append(p.names, word)
	}
	return &node{op: 'v', name: i}, nil
}

func isNameByte(c byte, later bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '%' || later && (c >= '0' && c <= '9' || c == '.')
}

// CheckNames says what is wrong with names for inputs, "" if nothing.
func CheckNames(names []string) string {
	if len(names) < 1 || len(names) > MaxInputs {
		return fmt.Sprintf("%d names; give 1 to %d", len(names), MaxInputs)
	}
	for i, n := range names {
		for k := range n {
			if !isNameByte(n[k], k > 0) {
				return fmt.Sprintf("%q is no name: letters, digits and _ only, no digit first", n)
			}
		}
		if n == "" || slices.Contains(names[:i], n) {
			return fmt.Sprintf("name %q is empty or given twice", n)
		}
	}
	return ""
}
