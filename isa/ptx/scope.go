package ptx

import (
	"sort"
	"strconv"
	"strings"
)

// scope holds the names of the module or of one block. Labels and targets of a block are known from its start,
// variables from their declaration on, as in PTX.
type scope struct {
	outer  *scope
	block  *Block          // nil for the module
	names  map[string]*Var // single names
	ranges map[string]*Var // the widest %r<N> of each base name
	labels map[string]Pos
	lists  map[string]Stmt // *Targets and *Prototype by label
	funcs  map[string]*Func
}

func newScope(outer *scope, b *Block) *scope {
	return &scope{outer: outer, block: b, names: map[string]*Var{}, ranges: map[string]*Var{}}
}

// moduleScope collects the variables and functions of a module.
func moduleScope(m *Module) *scope {
	s := newScope(nil, nil)
	s.funcs = make(map[string]*Func, len(m.Funcs))
	for _, v := range m.Vars {
		s.add(v)
	}
	for _, f := range m.Funcs {
		if old := s.funcs[f.Name]; old == nil || old.Body == nil {
			s.funcs[f.Name] = f
		}
	}
	for _, a := range m.Aliases {
		if f := s.funcs[a.Target]; f != nil {
			s.funcs[a.Name] = f
		}
	}
	return s
}

// add declares a variable and returns the one it clashes with. Real compilers repeat register ranges in one block, so
// registers may be declared again with the same type; a wider range replaces the narrower.
func (s *scope) add(v *Var) (clash *Var) {
	if v.Range > 0 {
		old := s.ranges[v.Name]
		if old == nil || old.Range < v.Range {
			s.ranges[v.Name] = v
		}
		if old != nil && clashes(old, v) {
			return old
		}
		return s.covered(v)
	}
	old := s.here(v.Name)
	if old == nil || old.Extern {
		s.names[v.Name] = v
	}
	if old != nil && clashes(old, v) {
		return old
	}
	return nil
}

// covered is a single name of the scope that a range declares again, the first by its place.
func (s *scope) covered(v *Var) (clash *Var) {
	for name, x := range s.names {
		if strings.HasPrefix(name, v.Name) && v.Declares(name) && (clash == nil || before(x.Pos, clash.Pos)) {
			clash = x
		}
	}
	return clash
}

// here finds a variable declared in this very scope.
func (s *scope) here(name string) *Var {
	if v := s.names[name]; v != nil {
		return v
	}
	base := strings.TrimRight(name, "0123456789")
	for n := max(len(base), len(name)-maxRangeDigits); n < len(name); n++ { // a base name may itself end in digits: %r1<4>
		if v := s.ranges[name[:n]]; v != nil && v.Declares(name) {
			return v
		}
	}
	return nil
}

func (s *scope) variable(name string) *Var {
	for ; s != nil; s = s.outer {
		if v := s.here(name); v != nil {
			return v
		}
	}
	return nil
}

func (s *scope) label(name string) bool {
	for ; s != nil; s = s.outer {
		if _, ok := s.labels[name]; ok {
			return true
		}
	}
	return false
}

func (s *scope) list(name string) Stmt {
	for ; s != nil; s = s.outer {
		if x := s.lists[name]; x != nil {
			return x
		}
	}
	return nil
}

func (s *scope) function(name string) *Func {
	for s.outer != nil {
		s = s.outer
	}
	return s.funcs[name]
}

// candidates lists names that could have been meant, nearest scope first, each scope in alphabetical order.
func (s *scope) candidates(labels bool) []string {
	var all []string
	for ; s != nil; s = s.outer {
		var list []string
		if labels {
			for n := range s.labels {
				list = append(list, n)
			}
		} else {
			for n := range s.names {
				list = append(list, n)
			}
			for n, v := range s.ranges {
				for i := 0; i < min(v.Range, 64); i++ {
					list = append(list, n+strconv.Itoa(i))
				}
			}
			for n := range s.funcs {
				list = append(list, n)
			}
		}
		sort.Strings(list)
		all = append(all, list...)
	}
	return all
}

// specialRegisters are the read-only registers of PTX without a number in their name.
var specialRegisters = []string{"%tid", "%ntid", "%laneid", "%warpid", "%nwarpid", "%ctaid", "%nctaid", "%smid", "%nsmid",
	"%gridid", "%is_explicit_cluster", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid",
	"%cluster_ctarank", "%cluster_nctarank", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge",
	"%lanemask_gt", "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi",
	"%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap", "%total_smem_size",
	"%aggr_smem_size", "%dynamic_smem_size", "%current_graph_exec"}

// numbered special registers: base name and how many there are.
var numberedSpecials = []struct {
	base  string
	count int
}{{"%pm", 8}, {"%envreg", 32}, {"%reserved_smem_offset_", 2}}

// IsSpecial says whether the name is a special register such as %tid or %envreg3.
func IsSpecial(name string) bool {
	if !strings.HasPrefix(name, "%") {
		return false
	}
	for _, s := range specialRegisters {
		if s == name {
			return true
		}
	}
	for _, x := range numberedSpecials {
		digits, ok := strings.CutPrefix(name, x.base)
		if x.base == "%pm" {
			digits = strings.TrimSuffix(digits, "_64")
		}
		if n, err := strconv.Atoi(digits); ok && err == nil && n >= 0 && n < x.count && strconv.Itoa(n) == digits {
			return true
		}
	}
	return false
}
