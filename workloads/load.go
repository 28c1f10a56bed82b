package workloads

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
)

// reader opens the files that a run file names, relative to it.
type reader struct {
	dir  string
	read func(name string) ([]byte, error)
	join func(elem ...string) string
}

func (r reader) file(at strictyaml.Place, name string) (full string, text []byte, err error) {
	full = name
	if !filepath.IsAbs(name) {
		full = r.join(r.dir, name)
	}
	text, err = r.read(full)
	if err != nil {
		return full, nil, at.Errorf("cannot read %s: %s", full, cause(err))
	}
	return full, text, nil
}

// kernel is a file with PTX or machine code.
func (r reader) kernel(at strictyaml.Place, name string) (*KernelFile, error) {
	full, text, err := r.file(at, name)
	if err != nil {
		return nil, err
	}
	text = strictyaml.Trim(text)
	if why := strictyaml.Binary(text); why != "" {
		return nil, at.Errorf("%s: %s; expected PTX or a machine-code listing (cuobjdump -sass prints that of a binary)", full, why)
	}
	return &KernelFile{full, text}, nil
}

// cause is the reason of a file error without operation and path.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		if errors.Is(pe.Err, fs.ErrNotExist) {
			return "no such file"
		}
		return pe.Err.Error()
	}
	return err.Error()
}

// Load reads a workload or study file from disk.
func Load(name string) (*Plan, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %s", name, cause(err))
	}
	return Decode(name, text)
}

// Decode reads the text of a workload or study file; name is used in messages and to find the files it names on disk.
func Decode(name string, text []byte) (*Plan, error) {
	return decode(name, text, reader{filepath.Dir(name), os.ReadFile, filepath.Join})
}

// LoadFS reads a workload or study file from a file system, such as [Bundled].
func LoadFS(fsys fs.FS, name string) (*Plan, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %s", name, cause(err))
	}
	read := func(name string) ([]byte, error) { return fs.ReadFile(fsys, name) }
	return decode(name, text, reader{path.Dir(name), read, path.Join})
}

// settingKeys are the keys that workload and study files share.
type settingKeys struct {
	Arch       string    `yaml:"arch"`
	Archs      []string  `yaml:"archs"`
	Board      string    `yaml:"board"`
	SMs        int       `yaml:"sms"`
	Blocks     Blocks    `yaml:"blocks"`
	Check      CheckMode `yaml:"check"`
	Overrides  Overrides `yaml:"overrides"`
	Outputs    Outputs   `yaml:"outputs"`
	Caches     Caches    `yaml:"caches"`
	CycleLimit uint64    `yaml:"cycle_limit"`
}

// Formats are the output formats.
var formats = []string{"text", "json", "csv"}

// ParseFormat checks the name of an output format.
func ParseFormat(s string) (string, error) {
	if !slices.Contains(formats, s) {
		return "", fmt.Errorf("unknown format %q%s", s, strictyaml.DidYouMean(s, formats))
	}
	return s, nil
}

func (k settingKeys) settings(n strictyaml.Node) (Settings, error) {
	at := func(key string) strictyaml.Node {
		v, _ := n.Get(key)
		return v
	}
	s := Settings{Archs: k.Archs, Board: k.Board, SMs: k.SMs, Blocks: k.Blocks, Check: k.Check,
		Overrides: k.Overrides, Outputs: k.Outputs, Caches: k.Caches, CycleLimit: k.CycleLimit}
	if k.Arch != "" {
		if len(k.Archs) > 0 {
			return s, at("archs").Errorf("give arch or archs, not both")
		}
		s.Archs = []string{k.Arch}
	}
	if s.Check == "" {
		s.Check = CheckAuto
	}
	if s.Caches == "" {
		s.Caches = CachesWarm
	}
	if v, ok := n.Get("sms"); ok && k.SMs < 1 {
		return s, v.Errorf("sms must be 1 or more")
	}
	if v, ok := n.Get("cycle_limit"); ok && k.CycleLimit == 0 {
		return s, v.Errorf("cycle_limit must be 1 or more")
	}
	s.Places = map[string]strictyaml.Place{"board": keyPlace(n, "board"), "blocks": keyPlace(n, "blocks")}
	if v, ok := n.Get("arch"); ok {
		s.Places["arch "+k.Arch] = v.Place()
	}
	for _, v := range at("archs").Items {
		s.Places["arch "+v.Text] = v.Place()
	}
	if v, ok := n.Get("archs"); ok && len(k.Archs) == 0 {
		return s, v.Errorf("the list of architectures is empty")
	}
	for i, f := range k.Outputs.Formats {
		if _, err := ParseFormat(f); err != nil {
			formats, _ := at("outputs").Get("formats")
			return s, formats.Items[i].Errorf("%s", err)
		}
	}
	return s, nil
}

// keyPlace is where the value of a key stands; zero if the mapping lacks the key.
func keyPlace(n strictyaml.Node, key string) strictyaml.Place {
	v, ok := n.Get(key)
	if !ok {
		return strictyaml.Place{}
	}
	return v.Place()
}

func decode(name string, text []byte, r reader) (*Plan, error) {
	if kind := Recognise(name, text); kind != TextOther {
		return nil, fmt.Errorf("%s is %s, which has no launch; write a workload file for it: kernel: {file: %s}, launch: {grid: ..., block: ...} and args",
			name, kind, path.Base(filepath.ToSlash(name)))
	}
	n, err := strictyaml.Parse(name, text)
	if err != nil {
		return nil, err
	}
	if n.Kind != strictyaml.Mapping {
		return nil, n.Errorf("expected a workload or study file: a mapping with kernel and launch, or with variants and launches")
	}
	for _, other := range []string{"sweep", "gainmap"} {
		if _, ok := n.Get(other); ok {
			return nil, n.Errorf("this is no workload or study file but one for smsim %s", other)
		}
	}
	if isStudy(n) {
		return decodeStudy(name, n, r)
	}
	return decodeWorkload(name, n, r)
}

