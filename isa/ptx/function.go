package ptx

import (
	"strconv"
	"strings"
)

// linked parses a declaration that starts with a linking directive, an entry or a function.
func (p *parser) linked() bool {
	var link linkage
	for p.tok.kind == tokDot {
		word := p.text(p.tok)
		switch {
		case link.set(word):
			p.advance()
		case word == ".attribute":
			text, ok := p.attribute()
			if !ok {
				return false
			}
			link.attributes = append(link.attributes, text)
		case word == ".entry" || word == ".func":
			return p.function(link)
		case isSpace(word):
			return p.variables(func(v *Var) { p.m.Vars = append(p.m.Vars, v) }, link)
		default:
			p.unknownDirective(moduleDirectives)
			return false
		}
	}
	p.unexpected(".entry, .func or a state space after a linking directive")
	return false
}

// function parses an .entry or .func, with or without body.
func (p *parser) function(link linkage) bool {
	f := &Func{Pos: p.tok.pos, Entry: p.isDot(".entry"), Extern: link.extern, Visible: link.visible, Weak: link.weak,
		Attributes: link.attributes}
	p.advance()
	p.pushScope()
	defer p.popScope()
	p.loc = nil
	var ok bool
	for p.tok.kind == tokDot { // .attribute(...), .noreturn
		if !p.headerDirective(f) {
			return false
		}
	}
	if p.is('(') {
		if f.Entry {
			p.errorAt(p.tok.pos, "", "a kernel entry returns nothing")
			return false
		}
		if f.Returns, ok = p.params(true); !ok {
			return false
		}
	}
	what := "the name of a function"
	if f.Entry {
		what = "the name of a kernel entry"
	}
	f.Pos = p.tok.pos
	if f.Name, ok = p.ident(what); !ok {
		return false
	}
	if p.is('(') {
		if f.Params, ok = p.params(true); !ok {
			p.skipHeader()
		}
	}
	for _, v := range append(append([]*Var{}, f.Returns...), f.Params...) {
		p.declare(v)
	}
	for p.tok.kind == tokDot {
		if !p.headerDirective(f) {
			p.skipHeader()
		}
	}
	p.m.Funcs = append(p.m.Funcs, f)
	if p.accept(';') {
		return true
	}
	if !p.is('{') {
		p.unexpected("{ or ; after the header of " + f.Name)
		return false
	}
	f.Body = p.block(1, f.Name)
	if f.Entry && p.m.Major < 2 {
		moveBodyParams(f)
	}
	return true
}

// skipHeader passes the rest of a broken function header, so that its body is still checked.
func (p *parser) skipHeader() {
	for p.tok.kind != tokEOF && !p.is('{') && !p.is(';') {
		p.advance()
	}
}

// moveBodyParams makes the .param variables in the body of an entry its parameters: PTX 1.0 to 1.3 had no other
// way to write them, and no .param variables of calls.
func moveBodyParams(f *Func) {
	kept := f.Body.Stmts[:0]
	for _, s := range f.Body.Stmts {
		if v, ok := s.(*Var); ok && v.Space == "param" {
			f.Params = append(f.Params, v)
			continue
		}
		kept = append(kept, s)
	}
	f.Body.Stmts = kept
}

// headerDirectives are the words between the parameters of a function and its body.
var headerDirectives = []string{".maxnreg", ".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".noreturn", ".pragma",
	".reqnctapercluster", ".explicitcluster", ".maxclusterrank", ".blocksareclusters", ".abi_preserve",
	".abi_preserve_control", ".attribute"}

