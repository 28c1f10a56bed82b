// Package validate replays hardware measurements on the model and reports the error per class.
//
// A data folder has the parts forms/, intrinsics/, micro/ and kernels/, any of which may be absent: tables of measured
// cycles, and the machine code and PTX of the kernels that were measured. A row of a table is replayed by running its
// kernel with the recorded launch; micro kernels report the cycles that their own clock reads saw, real kernels the
// cycles that the SM was active.
package validate

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
)

// readFile reads a file of the folder, or the same name with .gz.
func readFile(dir fs.FS, path string) ([]byte, error) {
	b, err := fs.ReadFile(dir, path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	z, zerr := fs.ReadFile(dir, path+".gz")
	if errors.Is(zerr, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w (nor is there a %s.gz)", path, fs.ErrNotExist, path)
	}
	if zerr != nil {
		return nil, zerr
	}
	return unzip(path, z)
}

// unzip reads what a file with .gz holds.
func unzip(path string, b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%s.gz: %w", path, err)
	}
	b, err = io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s.gz: %w", path, err)
	}
	return b, nil
}

// csvTable is a CSV file with a header line; lines that start with # are comments.
type csvTable struct {
	path string
	head map[string]int
	recs [][]string
	line []int // of each record in the file
}

// readTable reads a table and checks that it has the columns named.
func readTable(dir fs.FS, path string, columns ...string) (*csvTable, error) {
	b, err := readFile(dir, path)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(b))
	r.Comment = '#'
	r.FieldsPerRecord = -1
	t := &csvTable{path: path, head: map[string]int{}}
	for {
		rec, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		if len(t.head) == 0 {
			for i, h := range rec {
				t.head[h] = i
			}
			continue
		}
		t.recs = append(t.recs, rec)
		t.line = append(t.line, line)
	}
	if len(t.head) == 0 {
		return nil, fmt.Errorf("%s: the file is empty; expected a header line with %s", path, list(columns))
	}
	for _, c := range columns {
		if _, ok := t.head[c]; !ok {
			return nil, fmt.Errorf("%s: no column %q in the header line", path, c)
		}
	}
	return t, nil
}

// get is a field of record i, "" if the table or the record has no such column.
func (t *csvTable) get(i int, column string) string {
	if k, ok := t.head[column]; ok && k < len(t.recs[i]) {
		return t.recs[i][k]
	}
	return ""
}

// number is a field that must be a number.
func (t *csvTable) number(i int, column string) (float64, error) {
	v, err := strconv.ParseFloat(t.get(i, column), 64)
	if err != nil {
		return 0, fmt.Errorf("%s:%d: %s %q is not a number", t.path, t.line[i], column, t.get(i, column))
	}
	return v, nil
}

// ints reads several fields that must be whole numbers of up to 32 bits.
func (t *csvTable) ints(i int, columns ...string) ([]int, error) {
	out := make([]int, len(columns))
	for k, c := range columns {
		v, err := strconv.ParseUint(t.get(i, c), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s %q is not a whole number", t.path, t.line[i], c, t.get(i, c))
		}
		out[k] = int(v)
	}
	return out, nil
}
