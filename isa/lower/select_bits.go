package lower

import "github.com/sarchlab/smsim/isa"

// popc is the population count of a word.
func (x *expander) popc(d, a word) word {
	if !x.t().Has(isa.OpPOPC) {
		return x.popcSteps(d, a)
	}
	d = x.out(d)
	x.emit(isa.OpPOPC, isa.Mod{}, []word{d}, []word{a})
	return d
}

// flo is the position of the leading one (or non-sign bit), all ones when there is none; shift: counted from the top.
func (x *expander) flo(d, a word, signed, shift bool) word {
	d = x.out(d)
	if !x.t().Has(isa.OpFLO) {
		if signed {
			a = x.xor(auto, a, x.signWord(auto, a))
		}
		if !shift {
			return x.floSteps(d, a)
		}
		n := x.floSteps(auto, a)
		p := x.test(isa.CmpEQ, isa.U32, n, imm(0xffffffff))
		return x.sel(d, imm(0xffffffff), x.sub(auto, imm(31), n), p)
	}
	m := isa.Mod{Type: signedType(signed)}
	if shift {
		m.Flags = isa.ModSH
	}
	x.emit(isa.OpFLO, m, []word{d}, []word{a})
	return d
}

// brev reverses the bits of a word.
func (x *expander) brev(d, a word) word {
	switch sm := x.sm(); {
	case sm >= 70:
		d = x.out(d)
		x.emit(isa.OpBREV, isa.Mod{}, []word{d}, []word{a})
		return d
	case sm >= 20:
		d = x.out(d)
		x.emit(isa.OpBFE, isa.Mod{Type: isa.U32, Flags: isa.ModBrev}, []word{d}, []word{a, imm(32 << 8)})
		return d
	}
	return x.brevSteps(d, a)
}

// rulePopc is popc.
func rulePopc(x *expander) {
	t := x.typ("b32 b64")
	if !x.args(2, 2) {
		return
	}
	d := x.d32(0, "u32")
	if t.wide() {
		a := x.a64(1, t.name)
		lo, hi := x.popc(auto, a.lo), x.popc(auto, a.hi)
		x.add(d, lo, hi)
		return
	}
	x.popc(d, x.a32(1, t.name))
}

// ruleClz is clz; the result is a word for .b64 too.
func ruleClz(x *expander) {
	t := x.typ("b32 b64")
	if !x.args(2, 2) {
		return
	}
	d := x.d32(0, "u32")
	if !t.wide() {
		n := x.flo(auto, x.a32(1, t.name), false, false)
		x.add(d, neg(n), imm(31))
		return
	}
	a := x.a64(1, t.name)
	p := x.test(isa.CmpNE, isa.U32, a.hi, rz)
	n := x.flo(auto, x.sel(auto, a.lo, a.hi, notP(p)), false, false)
	lo := x.add(auto, neg(n), imm(63))
	hi := x.add(auto, neg(n), imm(31))
	if x.sm() < 70 {
		x.sel(d, hi, lo, p)
		return
	}
	v := x.mov(auto, lo)
	x.under(p, func() { x.mov(v, hi) })
	x.moveApart(d, v)
}

// ruleBrev is brev.
func ruleBrev(x *expander) {
	t := x.typ("b32 b64")
	if !x.args(2, 2) {
		return
	}
	if t.wide() {
		a, d := x.a64(1, t.name), x.d64(0, t.name)
		lo := x.brev(auto, a.hi)
		x.brev(d.hi, a.lo)
		x.mov(d.lo, lo)
		return
	}
	x.brev(x.d32(0, t.name), x.a32(1, t.name))
}

// ruleBfind is bfind.
func ruleBfind(x *expander) {
	shift := x.has("shiftamt")
	t := x.typ("u32 s32 u64 s64")
	if !x.args(2, 2) {
		return
	}
	d := x.d32(0, "u32")
	if !t.wide() {
		x.flo(d, x.a32(1, t.name), t.signed(), shift)
		return
	}
	a := x.a64(1, t.name)
	lo := a.lo
	if t.signed() { // below a negative high word the zeros count
		lo = x.xor(auto, a.lo, x.signWord(auto, a.hi))
	}
	h := x.flo(auto, a.hi, t.signed(), shift)
	l := x.flo(auto, lo, false, shift)
	inHigh := x.test(isa.CmpNE, isa.U32, h, imm(0xffffffff))
	if !shift {
		x.sel(d, x.add(auto, h, imm(32)), l, inHigh)
		return
	}
	inLow := x.test(isa.CmpNE, isa.U32, l, imm(0xffffffff))
	l = x.sel(auto, x.add(auto, l, imm(32)), imm(0xffffffff), inLow)
	x.sel(d, h, l, inHigh)
}

