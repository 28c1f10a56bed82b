package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// shareProducts lets the low 64 bits of a product take their upper word from the carry chain that makes the high 64 bits of the
// product of the same factors (mul.lo.s64 and mul.hi.u64), as ptxas does from Volta on: the cross products are computed once.
func (f *fn) shareProducts() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	s := &productSharer{f: f, n: n, defs: f.defSites(n)}
	some := false
	for _, b := range f.blocks {
		for s.share(b) {
			some = true
			s.defs = f.defSites(n)
		}
	}
	if some {
		f.removeDead()
	}
}

type productSharer struct {
	f    *fn
	n    numbering
	defs []defSite
}

// factors are the two words that a product multiplies, in a fixed order.
type factors [2]isa.Operand

func factorsOf(in *isa.Inst) factors {
	x := factors{in.Src[0], in.Src[1]}
	if less(&x[1], &x[0]) {
		x[0], x[1] = x[1], x[0]
	}
	return x
}

// maker is the unguarded instruction of block b that makes the word, its only definition, and its place.
func (s *productSharer) maker(b *block, o isa.Operand, op isa.Op) (*isa.Inst, int) {
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase || o.Flags&^(flagPair|isa.Wide64) != 0 {
		return nil, 0
	}
	id := s.n.of(isa.KindReg, o.Reg)
	if id >= len(s.defs) || !s.defs[id].value() || s.defs[id].b != b {
		return nil, 0
	}
	at := int(s.defs[id].i)
	if in := &b.insts[at]; in.Op == op {
		return in, at
	}
	return nil, 0
}

// wide is the product of two words, of which the operand is the given word or the pair.
func (s *productSharer) wide(b *block, o isa.Operand, part int) (*isa.Inst, int) {
	in, at := s.maker(b, o, isa.OpIMAD)
	if in == nil || in.Mod.Flags != isa.ModWide || in.Mod.Type != isa.U32 {
		return nil, 0
	}
	if regs := s.f.tuples[in.Dst[0].Reg]; len(regs) != 2 || part >= 0 && regs[part] != o.Reg {
		return nil, 0
	}
	return in, at
}

// results says that all that an instruction writes is written once.
func (s *productSharer) results(in *isa.Inst) bool {
	ok := true
	s.f.defs(in, s.n, func(id int) { ok = ok && id < len(s.defs) && s.defs[id].value() })
	return ok
}

// steady says that the sources of an instruction of the block do not change between the instructions at two places.
func (s *productSharer) steady(b *block, in *isa.Inst, first, last int) bool {
	varies := map[int]bool{} // by register: what is written more than once, as variables of loops are
	s.f.uses(in, s.n, func(id int) {
		if id >= len(s.defs) || !s.defs[id].value() {
			varies[id] = true
		}
	})
	ok := true
	for i := first; i <= last && len(varies) > 0 && ok; i++ {
		s.f.defs(&b.insts[i], s.n, func(id int) { ok = ok && !varies[id] })
	}
	return ok
}

// share finds one pair of products in the block and joins them.
func (s *productSharer) share(b *block) bool {
	for j := range b.insts {
		carry := &b.insts[j]
		if carry.Op != isa.OpIADD3 || carry.Dst[0] != rz || carry.Dst[1] == pt || carry.Mod.Flags != 0 || carry.Guard.Kind != isa.KindNone {
			continue
		}
		t := terms(carry, 3)
		if len(t) != 2 {
			continue
		}
		for k := range t {
			second, at2 := s.wide(b, t[k], 0)
			if second == nil || isZero(second.Src[2]) || second.NDst < 2 || second.Dst[1] == pt {
				continue
			}
			first, at1 := s.wide(b, second.Src[2], -1)
			low, at0 := s.wide(b, t[1-k], 1)
			if first == nil || low == nil || !isZero(first.Src[2]) || !isZero(low.Src[2]) {
				continue
			}
			if !s.results(carry) || !s.results(first) || !s.results(second) { // they may move up
				continue
			}
			i, cross, ok := s.sum(b, t[1-k], factorsOf(first), factorsOf(second))
			if !ok {
				continue
			}
			from, to := min(at0, at1, at2, cross[0], cross[1], i, j), max(at0, at1, at2, cross[0], cross[1], i, j)
			if s.steady(b, first, from, to) && s.steady(b, second, from, to) && s.steady(b, low, from, to) {
				s.join(b, i, j, at1, at2)
				return true
			}
		}
	}
	return false
}

// sum is the addition of the cross products with these factors, in this order, to the upper word of the product of the low words, and where
// the cross products are.
func (s *productSharer) sum(b *block, high isa.Operand, x, y factors) (at int, cross [2]int, ok bool) {
	for i := range b.insts {
		in := &b.insts[i]
		if in.Op != isa.OpIADD3 || in.Mod.Flags&^modKeep != 0 || !plainPreds(in) || in.Guard.Kind != isa.KindNone || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Reg < isa.VirtualBase || !s.results(in) {
			continue
		}
		t := terms(in, 3)
		if len(t) != 2 {
			continue
		}
		for k := range t {
			if t[k] != high {
				continue
			}
			last, at2 := s.maker(b, t[1-k], isa.OpIMAD)
			if last == nil || last.Mod.Flags != 0 {
				continue
			}
			one, at1 := s.maker(b, last.Src[2], isa.OpIMAD)
			if one == nil || one.Mod.Flags != 0 || !isZero(one.Src[2]) {
				continue
			}
			if factorsOf(one) == x && factorsOf(last) == y { // of swapped factors ptxas computes all twice
				return i, [2]int{at1, at2}, true
			}
		}
	}
	return 0, cross, false
}

// join makes the addition at i the one with the carry, at j, whose cross products at1 and at2 make. What comes later moves before the first of the two.
func (s *productSharer) join(b *block, i, j, at1, at2 int) {
	sum, carry := b.insts[i], b.insts[j]
	carry.Dst[0] = sum.Dst[0]
	if j < i {
		b.insts[j] = carry
		dead(&b.insts[i])
		s.f.compact()
		return
	}
	var early []isa.Inst
	for _, at := range []int{at1, at2} {
		if at > i {
			early = append(early, b.insts[at])
			dead(&b.insts[at])
		}
	}
	b.insts[i] = carry
	dead(&b.insts[j])
	b.insts = slices.Insert(b.insts, i, early...)
	s.f.compact()
}
