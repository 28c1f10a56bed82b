package lower

import "github.com/sarchlab/smsim/isa"

// The 32-bit integer operations that every generation computes somehow. Each takes its destination first
// (auto: a new register) and returns it.

// mov copies a word.
func (x *expander) mov(d, a word) word {
	d = x.out(d)
	x.emit(isa.OpMOV, isa.Mod{}, []word{d}, []word{a})
	return d
}

// movP copies a predicate.
func (x *expander) movP(d, p word) word {
	d = x.outP(d)
	return x.boolOp(d, isa.BoolAnd, p, pt)
}

// inReg gives a as a register, which some operand places need.
func (x *expander) inReg(a word) word {
	if a.Kind == isa.KindReg && a.Flags == 0 {
		return a
	}
	return x.mov(auto, a)
}

// add is d = a + b; both may carry Neg.
func (x *expander) add(d, a, b word) word {
	d = x.out(d)
	switch {
	case x.sm() >= 70:
		x.emit(isa.OpIADD3, isa.Mod{}, []word{d, pt, pt}, []word{a, b, rz})
	case a.Flags&isa.Neg != 0 && b.Flags&isa.Neg != 0:
		// The two-operand adder negates one source.
		t := x.add(auto, neg(a), neg(b))
		x.emit(isa.OpIADD, isa.Mod{}, []word{d}, []word{rz, neg(t)})
	default:
		x.emit(isa.OpIADD, isa.Mod{}, []word{d}, []word{a, b})
	}
	return d
}

// sub is d = a - b.
func (x *expander) sub(d, a, b word) word { return x.add(d, a, neg(b)) }

// negate is d = -a.
func (x *expander) negate(d, a word) word {
	if x.sm() >= 70 {
		d = x.out(d)
		x.emit(isa.OpIADD3, isa.Mod{}, []word{d, pt, pt}, []word{neg(a), rz, rz})
		return d
	}
	return x.add(d, rz, neg(a))
}

// add3 is d = a + b + c.
func (x *expander) add3(d, a, b, c word) word {
	if x.sm() >= 50 {
		d = x.out(d)
		x.emit(isa.OpIADD3, isa.Mod{}, []word{d, pt, pt}, []word{a, b, c})
		return d
	}
	return x.add(d, x.add(auto, a, b), c)
}

// carry is the carry between the words of an addition: a predicate from Volta on, before it the condition code.
type carry struct{ p word }

// addCC is d = a + b and its carry out.
func (x *expander) addCC(d, a, b word) (word, carry) {
	d = x.out(d)
	if x.sm() >= 70 {
		p := x.pred()
		x.emit(isa.OpIADD3, isa.Mod{}, []word{d, p, pt}, []word{a, b, rz})
		return d, carry{p}
	}
	x.emit(isa.OpIADD, isa.Mod{Flags: isa.ModCC}, []word{d}, []word{a, b})
	return d, carry{}
}

// addX is d = a + b + carry; a negated source of the whole addition is given as its complement (inv).
func (x *expander) addX(d, a, b word, c carry) word {
	d = x.out(d)
	if x.sm() >= 70 {
		x.emit(isa.OpIADD3, isa.Mod{Flags: isa.ModX}, []word{d, pt, pt}, []word{a, b, rz, c.p, notPT})
		return d
	}
	x.emit(isa.OpIADD, isa.Mod{Flags: isa.ModX}, []word{d}, []word{a, b})
	return d
}

// addXCC is addX with a carry out.
func (x *expander) addXCC(d, a, b word, c carry) (word, carry) {
	d = x.out(d)
	if x.sm() >= 70 {
		p := x.pred()
		x.emit(isa.OpIADD3, isa.Mod{Flags: isa.ModX}, []word{d, p, pt}, []word{a, b, rz, c.p, notPT})
		return d, carry{p}
	}
	x.emit(isa.OpIADD, isa.Mod{Flags: isa.ModX | isa.ModCC}, []word{d}, []word{a, b})
	return d, carry{}
}

// add64 is d = a + b on two words.
func (x *expander) add64(d, a, b pair) pair {
	lo, c := x.addCC(d.lo, a.lo, b.lo)
	return pair{lo, x.addX(d.hi, a.hi, b.hi, c)}
}

// sub64 is d = a - b on two words.
func (x *expander) sub64(d, a, b pair) pair {
	lo, c := x.addCC(d.lo, a.lo, neg(b.lo))
	return pair{lo, x.addX(d.hi, a.hi, inv(b.hi), c)}
}

