package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// Limits of predication, in instructions: what the compiler predicates instead of branching around, measured with some 900 bodies of
// one to forty instructions. A branch of which lanes part also costs a convergence barrier, so more is predicated. Where a load from global
// memory is under way whatever the condition is, or can start earlier without the branch, bodies may be longer.
const (
	maxPredicated       = 7
	maxPredicatedApart  = 8
	maxPredicatedHidden = 16 // in a loop, behind a load that the condition does not wait for
	maxPredicatedLoaded = 17 // with a load from global memory inside
	maxPredicatedAhead  = 20 // before a block that loads from global memory
	maxTail             = 8  // and EXIT
)

// predication limits what can be predicated in place of the branch at the end of a block.
type predication struct {
	most   int
	access int  // the same with other accesses to memory and special registers
	load   int  // the same with a load from global memory
	loads  bool // loads from global memory at all
}

// predication is what can be predicated behind block b, whose branch skips block next. Loads from global memory can where all lanes go one
// way, for nobody waits for a load that is not wanted, in loops, and behind other such loads unless little follows; not
// where the condition is one that all lanes share or else another.
func (f *fn) predication(b, next *block, u *uniformity) predication {
	p := predication{most: maxPredicated, load: maxPredicatedLoaded, loads: true}
	if u.divergentBranch(b) {
		p.most = maxPredicatedApart
		p.loads = (b.depth > 0 || loadsGlobal(b) && !shortTail(b.to)) && !u.orsUniform(b)
	}
	p.access = p.most
	if b.depth > 0 && f.loadsBeside(b) {
		p.most = maxPredicatedHidden
	}
	if len(next.succs) == 1 && next.succs[0] == b.to && loadsGlobal(b.to) {
		p.most = maxPredicatedAhead
	}
	return p
}

// shortTail says that the block ends the kernel after a few instructions, of which one at most accesses memory.
func shortTail(b *block) bool {
	if b == nil || len(b.succs) > 0 || len(b.insts) > maxTail {
		return false
	}
	memory := 0
	for i := range b.insts {
		if c := b.insts[i].Class(); c.IsMemory() || c == isa.ClassBAR {
			memory++
		}
	}
	return memory <= 1
}

// orsUniform says that lanes part at the end of b on a condition that is one which all share, or else another.
func (u *uniformity) orsUniform(b *block) bool {
	g := b.terminator().Guard
	for i := range b.insts {
		in := &b.insts[i]
		if in.NDst == 0 || in.Dst[0].Kind != g.Kind || in.Dst[0].Reg != g.Reg {
			continue
		}
		for _, o := range in.Src[:in.NSrc] {
			if o.Kind == isa.KindPred && o.Reg >= isa.VirtualBase && !u.operand(&o) {
				return true
			}
		}
	}
	return false
}

// loadsGlobal says that the block loads from global memory.
func loadsGlobal(b *block) bool {
	return slices.ContainsFunc(b.insts, func(in isa.Inst) bool { return in.Class() == isa.ClassLDG })
}

// loadsBeside says that the block loads from global memory something that the condition of the branch at its end does not depend on.
func (f *fn) loadsBeside(b *block) bool {
	n := f.numbering()
	wanted := map[int]bool{}
	f.uses(b.terminator(), n, func(id int) { wanted[id] = true })
	some := false
	for i := len(b.insts) - 2; i >= 0; i-- {
		in := &b.insts[i]
		feeds := false
		f.defs(in, n, func(id int) { feeds = feeds || wanted[id] })
		load := in.Class() == isa.ClassLDG
		if load && feeds {
			return false
		}
		some = some || load
		if feeds {
			f.uses(in, n, func(id int) { wanted[id] = true })
		}
	}
	return some
}

// less is the limit for the first of two sides, which needs a branch over the other.
func (p predication) less() predication {
	p.most--
	p.access--
	p.load--
	return p
}

