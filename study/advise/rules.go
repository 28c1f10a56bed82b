package advise

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// Rule is one kind of rewrite.
type Rule struct {
	Name  string // "dot"
	About string // what it does, for reports
	find  func(*kernel, *namer) []*site
	// trades says that the rewrite has more instructions on purpose, for pipes with room in the place of a slow one.
	trades bool
	// silent says that the rule applies to very common code and is reported only where it changes the number of machine instructions or the time.
	silent bool
}

// Rules lists the rules in the order in which they are applied together: forms that others build on come first.
func Rules() []Rule {
	return []Rule{
		{"constant", "divisors, and factors of one, that are known at the launch: a multiplication by the reciprocal, no multiplication", launchConstants, false, false},
		{"minmax", "compare and select to min and max, max with zero to max.relu (fused to DPX forms by the lowering)", minmax, false, false},
		{"pair", "equal 16-bit additions, minima and maxima of both halves of words: add, min, max of 16x2 (fused to DPX forms by the lowering)", pairs16, false, false},
		{"dot", "bytes and half-words multiplied and added: dp4a, dp2a", dots, false, false},
		{"sad", "absolute differences: sad, vabsdiff4 with accumulation", sads, false, false},
		{"popc", "population counts of several words: full adders (lop3) count two of three words at once", populations, true, false},
		{"mad", "separate multiplication and addition: mad.lo", mads, false, false},
		{"wide", "low and high halves of products: mul.wide, chains of wide multiply-adds", wides, false, false},
		{"carry", "carries found by comparison: add.cc, addc", carries, false, false},
		{"shf", "shifts joined by or: funnel shift, rotate", funnels, false, false},
		{"prmt", "bytes moved by shifts and masks: prmt", shuffles, false, false},
		{"iadd3", "sums of many values in an order that leaves three-input additions half used: added up by three", addends3, false, true},
		{"lop3", "and, or, xor, not of three values: lop3", logic, false, false},
	}
}

// Place is a source line that a rewrite is about.
type Place struct {
	PTX    int    `json:"ptx"`              // line of the PTX file
	Source string `json:"source,omitempty"` // "kernel.cu:45", where the PTX has line information
	Text   string `json:"text"`
}

// Change is what one rule does to a kernel.
type Change struct {
	Rule  Rule
	Sites int
	Lines []Place
	Fast  []string // launch values for which the kernel takes the rewritten code; others take the original
	Text  string   // the rewritten module

	silent bool // reported only where it matters
	needs  int  // first target that has all instructions of the rewritten text, 90 for sm_90, if those of the original are older; 0: none
}

// Rewrite applies one rule to a kernel of a PTX text; nil if there is nothing to apply it to. params holds launch values of
// scalar parameters, by parameter name.
func Rewrite(file string, text []byte, entry string, params map[string]uint64, r Rule) (*Change, error) {
	m, err := ptx.Parse(file, text)
	if err != nil {
		return nil, err
	}
	fn := m.Entry(entry)
	if fn == nil {
		return nil, fmt.Errorf("%s has no kernel %q", filepath.Base(file), entry)
	}
	k, err := newKernel(m, fn, params)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	n := k.newNamer()
	sites := r.find(k, n)
	if len(sites) == 0 {
		return nil, nil
	}
	c := &Change{Rule: r, Sites: len(sites)}
	seen := map[int]bool{}
	var fast []launchParam
	for _, s := range sites {
		fast = both(fast, s.params)
		for _, in := range s.at {
			if seen[in.Pos.Line] {
				continue
			}
			seen[in.Pos.Line] = true
			p := Place{PTX: in.Pos.Line, Text: in.Text}
			if in.Loc != nil {
				p.Source = fmt.Sprintf("%s:%d", filepath.Base(m.Files[in.Loc.File]), in.Loc.Line)
			}
			c.Lines = append(c.Lines, p)
		}
	}
	sortPlaces(c.Lines)
	var fits []launchParam
	before, _ := k.needed()
	if c.Text, fits, err = k.rewrite(sites, n); err != nil {
		return nil, err
	}
	if after, _ := k.needed(); after > before {
		c.needs = after
	}
	fast = both(fast, fits)
	// Divisors that are the block's size are everywhere.
	c.silent = r.silent || len(fast) > 0 && all(fast, func(p launchParam) bool { return p.name[0] == '%' })
	for _, p := range fast {
		c.Fast = append(c.Fast, p.String())
	}
	if len(fast) == 0 {
		return c, nil
	}
	c.Text, err = version(file, text, c.Text, entry, fast)
	return c, err
}

func sortPlaces(ps []Place) {
	slices.SortFunc(ps, func(a, b Place) int { return a.PTX - b.PTX })
}
