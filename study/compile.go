package study

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/study/lazy"
	"github.com/sarchlab/smsim/workloads"
)

// compiler holds what the points of a plan share: loaded architectures, parsed files and compiled kernels.
type compiler struct {
	plan     *workloads.Plan
	order    []string // canonical names of the architectures, as given, without repetition
	machines map[string]*machine
	probes   probes

	*Compiled
}

// Compiled are parsed files and compiled kernels, made when they are first needed. Plans that differ in what they simulate,
// not in how kernels are read (semantics, unknown instructions) nor in the numbers of the architectures, can share them:
// a kernel is compiled once for each [workloads.KernelFile], entry and architecture. The zero value is empty.
type Compiled struct {
	sources  lazy.Values[*workloads.KernelFile, *source]
	programs lazy.Values[programKey, *isa.Program]
}

type programKey struct {
	file  *workloads.KernelFile
	entry string
	arch  string
}

func newCompiler(plan *workloads.Plan, archs []string) (*compiler, error) {
	c := &compiler{plan: plan, machines: map[string]*machine{}, Compiled: &Compiled{}}
	for _, name := range archs {
		m, err := loadMachine(name, &plan.Settings)
		if err != nil {
			return nil, err
		}
		if plan.Board != "" && m.board.Arch != m.arch.Name {
			return nil, fmt.Errorf("board %s has %s, not %s", m.board.Name, m.board.Arch, m.arch.Name)
		}
		switch first := c.machines[m.arch.Name]; {
		case first == nil:
			c.order = append(c.order, m.arch.Name)
		case !reflect.DeepEqual(first.arch, m.arch):
			return nil, fmt.Errorf("%s is called %s as another architecture before it is: give it another name (name: in the file)", name, m.arch.Name)
		}
		c.machines[m.arch.Name] = m
	}
	return c, nil
}

// source parses a kernel file once.
func (c *compiler) source(f *workloads.KernelFile) (*source, error) {
	return c.sources.Get(f, func() (*source, error) { return readSource(f) })
}

// kernel is the file of a case's kernel and its name in it.
func (c *compiler) kernel(cs *workloads.Case) (src *source, entry string, err error) {
	if src, err = c.source(cs.Kernel); err != nil {
		return nil, "", err
	}
	entry, err = entryName(src, cs)
	return src, entry, err
}

// program is the machine code of a case on an architecture. A listing's gets the case's parameters. All errors are the
// user's.
func (c *compiler) program(cs *workloads.Case, m *machine) (*isa.Program, error) {
	p, err := c.code(cs, m)
	if err != nil || !cs.Kernel.IsListing() {
		return p, err
	}
	return listedCase(p, cs, m.target)
}

// code is the machine code of a case's kernel on an architecture: lowered once from PTX, or read once from a listing,
// whose static shared memory is -1 where the listing does not say it.
func (c *compiler) code(cs *workloads.Case, m *machine) (*isa.Program, error) {
	src, entry, err := c.kernel(cs)
	if err != nil {
		return nil, err
	}
	key := programKey{cs.Kernel, entry, m.arch.Name}
	return c.programs.Get(key, func() (*isa.Program, error) { return src.program(entry, m.target, c.plan) })
}

// CheckEntry reads the file of a case's kernel and says whether it has the kernel that the case names.
func CheckEntry(cs *workloads.Case) error {
	src, err := readSource(cs.Kernel)
	if err != nil || cs.Entry == "" {
		return err
	}
	_, err = entryName(src, cs)
	return err
}

// entryName resolves the entry of a case: the one it names, or the file's only one.
func entryName(src *source, cs *workloads.Case) (string, error) {
	names := src.entries()
	file := filepath.Base(cs.Kernel.Path)
	switch {
	case len(names) == 0 && src.listing != nil:
		return "", noKernel(cs, "has no function with instructions")
	case len(names) == 0:
		return "", noKernel(cs, "has no kernel (.entry with a body)")
	case cs.Entry == "" && len(names) > 1:
		return "", cs.EntryAt.Errorf("%s has %d kernels; name one (entry in a run file, --kernel on the command line): %s", file, len(names), list(names))
	case cs.Entry == "":
		return names[0], nil
	case !slices.Contains(names, cs.Entry):
		return "", cs.EntryAt.Errorf("%s has no kernel %q%s", file, cs.Entry, strictyaml.DidYouMean(cs.Entry, names))
	}
	return cs.Entry, nil
}

