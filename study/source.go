package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/workloads"
)

// source is a parsed kernel file: a PTX module or a machine-code listing.
type source struct {
	module  *ptx.Module
	listing *sass.Listing
}

func readSource(f *workloads.KernelFile) (*source, error) {
	if f.IsListing() {
		l, err := sass.Read(f.Path, f.Text)
		return &source{listing: l}, err
	}
	m, err := ptx.Parse(f.Path, f.Text)
	return &source{module: m}, err
}

// entries are the names of the file's kernels, each once: a listing can have a function for several targets.
func (s *source) entries() []string {
	var names []string
	if s.listing != nil {
		for _, f := range s.listing.Funcs {
			if len(f.Insts) > 0 && !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
		return names
	}
	for _, f := range s.module.Entries() {
		names = append(names, f.Name)
	}
	return names
}

// program lowers a kernel, or reads it from the listing: the function for exactly the target, else for an older target
// of the same major version, whose code the target runs. A listing that does not name its target is for the one asked for.
func (s *source) program(entry string, t *isa.Target, plan *workloads.Plan) (*isa.Program, error) {
	if s.listing == nil {
		return lower.Compile(s.module, entry, t, lower.Options{Semantics: plan.Semantics})
	}
	var best *sass.Function
	var have []string
	for _, f := range s.listing.Funcs {
		if f.Name != entry || len(f.Insts) == 0 {
			continue
		}
		have = append(have, fmt.Sprintf("sm_%d", f.SM))
		if best != nil && best.SM == f.SM {
			return nil, fmt.Errorf("%s:%d:1: function %s stands twice for %s, first on line %d: leave one of them",
				s.listing.File, f.Line, entry, have[len(have)-1], best.Line)
		}
		if (f.SM == 0 || f.SM/10 == t.SM/10 && f.SM <= t.SM) && (best == nil || f.SM > best.SM) {
			best = f
		}
	}
	if best == nil {
		return nil, fmt.Errorf("%s: function %s is machine code for %s, which %s does not run: choose --arch %s, or leave --arch out",
			s.listing.File, entry, strings.Join(have, ", "), t.Name, have[0])
	}
	p, err := s.listing.Read(best, sass.Options{SM: t.SM, AssumeUnknown: plan.AssumeUnknown})
	if err != nil {
		return nil, err
	}
	if best.SM == 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("the listing does not say for which target it is (\"code for sm_NN\"): read as code for %s; --arch names another", t.Name))
	}
	if p.SM != t.SM {
		p.Notes = append(p.Notes, fmt.Sprintf("machine code for sm_%d, run on %s", p.SM, t.Name))
	}
	if p.Control == isa.ControlComputed {
		if err := lower.AddControl(p, t); err != nil {
			return nil, err
		}
		if t.HasControl {
			p.Notes = append(p.Notes, "the listing has no control information for all instructions: computed from the target's latencies")
		}
	}
	return p, nil
}

// planArchs are the architectures of a plan: those that it names, else those that its listings are for, else the default.
func planArchs(plan *workloads.Plan) []string {
	if len(plan.Archs) > 0 {
		return plan.Archs
	}
	for _, c := range plan.Cases {
		if c.Kernel.IsListing() {
			return defaultArchs(c.Kernel)
		}
	}
	return []string{DefaultArch}
}

// defaultArchs is the target of the file's first function, if it is a listing that names it.
func defaultArchs(f *workloads.KernelFile) []string { return listedArchs(f)[:1] }

// listedArchs are the targets of a listing's functions, in its order, each once; the default for PTX and where the listing
// names none.
func listedArchs(f *workloads.KernelFile) []string {
	var archs []string
	if f.IsListing() {
		if l, err := sass.Read(f.Path, f.Text); err == nil {
			for _, fn := range l.Funcs {
				if a := fmt.Sprintf("sm_%d", fn.SM); fn.SM > 0 && !slices.Contains(archs, a) {
					archs = append(archs, a)
				}
			}
		}
	}
	if len(archs) == 0 {
		archs = []string{DefaultArch}
	}
	return archs
}

// listedFor says that a listing has the function for the target, or for one that it does not name.
func (s *source) listedFor(entry string, sm int) bool {
	return slices.ContainsFunc(s.listing.Funcs, func(f *sass.Function) bool {
		return f.Name == entry && len(f.Insts) > 0 && (f.SM == sm || f.SM == 0)
	})
}
