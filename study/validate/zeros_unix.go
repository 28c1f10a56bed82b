//go:build unix

package validate

import "syscall"

// zeros is address space that reads as zero and takes memory only where it is written to.
type zeros struct{ data []byte }

// newZeros reserves size bytes.
func newZeros(size int) (*zeros, error) {
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|mapNoReserve)
	if err != nil {
		return nil, err
	}
	return &zeros{b}, nil
}

// free gives the address space back.
func (z *zeros) free() error { return syscall.Munmap(z.data) }
