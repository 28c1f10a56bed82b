package conform

import (
	"embed"
	"io/fs"
	"sync"
)

//go:embed testdata/forms testdata/intrinsics
var bundled embed.FS

// Bundled is the subset that comes with the program: every form, with the operand vectors that Pick chooses.
// Measured on an NVIDIA H200 (compute capability 9.0, CUDA 13.0).
var Bundled = sync.OnceValues(func() (*Set, error) {
	dir, err := fs.Sub(bundled, "testdata/forms")
	if err != nil {
		return nil, err
	}
	return Load(dir)
})

// BundledIntrinsics are the 150 CUDA intrinsics on the same vectors.
var BundledIntrinsics = sync.OnceValues(func() (*IntrinsicSet, error) {
	forms, err := Bundled()
	if err != nil {
		return nil, err
	}
	dir, err := fs.Sub(bundled, "testdata/intrinsics")
	if err != nil {
		return nil, err
	}
	return LoadIntrinsics(dir, forms)
})

// Pick chooses n of the vectors of a set: spread over all of it, with a stride that is prime to the powers of two
// by which corner values repeat.
func (s *Set) Pick(n int) []int {
	n = min(n, s.Vectors)
	var out []int
	seen := map[int]bool{}
	stride := s.Vectors/n | 1
	for i := 0; len(out) < n; i++ {
		k := (i*stride + i/7) % s.Vectors
		for seen[k] {
			k = (k + 1) % s.Vectors
		}
		seen[k] = true
		out = append(out, k)
	}
	return out
}
