package lower

import (
	"math/bits"
)

// bitset is a set of dense register numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (s bitset) has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }
func (s bitset) set(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s bitset) clear(i int)    { s[i>>6] &^= 1 << (i & 63) }

func (s bitset) setAll(list []int) {
	for _, i := range list {
		s.set(i)
	}
}

// each calls visit for the members in ascending order.
func (s bitset) each(visit func(i int)) {
	for w, x := range s {
		for x != 0 {
			visit(w<<6 + bits.TrailingZeros64(x))
			x &= x - 1
		}
	}
}

// liveness is which registers are live at the start and end of each block, by block id.
type liveness struct {
	n       numbering
	in, out []bitset
}

// live computes liveness by iterating backwards over the blocks.
func (f *fn) live() *liveness {
	n := f.numbering()
	l := &liveness{n: n}
	nb := len(f.rpo)
	gen, kill := make([]bitset, nb), make([]bitset, nb)
	for _, b := range f.rpo {
		g, k := newBitset(n.total), newBitset(n.total)
		for i := range b.insts {
			in := &b.insts[i]
			f.uses(in, n, func(id int) {
				if !k.has(id) {
					g.set(id)
				}
			})
			f.kills(in, n, k.set)
		}
		gen[b.id], kill[b.id] = g, k
		l.in = append(l.in, newBitset(n.total))
		l.out = append(l.out, newBitset(n.total))
	}
	for changed := true; changed; {
		changed = false
		for i := nb - 1; i >= 0; i-- {
			b := f.rpo[i]
			out, in := l.out[b.id], l.in[b.id]
			for w := range out {
				var x uint64
				for _, s := range b.succs {
					x |= l.in[s.id][w]
				}
				out[w] = x
				x = x&^kill[b.id][w] | gen[b.id][w]
				if x != in[w] {
					in[w], changed = x, true
				}
			}
		}
	}
	return l
}
