package study

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/workloads"
)

// sweepFile is the text of a sweep (docs/schema/sweep.schema.json).
type sweepFile struct {
	strictyaml.Place
	Sweep      string          `yaml:"sweep,required"`
	About      string          `yaml:"about"`
	Run        []string        `yaml:"run,required"` // run files, relative to this one, or bundled workloads
	Variants   []string        `yaml:"variants"`     // or kernels
	Launches   []string        `yaml:"launches"`
	Archs      []string        `yaml:"archs"`
	Grids      []workloads.Dim `yaml:"grids"`       // instead of the run file's (not of a study)
	BlockSizes []workloads.Dim `yaml:"block_sizes"` // likewise
	Seeds      []uint64        `yaml:"seeds"`       // shifts the seeds of generated buffers; 0: as they are
	Overrides  sweepAxes       `yaml:"overrides"`

	Board      string              `yaml:"board"`
	SMs        int                 `yaml:"sms"`
	Blocks     workloads.Blocks    `yaml:"blocks"`
	Check      workloads.CheckMode `yaml:"check"`
	Caches     workloads.Caches    `yaml:"caches"`
	CycleLimit uint64              `yaml:"cycle_limit"`
	Recompile  bool                `yaml:"recompile"`

	Points []sweepPointSpec `yaml:"points"` // listed points, instead of all combinations
	Out    string           `yaml:"out"`
}

type sweepPointSpec struct {
	strictyaml.Place
	Variant   string    `yaml:"variant"`
	Launch    string    `yaml:"launch"`
	Arch      string    `yaml:"arch"`
	Seed      uint64    `yaml:"seed"`
	Overrides sweepAxes `yaml:"overrides"`
}

// sweepAxes are keys of the architecture with their values.
type sweepAxes []sweepAxis

type sweepAxis struct {
	strictyaml.Place
	key    string
	values []string
}

// UnmarshalNode reads {lsu.l1_latency: [16, 32], warp_scheduler: gto, memory.l2_latency: 200..400..50}; a value that is a
// list itself stands in a list of its own.
func (a *sweepAxes) UnmarshalNode(n strictyaml.Node) error {
	if n.Kind != strictyaml.Mapping {
		return n.Errorf("overrides are a mapping from architecture keys to values, such as {lsu.l1_latency: [16, 32, 64]}")
	}
	for _, p := range n.Pairs {
		x := sweepAxis{Place: n.PlaceAt(p.At), key: p.Key}
		items := []strictyaml.Node{p.Value}
		if p.Value.Kind == strictyaml.Sequence {
			items = p.Value.Items
		}
		if len(items) == 0 {
			return p.Value.Errorf("%s has no values", p.Key)
		}
		for _, v := range items {
			switch {
			case v.Kind == strictyaml.Mapping || v.Kind == strictyaml.Null:
				return v.Errorf("expected values of %s: a list such as [16, 32, 64], one value, or a range such as 0..64..8", p.Key)
			case v.Kind == strictyaml.Sequence:
				parts := make([]string, len(v.Items))
				for i, item := range v.Items {
					parts[i] = item.Text
				}
				x.values = append(x.values, "["+strings.Join(parts, ", ")+"]")
			case strings.Contains(v.Text, ".."):
				more, err := rangeValues(v.Text)
				if err != nil {
					return v.Errorf("%s", err)
				}
				x.values = append(x.values, more...)
			default:
				x.values = append(x.values, v.Text)
			}
		}
		*a = append(*a, x)
	}
	return nil
}

// maxSweep bounds the points of a sweep.
const maxSweep = 100_000

// Sweep is a sweep with everything resolved: its points in a fixed order.
type Sweep struct {
	Name, About string
	Out         string // directory of the results, "" if not given
	Recompile   bool
	Points      []SweepPoint
	Axes        []string // keys of the architecture that the points change, in order of appearance

	settings workloads.Settings
	sources  []*workloads.Plan
	check    func() error // of keys and values against the architectures
}

