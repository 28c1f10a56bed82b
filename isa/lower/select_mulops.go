package lower

import (
	"math/bits"

	"github.com/sarchlab/smsim/isa"
)

// Integer multiplication as each generation builds it: IMAD from Volta on, XMAD pieces on Maxwell and
// Pascal, IMUL and IMAD on Fermi and Kepler, 24-bit products of 16-bit pieces on compute capability 1.x.

func signedType(signed bool) isa.Type {
	if signed {
		return isa.S32
	}
	return isa.U32
}

// mulLo is the low word of a * b.
func (x *expander) mulLo(d, a, b word) word { return x.madLo(d, a, b, rz) }

// madLo is the low word of a * b + c.
func (x *expander) madLo(d, a, b, c word) word {
	d = x.out(d)
	switch sm := x.sm(); {
	case sm >= 70:
		x.emit(isa.OpIMAD, isa.Mod{Type: isa.S32}, []word{d}, []word{a, b, c})
	case sm >= 50:
		if v, ok := constant(a); ok {
			if _, both := constant(b); !both {
				a, b = b, imm(v)
			}
		}
		if v, ok := constant(b); ok && v <= 0xffff && v != 0 {
			if v&(v-1) == 0 {
				return x.addTo(d, x.shl(auto, a, imm(uint32(bits.TrailingZeros32(v)))), c)
			}
			return x.xmad(d, a, b, x.xmad(auto, a, b, c, xm{}), xm{aHi: true, psl: true})
		}
		cross := x.xmad(auto, a, b, rz, xm{bHi: true, mrg: true})
		low := x.xmad(auto, a, b, c, xm{})
		x.xmad(d, a, cross, low, xm{aHi: true, bHi: true, psl: true, c: isa.SubCBCC})
	case sm >= 20:
		if isZero(c) {
			x.emit(isa.OpIMUL, isa.Mod{Type: isa.S32, BType: isa.S32}, []word{d}, []word{a, b})
		} else {
			x.emit(isa.OpIMAD, isa.Mod{Type: isa.S32, BType: isa.S32}, []word{d}, []word{a, b, c})
		}
	default:
		p := x.halves(a, b)
		cross := x.mul24(auto, p.ah, p.bl)
		cross = x.mad24(auto, p.al, p.bh, cross)
		x.mad24(d, p.al, p.bl, x.addIfAny(x.shl(auto, cross, imm(16)), c))
	}
	return d
}

// addTo is d = a + c, a copy when c is zero.
func (x *expander) addTo(d, a, c word) word {
	if isZero(c) {
		return x.mov(d, a)
	}
	return x.add(d, a, c)
}

// addIfAny is a + c without an instruction when c is zero.
func (x *expander) addIfAny(a, c word) word {
	if isZero(c) {
		return a
	}
	return x.add(auto, a, c)
}

// halfWords are the 16-bit halves of two factors, zero-extended.
type halfWords struct{ al, ah, bl, bh word }

func (x *expander) halves(a, b word) halfWords {
	return halfWords{x.zext(auto, a, 16), x.shr(auto, a, imm(16)), x.zext(auto, b, 16), x.shr(auto, b, imm(16))}
}

// mul24 and mad24 are the native products of compute capability 1.x: low 32 bits of 24 x 24.
func (x *expander) mul24(d, a, b word) word {
	d = x.out(d)
	x.emit(isa.OpIMUL24, isa.Mod{Type: isa.U32}, []word{d}, []word{a, b})
	return d
}

func (x *expander) mad24(d, a, b, c word) word {
	if isZero(c) {
		return x.mul24(d, a, b)
	}
	d = x.out(d)
	x.emit(isa.OpIMAD24, isa.Mod{Type: isa.U32}, []word{d}, []word{a, b, c})
	return d
}

// xm are the modifiers of an XMAD.
type xm struct {
	aHi, bHi bool // use the upper half of the factor
	aS, bS   bool // the half is signed
	mrg, psl bool
	c        isa.Sub
}

// xmad is Maxwell's 16 x 16 + 32 bit multiply-add.
func (x *expander) xmad(d, a, b, c word, m xm) word {
	d = x.out(d)
	mod := isa.Mod{Type: isa.U16, BType: isa.U16, Sub: m.c}
	if m.aS {
		mod.Type = isa.S16
	}
	if m.bS {
		mod.BType = isa.S16
	}
	if m.mrg {
		mod.Flags |= isa.ModMRG
	}
	if m.psl {
		mod.Flags |= isa.ModPSL
	}
	if m.mrg { // the merged low half needs the whole factor
		b = x.inReg(b)
	}
	x.emit(isa.OpXMAD, mod, []word{d}, []word{half(a, m.aHi), half(b, m.bHi), c})
	return d
}

// half selects a half of a register; of an immediate it takes the value apart.
func half(a word, hi bool) word {
	if v, ok := constant(a); ok {
		if hi {
			v >>= 16
		}
		return imm(v & 0xffff)
	}
	if hi {
		a.Flags |= isa.SelH1
	}
	return a
}

