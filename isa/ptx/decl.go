package ptx

import (
	"math"
	"strings"
)

// spaces are the state spaces of declarations.
var spaces = []string{".reg", ".sreg", ".param", ".const", ".global", ".local", ".shared", ".tex"}

// typeBytes gives the size of the types of declarations; 0 for predicates and opaque types.
var typeBytes = map[string]int{
	"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "b32": 4, "u32": 4, "s32": 4, "b64": 8, "u64": 8, "s64": 8,
	"b128": 16, "f16": 2, "f16x2": 4, "bf16": 2, "bf16x2": 4, "f32": 4, "tf32": 4, "f64": 8,
	"e4m3": 1, "e5m2": 1, "e4m3x2": 2, "e5m2x2": 2, "u16x2": 4, "s16x2": 4,
	"pred": 0, "texref": 0, "samplerref": 0, "surfref": 0,
}

// TypeBytes is the size in bytes of a PTX type ("u32": 4), 0 for pred and opaque types, -1 for a type it does not know.
func TypeBytes(t string) int {
	if n, ok := typeBytes[t]; ok {
		return n
	}
	return -1
}

// Bytes is the size of the variable, of one element for an array of unknown size.
func (v *Var) Bytes() int {
	n := v.elementBytes()
	for _, d := range v.Dims {
		if d >= 0 {
			n *= d
		}
	}
	return n
}

func (v *Var) elementBytes() int {
	return max(TypeBytes(v.Type), 0) * max(v.Vector, 1)
}

func isSpace(word string) bool {
	for _, s := range spaces {
		if s == word {
			return true
		}
	}
	return false
}

// linkage is what stood before a declaration.
type linkage struct {
	extern, visible, weak, common bool
	attributes                    []string
}

// set takes .extern and its like; false for another word.
func (l *linkage) set(word string) bool {
	switch word {
	case ".extern":
		l.extern = true
	case ".visible":
		l.visible = true
	case ".weak":
		l.weak = true
	case ".common":
		l.common = true
	default:
		return false
	}
	return true
}

// variables parses a declaration statement, from its state space to its semicolon, and hands on each variable.
func (p *parser) variables(add func(*Var), link linkage) bool {
	first, ok := p.specifiers(link)
	if !ok {
		return false
	}
	for {
		v := *first
		v.Pos = p.tok.pos
		if v.Name, ok = p.ident("a variable name"); !ok {
			return false
		}
		if !p.declarator(&v) {
			return false
		}
		if p.accept('=') && !p.initialiser(&v) {
			return false
		}
		if v.Range >= 0 { // %r<0> declares nothing
			p.declare(&v)
			add(&v)
		}
		if !p.accept(',') {
			return p.semicolon("the declaration of " + v.Name)
		}
	}
}

// specifiers parses the state space, type, vector width, alignment and attributes that stand before the names.
func (p *parser) specifiers(link linkage) (*Var, bool) {
	v := &Var{Pos: p.tok.pos, Space: p.text(p.tok)[1:], Extern: link.extern, Visible: link.visible, Weak: link.weak,
		Common: link.common, Attributes: link.attributes}
	p.advance()
	if v.Space == "const" && p.accept('[') {
		bank, ok := p.integer("the number of a constant bank", 0, 31)
		if !ok || !p.want(']', "after the number of a constant bank") {
			return nil, false
		}
		v.Bank = bank
	}
	for p.tok.kind == tokDot {
		t := p.tok
		switch word := p.text(t)[1:]; word {
		case "align":
			if !p.align(&v.Align, &v.PtrAlign, v.Ptr) {
				return nil, false
			}
			continue
		case "v2", "v4", "v8":
			v.Vector = int(word[1] - '0')
		case "ptr":
			v.Ptr = true
		case "attribute":
			text, ok := p.attribute()
			if !ok {
				return nil, false
			}
			v.Attributes = append(v.Attributes, text)
			continue
		case "global", "const", "local", "shared":
			if v.PtrAlign > 0 {
				p.errorAt(t.pos, "write .ptr ."+word+" .align", ".%s behind the alignment of .ptr", word)
				return nil, false
			}
			if !v.Ptr {
				p.errorAt(t.pos, "", "a second state space .%s in one declaration", word)
				return nil, false
			}
			v.PtrSpace = word
		default:
			if TypeBytes(word) < 0 {
				p.unknownType(t)
				return nil, false
			}
			if v.Type != "" {
				p.errorAt(t.pos, "", "a second type .%s in one declaration", word)
				return nil, false
			}
			v.Type = word
		}
		p.advance()
	}
	if v.Type == "" {
		p.errorAt(p.tok.pos, "write for example ."+v.Space+" .u32 name", "declaration in .%s without a type", v.Space)
		return nil, false
	}
	return v, true
}

