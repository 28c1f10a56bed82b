package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// A private function, one that is called by name only and does not reach itself, becomes part of the code of the kernel (or
// function) that calls it: optimised on its own, and then allocated together with its callers, so that their registers are
// disjoint where they must be and arguments need few copies.

// callersFirst is the private units in an order in which every caller comes before what it calls.
func (u *unitInfo) callersFirst() []*fn {
	var post []*fn
	seen := map[int]bool{}
	var visit func(f *fn)
	visit = func(f *fn) {
		for _, s := range slices.Backward(f.sites) {
			if s.unit >= 0 && u.units[s.unit].own != nil && !seen[s.unit] {
				seen[s.unit] = true
				visit(u.units[s.unit])
			}
		}
		if f.own != nil {
			post = append(post, f)
		}
	}
	for _, f := range slices.Backward(u.units) {
		if f.own == nil {
			visit(f)
		}
	}
	slices.Reverse(post)
	return post
}

// takeConstants replaces parameters of the unit for which all callers pass the same constant, as ptxas does: a division by a
// literal gets a routine with that literal. Its callers are optimised already, the unit is not.
func (f *fn) takeConstants() {
	for i, r := range f.own.params {
		if r == 0 {
			continue
		}
		value, same := isa.Operand{}, true
		var from []*isa.Inst
		for _, g := range f.link.units {
			c := g.conv[f.unit]
			if c == nil || c.params[i] == 0 {
				continue
			}
			for _, b := range g.blocks {
				for k := range b.insts {
					in := &b.insts[k]
					if !passes(in) || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Reg != c.params[i] {
						continue
					}
					o := in.Src[0]
					fixed := o.Kind == isa.KindImm && o.Imm < dynamicShared/2 || o == rz || o.Kind == isa.KindConst && o.Reg == isa.RZ && o.Flags == 0 && o.Bank == 0
					if !fixed || len(from) > 0 && o != value {
						same = false
					}
					value = o
					from = append(from, in)
				}
			}
		}
		if !same || len(from) == 0 {
			continue
		}
		for _, in := range from {
			dead(in)
		}
		for _, g := range f.link.units {
			if c := g.conv[f.unit]; c != nil {
				g.unpass(c.params[i])
				c.params[i] = 0
			}
		}
		if f.routine != nil {
			f.own.values[i] = value
		}
		for _, b := range f.blocks {
			for k := range b.insts {
				in := &b.insts[k]
				if passes(in) && in.Src[0].Kind == isa.KindReg && in.Src[0].Reg == r {
					in.Src[0] = value
					in.Mod = isa.Mod{}
				}
			}
		}
		f.own.params[i] = 0
	}
	for _, g := range f.link.units {
		g.compact()
	}
}

// unpass takes a register out of what calls and returns read and write.
func (f *fn) unpass(r isa.Reg) {
	for _, s := range f.sites {
		for _, list := range [][]isa.Reg{s.uses, s.defs} {
			for i := range list {
				if list[i] == r {
					list[i] = 0
				}
			}
		}
	}
}

// renumbering gives the registers of a unit that becomes part of another one numbers there.
type renumbering struct {
	same  map[isa.Reg]isa.Reg         // registers of calls, which both units have
	shift map[isa.OperandKind]isa.Reg // of all others
	sites int64                       // call sites that the other unit has already
}

// unify makes the registers by which a function is called those that the other unit calls it with.
func (m *renumbering) unify(theirs, ours *convention) {
	for i, r := range theirs.params {
		m.same[r] = ours.params[i]
	}
	for i, r := range theirs.results {
		m.same[r] = ours.results[i]
	}
	if theirs.back != 0 {
		m.same[theirs.back] = ours.back
	}
}

func (m *renumbering) number(kind isa.OperandKind, r isa.Reg) isa.Reg {
	if r < isa.VirtualBase {
		return r
	}
	if s, ok := m.same[r]; ok && kind == isa.KindReg {
		return s
	}
	return r + m.shift[kind]
}

func (m *renumbering) all(kind isa.OperandKind, regs []isa.Reg) []isa.Reg {
	out := make([]isa.Reg, len(regs))
	for i, r := range regs {
		out[i] = m.number(kind, r)
	}
	return out
}

func (m *renumbering) operand(o *isa.Operand) {
	switch o.Kind {
	case isa.KindReg, isa.KindMem, isa.KindConst:
		o.Reg = m.number(isa.KindReg, o.Reg)
		if o.Is(isa.HasUReg) {
			o.UReg = m.number(isa.KindUReg, o.UReg)
		}
	case isa.KindPred, isa.KindUReg, isa.KindUPred:
		o.Reg = m.number(o.Kind, o.Reg)
	}
	if o.Flags&flagSite != 0 {
		o.Imm += m.sites
	}
}

