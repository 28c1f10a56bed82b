package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// splitVariables gives a register that a program reuses for unrelated values a new name for every value that
// begins and ends within one block, so that the passes that follow can treat it as a value. Words that an instruction
// needs as a tuple get their new names together; a word of a tuple that only single words' instructions touch leaves it.
func (f *fn) splitVariables() {
	l := f.live()
	n := l.n
	writes := make([]int32, n.total)
	for _, b := range f.rpo {
		for i := range b.insts {
			f.defs(&b.insts[i], n, func(id int) { writes[id]++ })
		}
	}
	variable := make([]bool, n.total)
	for id := range variable {
		variable[id] = writes[id] > 1
	}
	for _, id := range f.passed(n) { // CALL and RET do not name it
		variable[id] = false
	}
	for _, regs := range f.tuples { // words of a tuple are renamed together or not at all
		some := false
		for _, r := range regs {
			some = some || writes[n.of(isa.KindReg, r)] > 1
		}
		for _, r := range regs {
			if some {
				variable[n.of(isa.KindReg, r)] = true
			}
		}
	}
	for _, b := range f.rpo {
		s := splitter{f: f, n: n, variable: variable, open: map[int]*valueSpan{}}
		s.walk(b)
		s.finishBlock(l.out[b.id])
		s.rename(b)
	}
}

// valueSpan is the part of a block in which a register holds one value.
type valueSpan struct {
	id   int
	from int // its definition
	to   int // its last reader
	with *valueSpan
	// Of the first span of those that some instruction reads or writes as one tuple:
	words map[int]*valueSpan // by register; nil while no instruction needs the tuple
	fixed bool               // one of them also holds a value of another block, or does not fit the others
	ended int                // spans that ended in the block
}

// group is the first of the spans that are renamed together.
func (s *valueSpan) group() *valueSpan {
	for s.with != nil {
		s = s.with
	}
	return s
}

// splitter finds the spans of one block.
type splitter struct {
	f        *fn
	n        numbering
	variable []bool
	open     map[int]*valueSpan
	closed   []*valueSpan
}

func (s *splitter) finish(id int) {
	if x := s.open[id]; x != nil {
		s.closed = append(s.closed, x)
		x.group().ended++
		delete(s.open, id)
	}
}

// walk opens a span at every definition and closes the one before.
func (s *splitter) walk(b *block) {
	for i := range b.insts {
		in := &b.insts[i]
		s.f.uses(in, s.n, func(id int) {
			if x := s.open[id]; x != nil {
				x.to = i
			}
		})
		for k := range in.Src[:in.NSrc] {
			s.join(&in.Src[k])
		}
		guarded := in.Guard.Kind != isa.KindNone
		s.f.defs(in, s.n, func(id int) {
			if guarded { // reads the old value too: the span goes on, but with another writer it is no value
				if x := s.open[id]; x != nil {
					x.group().fixed = true
					delete(s.open, id)
				}
				return
			}
			s.finish(id)
			if kind, _ := s.n.kindOf(id); s.variable[id] && (kind == isa.KindPred || kind == isa.KindReg) {
				s.open[id] = &valueSpan{id: id, from: i, to: i}
			}
		})
		for k := range in.Dst[:in.NDst] {
			s.join(&in.Dst[k])
		}
	}
}

// join makes one group of the spans of a tuple's words.
func (s *splitter) join(o *isa.Operand) {
	if o.Flags&(flagPair|flagQuad) == 0 || o.Kind == isa.KindUReg || o.Reg < isa.VirtualBase {
		return
	}
	var first *valueSpan
	missing := false
	for _, r := range s.f.tuples[o.Reg] {
		x := s.open[s.n.of(isa.KindReg, r)]
		if x == nil {
			missing = true
			continue
		}
		if x = x.group(); first == nil {
			first = x
		} else if x != first {
			first.merge(x)
		}
		if first.words == nil {
			first.words = map[int]*valueSpan{first.id: first}
		}
	}
	if first != nil && missing {
		first.fixed = true
	}
}

// merge adds the spans of group x to group s. Two spans of one register cannot be words of one tuple.
func (s *valueSpan) merge(x *valueSpan) {
	if s.words == nil {
		s.words = map[int]*valueSpan{s.id: s}
	}
	if x.words == nil {
		x.words = map[int]*valueSpan{x.id: x}
	}
	for id, w := range x.words {
		if s.words[id] != nil {
			s.fixed = true
		}
		s.words[id] = w
	}
	s.fixed = s.fixed || x.fixed
	s.ended += x.ended
	x.with, x.words = s, nil
}

// finishBlock closes the spans of registers that are dead at the end of the block.
func (s *splitter) finishBlock(out bitset) {
	var rest []int
	for id := range s.open {
		if !out.has(id) {
			rest = append(rest, id)
		}
	}
	slices.Sort(rest)
	for _, id := range rest {
		s.finish(id)
	}
}

// rename gives every group of which all spans ended its own registers.
func (s *splitter) rename(b *block) {
	done := map[*valueSpan]bool{}
	for _, x := range s.closed {
		g := x.group()
		if done[g] {
			continue
		}
		done[g] = true
		if g.words == nil {
			kind, r := s.n.kindOf(x.id)
			fresh := isa.Reg(0)
			if kind == isa.KindPred {
				fresh = s.f.newPred()
			} else {
				fresh = s.f.newReg()
			}
			x.rename(b, kind, r, fresh)
			continue
		}
		_, r := s.n.kindOf(x.id)
		regs := s.f.tuples[s.f.inTuple[r]]
		if g.fixed || g.ended != len(regs) || len(g.words) != len(regs) {
			continue
		}
		fresh := make([]isa.Reg, len(regs))
		for i := range regs {
			fresh[i] = s.f.newReg()
		}
		s.f.setTuple(fresh)
		for i, r := range regs {
			g.words[s.n.of(isa.KindReg, r)].rename(b, isa.KindReg, r, fresh[i])
		}
	}
}

// rename replaces register r in the span.
func (s *valueSpan) rename(b *block, kind isa.OperandKind, r, fresh isa.Reg) {
	rename := func(o *isa.Operand) {
		k := o.Kind
		if k == isa.KindMem || k == isa.KindConst {
			k = isa.KindReg
		}
		if k == kind && o.Reg == r {
			o.Reg = fresh
		}
	}
	for i := s.from; i <= s.to; i++ {
		in := &b.insts[i]
		if i > s.from {
			rename(&in.Guard)
			for k := range in.Src[:in.NSrc] {
				rename(&in.Src[k])
			}
		}
		if i == s.from {
			for k := range in.Dst[:in.NDst] {
				rename(&in.Dst[k])
			}
		}
	}
}
