package lower

import (
	"fmt"
	"sort"

	"github.com/sarchlab/smsim/isa"
)

// allocation is one attempt to give every virtual register a physical one, by graph colouring.
// Nodes are dense register numbers; a coalesced register is an alias of its representative.
type allocation struct {
	f     *fn
	n     numbering
	alias []int32
	adj   [][]int32
	edge  []uint64 // triangular bit matrix of interferences
	// Tuples: unit[i] is the first member's number, part[i] the position inside; size[unit] members.
	unit  []int32
	part  []int8
	parts map[int32][]int32
	first []int32 // position of the first definition or use
	cost  []float64
	used  []bool
	color []int16
	pairs []movePair
	mates [][]mate
	soft  int     // registers known to be needed in any case
	fetch []int32 // last position at which a memory instruction reads the register, -1: never
}

// movePair is a copy between two registers of one file.
type movePair struct {
	d, s   int32
	weight float64
}

// mate is a register that is read by the same instruction: it is better in another bank.
type mate struct {
	other  int32
	weight float32
}

// maxAttempts bounds the rounds of spilling; each frees at least one register.
const maxAttempts = 120

// allocate maps all virtual registers to physical ones, spilling where more than limit general registers
// would be needed, and returns the number of registers as the compiler reports it.
func (f *fn) allocate(limit int) (int, error) {
	for attempt := 0; attempt < maxAttempts; attempt++ {
		a := f.newAllocation()
		a.coalesce()
		spill, regs := a.assign(limit)
		if len(spill) == 0 {
			a.rewrite()
			return regs, nil
		}
		if err := f.spill(a, spill); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("register allocation did not fit %d registers", limit)
}

// allocateWithoutSpill is one attempt of allocate; the code is unchanged where it fails.
func (f *fn) allocateWithoutSpill(limit int) (int, bool) {
	a := f.newAllocation()
	a.coalesce()
	spill, regs := a.assign(limit)
	if len(spill) > 0 {
		return 0, false
	}
	a.rewrite()
	return regs, true
}

func (a *allocation) find(i int32) int32 {
	for a.alias[i] != i {
		a.alias[i] = a.alias[a.alias[i]]
		i = a.alias[i]
	}
	return i
}

func (a *allocation) bit(i, j int32) (int, uint64) {
	if i < j {
		i, j = j, i
	}
	k := int(i)*(int(i)-1)/2 + int(j)
	return k >> 6, 1 << (k & 63)
}

func (a *allocation) interferes(i, j int32) bool {
	if i == j {
		return false
	}
	w, m := a.bit(i, j)
	return a.edge[w]&m != 0
}

func (a *allocation) addEdge(i, j int32) {
	if i == j {
		return
	}
	w, m := a.bit(i, j)
	if a.edge[w]&m == 0 {
		a.edge[w] |= m
		a.adj[i] = append(a.adj[i], j)
		a.adj[j] = append(a.adj[j], i)
	}
}

func (n numbering) file(i int32) int {
	switch {
	case int(i) < n.preds:
		return 0
	case int(i) < n.uregs:
		return 1
	case int(i) < n.upreds:
		return 2
	}
	return 3
}

// newAllocation builds the interference graph.
func (f *fn) newAllocation() *allocation {
	l := f.live()
	n := l.n
	t := n.total
	a := &allocation{f: f, n: n, alias: make([]int32, t), adj: make([][]int32, t), unit: make([]int32, t), part: make([]int8, t),
		parts: map[int32][]int32{}, first: make([]int32, t), cost: make([]float64, t), used: make([]bool, t), color: make([]int16, t),
		edge: make([]uint64, t*(t-1)/2/64+1), mates: make([][]mate, t), fetch: make([]int32, t)}
	for i := range a.alias {
		a.alias[i], a.unit[i], a.first[i], a.color[i], a.fetch[i] = int32(i), int32(i), -1, -1, -1
	}
	pos := int32(0)
	live := newBitset(t)
	for _, b := range f.blocks {
		weight := 1.0
		for range min(b.depth, 6) {
			weight *= 8
		}
		for i := range b.insts {
			in := &b.insts[i]
			touch := func(id int) {
				a.used[id] = true
				a.cost[id] += weight
				if a.first[id] < 0 {
					a.first[id] = pos
				}
			}
			f.uses(in, n, touch)
			f.defs(in, n, touch)
			if in.Class().IsMemory() {
				f.uses(in, n, func(id int) { a.fetch[id] = pos })
			}
			f.noteTuples(in, a)
			a.noteMates(in, float32(weight))
			pos++
		}
		copy(live, l.out[b.id])
		for i := len(b.insts) - 1; i >= 0; i-- {
			in := &b.insts[i]
			moveSrc := -1
			if in.Op == isa.OpMOV && !in.Mod.Has(modKeep) && in.Src[0].Kind == isa.KindReg && in.Src[0].Flags == 0 && in.Src[0].Reg >= isa.VirtualBase && in.Dst[0].Flags == 0 && in.Dst[0].Kind == isa.KindReg && in.Dst[0].Reg >= isa.VirtualBase {
				moveSrc = n.of(isa.KindReg, in.Src[0].Reg)
				a.pairs = append(a.pairs, movePair{int32(n.of(isa.KindReg, in.Dst[0].Reg)), int32(moveSrc), weight})
			}
			f.defs(in, n, live.set) // a dead result still needs a register of its own
			f.defs(in, n, func(d int) {
				file := n.file(int32(d))
				lo, hi := n.rangeOf(file)
				for w := lo >> 6; w <= (hi-1)>>6 && hi > lo; w++ {
					x := live[w]
					for x != 0 {
						j := w<<6 + trailing(x)
						x &= x - 1
						if j >= lo && j < hi && j != moveSrc {
							a.addEdge(int32(d), int32(j))
						}
					}
				}
			})
			if in.Guard.Kind == isa.KindNone {
				f.defs(in, n, live.clear)
			}
			f.uses(in, n, live.set)
		}
	}
	// Registers that are live on entry without a definition interfere with each other.
	if len(f.rpo) > 0 {
		var ids []int32
		l.in[0].each(func(i int) { ids = append(ids, int32(i)) })
		for x := range ids {
			for y := range x {
				if n.file(ids[x]) == n.file(ids[y]) {
					a.addEdge(ids[x], ids[y])
				}
			}
		}
	}
	return a
}

func (n numbering) rangeOf(file int) (lo, hi int) {
	switch file {
	case 0:
		return 0, n.preds
	case 1:
		return n.preds, n.uregs
	case 2:
		return n.uregs, n.upreds
	}
	return n.upreds, n.total
}

// noteTuples records which registers must be consecutive, from the operands of one instruction.
func (f *fn) noteTuples(in *isa.Inst, a *allocation) {
	note := func(kind isa.OperandKind, regs []isa.Reg) {
		u := int32(a.n.of(kind, regs[0]))
		if a.parts[u] != nil {
			return
		}
		for i, r := range regs {
			id := int32(a.n.of(kind, r))
			a.unit[id], a.part[id] = u, int8(i)
			a.parts[u] = append(a.parts[u], id)
			a.used[id] = true
			if a.first[id] < 0 {
				a.first[id] = a.first[u]
			}
		}
	}
	each := func(o *isa.Operand) {
		if o.Flags&(flagPair|flagQuad) != 0 && o.Reg >= isa.VirtualBase {
			switch o.Kind {
			case isa.KindReg, isa.KindMem:
				note(isa.KindReg, f.tuples[o.Reg])
			case isa.KindUReg:
				note(isa.KindUReg, f.utuples[o.Reg])
			}
		}
		if o.Kind == isa.KindMem && o.Is(isa.HasUReg|isa.UWide64) && o.UReg >= isa.VirtualBase {
			note(isa.KindUReg, f.utuples[o.UReg])
		}
	}
	for i := range in.Dst[:in.NDst] {
		each(&in.Dst[i])
	}
	for i := range in.Src[:in.NSrc] {
		each(&in.Src[i])
	}
}

// noteMates records pairs of registers read by one instruction.
func (a *allocation) noteMates(in *isa.Inst, weight float32) {
	if a.f.t.RegBanks < 2 || in.NSrc < 2 || in.Class().IsMemory() {
		return
	}
	var ids [isa.MaxSrc]int32
	k := 0
	for i := range in.Src[:in.NSrc] {
		if o := &in.Src[i]; o.Kind == isa.KindReg && o.Reg >= isa.VirtualBase {
			ids[k] = int32(a.n.of(isa.KindReg, o.Reg))
			k++
		}
	}
	// Two reads never collide on a machine with two one-port banks and an operand collector of two; three do.
	if k < 3 && a.f.t.RegBanks == 2 && a.f.t.SM >= 70 && k < 2 {
		return
	}
	for x := 0; x < k; x++ {
		for y := 0; y < x; y++ {
			if ids[x] != ids[y] {
				a.mates[ids[x]] = append(a.mates[ids[x]], mate{ids[y], weight})
				a.mates[ids[y]] = append(a.mates[ids[y]], mate{ids[x], weight})
			}
		}
	}
}

// coalesce merges the two sides of copies that do not interfere, inner loops first.
func (a *allocation) coalesce() {
	sort.SliceStable(a.pairs, func(i, j int) bool { return a.pairs[i].weight > a.pairs[j].weight })
	for _, p := range a.pairs {
		d, s := a.find(p.d), a.find(p.s)
		if d == s || a.interferes(d, s) {
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
				if x != y && a.interferes(x, y) {
					ok = false
				}
				for k := range su {
					if k != i && (x == a.find(su[k]) || false) {
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
	a.fetch[x] = max(a.fetch[x], a.fetch[y])
	a.used[x] = a.used[x] || a.used[y]
}

// assign colours all files. It returns registers to spill when the limit is not enough.
func (a *allocation) assign(limit int) (spill []int32, regs int) {
	for file := 1; file < 4; file++ {
		size := 7
		if file == 2 {
			size = 63
		}
		if s, _ := a.colour(file, size, 0); len(s) > 0 {
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
	for order := range 3 {
		if s, top := a.colour(0, limit, order); len(s) == 0 && top <= best {
			return nil, best
		}
	}
	a.color = colors
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
	var taken [256]uint8
	var fetched [256]int32 // position at which a memory instruction last read the register
	for i := range fetched {
		fetched[i] = -recentFetch
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
		choice, best := -1, float32(0)
		for base := 0; base+width <= size; base += step {
			if taken[base] != 0 || file == 0 && a.f.reserved(base, width) {
				continue
			}
			// A later register is worth it only if it does not raise the count.
			if choice >= 0 && base >= max(top, a.soft) {
				break
			}
			var cost float32
			if file == 0 {
				if width == 1 {
					cost = a.bankCost(u, base)
				}
				for k, m := range members {
					if d := a.first[a.find(m)] - fetched[base+k]; d >= 0 && d < recentFetch {
						cost += float32(recentFetch-d) * 4
					}
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
			spill = append(spill, u)
			continue
		}
		for k, m := range members {
			r := a.find(m)
			a.color[r] = int16(choice + k)
			fetched[choice+k] = max(fetched[choice+k], a.fetch[r])
		}
		top = max(top, choice+width)
	}
	return spill, top
}

// recentFetch is the number of instructions during which a register that a memory instruction read is better
// not written: the write would wait for the read.
const recentFetch = 12

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

// rewrite replaces virtual by physical registers and removes copies that became empty.
func (a *allocation) rewrite() {
	num := func(kind isa.OperandKind, r isa.Reg) isa.Reg {
		id := a.n.of(kind, r)
		if id < 0 {
			return r
		}
		c := a.color[a.find(int32(id))]
		if c < 0 {
			c = 0
		}
		return isa.Reg(c)
	}
	fix := func(o *isa.Operand) {
		switch o.Kind {
		case isa.KindReg, isa.KindPred, isa.KindUReg, isa.KindUPred, isa.KindMem, isa.KindConst:
			if o.Kind == isa.KindMem && o.Is(isa.HasUReg) {
				o.UReg = num(isa.KindUReg, o.UReg)
			}
			o.Reg = num(o.Kind, o.Reg)
		}
		o.Flags &^= flagPair | flagQuad
	}
	for _, b := range a.f.blocks {
		kept := b.insts[:0]
		for i := range b.insts {
			in := b.insts[i]
			fix(&in.Guard)
			for k := range in.Dst[:in.NDst] {
				fix(&in.Dst[k])
			}
			for k := range in.Src[:in.NSrc] {
				fix(&in.Src[k])
			}
			if in.Op == isa.OpMOV && !in.Mod.Has(modKeep) && in.Src[0].Kind == isa.KindReg && in.Src[0].Reg == in.Dst[0].Reg && in.Src[0].Flags == 0 {
				continue
			}
			kept = append(kept, in)
		}
		b.insts = kept
	}
}
