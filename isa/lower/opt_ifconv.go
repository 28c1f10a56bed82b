package lower

import "github.com/sarchlab/smsim/isa"

// Limits of predication, in instructions of one side: what the compiler predicates instead of branching around.
const maxPredicated = 7

// ifConvert replaces short branches by predication, and branches to a lone EXIT by a predicated EXIT.
func (f *fn) ifConvert() {
	for round := 0; round < 8; round++ {
		changed := false
		f.edges()
		for i := 0; i < len(f.blocks); i++ {
			b := f.blocks[i]
			t := b.terminator()
			if t == nil || t.Op != isa.OpBRA || t.Guard.Kind != isa.KindPred || i+1 >= len(f.blocks) {
				continue
			}
			next := f.blocks[i+1]
			switch {
			case lonelyExit(b.to):
				t.Op, t.NSrc, t.Mod = isa.OpEXIT, 0, isa.Mod{}
				t.Src[0] = isa.Operand{}
				b.to = nil
				changed = true
			case len(next.preds) == 1 && len(next.succs) == 1 && next.succs[0] == b.to && next.to == nil && f.predicable(next, t.Guard):
				// if without else
				g := t.Guard
				g.Flags ^= isa.Neg
				guardAll(next, g)
				b.insts = b.insts[:len(b.insts)-1]
				b.to = nil
				changed = true
			case i+2 < len(f.blocks) && f.blocks[i+2] == b.to && len(next.preds) == 1 && len(b.to.preds) == 1 && len(next.succs) == 1 && len(b.to.succs) == 1 &&
				next.succs[0] == b.to.succs[0] && b.to.to == nil && next.to != nil && f.predicable(next, t.Guard) && f.predicable(b.to, t.Guard):
				g := t.Guard
				other := b.to
				guardAll(other, g)
				g.Flags ^= isa.Neg
				next.insts = next.insts[:len(next.insts)-1]
				next.to = nil
				guardAll(next, g)
				b.insts = b.insts[:len(b.insts)-1]
				b.to = nil
				changed = true
			}
			if changed {
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

func lonelyExit(b *block) bool {
	return b != nil && len(b.insts) == 1 && b.insts[0].Op == isa.OpEXIT && b.insts[0].Guard.Kind == isa.KindNone
}

// predicable says that the block's instructions can run under predicate g instead of behind a branch.
func (f *fn) predicable(b *block, g isa.Operand) bool {
	n := 0
	for i := range b.insts {
		in := &b.insts[i]
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
		n++
		if isAdd64(in) || isLea64(in) {
			n++
		}
	}
	return n > 0 && n <= maxPredicated
}

func guardAll(b *block, g isa.Operand) {
	for i := range b.insts {
		b.insts[i].Guard = g
	}
}
