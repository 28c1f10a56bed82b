package lut

import "math/bits"

// network is a sequence of LOP3 over signals: 0 to n-1 are the inputs, n and up the results in order.
type network []cell

type cell struct {
	src [3]int
	lut uint8
}

// exactLimit is the most inputs for which the exhaustive search is made: truth tables fit 32 bits.
const exactLimit = 5

// exact finds the shortest network of at most three LOP3 for a function of four or five inputs that all matter, or
// none if it needs more. All structures of two and three LOP3 are tried:
//
//	g(h(i,j,k), l, m)                                  two
//	g(t1, t2, l)   with t1, t2 = h1, h2 of inputs      three, side by side
//	g(t2, l, m)    with t2 = h2(t1, i, j)              three, in a row
//	g(t2, t1, l)   with t2 = h2(t1, i, j)              three, t1 used twice
//
// A last LOP3 g exists when the function is constant on each of the eight cells that its three sources cut the rows into.
func exact(t Table) network {
	s := newSearch(t)
	if n := s.two(); n != nil {
		return n
	}
	if n := s.sideBySide(); n != nil {
		return n
	}
	return s.inARow()
}

// search holds the function and the results of all single LOP3 as bit masks over the rows.
type search struct {
	n      int
	all    uint32
	f      uint32
	inputs []uint32
	pairs  [][2]int
	firsts []first
}

// first is a LOP3 of three inputs. Complements are left out: the next LOP3 can absorb one.
type first struct {
	mask uint32
	cell cell
}

func newSearch(t Table) *search {
	n := t.Inputs()
	s := &search{n: n, all: uint32(1<<(1<<n) - 1)}
	for row, v := range t {
		if v {
			s.f |= 1 << row
		}
	}
	for i := range n {
		m := uint32(0)
		for row := range t {
			if row>>(n-1-i)&1 != 0 {
				m |= 1 << row
			}
		}
		s.inputs = append(s.inputs, m)
	}
	seen := map[uint32]bool{0: true}
	for i := range n {
		for j := i + 1; j < n; j++ {
			s.pairs = append(s.pairs, [2]int{i, j})
			for k := j + 1; k < n; k++ {
				for lut := range 128 {
					m := apply(uint8(lut), s.inputs[i], s.inputs[j], s.inputs[k]) & s.all
					if !seen[m] {
						seen[m] = true
						s.firsts = append(s.firsts, first{m, cell{[3]int{i, j, k}, uint8(lut)}})
					}
				}
			}
		}
	}
	return s
}

// rowBits is the bits where a, b and c are those of a row of the truth table: a is bit 2 of the row's number.
func rowBits(row int, a, b, c uint32) uint32 {
	if row&4 == 0 {
		a = ^a
	}
	if row&2 == 0 {
		b = ^b
	}
	if row&1 == 0 {
		c = ^c
	}
	return a & b & c
}

// apply is LOP3 on whole words.
func apply(lut uint8, a, b, c uint32) uint32 {
	out := uint32(0)
	for row := range 8 {
		if lut>>row&1 == 0 {
			continue
		}
		out |= rowBits(row, a, b, c)
	}
	return out
}

// constant says that f is constant where the mask is set.
func (s *search) constant(mask uint32) bool { v := s.f & mask; return v == 0 || v == mask }

// last is the final LOP3 over three signals, if there is one.
func (s *search) last(a, b, c uint32) (lut uint8, ok bool) {
	for row := range 8 {
		cellMask := rowBits(row, a, b, c) & s.all
		v := s.f & cellMask
		if v != 0 {
			if v != cellMask {
				return 0, false
			}
			lut |= 1 << row
		}
	}
	return lut, true
}

func (s *search) two() network {
	for i := range s.firsts {
		t := &s.firsts[i]
		for _, p := range s.pairs {
			if lut, ok := s.last(t.mask, s.inputs[p[0]], s.inputs[p[1]]); ok {
				return network{t.cell, {[3]int{s.n, p[0], p[1]}, lut}}
			}
		}
	}
	return nil
}

