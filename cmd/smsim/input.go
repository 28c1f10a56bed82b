package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

// maxInput bounds an input file.
const maxInput = 256 << 20

// load reads a run file, a PTX file, a machine-code listing or a bundled workload; "-" is standard input.
func (s *settings) load(name string, in io.Reader) (*workloads.Plan, error) {
	if name == "" {
		return nil, usageError{errors.New("the name of the file is empty")}
	}
	if isBundled(name) {
		return inputPlan(workloads.LoadFS(workloads.Bundled(), path.Join(name, "study.yaml")))
	}
	shown, text, err := readInput(name, in)
	if err != nil {
		return nil, err
	}
	if shown, text, err = unpack(shown, text); err != nil {
		return nil, &study.InputError{Err: err}
	}
	text = strictyaml.Trim(text)
	if why := strictyaml.Binary(text); why != "" {
		return nil, &study.InputError{Err: fmt.Errorf("%s: %s; expected YAML, PTX or a machine-code listing (cuobjdump -sass prints that of a binary)", shown, why)}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &study.InputError{Err: fmt.Errorf("%s: the file is empty", shown)}
	}
	if workloads.Recognise(shown, text) != workloads.TextOther {
		return s.bareKernel(shown, text), nil
	}
	return inputPlan(workloads.Decode(shown, text))
}

// readInput reads a file, or standard input for "-", and gives the name to show for it.
func readInput(name string, in io.Reader) (shown string, text []byte, err error) {
	if name == "-" {
		name = "<stdin>"
		text, err = io.ReadAll(io.LimitReader(in, maxInput))
	} else {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return name, nil, &study.InputError{Err: readError(name, err)}
	}
	return name, text, nil
}

// unpack decompresses a gzip file; its name loses ".gz".
func unpack(name string, text []byte) (string, []byte, error) {
	if !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		return name, text, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(z, maxInput+1))
	}
	switch {
	case err != nil:
		return "", nil, fmt.Errorf("cannot unpack %s: %w", name, err)
	case len(text) > maxInput:
		return "", nil, fmt.Errorf("cannot unpack %s: more than %d MiB", name, maxInput>>20)
	}
	return strings.TrimSuffix(name, ".gz"), text, nil
}

func inputPlan(p *workloads.Plan, err error) (*workloads.Plan, error) {
	if err != nil {
		return nil, &study.InputError{Err: err}
	}
	return p, nil
}

// isBundled says that the name is a bundled workload's and no file's.
func isBundled(name string) bool {
	if !slices.Contains(workloads.BundledNames(), name) {
		return false
	}
	st, err := os.Stat(name)
	return err != nil || st.IsDir()
}

// readError is the error for a file that cannot be read, with what may have been meant.
func readError(name string, err error) error {
	if os.IsNotExist(err) {
		return fmt.Errorf("cannot read %s: no such file%s", name, similar(name))
	}
	if pe, ok := err.(*fs.PathError); ok {
		err = pe.Err
	}
	return fmt.Errorf("cannot read %s: %w", name, err)
}

// similar suggests a file of the same directory or a bundled workload.
func similar(name string) string {
	if slices.Contains(workloads.BundledNames(), name) {
		return fmt.Sprintf("; %s is a bundled workload, and a file is wanted here", name)
	}
	var files []string
	if entries, err := os.ReadDir(filepath.Dir(name)); err == nil {
		for _, e := range entries {
			files = append(files, e.Name())
		}
	}
	if n := strictyaml.Nearest(filepath.Base(name), files); n != "" {
		return fmt.Sprintf("; did you mean %s?", filepath.Join(filepath.Dir(name), n))
	}
	if strings.ContainsAny(name, "/\\.") {
		return ""
	}
	meant := ""
	if n := strictyaml.Nearest(name, workloads.BundledNames()); n != "" {
		meant = fmt.Sprintf("; did you mean %s?", n)
	}
	return meant + "; bundled workloads: " + strings.Join(workloads.BundledNames(), ", ")
}