// ifConvert replaces short branches by predication, and branches to a lone EXIT by a predicated EXIT.
func (f *fn) ifConvert() {
	for round := 0; round < 8; round++ {
		changed := false
		f.edges()
		u, home := f.uniformity(), f.homes()
		for i := 0; i < len(f.blocks); i++ {
			b := f.blocks[i]
			t := b.terminator()
			if t == nil || t.Op != isa.OpBRA || t.Guard.Kind != isa.KindPred || b.branches || i+1 >= len(f.blocks) {
				continue
			}
			next := f.blocks[i+1]
			converted := false
			most := f.predication(b, next, u)
			switch {
			case lonelyExit(b.to):
				t.Op, t.NSrc, t.Mod = isa.OpEXIT, 0, isa.Mod{}
				t.Src[0] = isa.Operand{}
				b.to = nil
				converted = true
			case len(next.preds) == 1 && len(next.succs) == 1 && next.succs[0] == b.to && f.predicable(next, t.Guard, most):
				// if without else
				g := t.Guard
				g.Flags ^= isa.Neg
				f.guardAll(next, g, home)
				b.insts = b.insts[:len(b.insts)-1]
				b.to = nil
				converted = true
			case i+2 < len(f.blocks) && f.blocks[i+2] == b.to && len(next.preds) == 1 && len(b.to.preds) == 1 && len(next.succs) == 1 && len(b.to.succs) == 1 &&
				next.succs[0] == b.to.succs[0] && next.to != nil && f.predicable(next, t.Guard, most.less()) && f.predicable(b.to, t.Guard, most):
				g := t.Guard
				other := b.to
				f.guardAll(other, g, home)
				g.Flags ^= isa.Neg
				next.insts = next.insts[:len(next.insts)-1]
				next.to = nil
				f.guardAll(next, g, home)
				b.insts = b.insts[:len(b.insts)-1]
				b.to = nil
				converted = true
			}
			if !converted && f.predicateOneSide(i, most, home) {
				converted = true
			}
			if converted {
				changed = true
				f.edges()
			}
		}
		if !changed {
			break
		}
		f.analyse()
	}
	f.analyse()
}

// predicateOneSide predicates the first side of an if with else whose other side cannot be: the branch then skips only
// the other.
func (f *fn) predicateOneSide(i int, most predication, home map[isa.Operand]*block) bool {
	b := f.blocks[i]
	if i+2 >= len(f.blocks) {
		return false
	}
	t := b.terminator()
	next, other := f.blocks[i+1], f.blocks[i+2]
	if t == nil || b.to != other || len(next.preds) != 1 || len(other.preds) != 1 || len(next.succs) != 1 || len(other.succs) != 1 ||
		next.succs[0] != other.succs[0] || next.to == nil {
		return false
	}
	join := next.to
	g := t.Guard
	if f.predicable(next, g, most.less()) && !hasFence(other) {
		g.Flags ^= isa.Neg
		b.insts = f.keepForOther(b.insts, next, other)
		f.markWhole(next, home)
		n := next.insts[:len(next.insts)-1]
		branch := next.insts[len(next.insts)-1]
		for k := range n {
			n[k].Guard = g
		}
		branch.Guard = g
		b.insts = append(append(b.insts[:len(b.insts)-1], n...), branch)
		b.to = join
		next.insts, next.to = nil, nil
		return true
	}
	return false
}

// keepForOther copies, before the branch that ends insts, the variables that the predicated side overwrites and the other
// side reads, and lets that side read the copies: the compiler gives predicated results registers of their own.
func (f *fn) keepForOther(insts []isa.Inst, predicated, other *block) []isa.Inst {
	n := f.numbering()
	written := map[isa.Reg]bool{}
	for i := range predicated.insts {
		for _, o := range predicated.insts[i].Dst[:predicated.insts[i].NDst] {
			if _, tuple := f.inTuple[o.Reg]; o.Kind == isa.KindReg && o.Flags == 0 && o.Reg >= isa.VirtualBase && !tuple {
				written[o.Reg] = true
			}
		}
	}
	copies := map[isa.Reg]isa.Reg{}
	var order []isa.Reg
	for i := range other.insts {
		in := &other.insts[i]
		for k := range in.Src[:in.NSrc] {
			o := &in.Src[k]
			if o.Kind != isa.KindReg && o.Kind != isa.KindMem || !written[o.Reg] {
				continue
			}
			if copies[o.Reg] == 0 {
				copies[o.Reg] = f.newReg()
				order = append(order, o.Reg)
			}
			o.Reg = copies[o.Reg]
		}
		f.defs(in, n, func(id int) {
			if id < n.preds {
				delete(written, isa.VirtualBase+isa.Reg(id))
			}
		})
	}
	at := len(insts) - 1
	out := append([]isa.Inst(nil), insts[:at]...)
	for _, r := range order {
		out = append(out, isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: insts[at].Pos,
			Dst: [isa.MaxDst]isa.Operand{isa.R(copies[r])}, Src: [isa.MaxSrc]isa.Operand{isa.R(r)}})
	}
	return append(out, insts[at])
}

// hasFence says that the block has instructions that lanes execute together.
func hasFence(b *block) bool {
	for i := range b.insts {
		in := &b.insts[i]
		if in.Op != isa.OpBRA && in.Class().IsControl() || isWarpWide(in) {
			return true
		}
	}
	return false
}

func lonelyExit(b *block) bool {
	return b != nil && len(b.insts) == 1 && b.insts[0].Op == isa.OpEXIT && b.insts[0].Guard.Kind == isa.KindNone
}

