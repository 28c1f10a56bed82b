package sass

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// normalise removes from a listing's instruction what the printer leaves out on purpose: descriptors, cache hints,
// neutral predicates and spaces.
func normalise(s string) string {
	for _, word := range []string{"desc[UR8]", "desc[UR4]", "desc[UR6]", ".LUT", ", !PT", ".reuse", ".AND"} {
		s = strings.ReplaceAll(s, word, "")
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, ".64]", "]"), ".64+", "+")
	return strings.Join(strings.Fields(s), " ")
}

// TestPrintedInstructions prints what was read from the sample listings and compares it with the listing.
func TestPrintedInstructions(t *testing.T) {
	files, err := filepath.Glob("testdata/sm_*.sass")
	if err != nil || len(files) == 0 {
		t.Fatal("no samples", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Read(f, b)
		if err != nil {
			t.Fatal(err)
		}
		fn, err := l.Entry("")
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.Program(fn, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Insts {
			in := &p.Insts[i]
			got := normalise(in.Text(func(k int) string { return "0x" + strconv.FormatUint(uint64(p.Insts[k].PC), 16) }))
			want := normalise(fn.Insts[i].text)
			if got != want {
				t.Errorf("%s: listing has %q, printed %q", filepath.Base(f), want, got)
			}
		}
	}
}
