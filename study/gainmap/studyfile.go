package gainmap

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/workloads"
)

// Study is what to map: a pair of forms, architectures, and the axes of the two maps (docs/schema/gainmap.schema.json).
type Study struct {
	Name, Question string
	Kind           Kind
	Archs          []string
	Grid           Grid
}

type studyFile struct {
	strictyaml.Place
	GainMap    string        `yaml:"gainmap,required"`
	Question   string        `yaml:"question"`
	Pair       string        `yaml:"pair,required"`
	Archs      []string      `yaml:"archs"`
	Iterations int           `yaml:"iterations"`
	Chains     chainsSection `yaml:"chains_by_warps"`
	Memory     memorySection `yaml:"loads_by_latency"`
}

type chainsSection struct {
	strictyaml.Place
	Chains []int   `yaml:"chains"`
	Warps  []int   `yaml:"warps"`
	Loads  float64 `yaml:"loads"`
}

type memorySection struct {
	strictyaml.Place
	Loads     []float64 `yaml:"loads"`
	Latencies []int     `yaml:"latencies"`
	Chains    int       `yaml:"chains"`
	Warps     int       `yaml:"warps"`
}

// Names lists the bundled studies.
func Names() []string {
	files, err := fs.Glob(workloads.Bundled(), "gainmap/*.yaml")
	if err != nil {
		panic("gainmap: bundled studies cannot be listed: " + err.Error())
	}
	for i, f := range files {
		f = path.Base(f)
		files[i] = f[:len(f)-len(path.Ext(f))]
	}
	return files
}

// Load reads a bundled study by its name, or a file.
func Load(name string) (*Study, error) {
	if slices.Contains(Names(), name) {
		file := path.Join("gainmap", name+".yaml")
		text, err := fs.ReadFile(workloads.Bundled(), file)
		if err != nil {
			return nil, err
		}
		return Decode(file, text)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		if os.IsNotExist(err) {
			return nil, fmt.Errorf("there is no file and no bundled gain map %q%s", name, strictyaml.DidYouMean(name, Names()))
		}
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return Decode(name, text)
}

// Decode reads the text of a study; the name is for messages.
func Decode(name string, text []byte) (*Study, error) {
	n, err := strictyaml.Parse(name, text)
	if err != nil {
		return nil, err
	}
	d := DefaultGrid()
	f := studyFile{Iterations: d.Iteration, Chains: chainsSection{Chains: d.Chains, Warps: d.Warps, Loads: d.MapLoads},
		Memory: memorySection{Loads: d.Loads, Latencies: d.Latencies, Chains: d.MapChains, Warps: d.MapWarps}}
	if n.Kind != strictyaml.Mapping {
		return nil, n.Errorf("expected a gain map: a mapping with gainmap and pair")
	}
	if err := n.Decode(&f); err != nil {
		return nil, err
	}
	at := func(keys ...string) strictyaml.Node {
		x := n
		for _, k := range keys {
			if v, ok := x.Get(k); ok {
				x = v
			}
		}
		return x
	}
	s := &Study{Name: f.GainMap, Question: f.Question, Archs: f.Archs, Grid: Grid{Chains: f.Chains.Chains, Warps: f.Chains.Warps, MapLoads: f.Chains.Loads,
		Loads: f.Memory.Loads, Latencies: f.Memory.Latencies, MapChains: f.Memory.Chains, MapWarps: f.Memory.Warps, Iteration: f.Iterations}}
	var known []string
	for _, k := range Kinds() {
		known = append(known, k.Name)
		if k.Name == f.Pair {
			s.Kind = k
		}
	}
	if s.Kind.Name == "" {
		return nil, at("pair").Errorf("there is no pair %q%s", f.Pair, strictyaml.DidYouMean(f.Pair, known))
	}
	for _, a := range at("archs").Items {
		if _, err := configs.Load(a.Text, nil); err != nil {
			return nil, a.Errorf("%s", err)
		}
	}
	if err := f.checkRanges(at); err != nil {
		return nil, err
	}
	return s, nil
}

// checkRanges refuses numbers that no kernel or architecture can have; at finds a key in the file.
func (f *studyFile) checkRanges(at func(keys ...string) strictyaml.Node) error {
	for _, c := range []struct {
		keys  []string
		value []int
		most  int
	}{
		{[]string{"iterations"}, []int{f.Iterations}, 1 << 16},
		{[]string{"chains_by_warps", "chains"}, f.Chains.Chains, 32},
		{[]string{"chains_by_warps", "warps"}, f.Chains.Warps, 16},
		{[]string{"loads_by_latency", "latencies"}, f.Memory.Latencies, 10000},
		{[]string{"loads_by_latency", "chains"}, []int{f.Memory.Chains}, 32},
		{[]string{"loads_by_latency", "warps"}, []int{f.Memory.Warps}, 16},
	} {
		if len(c.value) == 0 {
			return at(c.keys...).Errorf("%s has no values", c.keys[len(c.keys)-1])
		}
		for _, v := range c.value {
			if v < 1 || v > c.most {
				return at(c.keys...).Errorf("%s must be 1 to %d, not %d", c.keys[len(c.keys)-1], c.most, v)
			}
		}
	}
	if len(f.Memory.Loads) == 0 {
		return at("loads_by_latency", "loads").Errorf("loads has no values")
	}
	for i, v := range append(slices.Clone(f.Memory.Loads), f.Chains.Loads) {
		where := at("loads_by_latency", "loads")
		if i == len(f.Memory.Loads) {
			where = at("chains_by_warps", "loads")
		}
		if !(v >= 0 && v <= 2) {
			return where.Errorf("loads for each result are 0 to 2, one for each operand, not %g", v)
		}
	}
	return nil
}
