package advise

import (
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// pairs16 replaces equal 16-bit additions, minima and maxima of the two halves of a word, whose results are put together or stored side
// by side, by one instruction for both halves: the lowering fuses these as it fuses those of 32 bits (VIADDMNMX and VIMNMX of 16x2).
func pairs16(k *kernel, n *namer) []*site {
	var out []*site
	for _, in := range k.insts {
		if s := k.pair16(n, in); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// pair16 is the site of an instruction that puts two halves together; nil if these are not of equal operations, or if as many moves as
// operations were needed.
func (k *kernel) pair16(n *namer, in *inst) *site {
	if in.Guard != nil || len(in.Args) != 2 || in.Args[1].Kind != ptx.ArgVector || len(in.Args[1].Elems) != 2 {
		return nil
	}
	size, _, ok := 0, false, false
	if in.Op == "st" {
		size, _, ok = intType(in.Mods[len(in.Mods)-1])
	}
	store := ok && size == 16 && in.Has("v2")
	if !store && !in.is("mov", "b32") {
		return nil
	}
	p := &pairer{k: k, at: in}
	el := in.Args[1].Elems
	root := p.tree(side{in, el[0]}, side{in, el[1]}, maxSteps)
	if root == nil || root.op == "" || len(p.nodes)/2 <= p.moves {
		return nil
	}
	s := &site{at: p.nodes, drop: append(slices.Clone(p.nodes), in)}
	if !store {
		root.into(s, n, in, in.Args[0])
		return s
	}
	w := root.value(s, n, in)
	one := *in.Instr
	one.Mods, one.Args = nil, []ptx.Arg{in.Args[0], w}
	for _, m := range in.Mods[:len(in.Mods)-1] {
		if m != "v2" {
			one.Mods = append(one.Mods, m)
		}
	}
	one.Mods = append(one.Mods, "b32")
	one.Text = one.String()
	s.put(in, &one)
	return s
}

// pairer follows two 16-bit values through equal operations.
type pairer struct {
	k     *kernel
	at    *inst   // where the word is needed
	nodes []*inst // the operations that go, two for each of the word's
	moves int     // moves that put two registers together
}

// pairTree is a word of two 16-bit values: a register, a number, two registers to put together, or an operation on two such words.
type pairTree struct {
	leaf ptx.Arg // a register of 32 bits, a number, or a vector of two registers of 16 bits
	op   string  // "add.s16x2"; "": a leaf
	ins  [2]*pairTree
}

// side is an operand and the instruction that reads it.
type side struct {
	in *inst
	a  ptx.Arg
}

// tree finds the word whose halves are low and high; nil if there is none.
func (p *pairer) tree(low, high side, steps int) *pairTree {
	k := p.k
	fl, ok1 := k.field(low.in, low.a)
	fh, ok2 := k.field(high.in, high.a)
	if !ok1 || !ok2 {
		return nil
	}
	if fl.isConst && fh.isConst {
		return &pairTree{leaf: num(int64(int32(uint32(uint16(fl.value)) | uint32(fh.value)<<16)))}
	}
	i, half1 := fl.halfOf()
	j, half2 := fh.halfOf()
	if half1 && half2 && i == 0 && j == 1 && fl.w == fh.w && k.available(fl.w, p.at) {
		return &pairTree{leaf: name(fl.w.reg.name)}
	}
	if t := p.operation(low, high, steps); t != nil {
		return t
	}
	wl, ok1 := k.argWord(low.in, low.a)
	wh, ok2 := k.argWord(high.in, high.a)
	if !ok1 || !ok2 || wl.reg.bits() != 16 || wh.reg.bits() != 16 || !k.available(wl, p.at) || !k.available(wh, p.at) {
		return nil
	}
	p.moves++
	return &pairTree{leaf: vec(low.a, high.a)}
}

// operation is an addition, minimum or maximum of both halves that nothing else reads; the operands of the high one may be the other way round.
func (p *pairer) operation(low, high side, steps int) *pairTree {
	wl, ok1 := p.k.argWord(low.in, low.a)
	wh, ok2 := p.k.argWord(high.in, high.a)
	dl, dh := wl.setter(), wh.setter()
	if !ok1 || !ok2 || steps == 0 || dl == dh || !p.k.only(dl, low.in) || !p.k.only(dh, high.in) || !dh.is(dl.Op, dl.Mods...) {
		return nil
	}
	if !dl.isAny("add", nil, "s16", "u16") && !dl.isAny("min", nil, "s16", "u16") && !dl.isAny("max", nil, "s16", "u16") {
		return nil
	}
	var best *pairTree
	var at pairer
	for _, other := range [][2]int{{1, 2}, {2, 1}} {
		q := pairer{p.k, p.at, append(slices.Clone(p.nodes), dl, dh), p.moves}
		x := q.tree(side{dl, dl.Args[1]}, side{dh, dh.Args[other[0]]}, steps-1)
		y := q.tree(side{dl, dl.Args[2]}, side{dh, dh.Args[other[1]]}, steps-1)
		if x != nil && y != nil && (best == nil || q.moves < at.moves) {
			best, at = &pairTree{op: dl.Op + "." + dl.Mods[0] + "x2", ins: [2]*pairTree{x, y}}, q
		}
	}
	if best != nil {
		*p = at
	}
	return best
}

// value puts the instructions of a tree in front of an instruction and gives the register, or the number, that it is.
func (t *pairTree) value(s *site, n *namer, at *inst) ptx.Arg {
	if t.op == "" && t.leaf.Kind == ptx.ArgName {
		return t.leaf
	}
	r := n.fresh("b32")
	t.into(s, n, at, r)
	return r
}

func (t *pairTree) into(s *site, n *namer, at *inst, r ptx.Arg) {
	if t.op == "" {
		s.put(at, op("mov.b32", r, t.leaf))
		return
	}
	x, y := t.ins[0].value(s, n, at), t.ins[1].value(s, n, at)
	s.put(at, op(t.op, r, x, y))
}
