package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// contractProducts adds a 64-bit addend inside the IMAD.WIDE of a product instead of after it, as ptxas does from Volta on, also where
// the addend has to be copied to a pair of registers first. Of a 64-bit product (x * K + C of a linear congruential generator) the
// high word's cross products are added last, and no carry is needed.
func (f *fn) contractProducts() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	p := &contraction{f: f, n: n, defs: f.defSites(n), uses: f.useCounts(n), pairs: map[pairTerm]isa.Operand{}, ends: map[*block][]isa.Inst{}}
	for _, b := range f.blocks {
		var out []isa.Inst
		done := 0
		for i := range b.insts {
			code, ok := p.contract(b, i)
			if !ok {
				code, ok = p.contractHigh(b, i)
			}
			if ok {
				out = append(append(out, b.insts[done:i]...), code...)
				done = i + 1
			}
		}
		if done > 0 {
			b.insts = append(out, b.insts[done:]...)
		}
	}
	for _, b := range f.blocks {
		at := len(b.insts)
		if at > 0 && (b.terminator() != nil || b.insts[at-1].Op == isa.OpCALL) {
			at--
		}
		b.insts = slices.Insert(b.insts, at, p.ends[b]...)
	}
	// Products that were taken are dead now: nobody reads them.
	f.removeDead()
}

type contraction struct {
	f     *fn
	n     numbering
	defs  []defSite
	uses  []int32
	pairs map[pairTerm]isa.Operand // what was widened in another block, once for all products
	ends  map[*block][]isa.Inst    // what makes these pairs, at the end of a block
}

// widened is the pair of an addend that another block widened, where its upper word is a constant.
func (p *contraction) widened(b *block, t pairTerm) (isa.Operand, bool) {
	if _, known := constant(t.hi); !known || t.lo.Kind != isa.KindReg || t.lo.Reg < isa.VirtualBase {
		return isa.Operand{}, false
	}
	id := p.n.of(isa.KindReg, t.lo.Reg)
	if id >= len(p.defs) || !p.defs[id].value() || p.defs[id].b == b {
		return isa.Operand{}, false
	}
	if have, ok := p.pairs[t]; ok {
		return have, true
	}
	f, home := p.f, p.defs[id].b
	move := func(d isa.Reg, s isa.Operand) {
		m := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: home.insts[len(home.insts)-1].Pos}
		m.Dst[0], m.Src[0] = isa.R(d), s
		p.ends[home] = append(p.ends[home], m)
	}
	hi := isa.R(f.newReg())
	regs, ok := f.tupleOf([]word{t.lo, hi})
	if !ok {
		regs = []isa.Reg{f.newReg(), hi.Reg}
		f.setTuple(regs)
		move(regs[0], t.lo)
	}
	move(regs[1], t.hi)
	p.pairs[t] = tupleOperand(regs)
	return p.pairs[t], true
}

// contract gives the code for a 64-bit addition of a 64-bit product. A product that others read too stays for them: one instruction
// instead of two is gained in any case.
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
		if other.lo.Flags != 0 || other.hi.Flags != 0 {
			continue
		}
		w, cross, keep, ok := p.product(b, at, t[k])
		if !ok || isZero(cross) && other.lo.Kind == isa.KindConst { // bases of addresses: see wideProduct
			continue
		}
		return p.code(b, in, w, cross, keep, other), true
	}
	return nil, false
}

// product recognises a 64-bit product: the wide product of the low words, whose upper word has the cross products added. Its factors
// still have their values at place at of the block.
func (p *contraction) product(b *block, at int, t pairTerm) (w *isa.Inst, cross isa.Operand, keep isa.ModFlags, ok bool) {
	w, sum := p.maker(b, t.lo), p.maker(b, t.hi)
	if w != nil && w == sum {
		return w, rz, 0, p.widening(b, at, t, w)
	}
	if w == nil || sum == nil || w.Op != isa.OpIMAD || w.Mod.Flags != isa.ModWide || w.Mod.Type != isa.U32 || !isZero(w.Src[2]) || w.NDst > 1 && w.Dst[1] != pt ||
		sum.Op != isa.OpIADD3 || sum.Mod.Flags&^modKeep != 0 || !plainPreds(sum) {
		return nil, cross, 0, false
	}
	regs := p.f.tuples[w.Dst[0].Reg]
	terms := terms(sum, 3)
	if len(regs) != 2 || regs[0] != t.lo.Reg || len(terms) != 2 {
		return nil, cross, 0, false
	}
	for k, o := range terms {
		if o.Kind == isa.KindReg && o.Flags == 0 && o.Reg == regs[1] && p.uses[p.n.of(isa.KindReg, o.Reg)] == 1 {
			cross, ok = terms[1-k], true
		}
	}
	from := int(p.defs[p.n.of(isa.KindReg, t.lo.Reg)].i)
	for _, o := range [...]isa.Operand{w.Src[0], w.Src[1], cross} {
		ok = ok && p.kept(b, from, at, o)
	}
	return w, cross, sum.Mod.Flags & modKeep, ok
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
func (p *contraction) code(b *block, in, w *isa.Inst, cross isa.Operand, keep isa.ModFlags, addend pairTerm) []isa.Inst {
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
	pairFor := func(lo, hi isa.Operand) (isa.Operand, bool) {
		if regs, ok := f.tupleOf([]word{lo, hi}); ok {
			return tupleOperand(regs), true
		}
		return tupleOperand(pairOf()), false
	}
	m := *w
	m.Pos = in.Pos
	if addend.lo.Kind == isa.KindConst && consecutiveConst([]word{addend.lo, addend.hi}) {
		m.Src[2] = addend.lo
		m.Src[2].Flags |= flagPair | isa.Wide64
	} else if from, ok := p.widened(b, addend); ok {
		m.Src[2] = from
	} else {
		from, same := pairFor(addend.lo, addend.hi)
		if !same {
			move(isa.R(f.tuples[from.Reg][0]), addend.lo)
			move(isa.R(f.tuples[from.Reg][1]), addend.hi)
		}
		m.Src[2] = from
	}
	if isZero(cross) {
		to, same := pairFor(in.Dst[0], in.Dst[1])
		m.Dst[0] = to
		code = append(code, m)
		if !same {
			move(in.Dst[1], isa.R(f.tuples[to.Reg][1]))
			move(in.Dst[0], isa.R(f.tuples[to.Reg][0]))
		}
		return code
	}
	to := pairOf()
	m.Dst[0] = tupleOperand(to)
	sum := isa.Inst{Op: isa.OpIADD3, Mod: isa.Mod{Flags: keep}, NDst: 1, NSrc: 3, Pos: in.Pos}
	sum.Dst[0], sum.Src[0], sum.Src[1], sum.Src[2] = in.Dst[1], isa.R(to[1]), cross, rz
	fillLayout(&sum)
	code = append(code, m, sum)
	move(in.Dst[0], isa.R(to[0]))
	return code
}
