package ptx

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// maxDepth bounds nested blocks, vectors, initialisers and parentheses, so that no text can exhaust the stack.
const maxDepth = 200

// parser is a recursive-descent parser with one token of look-ahead. A parsing function that meets an error reports
// it and returns false or nil; the statement it belongs to is then skipped and parsing goes on.
type parser struct {
	lex    lexer
	tok    token // current
	prev   token // the one before
	errs   Errors
	m      *Module
	scopes []map[string]*Var // array variables in sight, for constant subscripts
	loc    *Loc              // the .loc in force
	sized  bool              // .address_size was given

	stopped bool   // the text is too broken to go on
	rep     report // errorAt, bound once
}

// Parse reads a PTX module. The file name is used in messages only. A non-nil error is of type Errors; the module is
// then nil. Names are not resolved: see Check.
func Parse(file string, text []byte) (*Module, error) {
	src := strings.TrimPrefix(string(text), "\ufeff")
	src = strings.TrimRight(src, "\x00") // text dumped from a C string ends in zeros
	m := &Module{File: file, Lines: splitLines(src), AddressSize: 32, Files: map[int]string{}}
	if e := notPTX(m, src); e != nil {
		return nil, Errors{e}
	}
	p := &parser{lex: lexer{src: src, line: 1}, m: m}
	p.rep = p.errorAt
	p.pushScope()
	p.advance()
	p.module()
	if len(p.errs) > 0 {
		sort.SliceStable(p.errs, func(i, j int) bool { return before(p.errs[i].Pos, p.errs[j].Pos) })
		return nil, p.errs
	}
	return m, nil
}

func before(a, b Pos) bool { return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col }