func (m *renumbering) instruction(in *isa.Inst) {
	m.operand(&in.Guard)
	for k := range in.Dst[:in.NDst] {
		m.operand(&in.Dst[k])
	}
	for k := range in.Src[:in.NSrc] {
		m.operand(&in.Src[k])
	}
}

// absorb takes over the code of private unit g with registers of this one's.
func (f *fn) absorb(g *fn) {
	f.link.standardCalls(f.unit, g.unit)
	f.realCalls = f.realCalls || g.realCalls
	m := f.renumberingOf(g)
	for _, b := range g.blocks {
		for i := range b.insts {
			m.instruction(&b.insts[i])
		}
	}
	for _, s := range g.sites {
		f.sites = append(f.sites, &callSite{unit: s.unit, uses: m.all(isa.KindReg, s.uses), defs: m.all(isa.KindReg, s.defs), standard: s.standard})
	}
	f.absorbTuples(g, m)
	f.nextReg += g.nextReg - isa.VirtualBase
	f.nextPred += g.nextPred - isa.VirtualBase
	f.nextUReg += g.nextUReg - isa.VirtualBase
	f.nextUPred += g.nextUPred - isa.VirtualBase
	f.localMem, f.localAlign = max(f.localMem, g.localMem), max(f.localAlign, g.localAlign)
	f.usesCC = f.usesCC || g.usesCC
	f.entries = append(f.entries, entry{g.unit, g.blocks[0]})
	f.blocks = append(f.blocks, g.blocks...)
	g.blocks = nil
}

// renumberingOf is that of unit g, whose calls this unit takes over.
func (f *fn) renumberingOf(g *fn) *renumbering {
	m := &renumbering{same: map[isa.Reg]isa.Reg{}, sites: int64(len(f.sites)), shift: map[isa.OperandKind]isa.Reg{
		isa.KindReg: f.nextReg - isa.VirtualBase, isa.KindPred: f.nextPred - isa.VirtualBase,
		isa.KindUReg: f.nextUReg - isa.VirtualBase, isa.KindUPred: f.nextUPred - isa.VirtualBase}}
	for v, r := range g.fixed {
		m.same[v] = f.machineReg(r)
	}
	m.unify(g.own, f.conv[g.unit])
	var fresh []int
	for n, c := range g.conv {
		if ours := f.conv[n]; ours != nil {
			m.unify(c, ours)
		} else {
			fresh = append(fresh, n)
		}
	}
	for _, n := range fresh {
		c := g.conv[n]
		f.conv[n] = &convention{params: m.all(isa.KindReg, c.params), results: m.all(isa.KindReg, c.results), back: m.number(isa.KindReg, c.back)}
	}
	return m
}

// absorbTuples takes over which registers of unit g stand side by side.
func (f *fn) absorbTuples(g *fn, m *renumbering) {
	for first, regs := range g.tuples {
		f.tuples[m.number(isa.KindReg, first)] = m.all(isa.KindReg, regs)
	}
	for r, first := range g.inTuple {
		f.inTuple[m.number(isa.KindReg, r)] = m.number(isa.KindReg, first)
	}
	for first, regs := range g.utuples {
		f.utuples[m.number(isa.KindUReg, first)] = m.all(isa.KindUReg, regs)
	}
	for r := range g.inUTuple {
		f.inUTuple[m.number(isa.KindUReg, r)] = true
	}
	for o, v := range g.whole {
		if f.whole == nil {
			f.whole = map[isa.Operand]bool{}
		}
		m.operand(&o)
		f.whole[o] = v
	}
}

// standardCalls lets unit n make the standard calls that unit m, which becomes part of it, makes.
func (u *unitInfo) standardCalls(n, m int) {
	u.pointer[n] = u.pointer[n] || u.pointer[m]
	for c := range u.calls[m] {
		if u.calls[n] == nil {
			u.calls[n] = map[int]bool{}
		}
		u.calls[n][c] = true
	}
}

// linkCalls makes every call the end of a block and, from Volta on, gives calls and returns their return address.
func (f *fn) linkCalls() {
	var out []*block
	owner := -1 // the private unit that the block belongs to
	for _, b := range f.blocks {
		for _, e := range f.entries {
			if e.at == b {
				owner = e.unit
			}
		}
		cur := b
		for i := 0; i < len(cur.insts); i++ {
			in := &cur.insts[i]
			if passes(in) {
				in.Mod = isa.Mod{}
			}
			s := f.site(in)
			if s != nil && in.Op == isa.OpRET && f.t.SM >= 70 {
				if s.standard {
					f.standardReturn(in, s)
				} else {
					i = f.linkReturn(cur, i, f.conv[owner].back)
				}
				continue
			}
			if s == nil || in.Op != isa.OpCALL {
				continue
			}
			rest := &block{insts: append([]isa.Inst(nil), cur.insts[i+1:]...), to: cur.to, table: cur.table, tableAt: cur.tableAt, depth: cur.depth, loop: cur.loop, afterCall: true}
			call := *in
			cur.insts, cur.to, cur.table = cur.insts[:i:i], nil, nil
			if s.standard && f.t.SM >= 70 {
				pair := f.returnPair()
				s.uses = append(s.uses, pair...)
				hi := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: call.Pos}
				hi.Dst[0], hi.Src[0] = isa.R(pair[1]), imm(0)
				cur.insts = append(cur.insts, hi, f.returnAddress(pair[0], rest, call.Pos))
			}
			if c := f.conv[s.unit]; c != nil && c.back != 0 {
				s.uses = append(s.uses, c.back)
				cur.insts = append(cur.insts, f.returnAddress(c.back, rest, call.Pos))
			}
			cur.insts = append(cur.insts, call)
			out = append(out, cur)
			cur, i = rest, -1
		}
		out = append(out, cur)
	}
	f.blocks = out
}

