package lower

import "github.com/sarchlab/smsim/isa"

// Simplifications of values that a predicate selects: tests of such values, and absolute values of absolute values.

// valueSite is the unguarded instruction that alone writes a register, whichever of its results the register is.
func (v *numberer) valueSite(kind isa.OperandKind, r isa.Reg) *isa.Inst {
	id := v.n.of(kind, r)
	if id < 0 || id >= len(v.defs) || !v.defs[id].value() || v.defs[id].b == nil || int(v.defs[id].i) >= len(v.defs[id].b.insts) {
		return nil
	}
	in := &v.defs[id].b.insts[v.defs[id].i]
	if in.Op == isa.OpNone || in.Guard.Kind != isa.KindNone {
		return nil
	}
	for k := range in.Dst[:in.NDst] {
		if in.Dst[k].Kind == kind && in.Dst[k].Reg == r {
			return in
		}
	}
	return nil
}

// choice is a word that has one of two values, as predicate p (without negation; none: both are the same) is true or not.
type choice struct {
	p        isa.Operand
	yes, not uint32
	by       *isa.Inst // the selection; nil: none
}

// chosen evaluates an operand that depends on constants and one predicate only.
func (v *numberer) chosen(o isa.Operand, depth int) (choice, bool) {
	if c, ok := constant(o); ok {
		return choice{yes: c, not: c}, true
	}
	flags := o.Flags &^ isa.Reuse
	o.Flags = 0
	d := v.definition(o)
	if d == nil || depth == 0 || flags&^(isa.Neg|isa.Inv) != 0 {
		return choice{}, false
	}
	c, ok := v.chosenBy(d, depth)
	for _, x := range []*uint32{&c.yes, &c.not} {
		if flags&isa.Neg != 0 {
			*x = -*x
		}
		if flags&isa.Inv != 0 {
			*x = ^*x
		}
	}
	return c, ok
}

// chosenBy evaluates an instruction whose result depends on constants and one predicate only.
func (v *numberer) chosenBy(d *isa.Inst, depth int) (choice, bool) {
	var src [3]choice
	words := 3
	switch {
	case d.Op == isa.OpSEL && d.Mod.Flags == 0, d.Op == isa.OpIADD && d.Mod.Flags == 0:
		words = 2
	case d.Op == isa.OpIADD3 && d.Mod.Flags == 0 && plainPreds(d), d.Op == isa.OpLOP3 && plainPreds(d), d.Op == isa.OpPRMT && d.Mod.Sub == isa.SubNone, d.Op == isa.OpSHF,
		d.Op == isa.OpIMAD && d.Mod.Flags == 0 && d.NSrc == 3 && plainPreds(d) && v.f.t.SM >= 70:
	default:
		return choice{}, false
	}
	var c choice
	for k := range words {
		s, ok := v.chosen(d.Src[k], depth-1)
		if !ok || s.p.Kind != isa.KindNone && c.p.Kind != isa.KindNone && s.p != c.p {
			return choice{}, false
		}
		if src[k] = s; s.p.Kind != isa.KindNone {
			c.p, c.by = s.p, s.by
		}
	}
	apply := func(a [3]uint32) uint32 {
		switch d.Op {
		case isa.OpIADD3:
			return a[0] + a[1] + a[2]
		case isa.OpIADD:
			return a[0] + a[1]
		case isa.OpIMAD:
			return a[0]*a[1] + a[2]
		case isa.OpLOP3:
			return lutEval(d.Mod.Lut, a[0], a[1], a[2])
		case isa.OpPRMT:
			return permute(a[0], a[2], a[1])
		}
		if d.Mod.Type == isa.S32 {
			return uint32(int32(a[2]) >> min(a[1], 31))
		}
		return shiftRight(a[2], a[1])
	}
	switch d.Op {
	case isa.OpSEL:
		p := d.Src[2]
		if c.p.Kind != isa.KindNone || p.Kind != isa.KindPred || p.Reg < isa.VirtualBase || !v.stable(&p) {
			return choice{}, false
		}
		c = choice{p: isa.P(p.Reg), yes: src[0].yes, not: src[1].yes, by: d}
		if p.Is(isa.Neg) {
			c.yes, c.not = c.not, c.yes
		}
	case isa.OpSHF:
		if isShiftLeft(d) && isZero(d.Src[2]) {
			c.yes, c.not = src[0].yes<<src[1].yes, src[0].not<<src[1].not
			break
		}
		if d.Mod.Has(isa.ModLeft|isa.ModWrap) || d.Mod.Flags&(isa.ModLeft|isa.ModWrap) != 0 || !d.Mod.Has(isa.ModHI) || d.Mod.Type != isa.S32 && d.Mod.Type != isa.U32 {
			return choice{}, false
		}
		fallthrough
	default:
		c.yes, c.not = apply([3]uint32{src[0].yes, src[1].yes, src[2].yes}), apply([3]uint32{src[0].not, src[1].not, src[2].not})
	}
	return c, true
}

