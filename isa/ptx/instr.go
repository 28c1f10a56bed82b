package ptx

import "strings"

// instruction parses an instruction from its guard, or after its opcode when that has been passed already.
func (p *parser) instruction(b *Block, opcode token) bool {
	in := &Instr{Loc: p.loc}
	start := opcode.off
	if p.is('@') {
		in.Pos, start = p.tok.pos, p.tok.off
		if !p.guard(in) {
			return false
		}
		opcode = p.tok
		if opcode.kind != tokIdent {
			p.unexpected("an instruction after its guard")
			return false
		}
		p.advance()
	} else {
		in.Pos = opcode.pos
	}
	in.Op = p.text(opcode)
	for p.tok.kind == tokDot {
		if p.tok.newLine { // the next line's directive: the semicolon is missing
			break
		}
		in.Mods = append(in.Mods, p.text(p.tok)[1:])
		p.advance()
	}
	ok := true
	if in.Op == "call" {
		ok = p.callOperands(in)
	} else if !p.is(';') && !p.statementEnded() {
		in.Args, ok = p.operands()
	}
	if !ok {
		return false
	}
	end := p.prev.end
	if !p.operandsEnd(in) {
		return false
	}
	in.Text = cleanText(p.lex.src[start:end]) + ";"
	b.Stmts = append(b.Stmts, in)
	return true
}

// statementEnded says whether the current token cannot continue an instruction: the file or block ends, or a line
// begins with what only starts a statement.
func (p *parser) statementEnded() bool {
	return p.tok.kind == tokEOF || p.is('}') || p.tok.newLine && (p.tok.kind == tokDot || p.is('@'))
}

// operandsEnd passes the semicolon after the operands.
func (p *parser) operandsEnd(in *Instr) bool {
	if p.accept(';') {
		return true
	}
	if p.tok.kind == tokEOF || p.tok.newLine || p.is('}') {
		p.errorAt(p.endOfPrev(), "", "missing ; after %s", in.Name())
		return true
	}
	if p.tok.kind == tokIdent && len(in.Args) == 1 && in.Args[0].Kind == ArgName && len(in.Mods) == 0 && !isControl(in.Op) {
		p.errorAt(in.Pos, "", "%s is not a PTX instruction", quote(in.Op+" "+in.Args[0].Name))
		return false
	}
	p.unexpected("a comma or ; after an operand of " + in.Name())
	return false
}

func isControl(op string) bool { return op == "bra" || op == "call" || op == "brx" }

func (p *parser) guard(in *Instr) bool {
	g := &Guard{}
	p.advance()
	g.Pos = p.tok.pos
	g.Neg = p.accept('!')
	var ok bool
	if g.Name, ok = p.ident("a predicate after @"); !ok {
		return false
	}
	in.Guard = g
	return true
}

// callOperands parses [ (returned), ] function [ , (arguments) ] [ , prototype or targets ].
func (p *parser) callOperands(in *Instr) bool {
	var ok bool
	if p.is('(') {
		if in.CallRet, ok = p.list(); !ok || !p.want(',', "after the values a call returns") {
			return false
		}
	}
	for {
		if p.is('(') && in.CallArgs == nil && len(in.Args) == 1 {
			if in.CallArgs, ok = p.list(); !ok {
				return false
			}
		} else {
			a, ok := p.operand(0)
			if !ok {
				return false
			}
			in.Args = append(in.Args, a)
		}
		if !p.accept(',') {
			return true
		}
	}
}

// list parses (operand, ...), possibly empty.
func (p *parser) list() ([]Arg, bool) {
	p.advance()
	if p.accept(')') {
		return []Arg{}, true
	}
	args, ok := p.operands()
	return args, ok && p.want(')', "after the operands of a call")
}

// operands parses a comma-separated list.
func (p *parser) operands() ([]Arg, bool) {
	args := make([]Arg, 0, 4)
	for {
		a, ok := p.operand(0)
		if !ok {
			return nil, false
		}
		args = append(args, a)
		if !p.accept(',') {
			return args, true
		}
	}
}

// operand parses one operand, pairs a|b included.
func (p *parser) operand(depth int) (Arg, bool) {
	a, ok := p.single(depth)
	if !ok || !p.is('|') {
		return a, ok
	}
	p.advance()
	b, ok := p.single(depth)
	return Arg{Pos: a.Pos, Kind: ArgPair, Elems: []Arg{a, b}}, ok
}

func (p *parser) single(depth int) (Arg, bool) {
	if depth > maxDepth {
		p.tooDeep()
		return Arg{}, false
	}
	t := p.tok
	switch t.kind {
	case tokIdent:
		if p.text(t) == "WARP_SZ" {
			break
		}
		return p.named(Arg{Pos: t.pos}, depth)
	case tokString:
		s, _ := p.stringText("")
		return Arg{Pos: t.pos, Kind: ArgString, Name: s}, true
	case tokPunct:
		switch t.op {
		case '{':
			return p.vector(depth)
		case '[':
			return p.address(depth)
		case '-', '!':
			// -a and !p negate a register; before a literal they belong to a constant expression.
			if next := p.peek(); next.kind == tokIdent && p.text(next) != "WARP_SZ" {
				p.advance()
				return p.named(Arg{Pos: t.pos, Neg: true, Not: t.op == '!'}, depth)
			}
		case '(', '~', '+':
		default:
			p.unexpected("an operand")
			return Arg{}, false
		}
	case tokNumber:
	default:
		p.unexpected("an operand")
		return Arg{}, false
	}
	c, ok := p.expr(0, depth)
	return constantArg(t.pos, c), ok
}

// peek looks one token ahead.
func (p *parser) peek() token {
	lex := p.lex
	return lex.next(func(Pos, string, string, ...any) {})
}

