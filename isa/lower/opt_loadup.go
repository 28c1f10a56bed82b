package lower

import "github.com/sarchlab/smsim/isa"

// maxAddressCode is the number of instructions that may move up with a load to compute its address.
const maxAddressCode = 8

// maxArm is the number of instructions of a branch that loads are raised over.
const maxArm = 16

// raiseLoads moves loads of constant data, with their address computation, from a block up to the highest block of the
// same loop that executes exactly when it does: over an if, a shuffle or a barrier between them. That is how ptxas
// brings the loads of an unrolled loop's rounds together when each round has branches. A load stays where the registers
// on the way would not last.
func (f *fn) raiseLoads() {
	n := f.numbering()
	r := &raiser{f: f, n: n, defs: f.defSites(n), writes: make([][]place, n.total), limit: f.freeRegs()}
	for _, b := range f.blocks {
		for i := range b.insts {
			f.defs(&b.insts[i], n, func(id int) { r.writes[id] = append(r.writes[id], place{b, i}) })
		}
	}
	for _, b := range f.rpo {
		to := highestEquivalent(b)
		if to == b {
			continue
		}
		for i := range b.insts {
			if in := &b.insts[i]; in.Op == isa.OpLDG && in.Mod.Has(isa.ModConstant) && in.Guard.Kind == isa.KindNone && r.results(in) {
				r.raise(b, i, to)
			}
		}
	}
	f.compact()
}

// highestEquivalent is the dominator farthest up that is in the same loop and executes exactly when the block does.
func highestEquivalent(b *block) *block {
	top := b
	for d := b.idom; d != nil && d.loop == b.loop && postDominates(b, d); d = d.idom {
		top = d
	}
	return top
}

// raiser moves instructions up; pressure is the registers live at once in each block, by block id, nil until needed.
type raiser struct {
	f        *fn
	n        numbering
	defs     []defSite
	writes   [][]place // of each register
	limit    int
	pressure []int
}

// results says that all results of the instruction are values in virtual registers.
func (r *raiser) results(in *isa.Inst) bool {
	ok := in.NDst > 0
	r.f.defs(in, r.n, func(id int) { ok = ok && r.defs[id].value() })
	for k := range in.Dst[:in.NDst] {
		o := &in.Dst[k]
		ok = ok && (o.Reg >= isa.VirtualBase || *o == pt || o.Kind == isa.KindReg && o.Reg == isa.RZ)
	}
	return ok
}

// place is the position of an instruction.
type place struct {
	b *block
	i int
}

// raise moves the load at b.insts[i] and what computes its address to the end of block to, if it can.
func (r *raiser) raise(b *block, i int, to *block) {
	way := between(to, b)
	passed := map[*block]bool{}
	for _, x := range way[1:] {
		if calls(x) || !postDominates(x, to) && !plainArm(x) {
			return
		}
		passed[x] = true
	}
	var code []place
	listed := map[place]bool{}
	var need func(p place) bool
	need = func(p place) bool {
		if listed[p] {
			return true
		}
		ok := true
		r.f.uses(&p.b.insts[p.i], r.n, func(id int) {
			for _, w := range r.writes[id] {
				if !ok || !passed[w.b] && (w.b != b || w.i >= i) {
					continue // the register holds the same at the end of block to
				}
				in := &w.b.insts[w.i]
				ok = r.defs[id].value() && len(code) < maxAddressCode && in.Guard.Kind == isa.KindNone && (r.f.computes(in) || in.Op == isa.OpMOV) && r.results(in) && need(w)
			}
		})
		if ok {
			listed[p] = true
			code = append(code, p)
		}
		return ok
	}
	if !need(place{b, i}) || !r.lasts(&b.insts[i], way) {
		return
	}
	at := len(to.insts)
	if to.terminator() != nil {
		at--
	}
	moved := make([]isa.Inst, 0, len(code)+len(to.insts)-at)
	for k, p := range code {
		in := &p.b.insts[p.i]
		r.f.defs(in, r.n, func(id int) { r.writes[id] = []place{{to, at + k}} })
		moved = append(moved, *in)
		dead(in)
	}
	to.insts = append(to.insts[:at], append(moved, to.insts[at:]...)...)
}

// calls says that the block calls a function.
func calls(b *block) bool {
	for i := range b.insts {
		if b.insts[i].Class() == isa.ClassCALL {
			return true
		}
	}
	return false
}

// plainArm says that the block is one side of a two-way branch, entered and left at one place, without an exchange between
// lanes, which makes a second way of the branch for lanes that have come apart.
func plainArm(b *block) bool {
	if len(b.insts) > maxArm || len(b.preds) != 1 || len(b.succs) != 1 || len(b.preds[0].succs) > 2 || b.preds[0].loop != b.loop {
		return false
	}
	for i := range b.insts {
		switch b.insts[i].Class() {
		case isa.ClassSHFL, isa.ClassVOTE, isa.ClassMATCH:
			return false
		}
	}
	return true
}

// lasts says whether the registers suffice for the load's result in the blocks it is to pass, and books it.
func (r *raiser) lasts(load *isa.Inst, way []*block) bool {
	if r.pressure == nil {
		r.pressure = r.f.pressures()
	}
	words := 0
	r.f.defs(load, r.n, func(id int) { words++ })
	for _, x := range way {
		if r.pressure[x.id]+words > r.limit {
			return false
		}
	}
	for _, x := range way {
		r.pressure[x.id] += words
	}
	return true
}

// between are the blocks on paths from the dominator to down to b: to first, and b not.
func between(to, b *block) []*block {
	way := []*block{to}
	seen := map[*block]bool{to: true, b: true}
	work := []*block{b}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		for _, p := range x.preds {
			if !seen[p] {
				seen[p] = true
				way = append(way, p)
				work = append(work, p)
			}
		}
	}
	return way
}

// pressures is the largest number of general registers live at once in each block, by block id.
func (f *fn) pressures() []int {
	l := f.live()
	most := make([]int, len(f.rpo))
	for _, b := range f.rpo {
		live := append(bitset(nil), l.out[b.id]...)
		count := 0
		live.each(func(id int) {
			if kind, _ := l.n.kindOf(id); kind == isa.KindReg {
				count++
			}
		})
		most[b.id] = count
		general := func(id int) int {
			if kind, _ := l.n.kindOf(id); kind == isa.KindReg {
				return 1
			}
			return 0
		}
		for i := len(b.insts) - 1; i >= 0; i-- {
			in := &b.insts[i]
			f.kills(in, l.n, func(id int) {
				if live.has(id) {
					live.clear(id)
					count -= general(id)
				}
			})
			f.uses(in, l.n, func(id int) {
				if !live.has(id) {
					live.set(id)
					count += general(id)
				}
			})
			most[b.id] = max(most[b.id], count)
		}
	}
	return most
}