// splitKernel separates FILE:KERNEL; a name that is itself a file or a bundled workload has no kernel, nor has a path on a
// drive (C:\kernel.ptx).
func splitKernel(name string) (file, kernel string) {
	if _, err := os.Stat(name); err == nil || isBundled(name) {
		return name, ""
	}
	if i := strings.LastIndexByte(name, ':'); i > 0 && !strings.ContainsAny(name[i:], "/\\") {
		return name[:i], name[i+1:]
	}
	return name, ""
}

// choose leaves the plan with the kernel or variant that stands behind the file in a name FILE:KERNEL; "" leaves all. Expected
// output belongs to the kernel in the file.
func choose(plan *workloads.Plan, name, kernel string) error {
	switch {
	case kernel == "":
		return nil
	case !plan.Study:
		c := plan.Cases[0]
		if kernel != c.Entry {
			c.Expect = nil
		}
		c.Entry, c.EntryAt = kernel, strictyaml.Place{File: name}
		return nil
	}
	known := plan.Variants()
	plan.Cases = slices.DeleteFunc(plan.Cases, func(c *workloads.Case) bool { return c.Variant != kernel && c.Entry != kernel })
	if len(plan.Cases) == 0 {
		return &study.InputError{Err: fmt.Errorf("%s has no variant or kernel %q%s", plan.Path, kernel, strictyaml.DidYouMean(kernel, known))}
	}
	return nil
}

// bareKernel is the plan of a PTX file or a machine-code listing; applyLaunch fills in the launch.
func (s *settings) bareKernel(name string, text []byte) *workloads.Plan {
	at := strictyaml.Place{File: name}
	return &workloads.Plan{Path: name, Name: strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), Bare: true,
		Settings: workloads.Settings{Check: workloads.CheckAuto, Caches: workloads.CachesWarm},
		Cases:    []*workloads.Case{{Place: at, Kernel: &workloads.KernelFile{Path: name, Text: text}, EntryAt: strictyaml.Place{File: "command line"}}}}
}

// applyLaunch replaces entry, geometry and arguments of the plan's only case. Expected output belongs to the launch in
// the file: it is dropped when the launch changes.
func (s *settings) applyLaunch(plan *workloads.Plan) error {
	c := plan.Cases[0]
	if from, ok := s.origin("launch"); ok {
		return bad(from, fmt.Errorf("%s is not a study and has one launch", plan.Path))
	}
	if from, ok := s.origin("kernel"); ok {
		k := s.list("kernel")
		if len(k) != 1 {
			return bad(from, fmt.Errorf("%s: one kernel of a file runs at a time, %d are named (several variants: of a study)", strings.Join(k, ","), len(k)))
		}
		if k[0] != c.Entry {
			c.Expect = nil
		}
		c.Entry, c.EntryAt = k[0], strictyaml.Place{File: from}
	}
	if err := s.applyGeometry(plan, c); err != nil {
		return err
	}
	if err := s.applyListing(c); err != nil {
		return err
	}
	return s.applyArgs(plan, c)
}

// applyGeometry replaces the sizes of grid, block and dynamic shared memory.
func (s *settings) applyGeometry(plan *workloads.Plan, c *workloads.Case) error {
	for _, d := range []struct {
		key string
		to  *isa.Dim3
		at  *strictyaml.Place
	}{{"grid", &c.Grid, &c.At.Grid}, {"block", &c.Block, &c.At.Block}} {
		from, ok := s.origin(d.key)
		if !ok {
			continue
		}
		v, err := workloads.ParseDim(s.v.GetString(d.key))
		if err != nil {
			return bad(from, err)
		}
		if v != *d.to {
			c.Expect = nil
		}
		*d.to, *d.at = v, strictyaml.Place{File: from}
		if plan.Bare {
			c.Place = strictyaml.Place{File: "command line"}
		}
	}
	if from, ok := s.origin("shared"); ok {
		v := s.v.GetInt("shared")
		if v < 0 {
			return bad(from, fmt.Errorf("%d is negative", v))
		}
		c.DynamicShared, c.At.Shared = v, strictyaml.Place{File: from}
	}
	return nil
}

