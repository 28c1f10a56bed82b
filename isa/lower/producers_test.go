package lower

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sarchlab/smsim/isa/ptx"
)

// TestProducers: PTX as different compilers write it (nvopencc, LLVM, and in the manner of Numba, Julia, NVIDIA's OpenCL and
// Triton: names, declarations, calls, debug sections, inline assembly) is lowered for old and new targets.
func TestProducers(t *testing.T) {
	files, err := filepath.Glob("testdata/producers/*.ptx")
	if err != nil || len(files) < 6 {
		t.Fatal(err, files)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ptx.Parse(path, text)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(m.Entries()) == 0 {
			t.Errorf("%s has no kernel", path)
		}
		for _, e := range m.Entries() {
			for _, sm := range []int{35, 61, 75, 90, 120} {
				if _, err := Compile(m, e.Name, testTarget(sm), Options{}); err != nil {
					t.Errorf("sm_%d: %v", sm, err)
				}
			}
		}
	}
}
