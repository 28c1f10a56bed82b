package lower

import (
	"cmp"
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// region is the code between a point where lanes may part and the point where they meet again.
type region struct {
	head    *block // the convergence barrier is set at its end
	join    *block
	body    map[*block]bool // blocks from head to join, without either
	entry   *block          // where several places outside enter the body: the head is a block to be put in front of it
	slot    int             // convergence barrier register
	unit    int             // private unit that it lies in, -1: the unit itself
	calls   map[int]bool    // private units that lanes can be in meanwhile
	call    bool            // head ends in a call that lanes can leave apart
	partial bool            // some lanes leave it without coming to its join
	deep    bool            // lanes can be in functions called in the standard way meanwhile
}

// converge inserts the instructions that bring diverged lanes together again: BSSY and BSYNC from Volta on, SSY and
// SYNC (or a NOP with the .S flag) before. Branches proven uniform get none.
func (f *fn) converge() {
	u := f.uniformity()
	var regions []*region
	for _, b := range f.rpo {
		t := b.terminator()
		if t == nil || t.Op != isa.OpBRA && t.Op != isa.OpBRX || len(b.succs) < 2 || t.Mod.Has(isa.ModU) || !u.divergentBranch(b) {
			continue
		}
		if r := f.regionOf(b); r != nil && !(f.t.SM >= 70 && (lonelyExit(r.join) || f.returnsApart(r) || r.meetsAnyway())) { // nobody waits for lanes that end there
			regions = append(regions, r)
		}
	}
	regions = mergeRegions(regions)
	regions = f.partialRegions(regions, u)
	f.placeEntries(regions)
	if len(f.entries) > 0 || f.hasStandardCalls() {
		regions = f.aroundCalls(regions, u)
	}
	f.numberRegions(regions)
	f.edges() // with the blocks in front of entries
	edges := map[[2]*block]*block{}
	for _, r := range regions {
		if r.partial && r.slot < barrierRegs {
			f.breaks(r, regions, edges)
		}
	}
	// Inner regions first, so that an outer region's join receives lanes that inner joins have gathered.
	slices.SortStableFunc(regions, func(x, y *region) int { return cmp.Compare(y.head.domDepth, x.head.domDepth) })
	for _, r := range regions {
		f.insertRegion(r)
	}
	if len(regions) > 0 {
		f.edges()
		f.order()
		f.dominators()
		f.findLoops()
	}
}

// regionOf finds where the lanes that part at b meet, and the block before which the barrier must be set: b, or
// the nearest dominator outside the loops between b and the meeting point.
func (f *fn) regionOf(b *block) *region {
	join := b.ipdom
	if join == nil {
		return nil
	}
	for head := b; head != nil; head = head.idom {
		if head != b && !postDominates(join, head) {
			return f.loopRegion(b, join)
		}
		if head == join {
			return nil
		}
		if k := len(head.insts); k > 0 && head.insts[k-1].Op == isa.OpCALL { // the block behind the call can be it
			continue
		}
		body := map[*block]bool{}
		work := append([]*block(nil), head.succs...)
		ok := true
		for len(work) > 0 && ok {
			x := work[len(work)-1]
			work = work[:len(work)-1]
			if x == join || body[x] {
				continue
			}
			if x == head || !dominates(head, x) {
				ok = false
				break
			}
			body[x] = true
			work = append(work, x.succs...)
		}
		if !ok {
			continue
		}
		switch entries, elsewhere := entriesOf(head, body); {
		case !elsewhere:
			return &region{head: head, join: join, body: body}
		case len(entries) == 1:
			return &region{head: head, join: join, body: body, entry: entries[0]}
		}
	}
	return nil
}

// loopRegion is the region of a branch in a loop whose lanes meet at join, if only the loop's head can start it: the barrier is set in
// a block in front of that, each time.
func (f *fn) loopRegion(b, join *block) *region {
	if b.loop == nil || !postDominates(join, b.loop.head) || len(b.loop.backEdges()) < 2 { // a latch gathers them
		return nil
	}
	entry := b.loop.head
	r := &region{head: b, join: join, body: map[*block]bool{}, entry: entry}
	work := []*block{entry}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if x == join || r.body[x] {
			continue
		}
		if !dominates(entry, x) {
			return nil
		}
		r.body[x] = true
		work = append(work, x.succs...)
	}
	return r
}

// postDominates says whether every path from b to the end goes through j.
func postDominates(j, b *block) bool {
	for n := 0; b != nil && n < 1<<20; n++ {
		if b == j {
			return true
		}
		b = b.ipdom
	}
	return false
}

