package advise

import (
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// funnels joins (x << n) | (y >> (32-n)) into a funnel shift, a rotate when x is y. The amounts are constants, or n is proved to be
// below 32; the parts do not overlap, so that or, xor and add are the same.
func funnels(k *kernel, n *namer) []*site {
	var out []*site
	for _, in := range k.insts {
		if !in.isAny("or", nil, "b32") && !in.isAny("xor", nil, "b32") && !in.isAny("add", nil, "u32", "s32") {
			continue
		}
		for i := 1; i <= 2; i++ {
			if s := k.funnel(in, in.Args[i], in.Args[3-i]); s != nil {
				out = append(out, s)
				break
			}
		}
	}
	return out
}

func (k *kernel) funnel(in *inst, a, b ptx.Arg) *site {
	wl, ok1 := k.argWord(in, a)
	wr, ok2 := k.argWord(in, b)
	l, r := wl.setter(), wr.setter()
	if !ok1 || !ok2 || !l.is("shl", "b32") || !r.isAny("shr", nil, "u32") && !r.is("shr", "b32") || !k.only(l, in) || !k.only(r, in) {
		return nil
	}
	left, ok1 := k.field(l, l.Args[2])
	right, ok2 := k.field(r, r.Args[2])
	if !ok1 || !ok2 || !all(k.words(l, l.Args[1:]...), func(w word) bool { return k.available(w, in) }) || !all(k.words(r, r.Args[1]), func(w word) bool { return k.available(w, in) }) {
		return nil
	}
	s := &site{at: []*inst{l, r, in}, drop: []*inst{l, r, in}}
	switch {
	case left.isConst && right.isConst:
		if left.value <= 0 || left.value >= 32 || left.value+right.value != 32 {
			return nil
		}
	case left.isConst || right.isConst || left.unsignedBits() > 5 || !k.complement(r, r.Args[2], l, l.Args[2]):
		return nil
	default:
		// A count of zero takes x alone: y >> 32 is zero, and so is the funnel's share of y.
	}
	s.put(in, op("shf.l.wrap.b32", in.Args[0], r.Args[1], l.Args[1], l.Args[2]))
	return s
}

// complement says that operand b at q is 32 minus operand a at p.
func (k *kernel) complement(q *inst, b ptx.Arg, p *inst, a ptx.Arg) bool {
	w, ok := k.argWord(q, b)
	d := w.setter()
	if !ok || !d.isAny("sub", nil, "u32", "s32") {
		return false
	}
	f, ok := k.field(d, d.Args[1])
	return ok && f.isConst && f.value == 32 && k.same(d, d.Args[2], p, a)
}

// source is where a byte of a value comes from: byte i of a word, or zero.
type source struct {
	w    word
	i    int
	zero bool
}

// shuffles replaces at least three instructions that only move bytes of at most two words by one prmt.
func shuffles(k *kernel, n *namer) []*site {
	var out []*site
	taken := map[*inst]bool{}
	for _, in := range slices.Backward(k.insts) {
		if taken[in] || !in.is("or", "b32") && !in.isAny("add", nil, "u32", "s32") && !in.is("xor", "b32") {
			continue
		}
		var inner []*inst
		b, ok := k.bytesOf(in, &inner, maxSteps)
		if !ok || len(inner) < 3 {
			continue
		}
		var ws []word
		zero := false
		for _, x := range b {
			if x.zero {
				zero = true
			} else if !slices.Contains(ws, x.w) {
				ws = append(ws, x.w)
			}
		}
		if len(ws) == 0 || len(ws) > 2 || len(ws) == 2 && zero || !all(ws, func(w word) bool { return k.available(w, in) }) {
			continue
		}
		sel := int64(0)
		for j, x := range b {
			nib := 4
			if !x.zero {
				nib = 4*slices.Index(ws, x.w) + x.i
			}
			sel |= int64(nib) << (4 * j)
		}
		second := num(0)
		if len(ws) == 2 {
			second = name(ws[1].reg.name)
		} else if !zero {
			second = name(ws[0].reg.name)
		}
		s := &site{at: inner, drop: inner}
		s.put(in, op("prmt.b32", in.Args[0], name(ws[0].reg.name), second, num(sel)))
		for _, x := range inner {
			taken[x] = true
		}
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

// bytesOf follows the bytes of the value that an instruction makes; inner collects the instructions whose only reader is in the tree.
func (k *kernel) bytesOf(d *inst, inner *[]*inst, steps int) (b [4]source, ok bool) {
	if d == nil || d.Guard != nil || steps == 0 || len(d.Args) < 2 {
		return b, false
	}
	arg := func(i int) ([4]source, bool) {
		a := d.Args[i]
		if a.Kind == ptx.ArgInt && a.Int == 0 {
			return [4]source{{zero: true}, {zero: true}, {zero: true}, {zero: true}}, true
		}
		w, ok := k.argWord(d, a)
		if !ok || w.reg.bits() != 32 {
			return [4]source{}, false
		}
		if e := w.setter(); e != nil && k.only(e, d) {
			n := len(*inner)
			if b, ok := k.bytesOf(e, inner, steps-1); ok {
				return b, true
			}
			*inner = (*inner)[:n]
		}
		return [4]source{{w: w, i: 0}, {w: w, i: 1}, {w: w, i: 2}, {w: w, i: 3}}, true
	}
	x, ok := arg(1)
	if !ok {
		return b, false
	}
	c := int64(-1)
	if len(d.Args) == 3 {
		if f, ok := k.field(d, d.Args[2]); ok && f.isConst {
			c = f.value & 0xffffffff
		}
	}
	zero := source{zero: true}
	switch {
	case d.is("or", "b32"), d.is("xor", "b32"), d.isAny("add", nil, "u32", "s32"):
		y, ok := arg(2)
		if !ok {
			return b, false
		}
		for i := range b {
			switch {
			case x[i].zero:
				b[i] = y[i]
			case y[i].zero:
				b[i] = x[i]
			default:
				return b, false
			}
		}
	case d.is("and", "b32") && c >= 0:
		for i := range b {
			switch m := c >> (8 * i) & 255; {
			case m == 255:
				b[i] = x[i]
			case m == 0 || x[i].zero:
				b[i] = zero
			default:
				return b, false
			}
		}
	case d.is("shl", "b32") && c >= 0 && c < 32 && c%8 == 0:
		for i := range b {
			b[i] = zero
			if j := i - int(c/8); j >= 0 {
				b[i] = x[j]
			}
		}
	case d.isAny("shr", nil, "u32", "b32") && c >= 0 && c < 32 && c%8 == 0:
		for i := range b {
			b[i] = zero
			if j := i + int(c/8); j < 4 {
				b[i] = x[j]
			}
		}
	default:
		return b, false
	}
	*inner = append(*inner, d)
	return b, true
}

// logic joins and, or, xor and not of at most three values into one lop3, where at least two instructions go.
func logic(k *kernel, n *namer) []*site {
	var out []*site
	taken := map[*inst]bool{}
	for _, in := range slices.Backward(k.insts) {
		if taken[in] || !isLogic(in) || len(in.sets) != 1 || in.sets[0].bits() != 32 {
			continue
		}
		t := logicTree{k: k}
		table, ok := t.table(in)
		if !ok || len(t.inner) < 2 || len(t.leaves) < 2 || !all(t.words, func(w word) bool { return k.available(w, in) }) {
			continue
		}
		args := slices.Clone(t.leaves)
		for len(args) < 3 {
			args = append(args, args[0])
		}
		s := &site{at: t.inner, drop: t.inner}
		s.put(in, op("lop3.b32", in.Args[0], args[0], args[1], args[2], num(int64(table))))
		for _, x := range t.inner {
			taken[x] = true
		}
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

func isLogic(in *inst) bool {
	return in.is("and", "b32") || in.is("or", "b32") || in.is("xor", "b32") || in.is("not", "b32")
}

// logicTree grows downward as long as there are at most three leaves.
type logicTree struct {
	k      *kernel
	inner  []*inst
	leaves []ptx.Arg
	words  []word
}

// leafTables are the columns of the three inputs in a lop3 table.
var leafTables = [3]uint8{0xf0, 0xcc, 0xaa}

func (t *logicTree) table(d *inst) (uint8, bool) {
	t.inner = append(t.inner, d)
	var v [2]uint8
	for i, a := range d.Args[1:] {
		f, ok := t.operand(d, a)
		if !ok {
			return 0, false
		}
		v[i] = f
	}
	switch d.Op {
	case "and":
		return v[0] & v[1], true
	case "or":
		return v[0] | v[1], true
	case "xor":
		return v[0] ^ v[1], true
	}
	return ^v[0], true
}

func (t *logicTree) operand(d *inst, a ptx.Arg) (uint8, bool) {
	if a.Kind == ptx.ArgInt && (a.Int == 0 || uint32(a.Int) == 0xffffffff) {
		return uint8(a.Int), true
	}
	w, ok := t.k.argWord(d, a)
	if !ok {
		return 0, false // other constants: lop3 takes them, but a register for each would be needed
	}
	if e := w.setter(); isLogic(e) && t.k.only(e, d) {
		saved := *t
		saved.inner, saved.leaves, saved.words = slices.Clone(t.inner), slices.Clone(t.leaves), slices.Clone(t.words)
		if v, ok := t.table(e); ok {
			return v, true
		}
		*t = saved
	}
	if i := slices.Index(t.words, w); i >= 0 {
		return leafTables[i], true
	}
	if len(t.leaves) == 3 {
		return 0, false
	}
	t.leaves, t.words = append(t.leaves, a), append(t.words, w)
	return leafTables[len(t.leaves)-1], true
}
