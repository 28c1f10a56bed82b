package lower

import (
	"cmp"
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// assign colours all files. It returns registers to spill when the limit is not enough.
func (a *allocation) assign(limit int) (spill []int32, regs int) {
	for file := 1; file < 4; file++ {
		size := allPredicates
		if file == 2 {
			size = 63
		}
		s := a.inTurn(file, size)
		if len(s) > 0 && file == 1 {
			a.spread = false
			s = a.inTurn(file, size)
			a.spread = true
		}
		if len(s) > 0 {
			return s, 0
		}
	}
	roof := min(a.roof, limit)
	thrifty := a.f.t.SM >= 120 // the order that needs least: with the first one, register pairs make 12.x use more than ptxas does
	best := -1
	var colors []int16
	for _, order := range [...]colourOrder{manyNeighbours, longest, widest, earliest} {
		for _, r := range [...]int{roof, 0} {
			if r == 0 && best >= 0 && best <= roof {
				continue
			}
			s, top := a.firstFit(limit, r, order)
			switch {
			case len(s) == 0 && top <= roof && !thrifty:
				return nil, top
			case len(s) == 0 && (best < 0 || top < best):
				best = top
				colors = append(colors[:0], a.color...)
			case len(s) > 0 && (spill == nil || len(s) < len(spill)):
				spill = s
			}
		}
	}
	if best < 0 {
		return spill, 0
	}
	a.color = colors
	return nil, best
}

// colourOrder is an order in which firstFit gives out registers.
type colourOrder int

const (
	manyNeighbours colourOrder = iota // first the units with many interferences, as ptxas seems to
	longest                           // first those that live long
	widest                            // first the wide ones
	earliest                          // as they appear
)

// colourUnit is a tuple or a single register to be coloured.
type colourUnit struct {
	root    int32
	members []int32
	key     int // units with greater keys come first
	first   int32
}

// unitsInOrder are the units of general registers, uncoloured, in an order.
func (a *allocation) unitsInOrder(order colourOrder) []colourUnit {
	units := a.units(0)
	list := make([]colourUnit, 0, len(units))
	for _, u := range units {
		x := colourUnit{root: u, members: a.members(u), first: -1}
		last, degree := int32(-1), 0
		for _, m := range x.members {
			r := a.find(m)
			degree += a.degree(r)
			if f := a.first[r]; f >= 0 && (x.first < 0 || f < x.first) {
				x.first = f
			}
			last = max(last, a.last[r])
		}
		switch order {
		case manyNeighbours:
			x.key = degree
		case longest:
			x.key = int(last-x.first) * len(x.members)
		case widest:
			x.key = len(x.members)
		}
		list = append(list, x)
	}
	slices.SortFunc(list, func(x, y colourUnit) int {
		return cmp.Or(cmp.Compare(a.rank(x.root), a.rank(y.root)), cmp.Compare(y.key, x.key), cmp.Compare(x.first, y.first), cmp.Compare(x.root, y.root))
	})
	return list
}

// rank puts the units that have a place before the others.
func (a *allocation) rank(u int32) int {
	if a.fixed != nil && a.isTied(u) {
		return 0
	}
	return 1
}

// firstFit gives every unit of general registers the lowest place, or a later one below roof where no operands meet in one bank,
// no write waits for a memory instruction that still reads the register, and loads can move ahead of recent readers. It returns the
// units that found no place and the registers used.
func (a *allocation) firstFit(size, roof int, order colourOrder) (spill []int32, top int) {
	var taken [256]bool
	var in [256]accesses
	for _, u := range a.unitsInOrder(order) {
		width := len(u.members)
		if a.color[a.find(u.members[0])] >= 0 {
			continue // merged with a tuple that has its place
		}
		clear(taken[:])
		a.eachTaken(u.members, func(base int) { taken[base] = true })
		step := tupleStep(width)
		choice, best := -1, float32(0)
		for base := 0; base+width <= size; base += step {
			if taken[base] || a.f.reserved(base, width) || !a.allowed(u.members, base) {
				continue
			}
			if choice >= 0 && base+width > max(top, roof) {
				break
			}
			var cost float32
			if width == 1 {
				cost = a.bankCost(u.root, base)
			}
			for k, m := range u.members {
				r := a.find(m)
				cost += float32(in[base+k].collisions(&a.accesses[r]))
				if a.f.t.SM < 70 {
					cost += float32(in[base+k].crowding(&a.accesses[r])) / 10
				}
			}
			if choice < 0 || cost < best {
				choice, best = base, cost
			}
			if best == 0 {
				break
			}
		}
		if choice < 0 {
			spill = append(spill, u.root)
			continue
		}
		for k, m := range u.members {
			r := a.find(m)
			a.color[r] = int16(choice + k)
			in[choice+k].add(&a.accesses[r])
		}
		top = max(top, choice+width)
	}
	return spill, top
}

// eachTaken calls visit with every place, by its first register, that a neighbour of a member of the unit takes.
func (a *allocation) eachTaken(members []int32, visit func(base int)) {
	for k, m := range members {
		for _, j := range a.adj[a.find(m)] {
			if a.alias[j] == j && a.color[j] >= 0 && int(a.color[j]) >= k {
				visit(int(a.color[j]) - k)
			}
		}
	}
}

// tupleStep is the alignment of a tuple.
func tupleStep(width int) int {
	if width == 3 {
		return 4
	}
	return width
}

// degree is the number of registers that interfere with representative r.
func (a *allocation) degree(r int32) int {
	n := 0
	for _, j := range a.adj[r] {
		if a.alias[j] == j {
			n++
		}
	}
	return n
}

// units are the units of a file, each once, uncoloured.
func (a *allocation) units(file int) []int32 {
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
	return units
}

// recentPred is the number of instructions after which it no longer matters that a predicate was in use: one that was in use until a
// moment ago is better left alone, so that fillStalls can move the instructions apart. A guard is ready late.
const recentPred = 64

// inTurn gives every unit of predicates or uniform registers the lowest place, in the order in which they appear; predicates
// while a.spread the one that was in use longest ago. It returns the units that found no place.
func (a *allocation) inTurn(file, size int) (spill []int32) {
	units := a.units(file)
	first := func(u int32) int32 {
		f := a.first[u]
		for _, m := range a.parts[u] {
			if x := a.first[a.find(m)]; x >= 0 && (f < 0 || x < f) {
				f = x
			}
		}
		return f
	}
	slices.SortFunc(units, func(x, y int32) int {
		return cmp.Or(cmp.Compare(a.rank(x), a.rank(y)), cmp.Compare(first(x), first(y)), cmp.Compare(x, y))
	})
	spread := a.spread && file == 1
	var taken [256]bool
	var touched [256]int32 // position at which the register was last in use
	for i := range touched {
		touched[i] = -recentPred
	}
	for _, u := range units {
		members := a.members(u)
		if a.color[a.find(members[0])] >= 0 {
			continue // merged with a tuple that has its place
		}
		clear(taken[:])
		a.eachTaken(members, func(base int) { taken[base] = true })
		choice, best := -1, int32(0)
		for base := 0; base+len(members) <= size; base += tupleStep(len(members)) {
			if taken[base] || !a.allowed(members, base) {
				continue
			}
			cost := int32(0)
			if spread {
				cost = max(0, recentPred-max(0, a.first[u]-touched[base]))
			}
			if choice < 0 || cost < best {
				choice, best = base, cost
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
		}
	}
	return spill
}

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
