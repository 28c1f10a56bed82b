// Package zipped reads the measurements, kernels and listings that tests keep compressed in testdata.
package zipped

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// Read is the content of a gzip file; a file that cannot be read ends the test.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return data
}
