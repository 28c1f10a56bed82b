package lower

import "github.com/sarchlab/smsim/isa"

// inPlacePair is, on compute capability 12, the selection between a 64-bit number and what an addition makes of it, two SEL in a row:
// the addition becomes a guarded one (IADD.64) where nothing else reads its result and the number is read last; not within one statement,
// such as a division.
func (g *selectGuard) inPlacePair(b *block, i int) []isa.Inst {
	if g.f.t.SM < 120 || i+1 >= len(b.insts) {
		return nil
	}
	lo, hi := &b.insts[i], &b.insts[i+1]
	if !plainSelect(lo) || !plainSelect(hi) || lo.Src[2] != hi.Src[2] || hi.Src[0] == lo.Dst[0] || hi.Src[1] == lo.Dst[0] {
		return nil
	}
	for arm := range 2 {
		x := [2]isa.Operand{lo.Src[arm], hi.Src[arm]}
		y := [2]isa.Operand{lo.Src[1-arm], hi.Src[1-arm]}
		op := g.single(b, x[0], 1)
		if op == nil || op != g.single(b, x[1], 1) || !isAdd64(op) || sameExpansion(op, lo) || op.Guard.Kind != isa.KindNone || op.Dst[0] != x[0] || op.Dst[1] != x[1] ||
			!isZero(op.Src[2]) || !isZero(op.Src[5]) || y[0].Flags != 0 || y[1].Flags != 0 || !g.last(b, y[0], i+1) || !g.last(b, y[1], i+1) ||
			!g.unchanged(op, g.defs[g.n.of(isa.KindReg, x[0].Reg)].i) {
			continue
		}
		for k := range 2 {
			if op.Src[k] != y[0] || op.Src[3+k] != y[1] || names(op.Src[1-k], y) || names(op.Src[4-k], y) {
				continue
			}
			sum := *op
			sum.Dst[0], sum.Dst[1] = lo.Dst[0], hi.Dst[0]
			sum.Src[k], sum.Src[3+k] = lo.Dst[0], hi.Dst[0]
			sum.Guard = lo.Src[2]
			if arm == 1 {
				sum.Guard.Flags ^= isa.Neg
			}
			if names(op.Src[1-k], [2]isa.Operand{lo.Dst[0], hi.Dst[0]}) || names(op.Src[4-k], [2]isa.Operand{lo.Dst[0], hi.Dst[0]}) {
				break // the copies would come before what reads the destination
			}
			dead(op)
			return []isa.Inst{copyTo(lo, lo.Dst[0], y[0]), copyTo(hi, hi.Dst[0], y[1]), sum}
		}
	}
	return nil
}

// names says that an operand is one of two registers.
func names(o isa.Operand, of [2]isa.Operand) bool {
	return o.Kind == isa.KindReg && (o.Reg == of[0].Reg || o.Reg == of[1].Reg)
}
