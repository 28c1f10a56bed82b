package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeAtomic writes a file under a temporary name in its directory and renames it when it is complete. A link stays one: what it points to is
// written. Devices and pipes are written as they are.
func writeAtomic(name string, write func(io.Writer) error) (err error) {
	if to, err := filepath.EvalSymlinks(name); err == nil {
		name = to
	}
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return writeThrough(name, write)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".smsim-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, fileCause(err))
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("cannot write %s: %w", name, fileCause(err))
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	// CreateTemp makes files that only their owner can read; results are for everybody who may read the directory.
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// writeThrough writes to what is no file of a directory.
func writeThrough(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, fileCause(err))
	}
	return nil
}

// fileCause is a file error's reason without the name, which is that of the temporary file.
func fileCause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// checkDir says why files cannot be written to a directory, before there is anything to write. It tries: permissions
// alone do not tell for read-only and virtual file systems. What it creates it removes again.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	if st, err := os.Stat(dir); err == nil && !st.IsDir() {
		return fmt.Errorf("%s is a file, not a directory for the outputs", dir)
	}
	var missing []string
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		missing = append(missing, d)
	}
	var err error
	for range 3 { // another smsim may just be removing what it created for its own check
		if err = tryDir(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	for _, d := range missing {
		_ = os.Remove(d) // fails, as it should, where somebody else has put something by now
	}
	if err != nil {
		return fmt.Errorf("cannot write to the output directory %s: %w", dir, fileCause(err))
	}
	return nil
}

// tryDir creates a directory and a file in it, and removes the file.
func tryDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".smsim-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// checkFile says why a file cannot be written. Its directory must exist.
func checkFile(name string) error {
	dir := filepath.Dir(name)
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		return fmt.Errorf("%s is a directory; name a file", name)
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return fmt.Errorf("cannot write %s: %s is no directory", name, dir)
	}
	if err := tryDir(dir); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, fileCause(err))
	}
	return nil
}

// sameFile says that two names are one existing file, by links too.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}