// selectAlgebra makes a mask, shift or product of a word that a predicate selects from constants a selection of its own: two for
// one, shifted left. ptxas does that between statements too.
func (v *numberer) selectAlgebra(in *isa.Inst) {
	if in.Guard.Kind != isa.KindNone {
		return
	}
	direct := false
	for _, o := range in.Src[:3] { // of the selection itself
		d := v.definition(o)
		direct = direct || d != nil && d.Op == isa.OpSEL
	}
	if !direct {
		return
	}
	c, ok := v.chosenBy(in, bitDepth)
	if !ok || c.by == nil || sameExpansion(c.by, in) || (c.yes == 0) == (c.not == 0) {
		return
	}
	p, word := c.p, c.not
	if c.not == 0 {
		p.Flags ^= isa.Neg
		word = c.yes
	}
	in.Op, in.Mod, in.NDst, in.NSrc = isa.OpSEL, isa.Mod{}, 1, 3
	in.PC |= 1 << 31 // no part of the expansion any more: what reads it there is made a selection too
	in.Dst[1], in.Dst[2] = isa.Operand{}, isa.Operand{}
	in.Src = [isa.MaxSrc]isa.Operand{rz, imm(word), p}
}

// sameExpansion says that two instructions come from one expansion of a statement: unrolling counts the rounds in PC.
func sameExpansion(a, b *isa.Inst) bool { return a.Pos == b.Pos && a.PC == b.PC }

// testAlgebra replaces the comparison of such a word with a constant by its predicate, the complement or a constant. ptxas
// does that between statements, before it expands them: what one expansion selects and tests stays.
func (v *numberer) testAlgebra(in *isa.Inst) {
	if in.Op != isa.OpISETP || in.Guard.Kind != isa.KindNone || in.Mod.Flags&^isa.ModEX != 0 || in.Mod.Type != isa.U32 && in.Mod.Type != isa.S32 ||
		in.NDst != 2 || in.Dst[1] != pt || in.Src[2] != pt || in.Mod.Bool != isa.BoolAnd || in.Dst[0].Reg < isa.VirtualBase {
		return
	}
	if v.eitherChosen(in) {
		return
	}
	a, okA := v.chosen(in.Src[0], bitDepth)
	b, okB := v.chosen(in.Src[1], bitDepth)
	if a.by != nil && sameExpansion(a.by, in) || b.by != nil && sameExpansion(b.by, in) {
		return
	}
	if !okA || !okB || a.p.Kind != isa.KindNone && b.p.Kind != isa.KindNone && a.p != b.p {
		return
	}
	p := a.p
	if p.Kind == isa.KindNone {
		p = b.p
	}
	yes, not := compares(in.Mod.Cmp, in.Mod.Type, a.yes, b.yes), compares(in.Mod.Cmp, in.Mod.Type, a.not, b.not)
	if in.Mod.Has(isa.ModEX) { // equal words of 64 bits: the low ones were compared before
		low := in.Src[3]
		if in.Mod.Cmp != isa.CmpEQ || low.Kind != isa.KindPred {
			return
		}
		if id := v.n.of(isa.KindPred, low.Reg); id >= 0 && id < len(v.defs) && v.defs[id].value() && v.defs[id].b != nil && int(v.defs[id].i) < len(v.defs[id].b.insts) {
			// Of one expansion: the high words of a 64-bit comparison are compared even where both are zero.
			if d := &v.defs[id].b.insts[v.defs[id].i]; d.Op == isa.OpISETP && sameExpansion(d, in) {
				return
			}
		}
		was := !low.Is(isa.Neg)
		switch {
		case low.Reg == isa.PT:
			yes, not = yes && was, not && was
		case low.Reg < isa.VirtualBase || p.Kind != isa.KindNone && low.Reg != p.Reg || !v.stable(&low):
			return
		default:
			p = isa.P(low.Reg)
			yes, not = yes && was, not && !was
		}
	}
	from := p
	switch {
	case yes && not:
		from = pt
	case !yes && !not:
		from = notPT
	case not:
		from.Flags |= isa.Neg
	}
	d := in.Dst[0]
	*in = isa.Inst{Op: isa.OpPLOP3, Mod: isa.Mod{Lut: 0xf0, Lut2: 0x0f}, NDst: 2, NSrc: 3, Pos: in.Pos, PC: in.PC}
	in.Dst[0], in.Dst[1] = d, pt
	in.Src = [isa.MaxSrc]isa.Operand{from, pt, pt}
}