// mulHi is the high word of a * b.
func (x *expander) mulHi(d, a, b word, signed bool) word {
	d = x.out(d)
	t := signedType(signed)
	switch sm := x.sm(); {
	case sm > 70:
		x.emitWide(isa.OpIMAD, isa.Mod{Type: t, Flags: isa.ModHI}, [][]word{{d}, {pt}}, [][]word{{a}, {b}, {rz}})
	case sm == 70: // no IMAD.HI
		x.mulWide(pair{auto, d}, a, b, signed)
	case sm >= 50:
		x.xmadHi(d, a, b, x.xmad(auto, a, b, rz, xm{}), signed)
	case sm >= 20:
		x.emit(isa.OpIMUL, isa.Mod{Type: t, BType: t, Flags: isa.ModHI}, []word{d}, []word{a, b})
	default:
		x.mulHi16(d, a, b, signed)
	}
	return d
}

// xmadHi finishes the high word on Maxwell and Pascal; low is the product of the low halves. The two cross
// products are added with 33 bits and their upper half enters the product of the high halves.
func (x *expander) xmadHi(d, a, b, low word, signed bool) {
	cross := x.xmad(auto, a, b, rz, xm{bHi: true, bS: signed})
	high := x.xmad(auto, a, b, rz, xm{aHi: true, bHi: true, aS: signed, bS: signed})
	cross2 := x.xmad(auto, a, b, low, xm{aHi: true, aS: signed, c: isa.SubCHI})
	// IADD3.RS: d = (cross + cross2) >> 16 + high, the sum with all its bits.
	x.emit(isa.OpIADD3, isa.Mod{Type: signedType(signed), Flags: isa.ModRS}, []word{d, pt, pt}, []word{cross2, cross, high})
}

// mulHi16 is the high word from products of 16-bit pieces.
func (x *expander) mulHi16(d, a, b word, signed bool) {
	p := x.halves(a, b)
	ll, lh := x.mul24(auto, p.al, p.bl), x.mul24(auto, p.al, p.bh)
	hl, hh := x.mul24(auto, p.ah, p.bl), x.mul24(auto, p.ah, p.bh)
	mid := x.add(auto, x.shr(auto, ll, imm(16)), x.zext(auto, lh, 16))
	mid = x.add(auto, mid, x.zext(auto, hl, 16))
	hi := x.add(auto, hh, x.shr(auto, lh, imm(16)))
	hi = x.add(auto, hi, x.shr(auto, hl, imm(16)))
	if !signed {
		x.add(d, hi, x.shr(auto, mid, imm(16)))
		return
	}
	hi = x.add(auto, hi, x.shr(auto, mid, imm(16)))
	hi = x.sub(auto, hi, x.and(auto, x.signWord(auto, a), b))
	x.sub(d, hi, x.and(auto, x.signWord(auto, b), a))
}

// mulWide is the 64-bit product of two words.
func (x *expander) mulWide(d pair, a, b word, signed bool) pair {
	d = pair{x.out(d.lo), x.out(d.hi)}
	if v, ok := constant(b); ok && x.sm() < 70 && v != 0 && v&(v-1) == 0 && v != 1<<31 {
		n := uint32(bits.TrailingZeros32(v))
		lo := x.shl(auto, a, imm(n))
		switch {
		case n == 0 && !signed:
			x.mov(d.hi, rz)
		case n == 0:
			x.signWord(d.hi, a)
		default:
			x.shiftRight(d.hi, a, imm(32-n), signedType(signed))
		}
		x.mov(d.lo, lo)
		return d
	}
	switch sm := x.sm(); {
	case sm >= 70:
		x.emitWide(isa.OpIMAD, isa.Mod{Type: signedType(signed), Flags: isa.ModWide}, [][]word{{d.lo, d.hi}, {pt}}, [][]word{{a}, {b}, {rz}})
	case sm >= 50:
		low := x.xmad(auto, a, b, rz, xm{})
		cross := x.xmad(auto, a, b, rz, xm{bHi: true, mrg: true})
		lo := x.xmad(auto, a, cross, low, xm{aHi: true, bHi: true, psl: true, c: isa.SubCBCC})
		x.xmadHi(d.hi, a, b, low, signed)
		x.mov(d.lo, lo)
	default:
		lo := x.mulLo(auto, a, b)
		x.mulHi(d.hi, a, b, signed)
		x.mov(d.lo, lo)
	}
	return d
}

// madWide is a * b + c with a 64-bit addend.
func (x *expander) madWide(d pair, a, b word, c pair, signed bool) pair {
	d = pair{x.out(d.lo), x.out(d.hi)}
	if x.sm() >= 70 {
		x.emitWide(isa.OpIMAD, isa.Mod{Type: signedType(signed), Flags: isa.ModWide}, [][]word{{d.lo, d.hi}, {pt}}, [][]word{{a}, {b}, {c.lo, c.hi}})
		return d
	}
	p := x.mulWide(pair{}, a, b, signed)
	return x.add64(d, p, c)
}

