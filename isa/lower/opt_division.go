package lower

import "github.com/sarchlab/smsim/isa"

// negateFactors moves the negation of a word of constant memory in a product to the other factor, which is in a register:
// (-c)*q costs a negation, and c*(-q) too, but then the product reads c where it is.
func (f *fn) negateFactors() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	defs := f.defSites(n)
	negated := func(o isa.Operand) (isa.Operand, bool) {
		if o.Kind != isa.KindReg || o.Flags != 0 || o.Reg < isa.VirtualBase {
			return o, false
		}
		d := &defs[n.of(isa.KindReg, o.Reg)]
		if !d.value() {
			return o, false
		}
		in := &d.b.insts[d.i]
		if !plainAdd(in) || in.Guard.Kind != isa.KindNone {
			return o, false
		}
		t := terms(in, 3)
		if len(t) != 1 || t[0].Kind != isa.KindConst || t[0].Flags != isa.Neg || t[0].Reg != isa.RZ {
			return o, false
		}
		t[0].Flags = 0
		return t[0], true
	}
	changed := false
	for _, b := range f.blocks {
		var out []isa.Inst
		from := 0
		for i := range b.insts {
			in := &b.insts[i]
			if in.Op != isa.OpIMAD || in.Mod.Flags != 0 || in.Guard.Kind != isa.KindNone {
				continue
			}
			for k := range 2 {
				c, ok := negated(in.Src[k])
				other := in.Src[1-k]
				if !ok || other.Kind != isa.KindReg || other.Flags != 0 || other.Reg < isa.VirtualBase {
					continue
				}
				minus := isa.Inst{Op: isa.OpIADD3, NDst: 1, NSrc: 3, Pos: in.Pos, PC: in.PC}
				minus.Dst[0] = isa.R(f.newReg())
				minus.Src[0], minus.Src[1], minus.Src[2] = other, rz, rz
				minus.Src[0].Flags = isa.Neg
				fillLayout(&minus)
				in.Src[0], in.Src[1] = minus.Dst[0], c
				out = append(append(out, b.insts[from:i]...), minus)
				from, changed = i, true
				break
			}
		}
		if out != nil {
			b.insts = append(out, b.insts[from:]...)
		}
	}
	if changed {
		f.removeDead()
	}
}

// subtractProduct makes rest - x*y, whose product d nothing else reads, (-x)*y + rest, as ptxas does from Volta on: a literal factor
// is negated for nothing.
func (u *fuser) subtractProduct(in, d *isa.Inst, product isa.Operand, rest []isa.Operand) bool {
	if u.f.t.SM < 70 || product.Flags != isa.Neg || len(rest) != 1 || rest[0].Flags != 0 || d.Op != isa.OpIMAD || d.Mod.Flags != 0 || !isZero(d.Src[2]) || d.NDst != 1 {
		return false
	}
	x, y := d.Src[0], d.Src[1]
	if x.Kind != isa.KindReg || x.Reg < isa.VirtualBase {
		x, y = y, x
	}
	if x.Kind != isa.KindReg || x.Reg < isa.VirtualBase || x.Flags != 0 || y.Flags != 0 {
		return false
	}
	c, literal := constant(y)
	if rest[0].Kind == isa.KindConst && y.Kind == isa.KindConst {
		return false
	}
	mod := d.Mod
	if literal {
		y = immWord(-c)
		u.take(d)
	} else {
		x = u.negation(d, x)
	}
	in.Op, in.Mod, in.NDst, in.NSrc = isa.OpIMAD, mod, 1, 3
	in.Src = [isa.MaxSrc]isa.Operand{x, y, rest[0]}
	in.Dst[1], in.Dst[2] = isa.Operand{}, isa.Operand{}
	return true
}

// negatedWord is where in the current block a word was negated for a product, and where the result is.
type negatedWord struct {
	i int32
	r isa.Operand
}

// negation turns product d into the negation of x, or removes it where the block has negated x already.
func (u *fuser) negation(d *isa.Inst, x isa.Operand) isa.Operand {
	id := u.n.of(isa.KindReg, x.Reg)
	if m, ok := u.negations[id]; ok && u.last[id] < m.i {
		u.take(d)
		return m.r
	}
	minus := isa.Inst{Op: isa.OpIADD3, NDst: 1, NSrc: 3, Pos: d.Pos, PC: d.PC}
	minus.Dst[0] = isa.R(d.Dst[0].Reg)
	minus.Src[0], minus.Src[1], minus.Src[2] = x, rz, rz
	minus.Src[0].Flags = isa.Neg
	fillLayout(&minus)
	*d = minus
	if at := &u.defs[u.n.of(isa.KindReg, minus.Dst[0].Reg)]; at.b == u.b {
		u.negations[id] = negatedWord{at.i, minus.Dst[0]}
	}
	return minus.Dst[0]
}

