package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// accesses are the positions at which a register, or all that share a physical one, are accessed, ascending.
type accesses struct {
	fetched []int32 // memory instructions read it, some time after they issue
	written []int32 // other instructions write it
	read    []int32 // instructions of any kind read it
	loaded  []int32 // memory instructions write it
}

const (
	// recentFetch is the number of instructions during which a register that a memory instruction read is better not
	// written: the write would wait for the read.
	recentFetch = 10
	// recentRead is the number of instructions for which a load is kept from a register that others read, so that it can still
	// move ahead of them. Both are fitted to the registers of ptxas's code (4 to 24 tried).
	recentRead = 12
	// recentUse is the number of instructions for which, before Volta, any write is kept from a register that others read, so that
	// fillStalls can move the instructions apart.
	recentUse = 8
)

// note adds the accesses of an instruction.
func (a *allocation) note(in *isa.Inst, pos int32) {
	memory := in.Class().IsMemory()
	general := func(to func(x *accesses) *[]int32) func(id int) {
		return func(id int) {
			if id < a.n.preds {
				list := to(&a.accesses[id])
				*list = append(*list, pos)
			}
		}
	}
	a.f.uses(in, a.n, general(func(x *accesses) *[]int32 { return &x.read }))
	if memory {
		a.f.uses(in, a.n, general(func(x *accesses) *[]int32 { return &x.fetched }))
		a.f.defs(in, a.n, general(func(x *accesses) *[]int32 { return &x.loaded }))
		return
	}
	a.f.defs(in, a.n, general(func(x *accesses) *[]int32 { return &x.written }))
}

// add merges the accesses of y into x.
func (x *accesses) add(y *accesses) {
	x.fetched, x.written = merged(x.fetched, y.fetched), merged(x.written, y.written)
	x.read, x.loaded = merged(x.read, y.read), merged(x.loaded, y.loaded)
}

// merged is the ascending union of two ascending lists, in x's place where there is room.
func merged(x, y []int32) []int32 {
	i, k := len(x)-1, len(y)-1
	x = append(x, y...)
	for to := len(x) - 1; k >= 0 && i >= 0; to-- {
		if x[i] > y[k] {
			x[to] = x[i]
			i--
		} else {
			x[to] = y[k]
			k--
		}
	}
	copy(x, y[:k+1]) // what is left of y comes before all of x
	return x
}

// collisions is how often one of the two is written too soon after the other is read.
func (x *accesses) collisions(y *accesses) int {
	return soon(x.fetched, y.written, recentFetch) + soon(y.fetched, x.written, recentFetch) +
		soon(x.read, y.loaded, recentRead) + soon(y.read, x.loaded, recentRead)
}

// crowding is how often one of the two is written by arithmetic soon after the other is read.
func (x *accesses) crowding(y *accesses) int {
	return soon(x.read, y.written, recentUse) + soon(y.read, x.written, recentUse)
}

// soon is the number of writes that come fewer than distance instructions after a read.
func soon(reads, writes []int32, distance int32) int {
	n := 0
	for _, w := range writes {
		k, _ := slices.BinarySearch(reads, w)
		if k > 0 && w-reads[k-1] < distance {
			n++
		}
	}
	return n
}

// fetchedInLastRound notes what memory instructions at the end of a loop read at the places before its start too, where the next
// round sees them.
func (a *allocation) fetchedInLastRound() {
	start := make(map[*block]int32, len(a.f.blocks))
	pos := int32(0)
	for _, b := range a.f.blocks {
		start[b] = pos
		pos += int32(len(b.insts))
	}
	for _, l := range a.f.loops {
		from, to := pos, int32(0)
		for _, b := range l.blocks {
			from, to = min(from, start[b]), max(to, start[b]+int32(len(b.insts)))
		}
		for id := range a.accesses {
			fetched := a.accesses[id].fetched
			k, _ := slices.BinarySearch(fetched, max(from, to-recentFetch))
			var before []int32
			for _, p := range fetched[k:] {
				if p >= to {
					break
				}
				before = append(before, p-(to-from))
			}
			a.accesses[id].fetched = merged(fetched, before)
		}
	}
}
