// Package excerpt shows the place of an error in a text: the line, and a caret under the column.
package excerpt

import (
	"strings"
	"unicode/utf8"
)

// Width is how much of a long line (generated data tables, JSON in one line) an error shows, bytes.
const Width = 120

// Lines gives the part of a line around the column (bytes, from 1) and below it the line with the caret, both indented
// and each begun by a line end. An empty line gives "".
func Lines(line string, col int) string {
	line = strings.TrimRight(line, " \t\r\n")
	if line == "" {
		return ""
	}
	text, caret := Caret(line, col)
	return "\n    " + text + "\n    " + caret
}

// Caret cuts the part of a line around the column (bytes, from 1) and makes the line with the caret below it.
// Tabs are kept in both, so that the caret stands right in any terminal; control characters become '?'.
func Caret(line string, col int) (text, caret string) {
	at := min(max(col-1, 0), len(line))
	start, end := 0, len(line)
	prefix, suffix := "", ""
	if len(line) > Width {
		start = max(0, at-Width/2)
		end = min(len(line), start+Width)
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
