package lower

import "github.com/sarchlab/smsim/isa"

// mostReturnWork is the number of instructions, besides copies, up to which ptxas lets lanes run through a block that returns one
// after the other.
const mostReturnWork = 2

// lonelyReturn says that a block does next to nothing and returns from a private function.
func (f *fn) lonelyReturn(b *block) bool {
	if b == nil || len(b.insts) == 0 || b.insts[len(b.insts)-1].Op != isa.OpRET {
		return false
	}
	if s := f.site(&b.insts[len(b.insts)-1]); s == nil || s.standard {
		return false
	}
	work := 0
	for i := range b.insts[:len(b.insts)-1] {
		if in := &b.insts[i]; in.Op != isa.OpMOV {
			work++
			if in.Class().IsMemory() || in.Class().IsControl() || isWarpWide(in) {
				return false
			}
		}
	}
	return work <= mostReturnWork
}

// mostArms is the number of arms of a private function that all end at its return up to which their lanes return one after the other.
const mostArms = 2

// returnsApart says that the lanes of a region return from a private function one after the other, and its caller gathers them, as
// ptxas has it where no more than two arms end at a return that does next to nothing. Loops that lanes leave apart, and more arms (of
// a switch, say), are gathered before it.
func (f *fn) returnsApart(r *region) bool {
	if !f.lonelyReturn(r.join) {
		return false
	}
	arms := 0
	for _, p := range r.join.preds {
		switch {
		case !r.body[p]:
		case p.loop != nil && !p.loop.contains(r.join):
			return false
		case len(p.succs) == 1:
			arms++
		}
	}
	return arms <= mostArms
}

// hasStandardCalls says that the unit's code, private functions in it included, calls in the standard way.
func (f *fn) hasStandardCalls() bool {
	for _, s := range f.sites {
		if s.standard {
			return true
		}
	}
	return false
}

// aroundCalls notes which private units lanes can be in while a region is open, and adds a region around every call of a unit whose
// lanes can return apart, and around calls of several functions at once.
func (f *fn) aroundCalls(regions []*region, u *uniformity) []*region {
	unitOf := map[*block]int{}
	callees := map[int]map[int]bool{} // what a unit calls, directly or not
	apart := map[int]bool{}
	deep := map[int]bool{} // units that call in the standard way
	for _, e := range f.entries {
		callees[e.unit] = map[int]bool{e.unit: true}
		for _, b := range reachable(e.at) {
			unitOf[b] = e.unit
			for i := range b.insts {
				if s := f.site(&b.insts[i]); s != nil && f.contains(s.unit) {
					callees[e.unit][s.unit] = true
				} else if s != nil && s.standard && b.insts[i].Op == isa.OpCALL {
					deep[e.unit] = true
				}
			}
			if len(b.succs) > 1 && u.divergentBranch(b) && (b.ipdom == nil || f.lonelyReturn(b.ipdom) && !gathered(b, regions)) {
				apart[e.unit] = true
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, set := range callees {
			for c := range set {
				for d := range callees[c] {
					if !set[d] {
						set[d], changed = true, true
					}
				}
			}
		}
	}
	owner := func(b *block) int {
		if n, ok := unitOf[b]; ok {
			return n
		}
		return -1
	}
	calls := func(b *block, r *region) {
		for i := range b.insts {
			s := f.site(&b.insts[i])
			if s == nil || b.insts[i].Op != isa.OpCALL {
				continue
			}
			r.deep = r.deep || s.standard
			for c := range callees[s.unit] {
				r.calls[c] = true
				r.deep = r.deep || deep[c]
			}
		}
	}
	for _, r := range regions {
		r.unit, r.calls = owner(r.head), map[int]bool{}
		for b := range r.body {
			calls(b, r)
		}
	}
	if f.t.SM < 70 {
		return regions
	}
	for i, b := range f.blocks {
		if len(b.insts) == 0 || i+1 == len(f.blocks) {
			continue
		}
		last := &b.insts[len(b.insts)-1]
		s := f.site(last)
		if s == nil || last.Op != isa.OpCALL {
			continue
		}
		several := last.Src[0].Kind == isa.KindReg && last.Src[0].Reg >= isa.VirtualBase // lanes can call different functions, for all the compiler knows
		if (apart[s.unit] || several) && !f.gatheredNext(b, f.blocks[i+1], regions) {
			r := &region{head: b, join: f.blocks[i+1], unit: owner(b), calls: map[int]bool{}, call: true}
			calls(b, r)
			regions = append(regions, r)
		}
	}
	return regions
}

// gathered says that one of the regions gathers the lanes that part at b where they meet.
func gathered(b *block, regions []*region) bool {
	for _, r := range regions {
		if r.join == b.ipdom && (r.head == b || r.body[b]) {
			return true
		}
	}
	return false
}

// gatheredNext says that lanes which return from a call at the end of b only copy values in the block behind it before one of the
// regions gathers them anyway.
func (f *fn) gatheredNext(b, behind *block, regions []*region) bool {
	for i := range behind.insts {
		if in := &behind.insts[i]; in.Op != isa.OpMOV && (in.Op != isa.OpBRA || in.Guard.Kind != isa.KindNone) {
			return false
		}
	}
	for _, r := range regions {
		if r.body[b] && r.body[behind] && len(behind.succs) == 1 && behind.succs[0] == r.join {
			return true
		}
	}
	return false
}

// gatherCall puts the region's barrier around the call at the end of its head: the lanes return to the wait.
func (f *fn) gatherCall(r *region, setup []isa.Inst, wait isa.Inst) {
	n := len(r.head.insts) - 1
	call := r.head.insts[n]
	at := n
	back := -1
	for i := n - 1; i >= 0; i-- { // before the return address is taken
		if in := &r.head.insts[i]; in.Op == isa.OpMOV && in.Src[0].Kind == isa.KindLabel {
			back, at = int(in.Src[0].Imm), i
			break
		}
	}
	rest := append([]isa.Inst(nil), r.head.insts[at:n]...)
	r.head.insts = append(append(append(r.head.insts[:at], setup...), rest...), call)
	gather := &block{insts: []isa.Inst{wait}, depth: r.head.depth, loop: r.head.loop, afterCall: true}
	if back >= 0 {
		f.syncs[back] = gather
	}
	f.syncs = append(f.syncs, r.join)
	for k, b := range f.blocks {
		if b == r.join {
			f.blocks = append(f.blocks[:k], append([]*block{gather}, f.blocks[k:]...)...)
			break
		}
	}
}
