package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// roomForWords is how many registers below its target a loop's own order may be for pairs of constant words to stay in registers
// all through it. Fitted on ptxas 13.0's loops for sm_90: 45 of 53 that need more load them inside, 100 of 104 that need fewer before it.
const roomForWords = 4

// sinkWords loads pairs of words of constant bank 0, mostly pointers, inside an innermost loop that needs many registers, right ahead of
// what reads them there, instead of before it, as ptxas does: they take registers then only from there to their last reader.
func (f *fn) sinkWords() {
	most := f.freeRegs() - roomForWords
	l := f.live()
	s := &wordSinker{f: f, l: l, defs: f.defSites(l.n)}
	done := map[*loop]bool{}
	for _, b := range f.rpo {
		if b.loop == nil || done[b.loop] || f.hasInner(b.loop) {
			continue
		}
		done[b.loop] = true
		s.loop(b.loop, most)
	}
	for _, x := range s.sunk {
		s.sink(x)
	}
	read := f.useCounts(f.numbering())
	for _, x := range s.sunk {
		unread := x.load.Op != isa.OpNone
		f.defs(x.load, l.n, func(id int) { unread = unread && read[id] == 0 })
		if unread {
			dead(x.load)
		}
	}
	slices.SortStableFunc(s.added, func(x, y placed) int { return y.i - x.i }) // from the end, so that places stay
	for _, x := range s.added {
		x.b.insts = slices.Insert(x.b.insts, x.i, x.in)
	}
	f.compact()
}

// wordSinker finds such loads.
type wordSinker struct {
	f     *fn
	l     *liveness
	defs  []defSite
	sunk  []sunkWord
	added []placed
}

// sunkWord is a load to be repeated in block b, whose instructions first to last read it; several: other blocks do, too.
type sunkWord struct {
	load        *isa.Inst
	b           *block
	first, last int
	several     bool
}

// loop finds the loads that an innermost loop reads in one of its blocks and that are live where it needs more than most registers.
func (s *wordSinker) loop(lp *loop, most int) {
	f, n := s.f, s.l.n
	var full []place // ahead of which as many are live
	reads := map[int]*sunkWord{}
	for _, b := range lp.blocks {
		f.eachPressure(s.l, b, func(i, live int) {
			if live >= most {
				full = append(full, place{b, i})
			}
		})
		for i := range b.insts {
			f.uses(&b.insts[i], n, func(id int) {
				if reads[id] == nil {
					reads[id] = &sunkWord{b: b, first: i}
				}
				reads[id].add(b, i)
			})
		}
	}
	if len(full) == 0 {
		return
	}
	s.l.in[lp.head.id].each(func(id int) {
		if id >= n.preds || s.defs[id].b == nil || slices.Contains(lp.blocks, s.defs[id].b) {
			return
		}
		x := sunkWord{load: &s.defs[id].b.insts[s.defs[id].i]}
		words := f.tuples[isa.VirtualBase+isa.Reg(id)]
		if !wordPair(x.load) || len(words) != 2 { // found by its low word, the first of the pair
			return
		}
		for _, r := range words {
			id := n.of(isa.KindReg, r)
			if s.defs[id].n != 1 {
				return
			}
			if y := reads[id]; y != nil {
				if x.b == nil {
					x.b, x.first = y.b, y.first
				}
				x.add(y.b, y.first)
				x.add(y.b, y.last)
				x.several = x.several || y.several
			}
		}
		idle := func(p place) bool { return p.b != x.b || p.i <= x.first || p.i > x.last }
		if x.b != nil && !x.several && slices.ContainsFunc(full, idle) {
			s.sunk = append(s.sunk, x)
		}
	})
}

// add notes that instruction i of block b reads the word.
func (x *sunkWord) add(b *block, i int) {
	x.several = x.several || b != x.b
	x.first, x.last = min(x.first, i), max(x.last, i)
}

// wordPair says that the instruction loads two words at a fixed place of constant bank 0.
func wordPair(in *isa.Inst) bool {
	return in.Op == isa.OpLDC && in.Mod.Size == 8 && in.Guard.Kind == isa.KindNone && in.Src[0].Bank == 0 && in.Src[0].Reg == isa.RZ
}

// sink repeats the load in its block, for which it gets registers of its own.
func (s *wordSinker) sink(x sunkWord) {
	f := s.f
	old := f.tuples[x.load.Dst[0].Reg]
	fresh := make([]word, len(old))
	for i := range fresh {
		fresh[i] = isa.R(f.newReg())
	}
	regs, _ := f.tupleOf(fresh)
	for i := x.first; i <= x.last; i++ {
		in := &x.b.insts[i]
		for k := range in.Src[:in.NSrc] {
			o := &in.Src[k]
			if o.Kind != isa.KindReg && o.Kind != isa.KindMem {
				continue
			}
			if at := slices.Index(old, o.Reg); at >= 0 {
				o.Reg = regs[at]
			}
		}
	}
	in := *x.load
	in.Dst[0].Reg = regs[0]
	in.Pos, in.PC = x.b.insts[x.first].Pos, x.b.insts[x.first].PC
	s.added = append(s.added, placed{x.b, x.first, in})
}
