package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// orderBlocks puts the blocks in the order in which the vendor's compiler lays them out: depth first, behind a branch what follows
// when it is not taken, then its target; blocks of a loop stand together, its head first. Joins come behind all that leads to them.
// Read off the code of kernels whose PTX has another order: `nqueens` (a loop that is entered at its test), `retstr` (a tree of comparisons). It comes before merge, which turns branches round.
func (f *fn) orderBlocks() {
	if slices.ContainsFunc(f.blocks, func(b *block) bool { return b.afterCall }) { // these stand behind their calls
		return
	}
	f.edges()
	f.order()
	f.dominators()
	f.findLoops()
	next := f.fallTargets()
	var order []*block
	seen := map[*block]bool{}
	for _, start := range slices.Backward(f.starts()) {
		f.visitLast(start, next, seen, &order)
	}
	slices.Reverse(order)
	f.blocks = f.joinOrder(order, next)
}

// fallTargets is the block that control falls into from each block, in the present layout.
func (f *fn) fallTargets() map[*block]*block {
	next := map[*block]*block{}
	for i, b := range f.blocks {
		if b.fallsThrough() && i+1 < len(f.blocks) {
			next[b] = f.blocks[i+1]
		}
	}
	return next
}

// visitLast appends the blocks reached from start in post-order, those first that the final order has last.
func (f *fn) visitLast(start *block, next map[*block]*block, seen map[*block]bool, order *[]*block) {
	type frame struct {
		b     *block
		succs []*block
	}
	open := func(b *block) frame {
		seen[b] = true
		succs := slices.Clone(b.table)
		if b.to != nil {
			succs = append(succs, b.to)
		}
		if n := next[b]; n != nil {
			succs = append(succs, n)
		}
		// Ways out of a loop come behind it.
		slices.SortStableFunc(succs, func(x, y *block) int { return commonDepth(b, x) - commonDepth(b, y) })
		return frame{b, succs}
	}
	stack := []frame{open(start)}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.succs) == 0 {
			*order = append(*order, top.b)
			stack = stack[:len(stack)-1]
			continue
		}
		s := top.succs[0]
		top.succs = top.succs[1:]
		if !seen[s] {
			stack = append(stack, open(s))
		}
	}
}

// commonDepth is how many loops around b the other block is in too.
func commonDepth(b, other *block) int {
	l := b.loop
	for l != nil && !l.contains(other) {
		l = l.parent
	}
	if l == nil {
		return 0
	}
	return l.depth
}

// joinOrder mends the branches of blocks that a new order has taken from those they fell into.
func (f *fn) joinOrder(order []*block, next map[*block]*block) []*block {
	var out []*block
	for i, b := range order {
		out = append(out, b)
		n := next[b]
		if n == nil || i+1 < len(order) && order[i+1] == n {
			continue
		}
		if t := b.terminator(); t != nil && i+1 < len(order) && order[i+1] == b.to && t.Op == isa.OpBRA {
			t.Guard.Flags ^= isa.Neg
			b.to = n
			continue
		}
		jump := isa.Inst{Op: isa.OpBRA, NSrc: 1, Pos: isa.SourcePos{CUFile: -1}, Src: [isa.MaxSrc]isa.Operand{{Kind: isa.KindLabel}}}
		if k := len(b.insts); k > 0 {
			jump.Pos = b.insts[k-1].Pos
		}
		if b.terminator() == nil {
			b.insts = append(b.insts, jump)
			b.to = n
			continue
		}
		out = append(out, &block{insts: []isa.Inst{jump}, to: n})
	}
	return out
}
