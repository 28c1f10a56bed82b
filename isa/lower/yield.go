package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// yieldInSpins puts a YIELD at the start of every loop that lanes leave by what a volatile load or an atomic gave them in it: other
// lanes may have to run before they can. ptxas 13.0 has one in each such loop from Volta on (find and compare-and-swap loops of
// union-find, insertion into hash tables, locks, waiting for a barrier in shared memory), none in loops that count or read other memory.
// It is a block of its own: nothing moves over it.
func (f *fn) yieldInSpins() {
	loops := f.spinLoops()
	for _, l := range loops {
		first := &block{depth: l.head.depth, insts: []isa.Inst{{Op: isa.OpYIELD, Pos: l.head.terminatorPos()}}}
		at := slices.Index(f.blocks, l.head)
		for _, x := range f.blocks {
			x.redirect(l.head, first)
		}
		f.blocks = slices.Insert(f.blocks, at, first)
	}
	if len(loops) > 0 {
		f.edges()
		f.order()
		f.dominators()
		f.findLoops()
	}
}

// spinLoops is the loops that get a YIELD. Behind them lanes may run apart for long, though they end in the same place: no chain of
// operations on uniform registers, which all lanes share, is begun there (ptxas has none either).
func (f *fn) spinLoops() []*loop {
	if f.t.SM < 70 {
		return nil
	}
	var spins []*loop
	n := f.numbering()
	for _, l := range f.loops {
		var blocks []*block
		for _, b := range f.rpo {
			if l.contains(b) {
				blocks = append(blocks, b)
			}
		}
		shared := f.fromOthers(blocks, n)
		if shared == nil || oneStatement(blocks) {
			continue
		}
		if slices.ContainsFunc(blocks, func(b *block) bool {
			some := false
			if t := b.terminator(); t != nil && t.Op == isa.OpBRA && leavesLoop(l, b) {
				f.uses(t, n, func(id int) { some = some || shared.has(id) })
			}
			return some
		}) {
			spins = append(spins, l)
		}
	}
	return spins
}

// terminatorPos is where the block's last instruction comes from.
func (b *block) terminatorPos() isa.SourcePos {
	if n := len(b.insts); n > 0 {
		return b.insts[n-1].Pos
	}
	return isa.SourcePos{CUFile: -1}
}

// oneStatement says that a loop is the expansion of one PTX statement, such as an atomic that the target lacks: ptxas writes these
// without YIELD.
func oneStatement(blocks []*block) bool {
	var pos isa.SourcePos
	for _, b := range blocks {
		for i := range b.insts {
			switch in := &b.insts[i]; {
			case pos == isa.SourcePos{}:
				pos = in.Pos
			case in.Pos != pos:
				return false
			}
		}
	}
	return true
}

// meetAfterSpins lets the lanes of a warp meet before each barrier of the block that all of them reach from a loop with YIELD: where
// the others wait for it, barriers of convergence have let go of lanes that yielded.
func (f *fn) meetAfterSpins() {
	for _, l := range f.spinLoops() {
		for b := l.head.ipdom; b != nil; b = b.ipdom {
			for i := 0; i < len(b.insts); i++ {
				if in := b.insts[i]; in.Op == isa.OpBAR && !l.contains(b) && (i == 0 || b.insts[i-1].Op != isa.OpWARPSYNC) {
					meet := isa.Inst{Op: isa.OpWARPSYNC, NSrc: 1, Pos: in.Pos, Guard: in.Guard}
					meet.Src[0] = imm(0xffffffff)
					b.insts = slices.Insert(b.insts, i, meet)
					i++
				}
			}
		}
	}
}

// leavesLoop says that control can go from the block out of the loop.
func leavesLoop(l *loop, b *block) bool {
	for _, s := range b.succs {
		if !l.contains(s) {
			return true
		}
	}
	return false
}

// fromOthers is the registers that are made of what a volatile load or an atomic gives in the blocks; nil: none of these is there.
func (f *fn) fromOthers(blocks []*block, n numbering) bitset {
	set := newBitset(n.total)
	some := false
	for changed := true; changed; {
		changed = false
		for _, b := range blocks {
			for i := range b.insts {
				in := &b.insts[i]
				made := asksOthers(in)
				some = some || made
				f.uses(in, n, func(id int) { made = made || set.has(id) })
				if made {
					f.defs(in, n, func(id int) {
						if !set.has(id) {
							set.set(id)
							changed = true
						}
					})
				}
			}
		}
		if !some {
			return nil
		}
	}
	return set
}

// asksOthers says that the instruction gives what other threads may have written meanwhile.
func asksOthers(in *isa.Inst) bool {
	switch in.Op {
	case isa.OpLD, isa.OpLDG, isa.OpLDS:
		return in.Mod.Has(isa.ModStrong)
	case isa.OpATOM, isa.OpATOMG, isa.OpATOMS, isa.OpSYNCS:
		return in.NDst > 0
	}
	return false
}
