package validate

import (
	"errors"
	"io/fs"
)

// Input says which form of a kernel runs.
type Input string

// Inputs.
const (
	FromSASS Input = "sass" // the machine code that was measured
	FromPTX  Input = "ptx"  // PTX, lowered by this project
)

// Sets are the names of the classes of measurements, in the order of reports.
var setNames = [...]string{"forms", "intrinsics", "surfaces", "mixes", "registerfile", "control", "memory", "kernels_cold", "kernels_warm"}

// SetNames lists the classes of measurements in the order of reports.
func SetNames() []string { return append([]string(nil), setNames[:]...) }

// row is one measurement of a kernel that times itself: how it was launched, and what the hardware took.
type row struct {
	set      string // one of setNames
	name     string // what was measured, for reports
	group    string // kind of measurement within the set, for means
	kernel   string // function in the listing
	listing  string // file with the machine code, relative to the data folder
	source   string // file with the PTX, "" if there is none
	measured float64
	plan     plan
	err      error // why the row cannot be replayed, nil if it can
}

// plan is how a kernel was launched.
type plan struct {
	tag                 string
	grid, block, shared int
	init                string    // how the buffer was filled: none, or chase:ELEMENTS:STRIDE:SEED
	rotates             bool      // every launch worked on memory that no launch before had touched
	params              [4]uint32 // n, s, m, k of the micro kernels
	record              int       // bytes of a record of clock values: 64 a warp (micro), 16 a thread (forms)
	allSMs              bool      // every SM ran the kernel
}

// loadRows reads the measurements of kernels that time themselves, of the sets asked for. Parts of the folder that are absent give no rows; a
// file that is there but malformed is an error.
func loadRows(dir fs.FS, asked func(set string) bool) ([]row, error) {
	var rows []row
	for _, load := range []func(fs.FS) ([]row, error){
		func(d fs.FS) ([]row, error) { return loadForms(d, "forms", "ptx", asked) },
		func(d fs.FS) ([]row, error) { return loadForms(d, "intrinsics", "intrinsic", asked) },
		func(d fs.FS) ([]row, error) { return loadMicro(d, asked) },
	} {
		r, err := load(dir)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

// loadForms reads latency and throughput of instruction forms or intrinsics; what is the column with their text.
func loadForms(dir fs.FS, set, what string, asked func(string) bool) ([]row, error) {
	if !asked(set) {
		return nil, nil
	}
	t, err := readTable(dir, set+"/timing.csv", "id", "mode", "cycles_median", what)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var rows []row
	for i := range t.recs {
		med, err := t.number(i, "cycles_median")
		if err != nil {
			return nil, err
		}
		mode := t.get(i, "mode")
		r := row{set: set, name: mode + " " + t.get(i, what), group: modeNames[mode], kernel: "t" + t.get(i, "id") + "_" + mode,
			listing: set + "/timing_sm90.sass", source: set + "/timing.ptx", measured: med, plan: plan{grid: 1, block: 32, record: 16}}
		if mode == "T" {
			r.plan.block = 512
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// modeNames are the two ways in which a form is measured.
var modeNames = map[string]string{"L": "latency", "T": "throughput"}
