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

// sunkWord is a load to be repeated in block b, whose instructions first to last read it.
type sunkWord struct {
	load        *isa.Inst
	b           *block
	first, last int
}

// loop finds the loads that an innermost loop reads in one of its blocks and that are live where it needs more than most registers.
func (s *wordSinker) loop(lp *loop, most int) {
	f, n := s.f, s.l.n
	type point struct {
		b    *block
		i    int // ahead of this instruction
		live int
	}
	var full []point // where more than most are live
	reads := map[int]*sunkWord{}
	several := map[int]bool{}
	for _, b := range lp.blocks {
		live := newBitset(n.total)
		copy(live, s.l.out[b.id])
		for i := len(b.insts); ; i-- {
			if k := general(live, n); k >= most {
				full = append(full, point{b, i, k})
			}
			if i == 0 {
				break
			}
			in := &b.insts[i-1]
			f.defs(in, n, live.clear)
			f.uses(in, n, func(id int) {
				live.set(id)
				switch x := reads[id]; {
				case x == nil:
					reads[id] = &sunkWord{b: b, first: i - 1, last: i - 1}
				case x.b == b:
					x.first = i - 1
				default:
					several[id] = true
				}
			})
		}
	}
	if len(full) == 0 {
		return
	}
	s.l.in[lp.head.id].each(func(id int) {
		x := reads[id]
		if x == nil || several[id] || id >= n.preds || s.defs[id].n != 1 {
			return
		}
		d := &s.defs[id]
		load := &d.b.insts[d.i]
		if slices.Contains(lp.blocks, d.b) || !wordPair(load) || n.of(isa.KindReg, load.Dst[0].Reg) != id {
			return
		}
		if high := reads[id+1]; high == nil || several[id+1] || high.b != x.b { // a pair has adjacent numbers
			return
		}
		x.load = load
		for _, p := range full {
			if p.b != x.b || p.i <= x.first || p.i > x.last {
				s.sunk = append(s.sunk, *x)
				return
			}
		}
	})
}

// wordPair says that the instruction loads two words at a fixed place of constant bank 0.
func wordPair(in *isa.Inst) bool {
	return in.Op == isa.OpLDC && in.Mod.Size == 8 && in.Guard.Kind == isa.KindNone && in.Src[0].Bank == 0 && in.Src[0].Reg == isa.RZ
}

// general is the number of general registers in the set.
func general(set bitset, n numbering) int {
	k := 0
	set.each(func(id int) {
		if id < n.preds {
			k++
		}
	})
	return k
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

// ownPressure is the most general registers that are live at once while the instructions stand in the program's order.
func (f *fn) ownPressure() int {
	l := f.live()
	most := 0
	for _, b := range f.rpo {
		live := newBitset(l.n.total)
		copy(live, l.out[b.id])
		most = max(most, general(live, l.n))
		for i := len(b.insts) - 1; i >= 0; i-- {
			f.defs(&b.insts[i], l.n, live.clear)
			f.uses(&b.insts[i], l.n, live.set)
			most = max(most, general(live, l.n))
		}
	}
	return most
}
