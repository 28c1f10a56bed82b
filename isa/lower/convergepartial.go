package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// mostRepeated is the number of instructions, none of which touches memory, that ptxas lets lanes execute one group after the other
// rather than gather them before: of code that several branches reach, but not all lanes that parted.
const mostRepeated = 8

// partialRegions are the regions that end where lanes meet again of which some have left for elsewhere: before the rest of a loop's
// round that others have left by a break, before the latch to which several continues go, before a case that several comparisons
// lead to. ptxas gathers those that come there and lets the others leave the barrier (BREAK).
func (f *fn) partialRegions(regions []*region, u *uniformity) []*region {
	if f.t.SM < 70 {
		return regions
	}
	for k := len(f.rpo) - 1; k >= 0; k-- { // what is gathered later decides how much lanes would do apart before
		j := f.rpo[k]
		head := j.idom
		for head != nil && head.loop != nil && !head.loop.contains(j) { // lanes leave the loop in different rounds
			head = head.idom
		}
		if head == nil || postDominates(j, head) || lonelyExit(j) || slices.ContainsFunc(regions, func(r *region) bool { return r.join == j && r.head == head }) {
			continue
		}
		if k := len(head.insts); k > 0 && head.insts[k-1].Op == isa.OpCALL {
			continue
		}
		r := &region{head: head, join: j, body: comesTo(j, head), partial: true}
		entered := 0
		for _, p := range j.preds {
			if p == head || r.body[p] {
				entered++
			}
		}
		if entered > 1 && r.parts(u) && f.worthGathering(r, regions) && !waitsForItself(r, regions) {
			regions = append(regions, r)
		}
	}
	return regions
}

// comesTo is the blocks between a block and a dominator of it from which control can come to it.
func comesTo(j, head *block) map[*block]bool {
	body := map[*block]bool{}
	work := slices.Clone(j.preds)
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if x == head || body[x] || dominates(j, x) || !dominates(head, x) {
			continue
		}
		body[x] = true
		work = append(work, x.preds...)
	}
	return body
}

// parts says that lanes can part in the region in such a way that both sides come to its join.
func (r *region) parts(u *uniformity) bool {
	divergent := func(b *block) bool {
		if t := b.terminator(); t == nil || t.Op != isa.OpBRA && t.Op != isa.OpBRX || t.Mod.Has(isa.ModU) {
			return false
		}
		n := 0
		for _, s := range b.succs {
			if s == r.join || r.body[s] {
				n++
			}
		}
		return n > 1 && u.divergentBranch(b)
	}
	if divergent(r.head) {
		return true
	}
	for b := range r.body {
		if divergent(b) {
			return true
		}
	}
	return false
}

// worthGathering says that what follows a region's join until the next place where its lanes are gathered, or all that parted at its
// head meet, is more than ptxas lets lanes do apart. Behind a loop that lanes leave in different rounds it may touch memory too.
func (f *fn) worthGathering(r *region, regions []*region) bool {
	n, memory := 0, false
	seen := map[*block]bool{r.head.ipdom: true, nil: true}
	for _, o := range regions {
		if o.body[r.join] {
			seen[o.join] = true
		}
	}
	work := []*block{r.join}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[x] {
			continue
		}
		seen[x] = true
		for i := range x.insts {
			in := &x.insts[i]
			if in.Op != isa.OpBRA {
				n++
			}
			memory = memory || in.Class().IsMemory()
		}
		work = append(work, x.succs...)
	}
	for _, p := range r.join.preds {
		if r.body[p] && p.loop != nil && !p.loop.contains(r.join) {
			memory = false
		}
	}
	return memory || n > mostRepeated
}

// waitsForItself says that lanes at the join of r could wait for others that wait, in one of the regions or through several, for them.
func waitsForItself(r *region, regions []*region) bool {
	ends := map[*block][]*region{}
	for _, o := range regions {
		ends[o.join] = append(ends[o.join], o)
	}
	seen := map[*region]bool{r: true}
	work := []*region{r}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if x != r && x.body[r.join] {
			return true
		}
		for b := range x.body { // lanes of x can wait in it
			for _, o := range ends[b] {
				if !seen[o] {
					seen[o] = true
					work = append(work, o)
				}
			}
		}
	}
	return false
}

// breaks lets lanes that leave a region without coming to its join leave its barrier. Those that only
// exit do so anyway, and the compiler leaves it to that where the lanes that parted never meet.
func (f *fn) breaks(r *region, all []*region, edges map[[2]*block]*block) {
	ends := map[*block]bool{}
	for _, o := range all {
		ends[o.join] = false
	}
	from := []*block{r.head}
	for _, b := range f.rpo {
		if r.body[b] {
			from = append(from, b)
		}
	}
	for _, x := range from {
		for _, y := range slices.Clone(x.succs) {
			if y != r.join && !r.body[y] && !(r.head.ipdom == nil && f.onlyExits(y, ends)) {
				f.breakEdge(r, x, y, all, edges)
			}
		}
	}
}