// predicable says that the block's instructions can run under predicate g instead of behind a branch: ptxas 13.0 predicates what
// is short, but never atomics, FLO and IDP.
func (f *fn) predicable(b *block, g isa.Operand, limit predication) bool {
	n, loaded := 0, 0
	accesses, global := false, false
	for i := range b.insts {
		in := &b.insts[i]
		if noRegisters(in) > 1 {
			loaded = 1 // one of them needs a register, which the others can share
		}
		if in.Op == isa.OpBRA && i == len(b.insts)-1 && in.Guard.Kind == isa.KindNone {
			continue
		}
		if in.Guard.Kind != isa.KindNone || in.Class().IsControl() || isWarpWide(in) || in.Mod.Has(isa.ModCC) || in.Mod.Has(isa.ModX) && f.t.SM < 70 {
			return false
		}
		writes := false
		for k := range in.Dst[:in.NDst] {
			writes = writes || in.Dst[k].Kind == isa.KindPred && in.Dst[k].Reg == g.Reg
		}
		if writes {
			return false
		}
		switch in.Class() {
		case isa.ClassFLO, isa.ClassIDP:
			return false
		case isa.ClassLDS, isa.ClassSTS, isa.ClassLDL, isa.ClassSTL, isa.ClassSTG, isa.ClassS2R, isa.ClassS2UR:
			accesses = true
		case isa.ClassLDG:
			if !limit.loads {
				return false
			}
			global = true
		}
		switch in.Op {
		case isa.OpATOM, isa.OpATOMG, isa.OpATOMS, isa.OpRED:
			return false
		}
		if in.Mod.Size == sizeAddend && (in.Op == isa.OpMOV || in.Op == isa.OpIADD3) {
			continue
		}
		n++
		if isAdd64(in) || isLea64(in) {
			n++
		}
	}
	most := limit.most
	switch {
	case global:
		most = limit.load
	case accesses:
		most = limit.access
	}
	return n > 0 && n+loaded <= most
}

// noRegisters is the number of sources that are words of constant memory or literals but zero.
func noRegisters(in *isa.Inst) int {
	n := 0
	for _, o := range in.Src[:in.NSrc] {
		if o.Kind == isa.KindConst || o.Kind == isa.KindImm && o.Imm != 0 {
			n++
		}
	}
	return n
}

// guardAll puts the block's instructions under g, but not the branch at its end to where both sides go on.
func (f *fn) guardAll(b *block, g isa.Operand, home map[isa.Operand]*block) {
	f.markWhole(b, home)
	for i := range b.insts {
		if b.insts[i].Op != isa.OpBRA {
			b.insts[i].Guard = g
		}
	}
}

// between gives the new register o, which carries something between the instructions that one becomes: where that is guarded, all of them
// are, and its value in other lanes does not matter.
func (f *fn) between(in *isa.Inst, o isa.Operand) isa.Operand {
	if in.Guard.Kind != isa.KindNone {
		if f.whole == nil {
			f.whole = map[isa.Operand]bool{}
		}
		f.whole[isa.Operand{Kind: o.Kind, Reg: o.Reg}] = true
	}
	return o
}

// markWhole notes the registers that live only inside a block that is to be predicated, first written there and then read.
func (f *fn) markWhole(b *block, home map[isa.Operand]*block) {
	if f.whole == nil {
		f.whole = map[isa.Operand]bool{}
	}
	seen := map[isa.Operand]bool{}
	for i := range b.insts {
		in := &b.insts[i]
		f.names(in.Src[:in.NSrc], func(key isa.Operand) { seen[key] = true })
		f.names(in.Dst[:in.NDst], func(key isa.Operand) {
			if !seen[key] && home[key] == b && in.Guard.Kind == isa.KindNone {
				f.whole[key] = true
			}
			seen[key] = true
		})
	}
}

// names calls visit for every virtual register of the operands.
func (f *fn) names(list []isa.Operand, visit func(key isa.Operand)) {
	for i := range list {
		f.members(&list[i], func(kind isa.OperandKind, r isa.Reg) { visit(isa.Operand{Kind: kind, Reg: r}) })
	}
}

// homes gives, for each register that only one block names, that block.
func (f *fn) homes() map[isa.Operand]*block {
	home := map[isa.Operand]*block{}
	for _, b := range f.blocks {
		note := func(key isa.Operand) {
			if h, ok := home[key]; ok && h != b {
				home[key] = nil
				return
			}
			home[key] = b
		}
		for i := range b.insts {
			in := &b.insts[i]
			f.names(in.Src[:in.NSrc], note)
			f.names(in.Dst[:in.NDst], note)
			f.members(&in.Guard, func(kind isa.OperandKind, r isa.Reg) { note(isa.Operand{Kind: kind, Reg: r}) })
		}
	}
	return home
}
