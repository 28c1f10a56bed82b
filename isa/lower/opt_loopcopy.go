package lower

import (
	"fmt"
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// loopBody is a loop that can be copied: its blocks lie one after another, the head first and the latch, which alone branches
// back to the head, last; after the last round control falls out of the latch. Other blocks may leave the loop too.
type loopBody struct {
	*loopFacts
	f      *fn
	l      *loop
	blocks []*block // in layout order
	latch  *block
	single map[int]place
	within map[int]bool // renamed registers that neither enter nor leave a round
	leaves map[*block]bitset
}

// loopFacts are what bodies of loops are looked at with: of the whole kernel, and the same for all its loops until one is changed.
type loopFacts struct {
	n    numbering
	defs []defSite
	uses []int32 // readers of each register
	live *liveness
}

func (f *fn) loopFacts() *loopFacts {
	n := f.numbering()
	return &loopFacts{n: n, defs: f.defSites(n), uses: f.useCounts(n), live: f.live()}
}

// bodyOf gives the loop as a body that can be copied, nil if its shape does not allow that.
func (f *fn) bodyOf(l *loop, facts *loopFacts) *loopBody {
	at := slices.Index(f.blocks, l.head)
	if at < 0 || at+len(l.blocks) >= len(f.blocks) || l.head.noUnroll {
		return nil
	}
	c := &loopBody{f: f, l: l, blocks: f.blocks[at : at+len(l.blocks) : at+len(l.blocks)], leaves: map[*block]bitset{}}
	c.latch = c.blocks[len(c.blocks)-1]
	t := c.latch.terminator()
	if t == nil || t.Op != isa.OpBRA || t.Guard.Kind != isa.KindPred || c.latch.to != l.head || len(c.latch.succs) != 2 {
		return nil
	}
	for _, b := range c.blocks {
		if !l.contains(b) || b != c.latch && slices.Contains(b.succs, l.head) || b.afterCall || b.table != nil {
			return nil
		}
		for i := range b.insts {
			if in := &b.insts[i]; f.t.SM < 90 && exchanges(b) || !repeatable(in, i == len(b.insts)-1) {
				return nil
			}
		}
	}
	c.loopFacts = facts
	c.findNames()
	return c
}

// repeatable says that an instruction may stand in every copy of a body: barriers of the block and readings of the clock do,
// fences do not; branches only at the end of a block.
func repeatable(in *isa.Inst, last bool) bool {
	switch in.Op {
	case isa.OpBAR, isa.OpWARPSYNC:
		return true
	case isa.OpBRA, isa.OpEXIT:
		return last
	case isa.OpB2R:
		return false
	}
	switch in.Class() {
	case isa.ClassMEMBAR, isa.ClassDEPBAR:
		return false
	}
	return !in.Class().IsControl() && !in.OrdersMemory() && !in.Mod.Has(isa.ModS)
}

// findNames finds the registers that each copy names anew: those with one definition in the loop that either only serve
// the round, or that every round writes once.
func (c *loopBody) findNames() {
	f := c.f
	count := map[int]int{}
	guarded := map[int]bool{}
	c.single = map[int]place{}
	for _, b := range c.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			f.defs(in, c.n, func(id int) {
				count[id]++
				guarded[id] = guarded[id] || in.Guard.Kind != isa.KindNone
				c.single[id] = place{b, i}
			})
		}
	}
	out := newBitset(c.n.total)
	for _, b := range c.blocks {
		for _, s := range b.succs {
			if !c.l.contains(s) {
				c.live.in[s.id].each(out.set)
				c.leaves[b] = c.live.in[s.id]
			}
		}
	}
	enters := c.live.in[c.l.head.id]
	c.within = map[int]bool{}
	for id, p := range c.single {
		kind, _ := c.n.kindOf(id)
		switch {
		case count[id] > 1 || guarded[id] || kind != isa.KindReg && kind != isa.KindPred:
			delete(c.single, id)
		case !enters.has(id) && !out.has(id) && (c.defs[id].value() || p.b.loop == c.l && dominates(p.b, c.latch)):
			c.within[id] = true
		case p.b.loop != c.l || !dominates(p.b, c.latch):
			delete(c.single, id)
		}
	}
	for changed := true; changed; { // words of a tuple are renamed together or not at all
		changed = false
		for _, regs := range f.tuples {
			first := c.n.of(isa.KindReg, regs[0])
			same := true
			for _, r := range regs[1:] {
				id := c.n.of(isa.KindReg, r)
				same = same && c.single[id] == c.single[first] && c.within[id] == c.within[first]
			}
			if same {
				continue
			}
			for _, r := range regs {
				id := c.n.of(isa.KindReg, r)
				if _, ok := c.single[id]; ok {
					delete(c.single, id)
					delete(c.within, id)
					changed = true
				}
			}
		}
	}
}

// series is a row of copies of a loop's body, each of which reads what the one before wrote. Version 0 of a register is what it
// holds before the first copy, and the copy of round k writes version k+1.
type series struct {
	c      *loopBody
	rounds int
	names  []map[int]isa.Reg // by version
}

