package lower

import "github.com/sarchlab/smsim/isa"

// mulMode uses up .lo, .hi or .wide.
func (x *expander) mulMode() string {
	m := x.take("lo", "hi", "wide")
	if m == "" {
		x.fail("%s lacks .lo, .hi or .wide", x.in.Op)
	}
	return m
}

// ruleMul is mul, and the integer part of mad when there is a third source.
func ruleMul(x *expander) {
	if x.peekFloat() {
		floatMul(x)
		return
	}
	mode := x.mulMode()
	types := intTypes
	if mode == "wide" {
		types = "u16 s16 u32 s32"
	}
	t := x.typ(types)
	if x.err != nil || !x.args(3, 3) {
		return
	}
	switch {
	case t.bits == 16:
		x.mul16(t, mode, nil)
	case t.wide() && mode == "lo":
		x.mulLo64(x.d64(0, t.name), x.a64(1, t.name), x.a64(2, t.name))
	case t.wide():
		x.mulHi64(x.d64(0, t.name), x.a64(1, t.name), x.a64(2, t.name), t.signed())
	case mode == "lo":
		x.mulLo(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name))
	case mode == "hi":
		x.mulHi(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), t.signed())
	default:
		x.mulWide(x.d64(0, wideName(t)), x.a32(1, t.name), x.a32(2, t.name), t.signed())
	}
}

// wideName is the type of twice the width.
func wideName(t vtype) string {
	switch t.name {
	case "u16":
		return "u32"
	case "s16":
		return "s32"
	case "u32":
		return "u64"
	}
	return "s64"
}

// mul16 is the product of 16-bit values, with an addend when c is given.
func (x *expander) mul16(t vtype, mode string, c *word) {
	a, b := x.a32(1, t.name), x.ext(auto, x.a32(2, t.name), t)
	if _, known := constant(b); mode != "lo" || !known || c != nil || x.sm() < 70 { // with a constant the low half needs no extension
		a = x.ext(auto, a, t)
	}
	dt := t.name
	if mode == "wide" {
		dt = wideName(t)
	}
	d := x.d32(0, dt)
	add := rz
	if c != nil {
		add = *c
	}
	if mode != "hi" {
		if mode == "lo" && c != nil && x.sm() >= 70 {
			add = x.ext(auto, add, t)
		}
		x.mad16(d, a, b, add, t.signed())
		return
	}
	p := x.mad16(auto, a, b, rz, t.signed())
	sh := signedType(t.signed())
	switch {
	case c == nil:
		x.shiftRight(d, p, imm(16), sh)
	case x.sm() >= 50 && t.signed() && x.sm() >= 70:
		x.emit(isa.OpLEA, isa.Mod{Flags: isa.ModHI | isa.ModSX32}, []word{d, pt}, []word{p, add, imm(16)})
	case x.sm() >= 70:
		x.emit(isa.OpLEA, isa.Mod{Flags: isa.ModHI}, []word{d, pt}, []word{p, add, rz, imm(16)})
	default:
		x.add(d, x.shiftRight(auto, p, imm(16), sh), add)
	}
}

// mad16 multiplies extended 16-bit values: one instruction on every target.
func (x *expander) mad16(d, a, b, c word, signed bool) word {
	switch sm := x.sm(); {
	case sm >= 50 && sm < 70:
		return x.xmad(d, a, b, c, xm{aS: signed, bS: signed})
	case sm < 20:
		d = x.out(d)
		if isZero(c) {
			x.emit(isa.OpIMUL24, isa.Mod{Type: signedType(signed)}, []word{d}, []word{a, b})
		} else {
			x.emit(isa.OpIMAD24, isa.Mod{Type: signedType(signed)}, []word{d}, []word{a, b, c})
		}
		return d
	}
	return x.madLo(d, a, b, c)
}