func (s *search) sideBySide() network {
	for l, x := range s.inputs {
		for i := range s.firsts {
			t := &s.firsts[i]
			// The four cells of t and x; those where f is constant already ask nothing of the other LOP3.
			var open [4]uint32
			n := 0
			for _, m := range [4]uint32{t.mask & x, t.mask &^ x, x &^ t.mask, s.all &^ (t.mask | x)} {
				if !s.constant(m) {
					open[n] = m
					n++
				}
			}
			for k := i + 1; k < len(s.firsts); k++ {
				u := s.firsts[k].mask
				ok := true
				for _, m := range open[:n] {
					// The other LOP3 must be f or its complement on the cell.
					if d := (u ^ s.f) & m; d != 0 && d != m {
						ok = false
						break
					}
				}
				if ok {
					lut, _ := s.last(t.mask, u, x)
					return network{t.cell, s.firsts[k].cell, {[3]int{s.n, s.n + 1, l}, lut}}
				}
			}
		}
	}
	return nil
}

func (s *search) inARow() network {
	for i := range s.firsts {
		t := &s.firsts[i]
		for _, p := range s.pairs {
			for _, q := range s.pairs {
				if lut, ok := s.between(t.mask, s.inputs[p[0]], s.inputs[p[1]], s.inputs[q[0]], s.inputs[q[1]]); ok {
					return s.chain(t, p, lut, q[0], q[1])
				}
			}
			for l, x := range s.inputs {
				if lut, ok := s.between(t.mask, s.inputs[p[0]], s.inputs[p[1]], t.mask, x); ok {
					return s.chain(t, p, lut, s.n, l)
				}
			}
		}
	}
	return nil
}

// chain is t1 = t, t2 = lut(t1, p), g(t2, u, v).
func (s *search) chain(t *first, p [2]int, lut uint8, u, v int) network {
	signals := append(append([]uint32{}, s.inputs...), t.mask)
	t2 := apply(lut, t.mask, s.inputs[p[0]], s.inputs[p[1]])
	g, _ := s.last(t2, signals[u], signals[v])
	return network{t.cell, {[3]int{s.n, p[0], p[1]}, lut}, {[3]int{s.n + 1, u, v}, g}}
}

// between finds a LOP3 t2 of (a, b, c) such that f is a LOP3 of (t2, u, v): in each of the four cells of u and v in
// which f is not constant, t2 must separate f's ones from its zeros. That asks for equality or difference between the
// eight bits of t2's table, which a two-colouring solves.
func (s *search) between(a, b, c, u, v uint32) (lut uint8, ok bool) {
	var part [8]uint32
	for row := range 8 {
		part[row] = rowBits(row, a, b, c) & s.all
	}
	var same, differ [8]uint8 // bit k of same[i]: bits i and k of the table must be equal
	for _, m := range [4]uint32{u & v, u &^ v, v &^ u, s.all &^ (u | v)} {
		if s.constant(m) {
			continue
		}
		var ones, zeros uint8
		for row, p := range part {
			if p &= m; p == 0 {
				continue
			}
			switch p & s.f {
			case p:
				ones |= 1 << row
			case 0:
				zeros |= 1 << row
			default:
				return 0, false
			}
		}
		for row := range 8 {
			if ones>>row&1 != 0 {
				same[row] |= ones
				differ[row] |= zeros
			} else if zeros>>row&1 != 0 {
				same[row] |= zeros
				differ[row] |= ones
			}
		}
	}
	return colour(&same, &differ)
}

// colour gives the eight bits values that obey all demands.
func colour(same, differ *[8]uint8) (lut uint8, ok bool) {
	known := uint8(0)
	for start := range 8 {
		if known>>start&1 != 0 {
			continue
		}
		known |= 1 << start // with value 0
		for queue := uint8(1 << start); queue != 0; {
			i := bits.TrailingZeros8(queue)
			queue &^= 1 << i
			equal, unequal := same[i], differ[i]
			if lut>>i&1 != 0 {
				equal, unequal = unequal, equal // equal: must be 0; unequal: must be 1
			}
			if lut&equal&known != 0 || ^lut&unequal&known != 0 {
				return 0, false
			}
			fresh := (equal | unequal) &^ known
			if equal&unequal != 0 {
				return 0, false
			}
			lut |= unequal & fresh
			known |= fresh
			queue |= fresh
		}
	}
	return lut, true
}
