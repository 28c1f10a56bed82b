package advise

import (
	"slices"
	"strconv"

	"github.com/sarchlab/smsim/isa/ptx"
)

// carries replaces carries and borrows that are found by comparing, sum < addend or minuend < subtrahend, by the carry flag: two words, or chains
// of any number of words of 32 or 64 bits.
func carries(k *kernel, n *namer) []*site {
	values := k.carryValues()
	var out []*site
	busy := -1 // number of the instruction up to which an earlier chain uses the flag
	for _, v := range values {
		if v.limb.in != nil || v.limb.last().n <= busy {
			continue
		}
		c := carryChain{k: k, values: values, site: &site{}}
		if last := c.follow(v); last != nil && !k.flagUsed(v.limb.last().n, last.n+1) {
			busy = last.n
			out = append(out, c.site)
		}
	}
	return out
}

// carryValue is a value that is one where a word's sum carries, or a predicate that is true there.
type carryValue struct {
	def   *inst   // makes it
	nodes []*inst // with the comparisons behind it
	limb  limb
}

// limb is one word of a long sum or difference: one or two additions, of two words and the carry from the word below.
type limb struct {
	sub   bool
	width string // "32", "64"
	adds  []*inst
	in    *carryValue // the carry from below; nil in the lowest word
	a, b  ptx.Arg     // the words
	at    [2]*inst    // where they are read
}

// last is the instruction that makes the word of the result.
func (l *limb) last() *inst { return l.adds[len(l.adds)-1] }

// carryValues finds the carries of a kernel, in the order of the text.
func (k *kernel) carryValues() []*carryValue {
	var out []*carryValue
	inner := map[*inst]bool{}
	for _, in := range slices.Backward(k.insts) {
		if inner[in] || len(in.sets) != 1 || in.Guard != nil {
			continue
		}
		v := &carryValue{def: in}
		if !k.carryTree(in, v, maxSteps) || !v.order(k) {
			continue
		}
		for _, x := range v.nodes {
			inner[x] = true
		}
		out = append(out, v)
	}
	slices.Reverse(out)
	for _, v := range out {
		v.limb.in = k.carryInto(v, out)
	}
	return slices.DeleteFunc(out, func(v *carryValue) bool { return !v.words(k) })
}

// carryTree collects the comparisons that a carry is made of.
func (k *kernel) carryTree(in *inst, v *carryValue, steps int) bool {
	if in == nil || in.Guard != nil || steps == 0 || in.blk != v.def.blk {
		return false
	}
	v.nodes = append(v.nodes, in)
	below := func(a ptx.Arg) bool {
		w, ok := k.argWord(in, a)
		return ok && k.carryTree(w.setter(), v, steps-1)
	}
	switch {
	case in.Op == "selp" && len(in.Args) == 4 && in.Args[1].Kind == ptx.ArgInt && in.Args[2].Kind == ptx.ArgInt:
		one, zero := in.Args[1].Int, in.Args[2].Int
		w, ok := k.argWord(in, in.Args[3])
		p := w.setter()
		switch {
		case !ok || p == nil:
			return false
		case one == 1 && zero == 0:
			return below(in.Args[3])
		case one == 0 && zero == 1:
			v.nodes = append(v.nodes, p)
			return k.compared(p, true, v)
		}
	case in.isAny("cvt", []string{"u64"}, "u32"), in.isAny("cvt", []string{"s64"}, "s32"):
		return below(in.Args[1])
	case in.is("or", "pred"), in.is("xor", "pred"), in.isAny("or", nil, "b32", "b64"), in.isAny("xor", nil, "b32", "b64"), in.isAny("add", nil, "u32", "s32", "u64", "s64"):
		return below(in.Args[1]) && below(in.Args[2])
	case in.Op == "setp":
		return k.compared(in, false, v)
	}
	return false
}

