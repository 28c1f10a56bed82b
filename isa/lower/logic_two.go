package lower

import "github.com/sarchlab/smsim/isa"

// twoInputLogic turns truth tables of two inputs into LOP, which Maxwell and Pascal have beside LOP3 and their compiler
// takes where it can; later targets have LOP3 alone, earlier ones LOP alone.
func (f *fn) twoInputLogic() {
	if !f.t.Has(isa.OpLOP3) || !f.t.Has(isa.OpLOP) {
		return
	}
	for _, b := range f.blocks {
		for i := range b.insts {
			if in := &b.insts[i]; in.Op == isa.OpLOP3 && in.NSrc == 3 && plainPreds(in) && isZero(in.Src[2]) {
				toLop(in)
			}
		}
	}
}

// toLop makes LOP of a LOP3 whose third input is zero, if LOP with complemented inputs has its function.
func toLop(in *isa.Inst) {
	a, b := in.Src[0], in.Src[1]
	for _, o := range []isa.Operand{a, b} {
		if _, known := constant(o); o.Kind == isa.KindImm && !known {
			return // only known when the launch is
		}
	}
	// Bit 2a+b of table is the result for inputs a and b.
	lut := in.Mod.Lut
	table := lut&1 | lut>>2&1<<1 | lut>>4&1<<2 | lut>>6&1<<3
	switch {
	case isZero(a):
		if table&3 == 1 {
			setLop(in, isa.SubPassB, rz, inv(b))
		}
		return
	case isZero(b):
		if table&5 == 1 {
			setLop(in, isa.SubPassB, rz, inv(a))
		}
		return
	}
	for _, op := range []struct {
		sub   isa.Sub
		table uint8
	}{{isa.SubAnd, 0b1000}, {isa.SubOr, 0b1110}, {isa.SubXor, 0b0110}} {
		for _, form := range []struct {
			a, b  isa.Operand
			table uint8
		}{{a, b, op.table}, {a, inv(b), exchangeB(op.table)}, {inv(a), b, exchangeA(op.table)}, {inv(a), inv(b), exchangeA(exchangeB(op.table))}} {
			if form.table == table {
				setLop(in, op.sub, form.a, form.b)
				return
			}
		}
	}
}

// exchangeA and exchangeB give the table of two inputs after one of them is complemented.
func exchangeA(t uint8) uint8 { return t&0b0011<<2 | t>>2 }
func exchangeB(t uint8) uint8 { return t&0b0101<<1 | t>>1&0b0101 }

func setLop(in *isa.Inst, sub isa.Sub, x, y isa.Operand) {
	in.Op, in.Mod = isa.OpLOP, isa.Mod{Sub: sub, Flags: in.Mod.Flags}
	in.NDst, in.NSrc = 1, 2
	in.Dst[1], in.Src[2] = isa.Operand{}, isa.Operand{}
	in.Src[0], in.Src[1] = x, y
}
