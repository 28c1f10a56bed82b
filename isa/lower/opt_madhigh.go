package lower

import "github.com/sarchlab/smsim/isa"

// contractHigh gives the code for a sum or difference with the high word of a product that nobody else reads: one IMAD.HI, whose addend
// is a pair of a zero and the other term. ptxas always makes it so, although the pair has to be put together, and a
// subtrahend negated first.
func (p *contraction) contractHigh(b *block, at int) ([]isa.Inst, bool) {
	in := &b.insts[at]
	if p.f.t.SM <= 70 || !plainAdd(in) || in.Guard.Kind != isa.KindNone || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Reg < isa.VirtualBase {
		return nil, false
	}
	t := terms(in, 3)
	if len(t) != 2 {
		return nil, false
	}
	for k, o := range t {
		d := p.maker(b, o)
		if d == nil || d.Op != isa.OpIMAD || d.Mod.Flags != isa.ModHI || !isZero(d.Src[2]) || d.NDst > 1 && d.Dst[1] != pt || d.Guard.Kind != isa.KindNone ||
			d.Pos == in.Pos || p.uses[p.n.of(isa.KindReg, o.Reg)] != 1 { // of one statement: a division, whose code is another
			continue
		}
		from := int(p.defs[p.n.of(isa.KindReg, o.Reg)].i)
		if other := t[1-k]; other.Flags&^isa.Neg == 0 && p.kept(b, from, at, d.Src[0]) && p.kept(b, from, at, d.Src[1]) {
			return p.highCode(in, d, other), true
		}
	}
	return nil, false
}

// highCode is the product's high word with the addend.
func (p *contraction) highCode(in, d *isa.Inst, addend isa.Operand) []isa.Inst {
	f := p.f
	var code []isa.Inst
	move := func(to isa.Reg, o isa.Operand, flags isa.ModFlags) {
		m := isa.Inst{Op: isa.OpMOV, Mod: isa.Mod{Flags: flags, Size: sizeAddend}, NDst: 1, NSrc: 1, Pos: in.Pos}
		m.Dst[0], m.Src[0] = isa.R(to), o
		code = append(code, m)
	}
	regs := []isa.Reg{f.newReg(), f.newReg()}
	f.setTuple(regs)
	flags := isa.ModFlags(0)
	if addend.Is(isa.Neg) && addend.Kind != isa.KindImm {
		n := isa.Inst{Op: isa.OpIADD3, Mod: isa.Mod{Size: sizeAddend}, NDst: 1, NSrc: 3, Pos: in.Pos}
		n.Dst[0], n.Src[0], n.Src[1], n.Src[2] = isa.R(f.newReg()), addend, rz, rz
		fillLayout(&n)
		f.arrange(&n)
		code = append(code, n)
		addend, flags = n.Dst[0], modKeep
	}
	move(regs[0], rz, 0)
	move(regs[1], addend, flags)
	m := *d
	m.Pos, m.Dst[0], m.Src[2] = in.Pos, in.Dst[0], tupleOperand(regs)
	return append(code, m)
}
