package excerpt_test

import (
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa/excerpt"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("a", 100) + "X" + strings.Repeat("b", 100)
	for _, c := range []struct {
		line string
		col  int
		want string
	}{
		{"add.u32 %r1;", 9, "\n    add.u32 %r1;\n            ^"},
		{"\tadd %r1;", 6, "\n    \tadd %r1;\n    \t    ^"}, // a tab stays one below
		{"é x", 4, "\n    é x\n      ^"},                   // columns are bytes, é has two
		{"a\x01b", 3, "\n    a?b\n      ^"},
		{"ret;  \r", 99, "\n    ret;\n        ^"}, // behind the end
		{"", 1, ""},
		{" \t", 1, ""},
		{long, 101, "\n    ..." + strings.Repeat("a", 60) + "X" + strings.Repeat("b", 59) + "...\n    " + strings.Repeat(" ", 63) + "^"},
	} {
		if got := excerpt.Lines(c.line, c.col); got != c.want {
			t.Errorf("%q column %d:\n%s\nwant\n%s", c.line, c.col, got, c.want)
		}
	}
}
