package advise

import (
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// absolute recognises an absolute value in the instruction that makes it: abs, max(x, -x), x < 0 ? -x : x, and the two forms with the sign
// spread over the word, (x ^ s) - s and (x + s) ^ s. It gives the operand x as instruction at reads it, and the instructions beside d.
func (k *kernel) absolute(d *inst) (at *inst, x ptx.Arg, inner []*inst, ok bool) {
	switch {
	case d.isAny("abs", nil, "s32", "s16"):
		return d, d.Args[1], nil, true
	case d.isAny("max", nil, "s32", "s16"):
		for i := 1; i <= 2; i++ {
			if n := k.negative(d, d.Args[3-i], d, d.Args[i]); n != nil {
				return d, d.Args[i], []*inst{n}, true
			}
		}
	case d.isAny("selp", nil, "b32", "u32", "s32", "b16", "u16", "s16"):
		return k.chosenSign(d)
	case d.isAny("sub", nil, "s32", "u32"), d.is("xor", "b32"):
		return k.spreadSign(d)
	}
	return nil, ptx.Arg{}, nil, false
}

// negative is the instruction that makes -x, where operand a at d is that of x at p; nil if it is not. A difference is the negative of the
// opposite difference.
func (k *kernel) negative(d *inst, a ptx.Arg, p *inst, x ptx.Arg) *inst {
	w, ok := k.argWord(d, a)
	n := w.setter()
	switch {
	case !ok || n == nil:
		return nil
	case n.isAny("neg", nil, "s32", "s16") && k.same(n, n.Args[1], p, x):
		return n
	case n.isAny("sub", nil, "s32", "u32", "s16", "u16"):
		if c := n.Args[1]; c.Kind == ptx.ArgInt && c.Int == 0 && k.same(n, n.Args[2], p, x) {
			return n
		}
		v, ok := k.argWord(p, x)
		if o := v.setter(); ok && o.is("sub", n.Mods...) && k.same(n, n.Args[1], o, o.Args[2]) && k.same(n, n.Args[2], o, o.Args[1]) {
			return n
		}
	}
	return nil
}

// chosenSign is selp of x and -x by the sign of x.
func (k *kernel) chosenSign(d *inst) (at *inst, x ptx.Arg, inner []*inst, ok bool) {
	w, ok := k.argWord(d, d.Args[3])
	p := w.setter()
	if !ok || p == nil || p.Op != "setp" || p.Guard != nil || len(p.Mods) != 2 || len(p.Args) != 3 || p.Mods[1] != "s32" && p.Mods[1] != "s16" || p.Args[2].Kind != ptx.ArgInt {
		return nil, x, nil, false
	}
	x = p.Args[1]
	positive := d.Args[1] // chosen where x is not negative
	negated := d.Args[2]
	switch c := p.Args[2].Int; {
	case (p.Mods[0] == "gt" || p.Mods[0] == "ge") && c == 0, p.Mods[0] == "gt" && c == -1:
	case (p.Mods[0] == "lt" || p.Mods[0] == "le") && c == 0, p.Mods[0] == "le" && c == -1, p.Mods[0] == "lt" && c == 1:
		positive, negated = negated, positive
	default:
		return nil, x, nil, false
	}
	if !k.same(d, positive, p, x) {
		return nil, x, nil, false
	}
	n := k.negative(d, negated, p, x)
	return d, positive, []*inst{p, n}, n != nil
}

// spreadSign is (x ^ s) - s or (x + s) ^ s with s = x >> 31.
func (k *kernel) spreadSign(d *inst) (at *inst, x ptx.Arg, inner []*inst, ok bool) {
	for i := 1; i <= 2; i++ {
		if d.Op == "sub" && i == 2 {
			break
		}
		w, ok1 := k.argWord(d, d.Args[3-i])
		v, ok2 := k.argWord(d, d.Args[i])
		s, e := w.setter(), v.setter()
		if !ok1 || !ok2 || !s.isAny("shr", nil, "s32") || s.Args[2].Kind != ptx.ArgInt || s.Args[2].Int != 31 {
			continue
		}
		if d.Op == "sub" && !e.is("xor", "b32") || d.Op == "xor" && !e.isAny("add", nil, "s32", "u32") {
			continue
		}
		for j := 1; j <= 2; j++ {
			if u, ok := k.argWord(e, e.Args[3-j]); ok && u == w && k.same(e, e.Args[j], s, s.Args[1]) {
				return e, e.Args[j], []*inst{s, e}, true
			}
		}
	}
	return nil, x, nil, false
}

// difference recognises |a - b| in the instruction that makes it; nil if it is none. user reads the value.
func (k *kernel) difference(s *sum, d, user *inst) *term {
	if at, x, inner, ok := k.absolute(d); ok {
		w, ok := k.argWord(at, x)
		sub := w.setter()
		if !ok || !sub.isAny("sub", nil, "s32", "u32", "s16", "u16") {
			return nil
		}
		fa, ok1 := k.field(sub, sub.Args[1])
		fb, ok2 := k.field(sub, sub.Args[2])
		bits := w.reg.bits()
		if !ok1 || !ok2 || !fa.narrow(bits) || !fb.narrow(bits) {
			return nil // the difference may wrap
		}
		s.nodes = append(s.nodes, d)
		for _, e := range append(inner, sub) {
			if k.inside(e, []*inst{d}, inner) { // and not an addend of the sum besides
				s.nodes = append(s.nodes, e)
			}
		}
		return &term{kind: termDiff, at: user, src: sub, a: sub.Args[1], b: sub.Args[2], fa: fa, fb: fb, signed: true, short: bits == 16}
	}
	return k.chosenDifference(s, d, user)
}

// chosenDifference is a > b ? a - b : b - a.
func (k *kernel) chosenDifference(s *sum, d, user *inst) *term {
	if !d.isAny("selp", nil, "b32", "u32", "s32") {
		return nil
	}
	w, ok := k.argWord(d, d.Args[3])
	p := w.setter()
	if !ok || p == nil || p.Op != "setp" || p.Guard != nil || len(p.Mods) != 2 || len(p.Args) != 3 || p.Mods[1] != "s32" && p.Mods[1] != "u32" {
		return nil
	}
	v, ok1 := k.argWord(d, d.Args[1])
	u, ok2 := k.argWord(d, d.Args[2])
	x, y := v.setter(), u.setter()
	switch p.Mods[0] {
	case "gt", "ge", "hi", "hs":
	case "lt", "le", "lo", "ls":
		x, y = y, x
	default:
		return nil
	}
	if !ok1 || !ok2 || !x.isAny("sub", nil, "s32", "u32") || !y.isAny("sub", nil, "s32", "u32") ||
		!k.same(x, x.Args[1], p, p.Args[1]) || !k.same(x, x.Args[2], p, p.Args[2]) || !k.same(y, y.Args[1], p, p.Args[2]) || !k.same(y, y.Args[2], p, p.Args[1]) {
		return nil
	}
	s.nodes = append(s.nodes, d)
	for _, e := range []*inst{p, x, y} {
		if k.inside(e, []*inst{d, p}) {
			s.nodes = append(s.nodes, e)
		}
	}
	t := &term{kind: termDiff, at: user, src: x, a: x.Args[1], b: x.Args[2], signed: p.Mods[1] == "s32"}
	t.fa, _ = k.field(x, t.a)
	t.fb, _ = k.field(x, t.b)
	return t
}

// inside says that only the given instructions read the value of d, so that it can go with them.
func (k *kernel) inside(d *inst, lists ...[]*inst) bool {
	return d.Guard == nil && !d.loose && len(d.sets) == 1 && all(d.users, func(u *inst) bool {
		return slices.ContainsFunc(lists, func(l []*inst) bool { return slices.Contains(l, u) })
	})
}

// absolutes replaces the longer forms of an absolute value by abs.
func (k *kernel) absolutes(in *inst) *site {
	if in.Op == "abs" {
		return nil
	}
	at, x, inner, ok := k.absolute(in)
	if !ok || !all(k.words(at, x), func(w word) bool { return k.available(w, in) }) {
		return nil
	}
	typ := "s32"
	if in.sets[0].bits() == 16 {
		typ = "s16"
	}
	s := &site{at: append(slices.Clone(inner), in), drop: []*inst{in}}
	s.put(in, op("abs."+typ, in.Args[0], x))
	return s
}