// compared adds the addition or subtraction to v whose carry a comparison finds.
func (k *kernel) compared(p *inst, inverted bool, v *carryValue) bool {
	if p.Guard != nil || p.Op != "setp" || len(p.Mods) != 2 || len(p.Args) != 3 || p.Args[0].Kind != ptx.ArgName || p.blk != v.def.blk {
		return false
	}
	x, y := p.Args[1], p.Args[2]
	rel, typ := p.Mods[0], p.Mods[1]
	if (rel == "eq" || rel == "ne") && inverted == (rel == "ne") && y.Kind == ptx.ArgInt && y.Int == 0 {
		// x + 1 carries where it is zero.
		w, ok := k.argWord(p, x)
		s := w.setter()
		return ok && s.isAny("add", nil, "u"+typ[1:], "s"+typ[1:]) && s.Args[2].Kind == ptx.ArgInt && s.Args[2].Int == 1 && v.adds(s, false, typ[1:])
	}
	if typ != "u32" && typ != "u64" {
		return false
	}
	width := typ[1:]
	switch rel {
	case "lt", "lo", "ge", "hs":
	case "gt", "hi", "le", "ls":
		x, y = y, x
	default:
		return false
	}
	if (rel == "ge" || rel == "hs" || rel == "le" || rel == "ls") != inverted {
		return false
	}
	// x < y
	if w, ok := k.argWord(p, x); ok {
		s := w.setter()
		if s.isAny("add", nil, "u"+width, "s"+width) && (k.same(p, y, s, s.Args[1]) || k.same(p, y, s, s.Args[2])) {
			return v.adds(s, false, width)
		}
	}
	if w, ok := k.argWord(p, y); ok {
		if s := w.setter(); s.isAny("sub", nil, "u"+width, "s"+width) && k.same(p, x, s, s.Args[1]) {
			return v.adds(s, true, width)
		}
	}
	for _, s := range k.insts[p.blk.first:p.blk.last] {
		switch {
		case s.isAny("sub", nil, "u"+width, "s"+width) && k.same(p, x, s, s.Args[1]) && k.same(p, y, s, s.Args[2]):
			return v.adds(s, true, width)
		case s.isAny("add", nil, "u"+width, "s"+width):
			// not b < a
			w, ok := k.argWord(p, x)
			c := w.setter()
			if ok && c.is("not", "b"+width) && (k.same(c, c.Args[1], s, s.Args[1]) && k.same(p, y, s, s.Args[2]) || k.same(c, c.Args[1], s, s.Args[2]) && k.same(p, y, s, s.Args[1])) {
				return v.adds(s, false, width)
			}
		}
	}
	return false
}

// adds notes an addition; false if it does not go with those found before.
func (v *carryValue) adds(s *inst, sub bool, width string) bool {
	l := &v.limb
	if s.blk != v.def.blk || len(l.adds) == 2 || len(l.adds) > 0 && (l.sub != sub || l.width != width || l.adds[0] == s) {
		return false
	}
	l.adds, l.sub, l.width = append(l.adds, s), sub, width
	return true
}

// order puts two additions into their order: the second reads the first.
func (v *carryValue) order(k *kernel) bool {
	l := &v.limb
	if len(l.adds) < 2 {
		return len(l.adds) == 1
	}
	if l.adds[0].n > l.adds[1].n {
		slices.Reverse(l.adds)
	}
	return k.reads(l.adds[1], l.adds[0]) >= 0
}

// reads is the place of the operand of in that is the value of d, -1 if none is.
func (k *kernel) reads(in, d *inst) int {
	for i := 1; i < len(in.Args); i++ {
		if w, ok := k.argWord(in, in.Args[i]); ok && w.setter() == d {
			return i
		}
	}
	return -1
}

// carryInto is the carry that a word takes in.
func (k *kernel) carryInto(v *carryValue, all []*carryValue) *carryValue {
	for _, in := range v.limb.adds {
		for _, c := range all {
			if c != v && c.def.blk == v.def.blk && k.reads(in, c.def) > 0 {
				return c
			}
		}
	}
	return nil
}

// words finds the two words of a limb; false if they cannot be told.
func (v *carryValue) words(k *kernel) bool {
	l := &v.limb
	if l.in != nil && (l.in.limb.sub != l.sub || l.in.limb.width != l.width) {
		return false
	}
	type read struct {
		at *inst
		a  ptx.Arg
	}
	var rest []read
	for i, in := range l.adds {
		for j := 1; j <= 2; j++ {
			switch {
			case i == 1 && j == k.reads(in, l.adds[0]):
				if l.sub && j == 2 {
					return false
				}
			case l.in != nil && j == k.reads(in, l.in.def):
				if l.sub && j == 1 {
					return false
				}
			default:
				rest = append(rest, read{in, in.Args[j]})
			}
		}
	}
	switch {
	case len(rest) == 2:
		l.a, l.b, l.at = rest[0].a, rest[1].a, [2]*inst{rest[0].at, rest[1].at}
		return true
	case len(rest) == 1 && l.in != nil:
		l.a, l.b, l.at = rest[0].a, num(0), [2]*inst{rest[0].at, rest[0].at}
		return true
	}
	return false
}

// carryChain is the rewriting of the words of a long sum.
type carryChain struct {
	k      *kernel
	values []*carryValue
	site   *site
}

