package conform

import (
	"path/filepath"
	"testing"

	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/isa/zipped"
)

// unzip reads a bundled listing.
func unzip(t *testing.T, path string) *sass.Listing {
	t.Helper()
	l, err := sass.Read(filepath.Base(path), zipped.Read(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// literalPool are the forms whose code for these targets takes a literal from constant bank 2, which the listings lack.
var literalPool = map[string]int{"expansion_sm75.sass.gz": 2, "expansion_sm80.sass.gz": 2, "expansion_sm86.sass.gz": 2, "expansion_sm89.sass.gz": 2}

// TestMachineCode runs the real compiler's code of every form and intrinsic for seven targets on the bundled vectors:
// it gives the GPU's results.
func TestMachineCode(t *testing.T) {
	forms, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	intrinsics, err := BundledIntrinsics()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/sass/*.sass.gz")
	if err != nil || len(files) != 14 {
		t.Fatalf("%d listings, %v", len(files), err)
	}
	for _, path := range files {
		l := unzip(t, path)
		name := filepath.Base(path)
		run, least := forms.RunListing, 1740
		if name[0] == 'i' {
			run, least = intrinsics.RunListing, 150
		}
		r := run(l)
		if r.Forms < least || r.Failed > 0 || r.Listed != literalPool[name] {
			t.Errorf("%s: %d forms, %d equal, %d listed (expected %d), %d failed", name, r.Forms, r.Equal, r.Listed, literalPool[name], r.Failed)
		}
		for i := range r.Reports {
			if i == 5 {
				break
			}
			t.Errorf("%s: %s", name, r.Reports[i].Line())
		}
	}
}
