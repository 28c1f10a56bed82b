package lower

import "github.com/sarchlab/smsim/isa"

// Scalar video instructions as the pseudo-code of the PTX document has them (Options.Semantics), where GPUs differ
// (docs/deviations.md). Where there is a video unit it computes them; elsewhere they are expanded here.

// document says that the kernel is compiled to the document's results.
func (x *expander) document() bool { return x.f.link.semantics == Document }

// documentVideo is every scalar video instruction but vmad, in 64 bits, which hold each intermediate result exactly.
func (x *expander) documentVideo(op string, dt, at, bt vtype, sat, wrap bool, cmp isa.Cmp, merge videoPart, second string) {
	u, v := x.videoOperand(1, at), x.videoOperand(2, bt)
	a, b := pair{u.lo, x.high(u)}, pair{v.lo, x.high(v)}
	signed := true // the intermediate result is a signed 64-bit number
	var t pair
	switch op {
	case "vadd":
		t = x.add64(pair{}, a, b)
	case "vsub":
		t = x.sub64(pair{}, a, b)
	case "vabsdiff":
		d, m := x.sub64(pair{}, a, b), x.sub64(pair{}, b, a)
		t = x.sel64(pair{}, m, d, x.test(isa.CmpLT, isa.S32, d.hi, rz))
	case "vmin", "vmax":
		t = x.documentMinMax(a, b, true, op == "vmax")
	case "vset":
		t = pair{x.sel(auto, imm(1), rz, x.cmp64(auto, cmp, true, a, b, isa.BoolAnd, pt)), rz}
	default:
		n := b.lo
		if wrap {
			n = x.and(auto, n, imm(31))
		} else {
			n = x.minmax(auto, n, imm(32), false, isa.U32)
		}
		if op == "vshl" {
			t, signed = x.shl64(pair{}, a, n), at.signed() // an unsigned word needs all 64 bits
		} else {
			t = x.shr64(pair{}, a, n, true)
		}
	}
	if sat {
		bits := dt.bits
		if merge.bits < 32 {
			bits = merge.bits
		}
		t, signed = x.documentClamp(t, signed, bits, dt.signed()), true
	}
	d := x.plainDst()
	if merge.bits == 32 && second == "" {
		x.mov(d, t.lo)
		return
	}
	c := x.plainArg(3, "b32")
	switch {
	case merge.bits == 8:
		x.prmt(d, t.lo, imm(mergeSelector(merge)), c)
	case merge.bits == 16:
		x.prmt(d, t.lo, imm([]uint32{0x7610, 0x1054}[merge.index]), c)
	case second == "add":
		x.add(d, t.lo, c)
	default:
		z := pair{c, rz}
		if dt.signed() {
			z.hi = x.signWord(auto, c)
			t.hi = x.signWord(auto, t.lo) // a word of the destination's type
		}
		x.mov(d, x.documentMinMax(t, z, signed, second == "max").lo)
	}
}

// documentMinMax is the smaller or larger of two 64-bit numbers.
func (x *expander) documentMinMax(a, b pair, signed, max bool) pair {
	op := isa.CmpLT
	if max {
		op = isa.CmpGT
	}
	return x.sel64(pair{}, a, b, x.cmp64(auto, op, signed, a, b, isa.BoolAnd, pt))
}

// documentClamp saturates a 64-bit number to so many bits.
func (x *expander) documentClamp(t pair, signed bool, bits int, toSigned bool) pair {
	high := uint32(1<<bits - 1)
	low := pair{rz, rz}
	if toSigned {
		high >>= 1
		low = pair{imm(^high), imm(0xffffffff)}
	}
	t = x.documentMinMax(t, pair{imm(high), rz}, signed, false)
	if !signed { // it is not negative
		return t
	}
	return x.documentMinMax(t, low, true, true)
}

// documentVmad is vmad in 96 bits, which hold the sum exactly.
func (x *expander) documentVmad(at, bt vtype, po, sat bool, shift uint32, negProduct, negC, signed bool) {
	a, b, c := x.videoOperand(1, at), x.videoOperand(2, bt), x.plainArg(3, "b32")
	w := x.documentProduct(a, b)
	one := po
	switch {
	case po:
	case negProduct:
		for i := range w {
			w[i] = x.not(auto, w[i])
		}
		one = true
	case negC:
		c, one = x.not(auto, c), true
	}
	top := rz
	if signed {
		top = x.signWord(auto, c)
	}
	w = x.add96(w, [3]word{c, top, top})
	if one {
		w = x.add96(w, [3]word{imm(1), rz, rz})
	}
	if shift > 0 {
		down := func(lo, hi word) word { return x.or(auto, x.shr(auto, lo, imm(shift)), x.shl(auto, hi, imm(32-shift))) }
		w[0], w[1] = down(w[0], w[1]), down(w[1], w[2])
		if signed {
			w[2] = x.sar(auto, w[2], imm(shift))
		} else {
			w[2] = x.shr(auto, w[2], imm(shift))
		}
	}
	d := x.plainDst()
	switch {
	case !sat:
		x.mov(d, w[0])
	case signed:
		s := x.signWord(auto, w[0])
		p := x.test(isa.CmpEQ, isa.U32, w[1], s)
		p = x.cmp(auto, isa.CmpEQ, isa.U32, w[2], s, isa.BoolAnd, p)
		edge := x.sel(auto, x.mov(auto, imm(0x7fffffff)), imm(0x80000000), x.test(isa.CmpGE, isa.S32, w[2], rz))
		x.sel(d, w[0], edge, p)
	default:
		p := x.test(isa.CmpEQ, isa.U32, x.or(auto, w[1], w[2]), rz)
		x.sel(d, w[0], imm(0xffffffff), p)
	}
}

// documentProduct is the exact product: of unsigned words in 64 bits, else in 64 bits with a sign.
func (x *expander) documentProduct(a, b wideValue) [3]word {
	signedA, signedB := a.kind == highSign, b.kind == highSign
	p := x.mulWide(pair{}, a.lo, b.lo, signedA && signedB)
	if !signedA && !signedB {
		return [3]word{p.lo, p.hi, rz}
	}
	hi := p.hi
	if signedA != signedB { // a negative word is 2^32 less than it seems
		s, o := a.lo, b.lo
		if signedB {
			s, o = o, s
		}
		hi = x.add(auto, hi, x.negate(auto, x.and(auto, x.signWord(auto, s), o)))
	}
	return [3]word{p.lo, hi, x.signWord(auto, hi)}
}

// add96 adds numbers of three words; carries are found by comparison, which every target can.
func (x *expander) add96(a, b [3]word) [3]word {
	one := x.mov(auto, imm(1))
	carry := func(sum, addend word) word { // of sum = something + addend
		return x.sel(auto, one, rz, x.test(isa.CmpLT, isa.U32, sum, addend))
	}
	lo := x.add(auto, x.inReg(a[0]), b[0])
	k := carry(lo, x.inReg(b[0]))
	t := x.add(auto, x.inReg(a[1]), b[1])
	c := carry(t, x.inReg(b[1]))
	mid := x.add(auto, t, k)
	c = x.add(auto, c, carry(mid, k))
	return [3]word{lo, mid, x.add(auto, x.add(auto, x.inReg(a[2]), b[2]), c)}
}
