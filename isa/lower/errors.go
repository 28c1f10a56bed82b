package lower

import (
	"fmt"
	"strings"
)

// ErrorList holds every reason found in one kernel, in the order of its text: a *ptx.Error each, which has the place, the
// line and what to do.
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

// refused is the error of a kernel for the reasons given.
func (f *fn) refused(errs ...error) *ErrorList {
	return &ErrorList{Kernel: f.src.Name, Target: f.t.Name, Errs: errs}
}

// What to do about errors that several rules make.
const (
	linkHint      = "put the functions into one PTX file: smsim does not link"
	gateHint      = "raise .version and .target at the head of the module, or compile for a newer architecture"
	widthHint     = "declare a wider register, or convert with cvt"
	predicateHint = "setp makes predicates; declare them .reg .pred"
	modelledHint  = "integer kernels are modelled; docs/validation.md says what is not"
)

// Unwrap gives the single errors to errors.Is and errors.As.
func (l *ErrorList) Unwrap() []error { return l.Errs }