func splitLines(src string) []string {
	lines := strings.Split(src, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

func (p *parser) text(t token) string { return p.lex.src[t.off:t.end] }

func (p *parser) advance() {
	p.prev = p.tok
	p.tok = p.lex.next(p.rep)
}

func (p *parser) is(op uint16) bool { return p.tok.kind == tokPunct && p.tok.op == op }

// accept passes the punctuation if it is there.
func (p *parser) accept(op uint16) bool {
	if p.is(op) {
		p.advance()
		return true
	}
	return false
}

// isDot says whether the current token is that directive.
func (p *parser) isDot(word string) bool { return p.tok.kind == tokDot && p.text(p.tok) == word }

// want passes the punctuation or reports what stands in its place.
func (p *parser) want(op uint16, where string) bool {
	if p.accept(op) {
		return true
	}
	p.unexpected(strconv.Quote(string(rune(op))) + " " + where)
	return false
}

// errorAt records an error; one a line is enough, what follows is mostly its echo.
func (p *parser) errorAt(pos Pos, hint, format string, args ...any) {
	if p.stopped || slices.ContainsFunc(p.errs, func(e *Error) bool { return e.Pos.Line == pos.Line }) {
		return
	}
	p.errs = append(p.errs, p.m.Errorf(pos, hint, format, args...))
	if len(p.errs) == maxErrors {
		p.stop()
	}
}

// stop gives up: the rest of the text is not read and reports nothing.
func (p *parser) stop() {
	p.stopped = true
	p.lex.off = len(p.lex.src)
	p.tok = token{kind: tokEOF, off: p.lex.off, end: p.lex.off, pos: p.tok.pos}
}

// describe names a token in a message.
func (p *parser) describe(t token) string {
	switch t.kind {
	case tokEOF:
		return "the end of the file"
	case tokString:
		return "the string " + quote(strings.Trim(p.text(t), `"`))
	}
	return quote(p.text(t))
}

// unexpected reports that something else was expected at the current token. A token on a new line is not to blame:
// the place is then the end of the line before.
func (p *parser) unexpected(expected string) {
	if p.tok.kind == tokBad {
		return
	}
	pos := p.tok.pos
	if p.tok.newLine && p.prev.end > 0 {
		pos = p.endOfPrev()
	}
	p.errorAt(pos, "", "expected %s, found %s", expected, p.describe(p.tok))
}

func (p *parser) endOfPrev() Pos {
	return Pos{p.prev.pos.Line, p.prev.pos.Col + p.prev.end - p.prev.off}
}

func (p *parser) tooDeep() {
	p.errorAt(p.tok.pos, "", "nested more than %d levels deep", maxDepth)
	p.stop()
}

// skipStatement passes the rest of a broken statement that began at the offset: to its semicolon, or to a line that
// starts something new.
func (p *parser) skipStatement(start int) {
	if p.tok.off == start && !p.is(';') {
		p.advance()
	}
	for p.tok.kind != tokEOF {
		if p.accept(';') {
			return
		}
		if p.tok.newLine && (p.tok.kind == tokIdent || p.tok.kind == tokDot || p.is('@') || p.is('{') || p.is('}')) {
			return
		}
		p.advance()
	}
}

// ident passes a name.
func (p *parser) ident(what string) (string, bool) {
	if p.tok.kind != tokIdent {
		p.unexpected(what)
		return "", false
	}
	s := p.text(p.tok)
	p.advance()
	return s, true
}

// integer parses a constant expression that must be an integer within [lo, hi].
func (p *parser) integer(what string, lo, hi int64) (int, bool) {
	at := p.tok
	c, ok := p.expr(0, 0)
	if !ok {
		return 0, false
	}
	v := int64(c.bits)
	if c.isFloat || c.unsigned && v < 0 || v < lo || v > hi {
		p.errorAt(at.pos, "", "%s must be an integer from %d to %d", what, lo, hi)
		return 0, false
	}
	return int(v), true
}

// stringText passes a string and returns what is between its quotes, as written.
func (p *parser) stringText(what string) (string, bool) {
	if p.tok.kind != tokString {
		p.unexpected(what)
		return "", false
	}
	s := p.text(p.tok)
	p.advance()
	return s[1 : len(s)-1], true
}

func (p *parser) pushScope() { p.scopes = append(p.scopes, nil) }

func (p *parser) popScope() { p.scopes = p.scopes[:len(p.scopes)-1] }

func (p *parser) declare(v *Var) {
	top := len(p.scopes) - 1
	if v.Dims == nil && p.findArray(v.Name) == nil {
		return // only arrays, and what hides one, need remembering
	}
	if p.scopes[top] == nil {
		p.scopes[top] = map[string]*Var{}
	}
	p.scopes[top][v.Name] = v
}

func (p *parser) findArray(name string) *Var {
	for i := len(p.scopes) - 1; i >= 0; i-- {
		if v := p.scopes[i][name]; v != nil {
			return v
		}
	}
	return nil
}

// moduleDirectives are the words that may start a line outside functions.
var moduleDirectives = []string{".version", ".target", ".address_size", ".file", ".loc", ".section", ".pragma", ".alias",
	".visible", ".extern", ".weak", ".common", ".entry", ".func", ".global", ".const", ".shared", ".local", ".param",
	".reg", ".sreg", ".tex"}

func (p *parser) module() {
	if !p.isDot(".version") {
		if p.tok.kind == tokEOF {
			p.errorAt(p.tok.pos, "a PTX file starts with .version, .target and .address_size", "the file holds no PTX: it is empty or all comment")
		} else {
			p.errorAt(p.tok.pos, "a PTX file starts with a line such as .version 8.0", "expected .version, found %s", p.describe(p.tok))
		}
		if p.tok.kind != tokDot {
			return
		}
	}
	for p.tok.kind != tokEOF {
		if start := p.tok.off; !p.moduleStatement() {
			p.skipStatement(start)
		}
	}
	if p.m.Target == "" && len(p.errs) == 0 {
		p.errorAt(Pos{1, 1}, "add a line such as .target sm_80 after .version", "the file has no .target directive")
	}
	if p.m.sizeInferred() && !p.sized {
		p.m.AddressSize = inferAddressSize(p.m)
	}
}

func (p *parser) moduleStatement() bool {
	t := p.tok
	if p.straySemicolon() {
		return true
	}
	if t.kind != tokDot {
		return p.strayText()
	}
	switch word := p.text(t); word {
	case ".version":
		return p.version()
	case ".target":
		return p.target()
	case ".address_size":
		return p.addressSize()
	case ".file":
		return p.file()
	case ".loc":
		return p.locDirective() != nil
	case ".section":
		return p.section()
	case ".alias":
		return p.alias()
	case ".pragma":
		texts, ok := p.pragma()
		p.m.Pragmas = append(p.m.Pragmas, texts...)
		return ok
	case ".visible", ".extern", ".weak", ".common", ".entry", ".func":
		return p.linked()
	default:
		if isSpace(word) {
			return p.variables(func(v *Var) { p.m.Vars = append(p.m.Vars, v) }, linkage{})
		}
		p.unknownDirective(moduleDirectives)
		return false
	}
}

// straySemicolon reports and passes a semicolon that ends nothing: PTX has no empty statement.
func (p *parser) straySemicolon() bool {
	if !p.is(';') {
		return false
	}
	p.errorAt(p.tok.pos, "leave it out: PTX has no empty statement, and no ; behind labels, braces, .loc, .version and .target", "this ; ends no statement")
	p.advance()
	return true
}

// strayText reports something outside functions that is no directive, and passes it with its braces.
func (p *parser) strayText() bool {
	t := p.tok
	hint := "instructions belong into the body of an .entry or .func"
	if t.kind == tokPunct && t.op == '}' {
		hint = "this brace closes nothing: an earlier one has closed the body already"
	}
	if t.kind != tokBad {
		p.errorAt(t.pos, hint, "%s outside of any function", p.describe(t))
	}
	p.advance()
	return false
}

func (p *parser) unknownDirective(known []string) {
	word := p.text(p.tok)
	hint := ""
	if s := Suggest(word, known); s != "" {
		hint = "did you mean " + s + "?"
	}
	p.errorAt(p.tok.pos, hint, "unknown directive %s", word)
}

func (p *parser) version() bool {
	t := p.tok
	if p.m.Major != 0 {
		p.errorAt(t.pos, "split concatenated PTX modules into one file each", "a second .version in one file")
		return false
	}
	p.advance()
	s := p.text(p.tok)
	major, minor, ok := strings.Cut(s, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if p.tok.kind != tokNumber || !ok || err1 != nil || err2 != nil || a < 1 || b < 0 {
		p.errorAt(p.tok.pos, "write it as .version 8.0", "bad PTX version %s", p.describe(p.tok))
		p.m.Major = 1
		return false
	}
	p.m.Major, p.m.Minor = a, b
	if a > 9 {
		p.errorAt(p.tok.pos, "compile for an older PTX ISA", "PTX ISA %s is newer than the versions smsim reads (1.0 to 9.x)", s)
	}
	p.advance()
	return true
}

// knownTargets are the targets of PTX ISA 1.0 to 9.x (the release notes and the .target directive of the PTX document), and
// those that only cubins have (sm_21).
var knownTargets = []int{10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121}

// target reads .target sm_86, debug: one architecture and any flags. PTX 1.x compilers also wrote compute_10.
func (p *parser) target() bool {
	p.advance()
	for {
		at := p.tok
		word, ok := p.ident("a target such as sm_80")
		if !ok {
			return false
		}
		arch, found := strings.CutPrefix(word, "sm_")
		if !found {
			arch, found = strings.CutPrefix(word, "compute_")
		}
		if found {
			n, err := strconv.Atoi(strings.TrimRight(arch, "abcdefghijklmnopqrstuvwxyz"))
			if err != nil || n < 10 || n > 999 {
				p.errorAt(at.pos, "write it as .target sm_80", "bad target %s", quote(word))
				return false
			}
			if !slices.Contains(knownTargets, n) {
				p.errorAt(at.pos, "known are sm_"+strings.Trim(strings.ReplaceAll(fmt.Sprint(knownTargets), " ", ", sm_"), "[]"), "unknown target %s", quote(word))
				return false
			}
			p.m.Target, p.m.SM = "sm_"+arch, n
		} else {
			p.m.TargetFlags = append(p.m.TargetFlags, word)
		}
		if !p.accept(',') {
			break
		}
	}
	if p.m.Target == "" {
		p.errorAt(p.prev.pos, "write it as .target sm_80", ".target names no architecture")
	}
	return true
}

func (p *parser) addressSize() bool {
	p.advance()
	at := p.tok
	n, ok := p.integer("the address size", 32, 64)
	if ok && n != 32 && n != 64 {
		p.errorAt(at.pos, "", "the address size must be 32 or 64")
	}
	p.m.AddressSize, p.sized = n, true
	return ok
}

func (p *parser) alias() bool {
	pos := p.tok.pos
	p.advance()
	name, ok := p.ident("the new name of an .alias")
	if !ok || !p.want(',', "between the names of an .alias") {
		return false
	}
	target, ok := p.ident("the function an .alias stands for")
	if !ok || !p.want(';', "after .alias") {
		return false
	}
	p.m.Aliases = append(p.m.Aliases, Alias{pos, name, target})
	return true
}

// pragma reads .pragma "a", "b";
func (p *parser) pragma() (texts []string, ok bool) {
	p.advance()
	for {
		s, ok := p.stringText("a string after .pragma")
		if !ok {
			return texts, false
		}
		texts = append(texts, s)
		if !p.accept(',') {
			return texts, p.semicolon(".pragma")
		}
	}
}

// semicolon ends a statement. If the next line has begun, the semicolon was forgotten: that is reported at the end
// of the statement, and nothing needs to be skipped.
func (p *parser) semicolon(after string) bool {
	if p.accept(';') {
		return true
	}
	if p.tok.kind == tokEOF || p.tok.newLine || p.is('}') {
		p.errorAt(p.endOfPrev(), "", "missing ; after %s", after)
		return true
	}
	p.unexpected("\";\" after " + after)
	return false
}
