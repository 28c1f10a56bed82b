package ptx

// Binding strength of the binary operators of constant expressions, as in C.
func precedence(op uint16) int {
	switch op {
	case '*', '/', '%':
		return 10
	case '+', '-':
		return 9
	case opShl, opShr:
		return 8
	case '<', '>', opLE, opGE:
		return 7
	case opEQ, opNE:
		return 6
	case '&':
		return 5
	case '^':
		return 4
	case '|':
		return 3
	case opAndAnd:
		return 2
	case opOrOr:
		return 1
	}
	return 0
}

// expr parses a constant expression with operators that bind at least as strongly as level; level 0 takes ?: as well.
// ok is false after an error.
func (p *parser) expr(level, depth int) (c constant, ok bool) {
	if depth > maxDepth {
		p.tooDeep()
		return c, false
	}
	c, ok = p.unary(depth + 1)
	for ok && p.tok.kind == tokPunct {
		op := p.tok.op
		if op == '?' && level == 0 {
			return p.conditional(c, depth)
		}
		prec := precedence(op)
		if prec == 0 || prec < level {
			break
		}
		at := p.tok
		p.advance()
		var d constant
		if d, ok = p.expr(prec+1, depth+1); !ok {
			return c, false
		}
		c, ok = p.binary(at, op, c, d)
	}
	return c, ok
}

func (p *parser) conditional(cond constant, depth int) (c constant, ok bool) {
	p.advance()
	a, ok := p.expr(0, depth+1)
	if !ok || !p.want(':', "in a ?: expression") {
		return c, false
	}
	b, ok := p.expr(0, depth+1)
	if cond.truth() {
		return a, ok
	}
	return b, ok
}

func (p *parser) binary(at token, op uint16, a, b constant) (constant, bool) {
	if a.isFloat || b.isFloat {
		p.errorAt(at.pos, "write the value as one literal", "operator %s between floating-point constants", p.text(at))
		return a, false
	}
	x, y := a.bits, b.bits
	u := a.unsigned || b.unsigned
	r := constant{unsigned: u}
	switch op {
	case '*':
		r.bits = x * y
	case '+':
		r.bits = x + y
	case '-':
		r.bits = x - y
	case '/', '%':
		if y == 0 {
			p.errorAt(at.pos, "", "division by zero in a constant expression")
			return a, false
		}
		switch {
		case u && op == '/':
			r.bits = x / y
		case u:
			r.bits = x % y
		case op == '/':
			r.bits = uint64(int64(x) / int64(y))
		default:
			r.bits = uint64(int64(x) % int64(y))
		}
	case opShl, opShr:
		r.unsigned = a.unsigned
		switch {
		case op == opShl:
			r.bits = x << y
		case a.unsigned:
			r.bits = x >> y
		default:
			r.bits = uint64(int64(x) >> y)
		}
	case '<':
		return boolConstant(less(x, y, u)), true
	case '>':
		return boolConstant(less(y, x, u)), true
	case opLE:
		return boolConstant(!less(y, x, u)), true
	case opGE:
		return boolConstant(!less(x, y, u)), true
	case opEQ:
		return boolConstant(x == y), true
	case opNE:
		return boolConstant(x != y), true
	case '&':
		r.bits = x & y
	case '^':
		r.bits = x ^ y
	case '|':
		r.bits = x | y
	case opAndAnd:
		return boolConstant(x != 0 && y != 0), true
	case opOrOr:
		return boolConstant(x != 0 || y != 0), true
	}
	return r, true
}

func less(x, y uint64, unsigned bool) bool {
	if unsigned {
		return x < y
	}
	return int64(x) < int64(y)
}

// unary parses a literal, WARP_SZ, a parenthesis, a cast (.s64)x or an operator before one.
func (p *parser) unary(depth int) (c constant, ok bool) {
	if depth > maxDepth {
		p.tooDeep()
		return c, false
	}
	switch t := p.tok; t.kind {
	case tokNumber:
		c, problem, hint := parseNumber(p.text(t))
		if problem != "" {
			p.errorAt(t.pos, hint, "%s", problem)
			return c, false
		}
		p.advance()
		return c, true
	case tokIdent:
		if p.text(t) == "WARP_SZ" {
			p.advance()
			return constant{bits: 32}, true
		}
	case tokPunct:
		switch t.op {
		case '+', '-', '!', '~':
			p.advance()
			if c, ok = p.unary(depth + 1); !ok {
				return c, false
			}
			return p.applyUnary(t, c)
		case '(':
			return p.parenthesis(depth)
		}
	}
	p.unexpected("a constant")
	return c, false
}

func (p *parser) applyUnary(t token, c constant) (constant, bool) {
	switch {
	case t.op == '-':
		return c.negate(), true
	case t.op == '!':
		return boolConstant(!c.truth()), true
	case t.op == '~' && c.isFloat:
		p.errorAt(t.pos, "", "operator ~ before a floating-point constant")
		return c, false
	case t.op == '~':
		c.bits = ^c.bits
	}
	return c, true
}

// parenthesis parses (expr), or (.s64) or (.u64) and what it casts.
func (p *parser) parenthesis(depth int) (c constant, ok bool) {
	p.advance()
	if p.tok.kind != tokDot {
		c, ok = p.expr(0, depth+1)
		return c, ok && p.want(')', "in a constant expression")
	}
	t := p.tok
	p.advance()
	if !p.want(')', "after the type of a cast") {
		return c, false
	}
	if c, ok = p.unary(depth + 1); !ok {
		return c, false
	}
	switch p.text(t) {
	case ".s64", ".u64":
		if c.isFloat {
			c = constant{bits: uint64(int64(c.float))}
		}
		c.unsigned = p.text(t) == ".u64"
		return c, true
	}
	p.errorAt(t.pos, "constant expressions know .s64 and .u64", "cast to %s", quote(p.text(t)))
	return c, false
}
