package lower

import "github.com/sarchlab/smsim/isa"

// literal is a constant as a counter's value.
func (c *countedLoop) literal(v int64) pairTerm {
	if c.wide {
		return constantPair(v)
	}
	return pairTerm{immWord(uint32(v)), rz}
}

// compare appends a comparison of counters, signed where t is S32, and gives its result.
func (c *countedLoop) compare(b *block, t isa.Type, cmp isa.Cmp, x, y pairTerm) isa.Operand {
	return c.compareAlso(b, t, cmp, x, y, pt)
}

// compareAlso is compare together with another predicate.
func (c *countedLoop) compareAlso(b *block, t isa.Type, cmp isa.Cmp, x, y pairTerm, also isa.Operand) isa.Operand {
	p := isa.P(c.f.newPred())
	c.compareWith(b, isa.Mod{Type: t, Cmp: cmp, Bool: isa.BoolAnd}, p, x, y, also)
	return p
}

// compareWith appends a comparison of counters into a predicate.
func (c *countedLoop) compareWith(b *block, mod isa.Mod, to isa.Operand, x, y pairTerm, with isa.Operand) {
	add := func(mod isa.Mod, to isa.Operand, src ...isa.Operand) {
		in := isa.Inst{Op: isa.OpISETP, Mod: mod, NDst: 2, NSrc: uint8(len(src)), Pos: c.testPos()}
		in.Dst[0], in.Dst[1] = to, pt
		copy(in.Src[:], src)
		b.insts = append(b.insts, in)
	}
	switch {
	case !c.wide:
		add(mod, to, x.lo, y.lo, with)
	case c.f.t.SM >= 120:
		mod.Type = map[isa.Type]isa.Type{isa.U32: isa.U64, isa.S32: isa.S64}[mod.Type]
		x, _ := c.f.pairOperand(x)
		y, _ := c.f.pairOperand(y)
		add(mod, to, x, y, with)
	default:
		low := isa.P(c.f.newPred())
		add(isa.Mod{Type: isa.U32, Cmp: mod.Cmp, Bool: isa.BoolAnd}, low, x.lo, y.lo, pt)
		mod.Flags |= isa.ModEX
		add(mod, to, x.hi, y.hi, with, low)
	}
}

// difference appends x - y.
func (c *countedLoop) difference(b *block, x, y pairTerm) pairTerm {
	if v, ok := y.constant64(); ok {
		y = c.literal(-v)
	} else {
		y.lo.Flags ^= isa.Neg
		y.hi.Flags ^= isa.Neg
	}
	in := isa.Inst{Op: isa.OpIADD3, NDst: 1, NSrc: 3, Pos: c.testPos()}
	in.Dst[0] = isa.R(c.f.newReg())
	in.Src = [isa.MaxSrc]isa.Operand{x.lo, y.lo, rz}
	d := pairTerm{in.Dst[0], rz}
	if c.wide {
		d = pairTerm{in.Dst[0], isa.R(c.f.newReg())}
		c.f.setTuple([]isa.Reg{d.lo.Reg, d.hi.Reg})
		in.Mod.Flags, in.NDst, in.NSrc, in.Dst[1] = isa.ModWide, 2, 6, d.hi
		setPairTerms(&in, []pairTerm{x, y})
	}
	fillLayout(&in)
	b.insts = append(b.insts, in)
	return d
}

// beyond is how far the bound must be away, in units of the counter, so that more rounds than the given number follow.
func (c *countedLoop) beyond(rounds uint32) int64 {
	v := int64(rounds * c.step)
	if c.cmp == isa.CmpLE || c.cmp == isa.CmpGE {
		v--
	}
	return v
}

// left appends the test of whether more rounds than the given number are left. The distance to the bound is exact as an unsigned
// number where the counter has not reached the bound, and as a signed one where nothing overflows: from zero on, or down to zero. A
// loop that runs until the counter equals the bound takes the distance as it is, but goes on with four rounds at a time only
// where signed comparisons with the bound less some rounds hold.
func (c *countedLoop) left(b *block, rounds uint32) isa.Operand {
	most := c.literal(c.beyond(rounds))
	if c.down && isZero(c.bound.lo) && isZero(c.bound.hi) && c.signed() == isa.S32 {
		return c.compare(b, isa.S32, isa.CmpGT, c.counter, most)
	}
	x, y := c.bound, c.counter
	if c.down {
		x, y = y, x
	}
	bound, literal := c.bound.constant64()
	if !c.wide {
		bound = int64(int32(bound))
	}
	switch {
	case c.cmp == isa.CmpNE && c.typ == isa.U32 && rounds == unrollFactor-1 && !c.fromNil && !(literal && bound >= 0):
		within := c.compare(b, isa.S32, c.further(), c.counter, c.bound)
		return c.compareAlso(b, isa.S32, isa.CmpGT, c.difference(b, x, y), most, within)
	case c.cmp == isa.CmpNE || c.signed() == isa.S32 && c.fromNil:
		return c.compare(b, isa.S32, isa.CmpGT, c.difference(b, x, y), most)
	}
	within := c.compare(b, c.typ, c.cmp, c.counter, c.bound)
	return c.compareAlso(b, isa.U32, isa.CmpGT, c.difference(b, x, y), most, within)
}

// limit appends what the counter is compared with after four rounds.
func (c *countedLoop) limit(b *block) pairTerm {
	v := c.beyond(unrollFactor - 1)
	if c.down {
		v = -v
	}
	if w, ok := c.bound.constant64(); ok {
		return c.literal(w - v)
	}
	return c.difference(b, c.bound, c.literal(v))
}

// pairWords are the words of a 64-bit operand.
func (f *fn) pairWords(o isa.Operand) (pairTerm, bool) {
	switch {
	case isZero(o):
		return pairTerm{rz, rz}, true
	case o.Kind == isa.KindImm && o.Flags&^isa.Wide64 == 0:
		return constantPair(o.Imm), true
	case o.Flags&^isa.Wide64 != flagPair:
		return pairTerm{}, false
	case o.Kind == isa.KindConst:
		o.Flags = 0
		hi := o
		hi.Imm += 4
		return pairTerm{o, hi}, true
	case o.Kind == isa.KindReg && len(f.tuples[o.Reg]) == 2:
		t := f.tuples[o.Reg]
		return pairTerm{isa.R(t[0]), isa.R(t[1])}, true
	}
	return pairTerm{}, false
}

// pairOperand is a 64-bit number as one operand; ok is false if its words are no pair.
func (f *fn) pairOperand(t pairTerm) (o isa.Operand, ok bool) {
	if v, ok := t.constant64(); ok {
		return immWide(uint32(v)), v == int64(int32(v))
	}
	if t.lo.Kind == isa.KindConst && consecutiveConst([]word{t.lo, t.hi}) {
		t.lo.Flags |= flagPair | isa.Wide64
		return t.lo, true
	}
	regs, ok := f.tupleOf([]word{t.lo, t.hi})
	if !ok {
		return o, false
	}
	return tupleOperand(regs), true
}
