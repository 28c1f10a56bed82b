package lower

import (
	"github.com/sarchlab/smsim/isa"
)

// uniformity is which registers can differ between the lanes of a warp.
type uniformity struct {
	f         *fn
	n         numbering
	divergent []bool
	votes     bool // what reductions of barriers give counts as different
}

// uniformity finds registers whose value all lanes of a warp share: what is computed from block indices,
// parameters and constants, and loaded from addresses computed so. Thread indices, other loads, shuffles and atomics differ; so
// does what is written on one side of a branch on such a value and read after it.
func (f *fn) uniformity() *uniformity { return f.uniformityOf(false) }

// uniformityOf is the same; with votes, also the results of barriers' reductions differ.
func (f *fn) uniformityOf(votes bool) *uniformity {
	n := f.numbering()
	u := &uniformity{f: f, n: n, votes: votes, divergent: make([]bool, n.total)}
	for v := range f.fixed { // of standard calls
		u.divergent[n.of(isa.KindReg, v)] = true
	}
	if f.own != nil {
		visitPassed(f.own.params, n, func(id int) { u.divergent[id] = true })
	}
	s := branchSpread{u: u, writes: make([]int32, n.total), done: map[*block]bool{}}
	for _, b := range f.rpo {
		for i := range b.insts {
			f.defs(&b.insts[i], n, func(id int) { s.writes[id]++ })
		}
	}
	for changed := true; changed; {
		changed = false
		mark := func(id int) {
			if !u.divergent[id] {
				u.divergent[id], changed = true, true
			}
		}
		for _, b := range f.rpo {
			for i := range b.insts {
				in := &b.insts[i]
				if s := f.site(in); s != nil && len(s.defs) > 0 && !f.contains(s.unit) {
					visitPassed(s.defs, n, mark)
				}
				if in.NDst > 0 && u.varies(in) {
					f.defs(in, n, mark)
				}
			}
			s.from(b, mark)
		}
	}
	return u
}

// branchSpread marks what differs between lanes because a branch has parted them.
type branchSpread struct {
	u      *uniformity
	writes []int32         // instructions that write each register
	done   map[*block]bool // blocks whose branch was followed
}

// from follows the branch that ends block b, if lanes go different ways there: what is written until they meet and also elsewhere
// differs, and so does what leaves a loop that lanes leave in different rounds.
func (s *branchSpread) from(b *block, mark func(id int)) {
	f, n := s.u.f, s.u.n
	if len(b.succs) < 2 || b.terminator() == nil || s.done[b] || !s.u.divergentBranch(b) {
		return
	}
	s.done[b] = true
	for x := range sidesOf(b) {
		for i := range x.insts {
			f.defs(&x.insts[i], n, func(id int) {
				if s.writes[id] > 1 {
					mark(id)
				}
			})
		}
	}
	for l := b.loop; l != nil && leavesLoop(l, b); l = l.parent {
		f.loopResults(l, n, mark)
	}
}

// loopResults visits the registers that the loop writes and others than its blocks read.
func (f *fn) loopResults(l *loop, n numbering, visit func(id int)) {
	written := make([]bool, n.total)
	for _, b := range l.blocks {
		for i := range b.insts {
			f.defs(&b.insts[i], n, func(id int) { written[id] = true })
		}
	}
	for _, b := range f.rpo {
		if l.contains(b) {
			continue
		}
		for i := range b.insts {
			f.uses(&b.insts[i], n, func(id int) {
				if written[id] {
					visit(id)
				}
			})
		}
	}
}

// varies says that the instruction's result can differ between lanes.
func (u *uniformity) varies(in *isa.Inst) bool {
	switch in.Class() {
	case isa.ClassLDG, isa.ClassLDS: // of one address all lanes load the same, but a generic one may be of local memory
		if in.Mod.Has(isa.ModStrong) || in.Op == isa.OpLD {
			return true
		}
	case isa.ClassLDL, isa.ClassATOMG, isa.ClassATOMS, isa.ClassTEX, isa.ClassSHFL, isa.ClassMATCH:
		return true
	}
	for i := range in.Src[:in.NSrc] {
		if o := &in.Src[i]; o.Kind == isa.KindSpecial {
			switch o.Reg {
			case isa.SRTidX, isa.SRTidY, isa.SRTidZ, isa.SRLaneID, isa.SREqMask, isa.SRLtMask, isa.SRLeMask, isa.SRGtMask, isa.SRGeMask,
				isa.SRClockLo, isa.SRClockHi, isa.SRGlobalTimerLo, isa.SRGlobalTimerHi, isa.SRActiveMask:
				return true
			}
		}
	}
	switch in.Op {
	case isa.OpLEPC:
		return false
	case isa.OpB2R:
		return u.votes
	}
	some := false
	u.f.uses(in, u.n, func(id int) { some = some || u.divergent[id] })
	if in.Class() == isa.ClassVOTE && in.NDst > 0 {
		guarded := in.Guard.Kind != isa.KindNone
		return guarded
	}
	return some
}

// divergentBranch says that lanes can go two ways at the end of b.
func (u *uniformity) divergentBranch(b *block) bool {
	t := b.terminator()
	return t != nil && (u.operand(&t.Guard) || t.Op == isa.OpBRX && u.operand(&t.Src[0]))
}

// operand says that the operand's value can differ between lanes.
func (u *uniformity) operand(o *isa.Operand) bool {
	some := false
	u.f.members(o, func(kind isa.OperandKind, r isa.Reg) {
		if id := u.n.of(kind, r); id >= 0 {
			some = some || u.divergent[id]
		}
	})
	return some
}
