package study

import "testing"

// TestPictureNames: a launch without a name leaves no dangling underscore, and the kind can be told from the name.
func TestPictureNames(t *testing.T) {
	for _, c := range []struct{ kind, of, want string }{
		{"throughput", "128x1", "throughput_128x1"}, {"throughput", "", "throughput"}, {"speedup", "a b", "speedup_a_b"}, {"speedup", "", "speedup"},
	} {
		if got := named(c.kind, c.of); got != c.want || kindOf(got) != c.kind {
			t.Errorf("%s of %q is %s, a picture of kind %s", c.kind, c.of, got, kindOf(got))
		}
	}
}
