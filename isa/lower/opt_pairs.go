package lower

import "github.com/sarchlab/smsim/isa"

// pairUse is a pair of words and a block in which an instruction reads it.
type pairUse struct {
	b  *block
	lo isa.Reg
}

// sharePair lets the reader of a pair read an earlier one of the same two values, so that a 64-bit number that several
// instructions need is put together once.
func (v *numberer) sharePair(o *isa.Operand, regs []isa.Reg, b *block) bool {
	if len(regs) != 2 || b == nil {
		return false
	}
	var key [2]isa.Operand
	for i, r := range regs {
		id := v.n.of(isa.KindReg, r)
		if id >= len(v.defs) || !v.defs[id].value() {
			return false
		}
		key[i] = isa.R(r)
		if x := v.repl[id]; x.Kind != isa.KindNone {
			key[i] = x
		}
		if _, ok := constant(key[i]); ok && i == 1 {
			return false // a widened word: its zero costs little, and the pair's registers are free for others
		}
	}
	for _, e := range v.pairs[key] {
		if e.lo == o.Reg {
			return false
		}
		if dominates(e.b, b) {
			o.Reg = e.lo
			return true
		}
	}
	v.pairs[key] = append(v.pairs[key], pairUse{b, o.Reg})
	return false
}

// copiedPair is what a 64-bit addition of one term copies.
func copiedPair(in *isa.Inst) (pairTerm, bool) {
	if !isAdd64(in) || in.Guard.Kind != isa.KindNone || in.Dst[0].Reg < isa.VirtualBase || in.Dst[1].Reg < isa.VirtualBase {
		return pairTerm{}, false
	}
	t := pairTerms(in)
	if len(t) != 1 || t[0].lo.Flags != 0 || t[0].hi.Flags != 0 || t[0].lo.Kind != isa.KindReg || t[0].hi.Kind != isa.KindReg ||
		t[0].lo.Reg < isa.VirtualBase || t[0].hi.Reg < isa.VirtualBase {
		return pairTerm{}, false
	}
	return t[0], true
}

// trackPair follows the two copies that a 64-bit addition of one term is, as track does with copies.
func (v *numberer) trackPair(in *isa.Inst) {
	t, ok := copiedPair(in)
	if !ok {
		v.foldPair(in)
		return
	}
	if t.lo.Reg == in.Dst[0].Reg && t.hi.Reg == in.Dst[1].Reg {
		dead(in)
		return
	}
	for k, o := range []isa.Operand{t.lo, t.hi} {
		id, from := v.n.of(isa.KindReg, in.Dst[k].Reg), v.n.of(isa.KindReg, o.Reg)
		switch {
		case !v.stable(&o):
			v.local[id] = o
			v.copies[from] = append(v.copies[from], id)
		case id < len(v.defs) && v.defs[id].value():
			v.repl[id] = o
		}
	}
}

// foldPair follows a 64-bit sum of constants: its two words are known. The rounds of an unrolled loop that walks through a table of
// constants become fixed addresses this way.
func (v *numberer) foldPair(in *isa.Inst) {
	if in.Guard.Kind != isa.KindNone {
		return
	}
	sum := int64(0)
	for _, t := range pairTerms(in) {
		c, ok := t.constant64()
		if !ok {
			return
		}
		sum += c
	}
	for k, w := range []isa.Operand{immWord(uint32(sum)), immWord(uint32(sum >> 32))} {
		if in.Dst[k].Kind != isa.KindReg || in.Dst[k].Reg < isa.VirtualBase {
			continue
		}
		if id := v.n.of(isa.KindReg, in.Dst[k].Reg); id < len(v.defs) && v.defs[id].value() {
			v.repl[id] = w
		} else {
			v.local[id] = w
		}
	}
}