// noKernel is the error for a file without one; the place is that of its name in a run file.
func noKernel(cs *workloads.Case, what string) error {
	if cs.EntryAt.Pos.Line == 0 {
		return fmt.Errorf("%s %s", cs.Kernel.Path, what)
	}
	return cs.EntryAt.Errorf("%s %s", filepath.Base(cs.Kernel.Path), what)
}

// list joins names for a message, cutting long lists.
func list(names []string) string {
	s := ""
	for i, n := range names {
		if i > 0 {
			s += ", "
		}
		if i == 12 {
			return s + fmt.Sprintf("and %d more", len(names)-i)
		}
		s += n
	}
	return s
}

// checkLimits compares a launch with what the architecture allows and the kernel declares; errors name the place of the size.
func checkLimits(cs *workloads.Case, p *isa.Program, a *configs.Arch) error {
	if err := checkBlock(cs, p, a); err != nil {
		return err
	}
	o := &a.Occupancy
	threads := cs.Block.Count()
	yLimit, xLimit := uint32(65535), uint32(1<<31-1)
	if a.SMNumber() < 30 {
		xLimit = 65535
	}
	shared := p.SharedBytes + cs.DynamicShared
	static := o.SharedBlock
	switch {
	case cs.Grid.X > xLimit:
		return cs.GridErrorf("grid size x is %d; %s allows %d", cs.Grid.X, a.Name, xLimit)
	case cs.Grid.Y > yLimit || cs.Grid.Z > yLimit:
		return cs.GridErrorf("grid sizes y and z must be at most %d, not %d and %d", yLimit, cs.Grid.Y, cs.Grid.Z)
	case p.SharedBytes > static:
		return cs.Errorf("kernel %s has %d bytes of static shared memory; %s allows %d a block", p.Name, p.SharedBytes, a.Name, static)
	case shared > max(o.SharedBlockOptin, static):
		return cs.SharedErrorf("a block needs %d bytes of shared memory (%d static, %d dynamic); %s allows %d", shared, p.SharedBytes,
			cs.DynamicShared, a.Name, max(o.SharedBlockOptin, static))
	}
	if r := a.ResidentBlocks(threads, p.Regs, shared); r.Blocks == 0 {
		return cs.BlockErrorf("no block of %d threads with %d registers a thread and %d bytes of shared memory fits on an SM of %s (%s)",
			threads, p.Regs, shared, a.Name, r.Limiter)
	}
	return nil
}

// checkBlock compares the size of a block with what the architecture allows and what the kernel declares.
func checkBlock(cs *workloads.Case, p *isa.Program, a *configs.Arch) error {
	threads := cs.Block.Count()
	switch {
	case threads > a.Occupancy.MaxThreadsBlock:
		return cs.BlockErrorf("a block of %s has %d threads; %s allows %d", dims(cs.Block), threads, a.Name, a.Occupancy.MaxThreadsBlock)
	case cs.Block.Z > 64:
		return cs.BlockErrorf("block size z is %d; the limit is 64", cs.Block.Z)
	}
	return checkDeclared(cs, p)
}

// checkDeclared compares the size of a block with what the kernel declares.
func checkDeclared(cs *workloads.Case, p *isa.Program) error {
	threads := cs.Block.Count()
	switch {
	case p.MaxThreads > 0 && threads > p.MaxThreads:
		return cs.BlockErrorf("a block of %s has %d threads; kernel %s declares at most %d (.maxntid)", dims(cs.Block), threads, p.Name, p.MaxThreads)
	case p.ReqBlock.Count() > 0 && p.ReqBlock != cs.Block:
		return cs.BlockErrorf("kernel %s requires blocks of %s (.reqntid), not %s", p.Name, dims(p.ReqBlock), dims(cs.Block))
	}
	return nil
}

func dims(d isa.Dim3) string {
	switch {
	case d.Z > 1:
		return fmt.Sprintf("%dx%dx%d", d.X, d.Y, d.Z)
	case d.Y > 1:
		return fmt.Sprintf("%dx%d", d.X, d.Y)
	}
	return fmt.Sprint(d.X)
}
