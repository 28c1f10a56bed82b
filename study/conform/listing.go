package conform

import (
	"fmt"
	"sort"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/sass"
)

// RunListing executes the functions k<id> of a machine-code listing on all vectors, for every accepted form that
// the listing has, and compares the results. Functions that the listing lacks are not counted. A listing with functions
// for several targets gives a result for the first.
func (s *Set) RunListing(l *sass.Listing) Target { return first(s.RunListings(l, Options{})) }

// RunListings does the same for each target of the listing, in order of appearance.
func (s *Set) RunListings(l *sass.Listing, opt Options) []Target {
	var forms []*Form
	for i := range s.Forms {
		if s.Forms[i].Accepted {
			forms = append(forms, &s.Forms[i])
		}
	}
	return s.runFunctions(l, forms, opt)
}

// RunListing does the same for intrinsics.
func (s *IntrinsicSet) RunListing(l *sass.Listing) Target { return first(s.RunListings(l, Options{})) }

// RunListings does the same for each target of the listing, in order of appearance.
func (s *IntrinsicSet) RunListings(l *sass.Listing, opt Options) []Target {
	var forms []*Form
	for i := range s.Intrinsics {
		forms = append(forms, s.Intrinsics[i].form())
	}
	return s.vectors.runFunctions(l, forms, opt)
}

func first(ts []Target) Target {
	if len(ts) == 0 {
		return Target{}
	}
	return ts[0]
}

// runFunctions runs the functions of the forms, target by target.
func (s *Set) runFunctions(l *sass.Listing, forms []*Form, opt Options) []Target {
	type job struct {
		fn   *sass.Function
		form *Form
	}
	byName := make(map[string]*Form, len(forms))
	for _, f := range forms {
		byName[fmt.Sprintf("k%d", f.ID)] = f
	}
	var jobs []job
	for _, fn := range l.Funcs {
		if f := byName[fn.Name]; f != nil {
			jobs = append(jobs, job{fn, f})
		}
	}
	sort.SliceStable(jobs, func(i, j int) bool { return jobs[i].form.ID < jobs[j].form.ID })
	reps := make([]Report, len(jobs))
	opt.each(len(jobs), func(i int) { reps[i] = s.runFunction(l, jobs[i].fn, jobs[i].form) })
	var out []Target
	at := map[int]int{}
	for _, fn := range l.Funcs {
		if _, ok := at[fn.SM]; !ok && byName[fn.Name] != nil {
			at[fn.SM] = len(out)
			out = append(out, Target{SM: fn.SM})
		}
	}
	for i, r := range reps {
		out[at[jobs[i].fn.SM]].count(r)
	}
	return out
}

func (r *Target) count(rep Report) {
	r.SM = rep.SM
	r.Forms++
	switch rep.Outcome {
	case Equal:
		r.Equal++
		if !rep.Form.Accepted {
			r.Refused++
		}
	case Listed:
		r.Listed++
		r.Known = append(r.Known, rep)
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