// ruleBfe is bfe: pos and len are the low bytes of their operands, but for 64 bits (amount64).
func ruleBfe(x *expander) {
	t := x.typ("u32 s32 u64 s64")
	if !x.args(4, 4) {
		return
	}
	pos, length := x.a32(2, "u32"), x.a32(3, "u32")
	if t.wide() {
		x.bfe64(x.d64(0, t.name), x.a64(1, t.name), pos, length, t.signed())
		return
	}
	d, a := x.d32(0, t.name), x.a32(1, t.name)
	m := signedType(t.signed())
	p, known := constant(pos)
	n, knownLen := constant(length)
	switch {
	case known && knownLen:
		p, n = p&0xff, n&0xff
		x.bfeConst(d, a, int(p), int(n), t.signed())
	case x.sm() >= 70:
		// ptxas packs position and length as Maxwell's BFE takes them, and unpacks them again.
		ctl := x.prmt(auto, length, imm(0x7604), pos)
		pb := x.prmt(auto, rz, imm(0x4), ctl)
		nb := x.prmt(auto, rz, imm(0x5), ctl)
		x.emit(isa.OpSGXT, isa.Mod{Type: m}, []word{d}, []word{x.shiftRight(auto, a, pb, m), nb})
	case x.sm() >= 20:
		x.emit(isa.OpBFE, isa.Mod{Type: m}, []word{d}, []word{a, x.packField(pos, length)})
	default:
		x.bfeSteps(d, a, pos, length, t.signed())
	}
}

// toReg gives constants other than zero as registers, for operand places that take only registers.
func (x *expander) toReg(a word) word {
	if _, known := constant(a); known && !isZero(a) {
		return x.mov(auto, a)
	}
	return a
}

// packField is pos | len<<8 for BFE and BFI.
func (x *expander) packField(pos, length word) word {
	ctl := x.reg()
	x.emit(isa.OpBFI, isa.Mod{}, []word{ctl}, []word{length, imm(8 | 8<<8), pos})
	return ctl
}

// bfeConst extracts a field of constant position and length, as the document defines it beyond bit 31 too.
func (x *expander) bfeConst(d, a word, pos, length int, signed bool) {
	switch {
	case length == 0 || pos > 31 && !signed:
		x.mov(d, imm(0))
	case pos > 31:
		x.signWord(d, a)
	case length%8 == 0 && pos%8 == 0 && pos+length <= 32 && length < 32 && !signed && x.sm() >= 70: // whole bytes: ptxas permutes
		sel := uint32(0)
		for i := range 4 {
			n := uint32(7) // a zero of RZ
			if i < length/8 {
				n = uint32(pos/8 + i)
			}
			sel |= n << (4 * i)
		}
		x.prmt(d, a, imm(sel), rz)
	case pos+length == 32 && pos > 0 && x.sm() >= 70: // ptxas keeps the extension that changes nothing
		x.emit(isa.OpSGXT, isa.Mod{Type: signedType(signed), Flags: modKeep}, []word{d},
			[]word{x.shiftRight(auto, a, imm(uint32(pos)), signedType(signed)), imm(uint32(length))})
	case pos+length >= 32:
		x.shiftRight(d, a, imm(uint32(pos)), signedType(signed))
	default:
		x.bfe(d, a, pos, length, signed)
	}
}

// bfeSteps extracts a field of variable position and length with shifts.
func (x *expander) bfeSteps(d, a, pos, length word, signed bool) {
	pos, length = x.and(auto, pos, imm(0xff)), x.and(auto, length, imm(0xff))
	m := signedType(signed)
	v := x.shiftRight(auto, a, pos, m)
	up := x.sub(auto, imm(32), length)
	p := x.test(isa.CmpGE, isa.U32, length, imm(32))
	up = x.sel(auto, rz, up, p)
	none := x.test(isa.CmpEQ, isa.U32, length, rz)
	v = x.shiftRight(auto, x.shl(auto, v, up), up, m)
	x.sel(d, rz, v, none)
}

