package ptx

import "strings"

type tokenKind uint8

const (
	tokEOF    tokenKind = iota
	tokIdent            // name, keyword, opcode
	tokDot              // .word, a directive, type, modifier or member; a "::" part belongs to it
	tokNumber           // integer or floating literal, unchecked
	tokString           // with its quotes
	tokPunct            // one or two characters, in op
	tokBad              // text that is no token; an error has been recorded
)

// operators of two characters are coded with the second one in the high byte.
const (
	opShl    = '<' | '<'<<8
	opShr    = '>' | '>'<<8
	opLE     = '<' | '='<<8
	opGE     = '>' | '='<<8
	opEQ     = '=' | '='<<8
	opNE     = '!' | '='<<8
	opAndAnd = '&' | '&'<<8
	opOrOr   = '|' | '|'<<8
)

type token struct {
	kind     tokenKind
	op       uint16 // of tokPunct
	off, end int    // in the text
	pos      Pos
	newLine  bool // first on its line
}

// lexer cuts a text into tokens. It is a plain value: a copy is a place to come back to.
type lexer struct {
	src       string
	off       int
	line      int
	lineStart int // offset of the line's first byte
	tokenLine int // line of the token before
}

// report is how the lexer complains.
type report func(pos Pos, hint, format string, args ...any)

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isWord says whether the byte continues a name.
func isWord(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c == '$' }

func isNameStart(c byte) bool { return isLetter(c) || c == '_' || c == '$' }

func (l *lexer) pos(off int) Pos { return Pos{l.line, off - l.lineStart + 1} }

func (l *lexer) newline(off int) {
	l.line++
	l.lineStart = off
}

// skipBlank passes white space, comments, cpp line markers and the "@@DWARF" lines of PTX 1.x and 2.x.
func (l *lexer) skipBlank(rep report) {
	src := l.src
	for l.off < len(src) {
		switch c := src[l.off]; {
		case c == '\n':
			l.off++
			l.newline(l.off)
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.off++
		case c == '/' && strings.HasPrefix(src[l.off:], "//"):
			l.skipLine()
		case c == '/' && strings.HasPrefix(src[l.off:], "/*"):
			n := strings.Index(src[l.off+2:], "*/")
			if n < 0 {
				rep(l.pos(l.off), "close the comment with */", "this comment is never closed")
				l.off = len(src)
				return
			}
			stop := l.off + 2 + n + 2
			for l.off < stop {
				if src[l.off] == '\n' {
					l.newline(l.off + 1)
				}
				l.off++
			}
		case c == '@' && strings.HasPrefix(src[l.off:], "@@"):
			l.skipLine()
		case c == '#' && l.tokenLine != l.line && isLineMarker(src[l.off:]):
			l.skipLine()
		default:
			return
		}
	}
}

func (l *lexer) skipLine() {
	if n := strings.IndexByte(l.src[l.off:], '\n'); n >= 0 {
		l.off += n
	} else {
		l.off = len(l.src)
	}
}

// isLineMarker recognises `# 12 "file"` and `#line 12 "file"` of a preprocessor.
func isLineMarker(s string) bool {
	s = strings.TrimPrefix(strings.TrimLeft(s[1:], " \t"), "line")
	s = strings.TrimLeft(s, " \t")
	return s != "" && isDigit(s[0])
}

// next returns the next token.
func (l *lexer) next(rep report) token {
	line := l.line
	first := l.off == 0
	l.skipBlank(rep)
	t := token{off: l.off, pos: l.pos(l.off), newLine: first || l.line != line}
	src := l.src
	if l.off >= len(src) {
		t.kind, t.end = tokEOF, l.off
		return t
	}
	c := src[l.off]
	switch {
	case isNameStart(c) || c == '%' && l.off+1 < len(src) && isWord(src[l.off+1]):
		t.kind = tokIdent
		l.off++
		l.word()
	case isDigit(c):
		t.kind = tokNumber
		l.number()
	case c == '.' && l.off+1 < len(src) && isDigit(src[l.off+1]) && (l.off == 0 || !isWord(src[l.off-1])):
		t.kind = tokNumber // ".5"; after a word it is a modifier such as ".1d"
		l.number()
	case c == '.' && l.off+1 < len(src) && isWord(src[l.off+1]):
		t.kind = tokDot
		l.off++
		l.word()
		for strings.HasPrefix(src[l.off:], "::") && l.off+2 < len(src) && isWord(src[l.off+2]) {
			l.off += 2
			l.word()
		}
	case c == '"':
		t.kind = l.str(rep)
	default:
		t.kind, t.op = l.punct(rep)
	}
	t.end = l.off
	l.tokenLine = l.line
	return t
}

func (l *lexer) word() {
	for l.off < len(l.src) && isWord(l.src[l.off]) {
		l.off++
	}
}

// number passes everything that could belong to a literal; parseNumber judges it.
func (l *lexer) number() {
	src, start := l.src, l.off
	hex := l.off+1 < len(src) && src[l.off] == '0' && isLetter(src[l.off+1]) && src[l.off+1]|0x20 != 'e'
	for l.off < len(src) {
		c := src[l.off]
		switch {
		case isWord(c):
		case c == '.' && !hex:
		case (c == '+' || c == '-') && !hex && l.off > start && src[l.off-1]|0x20 == 'e' && l.off+1 < len(src) && isDigit(src[l.off+1]):
		default:
			return
		}
		l.off++
	}
}

func (l *lexer) str(rep report) tokenKind {
	start := l.off
	for i := l.off + 1; i < len(l.src) && l.src[i] != '\n'; i++ {
		switch l.src[i] {
		case '\\':
			if i+1 < len(l.src) && l.src[i+1] != '\n' {
				i++
			}
		case '"':
			l.off = i + 1
			return tokString
		}
	}
	rep(l.pos(start), `end the string with a " on the same line`, "this string is never closed")
	l.skipLine()
	return tokBad
}

func (l *lexer) punct(rep report) (tokenKind, uint16) {
	src := l.src
	c := src[l.off]
	if l.off+1 < len(src) {
		two := uint16(c) | uint16(src[l.off+1])<<8
		switch two {
		case opShl, opShr, opLE, opGE, opEQ, opNE, opAndAnd, opOrOr:
			l.off += 2
			return tokPunct, two
		}
	}
	if strings.IndexByte("{}[]()<>,;:|+-*/%&^~!?=@.", c) >= 0 {
		l.off++
		return tokPunct, uint16(c)
	}
	start := l.off
	for l.off < len(src) && (src[l.off] >= 0x80 || src[l.off] < ' ' && src[l.off] != '\n' && src[l.off] != '\t' && src[l.off] != '\r') {
		l.off++
	}
	if l.off == start {
		l.off++
	}
	hint := ""
	switch {
	case c >= 0x80:
		hint = "names are made of ASCII letters, digits, _, $ and %; other characters belong into comments"
	case c == '#':
		hint = "run the C preprocessor first: directives with # are not part of PTX"
	}
	rep(l.pos(start), hint, "%s is not part of any PTX token", quote(src[start:l.off]))
	return tokBad, 0
}
