package lower

import (
	"cmp"
	"slices"
)

// coalesce merges the two sides of copies that do not interfere, inner loops first.
func (a *allocation) coalesce() {
	slices.SortStableFunc(a.pairs, func(x, y movePair) int { return cmp.Compare(y.weight, x.weight) })
	for _, p := range a.pairs {
		d, s := a.find(p.d), a.find(p.s)
		if d == s || a.interferes(d, s) || !a.mayJoin(d, s) {
			continue
		}
		du, su := a.parts[a.unit[d]], a.parts[a.unit[s]]
		switch {
		case du == nil && su == nil:
			a.union(s, d)
		case du == nil:
			if a.unitAllows(s, d) {
				a.union(s, d)
			}
		case su == nil:
			if a.unitAllows(d, s) {
				a.union(d, s)
			}
		case len(du) == len(su) && a.part[d] == a.part[s]:
			ok := true
			for i := range du {
				x, y := a.find(du[i]), a.find(su[i])
				if x != y && (a.interferes(x, y) || !a.mayJoin(x, y)) {
					ok = false
				}
				for k := range su {
					if k != i && x == a.find(su[k]) {
						ok = false
					}
				}
			}
			if ok {
				for i := range du {
					x, y := a.find(du[i]), a.find(su[i])
					if x != y {
						a.union(y, x)
					}
				}
			}
		}
	}
}

// unitAllows says whether single register r can take the place of tuple member m.
func (a *allocation) unitAllows(m, r int32) bool {
	for _, k := range a.parts[a.unit[m]] {
		if a.find(k) == r {
			return false
		}
	}
	return true
}

// union makes b an alias of a.
func (a *allocation) union(x, y int32) {
	a.alias[y] = x
	for _, j := range a.adj[y] {
		a.addEdge(x, j)
	}
	a.cost[x] += a.cost[y]
	if a.first[y] >= 0 && (a.first[x] < 0 || a.first[y] < a.first[x]) {
		a.first[x] = a.first[y]
	}
	a.mates[x] = append(a.mates[x], a.mates[y]...)
	a.accesses[x].add(&a.accesses[y])
	a.last[x] = max(a.last[x], a.last[y])
	a.used[x] = a.used[x] || a.used[y]
	a.joined(x, y)
}
