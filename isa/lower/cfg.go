package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// terminator is the branch or exit that ends the block, nil when it only falls through.
func (b *block) terminator() *isa.Inst {
	if n := len(b.insts); n > 0 {
		switch in := &b.insts[n-1]; in.Op {
		case isa.OpBRA, isa.OpBRX:
			return in
		case isa.OpEXIT, isa.OpKILL, isa.OpRET:
			if in.Guard.Kind == isa.KindNone {
				return in
			}
		}
	}
	return nil
}

// fallsThrough says whether control can reach the next block in layout order.
func (b *block) fallsThrough() bool {
	t := b.terminator()
	return t == nil || t.Op == isa.OpBRA && t.Guard.Kind != isa.KindNone
}

// redirect lets the branch that ends the block go to another block.
func (b *block) redirect(from, to *block) {
	if b.to == from {
		b.to = to
	}
	for i, s := range b.table {
		if s == from {
			b.table[i] = to
		}
	}
}

// analyse computes edges, removes unreachable blocks, merges straight lines, and finds dominators, post-dominators
// and loops.
func (f *fn) analyse() {
	f.edges()
	f.merge()
	f.order()
	f.dominators()
	f.postDominators()
	f.findLoops()
}

// starts is the blocks that control enters: the unit's first, and those of the private functions in its code.
func (f *fn) starts() []*block {
	list := []*block{f.blocks[0]}
	for _, e := range f.entries {
		list = append(list, e.at)
	}
	return list
}

// contains says that private unit n is part of the unit's code.
func (f *fn) contains(n int) bool {
	return slices.ContainsFunc(f.entries, func(e entry) bool { return e.unit == n })
}

// isEntry says that a private function starts with the block.
func (f *fn) isEntry(b *block) bool {
	return slices.ContainsFunc(f.entries, func(e entry) bool { return e.at == b })
}

// edges rebuilds successor and predecessor lists; blocks that cannot be reached are dropped.
func (f *fn) edges() {
	for _, b := range f.blocks {
		b.succs, b.preds, b.mark = b.succs[:0], b.preds[:0], 0
	}
	for i, b := range f.blocks {
		t := b.terminator()
		if t != nil && t.Op == isa.OpBRA && t.Guard.Kind == isa.KindNone && i+1 < len(f.blocks) && f.blocks[i+1] == b.to { // to the next instruction
			b.insts, t = b.insts[:len(b.insts)-1], nil
		}
		if t == nil || t.Op != isa.OpBRA {
			b.to = nil
		}
		if t == nil || t.Op != isa.OpBRX {
			b.table = nil
		}
		for _, s := range b.table {
			if !slices.Contains(b.succs, s) {
				b.succs = append(b.succs, s)
			}
		}
		if b.fallsThrough() && i+1 < len(f.blocks) {
			b.succs = append(b.succs, f.blocks[i+1])
		}
		if b.to != nil {
			if len(b.succs) == 1 && b.succs[0] == b.to { // branch to the next instruction
				b.insts = b.insts[:len(b.insts)-1]
				b.to = nil
			} else {
				b.succs = append(b.succs, b.to)
			}
		}
	}
	stack := f.starts()
	for _, b := range stack {
		b.mark = 1
	}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, s := range b.succs {
			if s.mark == 0 {
				s.mark = 1
				stack = append(stack, s)
			}
		}
	}
	kept := f.blocks[:0]
	for _, b := range f.blocks {
		if b.mark != 0 {
			kept = append(kept, b)
		}
	}
	f.blocks = kept
	for _, b := range f.blocks {
		for _, s := range b.succs {
			s.preds = append(s.preds, b)
		}
	}
}

