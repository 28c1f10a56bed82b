package lower

import "github.com/sarchlab/smsim/isa"

// entriesOf are the blocks at which control enters the body of a region, from its head and from elsewhere, and whether the
// latter happens.
func entriesOf(head *block, body map[*block]bool) (entries []*block, elsewhere bool) {
	for x := range body {
		from := false
		for _, p := range x.preds {
			if !body[p] {
				from = true
				elsewhere = elsewhere || p != head
			}
		}
		if from {
			entries = append(entries, x)
		}
	}
	return entries, elsewhere
}

// placeEntries makes heads for regions that are entered from several places, as a loop whose header is that of a loop around it
// too: a block in front of their entry that all who come from outside go through, and that sets the barrier each time.
// Smaller regions with the same entry come behind larger ones. ptxas does the same.
func (f *fn) placeEntries(regions []*region) {
	front := map[*block]*block{} // first of the new blocks in front of an entry
	for size := 1; size <= len(f.blocks); size++ {
		for _, r := range regions {
			if r.entry == nil || len(r.body) != size {
				continue
			}
			e := r.entry
			to := front[e]
			if to == nil {
				to = e
			}
			n := &block{depth: e.depth, domDepth: e.domDepth}
			r.head, front[e] = n, n
			inside := func(b *block) bool { return r.body[b] }
			f.placeEntry(n, to, inside)
			for _, b := range f.blocks {
				if b != n && !inside(b) {
					b.redirect(to, n)
				}
			}
			for _, o := range regions {
				switch {
				case o == r:
				case o.body[e] && !(o.entry == e && len(o.body) <= len(r.body)):
					o.body[n] = true
				case o.join == to && !r.body[o.head]:
					o.join = n
				}
			}
		}
	}
}

// placeEntry puts a block where control goes on to another: in front of it, or, where a block inside falls into that one, behind
// the last block that never goes on to its neighbour, with a branch.
func (f *fn) placeEntry(n, to *block, inside func(*block) bool) {
	k := 0
	for k < len(f.blocks) && f.blocks[k] != to {
		k++
	}
	if k > 0 && f.blocks[k-1].fallsThrough() && inside(f.blocks[k-1]) {
		n.to = to
		n.insts = []isa.Inst{{Op: isa.OpBRA, NSrc: 1, Pos: isa.SourcePos{CUFile: -1}, Src: [isa.MaxSrc]isa.Operand{{Kind: isa.KindLabel}}}}
		at := len(f.blocks)
		for i, b := range f.blocks {
			if !b.fallsThrough() && b.to == to && !inside(b) { // its branch is to its neighbour then, and goes
				at = i + 1
			}
		}
		if at == len(f.blocks) {
			for at > 0 && f.blocks[at-1].fallsThrough() {
				at--
			}
		}
		k = at
	}
	f.blocks = append(f.blocks[:k], append([]*block{n}, f.blocks[k:]...)...)
}
