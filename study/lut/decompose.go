package lut

import (
	"fmt"
	"slices"
)

// Decompose finds a sequence of LOP3 for the function. It is the shortest for up to three LOP3 of at most five inputs,
// and wherever it meets the bound that n inputs need at least (n-1)/2; else it is a good one, and Bound says what is proven.
func (e *Expr) Decompose() Plan {
	d := &decomposer{memo: map[string][]named{}}
	var names []string
	t := e.Table
	for i := len(e.Names) - 1; i >= 0; i-- {
		if t.depends(i) {
			names = append([]string{e.Names[i]}, names...)
		} else {
			t = t.cofactor(i, false)
		}
	}
	n := len(names)
	steps, exhaustive := d.solve(t, names)
	p := Plan{Steps: d.write(steps, e.Names), Bound: n / 2}
	if n > 0 {
		p.Bound = max(1, p.Bound)
	}
	if n == 1 && t[1] || n == 0 {
		p.Steps, p.Bound = nil, 0
	}
	switch {
	case len(p.Steps) == p.Bound:
		p.Exact = true
		p.Why = fmt.Sprintf("%d inputs matter, and each LOP3 joins three signals to one", n)
		if p.Bound == 0 {
			p.Why = "the result is an input or a constant"
		} else if p.Bound == 1 {
			p.Why = "one LOP3 is any function of three inputs"
		}
	case n <= exactLimit && len(p.Steps) <= 3 && exhaustive:
		p.Exact, p.Bound = true, len(p.Steps)
		p.Why = "exhaustive search over all shorter sequences"
	case n <= exactLimit:
		p.Bound, p.Exact = 4, len(p.Steps) == 4
		p.Why = "exhaustive search over all sequences of up to three LOP3"
	default:
		p.Why = fmt.Sprintf("%d inputs matter, and each LOP3 joins three signals to one; the sequence is a decomposition, perhaps not the shortest", n)
	}
	return p
}

// named is a LOP3 whose sources are names; a result is named by the function that it computes, so that equal ones are made once.
type named struct {
	dst string
	src [3]string
	lut uint8
}

type decomposer struct {
	memo map[string][]named
}

// solve gives a sequence whose last step is the function. All inputs of t matter. exhaustive says that the search for
// up to three LOP3 was complete for this function.
func (d *decomposer) solve(t Table, names []string) (steps []named, exhaustive bool) {
	key := fmt.Sprint(names, []byte(t.key()))
	if s, ok := d.memo[key]; ok {
		return s, len(names) <= exactLimit
	}
	defer func() { d.memo[key] = steps }()
	n := len(names)
	if n <= 3 {
		lut, _ := t.Lut()
		return []named{{key, [3]string{operand(names, 0), operand(names, 1), operand(names, 2)}, lut}}, true
	}
	if n <= exactLimit {
		if net := exact(t); net != nil {
			return fromNetwork(net, names, key), true
		}
		exhaustive = true
	}
	best := d.split(t, names, key)
	if s := d.peel(t, names, key); s != nil && (best == nil || len(s) < len(best)) {
		best = s
	}
	return best, exhaustive
}

// operand is a name, or 0 for an operand beyond the inputs.
func operand(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "0"
}

func fromNetwork(net network, names []string, key string) []named {
	var out []named
	signals := append([]string{}, names...)
	for i, c := range net {
		dst := fmt.Sprintf("%s/%d", key, i)
		if i == len(net)-1 {
			dst = key
		}
		out = append(out, named{dst, [3]string{signals[c.src[0]], signals[c.src[1]], signals[c.src[2]]}, c.lut})
		signals = append(signals, dst)
	}
	return out
}

// split writes f = x ? f1 : f0 for the input x that gives the shortest sequence; the last LOP3 also absorbs f1 and f0 that
// are inputs, constants, or each other's complement.
func (d *decomposer) split(t Table, names []string, key string) []named {
	var best []named
	for i := range names {
		f1, f0 := t.cofactor(i, true), t.cofactor(i, false)
		rest := append(append([]string{}, names[:i]...), names[i+1:]...)
		s1, n1, inv1 := d.signal(f1, rest)
		s0, n0, inv0 := d.signal(f0, rest)
		lut := uint8(LutA&(LutB^inv1) | ^LutA&0xff&(LutC^inv0))
		all := merge(s1, s0)
		all = append(all, named{key, [3]string{names[i], n1, n0}, lut})
		if best == nil || len(all) < len(best) {
			best = all
		}
	}
	return best
}

// signal computes a function and names the result; inv is 0xff when the signal is the function's complement.
func (d *decomposer) signal(t Table, names []string) (steps []named, name string, inv uint8) {
	for i := len(names) - 1; i >= 0; i-- {
		if !t.depends(i) {
			t = t.cofactor(i, false)
			names = append(append([]string{}, names[:i]...), names[i+1:]...)
		}
	}
	if len(names) == 0 {
		if t[0] {
			return nil, "0", 0xff
		}
		return nil, "0", 0
	}
	if t[0] { // functions that are false on row 0 only, so that a function and its complement are one
		flipped := make(Table, len(t))
		for i, v := range t {
			flipped[i] = !v
		}
		t, inv = flipped, 0xff
	}
	if len(names) == 1 {
		return nil, names[0], inv
	}
	steps, _ = d.solve(t, names)
	return steps, steps[len(steps)-1].dst, inv
}

// merge appends the steps that are not there yet.
func merge(a, b []named) []named {
	out := append([]named{}, a...)
	have := map[string]bool{}
	for _, s := range a {
		have[s.dst] = true
	}
	for _, s := range b {
		if !have[s.dst] {
			out = append(out, s)
		}
	}
	return out
}

