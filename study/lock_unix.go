//go:build unix

package study

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the lock of a file for this process and its end; busy if another process has it.
func lockFile(name string) (f *os.File, busy bool, err error) {
	if f, err = os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return nil, false, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, errors.Is(err, syscall.EWOULDBLOCK), err
	}
	return f, false, nil
}
