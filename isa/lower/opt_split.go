package lower

import (
	"sort"

	"github.com/sarchlab/smsim/isa"
)

// splitVariables gives a register that a program reuses for unrelated values a new name for every value that
// begins and ends within one block, so that the passes that follow can treat it as a value. Words of tuples keep
// their register.
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