func (p *parser) headerDirective(f *Func) bool {
	word := p.text(p.tok)
	pos := p.tok.pos
	switch word {
	case ".pragma":
		texts, ok := p.pragma()
		f.Pragmas = append(f.Pragmas, texts...)
		return ok
	case ".attribute":
		text, ok := p.attribute()
		f.Attributes = append(f.Attributes, text)
		return ok
	case ".loc": // before the brace, where some compilers put the first one
		p.loc = p.locDirective()
		return p.loc != nil
	}
	known := false
	for _, d := range headerDirectives {
		known = known || d == word
	}
	if !known {
		p.unknownDirective(headerDirectives)
		return false
	}
	p.advance()
	var args []int
	for p.tok.kind == tokNumber || p.is('(') || p.is('-') || p.tok.kind == tokIdent && p.text(p.tok) == "WARP_SZ" {
		n, ok := p.integer("an argument of "+word, 0, 1<<31-1)
		if !ok {
			return false
		}
		args = append(args, n)
		if !p.accept(',') {
			break
		}
	}
	return p.applyHeader(f, word, pos, args)
}

// applyHeader stores a directive after checking the number of its arguments.
func (p *parser) applyHeader(f *Func, word string, pos Pos, args []int) bool {
	lo, hi := 1, 1
	switch word {
	case ".maxntid", ".reqntid", ".reqnctapercluster":
		hi = 3
	case ".noreturn", ".explicitcluster", ".blocksareclusters":
		lo, hi = 0, 0
	}
	if len(args) < lo || len(args) > hi {
		want := strconv.Itoa(lo)
		if hi > lo {
			want += " to " + strconv.Itoa(hi)
		}
		p.errorAt(pos, "", "%s takes %s arguments, not %d", word, want, len(args))
		return false
	}
	if (word == ".maxnreg" || word == ".minnctapersm") && args[0] == 0 {
		p.errorAt(pos, "", "%s must be at least 1", word)
		return false
	}
	dims := [3]int{1, 1, 1}
	copy(dims[:], args)
	switch word {
	case ".maxntid":
		f.MaxNTid = dims
	case ".reqntid":
		f.ReqNTid = dims
	case ".minnctapersm":
		f.MinNCTA = args[0]
	case ".maxnreg":
		f.MaxNReg = args[0]
	case ".noreturn":
		f.NoReturn = true
	default:
		f.Directives = append(f.Directives, directiveText(word, args))
	}
	return true
}

func directiveText(word string, args []int) string {
	parts := make([]string, len(args))
	for i, n := range args {
		parts[i] = strconv.Itoa(n)
	}
	return strings.TrimSpace(word + " " + strings.Join(parts, ", "))
}

// block parses { statements }.
func (p *parser) block(depth int, where string) *Block {
	b := &Block{Pos: p.tok.pos}
	p.advance()
	if depth > maxDepth {
		p.tooDeep()
		return b
	}
	p.pushScope()
	defer p.popScope()
	for !p.is('}') {
		if p.tok.kind == tokEOF {
			p.errorAt(b.Pos, "", "this { of %s is never closed", where)
			return b
		}
		if p.startsFunction() {
			p.errorAt(p.tok.pos, "add the missing } before it", "%s within the body of %s, whose { on line %d is still open", p.text(p.tok), where, b.Pos.Line)
			b.End = p.tok.pos
			return b
		}
		if start := p.tok.off; !p.statement(b, depth, where) {
			p.skipStatement(start)
		}
	}
	b.End = p.tok.pos
	p.advance()
	return b
}

// startsFunction says whether an .entry or .func begins here, after any linking directives.
func (p *parser) startsFunction() bool {
	if p.tok.kind != tokDot {
		return false
	}
	lex, t := p.lex, p.tok
	quiet := func(Pos, string, string, ...any) {}
	for t.kind == tokDot {
		switch lex.src[t.off:t.end] {
		case ".entry", ".func":
			return true
		case ".visible", ".weak", ".extern":
			t = lex.next(quiet)
		default:
			return false
		}
	}
	return false
}

// bodyDirectives are the words that may start a statement in a body.
var bodyDirectives = []string{".reg", ".shared", ".local", ".param", ".const", ".global", ".loc", ".pragma", ".file",
	".branchtargets", ".calltargets", ".callprototype", ".visible", ".extern", ".weak", ".common", ".sreg", ".tex"}