// mergeRegions drops regions that end where a region around them ends: one barrier gathers both.
func mergeRegions(list []*region) []*region {
	var out []*region
	for i, r := range list {
		inside := false
		for k, o := range list {
			if k == i || o.join != r.join {
				continue
			}
			if o.head == r.head {
				inside = inside || k < i
				continue
			}
			inside = inside || o.body[r.head]
		}
		if !inside {
			out = append(out, r)
		}
	}
	return out
}

// numberRegions gives nested regions different barrier registers. Regions nested deeper than there are
// registers go without.
func (f *fn) numberRegions(list []*region) {
	slices.SortStableFunc(list, func(x, y *region) int { return cmp.Compare(len(y.body), len(x.body)) })
	for i, r := range list {
		var used uint32
		for _, o := range list[:i] {
			if o.body[r.head] || o.head == r.head || o.calls[r.unit] || r.calls[o.unit] || r.body[o.head] {
				used |= 1 << o.slot
			}
		}
		if r.deep {
			r.slot = firstKeptBar
		}
		for used>>r.slot&1 != 0 {
			r.slot++
		}
	}
}

const barrierRegs = 16

func (f *fn) insertRegion(r *region) {
	if r.slot >= barrierRegs {
		return
	}
	pos := isa.SourcePos{CUFile: -1}
	if t := r.head.terminator(); t != nil {
		pos = t.Pos
	}
	volta := f.t.SM >= 70
	barrier := isa.Operand{Kind: isa.KindBarrier, Reg: isa.Reg(r.slot)}
	set := isa.Inst{Op: isa.OpSSY, NSrc: 1, Pos: pos, Src: [isa.MaxSrc]isa.Operand{{Kind: isa.KindLabel}}}
	wait := isa.Inst{Op: isa.OpSYNC, Pos: pos}
	switch {
	case volta:
		set = isa.Inst{Op: isa.OpBSSY, NDst: 1, NSrc: 1, Pos: pos, Dst: [isa.MaxDst]isa.Operand{barrier}, Src: [isa.MaxSrc]isa.Operand{{Kind: isa.KindLabel}}}
		wait = isa.Inst{Op: isa.OpBSYNC, NSrc: 1, Pos: pos, Src: [isa.MaxSrc]isa.Operand{barrier}}
	case f.t.SM < 50:
		wait = isa.Inst{Op: isa.OpNOP, Pos: pos, Mod: isa.Mod{Flags: isa.ModS}}
	}
	// The set goes before the terminator of the head, and before the instruction that computes its condition if
	// that is the last one: as the compiler does, so that its latency is hidden.
	at := len(r.head.insts)
	if r.head.terminator() != nil {
		at--
	}
	set.Src[0].Imm = int64(len(f.syncs)) // resolved by finish
	setup := []isa.Inst{set}
	if f.t.SM >= 70 && f.t.SM < 80 { // the barrier register is cleared first
		clear := isa.Inst{Op: isa.OpBMOV, Mod: isa.Mod{Flags: isa.ModClear}, NDst: 1, NSrc: 1, Pos: pos}
		clear.Dst[0], clear.Src[0] = rz, barrier
		setup = []isa.Inst{clear, set}
	}
	if r.call {
		f.gatherCall(r, setup, wait)
		return
	}
	r.head.insts = append(r.head.insts[:at], append(setup, r.head.insts[at:]...)...)
	gather := &block{insts: []isa.Inst{wait}, depth: r.join.depth}
	f.syncs = append(f.syncs, r.join)
	// Place the gathering block before the join; whoever fell into the join from outside the region jumps over it.
	k := 0
	for k < len(f.blocks) && f.blocks[k] != r.join {
		k++
	}
	from := func(x *block) bool { return x == r.head || r.body[x] }
	var bridge []*block
	if k > 0 {
		prev := f.blocks[k-1]
		if prev.fallsThrough() && !from(prev) {
			j := &block{insts: []isa.Inst{{Op: isa.OpBRA, NSrc: 1, Pos: pos, Src: [isa.MaxSrc]isa.Operand{{Kind: isa.KindLabel}}}}, to: r.join, depth: prev.depth}
			bridge = append(bridge, j)
		}
	}
	if r.join.loop != nil {
		gather.loop = r.join.loop
	}
	rest := append([]*block(nil), f.blocks[k:]...)
	f.blocks = append(append(append(f.blocks[:k], bridge...), gather), rest...)
	for x := range r.body {
		x.redirect(r.join, gather)
	}
	r.head.redirect(r.join, gather)
}