func constantArg(pos Pos, c constant) Arg {
	if c.isFloat {
		a := Arg{Pos: pos, Kind: ArgFloat, Float: c.float, HexFloat: c.hexFloat, Single: c.single}
		if c.hexFloat {
			a.Bits = c.bits
		}
		return a
	}
	return Arg{Pos: pos, Kind: ArgInt, Int: int64(c.bits), Unsigned: c.unsigned}
}

// named parses what starts with a name: name, name.member, _, name+imm, name[index].
func (p *parser) named(a Arg, depth int) (Arg, bool) {
	a.Name = p.text(p.tok)
	end := p.tok.end
	p.advance()
	if a.Name == "_" && !a.Neg {
		a.Kind, a.Name = ArgSink, ""
		return a, true
	}
	start := end + 1
	for p.tok.kind == tokDot && p.tok.off == end {
		end = p.tok.end
		a.Member = p.lex.src[start:end]
		p.advance()
	}
	if p.is('[') {
		return p.subscript(a, depth)
	}
	var ok bool
	a.Int, ok = p.offset()
	return a, ok
}

// offset parses any number of +constant and -constant.
func (p *parser) offset() (int64, bool) {
	sum := uint64(0)
	for p.is('+') || p.is('-') {
		minus := p.is('-')
		p.advance()
		at := p.tok.pos
		if p.tok.kind == tokIdent && p.text(p.tok) != "WARP_SZ" {
			p.errorAt(at, "compute the sum of two registers with add first", "offset %s is not a constant", p.text(p.tok))
			return 0, false
		}
		c, ok := p.expr(precedence('*'), 0)
		if !ok {
			return 0, false
		}
		if c.isFloat {
			p.errorAt(at, "", "an address offset must be an integer")
			return 0, false
		}
		if minus {
			c.bits = -c.bits
		}
		sum += c.bits
	}
	return int64(sum), true
}

// subscript parses the [i] or [i][j] of an array element. Constant subscripts of an array in sight become the
// element's address, name + bytes.
func (p *parser) subscript(a Arg, depth int) (Arg, bool) {
	a.Kind = ArgIndex
	constant := true
	for p.accept('[') {
		at := p.tok.pos
		e, ok := p.single(depth + 1)
		if !ok || !p.want(']', "after an array index") {
			return a, false
		}
		switch e.Kind {
		case ArgInt:
		case ArgName:
			constant = false
		default:
			p.errorAt(at, "", "an array index must be an integer or a register")
			return a, false
		}
		a.Elems = append(a.Elems, e)
	}
	v := p.findArray(a.Name)
	if !constant || v == nil || len(v.Dims) < len(a.Elems) {
		return a, true
	}
	bytes := int64(v.elementBytes())
	for i := len(v.Dims) - 1; i >= 0; i-- {
		if i < len(a.Elems) {
			a.Int += a.Elems[i].Int * bytes
		}
		bytes *= int64(max(v.Dims[i], 1))
	}
	a.Kind, a.Elems = ArgName, nil
	return a, true
}

func (p *parser) vector(depth int) (Arg, bool) {
	a := Arg{Pos: p.tok.pos, Kind: ArgVector}
	p.advance()
	for {
		e, ok := p.operand(depth + 1)
		if !ok {
			return a, false
		}
		a.Elems = append(a.Elems, e)
		if !p.accept(',') {
			return a, p.want('}', "after the elements of a vector")
		}
	}
}

// address parses [base], [base+imm], [imm] and texture operands [tex, {x, y}].
func (p *parser) address(depth int) (Arg, bool) {
	a := Arg{Pos: p.tok.pos, Kind: ArgAddr}
	p.advance()
	base, ok := p.operand(depth + 1)
	if !ok {
		return a, false
	}
	if p.is(',') {
		a.Kind = ArgTexAddr
		a.Elems = []Arg{base}
		for p.accept(',') {
			e, ok := p.operand(depth + 1)
			if !ok {
				return a, false
			}
			a.Elems = append(a.Elems, e)
		}
		return a, p.want(']', "after the coordinates")
	}
	switch {
	case base.Kind == ArgName && !base.Neg:
		a.Name, a.Member, a.Int = base.Name, base.Member, base.Int
	case base.Kind == ArgInt:
		a.Int, a.Unsigned = base.Int, base.Unsigned
	case base.Kind == ArgIndex && !base.Neg: // [name[r]] is name[r]
		a.Kind, a.Name, a.Member, a.Elems = ArgIndex, base.Name, base.Member, base.Elems
	default:
		p.errorAt(base.Pos, "an address is [register], [name], either with + or - a constant, or [constant]", "bad address")
		return a, false
	}
	if a.Kind == ArgAddr {
		off, ok := p.offset()
		if !ok {
			return a, false
		}
		a.Int += off
	}
	if !p.want(']', "after an address") {
		return a, false
	}
	if p.isDot(".unified") && !p.tok.newLine {
		a.Unified = true
		p.advance()
	}
	return a, true
}

// cleanText is the instruction without comments and with single blanks.
func cleanText(s string) string {
	if !strings.ContainsAny(s, "\t\n\r/") && !strings.Contains(s, "  ") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			gap = true
			continue
		case strings.HasPrefix(s[i:], "//"):
			gap = true
			if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
				i += n
				continue
			}
			return b.String()
		case strings.HasPrefix(s[i:], "/*"):
			gap = true
			if n := strings.Index(s[i+2:], "*/"); n >= 0 {
				i += n + 3
				continue
			}
			return b.String()
		case gap && b.Len() > 0:
			b.WriteByte(' ')
		}
		gap = false
		b.WriteByte(s[i])
	}
	return b.String()
}