// ruleMad is mad.
func ruleMad(x *expander) {
	if x.peekFloat() {
		floatFma(x)
		return
	}
	mode := x.mulMode()
	sat, cc := x.has("sat"), x.has("cc")
	types := intTypes
	switch {
	case cc:
		types = "u32 s32 u64 s64"
	case mode == "wide":
		types = "u16 s16 u32 s32"
	}
	t := x.typ(types)
	if x.err != nil || !x.args(4, 4) {
		return
	}
	switch {
	case sat && (mode != "hi" || t.name != "s32"):
		x.fail("modifier .sat of mad applies to mad.hi.s32 only")
	case cc:
		x.madCarry(t, mode, false, true)
	case t.bits == 16:
		ct := t.name
		if mode == "wide" {
			ct = wideName(t)
		}
		c := x.a32(3, ct)
		x.mul16(t, mode, &c)
	case t.wide():
		a, b, c := x.a64(1, t.name), x.a64(2, t.name), x.a64(3, t.name)
		d := x.d64(0, t.name)
		if mode == "lo" {
			x.madLo64(d, a, b, c)
		} else {
			x.madHi64(d, a, b, c, t.signed())
		}
	case mode == "lo":
		x.madLo(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), x.a32(3, t.name))
	case mode == "hi" && sat:
		x.madHiSat(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), x.a32(3, t.name))
	case mode == "hi":
		x.madHi(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), x.a32(3, t.name), t.signed())
	default:
		a, b, c := x.a32(1, t.name), x.a32(2, t.name), x.a64(3, wideName(t))
		d := x.d64(0, wideName(t))
		if x.sm() < 70 || x.sm() >= 120 {
			x.madWide(d, a, b, c, t.signed())
			return
		}
		// ptxas adds with a carry, although it merges mul.wide and add into one IMAD.WIDE.
		p := x.mulWide(pair{}, a, b, t.signed())
		q := x.pred()
		x.emit(isa.OpIADD3, isa.Mod{Flags: modKeep, Size: sizeHalf}, []word{d.lo, q, pt}, []word{c.lo, p.lo, rz})
		x.emit(isa.OpIADD3, isa.Mod{Flags: isa.ModX | modKeep}, []word{d.hi, pt, pt}, []word{c.hi, p.hi, rz, q, notPT})
	}
}

// madLo64 is the low 64 bits of a * b + c.
func (x *expander) madLo64(d, a, b, c pair) pair {
	if x.sm() < 70 {
		return x.add64(d, x.mulLo64(pair{}, a, b), c)
	}
	t := x.mulLo(auto, a.hi, b.lo)
	t = x.lastCross(a, b, t)
	p := x.madWide(pair{}, a.lo, b.lo, c, false)
	hi := x.addCross(auto, p.hi, t, b)
	return pair{x.mov(d.lo, p.lo), x.mov(d.hi, hi)}
}

// madHi is the high word of a * b, plus c.
func (x *expander) madHi(d, a, b, c word, signed bool) word {
	switch sm := x.sm(); {
	case sm > 70:
		d = x.out(d)
		low, high := x.mov(auto, imm(0)), c
		x.emitWide(isa.OpIMAD, isa.Mod{Type: signedType(signed), Flags: isa.ModHI}, [][]word{{d}, {pt}}, [][]word{{a}, {b}, {low, high}})
		return d
	case sm == 70:
		p := x.madWide(pair{auto, d}, a, b, pair{x.mov(auto, imm(0)), c}, signed)
		return p.hi
	case sm >= 20 && sm < 50:
		d = x.out(d)
		t := signedType(signed)
		x.emit(isa.OpIMAD, isa.Mod{Type: t, BType: t, Flags: isa.ModHI}, []word{d}, []word{a, b, c})
		return d
	}
	return x.add(d, x.mulHi(auto, a, b, signed), c)
}

// madHiSat saturates the addition.
func (x *expander) madHiSat(d, a, b, c word) {
	if x.sm() >= 20 && x.sm() < 70 {
		x.emit(isa.OpIMAD, isa.Mod{Type: isa.S32, BType: isa.S32, Flags: isa.ModHI | isa.ModSat}, []word{d}, []word{a, b, c})
		return
	}
	x.addSat(d, x.mulHi(auto, a, b, true), c, false)
}

// ruleMadc is madc: multiply-add with carry in.
func ruleMadc(x *expander) {
	mode := x.take("lo", "hi")
	if mode == "" {
		x.fail("madc lacks .lo or .hi")
		return
	}
	cc := x.has("cc")
	t := x.typ("u32 s32 u64 s64")
	if x.args(4, 4) {
		x.madCarry(t, mode, true, cc)
	}
}

