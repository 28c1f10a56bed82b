package validate

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// loadPlans reads the launch plans: kernel name -> launches. A line is
// tag;module;kernel;grid;block;dynamic shared;launches;init;source;n;s;m;k.
func loadPlans(dir fs.FS, path string) (map[string][]plan, error) {
	b, err := fs.ReadFile(dir, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
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
			name, p, err := parsePlan(sc.Text())
			if err != nil {
				return nil, fmt.Errorf("%s: %s:%d: %w", path, h.Name, n, err)
			}
			plans[name] = append(plans[name], p)
		}
		if err := sc.Err(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, h.Name, err)
		}
	}
}

func parsePlan(line string) (kernel string, p plan, err error) {
	c := strings.Split(line, ";")
	if len(c) != 13 {
		return "", p, fmt.Errorf("%d fields, expected 13: tag;module;kernel;grid;block;dynamic shared;launches;init;source;n;s;m;k", len(c))
	}
	var v [7]int64
	for k, i := range []int{3, 4, 5, 9, 10, 11, 12} {
		if v[k], err = strconv.ParseInt(c[i], 10, 64); err != nil {
			return "", p, fmt.Errorf("%q is not a number", c[i])
		}
	}
	if v[0] < 1 || v[1] < 1 || v[1] > 1024 || v[2] < 0 {
		return "", p, fmt.Errorf("grid %d, block %d, dynamic shared %d make no launch", v[0], v[1], v[2])
	}
	p = plan{tag: c[0], grid: int(v[0]), block: int(v[1]), shared: int(v[2]), init: c[7], rotates: strings.HasPrefix(c[8], "rot:"),
		params: [4]uint32{uint32(v[3]), uint32(v[4]), uint32(v[5]), uint32(v[6])}, record: 64}
	kernel = c[2]
	if strings.HasPrefix(c[1], "x_") { // exact kernels: the module carries the name
		kernel = c[1]
	}
	// With more blocks than one, the other SMs either ran the same code or left at once; the tag says which.
	p.allSMs = p.grid > 1 && (strings.Contains(p.tag, "allsm") || strings.Contains(p.tag, "all132"))
	return kernel, p, nil
}

// wanted is what a row of a table says about its launch.
type wanted struct {
	tags        []string // tags of the plan that belong to the row, or the beginnings of one
	warps       int      // of the block
	grid, block int      // 0: not given
	params      *[4]uint32
}

// match finds the launch of a row: by its tag, then by its shape.
func match(ps []plan, w *wanted) (plan, bool) {
	fits := func(p *plan) bool {
		return (w.grid == 0 || p.grid == w.grid) && (w.block == 0 || p.block == w.block) &&
			(w.warps == 0 || (p.block+31)/32 == w.warps) && (w.params == nil || w.params[0] == p.params[0] && w.params[1] == p.params[1])
	}
	var found *plan
	for i := range ps {
		for _, tag := range w.tags {
			if ps[i].tag == tag && fits(&ps[i]) {
				return ps[i], true
			}
		}
		if found == nil && fits(&ps[i]) {
			found = &ps[i]
		}
	}
	if found != nil {
		return *found, true
	}
	for i := range ps { // 64 warps: two blocks an SM
		if p := ps[i]; w.warps > 0 && p.grid > 1 && 2*(p.block+31)/32 == w.warps {
			return p, true
		}
	}
	return plan{}, false
}

// microTables are the files of micro/ with the columns that name a row and its group.
var microTables = []struct {
	set         string
	name, group []string
}{
	{"surfaces", []string{"source", "op", "chains"}, []string{"source", "op"}},
	{"mixes", []string{"sources", "ops", "ratio"}, []string{"sources", "ops"}},
	{"registerfile", []string{"op", "case"}, []string{"op"}},
	{"control", []string{"experiment", "a", "b"}, []string{"experiment"}},
	{"memory", []string{"experiment", "case", "warps_or_unit", "extra"}, []string{"experiment"}},
}

func loadMicro(dir fs.FS, asked func(set string) bool) ([]row, error) {
	plans, err := loadPlans(dir, "micro/plans.tar.gz")
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, s := range microTables {
		if !asked(s.set) {
			continue
		}
		t, err := readTable(dir, "micro/"+s.set+".csv", append([]string{"kernel", "cycles_median"}, s.name...)...)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range t.recs {
			r := row{set: s.set, kernel: t.get(i, "kernel"), listing: "micro/ptx_sm90.sass"}
			if r.measured, err = t.number(i, "cycles_median"); err != nil {
				return nil, err
			}
			if strings.HasPrefix(r.kernel, "x_") {
				r.listing = "micro/exact_sm90.sass"
			}
			join := func(columns []string) string {
				var f []string
				for _, c := range columns {
					f = append(f, t.get(i, c))
				}
				return strings.Join(f, " ")
			}
			r.name, r.group = join(s.name), join(s.group)
			w := wanted{}
			if s.set == "memory" {
				v, err := t.ints(i, "grid", "block", "n", "s", "m", "k")
				if err != nil {
					return nil, err
				}
				w.grid, w.block = v[0], v[1]
				w.params = &[4]uint32{uint32(v[2]), uint32(v[3]), uint32(v[4]), uint32(v[5])}
				w.tags = []string{"mem," + strings.ReplaceAll(join(s.name), " ", ",")}
			} else {
				v, err := t.ints(i, "warps")
				if err != nil {
					return nil, err
				}
				w.warps = v[0]
				r.name += fmt.Sprintf(", %d warps", v[0])
				if s.set == "control" {
					w.tags = []string{"ctl," + strings.ReplaceAll(join(s.name), " ", ",") + "," + strconv.Itoa(v[0])}
				}
			}
			p, ok := match(plans[r.kernel], &w)
			if !ok {
				r.err = fmt.Errorf("%s:%d: micro/plans.tar.gz has no launch of %s with the row's shape", t.path, t.line[i], r.kernel)
			}
			r.plan = p
			rows = append(rows, r)
		}
	}
	return rows, nil
}
