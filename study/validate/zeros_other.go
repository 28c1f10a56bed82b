//go:build !unix

package validate

// zeros is a buffer of zeros.
type zeros struct{ data []byte }

// newZeros allocates size bytes; the system provides pages as they are touched.
func newZeros(size int) (*zeros, error) { return &zeros{make([]byte, size)}, nil }

func (z *zeros) free() error { z.data = nil; return nil }