// amount64 is the position or length of a 64-bit field. The document takes its low byte; GPUs take all of it, and 64
// and more act alike (docs/deviations.md).
func (x *expander) amount64(n word) word {
	v, known := constant(n)
	switch {
	case known && x.document():
		return imm(min(v&0xff, 64))
	case known:
		return imm(min(v, 64))
	case x.document():
		return x.and(auto, n, imm(0xff))
	}
	return n
}

// bfe64 extracts a field of a 64-bit value: mask of len ones, and for signed ones above when the top bit of the field is set.
func (x *expander) bfe64(d, a pair, pos, length word, signed bool) {
	pos, length = x.amount64(pos), x.amount64(length)
	at, knownPos := constant(pos)
	if n, known := constant(length); known && knownPos && n <= 64 {
		m := uint64(1)<<n - 1
		mask := pair{immWord(uint32(m)), immWord(uint32(m >> 32))}
		switch {
		case n == 0:
			x.mov(d.lo, rz)
			x.mov(d.hi, rz)
			return
		case !signed && at < 64:
			s := x.shr64(pair{}, a, pos, false)
			if at == 0 {
				s = a
			}
			x.and(d.lo, s.lo, mask.lo)
			x.and(d.hi, s.hi, mask.hi)
			return
		}
	}
	var mask pair
	if n, known := constant(length); known && n > 0 && n < 64 {
		m := uint64(1)<<n - 1
		mask = pair{immWord(uint32(m)), immWord(uint32(m >> 32))}
	} else {
		mask = x.sub1(x.shl64(pair{}, pair{imm(1), rz}, length))
	}
	s := x.shr64(pair{}, a, pos, signed)
	v := pair{x.and(auto, s.lo, mask.lo), x.and(auto, s.hi, mask.hi)}
	if !signed {
		x.mov(d.lo, v.lo)
		x.mov(d.hi, v.hi)
		return
	}
	top := x.shr64(pair{}, v, x.add(auto, length, imm(0xffffffff)), false)
	p := x.cmp64(auto, isa.CmpNE, false, top, pair{rz, rz}, isa.BoolAnd, pt)
	f := pair{x.lop3(auto, v.lo, mask.lo, rz, 0xf3), x.lop3(auto, v.hi, mask.hi, rz, 0xf3)}
	x.sel64(d, f, v, p)
}

// sub1 is a - 1.
func (x *expander) sub1(a pair) pair {
	return x.add64(pair{}, a, pair{imm(0xffffffff), imm(0xffffffff)})
}

// ruleBfi is bfi: a's low bits replace len bits of b at pos.
func ruleBfi(x *expander) {
	t := x.typ("b32 b64")
	if !x.args(5, 5) {
		return
	}
	pos, length := x.a32(3, "u32"), x.a32(4, "u32")
	if t.wide() {
		x.bfi64(x.d64(0, t.name), x.a64(1, t.name), x.a64(2, t.name), pos, length)
		return
	}
	d, a, b := x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name)
	p, known := constant(pos)
	n, knownLen := constant(length)
	switch {
	case known && knownLen:
		p, n = p&0xff, n&0xff
		var mask uint32
		if p < 32 {
			mask = uint32((uint64(1)<<min(n, 32) - 1) << p)
		}
		if x.sm() >= 20 && x.sm() < 70 {
			x.emit(isa.OpBFI, isa.Mod{}, []word{d}, []word{a, imm(p | n<<8), b})
			return
		}
		if mask == 0 {
			x.mov(d, b)
			return
		}
		if x.sm() >= 70 && p > 0 && p&7 == 0 && n&7 == 0 { // whole bytes
			sel := uint32(0x7654)
			for i := p / 8; i < min(4, (p+n)/8); i++ {
				sel = sel&^(0xf<<(4*i)) | (i-p/8)<<(4*i)
			}
			x.prmt(d, a, imm(sel), b)
			return
		}
		if p > 0 {
			a = x.shl(auto, a, imm(p))
		}
		x.lop3(d, a, imm(mask), b, 0xe2)
	case x.sm() >= 70:
		ctl := x.prmt(auto, x.toReg(length), imm(0x7604), x.toReg(pos))
		pb := x.prmt(auto, rz, imm(0x4), ctl)
		nb := x.prmt(auto, rz, imm(0x5), ctl)
		v := x.shl(auto, a, pb)
		m := x.reg()
		x.emit(isa.OpBMSK, isa.Mod{}, []word{m}, []word{pb, nb})
		x.lop3(d, v, m, b, 0xe2)
	case x.sm() >= 20:
		x.emit(isa.OpBFI, isa.Mod{}, []word{d}, []word{a, x.packField(pos, length), b})
	default:
		pos, length = x.and(auto, pos, imm(0xff)), x.and(auto, length, imm(0xff))
		m := x.shl(auto, x.maskOf(length), pos)
		x.lop3(d, x.shl(auto, a, pos), m, b, 0xe2)
	}
}

