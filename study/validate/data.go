// Package validate replays hardware measurements on the model and reports the error per class.
package validate

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Row is one measurement: a kernel, how it was launched, and what the hardware took.
type Row struct {
	Set      string // forms, intrinsics, surfaces, mixes, registerfile, control, memory
	Name     string // what was measured, for reports
	Kernel   string // function in the listing
	Listing  string // file with the machine code, relative to the data folder
	Threads  int    // a block
	Grid     int
	Params   [4]uint32 // n, s, m, k of the micro kernels
	Shared   int       // dynamic shared bytes
	Init     string    // how the buffer was filled: none, chase:ELEMENTS:STRIDE:SEED
	Record   int       // bytes a record: 64 a warp (micro), 16 a thread (forms)
	Measured float64   // median cycles
	Ops      float64   // executions of the thing measured, for cycles per instruction; 0: not known
}

// Load reads the measurements of a folder with the layout forms/, intrinsics/, micro/. Folders that are
// absent give no rows; a file that is there but malformed is an error.
func Load(dir string) ([]Row, error) {
	var rows []Row
	for _, f := range []func(string) ([]Row, error){loadForms("forms"), loadForms("intrinsics"), loadMicro} {
		r, err := f(dir)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

// table reads a CSV file with a header line, skipping lines that start with #.
func table(path string) (head map[string]int, recs [][]string, err error) {
	b, err := ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	r := csv.NewReader(strings.NewReader(string(b)))
	r.Comment = '#'
	r.FieldsPerRecord = -1
	all, err := r.ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("%s: no header line", path)
	}
	head = map[string]int{}
	for i, h := range all[0] {
		head[h] = i
	}
	return head, all[1:], nil
}

// ReadFile reads a file, or the same name with .gz.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !strings.HasSuffix(path, ".gz") {
		f, err = os.Open(path + ".gz")
		path += ".gz"
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !strings.HasSuffix(path, ".gz") {
		return io.ReadAll(f)
	}
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return io.ReadAll(z)
}

func loadForms(set string) func(string) ([]Row, error) {
	return func(dir string) ([]Row, error) {
		path := filepath.Join(dir, set, "timing.csv")
		head, recs, err := table(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		what := "ptx"
		if set == "intrinsics" {
			what = "intrinsic"
		}
		var rows []Row
		for i, r := range recs {
			med, err := strconv.ParseFloat(r[head["cycles_median"]], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: record %d: cycles_median %q is not a number", path, i+1, r[head["cycles_median"]])
			}
			id, mode := r[head["id"]], r[head["mode"]]
			row := Row{Set: set, Name: mode + " " + r[head[what]], Kernel: "t" + id + "_" + mode, Listing: filepath.Join(set, "timing_sm90.sass"),
				Threads: 32, Grid: 1, Record: 16, Measured: med, Ops: 512}
			if mode == "T" {
				row.Threads, row.Ops = 512, 4*8*64*16/4
			}
			rows = append(rows, row)
		}
		return rows, nil
	}
}

// plan is how a micro kernel was launched.
type plan struct {
	grid, block, shared int
	init                string
	params              [4]uint32
}

// loadPlans reads the launch plans, kernel name -> launches. A line is
// tag;module;kernel;grid;block;dynamic shared;launches;init;source;n;s;m;k.
func loadPlans(path string) (map[string][]plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	plans := map[string][]plan{}
	t := tar.NewReader(z)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return plans, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		sc := bufio.NewScanner(t)
		for n := 1; sc.Scan(); n++ {
			c := strings.Split(sc.Text(), ";")
			if len(c) != 13 {
				return nil, fmt.Errorf("%s: %s line %d: %d fields, expected 13", path, h.Name, n, len(c))
			}
			var v [7]int64
			for k, i := range []int{3, 4, 5, 9, 10, 11, 12} {
				if v[k], err = strconv.ParseInt(c[i], 10, 64); err != nil {
					return nil, fmt.Errorf("%s: %s line %d: %q is not a number", path, h.Name, n, c[i])
				}
			}
			p := plan{grid: int(v[0]), block: int(v[1]), shared: int(v[2]), init: c[7],
				params: [4]uint32{uint32(v[3]), uint32(v[4]), uint32(v[5]), uint32(v[6])}}
			name := c[2]
			if strings.HasPrefix(c[1], "x_") { // exact kernels: the module carries the name
				name = c[1]
			}
			plans[name] = append(plans[name], p)
		}
		if err := sc.Err(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, h.Name, err)
		}
	}
}