// onlyExits says that lanes go from a block to their end without a loop or anything that they do together with others.
func (f *fn) onlyExits(b *block, known map[*block]bool) bool {
	if done, ok := known[b]; ok {
		return done
	}
	known[b] = false // of a loop
	ends := b.loop == nil
	for i := range b.insts {
		in := &b.insts[i]
		ends = ends && !isWarpWide(in) && in.Op != isa.OpBAR && in.Op != isa.OpWARPSYNC && in.Op != isa.OpCALL && in.Op != isa.OpRET
	}
	for _, s := range b.succs {
		ends = ends && f.onlyExits(s, known)
	}
	known[b] = ends
	return ends
}

// breakEdge puts BREAK on the edge from x to y: before the branch at the end of x, under its guard, or in a block between the two, one
// for each of the edges.
func (f *fn) breakEdge(r *region, x, y *block, all []*region, edges map[[2]*block]*block) {
	t := x.terminator()
	leave := isa.Inst{Op: isa.OpBREAK, NSrc: 1, Pos: t.Pos, Src: [isa.MaxSrc]isa.Operand{{Kind: isa.KindBarrier, Reg: isa.Reg(r.slot)}}}
	if t.Op == isa.OpBRA && t.NSrc == 1 && t.Guard.Kind == isa.KindPred {
		leave.Guard = t.Guard
		if x.to != y {
			leave.Guard.Flags ^= isa.Neg
		}
		x.insts = slices.Insert(x.insts, len(x.insts)-1, leave)
		return
	}
	if e := edges[[2]*block{x, y}]; e != nil {
		e.insts = slices.Insert(e.insts, 0, leave)
		return
	}
	e := &block{insts: []isa.Inst{leave}, depth: min(x.depth, y.depth)}
	edges[[2]*block{x, y}] = e
	if x.to != y && x.table == nil {
		at := slices.Index(f.blocks, x)
		f.blocks = slices.Insert(f.blocks, at+1, e)
	} else {
		e.to = y
		e.insts = append(e.insts, isa.Inst{Op: isa.OpBRA, NSrc: 1, Pos: t.Pos, Src: [isa.MaxSrc]isa.Operand{{Kind: isa.KindLabel}}})
		f.blocks = append(f.blocks, e)
		x.redirect(y, e)
	}
	for _, o := range all {
		if (o.head == x || o.body[x]) && (o.join == y || o.body[y]) {
			o.body[e] = true
		}
	}
}

// joinLatches gives loops to whose head lanes can go back in several ways a latch of its own where they can be gathered before the
// next round: where lanes part that all can go back, but would meet outside of the loop or at its head only. Other such loops are
// nested loops with one head (placeEntries), in ptxas's code too.
func (f *fn) joinLatches() {
	if f.t.SM < 70 {
		return
	}
	u := f.uniformity()
	changed := false
	for _, l := range f.loops {
		if back := l.backEdges(); len(back) > 1 && f.partsForBack(l, u) {
			f.joinLatch(l, back)
			changed = true
		}
	}
	if changed {
		f.analyse()
	}
}

// backEdges are the blocks from which control goes back to the loop's head.
func (l *loop) backEdges() []*block {
	var back []*block
	for _, p := range l.head.preds {
		if dominates(l.head, p) {
			back = append(back, p)
		}
	}
	return back
}

// partsForBack says that lanes part in the loop, both sides staying in it, and meet outside of it or at its head.
func (f *fn) partsForBack(l *loop, u *uniformity) bool {
	for _, b := range l.blocks {
		t := b.terminator()
		if t == nil || t.Op != isa.OpBRA && t.Op != isa.OpBRX || t.Mod.Has(isa.ModU) || !u.divergentBranch(b) {
			continue
		}
		stay := 0
		for _, s := range b.succs {
			if l.contains(s) {
				stay++
			}
		}
		if stay > 1 && (b.ipdom == nil || b.ipdom == l.head || !l.contains(b.ipdom)) {
			return true
		}
	}
	return false
}

// joinLatch puts a block between the loop's head and those that go back to it.
func (f *fn) joinLatch(l *loop, back []*block) {
	latch := &block{depth: l.depth, latch: true}
	at := 0
	for i, b := range f.blocks {
		if slices.Contains(back, b) {
			at = i + 1
		}
	}
	last := f.blocks[at-1]
	pos := l.head.terminatorPos()
	if at < len(f.blocks) && f.blocks[at] == l.head && last.fallsThrough() {
		f.blocks = slices.Insert(f.blocks, at, latch)
	} else {
		for at < len(f.blocks) && f.blocks[at-1].fallsThrough() {
			at++
		}
		if t := last.terminator(); at > 0 && f.blocks[at-1] == last && t != nil && t.Op == isa.OpBRA && last.to == l.head {
			last.insts, last.to = last.insts[:len(last.insts)-1], nil
		}
		latch.to = l.head
		latch.insts = []isa.Inst{{Op: isa.OpBRA, NSrc: 1, Pos: pos, Src: [isa.MaxSrc]isa.Operand{{Kind: isa.KindLabel}}}}
		f.blocks = slices.Insert(f.blocks, at, latch)
	}
	for _, b := range back {
		b.redirect(l.head, latch)
	}
}
