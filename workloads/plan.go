// Package workloads holds what is run: kernel files, launches, arguments, expected results. It reads workload and
// study files (docs/workloads.md), builds the memory and parameters of a launch and checks its output.
// It knows nothing of timing. The bundled workloads are embedded, see [Bundled].
package workloads

import (
	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
)

// Plan is a run file with everything resolved: what to run, on what, what to expect, what to write.
// A workload file gives one case; a study file one per variant and launch.
type Plan struct {
	Study    bool
	Bare     bool   // made from a PTX file and flags, without a run file
	Path     string // the run file, "" if the plan comes from flags alone
	Name     string
	Question string // a study's question, a workload's description

	Settings
	Cases []*Case

	Compare  []Comparison
	XAxis    string // what Case.X counts: "output columns a thread"
	WorkUnit string // what Case.Work counts: "byte products"
}

// Settings are the choices that flags and environment can replace.
type Settings struct {
	Archs      []string // "sm_90"; empty: the default of the command
	Board      string   // key of the boards; empty: each architecture's own
	SMs        int      // SMs that share the grid; 0: the board's
	Blocks     Blocks
	Check      CheckMode
	Overrides  Overrides
	Outputs    Outputs
	Caches     Caches
	CycleLimit uint64 // 0: the command's default
	// Places are where a run file gives "board", "blocks" and "arch NAME", for messages; a setting from elsewhere has none.
	Places map[string]strictyaml.Place
	// AssumeUnknown lets machine-code listings have unknown instructions: they get a class by their name and no effect.
	AssumeUnknown bool
	// Semantics of PTX instructions for which GPUs and the PTX document differ.
	Semantics lower.Semantics
}

// Case is one kernel with one launch: everything but the architecture.
type Case struct {
	strictyaml.Place // of the variant or launch, for messages

	Variant string // name of the variant, "" in a workload file
	Launch  string // name of the launch
	Title   string // what the launch stands for: "one warp a scheduler"
	Group   string // series in tables and plots: "imad", "dp4a"
	X       float64
	HasX    bool // X is given

	Kernel  *KernelFile
	Entry   string // "" for the file's only entry
	EntryAt strictyaml.Place

	Grid, Block   isa.Dim3
	At            LaunchPlaces
	DynamicShared int          // bytes
	StaticShared  int          // bytes of static shared memory of a listing that does not say; 0: found from what the code touches
	Consts        []ConstWords // contents of constant banks that a listing does not show
	Module        *KernelFile  // PTX with the module variables of a listing; nil: none given
	Args          []Arg
	ArgsAt        strictyaml.Place // of the list of arguments; zero: none is written down
	Expect        []Expect
	Work          float64 // units of work of the whole grid; 0: not given
}

// LaunchPlaces says where the sizes of a launch stand, for messages; a zero place is the case's.
type LaunchPlaces struct{ Grid, Block, Shared strictyaml.Place }

// GridErrorf is an error about the grid, at its place.
func (c *Case) GridErrorf(format string, args ...any) error {
	return c.errorAt(c.At.Grid, format, args...)
}

// BlockErrorf is an error about the size of a block, at its place.
func (c *Case) BlockErrorf(format string, args ...any) error {
	return c.errorAt(c.At.Block, format, args...)
}

// SharedErrorf is an error about dynamic shared memory, at its place.
func (c *Case) SharedErrorf(format string, args ...any) error {
	return c.errorAt(c.At.Shared, format, args...)
}

func (c *Case) errorAt(at strictyaml.Place, format string, args ...any) error {
	if at.IsZero() {
		at = c.Place
	}
	return at.Errorf(format, args...)
}

// KernelFile is the PTX text or machine-code listing of one or more cases.
type KernelFile struct {
	Path string // for messages and results
	Text []byte
}

// Comparison is a pair of variants whose speed-up a study reports.
type Comparison struct {
	strictyaml.Place `yaml:"-"`
	Baseline         string `yaml:"baseline,required"`
	Variant          string `yaml:"variant,required"`
	Label            string `yaml:"label"` // "1 column"
}

// Variants lists the names of the plan's variants in order of appearance.
func (p *Plan) Variants() []string { return p.distinct(func(c *Case) string { return c.Variant }) }

// Launches lists the names of the plan's launches in order of appearance.
func (p *Plan) Launches() []string { return p.distinct(func(c *Case) string { return c.Launch }) }

func (p *Plan) distinct(of func(*Case) string) []string {
	var out []string
	seen := map[string]bool{}
	for _, c := range p.Cases {
		if n := of(c); !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
