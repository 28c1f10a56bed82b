package lower

import "github.com/sarchlab/smsim/isa"

// list is the list scheduler: at every step it takes the ready instruction on the longest path, or, when the
// registers of the target are used up, the one that frees most.
func (s *scheduler) list(in, out bitset) []int32 {
	n := len(s.nodes)
	for i := range s.nodes {
		for _, r := range s.nodes[i].reads {
			s.uses[r]++
		}
	}
	var pressure [2]int // general registers, predicates
	copy(s.isLive, in)
	in.each(func(i int) {
		if i < s.n.uregs && (s.uses[i] > 0 || out.has(i)) {
			pressure[s.file(int32(i))]++
		}
	})
	var ready []int32
	for i := range s.nodes {
		if s.nodes[i].preds == 0 {
			ready = append(ready, int32(i))
		}
	}
	order := make([]int32, 0, n)
	now := int32(0)
	for len(ready) > 0 {
		best, bestKey := -1, candidate{}
		for k, i := range ready {
			nd := &s.nodes[i]
			c := candidate{index: i, height: nd.height, wait: max(0, nd.early-now)}
			c.load = s.insts[i].Class() == isa.ClassLDG && c.wait <= readyLoad
			if pressure[0] >= s.target-4 || pressure[1] >= predTarget-1 {
				c.delta = s.delta(i, out)
				c.over[0] = c.delta[0] > 0 && pressure[0]+c.delta[0] > s.target
				c.over[1] = c.delta[1] > 0 && pressure[1]+c.delta[1] > predTarget
			}
			if best < 0 || c.better(&bestKey) {
				best, bestKey = k, c
			}
		}
		i := ready[best]
		ready[best] = ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		nd := &s.nodes[i]
		now = max(now, nd.early)
		order = append(order, i)
		for _, r := range nd.reads {
			s.uses[r]--
			if s.uses[r] == 0 && !out.has(int(r)) && int(r) < s.n.uregs && s.isLive.has(int(r)) {
				s.isLive.clear(int(r))
				pressure[s.file(r)]--
			}
		}
		for _, r := range nd.writes {
			if int(r) < s.n.uregs && !s.isLive.has(int(r)) && (s.uses[r] > 0 || out.has(int(r))) {
				s.isLive.set(int(r))
				pressure[s.file(r)]++
			}
		}
		for _, e := range nd.succs {
			t := &s.nodes[e.to]
			t.early = max(t.early, now+min(e.lat, fillLatency))
			if t.preds--; t.preds == 0 {
				ready = append(ready, e.to)
			}
		}
		now += 1 + int32(s.f.t.Interval[s.insts[i].Class()])/2
	}
	if len(order) != n {
		panic("lower: scheduling lost instructions")
	}
	for i := range s.nodes {
		for _, r := range s.nodes[i].reads {
			s.uses[r] = 0
		}
	}
	return order
}

// candidate is what the list scheduler compares.
type candidate struct {
	index, height, wait int32
	delta               [2]int  // change of live general registers and predicates
	load                bool    // a load from global memory whose address is ready, or almost
	over                [2]bool // it would need more of them than the scheduler wants
}

func (c *candidate) better(o *candidate) bool {
	for _, k := range [2]int{1, 0} {
		if c.over[k] != o.over[k] {
			return !c.over[k]
		}
		if c.over[k] {
			if (c.wait > 0) != (o.wait > 0) {
				return c.wait == 0
			}
			return c.index < o.index // the program's own order needs no more than it must
		}
	}
	if c.load != o.load {
		return c.load
	}
	if c.wait != o.wait {
		return c.wait < o.wait
	}
	if c.height != o.height {
		return c.height > o.height
	}
	return c.index < o.index
}

// predTarget is the number of live predicates from which on the scheduler saves predicates; there are seven.
const predTarget = 5

// readyLoad is how many cycles before its address is ready a load from global memory already goes before all else: ptxas puts each
// load behind its own address, so that addresses do not take the registers of the loads.
const readyLoad = 6

// file is 0 for a general register and 1 for a predicate.
func (s *scheduler) file(r int32) int {
	if int(r) < s.n.preds {
		return 0
	}
	return 1
}

// delta is how many more general registers and predicates are live after the instruction.
func (s *scheduler) delta(i int32, out bitset) (d [2]int) {
	nd := &s.nodes[i]
	for k, r := range nd.reads {
		if int(r) >= s.n.uregs || out.has(int(r)) || !s.isLive.has(int(r)) {
			continue
		}
		same, seen := int32(0), false
		for j, x := range nd.reads {
			if x == r {
				same++
				seen = seen || j < k
			}
		}
		if !seen && s.uses[r] == same {
			d[s.file(r)]--
		}
	}
	for _, r := range nd.writes {
		if int(r) < s.n.uregs && !s.isLive.has(int(r)) {
			d[s.file(r)]++
		}
	}
	return d
}
