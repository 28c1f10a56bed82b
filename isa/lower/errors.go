package lower

import (
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/isa/ptx"
)

// Error is a reason why a kernel cannot be lowered, at a place in its PTX text.
type Error struct {
	File string
	Pos  ptx.Pos
	Text string // the statement, "" when there is none
	Msg  string
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Col, e.Msg)
	if e.Text != "" {
		s += "\n\t" + strings.TrimSpace(e.Text)
	}
	return s
}

// ErrorList holds every reason found in one kernel, in the order of its text.
type ErrorList struct {
	Kernel string
	Target string
	Errs   []error
}

func (l *ErrorList) Error() string {
	var sb strings.Builder
	n := len(l.Errs)
	if n == 1 {
		fmt.Fprintf(&sb, "kernel %s cannot run on %s:\n", l.Kernel, l.Target)
	} else {
		fmt.Fprintf(&sb, "kernel %s cannot run on %s, %d reasons:\n", l.Kernel, l.Target, n)
	}
	const most = 20
	for i, e := range l.Errs {
		if i == most {
			fmt.Fprintf(&sb, "... and %d more\n", n-most)
			break
		}
		sb.WriteString(e.Error())
		sb.WriteByte('\n')
	}
	return strings.TrimRight(sb.String(), "\n")
}

// Unwrap gives the single errors to errors.Is and errors.As.
func (l *ErrorList) Unwrap() []error { return l.Errs }
