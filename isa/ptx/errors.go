package ptx

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sarchlab/smsim/isa/excerpt"
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
	b.WriteString(excerpt.Lines(e.Line, e.Pos.Col))
	if e.Hint != "" {
		b.WriteString("\n  hint: " + e.Hint)
	}
	return b.String()
}

// Advise gives the error a hint, what to do, unless it has one.
func (e *Error) Advise(format string, args ...any) *Error {
	if e.Hint == "" {
		e.Hint = printable(fmt.Sprintf(format, args...))
	}
	return e
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

// quote shows a piece of text in a message, cut if long.
func quote(s string) string {
	const most = 40
	if utf8.RuneCountInString(s) > most {
		r := []rune(s)
		s = string(r[:most]) + "..."
	}
	return fmt.Sprintf("%q", s)
}
