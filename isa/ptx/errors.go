package ptx

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxErrors is how many errors of one file are reported; more would only repeat the first ones' cause.
const maxErrors = 20

// Error is one complaint about a PTX text. Error() prints "file:line:col: message", the source line with a caret
// under Pos, and the hint.
type Error struct {
	File string
	Pos  Pos
	Msg  string
	Line string // the source line, without its line end; empty if the place is not in the text
	Hint string // what to do; may be empty
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%s: %s", e.File, e.Pos, e.Msg)
	if e.Line != "" {
		line, caret := excerpt(e.Line, e.Pos.Col)
		b.WriteString("\n    " + line + "\n    " + caret)
	}
	if e.Hint != "" {
		b.WriteString("\n  hint: " + e.Hint)
	}
	return b.String()
}

// Errors is what Parse and Check return: one to 20 errors in source order.
type Errors []*Error

func (es Errors) Error() string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = e.Error()
	}
	return strings.Join(parts, "\n")
}

// Unwrap lets errors.As find the single errors.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// Errorf makes an error at a place of the module's text. Later stages (lowering) use it for their own complaints.
func (m *Module) Errorf(pos Pos, hint, format string, args ...any) *Error {
	e := &Error{File: m.File, Pos: pos, Msg: printable(fmt.Sprintf(format, args...)), Hint: printable(hint)}
	if pos.Line >= 1 && pos.Line <= len(m.Lines) {
		e.Line = m.Lines[pos.Line-1]
	}
	return e
}

// printable makes text from a file safe to show: no control characters, no endless names.
func printable(s string) string {
	const most = 300
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}

// excerptWidth is how much of a long line (generated data tables) an error shows.
const excerptWidth = 120

// excerpt cuts the part of a line around the column (bytes, from 1) and makes the line with the caret below it.
// Tabs are kept in both, so that the caret stands right in any terminal; control characters become '?'.
func excerpt(line string, col int) (text, caret string) {
	at := min(max(col-1, 0), len(line))
	start, end := 0, len(line)
	prefix, suffix := "", ""
	if len(line) > excerptWidth {
		start = max(0, at-excerptWidth/2)
		end = min(len(line), start+excerptWidth)
		for start > 0 && !utf8.RuneStart(line[start]) {
			start--
		}
		for end < len(line) && !utf8.RuneStart(line[end]) {
			end++
		}
		if start > 0 {
			prefix = "..."
		}
		if end < len(line) {
			suffix = "..."
		}
	}
	var t, c strings.Builder
	t.WriteString(prefix)
	c.WriteString(strings.Repeat(" ", len(prefix)))
	for i, r := range line[start:end] {
		switch {
		case r == '\t':
		case r < ' ' || r == 0x7f || r == utf8.RuneError:
			r = '?'
		}
		t.WriteRune(r)
		if start+i < at {
			if r != '\t' {
				r = ' '
			}
			c.WriteRune(r)
		}
	}
	return t.String() + suffix, c.String() + "^"
}

// quote shows a piece of text in a message, cut if long.
func quote(s string) string {
	const most = 40
	if utf8.RuneCountInString(s) > most {
		r := []rune(s)
		s = string(r[:most]) + "..."
	}
	return fmt.Sprintf("%q", s)
}
