package configs

import (
	"fmt"
	"strings"
)

// Error is a fault in an architecture or board file, or in an override of one of its keys.
type Error struct {
	File    string // file name as given, or "--set" for an override
	Line    int    // from 1; 0 when the fault has no line
	Col     int    // from 1
	Text    string // the offending line, without its newline
	Width   int    // characters under the caret
	Message string // what is wrong and what to do
}

// Error formats the fault as file:line:col: message, with the offending text under a caret.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Col)
	}
	b.WriteString(": ")
	b.WriteString(e.Message)
	if e.Text != "" {
		text, col, width := clip(e.Text, e.Col, max(e.Width, 1))
		fmt.Fprintf(&b, "\n  %s\n  %s%s", text, strings.Repeat(" ", col-1), strings.Repeat("^", width))
	}
	return b.String()
}

// clip cuts a long line to a window around the caret, so that the message stays readable at 100 columns.
func clip(text string, col, width int) (string, int, int) {
	const window = 90
	runes := []rune(strings.ReplaceAll(text, "\t", " "))
	col = min(max(col, 1), len(runes)+1)
	from := 0
	if len(runes) > window && col > window/2 {
		from = min(col-window/2, len(runes)-window)
	}
	to := min(from+window, len(runes))
	width = max(min(width, to-col+1), 1)
	return string(runes[from:to]), col - from, width
}

// nearest returns the candidate with the smallest edit distance to name, or "" when none is close
// enough to be what was meant (more than a third of the letters differ).
func nearest(name string, candidates []string) string {
	best, bestDistance := "", max(len(name)/3, 1)+1
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(name), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and exchanges of neighbours between a and b.
func editDistance(a, b string) int {
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}

// suggest adds the nearest candidate to a message, or the whole list when it is short.
func suggest(message, name string, candidates []string) string {
	if n := nearest(name, candidates); n != "" {
		return fmt.Sprintf("%s; did you mean %q?", message, n)
	}
	if len(candidates) > 0 && len(candidates) <= 16 {
		return fmt.Sprintf("%s; one of: %s", message, strings.Join(candidates, ", "))
	}
	return message
}
