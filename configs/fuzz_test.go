package configs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sarchlab/smsim/configs/strictyaml"
)

// FuzzUserFile feeds arbitrary text as a user's architecture file: the answer is an architecture that passes
// all checks, or a *strictyaml.Error, never a panic.
func FuzzUserFile(f *testing.F) {
	seeds, err := filepath.Glob("testdata/errors/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range seeds {
		text, err := os.ReadFile(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("base: sm_90\nclasses:\n  idp: {issue_interval: 1}\n"))
	dir := f.TempDir()
	path := filepath.Join(dir, "fuzz.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := Load(path, nil)
		var e *strictyaml.Error
		switch {
		case err == nil:
			if flt := check(a); flt != nil {
				t.Errorf("loaded, but %s", flt.message)
			}
			a.Target()
			a.ResidentBlocks(128, 32, 0)
		case !errors.As(err, &e):
			t.Errorf("%T is no *strictyaml.Error: %v", err, err)
		}
	})
}