// launched says that a kernel file, which has no launch of its own, got one. What is wrong with the file itself, or with the name of the
// kernel, is said first.
func launched(plan *workloads.Plan) error {
	c := plan.Cases[0]
	missing := "grid"
	switch {
	case c.Grid.X == 0:
	case c.Block.X == 0:
		missing = "block"
	default:
		return nil
	}
	if err := study.CheckEntry(c); err != nil {
		return &study.InputError{Err: err}
	}
	return usageError{fmt.Errorf("a kernel file needs its launch: --grid, --block and one --arg for each parameter; --%s is missing", missing)}
}

// applyListing sets what a machine-code listing does not tell: static shared memory, words of constant banks, module variables. PTX
// tells them itself and takes none of these settings.
func (s *settings) applyListing(c *workloads.Case) error {
	if from, ok := s.origin("static-shared"); ok {
		v := s.v.GetInt("static-shared")
		switch {
		case v < 0:
			return bad(from, fmt.Errorf("%d is negative", v))
		case !c.Kernel.IsListing() && !s.both:
			return bad(from, fmt.Errorf("%s is PTX, which declares its shared memory; the setting is for machine-code listings", c.Kernel.Path))
		}
		c.StaticShared = v
	}
	if from, ok := s.origin("const"); ok {
		if !c.Kernel.IsListing() && !s.both {
			return bad(from, fmt.Errorf("%s is PTX, which holds its constants; the setting is for machine-code listings", c.Kernel.Path))
		}
		for _, text := range s.list("const") {
			w, err := workloads.ParseConst(text)
			if err != nil {
				return bad(from, err)
			}
			c.Consts = append(c.Consts, w)
		}
	}
	if from, ok := s.origin("module"); ok {
		m, err := s.module(from, s.v.GetString("module"))
		if err != nil {
			return err
		}
		if !c.Kernel.IsListing() && !s.both {
			return bad(from, fmt.Errorf("%s is PTX, which declares its variables; the setting is for machine-code listings", c.Kernel.Path))
		}
		c.Module = m
	}
	return nil
}

// module reads the PTX file with the variables of a listing.
func (s *settings) module(from, name string) (*workloads.KernelFile, error) {
	shown, text, err := readInput(name, nil)
	if err != nil {
		return nil, err
	}
	text = strictyaml.Trim(text)
	if workloads.Recognise(shown, text) != workloads.TextPTX {
		return nil, bad(from, fmt.Errorf("%s is %s, not a PTX file", shown, workloads.Recognise(shown, text)))
	}
	return &workloads.KernelFile{Path: shown, Text: text}, nil
}

func (s *settings) applyArgs(plan *workloads.Plan, c *workloads.Case) error {
	from, ok := s.origin("arg")
	if !ok {
		return nil
	}
	for i, text := range s.list("arg") {
		a, err := workloads.ParseArg(text)
		if err != nil {
			return bad(fmt.Sprintf("%s %d", from, i+1), err)
		}
		a.Place = strictyaml.Place{File: fmt.Sprintf("%s %s", from, text)}
		if plan.Bare {
			c.Args = append(c.Args, a)
			continue
		}
		var names []string
		for _, x := range c.Args {
			names = append(names, x.Name)
		}
		j := slices.Index(names, a.Name)
		if j < 0 || a.Name == "" {
			return bad(from, fmt.Errorf("%q: name the argument of %s that it replaces, as in --arg NAME=...; it has %s", text, plan.Path, strings.Join(names, ", ")))
		}
		c.Args[j], c.Expect = a, nil
	}
	return nil
}
