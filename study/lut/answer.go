package lut

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/study/page"
)

// Answer is what is known of one function.
type Answer struct {
	Expression string   `json:"expression,omitempty"` // as given; absent when the truth table was given
	Inputs     []string `json:"inputs"`               // in operand order
	Lut        *uint8   `json:"lut,omitempty"`        // immLut; absent with more than three inputs
	Hex        string   `json:"hex,omitempty"`
	Minimal    string   `json:"minimal,omitempty"`   // expression with the fewest operators
	Operators  int      `json:"operators,omitempty"` // in Minimal: ~ & | ^ ?: count one each
	LOP3       int      `json:"lop3"`                // instructions of the sequence
	Plan
}

// Ask answers for an expression or a truth table (0x54, 84, 0b01010100; a lone 0 or 1 is a truth table too). Names are
// the inputs in operand order; nil: those of the expression, a, b, c for a truth table.
func Ask(text string, names []string) (*Answer, error) {
	if names != nil {
		if why := CheckNames(names); why != "" {
			return nil, fmt.Errorf("names: %s", why)
		}
	}
	trimmed := strings.TrimSpace(text)
	if trimmed != "" && trimmed[0] >= '0' && trimmed[0] <= '9' && !strings.ContainsAny(trimmed, "~!&|^?: ()") {
		return fromNumber(trimmed, names)
	}
	if trimmed == "" {
		return nil, errors.New("the expression is empty; give one such as '(a|b)&~c', or a truth table such as 0x54")
	}
	e, err := Parse(text, names)
	if err != nil {
		return nil, err
	}
	a := e.answer()
	a.Expression = e.Text
	return a, nil
}

func fromNumber(text string, names []string) (*Answer, error) {
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return nil, &Error{Expr: text, Col: 1, Msg: fmt.Sprintf("%q is no number; a truth table is 0 to 255 or 0x00 to 0xff", text)}
	}
	if v > 255 {
		return nil, &Error{Expr: text, Col: 1, Msg: fmt.Sprintf("%s does not fit the eight rows of a three-input truth table: 0 to 0xff", text)}
	}
	if names == nil {
		names = []string{"a", "b", "c"}
	}
	if len(names) != 3 {
		return nil, fmt.Errorf("names: a truth table of 8 bits has 3 inputs, %d names given", len(names))
	}
	return (&Expr{Names: names, Table: TableOf(uint8(v))}).answer(), nil
}

func (e *Expr) answer() *Answer {
	a := &Answer{Inputs: e.Names, Plan: e.Decompose()}
	a.LOP3 = len(a.Steps)
	if lut, ok := e.Table.Lut(); ok {
		var names [3]string
		for i := range names {
			names[i] = operand(e.Names, i)
		}
		a.Lut, a.Hex = &lut, fmt.Sprintf("0x%02x", lut)
		a.Minimal, a.Operators = Minimal(lut, names)
	}
	return a
}

// Write writes the answer as text or json.
func (a *Answer) Write(w io.Writer, format string) error {
	if format == "json" {
		return page.JSON(w, a)
	}
	var b strings.Builder
	line := func(head, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s  %s\n", head, fmt.Sprintf(format, args...))
	}
	if a.Expression != "" {
		line("expression", "%s", cut(a.Expression))
	}
	var weights []string
	for i, n := range a.Inputs {
		if len(a.Inputs) <= 3 {
			n = fmt.Sprintf("%s (0x%02x)", n, [3]int{LutA, LutB, LutC}[i])
		}
		weights = append(weights, n)
	}
	line("operands", "%s", strings.Join(weights, ", "))
	if a.Lut != nil {
		line("immLut", "%s  (%d, 0b%08b)", a.Hex, *a.Lut, *a.Lut)
		line("minimal", "%s  (%d of ~ & | ^ ?:, fewest possible)", a.Minimal, a.Operators)
	}
	switch {
	case a.Exact:
		line("LOP3", "%d, the fewest possible: %s", a.LOP3, a.Why)
	default:
		line("LOP3", "%d or fewer, at least %d: %s", a.LOP3, a.Bound, a.Why)
	}
	for i, s := range a.Steps {
		head := ""
		if i == 0 {
			head = "PTX"
		}
		line(head, "%s", s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// maxShown is the longest expression that text shows whole, in characters.
const maxShown = 80

// cut shortens a long expression for the text form.
func cut(expression string) string {
	r := []rune(expression)
	if len(r) <= maxShown {
		return expression
	}
	return fmt.Sprintf("%s... (%d characters)", string(r[:maxShown-20]), len(r))
}
