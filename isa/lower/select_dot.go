package lower

import "github.com/sarchlab/smsim/isa"

// ruleDp4a is dp4a: c + the sum of four byte products.
func ruleDp4a(x *expander) {
	at, bt := x.typ("u32 s32"), x.typ("u32 s32")
	if x.err != nil || !x.args(4, 4) {
		return
	}
	d, a, b, c := x.d32(0, "b32"), x.a32(1, "b32"), x.a32(2, "b32"), x.a32(3, "b32")
	x.dp4a(d, a, b, c, at.signed(), bt.signed())
}

func (x *expander) dp4a(d, a, b, c word, as, bs bool) {
	if x.t().Has(isa.OpIDP) {
		x.emit(isa.OpIDP, isa.Mod{Sub: isa.Sub4A, Type: byteType(as), BType: byteType(bs)}, []word{d}, []word{a, b, c})
		return
	}
	for i := 0; i < 4; i++ {
		to := auto
		if i == 3 {
			to = d
		}
		c = x.mad16x(to, x.laneOf(a, i, 8, as), x.laneOf(b, i, 8, bs), c, as, bs)
	}
}

// ruleDp2a is dp2a: c + two products of a's halves with two bytes of b.
func ruleDp2a(x *expander) {
	mode := x.take("lo", "hi")
	if mode == "" {
		x.fail("dp2a lacks .lo or .hi")
		return
	}
	at, bt := x.typ("u32 s32"), x.typ("u32 s32")
	if x.err != nil || !x.args(4, 4) {
		return
	}
	d, a, b, c := x.d32(0, "b32"), x.a32(1, "b32"), x.a32(2, "b32"), x.a32(3, "b32")
	x.dp2a(d, a, b, c, at.signed(), bt.signed(), mode == "hi")
}

func (x *expander) dp2a(d, a, b, c word, as, bs, hi bool) {
	if x.t().Has(isa.OpIDP) {
		m := isa.Mod{Sub: isa.Sub2ALo, Type: halfType(as), BType: byteType(bs)}
		if hi {
			m.Sub = isa.Sub2AHi
		}
		x.emit(isa.OpIDP, m, []word{d}, []word{a, b, c})
		return
	}
	first := 0
	if hi {
		first = 2
	}
	c = x.mad16x(auto, x.laneOf(a, 0, 16, as), x.laneOf(b, first, 8, bs), c, as, bs)
	x.mad16x(d, x.laneOf(a, 1, 16, as), x.laneOf(b, first+1, 8, bs), c, as, bs)
}

// mad16x is a * b + c for factors that fit 16 bits, each with its own signedness.
func (x *expander) mad16x(d, a, b, c word, as, bs bool) word {
	switch sm := x.sm(); {
	case sm >= 50 && sm < 70:
		return x.xmad(d, a, b, c, xm{aS: as, bS: bs})
	case sm < 20:
		d = x.out(d)
		x.emit(isa.OpIMAD24, isa.Mod{Type: isa.S32}, []word{d}, []word{a, b, c})
		return d
	}
	return x.madLo(d, a, b, c)
}

func byteType(signed bool) isa.Type {
	if signed {
		return isa.S8
	}
	return isa.U8
}

func halfType(signed bool) isa.Type {
	if signed {
		return isa.S16
	}
	return isa.U16
}
