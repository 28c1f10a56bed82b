package lower

import "github.com/sarchlab/smsim/isa"

// videoFinish saturates, then merges or does the secondary operation, and writes the destination.
func (x *expander) videoFinish(v wideValue, dt vtype, sat, full, signOfLow bool, merge videoPart, second string) {
	hi := v
	if sat {
		if merge.bits < 32 && !full { // a shift saturates to a word
			v.lo = x.videoSatPart(v, dt, merge)
		} else {
			v.lo = x.videoSatWord(v, dt, full)
		}
	}
	d := x.plainDst()
	switch {
	case merge.bits < 32:
		x.prmt(d, v.lo, imm(mergeSelector(merge)), x.plainArg(3, "b32"))
	case second == "add":
		x.add(d, x.plainArg(3, "b32"), v.lo)
	case second != "":
		x.videoSecond(d, v, hi, dt, sat, sat && !signOfLow, second == "max")
	case v.apart:
		x.moveApart(d, v.lo)
	default:
		x.mov(d, v.lo)
	}
}

// mergeSelector puts the low byte of the result, or for the upper half its upper half, into a word (as ptxas
// expands it).
func mergeSelector(p videoPart) uint32 {
	if p.bits == 8 {
		return []uint32{0x7650, 0x7604, 0x7054, 0x0654}[p.index]
	}
	return []uint32{0x7610, 0x3254}[p.index]
}

// videoSatWord saturates to a word. Unless full, an unsigned result only loses negative values.
func (x *expander) videoSatWord(v wideValue, dt vtype, full bool) word {
	switch {
	case !dt.signed() && v.kind == highZero:
		return v.lo
	case !dt.signed() && full && x.sm() >= 120:
		p, q := x.test(isa.CmpNE, isa.U32, x.high(v), rz), x.test(isa.CmpGE, isa.S32, x.high(v), rz)
		t := x.reg() // two instructions: not merged
		x.emit(isa.OpLOP3, isa.Mod{Lut: lutOr, Flags: modKeep}, []word{t, pt}, []word{x.maskIf(p), v.lo, rz})
		return x.and(auto, t, x.maskIf(q))
	case !dt.signed() && full:
		return x.clampToU32(pair{v.lo, x.high(v)}, true)
	case !dt.signed():
		return x.and(auto, x.maskIf(x.test(isa.CmpGE, isa.S32, x.high(v), rz)), v.lo)
	case v.kind == highZero:
		p := x.isZeroKeep(x.signWord(auto, v.lo))
		return x.sel(auto, v.lo, imm(0x7fffffff), p)
	}
	if x.sm() >= 120 {
		return x.videoSatPair(pair{v.lo, x.high(v)})
	}
	return x.videoSatSigned(v.lo, x.high(v))
}

// videoSatPair is videoSatSigned where ptxas keeps the value in a pair: selections instead of a predicated write.
func (x *expander) videoSatPair(v pair) word {
	s := x.xor(auto, x.signWord(auto, v.lo), v.hi)
	edge := x.sel(auto, x.mov(auto, imm(0x7fffffff)), imm(0x80000000), x.test(isa.CmpGE, isa.S32, v.hi, rz))
	return x.sel(auto, v.lo, edge, x.isZeroKeep(s))
}

// videoSatSigned saturates to a signed word where the upper word is not the sign of the lower one.
func (x *expander) videoSatSigned(lo, hi word) word {
	s := x.xor(auto, x.signWord(auto, lo), hi)
	fits := x.isZeroKeep(s)
	top := x.mov(auto, imm(0x7fffffff))
	p := x.test(isa.CmpGE, isa.S32, hi, rz)
	v := lo
	x.under(notP(fits), func() { x.sel(v, top, imm(0x80000000), p) })
	return v
}

// videoSatPart saturates to a byte or half: anything with a nonzero upper word counts as too large.
func (x *expander) videoSatPart(v wideValue, dt vtype, p videoPart) word {
	limit := uint32(1)<<p.bits - 1
	if dt.signed() {
		limit >>= 1
	}
	lo := v.lo
	if v.kind != highZero {
		q := x.test(isa.CmpNE, isa.U32, x.high(v), rz)
		lo = x.or(auto, x.maskIf(q), lo)
	}
	over := x.test(isa.CmpGT, isa.U32, lo, imm(limit))
	lo = x.sel(auto, lo, imm(limit), notP(over))
	if dt.signed() {
		return x.sext(auto, lo, p.bits)
	}
	return x.zext(auto, lo, p.bits)
}

// videoSecond is the secondary minimum or maximum with c, compared in 64 bits.
func (x *expander) videoSecond(d word, v, raw wideValue, dt vtype, sat, clampHigh, max bool) {
	c := x.plainArg(3, "b32")
	op := isa.CmpLT
	if max {
		op = isa.CmpGT
	}
	var vh, ch word
	switch {
	case !sat:
		ch, vh = rz, x.high(v)
		if dt.signed() {
			ch = x.signWord(auto, c)
		}
	case dt.signed():
		ch, vh = x.signWord(auto, c), x.signWord(auto, v.lo)
	case clampHigh && raw.kind == highValue:
		ch = rz
		p := x.test(isa.CmpLT, isa.S32, raw.hi, rz)
		vh = x.sel(auto, raw.hi, rz, notP(p))
	case clampHigh:
		ch, vh = rz, rz
	default:
		ch, vh = rz, x.signWord(auto, v.lo)
	}
	if x.sm() >= 120 {
		sel, t := pt, isa.U64
		if max {
			sel = notPT
		}
		if dt.signed() {
			t = isa.S64
		}
		w := x.regs(2)
		x.emitWide(isa.OpIMNMX, isa.Mod{Type: t}, [][]word{w}, [][]word{{v.lo, vh}, {c, ch}, {sel}})
		x.mov(d, w[0])
		return
	}
	p := x.cmp64(auto, op, dt.signed(), pair{v.lo, vh}, pair{c, ch}, isa.BoolAnd, pt)
	x.sel(d, v.lo, c, p)
}
