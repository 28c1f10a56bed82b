package advise

import (
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// sads joins absolute differences and their sum: sad for words, vabsdiff4 with accumulation for the four bytes of two words.
func sads(k *kernel, n *namer) []*site {
	var out []*site
	for _, s := range k.sums() {
		var groups []item
		for _, t := range s.terms {
			if g, ok := k.accumulated(s, t); ok {
				groups = append(groups, g)
			}
		}
		groups = append(groups, k.byteDiffs(s)...)
		changed := len(groups) > 0
		for _, t := range s.terms {
			changed = changed || !t.used && t.kind == termDiff && t.src.Op != "sad"
		}
		if !changed {
			continue
		}
		if st, ok := k.rebuild(s, groups, n); ok {
			out = append(out, st)
		}
	}
	return append(out, k.lonelyDiffs(n)...)
}

// lonelyDiffs are absolute differences that no sum takes: sad with zero.
func (k *kernel) lonelyDiffs(n *namer) []*site {
	var out []*site
	for _, in := range k.insts {
		if len(in.users) == 1 && addends(in.users[0]) != nil && k.only(in, in.users[0]) {
			continue
		}
		if len(in.sets) != 1 || in.sets[0].bits() != 32 {
			continue
		}
		s := &sum{root: in}
		if t := k.leaf(s, in, in); t != nil && t.kind == termDiff && all(k.words(t.src, t.a, t.b), func(w word) bool { return k.available(w, in) }) {
			st := &site{at: s.nodes, drop: s.nodes}
			k.putDiff(func(x *ptx.Instr) { st.put(in, x) }, t, in.Args[0], num(0), n)
			out = append(out, st)
		}
	}
	return out
}

const onesBytes = 0x01010101

// accumulated is a dp4a that only adds up the four results of a vabsdiff4.
func (k *kernel) accumulated(s *sum, t *term) (item, bool) {
	if t.kind != termOther || !t.at.is("dp4a", "u32", "u32") {
		return item{}, false
	}
	for i := 1; i <= 2; i++ {
		f, ok := k.field(t.at, t.at.Args[3-i])
		w, ok2 := k.argWord(t.at, t.at.Args[i])
		v := w.setter()
		if !ok || !ok2 || !f.isConst || f.value != onesBytes || v == nil || !v.is("vabsdiff4", "u32", "u32", "u32") || len(v.Args) != 4 || !k.only(v, t.at) {
			continue
		}
		if !plain(v.Args[0]) || !plain(v.Args[1]) || !plain(v.Args[2]) {
			continue
		}
		s.nodes = append(s.nodes, v)
		t.used = true
		return item{at: t.at, words: k.words(v, v.Args[1], v.Args[2]), register: true, emit: func(put func(*ptx.Instr), dst, acc ptx.Arg) {
			put(op("vabsdiff4.u32.u32.u32.add", dst, v.Args[1], v.Args[2], acc))
		}}, true
	}
	return item{}, false
}

// plain says that a video operand has no selector or sign.
func plain(a ptx.Arg) bool { return a.Member == "" && !a.Neg }

// byteDiffs groups |a[i] - b[i]| of unsigned bytes for the four bytes of two words.
func (k *kernel) byteDiffs(s *sum) []item {
	type key struct{ a, b word }
	groups := map[key][4]*term{}
	var order []key
	for _, t := range s.terms {
		if t.kind != termDiff || t.used {
			continue
		}
		if t.src.Op == "sad" {
			t.fa, _ = k.field(t.src, t.a)
			t.fb, _ = k.field(t.src, t.b)
		}
		a, ok1 := part8(t.fa)
		b, ok2 := part8(t.fb)
		if !ok1 || !ok2 || a.signed || b.signed || a.i != b.i {
			continue
		}
		x := key{a.w, b.w}
		if _, ok := groups[key{b.w, a.w}]; ok {
			x = key{b.w, a.w}
		}
		g, ok := groups[x]
		if !ok {
			order = append(order, x)
		}
		if g[a.i] == nil {
			g[a.i] = t
		}
		groups[x] = g
	}
	var out []item
	for _, x := range order {
		g := groups[x]
		if slices.Contains(g[:], nil) {
			continue
		}
		at := last(g[:])
		ws := []word{x.a, x.b}
		if !all(ws, func(w word) bool { return k.available(w, at) }) {
			continue
		}
		for _, t := range g {
			t.used = true
		}
		out = append(out, item{at: at, words: ws, register: true, emit: func(put func(*ptx.Instr), dst, acc ptx.Arg) {
			put(op("vabsdiff4.u32.u32.u32.add", dst, name(x.a.reg.name), name(x.b.reg.name), acc))
		}})
	}
	return out
}

// majority and parity are the look-up tables of lop3 for a full adder of bits.
const (
	parity   = 0x96
	majority = 0xe8
)

// populations adds words bit by bit before it counts: a full adder (two lop3) turns three words to count into two, of which one counts double.
func populations(k *kernel, n *namer) []*site {
	var out []*site
	for _, s := range k.sums() {
		var ts []*term
		var counts []*inst
		long := 0 // counts of 64 bits: two words each
		for _, t := range s.terms {
			w, ok := word{}, false
			if t.kind == termValue {
				w, ok = k.argWord(t.src, t.a)
			}
			if d := w.setter(); ok && d.isAny("popc", nil, "b32", "b64") && k.only(d, t.src) {
				ts, counts = append(ts, t), append(counts, d)
				if d.Mods[0] == "b64" {
					long++
				}
			}
		}
		if len(ts)+long < 3 {
			continue
		}
		at := last(ts)
		var level []ptx.Arg
		var ws []word
		var halves []*ptx.Instr
		for i, t := range ts {
			t.used = true
			a := counts[i].Args[1]
			ws = append(ws, k.words(counts[i], a)...)
			if counts[i].Mods[0] == "b64" {
				lo, hi := n.fresh("b32"), n.fresh("b32")
				halves = append(halves, op("mov.b64", vec(lo, hi), a))
				level = append(level, lo, hi)
				continue
			}
			level = append(level, a)
		}
		s.nodes = append(s.nodes, counts...)
		g := item{at: at, words: ws, emit: func(put func(*ptx.Instr), dst, acc ptx.Arg) {
			for _, h := range halves {
				put(h)
			}
			k.carrySave(put, level, dst, acc, n)
		}}
		if st, ok := k.rebuild(s, []item{g}, n); ok {
			out = append(out, st)
		}
	}
	return out
}

// carrySave makes dst = acc + the population counts of the words.
func (k *kernel) carrySave(put func(*ptx.Instr), words []ptx.Arg, dst, acc ptx.Arg, n *namer) {
	type counted struct {
		w     ptx.Arg
		shift int64
	}
	var rest []counted
	for shift := int64(0); len(words) > 0; shift++ {
		var carries []ptx.Arg
		for len(words) >= 3 {
			s, c := n.fresh("b32"), n.fresh("b32")
			put(op("lop3.b32", s, words[0], words[1], words[2], num(parity)))
			put(op("lop3.b32", c, words[0], words[1], words[2], num(majority)))
			words = append(slices.Clone(words[3:]), s)
			carries = append(carries, c)
		}
		for _, w := range words {
			rest = append(rest, counted{w, shift})
		}
		words = carries
	}
	// The counts are added up before the sum so far, which may come from the iteration before.
	var sum ptx.Arg
	for i, x := range rest {
		p, to := n.fresh("b32"), n.fresh("b32")
		put(op("popc.b32", p, x.w))
		switch {
		case i == 0 && x.shift == 0:
			to = p
		case i == 0:
			put(op("shl.b32", to, p, num(int64(x.shift))))
		case x.shift == 0:
			put(op("add.s32", to, p, sum))
		default:
			put(op("mad.lo.s32", to, p, num(1<<x.shift), sum))
		}
		sum = to
	}
	put(op("add.s32", dst, sum, acc))
}
