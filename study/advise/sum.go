package advise

import (
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// sum is a tree of 32-bit additions within a basic block, taken apart: the order of its terms is free, because integer addition
// modulo 2^32 is associative and commutative. Inner values have no other reader.
type sum struct {
	root  *inst
	nodes []*inst // additions and the multiplications below them
	terms []*term // in the order of the text
}

type termKind uint8

const (
	termValue   termKind = iota // a
	termProduct                 // a * b
	termDiff                    // |a - b|, of integers that a difference cannot wrap, or unsigned ones
	termOther                   // what instruction at computes beside its last operand
)

// term is one addend. Its operands are read at instruction at, in operand form.
type term struct {
	kind   termKind
	at     *inst
	a, b   ptx.Arg
	src    *inst // the instruction whose operands a and b are
	fa, fb field
	signed bool   // of termDiff
	short  bool   // of termDiff: operands of 16 bits
	wide   string // of termProduct: type by which 16-bit operands are extended, "" for 32-bit operands
	used   bool   // taken by a group
}

// addends are the operands of a node that are sums in turn, nil if the instruction is no node.
func addends(in *inst) []ptx.Arg {
	switch {
	case in.isAny("add", nil, "u32", "s32"):
		return in.Args[1:3]
	case in.isAny("mad", []string{"lo"}, "u32", "s32"), in.is("mad", "wide", "u16"), in.is("mad", "wide", "s16"):
		return in.Args[3:4]
	case in.isAny("sad", nil, "u32", "s32"):
		return in.Args[3:4]
	case (in.Op == "dp4a" || in.Op == "dp2a") && in.Guard == nil && len(in.Args) == 4:
		return in.Args[3:4]
	}
	return nil
}

// sums lists the trees of a kernel.
func (k *kernel) sums() []*sum {
	var out []*sum
	for _, in := range k.insts {
		if addends(in) == nil || len(in.sets) != 1 || in.sets[0].bits() != 32 {
			continue
		}
		if len(in.users) == 1 && k.only(in, in.users[0]) && k.absorbs(in.users[0], in) {
			continue
		}
		s := &sum{root: in}
		k.flatten(s, in)
		slices.SortStableFunc(s.terms, func(a, b *term) int { return a.at.n - b.at.n })
		out = append(out, s)
	}
	return out
}

// absorbs says whether the node reads the value of in as exactly one addend.
func (k *kernel) absorbs(node, in *inst) bool {
	n, inSum := 0, 0
	for _, a := range node.Args[1:] {
		if w, ok := k.argWord(node, a); ok && w.def == in {
			n++
		}
	}
	for _, a := range addends(node) {
		if w, ok := k.argWord(node, a); ok && w.setter() == in {
			inSum++
		}
	}
	return n == 1 && inSum == 1
}

func (k *kernel) flatten(s *sum, in *inst) {
	s.nodes = append(s.nodes, in)
	switch in.Op {
	case "mad":
		s.terms = append(s.terms, k.product(in, in, in.Args[1], in.Args[2]))
	case "sad":
		s.terms = append(s.terms, &term{kind: termDiff, at: in, src: in, a: in.Args[1], b: in.Args[2], signed: in.Mods[0] == "s32"})
	case "dp4a", "dp2a":
		s.terms = append(s.terms, &term{kind: termOther, at: in, src: in})
	}
	for _, a := range addends(in) {
		w, ok := k.argWord(in, a)
		d := w.setter()
		if ok && d != nil && k.only(d, in) && k.absorbs(in, d) && w.reg.bits() == 32 {
			if addends(d) != nil {
				k.flatten(s, d)
				continue
			}
			if t := k.leaf(s, d, in); t != nil {
				s.terms = append(s.terms, t)
				continue
			}
		}
		s.terms = append(s.terms, &term{kind: termValue, at: in, src: in, a: a})
	}
}

func (k *kernel) product(at, src *inst, a, b ptx.Arg) *term {
	t := &term{kind: termProduct, at: at, src: src, a: a, b: b}
	var ok1, ok2 bool
	t.fa, ok1 = k.field(src, a)
	t.fb, ok2 = k.field(src, b)
	if src.Has("wide") {
		t.wide = src.Mods[1]
	}
	if !ok1 || !ok2 || t.wide != "" && !(t.fa.extends(t.wide) && t.fb.extends(t.wide)) {
		t.fa, t.fb = field{isConst: true, value: 1 << 40}, field{isConst: true, value: 1 << 40}
	}
	return t
}

// extends says whether extending the 16-bit register by the type gives the field's own value.
func (f field) extends(typ string) bool {
	if f.isConst || f.up != 0 {
		return f.isConst && f.value >= 0 && f.value < 1<<15
	}
	return f.n < 16 && !f.signed || f.signed == (typ == "s16")
}

// leaf recognises a term in the instruction d that makes an addend of node user and nothing else; user reads it.
func (k *kernel) leaf(s *sum, d, user *inst) *term {
	switch {
	case d.isAny("mul", []string{"lo"}, "u32", "s32", "b32"), d.is("mul", "wide", "u16"), d.is("mul", "wide", "s16"):
		s.nodes = append(s.nodes, d)
		return k.product(d, d, d.Args[1], d.Args[2])
	case d.isAny("mul24", []string{"lo"}, "u32", "s32"):
		// Factors below 2^24 have the product of mul.lo.
		if t := k.product(d, d, d.Args[1], d.Args[2]); t.fa.within(24, d.Mods[1] == "s32") && t.fb.within(24, d.Mods[1] == "s32") {
			s.nodes = append(s.nodes, d)
			return t
		}
	case d.isAny("cvt", []string{"u32"}, "u16"), d.isAny("cvt", []string{"s32"}, "s16"):
		if t := k.shortProduct(s, d); t != nil {
			return t
		}
		w, ok := k.argWord(d, d.Args[1])
		if e := w.setter(); ok && e != nil && k.only(e, d) {
			mark := len(s.nodes)
			s.nodes = append(s.nodes, d)
			if t := k.difference(s, e, user); t != nil {
				return t
			}
			s.nodes = s.nodes[:mark]
		}
		return nil
	case d.isAny("sub", nil, "s32", "u32"):
		if t := k.maxMinusMin(s, d, user); t != nil {
			return t
		}
	}
	return k.difference(s, d, user)
}

// within says that the factor, extended from n bits by sign or by zeros, is its own value.
func (f field) within(n int, signed bool) bool {
	switch {
	case f.isConst:
		return f.value >= 0 && f.value < 1<<(n-1)
	case signed && !f.signed:
		return f.n+f.up < n
	}
	return f.n+f.up <= n && f.signed == signed
}

// shortProduct is the 16-bit product of two factors, extended to 32 bits, where it cannot be longer than 16 bits.
func (k *kernel) shortProduct(s *sum, d *inst) *term {
	w, ok := k.argWord(d, d.Args[1])
	m := w.setter()
	if !ok || m == nil || !m.isAny("mul", []string{"lo"}, "u16", "s16") || !k.only(m, d) {
		return nil
	}
	t := k.product(d, m, m.Args[1], m.Args[2])
	t.wide = "u16"
	if t.fa.signed || t.fb.signed {
		t.wide = "s16"
	}
	// A product of n and m bits has n + m bits, with or without sign; unsigned bits in a signed product need one more for the sign.
	bits := t.fa.n + t.fa.up + t.fb.n + t.fb.up
	if t.wide == "s16" && t.fa.signed != t.fb.signed || t.wide == "u16" && d.Mods[1] == "s16" {
		bits++
	}
	if t.fa.isConst || t.fb.isConst || bits > 16 || t.wide == "s16" && d.Mods[1] == "u16" || !t.fa.extends(t.wide) || !t.fb.extends(t.wide) {
		return nil
	}
	s.nodes = append(s.nodes, d, m)
	return t
}

// maxMinusMin is max(a, b) - min(a, b) = |a - b|.
func (k *kernel) maxMinusMin(s *sum, d, user *inst) *term {
	wa, ok1 := k.argWord(d, d.Args[1])
	wb, ok2 := k.argWord(d, d.Args[2])
	hi, lo := wa.setter(), wb.setter()
	if !ok1 || !ok2 || !hi.isAny("max", nil, "u32", "s32") || lo == nil || !lo.is("min", hi.Mods...) || !k.only(hi, d) || !k.only(lo, d) {
		return nil
	}
	a, b := k.same(hi, hi.Args[1], lo, lo.Args[1]), k.same(hi, hi.Args[2], lo, lo.Args[2])
	c, e := k.same(hi, hi.Args[1], lo, lo.Args[2]), k.same(hi, hi.Args[2], lo, lo.Args[1])
	if !(a && b) && !(c && e) {
		return nil
	}
	s.nodes = append(s.nodes, d, hi, lo)
	t := &term{kind: termDiff, at: user, src: hi, a: hi.Args[1], b: hi.Args[2], signed: hi.Mods[0] == "s32"}
	t.fa, _ = k.field(hi, hi.Args[1])
	t.fb, _ = k.field(hi, hi.Args[2])
	return t
}

// same says whether two operands are the same value.
func (k *kernel) same(p *inst, a ptx.Arg, q *inst, b ptx.Arg) bool {
	if a.Kind == ptx.ArgInt && b.Kind == ptx.ArgInt {
		return a.Int == b.Int
	}
	v, ok := k.argWord(p, a)
	w, ok2 := k.argWord(q, b)
	return ok && ok2 && (v == w || k.origin(v) == k.origin(w))
}

// origin follows a value through copies.
func (k *kernel) origin(w word) word {
	for range maxSteps {
		d := w.setter()
		if d == nil || d.Guard != nil || d.Op != "mov" || len(d.Args) != 2 || d.Args[0].Kind != ptx.ArgName {
			break
		}
		v, ok := k.argWord(d, d.Args[1])
		if !ok || v.reg.bits() != w.reg.bits() {
			break
		}
		w = v
	}
	return w
}

// item is one addition of the rebuilt sum: emit makes dst = item + acc, in front of instruction at.
type item struct {
	at       *inst
	words    []word // that emit reads
	emit     func(put func(*ptx.Instr), dst, acc ptx.Arg)
	register bool     // emit takes no literal as acc: ptxas takes none there
	value    *ptx.Arg // a plain addend
}

// rebuild writes the sum again: groups as given, the terms that no group took as they were, one addition after the other. It fails
// when an operand is not there any more where it would be read.
func (k *kernel) rebuild(s *sum, groups []item, n *namer) (*site, bool) {
	items := slices.Clone(groups)
	for _, t := range s.terms {
		if t.used {
			continue
		}
		it := item{at: t.at, words: k.words(t.src, t.a, t.b)}
		switch t.kind {
		case termValue:
			a := t.a
			it.value = &a
			it.emit = func(put func(*ptx.Instr), dst, acc ptx.Arg) { put(op("add.s32", dst, a, acc)) }
		case termProduct:
			full := "mad.lo.s32"
			if t.wide != "" {
				full = "mad.wide." + t.wide
			}
			it.emit = func(put func(*ptx.Instr), dst, acc ptx.Arg) { put(op(full, dst, t.a, t.b, acc)) }
		case termDiff:
			it.emit = func(put func(*ptx.Instr), dst, acc ptx.Arg) { k.putDiff(put, t, dst, acc, n) }
		case termOther:
			it.words = k.words(t.src, t.src.Args[1], t.src.Args[2])
			it.emit = func(put func(*ptx.Instr), dst, acc ptx.Arg) {
				put(op(t.src.Name(), dst, t.src.Args[1], t.src.Args[2], acc))
			}
		}
		items = append(items, it)
	}
	slices.SortStableFunc(items, func(a, b item) int { return a.at.n - b.at.n })
	// The sum starts with a plain addend that is there from the beginning, or with zero.
	acc := num(0)
	for i, it := range items {
		if it.value != nil && all(it.words, func(w word) bool { return k.available(w, items[0].at) }) {
			acc = *it.value
			items = slices.Delete(items, i, i+1)
			break
		}
	}
	if len(items) == 0 {
		return nil, false
	}
	out := &site{at: s.nodes, drop: s.nodes}
	for i, it := range items {
		at, dst := it.at, n.fresh("b32")
		if i == len(items)-1 {
			at, dst = s.root, s.root.Args[0]
		}
		if !all(it.words, func(w word) bool { return k.available(w, at) }) {
			return nil, false
		}
		if it.register && acc.Kind == ptx.ArgInt {
			zero := n.fresh("b32")
			out.put(at, op("mov.b32", zero, acc))
			acc = zero
		}
		it.emit(func(in *ptx.Instr) { out.put(at, in) }, dst, acc)
		acc = dst
	}
	return out, true
}

// putDiff writes dst = |a - b| + acc.
func (k *kernel) putDiff(put func(*ptx.Instr), t *term, dst, acc ptx.Arg, n *namer) {
	a, b := t.a, t.b
	if t.short {
		for _, x := range []*ptx.Arg{&a, &b} {
			if x.Kind == ptx.ArgName {
				long := n.fresh("b32")
				put(op("cvt.s32.s16", long, *x))
				*x = long
			}
		}
	}
	put(op("sad."+signLetter(t.signed)+"32", dst, a, b, acc))
}

func all[T any](list []T, f func(T) bool) bool {
	for _, x := range list {
		if !f(x) {
			return false
		}
	}
	return true
}

// words are the values of the register operands.
func (k *kernel) words(at *inst, args ...ptx.Arg) []word {
	var out []word
	for _, a := range args {
		if w, ok := k.argWord(at, a); ok {
			out = append(out, w)
		}
	}
	return out
}

func signLetter(signed bool) string {
	if signed {
		return "s"
	}
	return "u"
}
