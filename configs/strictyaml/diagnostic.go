// Package strictyaml decodes YAML files that people write by hand. It accepts exactly the keys and types that
// the Go value asks for; everything else is an error with file, line, column, the line under a caret and, for a
// misspelt key, the nearest valid one.
package strictyaml

import (
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/isa/spelling"
)

// Pos is a position in a file, both counted from 1; Col counts bytes. The zero Pos means unknown; one with a column
// alone is within a text that has no lines, such as a command-line argument.
type Pos struct{ Line, Col int }

// Error is one mistake in a file, or in an argument of the command line that changes what a file says.
type Error struct {
	File    string // or the flag
	Pos     Pos
	Line    string // the text of the line, without its end
	Width   int    // carets under the text; 0 is one
	Message string
}

// Error gives file:line:col: message, then the line with a caret under the place.
func (e *Error) Error() string {
	s := e.File
	if e.Pos.Line > 0 {
		s = fmt.Sprintf("%s:%d:%d", s, e.Pos.Line, e.Pos.Col)
	}
	s += ": " + e.Message
	if e.Line == "" || e.Pos.Col == 0 {
		return s
	}
	return s + "\n" + Caret(e.Line, e.Pos, max(1, e.Width))
}

// Caret shows the line, with its number if it has one, and carets from the column on, cutting long lines around them.
func Caret(line string, pos Pos, carets int) string {
	const width = 84
	from := 0
	if pos.Col > width-10 {
		from = pos.Col - width/2
	}
	to := min(len(line), from+width)
	if from > to {
		from = to
	}
	head, below := fmt.Sprintf("%6d | ", pos.Line), strings.Repeat(" ", 6)+" | "
	if pos.Line == 0 {
		head, below = "  ", "  "
	}
	pad := []byte(line[from:min(to, max(from, pos.Col-1))])
	for i, c := range pad {
		if c != '\t' {
			pad[i] = ' '
		}
	}
	return head + line[from:to] + "\n" + below + string(pad) + strings.Repeat("^", max(1, min(carets, to-from-len(pad))))
}

// Nearest is the candidate closest to the word, or "" if none is close: at most one edit for up to three letters, one
// more for every three further ones. Ties go to the first.
func Nearest(word string, candidates []string) string {
	best, bestAt := "", max(1, (len(word)+2)/3)+1
	for _, c := range candidates {
		d := spelling.Distance(strings.ToLower(word), strings.ToLower(c))
		if d >= max(len(word), len(c)) || d > 1 && len(word) <= shortWord && !strings.EqualFold(word[:1], c[:min(1, len(c))]) {
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
	if len(word) <= shortWord && spelling.Distance(strings.ToLower(word), strings.ToLower(n)) > 1 {
		return ""
	}
	return n
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