// Truth tables of LOP3: the bit of index 4a+2b+c is the result.
const (
	lutA   = 0xf0
	lutB   = 0xcc
	lutC   = 0xaa
	lutAnd = lutA & lutB
	lutOr  = lutA | lutB
	lutXor = lutA ^ lutB
)

// lop3 is d = lut(a, b, c).
func (x *expander) lop3(d, a, b, c word, lut uint8) word {
	d = x.out(d)
	if x.t().Has(isa.OpLOP3) {
		x.emit(isa.OpLOP3, isa.Mod{Lut: lut}, []word{d, pt}, []word{a, b, c})
		return d
	}
	return x.lutTree(d, a, b, c, lut)
}

// and, or, xor and not are the two-input logic operations.
func (x *expander) and(d, a, b word) word { return x.logic(d, a, b, isa.SubAnd, lutAnd) }
func (x *expander) or(d, a, b word) word  { return x.logic(d, a, b, isa.SubOr, lutOr) }
func (x *expander) xor(d, a, b word) word { return x.logic(d, a, b, isa.SubXor, lutXor) }

func (x *expander) logic(d, a, b word, sub isa.Sub, lut uint8) word {
	d = x.out(d)
	if x.t().Has(isa.OpLOP3) {
		x.emit(isa.OpLOP3, isa.Mod{Lut: lut}, []word{d, pt}, []word{a, b, rz})
	} else {
		x.emit(isa.OpLOP, isa.Mod{Sub: sub}, []word{d}, []word{a, b})
	}
	return d
}

// not is d = ~a.
func (x *expander) not(d, a word) word {
	d = x.out(d)
	if x.t().Has(isa.OpLOP3) {
		x.emit(isa.OpLOP3, isa.Mod{Lut: 0x33}, []word{d, pt}, []word{rz, a, rz})
	} else {
		x.emit(isa.OpLOP, isa.Mod{Sub: isa.SubPassB}, []word{d}, []word{rz, inv(a)})
	}
	return d
}

// shl, shr and sar are d = a << n, a >> n, and a >> n with sign; n is unsigned and clamps at 32.
func (x *expander) shl(d, a, n word) word {
	d = x.out(d)
	if x.sm() >= 70 {
		x.emit(isa.OpSHF, isa.Mod{Type: isa.U32, Flags: isa.ModLeft}, []word{d}, []word{a, n, rz})
	} else {
		x.emit(isa.OpSHL, isa.Mod{}, []word{d}, []word{a, n})
	}
	return d
}

func (x *expander) shr(d, a, n word) word { return x.shiftRight(d, a, n, isa.U32) }
func (x *expander) sar(d, a, n word) word { return x.shiftRight(d, a, n, isa.S32) }

func (x *expander) shiftRight(d, a, n word, t isa.Type) word {
	d = x.out(d)
	if x.sm() >= 70 {
		x.emit(isa.OpSHF, isa.Mod{Type: t, Flags: isa.ModRight | isa.ModHI}, []word{d}, []word{rz, n, a})
	} else {
		x.emit(isa.OpSHR, isa.Mod{Type: t}, []word{d}, []word{a, n})
	}
	return d
}

// signWord is all copies of a's sign bit.
func (x *expander) signWord(d, a word) word { return x.sar(d, a, imm(31)) }

// cmp is p = a <op> b in type t (U32 or S32), combined with q by bool.
func (x *expander) cmp(p word, op isa.Cmp, t isa.Type, a, b word, combine isa.BoolOp, q word) word {
	p = x.outP(p)
	x.cmp2(p, pt, op, t, a, b, combine, q)
	return p
}

// cmp2 also writes n = !(a <op> b) combined with q.
func (x *expander) cmp2(p, n word, op isa.Cmp, t isa.Type, a, b word, combine isa.BoolOp, q word) {
	x.emit(isa.OpISETP, isa.Mod{Type: t, Cmp: op, Bool: combine}, []word{p, n}, []word{a, b, q})
}

// test is cmp without combination.
func (x *expander) test(op isa.Cmp, t isa.Type, a, b word) word {
	return x.cmp(auto, op, t, a, b, isa.BoolAnd, pt)
}

// wide64 gives a pair as one operand of 64-bit instructions: an immediate when it is a sign-extended one.
func (x *expander) wide64(a pair) []word {
	lo, ok := constant(a.lo)
	hi, okHi := constant(a.hi)
	if ok && okHi && uint32(int32(lo)>>31) == hi {
		return []word{immWide(lo)}
	}
	return a.words()
}

