package conform

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

var subsetFrom = flag.String("subset-from", "", "write the bundled subset anew from this folder of measured forms")

// allTargets are the compute capabilities whose lowering differs; generations between them behave as one of them.
var allTargets = []int{10, 13, 20, 21, 30, 32, 35, 50, 53, 61, 62, 70, 72, 75, 80, 86, 90, 100, 103, 120}

func TestWriteSubset(t *testing.T) {
	if *subsetFrom == "" {
		t.Skip("-subset-from is not given")
	}
	s, err := Load(os.DirFS(*subsetFrom))
	if err != nil {
		t.Fatal(err)
	}
	pick := s.Pick(64)
	write := func(dir string, files map[string][]byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range files {
			if err := os.WriteFile(filepath.Join("testdata", dir, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	files, err := s.Write(pick)
	write("forms", files, err)
	in, err := LoadIntrinsics(os.DirFS(filepath.Join(*subsetFrom, "../intrinsics")), s)
	if err != nil {
		t.Fatal(err)
	}
	files, err = in.Write(pick)
	write("intrinsics", files, err)
}

// TestIntrinsics replays the bundled intrinsics on every target.
func TestIntrinsics(t *testing.T) {
	s, err := BundledIntrinsics()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Intrinsics) < 150 {
		t.Fatalf("%d intrinsics are bundled", len(s.Intrinsics))
	}
	targets := allTargets
	if testing.Short() {
		targets = []int{13, 35, 61, 90}
	}
	for _, sm := range targets {
		tg := isa.NewTarget(sm)
		for i := range s.Intrinsics {
			if r := s.RunIntrinsic(&s.Intrinsics[i], tg); r.Outcome != Equal {
				t.Errorf("sm_%d: %s", sm, r.Line())
			}
		}
	}
}

// TestForms replays the bundled forms: every target gives the GPU's results, and rejects what ptxas rejects.
func TestForms(t *testing.T) {
	s, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Forms) < 1700 || s.Vectors < 64 {
		t.Fatalf("the bundled set has %d forms with %d vectors", len(s.Forms), s.Vectors)
	}
	targets := allTargets
	if testing.Short() {
		targets = []int{13, 21, 35, 61, 90}
	}
	for _, r := range s.Run(targets) {
		if r.Equal+r.Listed != r.Forms {
			t.Errorf("%s: %d of %d forms fail", r.Name(), r.Failed, r.Forms)
		}
		for i := range r.Reports {
			if i == 5 {
				break
			}
			t.Errorf("%s: %s", r.Name(), r.Reports[i].Line())
		}
	}
}

// TestDifferenceIsFound checks that the comparison can fail: a wrong expected value is reported with its vector.
func TestDifferenceIsFound(t *testing.T) {
	s, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	f := &s.Forms[28] // add.u32
	saved := s.D[f.ID][7]
	s.D[f.ID][7] ^= 1
	r := s.RunForm(f, isa.NewTarget(86))
	s.D[f.ID][7] = saved
	if r.Outcome != Failed || r.Diff == nil || r.Diff.Vector != 7 || !strings.Contains(r.Line(), "vector 7") {
		t.Errorf("a wrong value gave %v, %q", r.Outcome, r.Line())
	}
}

// TestLoadErrors checks the messages for folders that are no sets.
func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want string) {
		t.Helper()
		if _, err := Load(os.DirFS(dir)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
	check("neither forms.json nor forms.json.gz")
	write("forms.json", `{"vectors": 0, "forms": []}`)
	check("vectors is 0")
	write("forms.json", `{"vectors": 1, "forms": [{"id": 0, "ptx": "not.b32 %d, %a;", "result": "b32", "operands": ["b32"], "accepted": true}]}`)
	write("inputs.bin", "12345678")
	check("inputs.bin holds 8 bytes, not the 24")
	write("inputs.bin", "123456781234567812345678")
	write("results.bin", "1234")
	check("results.bin holds 4 bytes, not the 16")
	write("results.bin", "1234567812345678")
	if _, err := Load(os.DirFS(dir)); err != nil {
		t.Error(err)
	}
}
