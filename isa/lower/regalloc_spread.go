package lower

// maxSpread is the number of units up to which spreadOut looks for better places: it compares all pairs.
const maxSpread = 4000

// spreadOut moves units of general registers to other places below regs where fewer of their writes have to wait for a memory
// instruction that still reads what was in the register before, and where no more operands meet in one bank.
func (a *allocation) spreadOut(regs int) {
	lo, hi := a.n.rangeOf(0)
	type unit struct {
		members      []int32 // representatives
		first, fetch int32
	}
	var units []unit
	owner := map[int32]int{} // representative -> unit
	for i := lo; i < hi; i++ {
		if !a.used[i] {
			continue
		}
		r := a.find(int32(i))
		if _, seen := owner[r]; seen || a.color[r] < 0 {
			continue
		}
		members := a.parts[a.unit[r]]
		if members == nil {
			members = []int32{r}
		}
		u := unit{first: -1, fetch: -1}
		for _, m := range members {
			x := a.find(m)
			owner[x] = len(units)
			u.members = append(u.members, x)
			if a.first[x] >= 0 && (u.first < 0 || a.first[x] < u.first) {
				u.first = a.first[x]
			}
			u.fetch = max(u.fetch, a.fetch[x])
		}
		units = append(units, u)
	}
	if len(units) > maxSpread {
		return
	}
	in := make([][]int, regs+4) // units in each register
	place := func(k int) {
		for _, m := range units[k].members {
			in[a.color[m]] = append(in[a.color[m]], k)
		}
	}
	for k := range units {
		place(k)
	}
	gap := func(before, after *unit) (cost float32) {
		if d := after.first - before.fetch; before.fetch >= 0 && d > 0 && d < recentFetch {
			cost += float32(recentFetch-d) * 4
		}
		return cost
	}
	for k := range units {
		u := &units[k]
		width := len(u.members)
		from := int(a.color[u.members[0]])
		step := width
		if width == 3 {
			step = 4
		}
		whole := from%step == 0
		for i, m := range u.members {
			whole = whole && int(a.color[m]) == from+i
		}
		if !whole {
			continue
		}
		cost := func(base int) (c float32) {
			if width == 1 {
				c = a.bankCost(u.members[0], base)
			}
			for i := range u.members {
				for _, o := range in[base+i] {
					if v := &units[o]; o != k {
						c += gap(v, u) + gap(u, v)
					}
				}
			}
			return c
		}
		best, least := from, cost(from)
		for base := 0; base+width <= regs && least > 0; base += step {
			if base == from || a.f.reserved(base, width) || !a.allowed(u.members, base) || !a.fits(u.members, base, owner, k) {
				continue
			}
			if c := cost(base); c < least {
				best, least = base, c
			}
		}
		if best == from {
			continue
		}
		for i, m := range u.members {
			list := in[a.color[m]]
			for x, o := range list {
				if o == k {
					list[x] = list[len(list)-1]
					in[a.color[m]] = list[:len(list)-1]
					break
				}
			}
			a.color[m] = int16(best + i)
		}
		place(k)
	}
}

// fits says that no neighbour of the members outside their unit k has one of the registers from base on.
func (a *allocation) fits(members []int32, base int, owner map[int32]int, k int) bool {
	for i, m := range members {
		for _, j := range a.adj[m] {
			if a.alias[j] == j && int(a.color[j]) == base+i {
				if o, ok := owner[j]; !ok || o != k {
					return false
				}
			}
		}
	}
	return true
}