// cmp64 is cmp on 64-bit values.
func (x *expander) cmp64(p word, op isa.Cmp, signed bool, a, b pair, combine isa.BoolOp, q word) word {
	p = x.outP(p)
	x.cmp64x2(p, pt, op, signed, a, b, combine, q)
	return p
}

// cmp64x2 compares 64-bit values: p = (a op b) combined with q, n its complement combined with q.
func (x *expander) cmp64x2(p, n word, op isa.Cmp, signed bool, a, b pair, combine isa.BoolOp, q word) {
	hi := isa.U32
	if signed {
		hi = isa.S32
	}
	if x.sm() >= 120 {
		t := isa.U64
		if signed {
			t = isa.S64
		}
		x.emitWide(isa.OpISETP, isa.Mod{Type: t, Cmp: op, Bool: combine}, [][]word{{p}, {n}}, [][]word{x.wide64(a), x.wide64(b), {q}})
		return
	}
	if x.sm() >= 70 {
		lo := x.test(op, isa.U32, a.lo, b.lo)
		x.emit(isa.OpISETP, isa.Mod{Type: hi, Cmp: op, Bool: combine, Flags: isa.ModEX}, []word{p, n}, []word{a.hi, b.hi, q, lo})
		return
	}
	// Before Volta: the low words decide when the high words are equal.
	var r word
	switch op {
	case isa.CmpEQ:
		lo := x.test(isa.CmpEQ, isa.U32, a.lo, b.lo)
		r = x.cmp(auto, isa.CmpEQ, isa.U32, a.hi, b.hi, isa.BoolAnd, lo)
	case isa.CmpNE:
		lo := x.test(isa.CmpNE, isa.U32, a.lo, b.lo)
		r = x.cmp(auto, isa.CmpNE, isa.U32, a.hi, b.hi, isa.BoolOr, lo)
	default:
		strict := map[isa.Cmp]isa.Cmp{isa.CmpLT: isa.CmpLT, isa.CmpLE: isa.CmpLT, isa.CmpGT: isa.CmpGT, isa.CmpGE: isa.CmpGT}[op]
		lo := x.test(op, isa.U32, a.lo, b.lo)
		eq := x.cmp(auto, isa.CmpEQ, isa.U32, a.hi, b.hi, isa.BoolAnd, lo)
		r = x.cmp(auto, strict, hi, a.hi, b.hi, isa.BoolOr, eq)
	}
	if combine == isa.BoolAnd && q == pt && n == pt {
		x.movP(p, r)
		return
	}
	x.boolOp2(p, n, combine, r, q)
}

// sel is d = p ? a : b.
func (x *expander) sel(d, a, b, p word) word {
	d = x.out(d)
	x.emit(isa.OpSEL, isa.Mod{}, []word{d}, []word{a, b, p})
	return d
}

// sel64 is sel on both words.
func (x *expander) sel64(d, a, b pair, p word) pair {
	return pair{x.sel(d.lo, a.lo, b.lo, p), x.sel(d.hi, a.hi, b.hi, p)}
}

// boolOp is p = a op b on predicates.
func (x *expander) boolOp(p word, op isa.BoolOp, a, b word) word {
	p = x.outP(p)
	x.boolOp2(p, pt, op, a, b)
	return p
}

// boolOp2 is p = a op b and n = !a op b.
func (x *expander) boolOp2(p, n word, op isa.BoolOp, a, b word) {
	if x.sm() >= 70 {
		lut := map[isa.BoolOp]uint8{isa.BoolAnd: lutAnd, isa.BoolOr: lutOr, isa.BoolXor: lutXor}[op]
		lut2 := map[isa.BoolOp]uint8{isa.BoolAnd: ^uint8(lutA) & lutB, isa.BoolOr: ^uint8(lutA) | lutB, isa.BoolXor: ^uint8(lutA) ^ lutB}[op]
		x.emit(isa.OpPLOP3, isa.Mod{Lut: lut, Lut2: lut2}, []word{p, n}, []word{a, b, pt})
		return
	}
	x.emit(isa.OpPSETP, isa.Mod{Bool: op}, []word{p, n}, []word{a, b, pt})
}

