package lut

import (
	"fmt"
	"math/bits"
)

// Table is a truth table with 2^n rows. The first of the n inputs is the most significant bit of the row's index, as
// operand a of LOP3 is.
type Table []bool

// Inputs is n.
func (t Table) Inputs() int { return bits.Len(uint(len(t))) - 1 }

// Lut is the immLut of a function of at most three inputs, which are the first operands.
func (t Table) Lut() (uint8, bool) {
	n := t.Inputs()
	if n > 3 {
		return 0, false
	}
	lut := uint8(0)
	for row := range 8 {
		if t[row>>(3-n)] {
			lut |= 1 << row
		}
	}
	return lut, true
}

// TableOf is the table of a three-input function.
func TableOf(lut uint8) Table {
	t := make(Table, 8)
	for row := range t {
		t[row] = lut>>row&1 != 0
	}
	return t
}

// depends says whether input i matters.
func (t Table) depends(i int) bool {
	bit := 1 << (t.Inputs() - 1 - i)
	for row := range t {
		if row&bit == 0 && t[row] != t[row|bit] {
			return true
		}
	}
	return false
}

// cofactor fixes input i; the result has one input fewer.
func (t Table) cofactor(i int, value bool) Table {
	n := t.Inputs()
	low := n - 1 - i
	out := make(Table, len(t)/2)
	for row := range out {
		full := row>>low<<(low+1) | row&(1<<low-1)
		if value {
			full |= 1 << low
		}
		out[row] = t[full]
	}
	return out
}

func (t Table) key() string {
	b := make([]byte, (len(t)+7)/8)
	for i, v := range t {
		if v {
			b[i/8] |= 1 << (i % 8)
		}
	}
	return string(b)
}

// Step is one LOP3: Dst = lut(A, B, C). Names are inputs, t1, t2, ... or 0 for an operand that does not matter.
type Step struct {
	Dst string    `json:"dst"`
	Src [3]string `json:"src"`
	Lut uint8     `json:"lut"`
}

// String is the step as PTX operands.
func (s Step) String() string {
	return fmt.Sprintf("lop3.b32 %s, %s, %s, %s, 0x%02x;", s.Dst, s.Src[0], s.Src[1], s.Src[2], s.Lut)
}

// Plan is a sequence of LOP3 that computes a function.
type Plan struct {
	Steps []Step `json:"steps"`
	// Exact says that no sequence is shorter; Why gives the reason, or says what Bound rests on.
	Exact bool   `json:"exact"`
	Bound int    `json:"at_least"` // proven lower bound
	Why   string `json:"why"`
}
