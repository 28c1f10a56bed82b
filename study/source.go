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
func (s *source) program(entry string, t *isa.Target, assume bool) (*isa.Program, error) {
	if s.listing == nil {
		return lower.Compile(s.module, entry, t, lower.Options{})
	}
	var best *sass.Function
	var have []string
	for _, f := range s.listing.Funcs {
		if f.Name != entry || len(f.Insts) == 0 {
			continue
		}
		have = append(have, fmt.Sprintf("sm_%d", f.SM))
		if (f.SM == 0 || f.SM/10 == t.SM/10 && f.SM <= t.SM) && (best == nil || f.SM > best.SM) {
			best = f
		}
	}
	if best == nil {
		return nil, fmt.Errorf("%s: function %s is machine code for %s, which %s does not run: choose --arch %s, or leave --arch out",
			s.listing.File, entry, strings.Join(have, ", "), t.Name, have[0])
	}
	p, err := s.listing.Read(best, sass.Options{SM: t.SM, AssumeUnknown: assume})
	if err != nil {
		return nil, err
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

// planArchs are the architectures of a plan that names none: those that its listings are for, else the default.
func planArchs(plan *workloads.Plan) []string {
	for _, c := range plan.Cases {
		if c.Kernel.IsListing() {
			return defaultArchs(c.Kernel)
		}
	}
	return []string{DefaultArch}
}

// defaultArchs is the target of the file's first function, if it is a listing that names it.
func defaultArchs(f *workloads.KernelFile) []string {
	if f.IsListing() {
		if l, err := sass.Read(f.Path, f.Text); err == nil && l.Funcs[0].SM > 0 {
			return []string{fmt.Sprintf("sm_%d", l.Funcs[0].SM)}
		}
	}
	return []string{DefaultArch}
}
