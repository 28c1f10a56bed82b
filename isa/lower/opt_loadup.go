package lower

import "github.com/sarchlab/smsim/isa"

// maxAddressCode is the number of instructions that may move up with a load to compute its address.
const maxAddressCode = 8

// maxArms is the number of blocks of a branch that loads rise over: ptxas does it for an if inside an if, and not for eight.
const maxArms = 2

// raiseLoads moves loads from global memory, with their address computation, from a block up to the highest block of the same
// loop that executes exactly when it does: over an if without else, a shuffle or a barrier between them, but not over stores
// that could change what is loaded. That is how ptxas 13.0 brings the loads of an unrolled loop's rounds together when each
// round has branches (probed with 25 loops). A load goes only as far as registers last.
func (f *fn) raiseLoads() {
	n := f.numbering()
	r := &raiser{f: f, n: n, defs: f.defSites(n), writes: make([][]place, n.total), limit: f.freeRegs()}
	for _, b := range f.blocks {
		for i := range b.insts {
			f.defs(&b.insts[i], n, func(id int) { r.writes[id] = append(r.writes[id], place{b, i}) })
		}
	}
	for _, b := range f.rpo {
		above := equivalents(b)
		if len(above) == 0 {
			continue
		}
		for i := range b.insts {
			in := &b.insts[i]
			if in.Op != isa.OpLDG || in.Mod.Has(isa.ModStrong) || in.Guard.Kind != isa.KindNone || !r.results(in) {
				continue
			}
			for k := len(above) - 1; k >= 0 && !r.raise(b, i, above[k]); k-- {
			}
		}
	}
	f.compact()
}

// equivalents are the dominators, nearest first, that are in the same loop and execute exactly when the block does, as far up as
// loads may rise over the branches between them.
func equivalents(b *block) []*block {
	var list []*block
	below := b
	for d := b.idom; d != nil && d.loop == b.loop && postDominates(b, d) && plainBranch(d); d = d.idom {
		arms := between(d, below)[1:]
		if len(arms) > maxArms {
			break
		}
		for _, x := range arms {
			if x.loop != b.loop || !plainBranch(x) || exchanges(x) {
				return list
			}
		}
		list = append(list, d)
		below = d
	}
	return list
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
func (r *raiser) raise(b *block, i int, to *block) bool {
	way := between(to, b)
	constant := b.insts[i].Mod.Has(isa.ModConstant)
	if !constant && changesMemory(b.insts[:i]) {
		return false
	}
	passed := map[*block]bool{}
	for _, x := range way[1:] {
		if calls(x) || !constant && changesMemory(x.insts) {
			return false
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
		return false
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
	return true
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

// plainBranch says that the block's branch, if it has one, only skips something: it is no if with an else and no switch.
func plainBranch(b *block) bool {
	return len(b.succs) < 2 || len(b.succs) == 2 && (b.succs[0] == b.ipdom || b.succs[1] == b.ipdom)
}

// exchanges says that the block has an exchange between lanes: within a branch that makes a second way of it, for lanes that have
// come apart.
func exchanges(b *block) bool {
	for i := range b.insts {
		switch b.insts[i].Class() {
		case isa.ClassSHFL, isa.ClassVOTE, isa.ClassMATCH:
			return true
		}
	}
	return false
}

// changesMemory says that a load from global memory below the code may give another value than above it.
func changesMemory(code []isa.Inst) bool {
	for i := range code {
		in := &code[i]
		if fence(in) && in.Class() != isa.ClassBRA || writesMemory(in) && memSpaces(in)&memSpaces(&isa.Inst{Op: isa.OpLDG}) != 0 {
			return true
		}
	}
	return false
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
		f.eachPressure(l, b, func(_, live int) { most[b.id] = max(most[b.id], live) })
	}
	return most
}

// eachPressure calls visit with the number of general registers that are live ahead of instruction i of the block, from its end on (i is the
// number of instructions there).
func (f *fn) eachPressure(l *liveness, b *block, visit func(i, live int)) {
	live := append(bitset(nil), l.out[b.id]...)
	count := 0
	live.each(func(id int) {
		if id < l.n.preds {
			count++
		}
	})
	visit(len(b.insts), count)
	for i := len(b.insts) - 1; i >= 0; i-- {
		in := &b.insts[i]
		f.kills(in, l.n, func(id int) {
			if id < l.n.preds && live.has(id) {
				live.clear(id)
				count--
			}
		})
		f.uses(in, l.n, func(id int) {
			if id < l.n.preds && !live.has(id) {
				live.set(id)
				count++
			}
		})
		visit(i, count)
	}
}
