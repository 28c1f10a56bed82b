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
		if _, ok := constant(key[i]); ok {
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