// statement parses one statement of a body. false: it is broken and its rest must be skipped.
func (p *parser) statement(b *Block, depth int, where string) bool {
	switch t := p.tok; {
	case p.straySemicolon():
		return true
	case p.is('{'):
		inner := p.block(depth+1, where)
		b.Stmts = append(b.Stmts, inner)
		return true
	case p.is('@'):
		return p.instruction(b, token{})
	case t.kind == tokIdent:
		p.advance()
		if p.is(':') {
			p.advance()
			return p.labelled(b, t)
		}
		return p.instruction(b, t)
	case t.kind == tokDot:
		return p.bodyDirective(b, t)
	default:
		p.unexpected("an instruction, label or directive")
		if !p.is('}') {
			p.advance()
		}
		return false
	}
}

func (p *parser) bodyDirective(b *Block, t token) bool {
	word := p.text(t)
	switch word {
	case ".loc":
		l := p.locDirective()
		if l == nil {
			return false
		}
		p.loc = l
		b.Stmts = append(b.Stmts, l)
		return true
	case ".pragma":
		texts, ok := p.pragma()
		for _, s := range texts {
			b.Stmts = append(b.Stmts, &Pragma{t.pos, s})
		}
		return ok
	case ".file":
		return p.file()
	case ".section":
		return p.section()
	case ".branchtargets", ".calltargets", ".callprototype":
		p.errorAt(t.pos, "write it as name: "+word+" ...", "%s without a label", word)
		return false
	}
	var link linkage
	for p.tok.kind == tokDot && link.set(p.text(p.tok)) {
		p.advance()
	}
	if p.tok.kind == tokDot && isSpace(p.text(p.tok)) {
		return p.variables(func(v *Var) { b.Stmts = append(b.Stmts, v) }, link)
	}
	if p.tok.kind != tokDot {
		p.unexpected("a declaration after " + word)
		return false
	}
	p.unknownDirective(bodyDirectives)
	return false
}

// labelled parses what may follow "name:": a target list or a prototype; any other label is a jump target.
func (p *parser) labelled(b *Block, label token) bool {
	name := p.text(label)
	if p.tok.kind != tokDot {
		b.Stmts = append(b.Stmts, &Label{label.pos, name})
		return true
	}
	switch word := p.text(p.tok); word {
	case ".branchtargets", ".calltargets":
		p.advance()
		t := &Targets{Pos: label.pos, Label: name, Call: word == ".calltargets"}
		for {
			s, ok := p.ident("a name in " + word)
			if !ok {
				return false
			}
			t.Names = append(t.Names, s)
			if !p.accept(',') {
				break
			}
		}
		b.Stmts = append(b.Stmts, t)
		return p.semicolon(word)
	case ".callprototype":
		return p.prototype(b, label)
	}
	b.Stmts = append(b.Stmts, &Label{label.pos, name})
	return true
}

// prototype parses .callprototype (returns) _ (params) .noreturn;
func (p *parser) prototype(b *Block, label token) bool {
	x := &Prototype{Pos: label.pos, Label: p.text(label)}
	p.advance()
	var ok bool
	if p.is('(') {
		if x.Returns, ok = p.params(false); !ok {
			return false
		}
	}
	if p.tok.kind == tokIdent { // always _
		p.advance()
	}
	if p.is('(') {
		if x.Params, ok = p.params(false); !ok {
			return false
		}
	}
	var f Func
	for p.tok.kind == tokDot {
		if !p.headerDirective(&f) {
			return false
		}
	}
	if f.NoReturn {
		x.Directives = append(x.Directives, ".noreturn")
	}
	x.Directives = append(x.Directives, f.Directives...)
	b.Stmts = append(b.Stmts, x)
	return p.semicolon(".callprototype")
}