// complement is a guarded instruction that gives ^source where a divisor is zero.
type complement struct {
	b *block
	i int
}

// shareComplements makes selections of the complements that divisions by zero give where one complement serves several: those of
// a divisor in one block, and those of a divisor that a loop does not change. A lone one stays guarded.
func (f *fn) shareComplements() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	defs := f.defSites(n)
	for _, b := range f.blocks {
		var list []complement
		bySource := map[isa.Operand]int{}
		for i := range b.insts {
			in := &b.insts[i]
			if in.Op == isa.OpLOP3 && in.Guard.Kind == isa.KindPred && isComplement(in) && f.settled(&in.Src[complemented(in)], n, defs) {
				list = append(list, complement{b, i})
				bySource[in.Src[complemented(in)]]++
			}
		}
		if len(list) == 0 {
			continue
		}
		made := map[isa.Operand]isa.Operand{}
		var out []isa.Inst
		from := 0
		for _, c := range list {
			in := &b.insts[c.i]
			src := in.Src[complemented(in)]
			if bySource[src] < 2 && !f.outsideLoop(&src, b, n, defs) {
				continue
			}
			out = append(out, b.insts[from:c.i]...)
			from = c.i + 1
			word, ok := made[src]
			if !ok {
				word = isa.R(f.newReg())
				inv := *in
				inv.Guard, inv.Dst[0] = isa.Operand{}, word
				out = append(out, inv)
				made[src] = word
			}
			sel := isa.Inst{Op: isa.OpSEL, NDst: 1, NSrc: 3, Pos: in.Pos, PC: in.PC}
			sel.Dst[0] = in.Dst[0]
			sel.Src[0], sel.Src[1], sel.Src[2] = word, in.Dst[0], in.Guard
			out = append(out, sel)
		}
		if out != nil {
			b.insts = append(out, b.insts[from:]...)
		}
	}
}

// isComplement says that the instruction gives the complement of one of its sources.
func isComplement(in *isa.Inst) bool { return complemented(in) >= 0 }

func complemented(in *isa.Inst) int {
	if !plainPreds(in) || in.Mod.Has(isa.ModPAND) || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Reg < isa.VirtualBase {
		return -1
	}
	for k, lut := range [3]uint8{0x0f, 0x33, 0x55} {
		if in.Mod.Lut == lut && in.Src[k].Flags == 0 && !isZero(in.Src[k]) {
			return k
		}
	}
	return -1
}

// settled says that the operand is a constant word or a value.
func (f *fn) settled(o *isa.Operand, n numbering, defs []defSite) bool {
	switch o.Kind {
	case isa.KindConst:
		return o.Reg == isa.RZ
	case isa.KindReg:
		return o.Reg >= isa.VirtualBase && defs[n.of(isa.KindReg, o.Reg)].value()
	}
	return false
}

// outsideLoop says that the block is executed in every round of a loop without inner loops, and that the operand is made outside.
func (f *fn) outsideLoop(o *isa.Operand, b *block, n numbering, defs []defSite) bool {
	l := b.loop
	if l == nil || f.hasInner(l) || !l.everyRound(b) {
		return false
	}
	return o.Kind == isa.KindConst || !l.contains(defs[n.of(isa.KindReg, o.Reg)].b)
}

// again says that ptxas computes a value of block a again in block b: the reciprocal of a division, from its first step on.
func (v *numberer) again(in *isa.Inst, a, b *block) bool {
	if a == b {
		return false
	}
	return in.Op == isa.OpI2F && in.Mod.Round == isa.RP
}

// repeatsReciprocal says that a block has the reciprocal of one word twice, as blocks have that became one by predication.
func (f *fn) repeatsReciprocal() bool {
	for _, b := range f.blocks {
		seen := map[isa.Operand]bool{}
		for i := range b.insts {
			if in := &b.insts[i]; in.Op == isa.OpI2F && in.Mod.Round == isa.RP && in.Guard.Kind == isa.KindNone {
				if seen[in.Src[0]] {
					return true
				}
				seen[in.Src[0]] = true
			}
		}
	}
	return false
}
