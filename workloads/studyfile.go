package workloads

import (
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
)

type studyFile struct {
	strictyaml.Place
	Study       string `yaml:"study"`
	Question    string `yaml:"question"`
	settingKeys `yaml:",inline"`
	Kernel      string        `yaml:"kernel,required"`
	XAxis       string        `yaml:"x_axis"`
	WorkUnit    string        `yaml:"work_unit"`
	Args        []Arg         `yaml:"args"`
	Variants    []variantSpec `yaml:"variants,required"`
	Launches    []studyLaunch `yaml:"launches,required"`
	Compare     []Comparison  `yaml:"compare"`
}

type variantSpec struct {
	strictyaml.Place
	Name  string   `yaml:"name,required"`
	Entry string   `yaml:"entry,required"`
	Group string   `yaml:"group"`
	X     *float64 `yaml:"x"`
	// Params names the study's arguments that the entry takes, in parameter order; left out: all of them.
	Params []string     `yaml:"params"`
	Args   argOverrides `yaml:"args"`
}

type studyLaunch struct {
	strictyaml.Place
	Name     string `yaml:"name,required"`
	Title    string `yaml:"title"`
	caseSpec `yaml:",inline"`
	Cases    []launchCase `yaml:"cases"`
}

// launchCase refines a launch for some of the variants; what it leaves out comes from the launch.
type launchCase struct {
	strictyaml.Place
	Variants []string `yaml:"variants,required"`
	caseSpec `yaml:",inline"`
}

type caseSpec struct {
	Grid          *Dim         `yaml:"grid"`
	Block         *Dim         `yaml:"block"`
	DynamicShared *size        `yaml:"dynamic_shared"`
	Args          argOverrides `yaml:"args"`
	Work          *float64     `yaml:"work"`
	Expect        []Expect     `yaml:"expect"`
}

// argOverrides changes arguments of the base list by name: a number replaces a scalar,
// a mapping changes fields of a buffer.
type argOverrides struct{ pairs []strictyaml.Pair }

// UnmarshalNode keeps the entries; they are applied when the base list is known.
func (o *argOverrides) UnmarshalNode(n strictyaml.Node) error {
	if n.Kind != strictyaml.Mapping {
		return n.Errorf("here args is a mapping from argument names to values, such as {rows: 13, img: {words: 4096}}")
	}
	o.pairs = n.Pairs
	return nil
}

// apply changes the arguments of one case. An argument of the base list that the case does not take is skipped.
func (o argOverrides) apply(args, base []Arg) error {
	for _, p := range o.pairs {
		named := func(a Arg) bool { return a.Name == p.Key && a.Name != "" }
		i := slices.IndexFunc(args, named)
		if i < 0 && slices.ContainsFunc(base, named) {
			continue
		}
		if i < 0 {
			return p.Value.ErrorAt(p.At, "no argument is named %q%s", p.Key, strictyaml.DidYouMean(p.Key, argNames(base)))
		}
		a := &args[i]
		switch {
		case a.IsBuffer() && p.Value.Kind == strictyaml.Mapping:
			for _, q := range p.Value.Pairs {
				if q.Key == "name" {
					return p.Value.ErrorAt(q.At, "an argument cannot be renamed here")
				}
				if err := a.setField(p.Value, q); err != nil {
					return err
				}
			}
		case a.IsBuffer():
			return p.Value.Errorf("%s is changed with a mapping, such as {words: 4096}", a.What())
		default:
			raw, err := scalarNode(a.Type, p.Value)
			if err != nil {
				return err
			}
			a.Raw = raw
		}
		a.Place = p.Value.PlaceAt(p.At)
	}
	return nil
}

func argNames(args []Arg) []string {
	var names []string
	for _, a := range args {
		if a.Name != "" {
			names = append(names, a.Name)
		}
	}
	return names
}

// arguments are the base arguments that the variant's entry takes.
func (f *studyFile) arguments(v variantSpec) []Arg {
	if v.Params == nil {
		return slices.Clone(f.Args)
	}
	out := make([]Arg, len(v.Params))
	for i, name := range v.Params {
		out[i] = f.Args[slices.IndexFunc(f.Args, func(a Arg) bool { return a.Name == name })]
	}
	return out
}

// over gives the spec with what it leaves out taken from the base. Argument overrides are not merged.
func (s caseSpec) over(base caseSpec) caseSpec {
	if s.Grid == nil {
		s.Grid = base.Grid
	}
	if s.Block == nil {
		s.Block = base.Block
	}
	if s.DynamicShared == nil {
		s.DynamicShared = base.DynamicShared
	}
	if s.Work == nil {
		s.Work = base.Work
	}
	if s.Expect == nil {
		s.Expect = base.Expect
	}
	return s
}