// merge threads branches through empty blocks and joins a block with its only successor when that has no other
// predecessor and follows it.
func (f *fn) merge() {
	changed := true
	for round := 0; changed && round < 16; round++ { // bounded: two empty blocks can jump to each other
		changed = false
		for i, b := range f.blocks {
			if b.to == nil {
				continue
			}
			// A branch to an empty block that only jumps or falls on goes where that goes.
			for hops := 0; hops < 8; hops++ {
				to := b.to
				next := f.passThrough(to)
				if next == nil || next == to || next == b.to {
					break
				}
				b.to, changed = next, true
			}
			// "@p bra A; bra B; A:" becomes "@!p bra B; A:".
			if i+2 < len(f.blocks) && b.fallsThrough() && f.blocks[i+2] == b.to {
				n := f.blocks[i+1]
				if t := n.terminator(); len(n.insts) == 1 && t != nil && t.Op == isa.OpBRA && t.Guard.Kind == isa.KindNone && len(n.preds) == 1 {
					g := b.terminator()
					g.Guard.Flags ^= isa.Neg
					b.to = n.to
					n.insts, n.to = nil, nil
					changed = true
				}
			}
		}
		changed = f.dropEmpty() || changed
		f.edges()
		out := f.blocks[:0]
		for _, b := range f.blocks {
			if len(out) > 0 {
				prev := out[len(out)-1]
				t := prev.terminator()
				if len(b.preds) == 1 && b.preds[0] == prev && !b.afterCall && len(prev.succs) == 1 && (t == nil || prev.to == b) {
					if t != nil {
						prev.insts = prev.insts[:len(prev.insts)-1]
					}
					prev.insts = append(prev.insts, b.insts...)
					prev.statements += b.statements
					prev.partial.add(b.partial)
					prev.to, prev.table, prev.tableAt, prev.branches = b.to, b.table, b.tableAt, b.branches
					prev.succs = b.succs
					for _, s := range b.succs {
						for k := range s.preds {
							if s.preds[k] == b {
								s.preds[k] = prev
							}
						}
					}
					changed = true
					continue
				}
			}
			out = append(out, b)
		}
		f.blocks = out
		f.edges()
	}
}

// dropEmpty removes blocks without instructions that only fall into the next one.
func (f *fn) dropEmpty() bool {
	next := map[*block]*block{}
	kept := f.blocks[:0:0]
	for i, b := range f.blocks {
		if len(b.insts) == 0 && !b.afterCall && !b.latch && i > 0 && i+1 < len(f.blocks) && !f.isEntry(b) {
			n := f.blocks[i+1]
			next[b] = n
			n.noUnroll = n.noUnroll || b.noUnroll
			continue
		}
		kept = append(kept, b)
	}
	if len(next) == 0 {
		return false
	}
	for _, b := range kept {
		for b.to != nil && next[b.to] != nil {
			b.to = next[b.to]
		}
		for i := range b.table {
			for next[b.table[i]] != nil {
				b.table[i] = next[b.table[i]]
			}
		}
	}
	f.blocks = kept
	return true
}

// passThrough is where control goes from a block without instructions, or nil.
func (f *fn) passThrough(b *block) *block {
	if b.latch {
		return nil
	}
	if len(b.insts) == 1 && b.insts[0].Op == isa.OpBRA && b.insts[0].Guard.Kind == isa.KindNone {
		return b.to
	}
	if len(b.insts) == 0 && len(b.succs) == 1 {
		return b.succs[0]
	}
	return nil
}

// order numbers the blocks in reverse post-order.
func (f *fn) order() {
	for _, b := range f.blocks {
		b.mark = 0
	}
	var post []*block
	type frame struct {
		b *block
		i int
	}
	for _, start := range slices.Backward(f.starts()) {
		stack := []frame{{start, 0}}
		start.mark = 1
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.i < len(top.b.succs) {
				s := top.b.succs[top.i]
				top.i++
				if s.mark == 0 {
					s.mark = 1
					stack = append(stack, frame{s, 0})
				}
				continue
			}
			post = append(post, top.b)
			stack = stack[:len(stack)-1]
		}
	}
	f.rpo = f.rpo[:0]
	for i := len(post) - 1; i >= 0; i-- {
		post[i].id = len(f.rpo)
		f.rpo = append(f.rpo, post[i])
	}
}
