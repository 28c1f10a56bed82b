package advise

import (
	"slices"
	"strconv"

	"github.com/sarchlab/smsim/isa/ptx"
)

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
		if !ok || len(t.inner) < 2 || len(t.leaves) < 2 || !all(t.words, func(w word) bool { return w.reg.typ == "" || k.available(w, in) }) {
			continue
		}
		args := slices.Clone(t.leaves)
		for len(args) < 3 {
			args = append(args, args[0])
		}
		if args[0].Kind == ptx.ArgInt && len(t.leaves) < 3 {
			args[2] = args[1] // a constant once
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
	if a.Kind == ptx.ArgInt {
		// A constant is a leaf like a register; the machine instruction takes one.
		w = word{reg: reg{name: strconv.FormatUint(uint64(uint32(a.Int)), 10)}}
		if i := slices.Index(t.words, w); i >= 0 {
			return leafTables[i], true
		}
		if len(t.leaves) == 3 || slices.ContainsFunc(t.leaves, func(l ptx.Arg) bool { return l.Kind == ptx.ArgInt }) {
			return 0, false
		}
		t.leaves, t.words = append(t.leaves, a), append(t.words, w)
		return leafTables[len(t.leaves)-1], true
	}
	if !ok {
		return 0, false
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