// madCarry is mad.cc and madc: the half of the product the mode names, plus c, plus carry.
func (x *expander) madCarry(t vtype, mode string, in, out bool) {
	if t.wide() {
		a, b, c := x.a64(1, t.name), x.a64(2, t.name), x.a64(3, t.name)
		d := x.d64(0, t.name)
		var p pair
		saved := in && x.sm() < 70 // the product needs CC itself
		var c0 word
		if saved {
			c0 = x.saveCC()
		}
		if mode == "lo" {
			p = x.mulLo64(pair{}, a, b)
		} else {
			p = x.mulHi64(pair{}, a, b, t.signed())
		}
		if saved {
			x.restoreCC(c0)
		}
		x.carryStep(d.lo, p.lo, c.lo, false, in, true)
		x.carryStep(d.hi, p.hi, c.hi, false, true, out)
		return
	}
	a, b, c := x.a32(1, t.name), x.a32(2, t.name), x.a32(3, t.name)
	d := x.d32(0, t.name)
	if mode == "hi" && x.fuseWide(d, a, b, c, t.signed(), in, out) {
		return
	}
	if mode == "lo" {
		from, cin := len(x.cur.insts), x.carryIn()
		x.carryStep(d, x.mulLo(auto, a, b), c, false, in, out)
		x.noteMadLo(madNote{block: x.cur, from: from, end: len(x.cur.insts), d: d, a: a, b: b, c: c, in: in, carry: cin, guard: x.guard})
		return
	}
	if !in && x.sm() > 70 {
		to := pt
		if out {
			to = x.carryOut()
		}
		low, high := x.mov(auto, imm(0)), c
		x.emitWide(isa.OpIMAD, isa.Mod{Type: signedType(t.signed()), Flags: isa.ModHI}, [][]word{{d}, {to}}, [][]word{{a}, {b}, {low, high}})
		return
	}
	x.carryStep(d, x.mulHi(auto, a, b, t.signed()), c, false, in, out)
}

// ruleMul24 is mul24 and mad24.
func ruleMul24(add bool) rule {
	return func(x *expander) {
		mode := x.take("lo", "hi")
		if mode == "" {
			x.fail("%s lacks .lo or .hi", x.in.Op)
			return
		}
		sat := x.has("sat")
		t := x.typ("u32 s32")
		n := 3
		if add {
			n = 4
		}
		if !x.args(n, n) {
			return
		}
		if sat && (!add || mode != "hi" || t.name != "s32") {
			x.fail("modifier .sat applies to mad24.hi.s32 only")
			return
		}
		c := rz
		if add {
			c = x.a32(3, t.name)
		}
		x.mul24Mode(x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name), c, t.signed(), mode, sat)
	}
}

func (x *expander) mul24Mode(d, a, b, c word, signed bool, mode string, sat bool) {
	m := signedType(signed)
	if x.sm() < 20 {
		if mode == "lo" {
			if isZero(c) {
				x.emit(isa.OpIMUL24, isa.Mod{Type: m}, []word{d}, []word{a, b})
			} else {
				x.emit(isa.OpIMAD24, isa.Mod{Type: m}, []word{d}, []word{a, b, c})
			}
			return
		}
		h := x.out(auto)
		x.emit(isa.OpIMUL24, isa.Mod{Type: m, Flags: isa.ModHI}, []word{h}, []word{a, b})
		x.addMaybeSat(d, h, c, sat)
		return
	}
	a, b = x.ext24(a, signed), x.ext24(b, signed)
	if mode == "lo" {
		x.madLo(d, a, b, c)
		return
	}
	p := x.mulWide(pair{}, a, b, signed)
	lo := x.shiftRight(auto, p.lo, imm(16), m)
	h := d
	if !isZero(c) {
		h = x.reg()
	}
	x.prmt(h, lo, imm(0x5410), p.hi)
	if !isZero(c) {
		x.addMaybeSat(d, h, c, sat)
	}
}

func (x *expander) addMaybeSat(d, a, c word, sat bool) {
	switch {
	case sat:
		x.addSat(d, a, c, false)
	case isZero(c):
		x.mov(d, a)
	default:
		x.add(d, c, a)
	}
}

// ext24 extends the low 24 bits.
func (x *expander) ext24(a word, signed bool) word {
	if v, known := constant(a); known {
		if signed {
			return immWord(uint32(int32(v<<8) >> 8))
		}
		return immWord(v & 0xffffff)
	}
	if !signed && x.sm() >= 70 {
		return x.prmt(auto, a, imm(0x7210), rz)
	}
	return x.bfe(auto, a, 0, 24, signed)
}
