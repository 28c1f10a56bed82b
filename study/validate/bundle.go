package validate

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"sync"
)

// bundle is a zip archive with the layout of a data folder: a part of the rows, and the functions that they run.
//
//go:embed testdata/bundle.zip
var bundle []byte

var openBundle = sync.OnceValues(func() (fs.FS, error) {
	z, err := zip.NewReader(bytes.NewReader(bundle), int64(len(bundle)))
	if err != nil {
		return nil, fmt.Errorf("bundled measurements: %w", err)
	}
	return z, nil
})

// Bundled is the data folder that comes with smsim.
func Bundled() (fs.FS, error) { return openBundle() }

// bundledInputs are the operands of the form kernels, for folders that have intrinsics but no forms.
func bundledInputs() ([]byte, error) {
	dir, err := Bundled()
	if err != nil {
		return nil, err
	}
	return readFile(dir, "forms/inputs.bin")
}
