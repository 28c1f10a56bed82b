package ptx

import "strings"

// maxPadding bounds the zeros that fill short rows of a nested initialiser: more of them is a typing mistake in a
// dimension, and would only cost memory.
const maxPadding = 1 << 18

// initialiser parses what follows = in a declaration, into row-major order. Short rows are filled with zeros up to
// the next row; zeros after the last given element are left out. An empty first dimension becomes known.
func (p *parser) initialiser(v *Var) bool {
	at := p.tok
	if v.Space == "reg" || v.Space == "param" || v.Extern {
		p.errorAt(at.pos, "initialise .global and .const variables; set registers with mov", "initialiser of %s, which cannot have one", v.Name)
		return false
	}
	if p.is('{') && TypeBytes(v.Type) == 0 {
		return p.opaqueInitialiser(v)
	}
	shape := v.Dims
	if v.Vector > 0 {
		shape = append(append([]int{}, v.Dims...), v.Vector)
	}
	in := initParser{p: p, v: v, shape: shape}
	var ok bool
	if p.is('{') {
		ok = in.list(0)
	} else {
		ok = in.element()
	}
	if !ok {
		return false
	}
	row := max(v.Vector, 1)
	for _, d := range v.Dims[min(1, len(v.Dims)):] {
		row *= max(d, 1)
	}
	if len(v.Dims) > 0 && v.Dims[0] < 0 {
		v.Dims = append([]int{}, v.Dims...)
		v.Dims[0] = (len(v.Init) + row - 1) / row
	}
	room := row
	if len(v.Dims) > 0 {
		room *= v.Dims[0]
	}
	if len(v.Init) > room {
		p.errorAt(at.pos, "", "%d initial values for the %d elements of %s", len(v.Init), room, v.Name)
		return false
	}
	return true
}

// initParser fills one variable.
type initParser struct {
	p       *parser
	v       *Var
	shape   []int // dimensions, the vector width last
	padding int
}

// list parses { ... } at a nesting level; inner lists start at the next multiple of their row size.
func (in *initParser) list(level int) bool {
	p := in.p
	if level >= maxDepth {
		p.tooDeep()
		return false
	}
	p.advance()
	start := len(in.v.Init)
	row := 1 // size of one element of this list
	for _, d := range in.shape[min(level+1, len(in.shape)):] {
		row *= max(d, 1)
	}
	for i := 0; !p.is('}'); i++ {
		if p.is('{') {
			if level+1 >= max(len(in.shape), 1) {
				p.errorAt(p.tok.pos, "", "initialiser of %s is nested deeper than its %d dimensions", in.v.Name, len(in.shape))
				return false
			}
			if !in.pad(start, row, i) || !in.list(level+1) {
				return false
			}
		} else if !in.element() {
			return false
		}
		if !p.accept(',') {
			break
		}
	}
	if n := len(in.v.Init) - start; level > 0 && n > row*in.shape[level] {
		p.errorAt(p.tok.pos, "", "%d initial values for a row of %d in %s", n, row*in.shape[level], in.v.Name)
		return false
	}
	return p.want('}', "after initial values")
}

// pad appends zeros until the values since start fill whole rows, and at least n of them.
func (in *initParser) pad(start, row, n int) bool {
	have := len(in.v.Init) - start
	need := max((have+row-1)/row, n)*row - have
	if in.padding += need; in.padding > maxPadding {
		in.p.errorAt(in.p.tok.pos, "check the dimensions of the array", "initialiser of %s leaves more than %d elements out", in.v.Name, maxPadding)
		return false
	}
	for ; need > 0; need-- {
		in.v.Init = append(in.v.Init, InitValue{Pos: in.p.tok.pos})
	}
	return true
}

