package workloads

import (
	"io/fs"
	"path"
	"slices"
	"testing"
)

// runFiles lists the bundled workload and study files.
func runFiles(t *testing.T) []string {
	t.Helper()
	files, err := fs.Glob(Bundled(), "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// Gain maps and sweeps are other commands' files, which their packages test.
	return slices.DeleteFunc(files, func(f string) bool {
		name := path.Base(f)
		return path.Dir(f) == "gainmap" || name == "sweep.yaml"
	})
}

// TestBundledFilesLoad decodes every bundled run file; each has a kernel source, and every case an expectation.
func TestBundledFilesLoad(t *testing.T) {
	if n := len(BundledNames()); n < 20 {
		t.Errorf("%d bundled workloads, want at least 20", n)
	}
	for _, name := range runFiles(t) {
		p, err := LoadFS(Bundled(), name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := fs.Stat(Bundled(), path.Dir(name)+"/"+path.Dir(name)+".cu"); err != nil {
			t.Errorf("%s: no CUDA source beside it: %v", name, err)
		}
		for _, c := range p.Cases {
			if len(c.Expect) == 0 || !c.Expect[0].Whole.Given {
				t.Errorf("%s %s %s: no whole-output checksum", name, c.Variant, c.Launch)
			}
		}
	}
}