// mulLo64 is the low 64 bits of the product of 64-bit values.
func (x *expander) mulLo64(d, a, b pair) pair {
	t := x.mulLo(auto, a.hi, b.lo)
	p := x.mulWide(pair{}, a.lo, b.lo, false)
	hi := x.addCross(d.hi, p.hi, x.lastCross(a, b, t), b)
	return pair{x.mov(d.lo, p.lo), hi}
}

// lastCross is the sum of the cross products of a 64-bit product, of which t is one.
func (x *expander) lastCross(a, b pair, t word) word {
	if x.sm() < 70 {
		return x.madLo(auto, a.lo, b.hi, t)
	}
	d := x.out(auto)
	x.emit(isa.OpIMAD, isa.Mod{Type: isa.S32, Size: sizeCross}, []word{d}, []word{a.lo, b.hi, t})
	return d
}

// addCross adds the cross products to the high word of a 64-bit product. With a constant factor ptxas has an addition
// of its own there, not a multiply-add.
func (x *expander) addCross(d, hi, t word, b pair) word {
	if _, known := constant(b.lo); !known || x.sm() < 70 {
		return x.add(d, hi, t)
	}
	d = x.out(d)
	x.emit(isa.OpIADD3, isa.Mod{Flags: modKeep}, []word{d, pt, pt}, []word{hi, t, rz})
	return d
}

// mulHi64 is the high 64 bits of the product.
func (x *expander) mulHi64(d, a, b pair, signed bool) pair {
	return x.madHi64(d, a, b, pair{rz, rz}, signed)
}

// madHi64 is the high 64 bits of the product, plus c.
func (x *expander) madHi64(d, a, b, c pair, signed bool) pair {
	u := d
	if signed {
		u = pair{}
	}
	switch none := isZero(c.lo) && isZero(c.hi); {
	case x.sm() >= 70:
		u = x.mulHi64Wide(u, a, b, c)
	case none:
		u = x.mulHi64Words(u, a, b)
	default:
		u = x.add64(u, x.mulHi64Words(pair{}, a, b), c)
	}
	if !signed {
		return u
	}
	// Subtract the factors once for each negative one.
	for i, f := range []struct{ sign, other pair }{{b, a}, {a, b}} {
		to := pair{}
		if i == 1 {
			to = d
		}
		h, known := constant(f.sign.hi)
		switch {
		case known && int32(h) < 0:
			u = x.sub64(to, u, f.other)
		case known:
			u = pair{x.mov(to.lo, u.lo), x.mov(to.hi, u.hi)}
		default:
			p := x.test(isa.CmpLT, isa.S32, f.sign.hi, rz)
			u = x.sel64(to, x.sub64(pair{}, u, f.other), u, p)
		}
	}
	return u
}

// mulHi64Wide uses IMAD.WIDE with carries, as ptxas does from Volta on. add is added to the high half.
func (x *expander) mulHi64Wide(d, a, b, add pair) pair {
	t := x.mulWide(pair{}, a.hi, b.lo, false)
	wide := isa.Mod{Type: isa.U32, Flags: isa.ModWide}
	m, cy := x.regs(2), x.pred()
	x.emitWide(isa.OpIMAD, wide, [][]word{m, {cy}}, [][]word{{a.lo}, {b.hi}, t.words()})
	l := x.mulWide(pair{}, a.lo, b.lo, false)
	up := pair{m[1], auto}
	if isZero(add.lo) && isZero(add.hi) {
		up.hi = x.addX(auto, rz, rz, carry{cy})
	} else { // the addend joins the carry
		q := x.pred()
		up = pair{x.reg(), x.reg()}
		x.emit(isa.OpIADD3, isa.Mod{}, []word{up.lo, q, pt}, []word{add.lo, m[1], rz})
		x.emit(isa.OpIADD3, isa.Mod{Flags: isa.ModX}, []word{up.hi, pt, pt}, []word{rz, add.hi, rz, cy, q})
	}
	cy2 := x.pred()
	x.emit(isa.OpIADD3, isa.Mod{}, []word{rz, cy2, pt}, []word{l.hi, m[0], rz})
	d = pair{x.out(d.lo), x.out(d.hi)}
	wide.Flags |= isa.ModX
	x.emitWide(isa.OpIMAD, wide, [][]word{{d.lo, d.hi}, {pt}}, [][]word{{a.hi}, {b.hi}, up.words(), {cy2}})
	return d
}

// mulHi64Words builds the high half from four 64-bit products and additions with carry.
func (x *expander) mulHi64Words(d, a, b pair) pair {
	ll := x.mulHi(auto, a.lo, b.lo, false)
	hl := x.mulWide(pair{}, a.hi, b.lo, false)
	lh := x.mulWide(pair{}, a.lo, b.hi, false)
	hh := x.mulWide(pair{}, a.hi, b.hi, false)
	s := x.add64(pair{}, hl, pair{ll, rz}) // cannot overflow
	lo, c := x.addCC(auto, s.lo, lh.lo)
	_ = lo
	mid, c := x.addXCC(auto, s.hi, lh.hi, c)
	top := x.addX(auto, rz, rz, c)
	return x.add64(d, hh, pair{mid, top})
}
