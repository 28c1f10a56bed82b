package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// fusePredicates makes a comparison and the AND, OR or XOR of its result with another predicate one comparison that takes that in, as
// ptxas does wherever one of the two is a comparison: its code of 180 kernels has 250 of these and three PLOP3 of two predicates.
// Not the AND that only a branch reads: the branch takes both (twoPredicates).
func (u *fuser) fusePredicates(in *isa.Inst) bool {
	op, ok := predicateLogic(in)
	if !ok || op == isa.BoolAnd && u.f.branchReads(u.b, in) && u.uses[u.n.of(isa.KindPred, in.Dst[0].Reg)] == 1 {
		return false
	}
	best := -1
	var compare *isa.Inst
	for k := range 2 {
		if d := u.comparison(in.Src[k]); d != nil && (best < 0 || u.uses[u.n.of(isa.KindPred, in.Src[best].Reg)] > 1 && u.uses[u.n.of(isa.KindPred, in.Src[k].Reg)] == 1) {
			best, compare = k, d
		}
	}
	if best < 0 {
		return false
	}
	dst, guard, pos, other, inverse := in.Dst[0], in.Guard, in.Pos, in.Src[1-best], in.Src[best].Is(isa.Neg)
	id := u.n.of(isa.KindPred, in.Src[best].Reg)
	if compare.Mod.Has(isa.ModEX) && (u.uses[id] > 1 || inverse && op != isa.BoolXor) {
		return false // the inverse of a comparison of 64 bits needs that of the low words too
	}
	if compare.Mod.Has(isa.ModEX) && inverse {
		other.Flags ^= isa.Neg
		inverse = false
	}
	*in = *compare
	in.Dst[0], in.Guard, in.Pos, in.Src[2], in.Mod.Bool = dst, guard, pos, other, op
	if inverse {
		in.Mod.Cmp = inverseCompare(in.Mod.Cmp)
	}
	if u.uses[id]--; u.uses[id] == 0 {
		u.take(compare)
	}
	return true
}

// comparison is the plain comparison of words, or of the high words of 64 bits, that gives a predicate, if it can be made here as well.
func (u *fuser) comparison(o isa.Operand) *isa.Inst {
	if o.Kind != isa.KindPred || o.Reg < isa.VirtualBase {
		return nil
	}
	id := u.n.of(isa.KindPred, o.Reg)
	if id < 0 || id >= len(u.defs) {
		return nil
	}
	d := u.definition(id)
	if d == nil || d.Op != isa.OpISETP || d.Dst[0].Reg != o.Reg || d.Dst[1] != pt || d.Src[2] != pt || d.Mod.Bool != isa.BoolAnd ||
		d.Mod.Type != isa.U32 && d.Mod.Type != isa.S32 || inverseCompare(d.Mod.Cmp) == isa.CmpF {
		return nil
	}
	return d
}

// predicateLogic says that the instruction is the AND, OR or XOR of two predicates, which may be inverted.
func predicateLogic(in *isa.Inst) (op isa.BoolOp, ok bool) {
	if in.Op != isa.OpPLOP3 || in.NSrc != 3 || in.Dst[1] != pt || in.Src[2] != pt || in.Dst[0].Reg < isa.VirtualBase || in.Src[0].Reg == isa.PT || in.Src[1].Reg == isa.PT ||
		in.Src[0].Kind != isa.KindPred || in.Src[1].Kind != isa.KindPred {
		return op, false
	}
	table := 0 // of both sources, with the third true
	for k := range 4 {
		table |= int(in.Mod.Lut>>(k<<1|1)&1) << k
	}
	op, ok = map[int]isa.BoolOp{0b1000: isa.BoolAnd, 0b1110: isa.BoolOr, 0b0110: isa.BoolXor}[table]
	return op, ok
}

// branchReads says that the branch that ends the block is taken where the instruction's result holds.
func (f *fn) branchReads(b *block, in *isa.Inst) bool {
	t := b.terminator()
	return t != nil && t.Op == isa.OpBRA && t.Guard == in.Dst[0]
}

// inverseCompare is the comparison of integers that holds when c does not; CmpF for others.
func inverseCompare(c isa.Cmp) isa.Cmp {
	return map[isa.Cmp]isa.Cmp{isa.CmpEQ: isa.CmpNE, isa.CmpNE: isa.CmpEQ, isa.CmpLT: isa.CmpGE, isa.CmpGE: isa.CmpLT, isa.CmpLE: isa.CmpGT, isa.CmpGT: isa.CmpLE}[c]
}

// twoPredicates lets a branch take both predicates whose AND nothing else reads: @P0 BRA P1, target. From Volta on.
func (f *fn) twoPredicates() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	uses := f.useCounts(n)
	defs := f.defSites(n)
	for _, b := range f.blocks {
		t := b.terminator()
		if t == nil || t.Op != isa.OpBRA || t.NSrc != 1 || t.Guard.Kind != isa.KindPred || t.Guard.Is(isa.Neg) || t.Guard.Reg < isa.VirtualBase {
			continue
		}
		id := n.of(isa.KindPred, t.Guard.Reg)
		if !defs[id].value() || defs[id].b != b || uses[id] != 1 {
			continue
		}
		at := int(defs[id].i)
		in := b.insts[at]
		if op, ok := predicateLogic(&in); !ok || op != isa.BoolAnd || in.Guard.Kind != isa.KindNone {
			continue
		}
		kept := true
		for i := at + 1; i < len(b.insts); i++ {
			f.defs(&b.insts[i], n, func(d int) {
				kept = kept && d != n.of(isa.KindPred, in.Src[0].Reg) && d != n.of(isa.KindPred, in.Src[1].Reg)
			})
		}
		if !kept {
			continue
		}
		t.Guard, t.NSrc, t.Src[0], t.Src[1] = in.Src[0], 2, in.Src[1], t.Src[0]
		b.insts = slices.Delete(b.insts, at, at+1)
	}
}
