// Package strictyaml decodes YAML files that people write by hand. It accepts exactly the keys and types that
// the Go value asks for; everything else is an error with file, line, column, the line under a caret and, for a
// misspelt key, the nearest valid one.
package strictyaml

import (
	"fmt"
	"strings"
)

// Pos is a position in a file, both counted from 1; Col counts bytes. The zero Pos means unknown.
type Pos struct{ Line, Col int }

// Error is one mistake in a file.
type Error struct {
	File    string
	Pos     Pos
	Line    string // the text of the line, without its end
	Message string
}

// Error gives file:line:col: message, then the line with a caret under the place.
func (e *Error) Error() string {
	if e.Pos.Line == 0 {
		return e.File + ": " + e.Message
	}
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Col, e.Message)
	if e.Line == "" {
		return s
	}
	return s + "\n" + Caret(e.Line, e.Pos)
}

// Caret shows the line with its number and a caret under the column, cutting long lines around it.
func Caret(line string, pos Pos) string {
	const width = 84
	from := 0
	if pos.Col > width-10 {
		from = pos.Col - width/2
	}
	to := min(len(line), from+width)
	if from > to {
		from = to
	}
	head := fmt.Sprintf("%6d | ", pos.Line)
	pad := []byte(line[from:min(to, max(from, pos.Col-1))])
	for i, c := range pad {
		if c != '\t' {
			pad[i] = ' '
		}
	}
	return head + line[from:to] + "\n" + strings.Repeat(" ", 6) + " | " + string(pad) + "^"
}

// Nearest is the candidate closest to the word by edit distance with transpositions, or "" if none is close.
func Nearest(word string, candidates []string) string {
	if word == "" {
		return ""
	}
	best, bestAt := "", len(word)/3+2
	for _, c := range candidates {
		d := distance(strings.ToLower(word), strings.ToLower(c))
		if d > 1 && len(word) <= shortWord && !strings.EqualFold(word[:1], c[:min(1, len(c))]) {
			continue
		}
		if d < bestAt {
			best, bestAt = c, d
		}
	}
	return best
}

// shortWord is the length up to which two edits make nearly any word of any other: only one that begins alike is near then.
const shortWord = 4

// NearestOfMany is [Nearest] among so many candidates that some short one is always two edits away: one edit is near for a short word.
func NearestOfMany(word string, candidates []string) string {
	n := Nearest(word, candidates)
	if len(word) <= shortWord && distance(strings.ToLower(word), strings.ToLower(n)) > 1 {
		return ""
	}
	return n
}

// distance counts insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}

// DidYouMean is ` - did you mean "x"?` or, when nothing is close, the list of what is valid.
func DidYouMean(word string, candidates []string) string {
	if n := Nearest(word, candidates); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	if len(candidates) == 0 {
		return ""
	}
	return "; valid here: " + strings.Join(candidates, ", ")
}
