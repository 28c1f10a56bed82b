package lower

import "slices"

// spillCandidate is a group of registers that spilling would move to memory together: coalesced ones, and the words of a tuple.
type spillCandidate struct {
	unit    int32
	points  []int32 // where it is live but neither read nor written: there spilling frees its registers
	cost    float64 // weighted reads and writes
	benefit int     // points at which too many registers are live
	chosen  bool
}

// excess chooses the groups of registers to spill so that nowhere more general registers are live than there are. It takes,
// one after the other, the group that frees most of the places where too many are live for the loads and stores it
// needs. A program point is the moment before (even) or after (odd) an instruction.
func (f *fn) excess(a *allocation, limit int) []int32 {
	most := limit
	if f.t.SM >= 20 {
		most-- // the stack pointer
	}
	for _, p := range a.parts {
		if len(p) > 1 && a.n.file(p[0]) == 0 {
			most-- // tuples leave gaps
			break
		}
	}
	candidates, at, pressure := f.spillCandidates(a)
	over := 0
	for p, n := range pressure {
		if n <= most {
			continue
		}
		over++
		for _, c := range at[p] {
			candidates[c].benefit++
		}
	}
	var out []int32
	for over > 0 {
		best := -1
		for i := range candidates {
			c := &candidates[i]
			if c.chosen || c.benefit == 0 {
				continue
			}
			if best < 0 || float64(c.benefit)*candidates[best].cost > float64(candidates[best].benefit)*c.cost {
				best = i
			}
		}
		if best < 0 {
			break
		}
		c := &candidates[best]
		c.chosen = true
		out = append(out, c.unit)
		width := len(a.members(c.unit))
		for _, p := range c.points {
			was := pressure[p]
			pressure[p] -= width
			if was > most && pressure[p] <= most {
				over--
				for _, x := range at[p] {
					candidates[x].benefit--
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// spillCandidates are the groups that can be spilled, which of them each point could free, and how many general registers are
// live at each point.
func (f *fn) spillCandidates(a *allocation) (list []spillCandidate, at [][]int32, pressure []int) {
	l := f.live()
	total := 0
	for _, b := range f.blocks {
		total += len(b.insts)
	}
	at, pressure = make([][]int32, 2*total), make([]int, 2*total)
	spillable := map[int32]bool{} // groups with a register that is no temporary of an earlier spill
	for i := range a.n.preds {
		if a.used[i] && !f.unspillable[int32(i)] {
			spillable[a.find(int32(i))] = true
		}
	}
	group := map[int32]int32{} // representative -> place in list, -1: cannot be spilled
	groupOf := func(root int32) int32 {
		if g, ok := group[root]; ok {
			return g
		}
		u := a.unit[root]
		if a.parts[u] == nil {
			u = root
		}
		some := false
		c := spillCandidate{unit: u}
		for _, m := range a.members(u) {
			some = some || spillable[a.find(m)]
			c.cost += a.cost[a.find(m)]
		}
		g := int32(-1)
		if some && !a.isTied(u) {
			g = int32(len(list))
			list = append(list, c)
		}
		group[root] = g
		for _, m := range a.members(u) {
			group[a.find(m)] = g
		}
		return g
	}
	base := 0
	for _, b := range f.blocks {
		live := newBitset(l.n.total)
		copy(live, l.out[b.id])
		note := func(p int, touched func(visit func(id int))) {
			busy := map[int32]bool{}
			touched(func(id int) {
				if id < a.n.preds {
					root := a.find(int32(id))
					if g := groupOf(root); g >= 0 {
						busy[g] = true
					}
				}
			})
			seen := map[int32]bool{}
			freed := map[int32]bool{}
			live.each(func(id int) {
				if id >= a.n.preds {
					return
				}
				root := a.find(int32(id))
				if seen[root] {
					return
				}
				seen[root] = true
				pressure[p]++
				if g := groupOf(root); g >= 0 && !busy[g] && !freed[g] {
					freed[g] = true
					list[g].points = append(list[g].points, int32(p))
					at[p] = append(at[p], g)
				}
			})
		}
		for i := len(b.insts) - 1; i >= 0; i-- {
			in := &b.insts[i]
			f.defs(in, l.n, live.set)
			note(2*(base+i)+1, func(visit func(id int)) { f.defs(in, l.n, visit) })
			f.kills(in, l.n, live.clear)
			f.uses(in, l.n, live.set)
			note(2*(base+i), func(visit func(id int)) { f.uses(in, l.n, visit) })
		}
		base += len(b.insts)
	}
	return list, at, pressure
}
