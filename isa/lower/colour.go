package lower

import (
	"sort"

	"github.com/sarchlab/smsim/isa"
)

// assign colours all files. It returns registers to spill when the limit is not enough.
func (a *allocation) assign(limit int) (spill []int32, regs int) {
	for file := 1; file < 4; file++ {
		size := 7
		if file == 2 {
			size = 63
		}
		a.spread = file == 1
		s, _ := a.colour(file, size, 0)
		if len(s) > 0 && a.spread {
			a.spread = false
			s, _ = a.colour(file, size, 0)
		}
		if len(s) > 0 {
			return s, 0
		}
	}
	best, bestSpill := -1, []int32(nil)
	var colors []int16
	for order := range 3 {
		s, top := a.colour(0, limit, order)
		switch {
		case len(s) == 0 && (best < 0 || top < best):
			best = top
			colors = append(colors[:0], a.color...)
		case len(s) > 0 && best < 0 && (bestSpill == nil || len(s) < len(bestSpill)):
			bestSpill = s
		}
	}
	if best < 0 {
		return bestSpill, 0
	}
	// The count is known: all registers below it can be used to avoid conflicts.
	a.soft = best
	a.roof = min(a.roof, best+spareRegs)
	for order := range 3 {
		if s, top := a.colour(0, limit, order); len(s) == 0 && top <= max(best, a.roof) {
			best = max(best, top)
			a.spreadOut(best)
			return nil, best
		}
	}
	a.color = colors
	a.spreadOut(best)
	return nil, best
}

// colour gives every unit of a file its registers. order 0: by first appearance; 1: wide units first;
// 2: by number of interferences. It returns the units that found no place, and the registers used.
func (a *allocation) colour(file, size, order int) (spill []int32, top int) {
	lo, hi := a.n.rangeOf(file)
	var units []int32
	seen := map[int32]bool{}
	for i := lo; i < hi; i++ {
		a.color[i] = -1
		if !a.used[i] {
			continue
		}
		r := a.find(int32(i))
		u := a.unit[r]
		if a.parts[u] == nil {
			u = r
		}
		if !seen[u] {
			seen[u] = true
			units = append(units, u)
		}
	}
	key := func(u int32) (int, int32) {
		w, f := 1, a.first[u]
		if p := a.parts[u]; p != nil {
			w = len(p)
			for _, m := range p {
				if x := a.first[a.find(m)]; x >= 0 && (f < 0 || x < f) {
					f = x
				}
			}
		}
		return w, f
	}
	sort.SliceStable(units, func(i, j int) bool {
		wi, fi := key(units[i])
		wj, fj := key(units[j])
		switch order {
		case 1:
			if wi != wj {
				return wi > wj
			}
		case 2:
			di, dj := len(a.adj[units[i]])*wi, len(a.adj[units[j]])*wj
			if di/8 != dj/8 {
				return di > dj
			}
		}
		if fi != fj {
			return fi < fj
		}
		return units[i] < units[j]
	})
	if a.fixed != nil { // those with a place come first
		sort.SliceStable(units, func(i, j int) bool { return a.isTied(units[i]) && !a.isTied(units[j]) })
	}
	var taken [256]uint8
	var fetched [256]int32 // position at which a memory instruction last read the register
	var touched [256]int32 // position at which the register was last in use
	for i := range fetched {
		fetched[i] = -recentFetch
		touched[i] = -recentPred
	}
	for _, u := range units {
		members := a.parts[u]
		if members == nil {
			members = []int32{u}
		} else if a.color[a.find(members[0])] >= 0 {
			continue // merged with a tuple that has its place
		}
		width := len(members)
		// The members' places that neighbours occupy, as first registers of the unit that are impossible.
		clear(taken[:])
		for k, m := range members {
			for _, j := range a.adj[a.find(m)] {
				if a.alias[j] != j {
					continue
				}
				if c := a.color[j]; c >= 0 {
					if base := int(c) - k; base >= 0 {
						taken[base] = 1
					}
				}
			}
		}
		step := width
		if width == 3 {
			step = 4
		}
		choice, best, waits := -1, float32(0), false
		for base := 0; base+width <= size; base += step {
			if taken[base] != 0 || file == 0 && a.f.reserved(base, width) || !a.allowed(members, base) {
				continue
			}
			// A later register is worth it only if it does not raise the count, or if the write would wait for a
			// memory instruction to have read the register and there are registers that cost no occupancy.
			if choice >= 0 && !(file == 1 && a.spread) && base >= max(top, a.soft) && (!waits || base+width > a.roof) {
				break
			}
			var cost float32
			late := false
			if file == 1 && a.spread {
				cost = float32(max(0, recentPred-max(0, a.first[u]-touched[base])))
			}
			if file == 0 {
				for k, m := range members {
					if d := a.first[a.find(m)] - touched[base+k]; d >= 0 && d < recentUse {
						cost += float32(recentUse-d) / 10
					}
				}
				if width == 1 {
					cost = a.bankCost(u, base)
				}
				for k, m := range members {
					if d := a.first[a.find(m)] - fetched[base+k]; d > 0 && d < recentFetch {
						cost += float32(recentFetch-d) * 4
						late = true
					}
				}
			}
			if choice < 0 || cost < best {
				choice, best, waits = base, cost, late
			}
			if best == 0 {
				break
			}
		}
		if choice < 0 {
			spill = append(spill, u)
			continue
		}
		for k, m := range members {
			r := a.find(m)
			a.color[r] = int16(choice + k)
			touched[choice+k] = max(touched[choice+k], a.last[r])
			if a.fetch[r] >= 0 {
				fetched[choice+k] = max(fetched[choice+k], a.fetch[r])
			}
		}
		top = max(top, choice+width)
	}
	return spill, top
}

// spareRegs is how many registers more than needed may be used for that.
const spareRegs = 2

// recentFetch is the number of instructions during which a register that a memory instruction read is better
// not written: the write would wait for the read.
const recentFetch = 20

// A register or predicate that was in use until a moment ago is better left alone, so that fillStalls can move the instructions
// apart: recentUse and recentPred are the numbers of instructions after which it no longer matters. A predicate that guards is
// ready late, and there are always seven.
const (
	recentUse  = 8
	recentPred = 64
)

// reserved says that registers base..base+width-1 include the stack pointer or RZ.
func (f *fn) reserved(base, width int) bool {
	return f.t.SM >= 20 && base <= int(stackReg) && base+width > int(stackReg) || base+width > int(isa.RZ)
}

// bankCost is how much reading u in register c together with its mates costs in bank conflicts.
func (a *allocation) bankCost(u int32, c int) float32 {
	var cost float32
	for _, m := range a.mates[u] {
		if o := a.color[a.find(m.other)]; o >= 0 && int(o)%a.f.t.RegBanks == c%a.f.t.RegBanks && int(o) != c {
			cost += m.weight
		}
	}
	return cost
}