// negative is the word whose sign the predicate is.
func (v *numberer) negative(p isa.Operand) (hi isa.Operand, ok bool) {
	if p.Kind != isa.KindPred || p.Is(isa.Neg) || p.Reg < isa.VirtualBase {
		return hi, false
	}
	t := v.valueSite(isa.KindPred, p.Reg)
	if t == nil || t.Op != isa.OpISETP || t.Mod.Cmp != isa.CmpLT || t.Mod.Type != isa.S32 || t.Mod.Flags != 0 || t.Src[2] != pt || t.Mod.Bool != isa.BoolAnd || !isZero(t.Src[1]) || t.Dst[0].Reg != p.Reg {
		return hi, false
	}
	return t.Src[0], true
}

// negatedWord is the pair that a word of a 64-bit negation negates, and whether the word is the high one.
func (v *numberer) negatedWord(word isa.Operand) (of pairTerm, high, ok bool) {
	if word.Kind != isa.KindReg || word.Flags != 0 || word.Reg < isa.VirtualBase {
		return of, false, false
	}
	m := v.valueSite(isa.KindReg, word.Reg)
	if m == nil || !isAdd64(m) {
		return of, false, false
	}
	t, ok := negatedPair(m)
	return t, m.Dst[1].Reg == word.Reg, ok
}

// wideAbsAlgebra: a word of the absolute value of a 64-bit absolute value is that word.
func (v *numberer) wideAbsAlgebra(in *isa.Inst) {
	outer, high, ok := v.absWord(in)
	if !ok {
		return
	}
	lo, hi := v.definition(outer.lo), v.definition(outer.hi)
	if lo == nil || hi == nil {
		return
	}
	a, first, ok1 := v.absWord(lo)
	b, second, ok2 := v.absWord(hi)
	if !ok1 || !ok2 || a != b || first || !second || lo.Src[2] != hi.Src[2] {
		return
	}
	for _, o := range []isa.Operand{a.lo, a.hi} { // all that reads them saw the same
		id := v.n.of(isa.KindReg, o.Reg)
		if id < 0 || id >= len(v.defs) || !v.defs[id].value() && (v.position[id] >= 0 || v.position[v.n.of(isa.KindReg, lo.Dst[0].Reg)] < 0) {
			return
		}
	}
	if high {
		toMov(in, outer.hi)
	} else {
		toMov(in, outer.lo)
	}
}

// absWord says of which pair the instruction chooses a word of the absolute value, and whether that is the high word.
func (v *numberer) absWord(in *isa.Inst) (of pairTerm, high, ok bool) {
	if in.Op != isa.OpSEL || in.Mod.Flags != 0 {
		return of, false, false
	}
	of, high, ok = v.negatedWord(in.Src[0])
	if !ok {
		return of, high, false
	}
	sign, ok := v.negative(in.Src[2])
	own := of.lo
	if high {
		own = of.hi
	}
	return of, high, ok && sign == of.hi && in.Src[1] == own
}

// eitherChosen replaces the test whether the OR of two words is zero, each of which a predicate selects from zero and another constant,
// by the OR of the predicates: truth values that went through words, as compilers before LLVM left them.
func (v *numberer) eitherChosen(in *isa.Inst) bool {
	d := v.definition(in.Src[0])
	if v.f.t.SM < 70 || in.Mod.Flags != 0 || in.Mod.Cmp != isa.CmpEQ && in.Mod.Cmp != isa.CmpNE || !isZero(in.Src[1]) || d == nil || d.Op != isa.OpLOP3 || sameExpansion(d, in) ||
		d.Mod.Lut != 0xfc || !isZero(d.Src[2]) || !plainPreds(d) || d.NSrc > 3 && d.Src[3].Kind != isa.KindNone && d.Src[3] != pt && d.Src[3] != notPT {
		return false
	}
	var from [2]isa.Operand
	for k := range from {
		c, ok := v.chosen(d.Src[k], bitDepth)
		if !ok || c.p.Kind == isa.KindNone || (c.yes == 0) == (c.not == 0) || sameExpansion(c.by, in) {
			return false
		}
		if from[k] = c.p; c.yes == 0 {
			from[k].Flags ^= isa.Neg
		}
	}
	dst, lut := in.Dst[0], uint8(0xfc)
	if in.Mod.Cmp == isa.CmpEQ {
		lut = 0xc0 // neither
		from[0].Flags ^= isa.Neg
		from[1].Flags ^= isa.Neg
	}
	*in = isa.Inst{Op: isa.OpPLOP3, Mod: isa.Mod{Lut: lut, Lut2: ^lut}, NDst: 2, NSrc: 3, Pos: in.Pos, PC: in.PC}
	in.Dst[0], in.Dst[1] = dst, pt
	in.Src = [isa.MaxSrc]isa.Operand{from[0], from[1], pt}
	return true
}