func (p *parser) unknownType(t token) {
	names := make([]string, 0, len(typeBytes))
	for _, n := range strings.Fields("u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 b128 f16 f16x2 bf16 bf16x2 f32 f64 pred texref samplerref surfref") {
		names = append(names, "."+n)
	}
	hint := ""
	if s := Suggest(p.text(t), names); s != "" {
		hint = "did you mean " + s + "?"
	}
	p.errorAt(t.pos, hint, "unknown type %s in a declaration", p.text(t))
}

// align parses .align N, of the variable or, after .ptr, of what it points to.
func (p *parser) align(own, pointee *int, ptr bool) bool {
	p.advance()
	at := p.tok.pos
	n, ok := p.integer("an alignment", 1, 1<<20)
	if !ok {
		return false
	}
	if n&(n-1) != 0 {
		p.errorAt(at, "", "alignment %d is not a power of two", n)
		return false
	}
	if ptr {
		*pointee = n
	} else {
		*own = n
	}
	return true
}

// attribute parses .attribute(.managed, ...) and returns what is within the parentheses.
func (p *parser) attribute() (string, bool) {
	p.advance()
	if !p.want('(', "after .attribute") {
		return "", false
	}
	var b strings.Builder
	for depth := 1; ; {
		switch {
		case p.tok.kind == tokEOF || p.is(';') || p.is('{'):
			p.unexpected("\")\" after .attribute(" + b.String())
			return "", false
		case p.is('('):
			depth++
		case p.is(')'):
			if depth--; depth == 0 {
				p.advance()
				return b.String(), true
			}
		}
		b.WriteString(p.text(p.tok))
		if p.is(',') {
			b.WriteByte(' ')
		}
		p.advance()
	}
}

// declarator parses what follows a name: <N> and [dimensions].
func (p *parser) declarator(v *Var) bool {
	if p.accept('<') {
		// The bound is parsed above the comparison operators, or > would be one.
		at := p.tok.pos
		c, ok := p.expr(precedence('+'), 0)
		if !ok || !p.want('>', "after the number of registers") {
			return false
		}
		if c.isFloat || c.bits > 1<<24 {
			p.errorAt(at, "", "the number of registers must be an integer from 0 to %d", 1<<24)
			return false
		}
		if v.Range = int(c.bits); v.Range == 0 {
			v.Range = -1
		}
	}
	for p.accept('[') {
		if p.accept(']') {
			if len(v.Dims) > 0 {
				p.errorAt(p.prev.pos, "only the first dimension may be left empty", "empty dimension of array %s", v.Name)
				return false
			}
			v.Dims = append(v.Dims, -1)
			continue
		}
		n, ok := p.integer("an array dimension", 0, math.MaxInt32)
		if !ok || !p.want(']', "after an array dimension") {
			return false
		}
		v.Dims = append(v.Dims, n)
	}
	total := 1
	for _, d := range v.Dims {
		if total *= max(d, 1); total > 1<<40 {
			p.errorAt(v.Pos, "", "array %s is larger than any memory", v.Name)
			return false
		}
	}
	return true
}

// params parses a parenthesised list of parameter declarations; the names of a prototype's may be missing or _.
func (p *parser) params(named bool) ([]*Var, bool) {
	if !p.want('(', "before parameters") {
		return nil, false
	}
	list := []*Var{}
	if p.accept(')') {
		return list, true
	}
	for {
		if p.tok.kind != tokDot || !isSpace(p.text(p.tok)) {
			p.unexpected("a parameter such as .param .u32 name")
			return nil, false
		}
		v, ok := p.specifiers(linkage{})
		if !ok {
			return nil, false
		}
		if p.tok.kind == tokIdent || named {
			v.Pos = p.tok.pos
			if v.Name, ok = p.ident("a parameter name"); !ok {
				return nil, false
			}
		}
		if !p.declarator(v) {
			return nil, false
		}
		list = append(list, v)
		if !p.accept(',') {
			break
		}
	}
	return list, p.want(')', "after parameters")
}
