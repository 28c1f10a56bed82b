package lower

import "github.com/sarchlab/smsim/isa"

// Standard calls tie registers down: arguments, results and the return address have their places, and what is live across a call
// must not be where the function may write.

// colourSet is a set of registers of one file.
type colourSet [4]uint64

func (s *colourSet) has(c int) bool { return s[c>>6]>>(c&63)&1 != 0 }
func (s *colourSet) set(c int)      { s[c>>6] |= 1 << (c & 63) }

// overwritten is the general registers, and all predicates, that a function called in the standard way may write.
func (f *fn) overwritten() (general, preds colourSet) {
	for r := range int(isa.RZ) {
		if !f.keptByCallee(r) {
			general.set(r)
		}
	}
	for p := range int(isa.PT) {
		preds.set(p)
	}
	return general, preds
}

// tieDown notes the registers with a place.
func (a *allocation) tieDown() {
	if len(a.f.fixed) == 0 && !a.f.realCalls {
		return
	}
	a.fixed = make([]int16, a.n.total)
	for i := range a.fixed {
		a.fixed[i] = -1
	}
	for v, r := range a.f.fixed {
		a.fixed[a.n.of(isa.KindReg, v)] = int16(r)
	}
	a.forbidden = map[int32]*colourSet{}
	a.general, a.preds = a.f.overwritten()
}

// acrossCall keeps what is live after a standard call, other than its results, out of registers that the function may write.
func (a *allocation) acrossCall(call *isa.Inst, live bitset) {
	results := map[int]bool{}
	a.f.defs(call, a.n, func(id int) { results[id] = true })
	live.each(func(id int) {
		if results[id] || a.fixed[id] >= 0 {
			return
		}
		switch a.n.file(int32(id)) {
		case 0:
			a.forbid(int32(id), &a.general)
		case 1:
			a.forbid(int32(id), &a.preds)
		}
	})
}

func (a *allocation) forbid(id int32, s *colourSet) {
	f := a.forbidden[id]
	if f == nil {
		f = new(colourSet)
		a.forbidden[id] = f
	}
	for w := range s {
		f[w] |= s[w]
	}
}

// tied is the place of a representative, -1: any.
func (a *allocation) tied(root int32) int {
	if a.fixed == nil {
		return -1
	}
	return int(a.fixed[root])
}

// allowed says that the unit's members may be in the registers from base on, as far as calls go.
func (a *allocation) allowed(members []int32, base int) bool {
	if a.fixed == nil {
		return true
	}
	for k, m := range members {
		root := a.find(m)
		if t := a.tied(root); t >= 0 && t != base+k {
			return false
		}
		if f := a.forbidden[root]; f != nil && f.has(base+k) {
			return false
		}
	}
	return true
}

// mayJoin says whether two registers without a conflict can become one, as far as calls go.
func (a *allocation) mayJoin(x, y int32) bool {
	if a.fixed == nil {
		return true
	}
	tx, ty := a.tied(x), a.tied(y)
	if tx < 0 && ty < 0 {
		return true
	}
	if tx >= 0 && ty >= 0 || !a.f.joinTied {
		return false
	}
	if tx < 0 {
		x, tx, y = y, ty, x
	}
	if f := a.forbidden[y]; f != nil && f.has(tx) {
		return false
	}
	u := a.unit[y]
	if a.parts[u] == nil {
		return true
	}
	// A word of a tuple: the others' places follow.
	members := a.parts[u]
	k := int(a.part[y])
	width := len(members)
	if width == 3 {
		width = 4
	}
	base := tx - k
	if base < 0 || base%width != 0 {
		return false
	}
	for i, m := range members {
		root := a.find(m)
		if i == k {
			continue
		}
		if t := a.tied(root); t >= 0 && t != base+i {
			return false
		}
		if f := a.forbidden[root]; f != nil && f.has(base+i) {
			return false
		}
		for v, r := range a.f.fixed {
			if r == base+i {
				if other := a.find(int32(a.n.of(isa.KindReg, v))); other != root && a.interferes(other, root) {
					return false
				}
			}
		}
	}
	return true
}

// joined passes on what is known of y to x, which takes it over.
func (a *allocation) joined(x, y int32) {
	if a.fixed == nil {
		return
	}
	if a.fixed[x] < 0 {
		a.fixed[x] = a.fixed[y]
	}
	if f := a.forbidden[y]; f != nil {
		a.forbid(x, f)
	}
}

// place is the first register that a unit must have because one of its members is tied, -1: any.
func (a *allocation) place(members []int32) int {
	if a.fixed == nil {
		return -1
	}
	for k, m := range members {
		if t := a.tied(a.find(m)); t >= 0 {
			return t - k
		}
	}
	return -1
}

// nowhere says that a predicate is live across a call, and so cannot be in any predicate register.
func (a *allocation) nowhere(u int32) bool {
	if a.fixed == nil || a.n.file(u) != 1 {
		return false
	}
	f := a.forbidden[a.find(u)]
	return f != nil && *f == a.preds
}

// isTied says that a unit has a member with a place: it cannot be spilled.
func (a *allocation) isTied(u int32) bool { return a.place(a.members(u)) >= 0 }
