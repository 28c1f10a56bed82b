package advise

import (
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// wides joins the two halves of 32 x 32 bit products. A pair mul.lo, mul.hi becomes one mul.wide. Two carry chains, one of the low halves of
// a[0]*b, a[1]*b, ... and one of the high halves, one place higher, are the same sum as a chain of the even products and one of the odd
// products, in which low and high half of a product follow each other, so that one wide multiply-add makes both.
func wides(k *kernel, n *namer) []*site {
	out := append(k.halfPairs(n), k.longProducts()...)
	chains := k.chains()
	for i := 0; i < len(chains); i++ {
		var s *site
		if i+1 < len(chains) {
			s = k.interleave(chains[i], chains[i+1], n)
		}
		if s != nil {
			i++
		} else {
			s = k.oneProduct(chains[i], n)
		}
		if s != nil {
			out = append(out, s)
		}
	}
	return out
}

// oneProduct is mad.lo.cc and madc.hi of the same factors, or mul.lo in the place of the first: one mad.wide.
func (k *kernel) oneProduct(c chain, n *namer) *site {
	if len(c) != 2 {
		return nil
	}
	l, h := c[0], c[1]
	if l.Op != "mad" || h.Op != "madc" || len(l.Mods) != 3 || len(h.Mods) != 2 || !l.Has("lo") || !h.Has("hi") || l.Mods[2] != h.Mods[1] ||
		!k.same(l, l.Args[1], h, h.Args[1]) && !k.same(l, l.Args[1], h, h.Args[2]) || !k.same(l, l.Args[2], h, h.Args[2]) && !k.same(l, l.Args[2], h, h.Args[1]) {
		return nil
	}
	typ := l.Mods[2]
	if typ != "u32" && typ != "s32" || !all(k.words(l, l.Args[1:]...), func(w word) bool { return k.available(w, h) }) ||
		slices.ContainsFunc(l.users, func(u *inst) bool { return u.blk == l.blk && u.n <= h.n }) || slices.Contains(h.reads, l.sets[0]) {
		return nil
	}
	acc, sum := n.fresh("b64"), n.fresh("b64")
	s := &site{at: []*inst{l, h}, drop: []*inst{l, h}}
	s.put(h, op("mov.b64", acc, vec(l.Args[3], h.Args[3])))
	s.put(h, op("mad.wide."+typ, sum, l.Args[1], l.Args[2], acc))
	s.put(h, op("mov.b64", vec(l.Args[0], h.Args[0]), sum))
	return s
}

// longProducts are 64-bit products of values that are extended from 32 bits: mul.wide.
func (k *kernel) longProducts() []*site {
	var out []*site
	for _, in := range k.insts {
		if !in.isAny("mul", []string{"lo"}, "u64", "s64") {
			continue
		}
		var args [2]ptx.Arg
		var from [2]*inst
		typ := ""
		for i := range args {
			w, ok := k.argWord(in, in.Args[i+1])
			d := w.setter()
			switch {
			case ok && d.is("cvt", "u64", "u32") && typ != "s32":
				typ = "u32"
			case ok && d.is("cvt", "s64", "s32") && typ != "u32":
				typ = "s32"
			default:
				d = nil
			}
			if d == nil || d.Args[1].Kind != ptx.ArgName {
				break
			}
			args[i], from[i] = d.Args[1], d
		}
		if from[0] == nil || from[1] == nil || !all(append(k.words(from[0], args[0]), k.words(from[1], args[1])...), func(w word) bool { return k.available(w, in) }) {
			continue
		}
		s := &site{at: []*inst{from[0], from[1], in}, drop: []*inst{in}}
		s.put(in, op("mul.wide."+typ, in.Args[0], args[0], args[1]))
		out = append(out, s)
	}
	return out
}

// halfPairs are mul.lo.u32 and mul.hi.u32 of the same factors within a block.
func (k *kernel) halfPairs(n *namer) []*site {
	var out []*site
	for _, hi := range k.insts {
		if !hi.isAny("mul", []string{"hi"}, "u32", "s32") {
			continue
		}
		for _, lo := range k.insts[hi.blk.first:hi.blk.last] {
			if !lo.isAny("mul", []string{"lo"}, "u32", "s32") || !(k.same(lo, lo.Args[1], hi, hi.Args[1]) && k.same(lo, lo.Args[2], hi, hi.Args[2]) ||
				k.same(lo, lo.Args[1], hi, hi.Args[2]) && k.same(lo, lo.Args[2], hi, hi.Args[1])) {
				continue
			}
			// Both results appear where the first stood; the later one's register must be free until then.
			first, second := lo, hi
			if hi.n < lo.n {
				first, second = hi, lo
			}
			if len(k.defs[second.sets[0]]) != 1 || slices.ContainsFunc(k.insts[first.n:second.n], func(in *inst) bool { return slices.Contains(in.reads, second.sets[0]) }) {
				continue
			}
			t := n.fresh("b64")
			s := &site{at: []*inst{first, second}, drop: []*inst{first, second}}
			s.put(first, op("mul.wide."+hi.Mods[1], t, first.Args[1], first.Args[2]))
			s.put(first, op("mov.b64", vec(lo.Args[0], hi.Args[0]), t))
			out = append(out, s)
			break
		}
	}
	return out
}

// chain is a run of instructions that hand the carry flag on, from the one that starts it to the one that only reads it.
type chain []*inst

// chains lists the carry chains whose flag nothing else touches, in order.
func (k *kernel) chains() []chain {
	var out []chain
	var cur chain
	for i, in := range k.insts {
		sets, reads := setsCarry(in.Instr), readsCarry(in.Instr)
		switch {
		case i > 0 && in.blk != k.insts[i-1].blk, in.Op == "call":
			cur = nil
		}
		if !sets && !reads {
			continue
		}
		switch {
		case in.Guard != nil:
			cur = nil
		case sets && !reads:
			cur = chain{in}
		case cur != nil:
			cur = append(cur, in)
			if !sets {
				out = append(out, cur)
				cur = nil
			}
		}
	}
	return out
}

// interleave rewrites a chain of low halves and the following chain of high halves; nil if they are not such a pair.
//
//	low:  r[i] = lo(a[i]*b) + c[i] (+ carry), i = 0..n-1;  r[n] = x + y + carry
//	high: q[i] = hi(a[i]*b) + r[i+1] (+ carry), i = 0..n-1
//
// Both sides are congruent modulo 2^(32(n+1)), the width of the result r[0], q[0], ..., q[n-1].
func (k *kernel) interleave(low, high chain, n *namer) *site {
	if !k.interleaved(low, high) {
		return nil
	}
	// The new chains stand where the high chain begins: their operands must still be there, and nobody may have read r[0] before.
	at, m, tail := high[0], len(high), low[len(high)]
	for _, in := range low {
		if !all(k.words(in, in.Args[1:]...), func(w word) bool { return k.available(w, at) }) {
			return nil
		}
	}
	if slices.ContainsFunc(low[0].users, func(u *inst) bool { return u.n <= at.n && u.blk == at.blk }) || len(k.defs[low[0].sets[0]]) != 1 {
		return nil
	}
	s := &site{at: slices.Concat(low, high), drop: slices.Concat(low, high)}
	// acc[i] is word i of the sum so far.
	acc := make([]ptx.Arg, m+1)
	for i := range m {
		acc[i] = low[i].Args[3]
	}
	acc[m] = tail.Args[1]
	extra := tail.Args[2]
	for start := range 2 {
		first := true
		for i := start; i < m; i += 2 {
			for half, word := range []string{"lo", "hi"} {
				j := i + half
				dst := n.fresh("b32")
				cc := ".cc"
				if j == m {
					cc = ""
				}
				name := "madc." + word + cc + ".u32"
				if first {
					name = "mad." + word + cc + ".u32"
				}
				s.put(at, op(name, dst, low[i].Args[1], low[i].Args[2], acc[j]))
				acc[j], first = dst, false
			}
		}
		// A row that ends one word below the top carries into it.
		if end := start + (m-start+1)/2*2; end <= m {
			dst := n.fresh("b32")
			s.put(at, op("addc.u32", dst, acc[m], num(0)))
			acc[m] = dst
		}
	}
	// The second addend of the tail joins the top word.
	if extra.Kind != ptx.ArgInt || extra.Int != 0 {
		dst := n.fresh("b32")
		s.put(at, op("add.s32", dst, acc[m], extra))
		acc[m] = dst
	}
	s.put(at, op("mov.b32", low[0].Args[0], acc[0]))
	for i := range m {
		s.put(high[i], op("mov.b32", high[i].Args[0], acc[i+1]))
	}
	return s
}

// interleaved says that two chains are the low and high halves of the products of the same words, one pair above the other (interleave).
func (k *kernel) interleaved(low, high chain) bool {
	m := len(high)
	if m < 2 || len(low) != m+1 || low[0].blk != high[0].blk || high[0].n < low[m].n || k.flagBetween(low[m], high[0]) {
		return false
	}
	tail := low[m]
	if tail.Op != "addc" || len(tail.Mods) != 1 || tail.Mods[0] != "u32" && tail.Mods[0] != "s32" || len(tail.sets) != 1 {
		return false
	}
	for i := range m {
		l, h := low[i], high[i]
		if (l.Op != "mad" && l.Op != "madc") || (h.Op != "mad" && h.Op != "madc") || !l.Has("lo") || !h.Has("hi") || !l.Has("u32") || !h.Has("u32") || len(l.Mods) != 3 ||
			!k.same(l, l.Args[1], h, h.Args[1]) && !k.same(l, l.Args[1], h, h.Args[2]) || !k.same(l, l.Args[2], h, h.Args[2]) && !k.same(l, l.Args[2], h, h.Args[1]) {
			return false
		}
		// r[i+1] has one reader, the addend of the high chain.
		r := low[i+1]
		w, ok := k.argWord(h, h.Args[3])
		if !ok || w.setter() != r || !k.only(r, h) {
			return false
		}
		if w1, ok := k.argWord(h, h.Args[1]); ok && w1.def == r {
			return false
		}
	}
	return true
}

// flagBetween says whether the flag is touched between two instructions.
func (k *kernel) flagBetween(a, b *inst) bool { return k.flagUsed(a.n+1, b.n) }
