package sass

import (
	"fmt"
	"sort"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/excerpt"
	"github.com/sarchlab/smsim/isa/spelling"
)

// Error is a problem in a listing with its place. Error() prints as errors of PTX do: "file:line:col: message", the line with
// a caret under the column, and the hint.
type Error struct {
	File      string
	Line, Col int
	Msg       string
	Hint      string // what to do; may be empty
	Text      string // the offending line
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) + excerpt.Lines(e.Text, e.Col)
	if e.Hint != "" {
		s += "\n  hint: " + e.Hint
	}
	return s
}

// What to do about damage that several checks find.
const (
	againHint  = "make the listing again (cuobjdump -sass, nvdisasm), or mend the line"
	targetHint = "smsim arch list shows the targets"
)

// errorAt is an error at an instruction's place.
func (l *Listing) errorAt(r *rawInst, hint, format string, args ...any) *Error {
	return l.errorIn(r.line, r.col, hint, format, args...)
}

// errorIn is an error at a line and column, both from 1.
func (l *Listing) errorIn(line, col int, hint, format string, args ...any) *Error {
	e := &Error{File: l.File, Line: line, Col: col, Msg: fmt.Sprintf(format, args...), Hint: hint}
	if line >= 1 && line <= len(l.Lines) {
		e.Text = l.Lines[line-1]
	}
	return e
}

// unknownError lists what is not known of a function's instructions, the most frequent first, and points at the first of it.
func (l *Listing) unknownError(f *Function, sm int, counts map[string]int, first map[string]*rawInst) error {
	keys := make([]string, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		if counts[keys[i]] != counts[keys[j]] {
			return counts[keys[i]] > counts[keys[j]]
		}
		return keys[i] < keys[j]
	})
	r := first[keys[0]]
	var b strings.Builder
	fmt.Fprintf(&b, "function %s has instructions that are not known:", f.Name)
	for _, k := range keys {
		fmt.Fprintf(&b, "\n    %d x unknown %s, first at line %d: %s", counts[k], k, first[k].line, first[k].text)
	}
	hint := "with --assume-unknown, they take time as their family does and change no value"
	if near := nearestOpcode(keys[0], sm); near != "" {
		hint = "did you mean " + near + "? Else, " + hint
	}
	return &Error{File: l.File, Line: r.line, Col: r.col, Msg: b.String(), Hint: hint}
}

// nearestOpcode is the target's opcode that an unknown one was most likely meant to be, "" if none is near or the complaint is of something else.
func nearestOpcode(what string, sm int) string {
	name, ok := strings.CutPrefix(what, "opcode ")
	if !ok {
		return ""
	}
	best, at := "", 2
	t := isa.NewTarget(sm)
	for op := isa.Op(1); op < isa.NumOps; op++ {
		if !t.Has(op) {
			continue
		}
		if d := spelling.Distance(name, op.String()); d < at && d < len(name) {
			best, at = op.String(), d
		}
	}
	return best
}