// SweepPoint is one simulation of a sweep.
type SweepPoint struct {
	Run       string // the run file
	Variant   string
	Launch    string
	Arch      string
	Seed      uint64
	Overrides []workloads.Override

	plan int
	c    *workloads.Case
}

// Name is the point in words, for messages.
func (p *SweepPoint) Name() string {
	parts := []string{p.Variant, p.Launch, "on", p.Arch}
	for _, o := range p.Overrides {
		parts = append(parts, o.Key+"="+o.Value)
	}
	if p.Seed != 0 {
		parts = append(parts, fmt.Sprintf("seed=%d", p.Seed))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// DecodeSweep reads the text of a sweep; name is for messages and to find the run files. Errors are the user's, with
// file, line and column.
func DecodeSweep(name string, text []byte) (*Sweep, error) {
	n, err := strictyaml.Parse(name, text)
	if err != nil {
		return nil, err
	}
	var f sweepFile
	if n.Kind != strictyaml.Mapping {
		return nil, n.Errorf("expected a sweep file: a mapping with sweep, run and what to vary")
	}
	if err := n.Decode(&f); err != nil {
		return nil, err
	}
	s := &Sweep{Name: f.Sweep, About: strings.TrimSpace(f.About), Out: f.Out, Recompile: f.Recompile}
	s.settings = workloads.Settings{Board: f.Board, SMs: f.SMs, Blocks: f.Blocks, Check: f.Check, Caches: f.Caches, CycleLimit: f.CycleLimit}
	if s.settings.Check == "" {
		s.settings.Check = workloads.CheckAuto
	}
	if s.settings.Caches == "" {
		s.settings.Caches = workloads.CachesWarm
	}
	at := func(key string) strictyaml.Node {
		v, _ := n.Get(key)
		return v
	}
	if len(f.Run) == 0 {
		return nil, at("run").Errorf("run names no file")
	}
	if v, ok := n.Get("sms"); ok && f.SMs < 1 {
		return nil, v.Errorf("sms must be 1 or more")
	}
	if v, ok := n.Get("cycle_limit"); ok && f.CycleLimit == 0 {
		return nil, v.Errorf("cycle_limit must be 1 or more")
	}
	for i, r := range f.Run {
		p, err := loadRun(name, r)
		if err != nil {
			return nil, at("run").Items[i].Errorf("%s", err)
		}
		if p.Study && (len(f.Grids) > 0 || len(f.BlockSizes) > 0) {
			return nil, at("run").Items[i].Errorf("%s is a study, whose launches stand in the file: grids and block_sizes go with workload files", r)
		}
		s.sources = append(s.sources, p)
	}
	if err := f.checkNames(s, n); err != nil {
		return nil, err
	}
	s.check = func() error { return f.checkOverrides(s) }
	if f.Points != nil {
		err = f.listed(s)
	} else {
		err = f.cartesian(s)
	}
	if err != nil {
		return nil, err
	}
	if len(s.Points) == 0 {
		return nil, n.Errorf("the sweep has no points")
	}
	for i := range s.Points {
		for _, o := range s.Points[i].Overrides {
			if !slices.Contains(s.Axes, o.Key) {
				s.Axes = append(s.Axes, o.Key)
			}
		}
	}
	return s, nil
}

// loadRun reads a run file, relative to the sweep file, or a bundled workload.
func loadRun(sweep, name string) (*workloads.Plan, error) {
	full := name
	if !filepath.IsAbs(name) {
		full = filepath.Join(filepath.Dir(sweep), name)
	}
	st, err := os.Stat(full)
	if (err != nil || st.IsDir()) && slices.Contains(workloads.BundledNames(), name) {
		return workloads.LoadFS(workloads.Bundled(), path.Join(name, "study.yaml"))
	}
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("cannot read %s: %w", full, fs.ErrNotExist)
	}
	return workloads.Load(full)
}

// checkNames checks that every named variant and launch exists in some run file.
func (f *sweepFile) checkNames(s *Sweep, n strictyaml.Node) error {
	var variants, launches []string
	for _, p := range s.sources {
		for _, c := range p.Cases {
			variants = appendNew(appendNew(variants, caseName(c)), c.Entry)
			launches = appendNew(launches, c.Launch)
		}
	}
	for _, k := range []struct {
		key   string
		names []string
		known []string
	}{{"variants", f.Variants, variants}, {"launches", f.Launches, launches}} {
		v, _ := n.Get(k.key)
		for i, name := range k.names {
			if !slices.Contains(k.known, name) {
				return v.Items[i].Errorf("no run file has %q among its %s%s", name, k.key, strictyaml.DidYouMean(name, k.known))
			}
		}
	}
	archs, _ := n.Get("archs")
	for _, a := range archs.Items {
		if _, err := configs.Load(a.Text, nil); err != nil {
			return archError(a.Text, &workloads.Settings{Places: map[string]strictyaml.Place{"arch " + a.Text: a.Place()}}, err)
		}
	}
	if board, ok := n.Get("board"); ok {
		if _, err := configs.LoadBoard(f.Board); err != nil {
			return board.Errorf("%s", err)
		}
	}
	return nil
}

// appendNew appends a name that is not yet in the list.
func appendNew(names []string, name string) []string {
	if name == "" || slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

func (f *sweepFile) archs(p *workloads.Plan) []string {
	if len(f.Archs) > 0 {
		return f.Archs
	}
	return planArchs(p)
}

// cartesian makes all combinations: run files, cases, grids, blocks, seeds, architectures, overrides, the last fastest.
func (f *sweepFile) cartesian(s *Sweep) error {
	rows, err := f.Overrides.rows()
	if err != nil {
		return err
	}
	for i, p := range s.sources {
		archs := f.archs(p)
		for _, c := range f.cases(p) {
			for _, seed := range orZero(f.Seeds) {
				one := seeded(c, seed)
				if len(s.Points)+len(archs)*len(rows) > maxSweep {
					return f.Errorf("the sweep has more than %d points", maxSweep)
				}
				for _, arch := range archs {
					for _, row := range rows {
						s.Points = append(s.Points, SweepPoint{Run: p.Path, Variant: pointVariant(p, one), Launch: one.Launch, Arch: arch, Seed: seed, Overrides: row, plan: i, c: one})
					}
				}
			}
		}
	}
	return nil
}

// cases are the cases of a run file that the sweep asks for, in each of its shapes.
func (f *sweepFile) cases(p *workloads.Plan) []*workloads.Case {
	var out []*workloads.Case
	for _, c := range p.Cases {
		variant := len(f.Variants) == 0 || slices.Contains(f.Variants, caseName(c)) || slices.Contains(f.Variants, c.Entry)
		launch := len(f.Launches) == 0 || slices.Contains(f.Launches, c.Launch)
		if variant && launch {
			out = append(out, f.shapes(c)...)
		}
	}
	return out
}

func orZero(v []uint64) []uint64 {
	if len(v) == 0 {
		return []uint64{0}
	}
	return v
}

// shapes are the case with every grid and block size of the sweep. Its expected output belongs to its own launch.
func (f *sweepFile) shapes(c *workloads.Case) []*workloads.Case {
	grids, blocks := f.Grids, f.BlockSizes
	if len(grids) == 0 && len(blocks) == 0 {
		return []*workloads.Case{c}
	}
	if len(grids) == 0 {
		grids = []workloads.Dim{{Dim3: c.Grid, At: c.At.Grid}}
	}
	if len(blocks) == 0 {
		blocks = []workloads.Dim{{Dim3: c.Block, At: c.At.Block}}
	}
	var out []*workloads.Case
	for _, g := range grids {
		for _, b := range blocks {
			one := *c
			if g.Dim3 != c.Grid || b.Dim3 != c.Block {
				one.Expect, one.Work = nil, 0
			}
			one.Grid, one.Block = g.Dim3, b.Dim3
			one.At.Grid, one.At.Block = g.At, b.At
			one.Launch = strings.TrimSpace(c.Launch + " " + dims(g.Dim3) + "/" + dims(b.Dim3))
			out = append(out, &one)
		}
	}
	return out
}

// seedStride separates the seeds of the buffers of one case from those of the next seed.
const seedStride = 1_000_003

// seeded shifts the seeds of the generated buffers. Other input has other output, so that expectations are dropped.
func seeded(c *workloads.Case, seed uint64) *workloads.Case {
	if seed == 0 {
		return c
	}
	one := *c
	one.Args, one.Expect = slices.Clone(c.Args), nil
	for i := range one.Args {
		if a := &one.Args[i]; a.Buffer == workloads.GenLCG || a.Buffer == workloads.GenRandom {
			a.Seed += seed * seedStride
		}
	}
	return &one
}

// pointVariant names the kernel of a point: the variant, the entry, or the run file's name where it has only one kernel.
func pointVariant(p *workloads.Plan, c *workloads.Case) string {
	if n := caseName(c); n != "" {
		return n
	}
	return p.Name
}

// rows are all combinations of the values, the last key fastest.
func (a sweepAxes) rows() ([][]workloads.Override, error) {
	rows := [][]workloads.Override{nil}
	for _, x := range a {
		if len(rows)*len(x.values) > maxSweep {
			return nil, x.Errorf("the overrides have more than %d combinations", maxSweep)
		}
		var next [][]workloads.Override
		for _, r := range rows {
			for _, v := range x.values {
				next = append(next, append(slices.Clone(r), workloads.Override{Key: x.key, Value: v, Place: x.Place}))
			}
		}
		rows = next
	}
	return rows, nil
}

// listed takes the points one by one; what a point leaves out must be clear from the file.
func (f *sweepFile) listed(s *Sweep) error {
	if len(f.Variants)+len(f.Launches)+len(f.Seeds)+len(f.Overrides)+len(f.Grids)+len(f.BlockSizes) > 0 {
		return f.Errorf("give points, or what to combine (variants, launches, grids, block_sizes, seeds, overrides), not both")
	}
	for _, spec := range f.Points {
		found := false
		var variants, launches []string
		for i, p := range s.sources {
			for _, c := range p.Cases {
				variants, launches = appendNew(variants, caseName(c)), appendNew(launches, c.Launch)
				if spec.Variant != "" && spec.Variant != caseName(c) && spec.Variant != c.Entry || spec.Launch != "" && spec.Launch != c.Launch {
					continue
				}
				found = true
				archs := []string{spec.Arch}
				if spec.Arch == "" {
					archs = f.archs(p)
				}
				one := seeded(c, spec.Seed)
				rows, err := spec.Overrides.rows()
				if err != nil {
					return err
				}
				for _, arch := range archs {
					for _, row := range rows {
						s.Points = append(s.Points, SweepPoint{Run: p.Path, Variant: pointVariant(p, c), Launch: c.Launch, Arch: arch, Seed: spec.Seed, Overrides: row, plan: i, c: one})
					}
				}
			}
		}
		switch {
		case len(s.Points) > maxSweep:
			return spec.Errorf("the sweep has more than %d points", maxSweep)
		case found:
		case spec.Variant != "" && !slices.Contains(variants, spec.Variant):
			return spec.Errorf("no run file has a variant %q%s", spec.Variant, strictyaml.DidYouMean(spec.Variant, variants))
		default:
			return spec.Errorf("no run file has variant %q with launch %q%s", spec.Variant, spec.Launch, strictyaml.DidYouMean(spec.Launch, launches))
		}
	}
	return nil
}
