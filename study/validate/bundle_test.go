package validate

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var bundleFrom = flag.String("bundle-from", "", "data folder to make testdata/bundle.zip from")

// Every how many rows of each set the bundle keeps. Numbers without common factors with the tables' periods, so that all
// kinds of rows occur.
var bundleEvery = map[string]int{"forms": 23, "intrinsics": 5, "surfaces": 53, "mixes": 61, "registerfile": 47, "control": 19, "memory": 19, "kernels": 3}

// maxBundle is the most bytes the bundle may have.
const maxBundle = 3 << 20

// TestBundle writes the bundle if asked to, and checks that the one in place is whole.
func TestBundle(t *testing.T) {
	if *bundleFrom != "" {
		b, err := makeBundle(os.DirFS(*bundleFrom))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("testdata/bundle.zip", b, 0o644); err != nil {
			t.Fatal(err)
		}
		bundle = b
	}
	if len(bundle) > maxBundle {
		t.Errorf("the bundle has %d bytes, more than %d", len(bundle), maxBundle)
	}
	dir, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	rep := &Report{Every: 1}
	if _, err := plans(dir, rep, &Options{}); err != nil {
		t.Fatal(err)
	}
	have := map[string]int{}
	for _, s := range rep.Sets {
		have[s.Name+" "+string(s.Input)] = len(s.Results)
	}
	for _, n := range setNames {
		if have[n+" sass"] < 30 {
			t.Errorf("set %s has %d rows in the bundle", n, have[n+" sass"])
		}
	}
}

// makeBundle cuts a subset out of a data folder.
func makeBundle(dir fs.FS) ([]byte, error) {
	files := map[string][]byte{}
	functions := map[string]map[string]bool{} // file -> functions needed
	need := func(file, function string) {
		if functions[file] == nil {
			functions[file] = map[string]bool{}
		}
		functions[file][function] = true
	}
	var plansNeeded = map[string]bool{}
	for _, set := range []string{"forms", "intrinsics"} {
		rows := keepRows(dir, files, set+"/timing.csv", bundleEvery[set])
		for _, r := range rows {
			f := strings.Split(r, ",")
			need(set+"/timing_sm90.sass", "t"+f[0]+"_"+f[1])
			need(set+"/timing.ptx", "t"+f[0]+"_"+f[1])
		}
	}
	for _, m := range microTables {
		name := "micro/" + m.set + ".csv"
		t, err := readTable(dir, name, "kernel")
		if err != nil {
			return nil, err
		}
		_ = keepRows(dir, files, name, bundleEvery[m.set])
		for i := 0; i < len(t.recs); i += bundleEvery[m.set] {
			k := t.get(i, "kernel")
			plansNeeded[k] = true
			if strings.HasPrefix(k, "x_") {
				need("micro/exact_sm90.sass", k)
			} else {
				need("micro/ptx_sm90.sass", k)
			}
		}
	}
	for file, fns := range functions {
		b, err := readFile(dir, file)
		if err != nil {
			return nil, err
		}
		files[file] = cutFunctions(b, fns)
	}
	for _, f := range []string{"forms/inputs.bin", "kernels/kernels.json", "kernels/resources.csv"} {
		b, err := readFile(dir, f)
		if err != nil {
			return nil, err
		}
		files[f] = b
	}
	if err := keepLaunches(files, dir); err != nil {
		return nil, err
	}
	for _, kind := range []string{"kernels/sass/sm_90", "kernels/ptx"} {
		entries, err := fs.ReadDir(dir, kind)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := path.Join(kind, strings.TrimSuffix(e.Name(), ".gz"))
			if files[name], err = readFile(dir, name); err != nil {
				return nil, err
			}
		}
	}
	for _, f := range []string{"micro/plans.tar.gz", "micro/timed_ptx.tar.gz"} {
		b, err := cutTar(dir, f, plansNeeded)
		if err != nil {
			return nil, err
		}
		files[f] = b
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	var names []string
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		w, err := z.Create(n)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(files[n]); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}

// keepRows copies a table with every n-th record and gives the records kept.
func keepRows(dir fs.FS, files map[string][]byte, name string, n int) (kept []string) {
	b, err := readFile(dir, name)
	if err != nil {
		return nil
	}
	var out strings.Builder
	i := -1 // the header
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			out.WriteString(line)
			continue
		}
		if i < 0 || i%n == 0 {
			out.WriteString(line)
			if i >= 0 {
				kept = append(kept, line)
			}
		}
		i++
	}
	files[name] = []byte(out.String())
	return kept
}

// keepLaunches keeps every n-th launch of the real kernels, in both tables.
func keepLaunches(files map[string][]byte, dir fs.FS) error {
	rows := keepRows(dir, files, "kernels/kernels.csv", bundleEvery["kernels"])
	ids := map[string]bool{}
	for _, r := range rows {
		ids[strings.Split(r, ",")[0]] = true
	}
	var all []json.RawMessage
	if err := json.Unmarshal(files["kernels/kernels.json"], &all); err != nil {
		return err
	}
	var out [][]byte
	for _, l := range all {
		var id struct{ ID int }
		if err := json.Unmarshal(l, &id); err != nil {
			return err
		}
		if ids[strconv.Itoa(id.ID)] {
			out = append(out, l)
		}
	}
	files["kernels/kernels.json"] = slices.Concat([]byte("[\n"), bytes.Join(out, []byte(",\n")), []byte("\n]\n"))
	return nil
}

var (
	reFunction = regexp.MustCompile(`(?m)^\s*Function : (\S+)|^\s*\.visible \.entry (\w+)`)
)

// cutFunctions keeps what is before the first function, and the functions named.
func cutFunctions(text []byte, keep map[string]bool) []byte {
	at := reFunction.FindAllSubmatchIndex(text, -1)
	if len(at) == 0 {
		return text
	}
	out := append([]byte(nil), text[:at[0][0]]...)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		name := text[max(m[2], m[4]):max(m[3], m[5])]
		if keep[string(name)] {
			out = append(out, text[m[0]:end]...)
		}
	}
	return out
}

// cutTar keeps of an archive the lines of plans, or the PTX files with constants, of the kernels named.
func cutTar(dir fs.FS, name string, kernels map[string]bool) ([]byte, error) {
	b, err := fs.ReadFile(dir, name)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	zw, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	tw := tar.NewWriter(zw)
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		if strings.Contains(name, "plans") {
			var kept []string
			for line := range strings.Lines(string(text)) {
				if k, _, err := parsePlan(strings.TrimRight(line, "\n")); err == nil && kernels[k] {
					kept = append(kept, line)
				}
			}
			text = []byte(strings.Join(kept, ""))
		} else {
			used := false
			for _, e := range reEntry.FindAllSubmatch(text, -1) {
				used = used || kernels[string(e[1])]
			}
			if !used || !bytes.Contains(text, []byte(".const ")) {
				continue
			}
		}
		if err := tw.WriteHeader(&tar.Header{Name: h.Name, Size: int64(len(text)), Mode: 0o644}); err != nil {
			return nil, err
		}
		if _, err := tw.Write(text); err != nil {
			return nil, err
		}
	}
	if err := tw.Close(); err != nil {
		return nil, err
	}
	err = zw.Close()
	return out.Bytes(), err
}
