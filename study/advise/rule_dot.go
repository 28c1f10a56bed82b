package advise

import (
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// part is a byte or a 16-bit half of a 32-bit word.
type part struct {
	w      word
	i      int
	signed bool
}

// part8 is the byte that a field is; a non-negative narrower value does not count: its neighbours would be multiplied too.
func part8(f field) (part, bool) {
	i, ok := f.byteOf()
	return part{f.w, i, f.signed}, ok
}

func part16(f field) (part, bool) {
	i, ok := f.halfOf()
	return part{f.w, i, f.signed}, ok
}

// dots replaces sums of byte products by dp4a and of half-word times byte products by dp2a.
func dots(k *kernel, n *namer) []*site {
	var out []*site
	packs := map[packKey]packed{}
	for _, s := range k.sums() {
		d := dotter{k: k, n: n, s: s, packs: packs}
		d.aligned()
		d.squares()
		d.shifted()
		d.constants()
		d.halves()
		if len(d.groups) == 0 {
			continue
		}
		st, ok := k.rebuild(s, d.groups, n)
		if !ok {
			d.undo()
			continue
		}
		for _, p := range d.made {
			p.emit(st)
		}
		out = append(out, st)
	}
	return out
}

type dotter struct {
	k      *kernel
	n      *namer
	s      *sum
	groups []item
	packs  map[packKey]packed
	made   []pack
}

// packKey is a permutation of the bytes of two words, at a basic block.
type packKey struct {
	a, b word
	sel  int64
	blk  *basicBlock
}

type packed struct {
	reg ptx.Arg
	at  *inst
}

// pack is a prmt that a group needs.
type pack struct {
	key packKey
	reg ptx.Arg
	at  *inst
}

func (p pack) emit(s *site) {
	in := op("prmt.b32", p.reg, name(p.key.a.reg.name), name(p.key.b.reg.name), num(p.key.sel))
	in.Loc = p.at.Loc
	if s.before == nil {
		s.before = map[int][]*ptx.Instr{}
	}
	s.before[p.at.n] = append([]*ptx.Instr{in}, s.before[p.at.n]...)
}

func (d *dotter) undo() {
	for _, p := range d.made {
		delete(d.packs, p.key)
	}
}

// free are the terms of a kind that no group has yet.
func (d *dotter) free(f func(*term) bool) []*term {
	var out []*term
	for _, t := range d.s.terms {
		if !t.used && f(t) {
			out = append(out, t)
		}
	}
	return out
}

func isProduct(t *term) bool { return t.kind == termProduct }

// last is the latest place at which the terms are added.
func last(ts []*term) *inst {
	at := ts[0].at
	for _, t := range ts {
		if t.at.n > at.n {
			at = t.at
		}
	}
	return at
}

// operand is a word of a dot product: a register, a constant, or bytes of two registers to be brought together.
type operand struct {
	arg   ptx.Arg
	words []word
}

// join makes the operand whose parts are as listed, size bytes each: the word itself, or a prmt of at most two words.
func (d *dotter) join(parts []part, size int, at *inst) (operand, bool) {
	w := parts[0].w
	straight := true
	var ws []word
	for i, p := range parts {
		straight = straight && p.w == w && p.i == i
		if !slices.Contains(ws, p.w) {
			ws = append(ws, p.w)
		}
	}
	if !all(ws, func(w word) bool { return d.k.available(w, at) }) || len(ws) > 2 {
		return operand{}, false
	}
	if straight {
		return operand{name(w.reg.name), []word{w}}, true
	}
	sel, shift := int64(0), 0
	for _, p := range parts {
		for b := range size {
			sel |= int64(slices.Index(ws, p.w)*4+p.i*size+b) << shift
			shift += 4
		}
	}
	for n := len(parts) * size; n < 4; n++ {
		sel |= int64(n) << (4 * n)
	}
	key := packKey{ws[0], ws[len(ws)-1], sel, at.blk}
	if have, ok := d.packs[key]; ok && have.at.n <= at.n {
		return operand{arg: have.reg}, true
	}
	reg := d.n.fresh("b32")
	d.packs[key] = packed{reg, at}
	d.made = append(d.made, pack{key, reg, at})
	return operand{arg: reg}, true
}

// add makes a group of terms: one dp4a or dp2a.
func (d *dotter) add(full string, at *inst, a, b operand, ts []*term) {
	for _, t := range ts {
		t.used = true
	}
	d.groups = append(d.groups, item{at: at, words: slices.Concat(a.words, b.words), emit: func(put func(*ptx.Instr), dst, acc ptx.Arg) {
		put(op(full, dst, a.arg, b.arg, acc))
	}})
}

func dp4a(a, b bool) string { return "dp4a." + signLetter(a) + "32." + signLetter(b) + "32" }

// pairKey is two words whose bytes are multiplied place by place.
type pairKey struct {
	a, b   word
	sa, sb bool
}

// aligned groups a[i] * b[i] for the four bytes of two words.
func (d *dotter) aligned() {
	byWords := map[pairKey][4]*term{}
	var order []pairKey
	for _, t := range d.free(isProduct) {
		a, ok1 := part8(t.fa)
		b, ok2 := part8(t.fb)
		if !ok1 || !ok2 || a.i != b.i {
			continue
		}
		key, swapped := pairKey{a.w, b.w, a.signed, b.signed}, pairKey{b.w, a.w, b.signed, a.signed}
		if _, ok := byWords[swapped]; ok {
			key = swapped
		}
		g, ok := byWords[key]
		if !ok {
			order = append(order, key)
		}
		if g[a.i] == nil {
			g[a.i] = t
		}
		byWords[key] = g
	}
	for _, key := range order {
		g := byWords[key]
		if slices.Contains(g[:], nil) {
			continue
		}
		at := last(g[:])
		if ws := []word{key.a, key.b}; all(ws, func(w word) bool { return d.k.available(w, at) }) {
			d.add(dp4a(key.sa, key.sb), at, operand{name(key.a.reg.name), ws[:1]}, operand{name(key.b.reg.name), ws[1:]}, g[:])
		}
	}
}

// squares groups four squares of bytes, whichever words they are of.
func (d *dotter) squares() {
	for _, signed := range []bool{false, true} {
		ts := d.free(func(t *term) bool {
			p, ok := part8(t.fa)
			return isProduct(t) && ok && t.fa == t.fb && p.signed == signed
		})
		for ; len(ts) >= 4; ts = ts[4:] {
			g := ts[:4]
			parts := make([]part, 4)
			for i, t := range g {
				parts[i], _ = part8(t.fa)
			}
			sortParts(parts)
			at := last(g)
			if o, ok := d.join(parts, 1, at); ok {
				d.add(dp4a(signed, signed), at, o, o, g)
			}
		}
	}
}

// sortParts puts the parts in the order of their words and places, so that equal sets give equal operands.
func sortParts(ps []part) {
	first := slices.Clone(ps)
	rank := func(p part) int {
		return slices.IndexFunc(first, func(q part) bool { return q.w == p.w })
	}
	slices.SortStableFunc(ps, func(a, b part) int {
		if r := rank(a) - rank(b); r != 0 {
			return r
		}
		return a.i - b.i
	})
}

// shifted groups the four bytes of one word with bytes from anywhere in at most two words.
func (d *dotter) shifted() {
	for _, t := range d.free(isProduct) {
		for _, side := range []bool{false, true} {
			if t.used {
				break
			}
			_, b := t.sides(side)
			if pb, ok := part8(b); ok {
				d.around(pb, side)
			}
		}
	}
}

// sides are the factors, exchanged on demand.
func (t *term) sides(swap bool) (a, b field) {
	if swap {
		return t.fb, t.fa
	}
	return t.fa, t.fb
}

// around groups products with the four bytes of pb's word.
func (d *dotter) around(pb part, swap bool) {
	var g [4]*term
	var parts [4]part
	for _, t := range d.free(isProduct) {
		for _, sw := range []bool{swap, !swap} {
			fa, fb := t.sides(sw)
			a, ok1 := part8(fa)
			b, ok2 := part8(fb)
			if ok1 && ok2 && b.w == pb.w && b.signed == pb.signed && g[b.i] == nil && !slices.Contains(g[:], t) {
				g[b.i], parts[b.i] = t, a
			}
		}
	}
	if slices.Contains(g[:], nil) {
		return
	}
	for _, p := range parts {
		if p.signed != parts[0].signed {
			return
		}
	}
	at := last(g[:])
	if !d.k.available(pb.w, at) {
		return
	}
	if o, ok := d.join(parts[:], 1, at); ok {
		d.add(dp4a(parts[0].signed, pb.signed), at, o, operand{name(pb.w.reg.name), []word{pb.w}}, g[:])
	}
}

// constants groups bytes times small constants; a byte that is added alone counts as one times it.
func (d *dotter) constants() {
	type weighted struct {
		t *term
		p part
		c int64
	}
	for _, signed := range []bool{false, true} {
		var list []weighted
		for _, t := range d.free(func(*term) bool { return true }) {
			fa, fb := t.fa, t.fb
			switch t.kind {
			case termValue:
				f, ok := d.k.field(t.src, t.a)
				if !ok {
					continue
				}
				fa, fb = f, field{isConst: true, value: 1}
			case termProduct:
				if fa.isConst {
					fa, fb = fb, fa
				}
			default:
				continue
			}
			p, ok := part8(fa)
			if ok && p.signed == signed && fb.isConst && fb.value >= -128 && fb.value <= 255 {
				list = append(list, weighted{t, p, fb.value})
			}
		}
		for len(list) >= 4 {
			g := list[:4]
			list = list[4:]
			neg := slices.ContainsFunc(g, func(x weighted) bool { return x.c < 0 })
			if neg && slices.ContainsFunc(g, func(x weighted) bool { return x.c > 127 }) {
				continue
			}
			var ts []*term
			var parts []part
			for _, x := range g {
				ts, parts = append(ts, x.t), append(parts, x.p)
			}
			sortParts(parts)
			c := uint32(0)
			for i, p := range parts {
				j := slices.IndexFunc(g, func(x weighted) bool { return x.t != nil && x.p == p })
				c |= uint32(uint8(g[j].c)) << (8 * i)
				g[j].t = nil
			}
			at := last(ts)
			if o, ok := d.join(parts, 1, at); ok {
				d.add(dp4a(signed, neg), at, o, operand{arg: num(int64(c))}, ts)
			}
		}
	}
}

// halves groups two products of a 16-bit half and a byte, bytes 0 and 1 or 2 and 3 of a word.
func (d *dotter) halves() {
	type key struct {
		w      word
		pair   int
		sa, sb bool
	}
	groups := map[key][2]*term{}
	sides := map[*term]part{}
	var order []key
	for _, t := range d.free(isProduct) {
		for _, sw := range []bool{false, true} {
			fa, fb := t.sides(sw)
			a, ok1 := part16(fa)
			b, ok2 := part8(fb)
			if !ok1 || !ok2 {
				continue
			}
			x := key{b.w, b.i / 2, a.signed, b.signed}
			g, ok := groups[x]
			if !ok {
				order = append(order, x)
			}
			if g[b.i%2] == nil {
				g[b.i%2], sides[t] = t, a
			}
			groups[x] = g
			break
		}
	}
	for _, x := range order {
		g := groups[x]
		if g[0] == nil || g[1] == nil {
			continue
		}
		at := last(g[:])
		if !d.k.available(x.w, at) {
			continue
		}
		if o, ok := d.join([]part{sides[g[0]], sides[g[1]]}, 2, at); ok {
			full := "dp2a.lo." + signLetter(x.sa) + "32." + signLetter(x.sb) + "32"
			if x.pair == 1 {
				full = "dp2a.hi." + signLetter(x.sa) + "32." + signLetter(x.sb) + "32"
			}
			d.add(full, at, o, operand{name(x.w.reg.name), []word{x.w}}, g[:])
		}
	}
}
