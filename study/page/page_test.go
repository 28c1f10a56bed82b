package page

import (
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
)

func TestParagraph(t *testing.T) {
	long := strings.Repeat("word ", 30) + "93 % of it"
	got := Paragraph("lead  ", long)
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "lead  word") || !strings.HasPrefix(lines[1], "      word") {
		t.Errorf("%q", lines)
	}
	for _, l := range lines {
		if text.StringWidth(l) > Width || strings.HasPrefix(strings.TrimSpace(l), "%") || strings.Contains(l, Joiner) {
			t.Errorf("%q", l)
		}
	}
	if got := Wrap("a 5 % b", 4); len(got) != 3 || got[1] != "5"+Joiner+"%" {
		t.Errorf("a number is parted from its unit: %q", got)
	}
}

// TestFittedTable: the widest of the flexible columns is cut until the table fits; the others stay whole.
func TestFittedTable(t *testing.T) {
	name := strings.Repeat("n", 40)
	got := Text(FittedTable([]any{"name", "text", "number"}, [][]any{{name, strings.Repeat("t", 90), 1234567}}, 1))
	for line := range strings.Lines(got) {
		if text.StringWidth(strings.TrimSuffix(line, "\n")) > Width {
			t.Errorf("%d columns: %s", text.StringWidth(line), line)
		}
	}
	if !strings.Contains(got, name) || !strings.Contains(got, "1234567") || !strings.Contains(got, "ttt…") {
		t.Errorf("%s", got)
	}
	if Clip("abc", 3) != "abc" || Clip("abcd", 3) != "ab…" || Plural(1, "block") != "1 block" || Plural(2, "block") != "2 blocks" {
		t.Error("clipping or plurals")
	}
}