// peel looks for three inputs that act only through one function h of them, f = g(h(i,j,k), others), or through h and one
// of the three; g then has two inputs (one input) fewer. The first such triple is taken, those with two fewer before others.
func (d *decomposer) peel(t Table, names []string, key string) []named {
	n := len(names)
	for keep := -1; keep < 3; keep++ {
		for i := 0; i < n; i++ {
			for j := i + 1; j < n; j++ {
				for k := j + 1; k < n; k++ {
					triple := [3]int{i, j, k}
					lut, ok := through(t, triple, keep)
					if !ok {
						continue
					}
					return d.compose(t, names, key, triple, keep, lut)
				}
			}
		}
	}
	return nil
}

// through finds h such that f depends on the triple only through h, and through the triple's input number keep if that
// is not negative: in the rows of the triple (split by the kept input) only two different columns of f may occur.
func through(t Table, triple [3]int, keep int) (lut uint8, ok bool) {
	n := t.Inputs()
	var columns [8]string
	for v := range 8 {
		var col Table
		for row := range t {
			if tripleBits(row, n, triple) == v {
				col = append(col, t[row])
			}
		}
		columns[v] = col.key()
	}
	groups := [2][]int{{0, 1, 2, 3, 4, 5, 6, 7}, nil}
	if keep >= 0 {
		groups = [2][]int{}
		for v := range 8 {
			b := v >> (2 - keep) & 1
			groups[b] = append(groups[b], v)
		}
	}
	for _, g := range groups {
		other := ""
		for _, v := range g {
			switch c := columns[v]; {
			case c == columns[g[0]]:
			case other == "" || c == other:
				other = c
				lut |= 1 << v
			default:
				return 0, false
			}
		}
	}
	return lut, lut != 0
}

func tripleBits(row, n int, triple [3]int) int {
	v := 0
	for _, i := range triple {
		v = v<<1 | row>>(n-1-i)&1
	}
	return v
}

// compose builds g over the new signal and what is left, and solves it.
func (d *decomposer) compose(t Table, names []string, key string, triple [3]int, keep int, lut uint8) []named {
	n := len(names)
	h := TableOf(lut)
	src := [3]string{names[triple[0]], names[triple[1]], names[triple[2]]}
	first := named{fmt.Sprint(src, lut), src, lut}
	left := []int{}
	for i := range n {
		gone := false
		for k, x := range triple {
			gone = gone || x == i && k != keep
		}
		if !gone {
			left = append(left, i)
		}
	}
	rest := []string{first.dst}
	for _, i := range left {
		rest = append(rest, names[i])
	}
	g := make(Table, 1<<len(rest))
	for row := range t {
		at := boolInt(h[tripleBits(row, n, triple)])
		for _, i := range left {
			at = at<<1 | row>>(n-1-i)&1
		}
		g[at] = t[row]
	}
	for i := len(rest) - 1; i >= 0; i-- {
		if !g.depends(i) {
			g = g.cofactor(i, false)
			rest = append(append([]string{}, rest[:i]...), rest[i+1:]...)
		}
	}
	steps, _ := d.solve(g, rest)
	steps = merge([]named{first}, steps)
	last := steps[len(steps)-1]
	last.dst = key
	return append(steps[:len(steps)-1:len(steps)-1], last)
}

// write gives the results the names t1, t2, ..., the last one d, avoiding the inputs' names.
func (d *decomposer) write(steps []named, inputs []string) []Step {
	taken := map[string]bool{}
	for _, n := range inputs {
		taken[n] = true
	}
	short := map[string]string{}
	next := 0
	name := func(last bool) string {
		if last && !taken["d"] {
			return "d"
		}
		for {
			next++
			if s := fmt.Sprintf("t%d", next); !taken[s] {
				return s
			}
		}
	}
	var out []Step
	inverted := map[string]bool{}
	for i, s := range steps {
		st := Step{Dst: name(i == len(steps)-1), Lut: s.lut}
		for k, n := range s.src {
			st.Src[k] = n
			if to, ok := short[n]; ok {
				st.Src[k] = to
			}
			if inverted[n] {
				st.Lut = invertInput(st.Lut, k)
			}
		}
		st.single()
		// An intermediate signal has the polarity that is 0 for zeros: a ^ b ^ c (0x96), not its complement.
		if i < len(steps)-1 && st.Lut&1 != 0 {
			st.Lut, inverted[s.dst] = ^st.Lut, true
		}
		short[s.dst] = st.Dst
		out = append(out, st)
	}
	return out
}

// single makes a LOP3 of two or fewer signals say so: a source that is there before, or 0, becomes 0, on which the table
// then does not depend (x ^ y is x, y, 0 with 0x3c).
func (s *Step) single() {
	for k, n := range s.Src {
		first := slices.Index(s.Src[:k], n)
		if n != "0" && first < 0 {
			continue
		}
		var out uint8
		for row := range 8 {
			from := row &^ (4 >> k)
			if n != "0" && row&(4>>first) != 0 {
				from |= 4 >> k
			}
			out |= s.Lut >> from & 1 << row
		}
		s.Src[k], s.Lut = "0", out
	}
}

// invertInput is the table for the complement of input k (0 is the first, the highest bit of the row).
func invertInput(lut uint8, k int) uint8 {
	var out uint8
	for row := range 8 {
		out |= lut >> (row ^ 4>>k) & 1 << row
	}
	return out
}
