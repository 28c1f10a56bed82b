package ptx

// Suggest returns the candidate that the word was most likely meant to be, or "" if none is close: at most one edit
// for three letters, two for six, three for longer words. Ties go to the first.
func Suggest(word string, candidates []string) string {
	limit := min(len(word)/3, 3)
	best, found := limit+1, ""
	for _, c := range candidates {
		if c == word || len(c)-len(word) > limit || len(word)-len(c) > limit {
			continue
		}
		if d := editDistance(word, c); d < best {
			best, found = d, c
		}
	}
	return found
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours that turn a into b.
func editDistance(a, b string) int {
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(b)]
}
