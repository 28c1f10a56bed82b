package spelling

import "testing"

// TestDistance: each kind of edit counts one, in either direction.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"lop3", "lop3", 0}, {"lop", "lop3", 1}, {"prmt", "prnt", 1}, {"shf", "sfh", 1},
		{"latnecy", "latency", 1}, {"isue_intervall", "issue_interval", 2}, {"ab", "ba", 1}, {"abcd", "dcba", 3}, {"add", "mul", 3},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Distance(c.b, c.a); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