// element parses one value: a constant, a string, or an address: sym, sym+n, generic(sym)+n, 0xFF00(sym).
func (in *initParser) element() bool {
	p := in.p
	at := p.tok
	x := InitValue{Pos: at.pos}
	switch {
	case at.kind == tokString:
		s, _ := p.stringText("")
		for _, c := range []byte(unescape(s)) {
			in.v.Init = append(in.v.Init, InitValue{Pos: at.pos, Int: uint64(c)})
		}
	case at.kind == tokIdent && p.text(at) != "WARP_SZ":
		if !p.addressValue(&x) {
			return false
		}
	default:
		c, ok := p.expr(0, 0)
		if !ok {
			return false
		}
		x.Int, x.Float, x.IsFloat, x.Single = c.bits, c.float, c.isFloat, c.single
		if p.is('(') {
			return in.masked(x)
		}
	}
	if at.kind != tokString {
		in.v.Init = append(in.v.Init, x)
	}
	return true
}

// addressValue parses sym, sym+n, generic(sym), generic(sym)+n or generic(sym+n) into x.
func (p *parser) addressValue(x *InitValue) bool {
	at := p.tok
	var ok bool
	if x.Symbol, ok = p.ident("a variable"); !ok {
		return false
	}
	if p.is('(') {
		if x.Symbol != "generic" {
			p.errorAt(at.pos, "an address can be written sym, generic(sym) or 0xFF(sym)", "unknown operator %s in an initialiser", x.Symbol)
			return false
		}
		x.Generic = true
		p.advance()
		if x.Symbol, ok = p.ident("a variable after generic("); !ok {
			return false
		}
		inner, ok := p.offset()
		if !ok || !p.want(')', "after generic("+x.Symbol) {
			return false
		}
		x.Int += uint64(inner)
	}
	off, ok := p.offset()
	x.Int += uint64(off)
	return ok
}

// masked parses the (sym) or (generic(sym)) of a byte selector 0xFF00(sym).
func (in *initParser) masked(x InitValue) bool {
	p := in.p
	p.advance()
	x.Mask, x.Int = x.Int, 0
	if !p.addressValue(&x) {
		return false
	}
	if x.Mask == 0 || x.IsFloat {
		p.errorAt(x.Pos, "a mask is 0xFF, 0xFF00, 0xFF0000, ...", "bad byte mask before (%s)", x.Symbol)
		return false
	}
	in.v.Init = append(in.v.Init, x)
	return p.want(')', "after a masked address")
}

// opaqueInitialiser parses { filter_mode = linear, addr_mode_0 = wrap, width = 64 }.
func (p *parser) opaqueInitialiser(v *Var) bool {
	p.advance()
	for !p.is('}') {
		x := InitValue{Pos: p.tok.pos}
		var ok bool
		if x.Field, ok = p.ident("the name of an attribute"); !ok || !p.want('=', "after "+x.Field) {
			return false
		}
		if p.tok.kind == tokIdent {
			x.Symbol, _ = p.ident("")
		} else {
			c, ok := p.expr(0, 0)
			if !ok {
				return false
			}
			x.Int = c.bits
		}
		v.Init = append(v.Init, x)
		if !p.accept(',') {
			break
		}
	}
	return p.want('}', "after initial values")
}

// unescape replaces the C escapes of a string.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '\\' || i+1 == len(s) {
			b.WriteByte(c)
			continue
		}
		i++
		switch c = s[i]; {
		case c >= '0' && c <= '7':
			v := 0
			for n := 0; n < 3 && i < len(s) && s[i] >= '0' && s[i] <= '7'; n++ {
				v = v*8 + int(s[i]-'0')
				i++
			}
			i--
			b.WriteByte(byte(v))
		case c == 'x':
			v := 0
			for i+1 < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[i+1]) >= 0 {
				i++
				d := int(s[i])
				if d > '9' {
					d = d&7 + 9
				}
				v = v*16 + d&15
			}
			b.WriteByte(byte(v))
		default:
			if k := strings.IndexByte("abfnrtv", c); k >= 0 {
				c = "\a\b\f\n\r\t\v"[k]
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}