// maskOf is n ones from bit 0; n clamps at 32.
func (x *expander) maskOf(n word) word {
	return x.not(auto, x.shl(auto, x.mov(auto, imm(0xffffffff)), n))
}

func (x *expander) bfi64(d, a, b pair, pos, length word) {
	pos, length = x.amount64(pos), x.amount64(length)
	var mask pair
	if n, known := constant(length); known {
		m := uint64(1)<<n - 1
		mask = pair{imm(uint32(m)), imm(uint32(m >> 32))}
	} else {
		mask = x.sub1(x.shl64(pair{}, pair{imm(1), rz}, length))
	}
	v := pair{x.and(auto, a.lo, mask.lo), x.and(auto, a.hi, mask.hi)}
	if isZero(mask.hi) {
		v.hi = rz
	}
	m := x.shl64(pair{}, pair{x.toReg(mask.lo), mask.hi}, pos)
	v = x.shl64(pair{}, v, pos)
	lo := x.lop3(auto, v.lo, b.lo, m.lo, 0xf4)
	hi := x.lop3(auto, v.hi, b.hi, m.hi, 0xf4)
	x.mov(d.lo, lo)
	x.mov(d.hi, hi)
}

// ruleSzext is szext: sign or zero extension from bit n-1.
func ruleSzext(x *expander) {
	mode := x.take("clamp", "wrap")
	if mode == "" {
		x.fail("szext lacks .clamp or .wrap")
		return
	}
	t := x.typ("u32 s32")
	if !x.args(3, 3) {
		return
	}
	d, a, n := x.d32(0, t.name), x.a32(1, t.name), x.a32(2, "u32")
	m := signedType(t.signed())
	if x.t().Has(isa.OpSGXT) {
		mod := isa.Mod{Type: m}
		if mode == "wrap" {
			mod.Flags = isa.ModWrap
		}
		x.emit(isa.OpSGXT, mod, []word{d}, []word{a, n})
		return
	}
	none := x.test(isa.CmpEQ, isa.U32, n, rz)
	if mode == "wrap" {
		n = x.and(auto, n, imm(31))
		none = x.test(isa.CmpEQ, isa.U32, n, rz)
	} else {
		n = x.minmax(auto, n, imm(32), false, isa.U32)
	}
	up := x.sub(auto, imm(32), n)
	v := x.shiftRight(auto, x.shl(auto, a, up), up, m)
	x.sel(d, rz, v, none)
}

// ruleBmsk is bmsk: b ones from bit a.
func ruleBmsk(x *expander) {
	mode := x.take("clamp", "wrap")
	if mode == "" {
		x.fail("bmsk lacks .clamp or .wrap")
		return
	}
	t := x.typ("b32")
	if !x.args(3, 3) {
		return
	}
	d, a, n := x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name)
	if x.t().Has(isa.OpBMSK) {
		mod := isa.Mod{}
		if mode == "wrap" {
			mod.Flags = isa.ModWrap
		}
		x.emit(isa.OpBMSK, mod, []word{d}, []word{a, n})
		return
	}
	if mode == "wrap" {
		a, n = x.and(auto, a, imm(31)), x.and(auto, n, imm(31))
	}
	x.shl(d, x.maskOf(n), a)
}