// follow rewrites the chain that starts with the word of v, and gives its last instruction; nil if that cannot be done.
func (c *carryChain) follow(v *carryValue) *inst {
	name := "add"
	if v.limb.sub {
		name = "sub"
	}
	for first := true; ; first = false {
		l := &v.limb
		full := name + "c.cc.u" + l.width
		if first {
			full = name + ".cc.u" + l.width
		}
		if !c.put(l.last(), op(full, l.last().Args[0], l.a, l.b), l) {
			return nil
		}
		c.drop(l.adds...)
		next := c.next(v)
		var end *inst
		if next == nil {
			end = c.end(v, name)
			if end == nil {
				return nil
			}
		}
		// Nobody else may read the carry and what lies between.
		c.drop(v.nodes...)
		var with []*inst
		if next != nil {
			with = slices.Concat(next.nodes, next.limb.adds)
		}
		for _, x := range slices.Concat(v.nodes, l.adds[:len(l.adds)-1]) {
			if !(x == v.def && end == v.def) && !c.k.inside(x, c.site.drop, with, []*inst{end}) {
				return nil
			}
		}
		if next == nil {
			return end
		}
		v = next
	}
}

func (c *carryChain) drop(list ...*inst) {
	for _, x := range list {
		if !slices.Contains(c.site.drop, x) {
			c.site.drop, c.site.at = append(c.site.drop, x), append(c.site.at, x)
		}
	}
}

// put writes the instruction of a word, if its words are there.
func (c *carryChain) put(at *inst, in *ptx.Instr, l *limb) bool {
	ok := all(slices.Concat(c.k.words(l.at[0], l.a), c.k.words(l.at[1], l.b)), func(w word) bool { return c.k.available(w, at) })
	if ok {
		c.site.put(at, in)
	}
	return ok
}

// next is the carry out of the word that takes the carry v in.
func (c *carryChain) next(v *carryValue) *carryValue {
	for _, x := range c.values {
		if x.limb.in == v {
			return x
		}
	}
	return nil
}

// end writes the last word: hi = x + y + carry, or x + carry, or the carry itself.
func (c *carryChain) end(v *carryValue, name string) *inst {
	k := c.k
	full := name + "c.u" + v.limb.width
	if v.def.sets[0].bits() == 1 {
		return c.guarded(v, full)
	}
	if len(v.def.users) == 1 && !v.def.loose {
		in := v.def.users[0]
		i := 0
		if in.blk == v.def.blk && in.isAny(name, nil, "u"+v.limb.width, "s"+v.limb.width) && in.sets[0].bits() == v.def.sets[0].bits() {
			i = k.reads(in, v.def)
		}
		if i > 0 && !(name == "sub" && i == 1) && !k.same(in, in.Args[1], in, in.Args[2]) {
			l := limb{a: in.Args[3-i], b: num(0), at: [2]*inst{in, in}}
			// hi = (x + y) + carry, and for differences (x - y) - borrow
			if w, ok := k.argWord(in, l.a); ok {
				if d := w.setter(); d != nil && d.isAny(name, nil, "u"+v.limb.width, "s"+v.limb.width) && k.only(d, in) &&
					all(k.words(d, d.Args[1:]...), func(w word) bool { return k.available(w, in) }) {
					l.a, l.b, l.at = d.Args[1], d.Args[2], [2]*inst{d, d}
					c.drop(d)
				}
			}
			if !c.put(in, op(full, in.Args[0], l.a, l.b), &l) {
				return nil
			}
			c.drop(in)
			return in
		}
	}
	// The carry itself is wanted. A borrow is what 0 - 0 - borrow is negative for.
	if name == "sub" || v.def.sets[0].bits() < 32 {
		return nil
	}
	full = "addc.u" + v.limb.width
	if strconv.Itoa(v.def.sets[0].bits()) != v.limb.width {
		return nil
	}
	c.site.put(v.def, op(full, v.def.Args[0], num(0), num(0)))
	return v.def
}

// guarded is the last word as @p add hi, hi, 1.
func (c *carryChain) guarded(v *carryValue, full string) *inst {
	if len(v.def.users) != 1 || v.def.loose {
		return nil
	}
	in := v.def.users[0]
	if in.Op != full[:3] || in.Guard == nil || in.Guard.Neg || len(in.Mods) != 1 || in.Mods[0][1:] != v.limb.width || in.blk != v.def.blk ||
		in.Args[2].Kind != ptx.ArgInt || in.Args[2].Int != 1 || in.Args[1].Name != in.Args[0].Name || in.Args[1].Kind != ptx.ArgName {
		return nil
	}
	c.site.put(in, op(full, in.Args[0], in.Args[1], num(0)))
	c.drop(in)
	return in
}

// flagUsed says whether an instruction between the two numbers touches the carry flag, or may (a call).
func (k *kernel) flagUsed(from, to int) bool {
	for _, in := range k.insts[from:to] {
		if setsCarry(in.Instr) || readsCarry(in.Instr) || in.Op == "call" {
			return true
		}
	}
	return false
}
