package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// list is a list scheduler from the block's end to its start, as ptxas's is: of the instructions that nothing behind them has to wait
// for, the last in the program. So everything stands as late as its latency allows, and loads stand in groups, each group behind
// all of its addresses and ahead of all that reads it, as far as registers go. Where they do not, what needs fewer goes first; how many the
// block has already needed behind an instruction it may use before it too.
func (s *scheduler) list(in, out bitset) []int32 {
	n := len(s.nodes)
	preds := make([][]edge, n)
	late, left := make([]int32, n), make([]int32, n)
	for i := range s.nodes {
		for _, e := range s.nodes[i].succs {
			preds[e.to] = append(preds[e.to], edge{int32(i), e.lat})
			left[i]++
		}
		for _, r := range s.nodes[i].writes { // what a load brings for later blocks has to be under way when they start
			if out.has(int(r)) {
				late[i] = int32(s.f.schedLatency(&s.insts[i]))
			}
		}
	}
	var pressure [2]int // general registers, predicates
	copy(s.isLive, out)
	out.each(func(i int) {
		if i < s.n.uregs {
			pressure[s.file(int32(i))]++
		}
	})
	target := max(s.target, roomAbove+s.general(in), roomAbove+s.general(out))
	lone := s.loneLoads()
	waiting := 0 // live results of such loads
	out.each(func(i int) {
		if lone[int32(i)] {
			waiting++
		}
	})
	var ready []int32
	for i := range s.nodes {
		if left[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	order := make([]int32, n)
	now := int32(0) // cycles to the block's end
	for at := n - 1; at >= 0; at-- {
		best, bestKey := -1, candidate{}
		for k, i := range ready {
			c := candidate{index: i, wait: max(0, late[i]-now), delta: s.delta(i)}
			if c.load = s.insts[i].Class() == isa.ClassLDG; c.load && c.wait <= loadGroup {
				c.wait = 0
			}
			c.over[0] = c.delta[0] > 0 && pressure[0]+min(waiting, maxWaiting)+c.delta[0] > target
			c.over[1] = c.delta[1] > 0 && pressure[1]+c.delta[1] > allPredicates
			if best < 0 || c.better(&bestKey, s.inOrder) {
				best, bestKey = k, c
			}
		}
		i := ready[best]
		ready[best] = ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		order[at] = i
		now = max(now, late[i])
		nd := &s.nodes[i]
		for _, r := range nd.writes {
			if int(r) < s.n.uregs && s.isLive.has(int(r)) && !slices.Contains(nd.reads, r) {
				s.isLive.clear(int(r))
				pressure[s.file(r)]--
				if lone[r] {
					waiting--
				}
			}
		}
		for _, r := range nd.reads {
			if int(r) < s.n.uregs && !s.isLive.has(int(r)) {
				s.isLive.set(int(r))
				pressure[s.file(r)]++
				if lone[r] {
					waiting++
				}
			}
		}
		target = max(target, pressure[0]) // what the block needs anyway it may use elsewhere too
		for _, e := range preds[i] {
			late[e.to] = max(late[e.to], now+e.lat)
			if left[e.to]--; left[e.to] == 0 {
				ready = append(ready, e.to)
			}
		}
		now++
	}
	return order
}

const (
	// roomAbove is how many registers a block may use beyond those that live through its start or end, whatever the target.
	roomAbove = 3
	// maxWaiting is the most loads of one word that count their addresses.
	maxWaiting = 3
	// allPredicates is the number of predicates.
	allPredicates = 7
	// loadGroup is how many cycles too early a load from global memory may be taken to stand with others.
	loadGroup = 4
)

// loneLoads are the registers that loads of one word from global memory fill. Such a load needs two registers for its address, one more
// than it fills. Counted so from its readers on, for up to three loads, blocks of ptxas 13.0 with loads of one and of four words have
// one limit, 27 to 28 of 30 registers; otherwise they have two, 25 and 28.
func (s *scheduler) loneLoads() map[int32]bool {
	lone := map[int32]bool{}
	for i := range s.nodes {
		if w := s.nodes[i].writes; s.insts[i].Class() == isa.ClassLDG && len(w) == 1 && int(w[0]) < s.n.preds {
			lone[w[0]] = true
		}
	}
	return lone
}

// general is the number of general registers in a set.
func (s *scheduler) general(set bitset) int {
	k := 0
	set.each(func(i int) {
		if i < s.n.preds {
			k++
		}
	})
	return k
}

// file is 0 for a general register and 1 for a predicate.
func (s *scheduler) file(r int32) int {
	if int(r) < s.n.preds {
		return 0
	}
	return 1
}

// candidate is what the scheduler compares.
type candidate struct {
	index, wait int32
	load        bool    // from global memory
	delta       [2]int  // change of live general registers and predicates
	over        [2]bool // it would need more of them than the scheduler wants
}

// better says that the candidate comes first; with inOrder the program's order counts and not latencies where registers are short.
func (c *candidate) better(o *candidate, inOrder bool) bool {
	for _, k := range [2]int{1, 0} {
		if c.over[k] != o.over[k] {
			return !c.over[k]
		}
		if c.over[k] {
			if c.delta[k] != o.delta[k] {
				return c.delta[k] < o.delta[k]
			}
			if inOrder {
				return c.index > o.index
			}
			break
		}
	}
	if c.wait != o.wait {
		return c.wait < o.wait
	}
	if c.load != o.load {
		return c.load
	}
	return c.index > o.index
}

// delta is how many more general registers and predicates are live before the instruction than after it.
func (s *scheduler) delta(i int32) (d [2]int) {
	nd := &s.nodes[i]
	for k, r := range nd.writes {
		if int(r) < s.n.uregs && s.isLive.has(int(r)) && !slices.Contains(nd.reads, r) && !slices.Contains(nd.writes[:k], r) {
			d[s.file(r)]--
		}
	}
	for k, r := range nd.reads {
		if int(r) < s.n.uregs && !s.isLive.has(int(r)) && !slices.Contains(nd.reads[:k], r) {
			d[s.file(r)]++
		}
	}
	return d
}
