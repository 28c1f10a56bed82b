package conform

import (
	"fmt"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/sass"
)

// RunListing executes the functions k<id> of a machine-code listing on all vectors, for every accepted form that
// the listing has, and compares the results. Functions that the listing lacks are not counted.
func (s *Set) RunListing(l *sass.Listing) Target {
	r := Target{}
	byName := make(map[string]*sass.Function, len(l.Funcs))
	for _, f := range l.Funcs {
		byName[f.Name] = f
	}
	for i := range s.Forms {
		f := &s.Forms[i]
		fn := byName[fmt.Sprintf("k%d", f.ID)]
		if fn == nil || !f.Accepted {
			continue
		}
		r.count(s.runFunction(l, fn, f))
	}
	return r
}

// RunListing does the same for intrinsics.
func (s *IntrinsicSet) RunListing(l *sass.Listing) Target {
	r := Target{}
	byName := make(map[string]*sass.Function, len(l.Funcs))
	for _, f := range l.Funcs {
		byName[f.Name] = f
	}
	for i := range s.Intrinsics {
		in := &s.Intrinsics[i]
		if fn := byName[fmt.Sprintf("k%d", in.ID)]; fn != nil {
			r.count(s.vectors.runFunction(l, fn, &Form{ID: in.ID, PTX: in.Expr, Result: in.Result, Second: "predicates", Accepted: true}))
		}
	}
	return r
}

func (r *Target) count(rep Report) {
	r.SM = rep.SM
	r.Forms++
	switch rep.Outcome {
	case Equal:
		r.Equal++
	case Listed:
		r.Listed++
	default:
		r.Failed++
		r.Reports = append(r.Reports, rep)
	}
}

// runFunction executes one function of the listing and compares.
func (s *Set) runFunction(l *sass.Listing, fn *sass.Function, f *Form) Report {
	r := Report{Form: f, SM: fn.SM, Outcome: Failed}
	p, err := l.Program(fn, 0)
	if err != nil {
		r.Err = err.Error()
		return r
	}
	r.SM, r.Insts = p.SM, len(p.Insts)
	if b, ok := unseenBank(p); ok {
		r.Outcome, r.Err = Listed, fmt.Sprintf("reads constant bank %d, whose contents a listing does not show", b)
		return r
	}
	d, e, err := s.execute(p, isa.NewTarget(p.SM))
	if err != nil {
		r.Err = err.Error()
		return r
	}
	if r.Diff = s.compare(f, d, e); r.Diff == nil {
		r.Outcome = Equal
	}
	return r
}

// unseenBank finds a constant bank that the program reads and a listing does not contain: the compiler's literal
// pool (bank 2) or module constants (bank 3, 4). Bank 0 is made by the launch.
func unseenBank(p *isa.Program) (bank uint8, ok bool) {
	for i := range p.Insts {
		for _, o := range p.Insts[i].Src[:p.Insts[i].NSrc] {
			if o.Kind == isa.KindConst && o.Bank != 0 && p.ConstBanks[o.Bank] == nil {
				return o.Bank, true
			}
		}
	}
	return 0, false
}
