//go:build !unix

package study

import (
	"errors"
	"io/fs"
	"os"
)

// lockFile takes the lock of a file; busy if the file is there. What a killed process left has to be removed by hand.
func lockFile(name string) (f *os.File, busy bool, err error) {
	f, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	return f, errors.Is(err, fs.ErrExist), err
}