// isStudy tells the two kinds of files apart: a study has at least one of these keys.
func isStudy(n strictyaml.Node) bool {
	return slices.ContainsFunc(n.Pairs, func(p strictyaml.Pair) bool {
		return slices.Contains([]string{"study", "question", "variants", "launches", "compare"}, p.Key)
	})
}

// launchSpec is the geometry of a launch.
type launchSpec struct {
	Grid          Dim  `yaml:"grid,required"`
	Block         Dim  `yaml:"block,required"`
	DynamicShared size `yaml:"dynamic_shared"`
}

type workloadFile struct {
	strictyaml.Place
	Workload    string `yaml:"workload"`
	About       string `yaml:"about"`
	settingKeys `yaml:",inline"`
	Kernel      struct {
		strictyaml.Place
		File   string   `yaml:"file,required"`
		Entry  string   `yaml:"entry"`
		Module string   `yaml:"module"` // PTX that declares the module variables of a listing
		Const  []string `yaml:"const"`  // BANK:OFFSET=WORD,... of a listing
	} `yaml:"kernel,required"`
	Launch launchSpec `yaml:"launch,required"`
	Args   []Arg      `yaml:"args"`
	Expect []Expect   `yaml:"expect"`
}

func decodeWorkload(name string, n strictyaml.Node, r reader) (*Plan, error) {
	var f workloadFile
	if err := n.Decode(&f); err != nil {
		return nil, err
	}
	s, err := f.settings(n)
	if err != nil {
		return nil, err
	}
	if err := uniqueNames(f.Args); err != nil {
		return nil, err
	}
	kernel, err := r.kernel(f.Kernel.Place, f.Kernel.File)
	if err != nil {
		return nil, err
	}
	c := &Case{Place: f.Place, Kernel: kernel, Entry: f.Kernel.Entry, EntryAt: f.Kernel.Place,
		Grid: f.Launch.Grid.Dim3, Block: f.Launch.Block.Dim3, DynamicShared: f.Launch.DynamicShared.Bytes,
		At:   LaunchPlaces{f.Launch.Grid.At, f.Launch.Block.At, f.Launch.DynamicShared.At},
		Args: f.Args, ArgsAt: keyPlace(n, "args"), Expect: f.Expect}
	if err := f.listingData(c, r); err != nil {
		return nil, err
	}
	p := &Plan{Path: name, Name: f.Workload, Question: f.About, Settings: s, Cases: []*Case{c}}
	if p.Name == "" {
		p.Name = strings.TrimSuffix(path.Base(filepath.ToSlash(name)), path.Ext(name))
	}
	return p, p.finish(r)
}

// listingData is what the file says of the constants and variables of a listing.
func (f *workloadFile) listingData(c *Case, r reader) error {
	k := &f.Kernel
	if !c.Kernel.IsListing() && (k.Module != "" || len(k.Const) > 0) {
		return k.Errorf("%s is PTX, which holds its variables and constants; module and const are for machine-code listings", c.Kernel.Path)
	}
	if k.Module != "" {
		m, err := r.kernel(k.Place, k.Module)
		if err != nil {
			return err
		}
		c.Module = m
	}
	for _, text := range k.Const {
		w, err := ParseConst(text)
		if err != nil {
			return k.Errorf("const: %s", err)
		}
		c.Consts = append(c.Consts, w)
	}
	return nil
}

// finish reads the files that arguments and expectations name and validates every case.
func (p *Plan) finish(r reader) error {
	sums := map[string]map[int]*Checksum{} // files read
	for _, c := range p.Cases {
		for i := range c.Args {
			if err := c.Args[i].finish(r); err != nil {
				return err
			}
		}
		for i := range c.Expect {
			e := &c.Expect[i]
			if e.BlocksFile != "" {
				if len(e.Blocks) > 0 {
					return e.Errorf("give blocks or blocks_file, not both")
				}
				full, text, err := r.file(e.Place, e.BlocksFile)
				if err != nil {
					return err
				}
				if sums[full] == nil {
					if sums[full], err = readChecksums(full, text); err != nil {
						return err
					}
				}
				e.Blocks = sums[full]
			}
			if e.File != "" {
				var err error
				if _, e.Content, err = r.file(e.Place, e.File); err != nil {
					return err
				}
			}
			if err := e.validate(c.Args); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *Arg) finish(r reader) error {
	if !a.IsBuffer() {
		return nil
	}
	if a.Buffer == GenFile && a.Data == nil {
		if a.Path == "" {
			return a.Errorf("buffer: file needs path")
		}
		var err error
		if _, a.Data, err = r.file(a.Place, a.Path); err != nil {
			return err
		}
		switch {
		case a.Bytes == 0 && len(a.Data) == 0:
			return a.Errorf("file %s is empty", a.Path)
		case a.Bytes == 0:
			a.Bytes = uint64(len(a.Data))
		case uint64(len(a.Data)) > a.Bytes:
			a.Data = a.Data[:a.Bytes]
		}
	}
	if a.Bytes == 0 {
		return a.Errorf("%s needs a size: words or bytes", a.What())
	}
	return nil
}