// returnAddress is the instruction that gives register r the address of the block.
func (f *fn) returnAddress(r isa.Reg, to *block, pos isa.SourcePos) isa.Inst {
	in := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: pos}
	in.Dst[0] = isa.R(r)
	in.Src[0] = isa.Operand{Kind: isa.KindLabel, Imm: int64(len(f.syncs))}
	f.syncs = append(f.syncs, to)
	return in
}

// linkReturn gives the RET at instruction i of the block the return address in a register pair, whose upper word is zero, and
// returns the place of the RET.
func (f *fn) linkReturn(b *block, i int, back isa.Reg) int {
	ret := b.insts[i]
	pair := []isa.Reg{f.newReg(), f.newReg()}
	f.setTuple(pair)
	lo := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: ret.Pos}
	lo.Dst[0], lo.Src[0] = isa.R(pair[0]), isa.R(back)
	hi := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: ret.Pos}
	hi.Dst[0], hi.Src[0] = isa.R(pair[1]), imm(0)
	ret.Src[0], ret.Src[1], ret.Src[2] = tupleOperand(pair), imm(0), ret.Src[0]
	ret.NSrc = 3
	b.insts = append(append(b.insts[:i:i], lo, hi, ret), b.insts[i+1:]...)
	return i + 2
}

// standardReturn gives a RET the registers of the return address; a function that calls others loads them before (keepRegisters).
func (f *fn) standardReturn(ret *isa.Inst, s *callSite) {
	pair := f.returnPair()
	ret.Src[0], ret.Src[1], ret.Src[2] = tupleOperand(pair), imm(0), ret.Src[0]
	ret.NSrc = 3
}

// clobbers is the registers that each private function of the unit, and what it calls, writes, and which of them call in the
// standard way.
func (f *fn) clobbers(n numbering) (map[int]bitset, map[int]bool) {
	if len(f.entries) == 0 {
		return nil, nil
	}
	deep := map[int]bool{}
	own, callees := map[int]bitset{}, map[int][]int{}
	for _, e := range f.entries {
		own[e.unit] = newBitset(n.total)
		for _, b := range reachable(e.at) {
			for i := range b.insts {
				in := &b.insts[i]
				f.defs(in, n, own[e.unit].set)
				if s := f.site(in); s != nil && s.unit >= 0 && f.conv[s.unit] != nil {
					callees[e.unit] = append(callees[e.unit], s.unit)
				} else if s != nil && s.standard && in.Op == isa.OpCALL {
					deep[e.unit] = true
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for u, set := range own {
			for _, c := range callees[u] {
				if deep[c] && !deep[u] {
					deep[u], changed = true, true
				}
				for w, x := range own[c] {
					if x&^set[w] != 0 {
						set[w] |= x
						changed = true
					}
				}
			}
		}
	}
	return own, deep
}

// blockWeights is about how often each block runs, by its number: eight times as often in every loop around it, and in a private
// function as often as its callers together.
func (f *fn) blockWeights() []float64 {
	out := make([]float64, len(f.rpo))
	own := func(b *block) float64 {
		w := 1.0
		for range min(b.depth, 6) {
			w *= 8
		}
		return w
	}
	for _, b := range f.rpo {
		out[b.id] = own(b)
	}
	// A function's callers come before it among the entries (absorb).
	for _, e := range f.entries {
		calls := 0.0
		for _, b := range f.rpo {
			for i := range b.insts {
				if s := f.site(&b.insts[i]); s != nil && s.unit == e.unit {
					calls += out[b.id]
				}
			}
		}
		for _, b := range reachable(e.at) {
			out[b.id] = own(b) * max(1, calls)
		}
	}
	return out
}

// reachable is the blocks that control reaches from b without counting calls.
func reachable(b *block) []*block {
	seen := map[*block]bool{b: true}
	list := []*block{b}
	for i := 0; i < len(list); i++ {
		for _, s := range list[i].succs {
			if !seen[s] {
				seen[s] = true
				list = append(list, s)
			}
		}
	}
	return list
}
