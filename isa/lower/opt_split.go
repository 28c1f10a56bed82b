package lower

import (
	"sort"

	"github.com/sarchlab/smsim/isa"
)

// splitVariables gives a register that a program reuses for unrelated values a new name for every value that
// begins and ends within one block, so that the passes that follow can treat it as a value. A tuple is renamed as a whole,
// between points of the block at which none of its words is live.
func (f *fn) splitVariables() {
	l := f.live()
	n := l.n
	writes := make([]int32, n.total)
	for _, b := range f.rpo {
		for i := range b.insts {
			f.defs(&b.insts[i], n, func(id int) { writes[id]++ })
		}
	}
	for _, b := range f.rpo {
		f.splitBlock(b, n, writes, l.out[b.id])
	}
	for _, b := range f.rpo {
		f.splitTuples(b, n, writes, l.out[b.id])
	}
}

// splitTuples renames the tuples of a block that are written more than once.
func (f *fn) splitTuples(b *block, n numbering, writes []int32, out bitset) {
	live := map[isa.Reg]int{} // live words, by the tuple's first register
	isLive := map[int]bool{}
	end := map[isa.Reg]int{} // the span that is open, walking back: its last instruction; none: its words live on
	tuple := func(id int) (isa.Reg, bool) {
		if kind, r := n.kindOf(id); kind == isa.KindReg {
			first, in := f.inTuple[r]
			return first, in
		}
		return 0, false
	}
	for first, regs := range f.tuples {
		for _, r := range regs {
			if id := n.of(isa.KindReg, r); id < n.total && out.has(id) && f.inTuple[r] == first {
				isLive[id] = true
				live[first]++
			}
		}
	}
	for i := len(b.insts) - 1; i >= 0; i-- {
		in := &b.insts[i]
		// A span is closed where the first of its words is defined: the instruction's sources belong to the one before.
		if in.Guard.Kind == isa.KindNone {
			var defined []isa.Reg
			f.defs(in, n, func(id int) {
				if first, ok := tuple(id); ok {
					if _, open := end[first]; !open && live[first] == 0 {
						end[first] = i // nobody reads what this instruction defines
					}
					defined = append(defined, first)
				}
			})
			f.defs(in, n, func(id int) {
				if first, ok := tuple(id); ok && isLive[id] {
					isLive[id] = false
					live[first]--
				}
			})
			for _, first := range defined {
				if to, open := end[first]; open && live[first] == 0 {
					delete(end, first)
					if writes[n.of(isa.KindReg, first)] > 1 {
						f.renameTuple(b, first, i, to)
					}
				}
			}
		}
		f.uses(in, n, func(id int) {
			if first, ok := tuple(id); ok && !isLive[id] {
				if live[first] == 0 {
					end[first] = i
				}
				isLive[id] = true
				live[first]++
			}
		})
	}
}

// renameTuple gives a tuple new registers from the destinations of instruction from of a block to the sources of
// instruction to.
func (f *fn) renameTuple(b *block, first isa.Reg, from, to int) {
	fresh := map[isa.Reg]isa.Reg{}
	var regs []isa.Reg
	for _, r := range f.tuples[first] {
		fresh[r] = f.newReg()
		regs = append(regs, fresh[r])
	}
	f.setTuple(regs)
	rename := func(o *isa.Operand) {
		if o.Kind == isa.KindReg || o.Kind == isa.KindMem || o.Kind == isa.KindConst {
			if r, ok := fresh[o.Reg]; ok {
				o.Reg = r
			}
		}
	}
	for i := from; i <= to; i++ {
		in := &b.insts[i]
		if i > from {
			for k := range in.Src[:in.NSrc] {
				rename(&in.Src[k])
			}
		}
		if i < to || from == to || in.Guard.Kind != isa.KindNone {
			for k := range in.Dst[:in.NDst] {
				rename(&in.Dst[k])
			}
		}
	}
}

// valueSpan is the part of a block in which a register holds one value.
type valueSpan struct {
	from int // its definition
	to   int // its last reader
}

func (f *fn) splitBlock(b *block, n numbering, writes []int32, out bitset) {
	open := map[int]*valueSpan{}
	var closed []struct {
		id int
		s  valueSpan
	}
	finish := func(id int) {
		if s := open[id]; s != nil {
			closed = append(closed, struct {
				id int
				s  valueSpan
			}{id, *s})
			delete(open, id)
		}
	}
	for i := range b.insts {
		in := &b.insts[i]
		f.uses(in, n, func(id int) {
			if s := open[id]; s != nil {
				s.to = i
			}
		})
		guarded := in.Guard.Kind != isa.KindNone
		f.defs(in, n, func(id int) {
			if guarded { // reads the old value too: the span goes on, but with another writer it is no value
				delete(open, id)
				return
			}
			finish(id)
			kind, r := n.kindOf(id)
			_, tuple := f.inTuple[r]
			if writes[id] > 1 && (kind == isa.KindPred || kind == isa.KindReg && !tuple) {
				open[id] = &valueSpan{from: i, to: i}
			}
		})
	}
	var rest []int
	for id := range open {
		if !out.has(id) {
			rest = append(rest, id)
		}
	}
	sort.Ints(rest)
	for _, id := range rest {
		finish(id)
	}
	for _, c := range closed {
		kind, r := n.kindOf(c.id)
		fresh := isa.Reg(0)
		if kind == isa.KindPred {
			fresh = f.newPred()
		} else {
			fresh = f.newReg()
		}
		rename := func(o *isa.Operand) {
			k := o.Kind
			if k == isa.KindMem || k == isa.KindConst {
				k = isa.KindReg
			}
			if k == kind && o.Reg == r {
				o.Reg = fresh
			}
		}
		for i := c.s.from; i <= c.s.to; i++ {
			in := &b.insts[i]
			if i > c.s.from {
				rename(&in.Guard)
				for k := range in.Src[:in.NSrc] {
					rename(&in.Src[k])
				}
			}
			if i == c.s.from {
				for k := range in.Dst[:in.NDst] {
					rename(&in.Dst[k])
				}
			}
		}
	}
}