// minmax is d = min(a, b) or max(a, b) in type t (U32 or S32).
func (x *expander) minmax(d, a, b word, max bool, t isa.Type) word {
	d = x.out(d)
	p := pt
	if max {
		p = notPT
	}
	switch sm := x.sm(); {
	case sm >= 90:
		x.emit(isa.OpVIMNMX, isa.Mod{Type: t}, []word{d}, []word{a, b, p})
	case x.t().Has(isa.OpIMNMX) && sm != 70:
		x.emit(isa.OpIMNMX, isa.Mod{Type: t}, []word{d}, []word{a, b, p})
	default: // sm_70 has no integer min/max, and neither has compute capability 1.x in this form
		op := isa.CmpLT
		if max {
			op = isa.CmpGT
		}
		q := x.test(op, t, a, b)
		x.sel(d, a, b, q)
	}
	return d
}

// prmt picks the bytes of {b, a} that the selector names.
func (x *expander) prmt(d, a, sel, b word) word {
	d = x.out(d)
	if s, ok := constant(sel); ok && !x.t().Has(isa.OpPRMT) {
		return x.permuteBytes(d, a, s, b)
	}
	if !x.t().Has(isa.OpPRMT) {
		return x.permuteVar(d, a, sel, b)
	}
	x.emit(isa.OpPRMT, isa.Mod{}, []word{d}, []word{a, sel, b})
	return d
}

// given is a value that needs no instruction: itself where auto leaves the place open, else a copy in d.
func (x *expander) given(d, a word) word {
	if d.Kind == isa.KindNone {
		return a
	}
	return x.mov(d, a)
}

// zext and sext extend the low bits (8 or 16) of a to a word, the way the target's compiler does. With auto a
// constant stays one.
func (x *expander) zext(d, a word, bits int) word {
	if bits >= 32 {
		return x.given(d, a)
	}
	if v, ok := constant(a); ok {
		return x.given(d, imm(v&(1<<bits-1)))
	}
	return x.and(d, a, imm(1<<bits-1))
}

func (x *expander) sext(d, a word, bits int) word {
	if bits >= 32 {
		return x.given(d, a)
	}
	if v, ok := constant(a); ok {
		return x.given(d, imm(uint32(int32(v<<(32-bits))>>(32-bits))))
	}
	switch {
	case x.sm() >= 70 && bits == 16:
		return x.prmt(d, a, imm(0x9910), rz)
	case x.sm() >= 70 && bits == 8:
		return x.prmt(d, a, imm(0x8880), rz)
	default:
		return x.bfe(d, a, 0, bits, true)
	}
}

// half is the value v of an expansion as a 16-bit result, which ptxas truncates.
func (x *expander) half(d, v word) word {
	d = x.out(d)
	x.emit(isa.OpPRMT, isa.Mod{Size: sizeHalf}, []word{d}, []word{v, imm(0x7710), rz})
	return d
}

// extInto is ext for a result of the type's instruction: in a 16-bit register the sign of a byte reaches to bit 15 only.
func (x *expander) extInto(d, a word, t vtype) {
	if _, known := constant(a); t.name == "u16" && !known && x.sm() >= 70 && d.Kind == isa.KindReg && !x.f.halves[d.Reg] {
		x.emit(isa.OpLOP3, isa.Mod{Lut: lutAnd, Size: sizeZero}, []word{d, pt}, []word{a, imm(0xffff), rz})
		return
	}
	if t.signed() && t.bits == 8 && x.sm() >= 70 && d.Kind == isa.KindReg && x.f.halves[d.Reg] {
		x.emit(isa.OpPRMT, isa.Mod{Size: sizeZero}, []word{d}, []word{x.sext(auto, a, 8), imm(0x7710), rz})
		return
	}
	x.ext(d, a, t)
}

// ext is zext or sext by type: a 32-bit word that holds the value of a narrower operand.
func (x *expander) ext(d, a word, t vtype) word {
	if t.signed() {
		return x.sext(d, a, t.bits)
	}
	return x.zext(d, a, t.bits)
}

// bfe extracts len bits at pos, both constants with pos+len <= 32.
func (x *expander) bfe(d, a word, pos, length int, signed bool) word {
	d = x.out(d)
	t := isa.U32
	if signed {
		t = isa.S32
	}
	switch {
	case x.sm() >= 70:
		if pos > 0 {
			a = x.shiftRight(auto, a, imm(uint32(pos)), t)
		}
		x.emit(isa.OpSGXT, isa.Mod{Type: t}, []word{d}, []word{a, imm(uint32(length))})
	case x.sm() >= 20:
		x.emit(isa.OpBFE, isa.Mod{Type: t}, []word{d}, []word{a, imm(uint32(pos | length<<8))})
	default:
		if pos+length < 32 {
			a = x.shl(auto, a, imm(uint32(32-pos-length)))
		}
		x.shiftRight(d, a, imm(uint32(32-length)), t)
	}
	return d
}
