package lower

import "github.com/sarchlab/smsim/isa"

// contractProducts adds a 64-bit addend inside the IMAD.WIDE of a 64-bit product instead of after it, as ptxas does from Volta on for
// x * K + C of a linear congruential generator: the high word's cross products are added last, and no carry is needed.
func (f *fn) contractProducts() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	p := &contraction{f: f, n: n, defs: f.defSites(n), uses: f.useCounts(n)}
	for _, b := range f.blocks {
		var out []isa.Inst
		done := 0
		for i := range b.insts {
			if code, ok := p.contract(b, i); ok {
				out = append(append(out, b.insts[done:i]...), code...)
				done = i + 1
			}
		}
		if done > 0 {
			b.insts = append(out, b.insts[done:]...)
		}
	}
	// Products that were taken are dead now: nobody reads them.
	f.removeDead()
}

type contraction struct {
	f    *fn
	n    numbering
	defs []defSite
	uses []int32
}

// contract gives the code for a 64-bit addition of a 64-bit product that nobody else reads.
func (p *contraction) contract(b *block, at int) ([]isa.Inst, bool) {
	in := &b.insts[at]
	if !isAdd64(in) || in.Guard.Kind != isa.KindNone || in.Dst[0].Kind != isa.KindReg || in.Dst[1].Kind != isa.KindReg {
		return nil, false
	}
	t := pairTerms(in)
	if len(t) != 2 {
		return nil, false
	}
	for k := range t {
		other := t[1-k]
		if other.lo.Flags != 0 || other.hi.Flags != 0 || other.lo.Kind == isa.KindConst || other.hi.Kind == isa.KindConst {
			continue
		}
		if w, cross, ok := p.product(b, at, t[k]); ok {
			return p.code(in, w, cross, other), true
		}
	}
	return nil, false
}

// product recognises a 64-bit product: the wide product of the low words, whose upper word has the cross products added. Its factors
// still have their values at place at of the block.
func (p *contraction) product(b *block, at int, t pairTerm) (w *isa.Inst, cross isa.Operand, ok bool) {
	w, sum := p.maker(b, t.lo), p.maker(b, t.hi)
	if w != nil && w == sum {
		return w, rz, p.widening(b, at, t, w)
	}
	if w == nil || sum == nil || w.Op != isa.OpIMAD || w.Mod.Flags != isa.ModWide || w.Mod.Type != isa.U32 || !isZero(w.Src[2]) || w.NDst > 1 && w.Dst[1] != pt ||
		sum.Op != isa.OpIADD3 || sum.Mod.Flags&^modKeep != 0 || !plainPreds(sum) {
		return nil, cross, false
	}
	regs := p.f.tuples[w.Dst[0].Reg]
	terms := terms(sum, 3)
	if len(regs) != 2 || regs[0] != t.lo.Reg || len(terms) != 2 {
		return nil, cross, false
	}
	for k, o := range terms {
		if o.Kind == isa.KindReg && o.Flags == 0 && o.Reg == regs[1] && p.uses[p.n.of(isa.KindReg, o.Reg)] == 1 {
			cross, ok = terms[1-k], true
		}
	}
	if ok && !(p.once(t.lo) && p.once(t.hi)) && !p.zero(cross) { // the product stays for others: one instruction is gained in any case
		return nil, cross, false
	}
	from := int(p.defs[p.n.of(isa.KindReg, t.lo.Reg)].i)
	for _, o := range [...]isa.Operand{w.Src[0], w.Src[1], cross} {
		ok = ok && p.kept(b, from, at, o)
	}
	return w, cross, ok
}

// widening recognises the product of two words.
func (p *contraction) widening(b *block, at int, t pairTerm, w *isa.Inst) bool {
	if w.Op != isa.OpIMAD || w.Mod.Flags != isa.ModWide || !isZero(w.Src[2]) || w.NDst > 1 && w.Dst[1] != pt || w.Guard.Kind != isa.KindNone || !p.f.definesPair(w, t.lo.Reg, t.hi.Reg) {
		return false
	}
	from := int(p.defs[p.n.of(isa.KindReg, t.lo.Reg)].i)
	return p.kept(b, from, at, w.Src[0]) && p.kept(b, from, at, w.Src[1])
}

// maker is the instruction of the block that defines a word, nil otherwise.
func (p *contraction) maker(b *block, o isa.Operand) *isa.Inst {
	if o.Kind != isa.KindReg || o.Flags != 0 || o.Reg < isa.VirtualBase {
		return nil
	}
	id := p.n.of(isa.KindReg, o.Reg)
	if id >= len(p.defs) || !p.defs[id].value() || p.defs[id].b != b {
		return nil
	}
	return &b.insts[p.defs[id].i]
}

// once says that the word is read once.
func (p *contraction) once(o isa.Operand) bool { return p.uses[p.n.of(isa.KindReg, o.Reg)] == 1 }

// zero says that the word is the zero of cross products.
func (p *contraction) zero(o isa.Operand) bool {
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase {
		return isZero(o)
	}
	d := &p.defs[p.n.of(isa.KindReg, o.Reg)]
	return d.value() && isCross(&d.b.insts[d.i])
}

// kept says that the operand has the same value at two places of the block.
func (p *contraction) kept(b *block, from, to int, o isa.Operand) bool {
	switch o.Kind {
	case isa.KindImm:
		return true
	case isa.KindConst:
		return o.Reg == isa.RZ
	case isa.KindReg:
		if o.Reg < isa.VirtualBase {
			return o.Reg == isa.RZ
		}
		id, same := p.n.of(isa.KindReg, o.Reg), true
		if id < len(p.defs) && p.defs[id].value() {
			return true
		}
		for i := from; i < to; i++ {
			p.f.defs(&b.insts[i], p.n, func(d int) { same = same && d != id })
		}
		return same
	}
	return false
}

// code is the wide product with the addend, and the addition of the cross products to its upper word.
func (p *contraction) code(in, w *isa.Inst, cross isa.Operand, addend pairTerm) []isa.Inst {
	f := p.f
	var code []isa.Inst
	move := func(d, s isa.Operand) {
		m := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: in.Pos}
		m.Dst[0], m.Src[0] = d, s
		code = append(code, m)
	}
	pairOf := func() []isa.Reg {
		regs := []isa.Reg{f.newReg(), f.newReg()}
		f.setTuple(regs)
		return regs
	}
	from, ok := f.tupleOf([]word{addend.lo, addend.hi})
	if !ok {
		from = pairOf()
		move(isa.R(from[0]), addend.lo)
		move(isa.R(from[1]), addend.hi)
	}
	if isZero(cross) {
		if to, ok := f.tupleOf([]word{in.Dst[0], in.Dst[1]}); ok {
			m := *w
			m.Pos, m.Dst[0], m.Src[2] = in.Pos, tupleOperand(to), tupleOperand(from)
			return append(code, m)
		}
	}
	to := pairOf()
	m := *w
	m.Pos, m.Dst[0], m.Src[2] = in.Pos, tupleOperand(to), tupleOperand(from)
	if isZero(cross) {
		code = append(code, m)
		move(in.Dst[1], isa.R(to[1]))
		move(in.Dst[0], isa.R(to[0]))
		return code
	}
	sum := isa.Inst{Op: isa.OpIADD3, NDst: 1, NSrc: 3, Pos: in.Pos}
	sum.Dst[0], sum.Src[0], sum.Src[1], sum.Src[2] = in.Dst[1], isa.R(to[1]), cross, rz
	fillLayout(&sum)
	code = append(code, m, sum)
	move(in.Dst[0], isa.R(to[0]))
	return code
}