func (c *loopBody) series(rounds int) *series {
	s := &series{c: c, rounds: rounds, names: make([]map[int]isa.Reg, rounds+1)}
	for i := range s.names {
		s.names[i] = map[int]isa.Reg{}
	}
	return s
}

// name is the register that holds a version of register r, which has number id.
func (s *series) name(id, version int, kind isa.OperandKind, r isa.Reg) isa.Reg {
	f := s.c.f
	if !s.c.within[id] && (version == 0 || version == s.rounds) && s.names[version][id] == 0 {
		return r
	}
	if x := s.names[version][id]; x != 0 {
		return x
	}
	if kind == isa.KindPred {
		s.names[version][id] = f.newPred()
	} else if regs := f.tuples[f.inTuple[r]]; f.inTuple[r] != 0 && len(regs) > 0 {
		fresh := make([]isa.Reg, len(regs))
		for i := range regs {
			fresh[i] = f.newReg()
			s.names[version][s.c.n.of(isa.KindReg, regs[i])] = fresh[i]
		}
		f.setTuple(fresh)
	} else {
		s.names[version][id] = f.newReg()
	}
	return s.names[version][id]
}

// rename gives operand o of the instruction at place i of block b its name in round k.
func (s *series) rename(o *isa.Operand, b *block, i, k int, written bool) {
	kind, ok := namedKind(o)
	if !ok {
		return
	}
	id := s.c.n.of(kind, o.Reg)
	if id < 0 {
		return
	}
	if p, ok := s.c.single[id]; ok {
		if written || p.b == b && i > p.i || p.b != b && dominates(p.b, b) {
			k++
		}
		o.Reg = s.name(id, k, kind, o.Reg)
	}
}

// copy appends the blocks of round k. The latch's branch is left out; edit, if it is not nil, changes an instruction, or drops it.
func (s *series) copy(to []*block, k int, edit func(b *block, i int, in *isa.Inst) bool) []*block {
	c := s.c
	fresh := map[*block]*block{}
	for _, b := range c.blocks {
		fresh[b] = &block{label: fmt.Sprintf("%s.%d", b.label, k), statements: b.statements, partial: b.partial, depth: b.depth}
	}
	for _, b := range c.blocks {
		x := fresh[b]
		for i := range b.insts {
			if b == c.latch && i == len(b.insts)-1 {
				break
			}
			in := b.insts[i]
			s.rename(&in.Guard, b, i, k, false)
			for j := range in.Src[:in.NSrc] {
				s.rename(&in.Src[j], b, i, k, false)
			}
			for j := range in.Dst[:in.NDst] {
				s.rename(&in.Dst[j], b, i, k, true)
			}
			in.PC = uint32(k) // another expansion of the same statement
			if edit != nil && !edit(b, i, &in) {
				continue
			}
			if i == len(b.insts)-1 && c.leaves[b] != nil {
				s.leave(x, b, i, k)
			}
			x.insts = append(x.insts, in)
		}
		if b == c.latch {
			to = append(to, x)
			continue
		}
		x.to = b.to
		if y := fresh[b.to]; y != nil {
			x.to = y
		}
		to = append(to, x)
	}
	return to
}

// leave copies, before instruction i of block b that may leave the loop in round k, what is read outside to the registers
// that are read there.
func (s *series) leave(x, b *block, i, k int) {
	c := s.c
	var list []int
	for id := range c.single {
		if !c.within[id] && c.leaves[b].has(id) {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	pos := b.insts[i].Pos
	for _, id := range list {
		kind, r := c.n.kindOf(id)
		from := isa.Operand{Kind: kind, Reg: r}
		s.rename(&from, b, i, k, false)
		if from.Reg == r {
			continue
		}
		if kind == isa.KindPred {
			in := isa.Inst{Op: isa.OpPLOP3, Mod: isa.Mod{Lut: 0xf0, Lut2: 0x0f}, NDst: 2, NSrc: 3, Pos: pos}
			in.Dst[0], in.Dst[1] = isa.P(r), pt
			in.Src = [isa.MaxSrc]isa.Operand{from, pt, pt}
			x.insts = append(x.insts, in)
			continue
		}
		in := isa.Inst{Op: isa.OpMOV, Mod: isa.Mod{Flags: modKeep}, NDst: 1, NSrc: 1, Pos: pos} // ptxas does not merge these
		in.Dst[0], in.Src[0] = isa.R(r), from
		x.insts = append(x.insts, in)
	}
}

// replace puts other blocks in place of the loop's.
func (c *loopBody) replace(blocks []*block) {
	f := c.f
	at := slices.Index(f.blocks, c.l.head)
	for _, x := range f.blocks {
		if !c.l.contains(x) {
			x.redirect(c.l.head, blocks[0])
		}
	}
	f.blocks = slices.Concat(f.blocks[:at], blocks, f.blocks[at+len(c.blocks):])
}
