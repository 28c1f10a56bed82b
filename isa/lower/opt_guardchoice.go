package lower

import "github.com/sarchlab/smsim/isa"

// choice is a selection between two sums (selectSums): the first, and the second where the predicate is false. In a predicated block the
// second executes under both predicates, and the result is copied under the block's.
func (g *selectGuard) choice(b *block, in *isa.Inst) []isa.Inst {
	d := in.Dst[0]
	id := g.n.of(isa.KindReg, d.Reg)
	plain := in.Guard.Kind == isa.KindNone && id >= 0 && id < len(g.defs) && g.defs[id].value()
	if !plain {
		d = isa.R(g.f.newReg())
	}
	first, second := g.arm(b, in, in.Src[0], d), g.arm(b, in, in.Src[1], d)
	second.Guard = in.Src[2]
	second.Guard.Flags ^= isa.Neg
	list := []isa.Inst{first}
	if in.Guard.Kind != isa.KindNone {
		list, second.Guard = g.both(list, b, in, second.Guard)
	}
	list = append(list, second)
	if !plain {
		list = append(list, copyTo(in, in.Dst[0], d))
	}
	return list
}

// arm makes one side of the choice in d, for all threads: the sum itself where only the choice reads it.
func (g *selectGuard) arm(b *block, in *isa.Inst, o, d isa.Operand) isa.Inst {
	move := copyTo(in, d, o)
	move.Guard = isa.Operand{}
	op := g.own(b, isa.KindReg, o.Reg, in.Guard)
	if o.Kind != isa.KindReg || op == nil || op.Op != isa.OpIADD3 && op.Op != isa.OpVIADD || !movable(op, in.Guard) {
		return move
	}
	sum := *op
	sum.Dst[0], sum.Guard = d, isa.Operand{}
	dead(op)
	return sum
}

// own is the instruction of the block that alone makes a register, under the guard, that one instruction reads once, and whose
// sources are still the same; nil: there is none.
func (g *selectGuard) own(b *block, kind isa.OperandKind, r isa.Reg, guard isa.Operand) *isa.Inst {
	if r < isa.VirtualBase {
		return nil
	}
	id := g.n.of(kind, r)
	if id < 0 || id >= len(g.defs) || g.defs[id].n != 1 || g.defs[id].b != b || g.uses[id] != 1 {
		return nil
	}
	at := g.defs[id].i
	op := &b.insts[at]
	if op.Op == isa.OpNone || op.Guard != guard || g.written[id] != at+1 || !g.unchanged(op, at) {
		return nil
	}
	return op
}

// both appends what makes a predicate that is true where the block's and p are: a comparison that
// nothing else reads takes the block's predicate in.
func (g *selectGuard) both(list []isa.Inst, b *block, in *isa.Inst, p isa.Operand) ([]isa.Inst, isa.Operand) {
	q := isa.P(g.f.newPred())
	test := g.own(b, isa.KindPred, p.Reg, in.Guard)
	if test == nil {
		test = g.own(b, isa.KindPred, p.Reg, isa.Operand{})
	}
	if test != nil && test.Op == isa.OpISETP && test.Dst[0] == isa.P(p.Reg) && test.Dst[1] == pt &&
		test.Src[2] == pt && test.Mod.Bool == isa.BoolAnd && !test.Mod.Has(isa.ModEX) {
		t := *test
		t.Dst[0], t.Src[2], t.Guard = q, in.Guard, isa.Operand{}
		if p.Is(isa.Neg) {
			t.Mod.Cmp = inverseCompare(t.Mod.Cmp)
		}
		dead(test)
		return append(list, t), q
	}
	none := isa.Inst{Op: isa.OpPLOP3, Mod: isa.Mod{Lut: 0xf0, Lut2: 0x0f}, NDst: 2, NSrc: 3, Pos: in.Pos, PC: in.PC, Ctrl: in.Ctrl}
	none.Dst[0], none.Dst[1] = q, pt
	none.Src[0], none.Src[1], none.Src[2] = notPT, pt, pt
	some := none
	some.Src[0], some.Guard = p, in.Guard
	return append(list, none, some), q
}
