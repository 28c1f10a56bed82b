package ptx

import "github.com/sarchlab/smsim/isa/spelling"

// Suggest returns the candidate that the word was most likely meant to be, or "" if none is close: at most one edit
// for three letters, two for six, three for longer words. Ties go to the first.
func Suggest(word string, candidates []string) string {
	limit := min(len(word)/3, 3)
	best, found := limit+1, ""
	for _, c := range candidates {
		if c == word || len(c)-len(word) > limit || len(word)-len(c) > limit {
			continue
		}
		if d := spelling.Distance(word, c); d < best {
			best, found = d, c
		}
	}
	return found
}
