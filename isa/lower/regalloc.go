package lower

import (
	"fmt"

	"github.com/sarchlab/smsim/isa"
)

// allocation is one attempt to give every virtual register a physical one, by graph colouring.
// Nodes are dense register numbers; a coalesced register is an alias of its representative.
type allocation struct {
	f      *fn
	n      numbering
	alias  []int32
	adj    [][]int32
	edge   []uint64 // triangular bit matrix of interferences; nil: sparse holds them
	sparse map[uint64]bool
	// Tuples: unit[i] is the first member's number, part[i] the position inside; size[unit] members.
	unit     []int32
	part     []int8
	parts    map[int32][]int32
	first    []int32 // position of the first definition or use
	last     []int32 // position of the last one
	cost     []float64
	used     []bool
	color    []int16
	pairs    []movePair
	mates    [][]mate
	spread   bool // predicates are given out in turn
	roof     int  // registers that may be used to keep operands apart, and writes away from reads of memory instructions
	accesses []accesses

	fixed          []int16              // physical register that a register must have, -1: any; nil: no standard call is near
	forbidden      map[int32]*colourSet // where a register must not be
	general, preds colourSet            // what a standard call overwrites
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

// maxMatrix is the largest number of registers for which interferences are a bit matrix (25 MB).
const maxMatrix = 20000

// maxAttempts bounds the rounds of spilling; each frees at least one register.
const maxAttempts = 120

// patience is how many attempts take one register for each that found no place. After that every fourth takes one more: where wide tuples that cannot
// be spilled stand close together, single registers of their many neighbours seldom free a place.
const patience = 16

// allocate maps all virtual registers to physical ones, spilling where more than limit general registers
// would be needed, and returns the number of registers as the compiler reports it.
func (f *fn) allocate(limit int) (int, error) {
	merge := true
	f.joinTied = true
	for attempt := 0; attempt < maxAttempts; attempt++ {
		a := f.newAllocation()
		if merge {
			a.coalesce()
		}
		spill, regs := a.assign(limit)
		if len(spill) == 0 {
			a.rewrite()
			return regs, nil
		}
		if a.n.file(spill[0]) == 0 {
			if units := f.excess(a, limit); len(units) > 0 {
				f.spillUnits(a, units)
				continue
			}
		}
		if err := f.spill(a, spill, 1+max(0, attempt-patience)/4); err == errNothingToSpill && merge {
			merge = false // copies that keep their own registers are easier to place
		} else if err != nil && f.joinTied && len(f.fixed) > 0 {
			f.joinTied, merge = false, true
		} else if err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("register allocation did not fit %d registers", limit)
}

// allocateWithoutSpill is one attempt of allocate; the code is unchanged where it fails.
func (f *fn) allocateWithoutSpill(limit int) (int, bool) {
	f.joinTied = true
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
	if a.edge == nil {
		return a.sparse[a.pair(i, j)]
	}
	w, m := a.bit(i, j)
	return a.edge[w]&m != 0
}

// pair is the key of an interference in the sparse set.
func (a *allocation) pair(i, j int32) uint64 {
	return uint64(max(i, j))<<32 | uint64(min(i, j))
}

func (a *allocation) addEdge(i, j int32) {
	if i == j {
		return
	}
	if a.interferes(i, j) {
		return
	}
	if a.edge == nil {
		a.sparse[a.pair(i, j)] = true
	} else {
		w, m := a.bit(i, j)
		a.edge[w] |= m
	}
	a.adj[i] = append(a.adj[i], j)
	a.adj[j] = append(a.adj[j], i)
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
		parts: map[int32][]int32{}, first: make([]int32, t), last: make([]int32, t), cost: make([]float64, t), used: make([]bool, t), color: make([]int16, t),
		mates: make([][]mate, t), accesses: make([]accesses, t), roof: f.freeRegs(), spread: true}
	if t <= maxMatrix {
		a.edge = make([]uint64, t*(t-1)/2/64+1)
	} else {
		a.sparse = map[uint64]bool{}
	}
	for i := range a.alias {
		a.alias[i], a.unit[i], a.first[i], a.color[i] = int32(i), int32(i), -1, -1
	}
	pos := int32(0)
	live := newBitset(t)
	written, deep := f.clobbers(n)
	a.tieDown()
	weights := f.blockWeights()
	unread := f.unreadWords(n)
	for _, b := range f.blocks {
		weight := weights[b.id]
		for i := range b.insts {
			in := &b.insts[i]
			touch := func(id int) {
				a.used[id] = true
				a.cost[id] += weight
				a.last[id] = pos
				if a.first[id] < 0 {
					a.first[id] = pos
				}
			}
			f.uses(in, n, touch)
			f.defs(in, n, touch)
			a.note(in, pos)
			f.noteTuples(in, a)
			a.noteMates(in, float32(weight))
			pos++
		}
		copy(live, l.out[b.id])
		idle := unread[b]
		for word, others := range idle {
			if l.out[b.id].has(word) {
				live.setAll(others)
			}
		}
		for i := len(b.insts) - 1; i >= 0; i-- {
			in := &b.insts[i]
			moveSrc := -1
			if in.Op == isa.OpMOV && !in.Mod.Has(modKeep) && in.Src[0].Kind == isa.KindReg && in.Src[0].Flags == 0 && in.Src[0].Reg >= isa.VirtualBase && in.Dst[0].Flags == 0 && in.Dst[0].Kind == isa.KindReg && in.Dst[0].Reg >= isa.VirtualBase {
				moveSrc = n.of(isa.KindReg, in.Src[0].Reg)
				a.pairs = append(a.pairs, movePair{int32(n.of(isa.KindReg, in.Dst[0].Reg)), int32(moveSrc), weight})
			}
			if in.Op == isa.OpMOV && in.Mod.Has(modKeep) { // a copy that stays is to another register
				f.uses(in, n, func(s int) {
					f.defs(in, n, func(d int) {
						if s != d && n.file(int32(s)) == n.file(int32(d)) {
							a.addEdge(int32(d), int32(s))
						}
					})
				})
			}
			if s := f.site(in); s != nil && in.Op == isa.OpCALL {
				if s.standard || deep[s.unit] {
					a.acrossCall(in, live)
				}
				if written[s.unit] != nil {
					a.keepAcross(in, live, written[s.unit])
				}
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
			f.kills(in, n, live.clear)
			f.uses(in, n, func(id int) {
				live.set(id)
				live.setAll(idle[id])
			})
		}
	}
	a.fetchedInLastRound()
	a.keepWhileApart(l)
	// Registers that are live on entry without a definition interfere with each other.
	for _, start := range f.starts() {
		var ids []int32
		l.in[start.id].each(func(i int) { ids = append(ids, int32(i)) })
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

// unreadWords are, for each block and each word that a wide load of it fills, the load's words that nobody reads: they keep their registers as
// long as the others, for what is written into such a register before the load has come would wait for it.
func (f *fn) unreadWords(n numbering) map[*block]map[int][]int {
	uses := f.useCounts(n)
	out := map[*block]map[int][]int{}
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			if !in.Class().IsMemory() {
				continue
			}
			var read, unread []int
			f.defs(in, n, func(id int) {
				switch {
				case id >= n.preds:
				case uses[id] > 0:
					read = append(read, id)
				default:
					unread = append(unread, id)
				}
			})
			if len(read) == 0 || len(unread) == 0 {
				continue
			}
			if out[b] == nil {
				out[b] = map[int][]int{}
			}
			for _, id := range read {
				out[b][id] = append(out[b][id], unread...)
			}
		}
	}
	return out
}

// keepWhileApart keeps uniform registers that lanes of a warp still need apart from those that lanes of another group write meanwhile: a
// uniform register is the warp's, but lanes that went the other way run before or after.
func (a *allocation) keepWhileApart(l *liveness) {
	f, n := a.f, a.n
	for _, body := range f.apart {
		needed := map[int]bool{}
		for x := range body {
			l.in[x.id].each(func(i int) {
				if i >= n.uregs {
					needed[i] = true
				}
			})
		}
		if len(needed) == 0 {
			continue
		}
		for x := range body {
			for i := range x.insts {
				f.defs(&x.insts[i], n, func(d int) {
					if d < n.uregs {
						return
					}
					for j := range needed {
						if j != d && n.file(int32(j)) == n.file(int32(d)) {
							a.addEdge(int32(d), int32(j))
						}
					}
				})
			}
		}
	}
}

// keepAcross keeps the registers that are live after a call, other than its results, apart from those that the function writes.
func (a *allocation) keepAcross(call *isa.Inst, live, written bitset) {
	results := map[int]bool{}
	a.f.defs(call, a.n, func(id int) { results[id] = true })
	live.each(func(id int) {
		if results[id] {
			return
		}
		file := a.n.file(int32(id))
		written.each(func(w int) {
			if a.n.file(int32(w)) == file {
				a.addEdge(int32(id), int32(w))
			}
		})
	})
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
		if o := &in.Src[i]; o.Kind == isa.KindReg && o.Reg >= isa.VirtualBase && o.Flags&(flagPair|flagQuad) == 0 {
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