func decodeStudy(name string, n strictyaml.Node, r reader) (*Plan, error) {
	var f studyFile
	if err := n.Decode(&f); err != nil {
		return nil, err
	}
	s, err := f.settings(n)
	if err != nil {
		return nil, err
	}
	kernelNode, _ := n.Get("kernel")
	kernel, err := r.kernel(kernelNode.Place(), f.Kernel)
	if err != nil {
		return nil, err
	}
	p := &Plan{Study: true, Path: name, Name: f.Study, Question: strings.TrimSpace(f.Question), Settings: s,
		Compare: f.Compare, XAxis: f.XAxis, WorkUnit: f.WorkUnit}
	if p.Name == "" {
		p.Name = path.Base(path.Dir(filepath.ToSlash(name)))
	}
	if err := f.validate(n); err != nil {
		return nil, err
	}
	for _, l := range f.Launches {
		for _, v := range f.Variants {
			c, err := f.resolve(v, l)
			if err != nil {
				return nil, err
			}
			if c.Kernel = kernel; v.Params == nil {
				c.ArgsAt = keyPlace(n, "args")
			}
			p.Cases = append(p.Cases, c)
		}
	}
	return p, p.finish(r)
}

func (f *studyFile) resolve(v variantSpec, l studyLaunch) (*Case, error) {
	c := &Case{Place: l.Place, Variant: v.Name, Launch: l.Name, Title: l.Title, Group: v.Group, Entry: v.Entry, EntryAt: v.Place, ArgsAt: v.Place}
	if v.X != nil {
		c.X, c.HasX = *v.X, true
		if math.IsInf(c.X, 0) || math.IsNaN(c.X) {
			return nil, v.Errorf("x of variant %q is %v; it must be a finite number", v.Name, c.X)
		}
	}
	c.Args = f.arguments(v)
	spec, steps := l.caseSpec, []argOverrides{v.Args, l.Args}
	for _, lc := range l.Cases {
		if slices.Contains(lc.Variants, v.Name) {
			spec = lc.over(l.caseSpec)
			steps = append(steps, lc.Args)
			c.Place = lc.Place
		}
	}
	for _, s := range steps {
		if err := s.apply(c.Args, f.Args); err != nil {
			return nil, err
		}
	}
	if spec.Grid == nil || spec.Block == nil {
		return nil, c.Errorf("launch %q needs grid and block for variant %q", l.Name, v.Name)
	}
	c.Grid, c.Block = spec.Grid.Dim3, spec.Block.Dim3
	c.At.Grid, c.At.Block = spec.Grid.At, spec.Block.At
	if spec.DynamicShared != nil {
		c.DynamicShared, c.At.Shared = spec.DynamicShared.Bytes, spec.DynamicShared.At
	}
	if spec.Work != nil {
		c.Work = *spec.Work
		if !(c.Work > 0) || math.IsInf(c.Work, 0) {
			return nil, c.Errorf("work must be a finite number greater than 0")
		}
	}
	c.Expect = slices.Clone(spec.Expect)
	return c, nil
}

// uniqueNames reports the second of two arguments with one name.
func uniqueNames(args []Arg) error {
	seen := map[string]bool{}
	for _, a := range args {
		if a.Name != "" && seen[a.Name] {
			return a.Errorf("a second argument is named %q", a.Name)
		}
		seen[a.Name] = true
	}
	return nil
}

func (f *studyFile) validate(n strictyaml.Node) error {
	for _, key := range []string{"variants", "launches"} {
		if v, _ := n.Get(key); len(v.Items) == 0 {
			return v.Errorf("%s is empty", key)
		}
	}
	var names, launches []string
	args := argNames(f.Args)
	for _, v := range f.Variants {
		for _, p := range v.Params {
			if !slices.Contains(args, p) {
				return v.Errorf("no argument is named %q%s", p, strictyaml.DidYouMean(p, args))
			}
		}
		if slices.Contains(names, v.Name) {
			return v.Errorf("a second variant is named %q", v.Name)
		}
		names = append(names, v.Name)
	}
	if err := uniqueNames(f.Args); err != nil {
		return err
	}
	for _, l := range f.Launches {
		if slices.Contains(launches, l.Name) {
			return l.Errorf("a second launch is named %q", l.Name)
		}
		launches = append(launches, l.Name)
		seen := map[string]bool{}
		for _, c := range l.Cases {
			for _, v := range c.Variants {
				if !slices.Contains(names, v) {
					return c.Errorf("no variant is named %q%s", v, strictyaml.DidYouMean(v, names))
				}
				if seen[v] {
					return c.Errorf("launch %q has two cases for variant %q", l.Name, v)
				}
				seen[v] = true
			}
		}
	}
	for _, c := range f.Compare {
		for _, v := range []string{c.Baseline, c.Variant} {
			if !slices.Contains(names, v) {
				return c.Errorf("no variant is named %q%s", v, strictyaml.DidYouMean(v, names))
			}
		}
		if c.Baseline == c.Variant {
			return c.Errorf("variant %q is compared with itself", c.Variant)
		}
	}
	return nil
}