// match finds the launch of a row: grid and threads agree, and the parameters where the table gives them.
func match(ps []plan, r *Row) (plan, bool) {
	for _, exact := range []bool{true, false} {
		for _, p := range ps {
			sameParams := r.Params == p.params || r.Set != "memory"
			if p.grid == r.Grid && (p.block == r.Threads || !exact && (p.block+31)/32 == (r.Threads+31)/32) && sameParams {
				return p, true
			}
		}
	}
	for _, p := range ps {
		if (p.block+31)/32*p.grid == (r.Threads+31)/32*r.Grid || len(ps) == 1 {
			return p, true
		}
	}
	return plan{}, false
}

func loadMicro(dir string) ([]Row, error) {
	base := filepath.Join(dir, "micro")
	if _, err := os.Stat(base); err != nil {
		return nil, nil
	}
	plans, err := loadPlans(filepath.Join(base, "plans.tar.gz"))
	if err != nil {
		return nil, err
	}
	var rows []Row
	type source struct{ set, file string }
	for _, s := range []source{{"surfaces", "surfaces.csv"}, {"mixes", "mixes.csv"}, {"registerfile", "registerfile.csv"}, {"control", "control.csv"}, {"memory", "memory.csv"}} {
		path := filepath.Join(base, s.file)
		head, recs, err := table(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		get := func(r []string, col string) string {
			if i, ok := head[col]; ok && i < len(r) {
				return r[i]
			}
			return ""
		}
		num := func(r []string, col string) float64 {
			v, _ := strconv.ParseFloat(get(r, col), 64)
			return v
		}
		for i, r := range recs {
			med, err := strconv.ParseFloat(get(r, "cycles_median"), 64)
			if err != nil {
				return nil, fmt.Errorf("%s: record %d: cycles_median %q is not a number", path, i+1, get(r, "cycles_median"))
			}
			row := Row{Set: s.set, Kernel: get(r, "kernel"), Threads: 32 * int(num(r, "warps")), Grid: 1, Record: 64, Measured: med}
			switch s.set {
			case "surfaces":
				row.Name = get(r, "source") + " " + get(r, "op") + " chains " + get(r, "chains")
				row.Ops = num(r, "instructions_per_warp")
			case "mixes":
				row.Name = get(r, "sources") + " sources " + get(r, "ops") + " " + get(r, "ratio")
			case "registerfile":
				row.Name = get(r, "op") + " " + get(r, "case")
				row.Ops = num(r, "instructions_per_warp")
			case "control":
				row.Name = get(r, "experiment") + " " + get(r, "a") + " " + get(r, "b")
			case "memory":
				row.Name = get(r, "experiment") + " " + get(r, "case") + " " + get(r, "warps_or_unit") + " " + get(r, "extra")
				row.Grid, row.Threads = int(num(r, "grid")), int(num(r, "block"))
				for k, c := range []string{"n", "s", "m", "k"} {
					row.Params[k] = uint32(num(r, c))
				}
			}
			row.Listing = filepath.Join("micro", "ptx_sm90.sass")
			if strings.HasPrefix(row.Kernel, "x_") {
				row.Listing = filepath.Join("micro", "exact_sm90.sass")
			}
			p, ok := match(plans[row.Kernel], &row)
			if !ok {
				return nil, fmt.Errorf("%s: record %d: no launch of kernel %s with grid %d and %d threads in plans.tar.gz", path, i+1, row.Kernel, row.Grid, row.Threads)
			}
			row.Grid, row.Threads, row.Shared, row.Init, row.Params = p.grid, p.block, p.shared, p.init, p.params
			rows = append(rows, row)
		}
	}
	return rows, nil
}
