package lower

import (
	"slices"
)

// loop is a natural loop.
type loop struct {
	head   *block
	parent *loop
	blocks []*block // head included
	depth  int
}

// dominators computes immediate dominators (Cooper, Harvey and Kennedy's iteration).
func (f *fn) dominators() {
	for _, b := range f.rpo {
		b.idom = nil
	}
	starts := f.starts()
	for _, b := range starts {
		b.idom = b
	}
	for changed := true; changed; {
		changed = false
		for _, b := range f.rpo {
			if slices.Contains(starts, b) {
				continue
			}
			var d *block
			for _, p := range b.preds {
				if p.idom == nil {
					continue
				}
				if d == nil {
					d = p
					continue
				}
				x, y := d, p
				for x != y {
					for x.id > y.id {
						x = x.idom
					}
					for y.id > x.id {
						y = y.idom
					}
				}
				d = x
			}
			if d != b.idom {
				b.idom, changed = d, true
			}
		}
	}
	for _, b := range starts {
		b.idom = nil
	}
	f.domDepth()
}

// domDepth numbers the dominator tree: the depth of each block, and the places of what it dominates in a walk of the tree.
func (f *fn) domDepth() {
	size := map[*block]int{}
	for _, b := range f.rpo {
		b.domDepth = 0
		if b.idom != nil {
			b.domDepth = b.idom.domDepth + 1
		}
	}
	for i := len(f.rpo) - 1; i >= 0; i-- { // a block stands behind its dominators
		b := f.rpo[i]
		size[b]++
		if b.idom != nil {
			size[b.idom] += size[b]
		}
	}
	next := map[*block]int{nil: 1} // the place of the next block under each one
	for _, b := range f.rpo {
		b.domFirst = next[b.idom]
		b.domEnd = b.domFirst + size[b]
		next[b.idom], next[b] = b.domEnd, b.domFirst+1
	}
}

// dominates says whether every path to b goes through a.
func dominates(a, b *block) bool {
	if b != nil && a.domFirst > 0 && b.domFirst > 0 {
		return a.domFirst <= b.domFirst && b.domFirst < a.domEnd
	}
	for b != nil && b.domDepth > a.domDepth {
		b = b.idom
	}
	return a == b
}

// postDominators computes immediate post-dominators; ipdom nil means the end of the kernel.
func (f *fn) postDominators() {
	order, num, isExit := f.backward()
	ip := make([]int, len(f.rpo)) // by post-order number
	for i := range ip {
		ip[i] = noPostDominator
	}
	for changed := true; changed; {
		changed = false
		for k := len(order) - 1; k >= 0; k-- {
			b := order[k]
			d := noPostDominator
			if isExit[b.id] {
				d = theEnd
			}
			for _, s := range b.succs {
				switch x := num[s.id]; {
				case ip[x] == noPostDominator: // not reached yet
				case d == noPostDominator:
					d = x
				default:
					d = meetOf(ip, x, d)
				}
			}
			if ip[k] != d {
				ip[k], changed = d, true
			}
		}
	}
	for k, b := range order {
		b.ipdom = nil
		if d := ip[k]; d != noPostDominator && d != theEnd {
			b.ipdom = order[d]
		}
	}
}

// Post-dominators that are no block: none is known yet, and the end of the kernel, which has the largest number.
const noPostDominator, theEnd = -1, 1 << 30

// meetOf is the nearest block that both post-dominate or are: the numbers go up towards the end.
func meetOf(ip []int, x, y int) int {
	for x != y {
		if x > y {
			x, y = y, x
		}
		x = ip[x] // the lower one is farther from the end
	}
	return x
}

// backward is the post-order of the reversed graph from the end, with each block's number in it by block, and the blocks that
// leave: those without successor, and of each endless loop one, as if it could end.
func (f *fn) backward() (order []*block, num []int, isExit []bool) {
	const unseen, open = -1, -2
	n := len(f.rpo)
	num, isExit = make([]int, n), make([]bool, n)
	for i := range num {
		num[i] = unseen
	}
	visit := func(b *block) {
		// Explicit stack: kernels can have thousands of blocks.
		type frame struct {
			b *block
			i int
		}
		isExit[b.id] = true
		num[b.id] = open
		stack := []frame{{b, 0}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.i < len(top.b.preds) {
				p := top.b.preds[top.i]
				top.i++
				if num[p.id] == unseen {
					num[p.id] = open
					stack = append(stack, frame{p, 0})
				}
				continue
			}
			num[top.b.id] = len(order)
			order = append(order, top.b)
			stack = stack[:len(stack)-1]
		}
	}
	for i := n - 1; i >= 0; i-- {
		if len(f.rpo[i].succs) == 0 {
			visit(f.rpo[i])
		}
	}
	for i := n - 1; i >= 0; i-- {
		if num[i] == unseen {
			visit(f.rpo[i])
		}
	}
	return order, num, isExit
}

// findLoops finds natural loops and the nesting depth of every block.
func (f *fn) findLoops() {
	f.loops = f.loops[:0]
	for _, b := range f.rpo {
		b.loop, b.depth = nil, 0
	}
	// Inner heads have larger numbers than the heads around them, so outer loops come first.
	for _, h := range f.rpo {
		var l *loop
		var work []*block
		for _, p := range h.preds {
			if p.id >= h.id && dominates(h, p) {
				if l == nil {
					l = &loop{head: h}
				}
				work = append(work, p)
			}
		}
		if l == nil {
			continue
		}
		in := map[*block]bool{h: true}
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			if in[b] {
				continue
			}
			in[b] = true
			work = append(work, b.preds...)
		}
		l.parent = h.loop
		l.depth = h.depth + 1
		for _, b := range f.rpo {
			if in[b] {
				l.blocks = append(l.blocks, b)
				b.loop, b.depth = l, l.depth
			}
		}
		f.loops = append(f.loops, l)
	}
}

func (l *loop) contains(b *block) bool {
	for m := b.loop; m != nil; m = m.parent {
		if m == l {
			return true
		}
	}
	return false
}
