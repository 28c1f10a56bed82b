package lower

import "github.com/sarchlab/smsim/isa"

// pairTerm is one addend of a 64-bit addition: its two words.
type pairTerm struct{ lo, hi isa.Operand }

func pairTerms(in *isa.Inst) []pairTerm {
	var t []pairTerm
	for k := range 3 {
		if !isZero(in.Src[k]) || !isZero(in.Src[3+k]) {
			t = append(t, pairTerm{in.Src[k], in.Src[3+k]})
		}
	}
	return t
}

func setPairTerms(in *isa.Inst, t []pairTerm) {
	for k := range 3 {
		in.Src[k], in.Src[3+k] = rz, rz
		if k < len(t) {
			in.Src[k], in.Src[3+k] = t[k].lo, t[k].hi
		}
	}
}

// constant64 is the value of a pair of constants.
func (t pairTerm) constant64() (int64, bool) {
	lo, ok1 := constant(t.lo)
	hi, ok2 := constant(t.hi)
	if t.lo.Is(isa.Neg) && t.lo.Kind == isa.KindImm {
		ok1 = false
	}
	return int64(uint64(hi)<<32 | uint64(lo)), ok1 && ok2
}

// constantPair is a 64-bit constant.
func constantPair(v int64) pairTerm { return pairTerm{immWord(uint32(v)), immWord(uint32(v >> 32))} }

// innerPair is the instruction that defines both words of a term, each read only here.
func (u *fuser) innerPair(t pairTerm) *isa.Inst {
	if t.lo.Flags != 0 || t.hi.Flags != 0 {
		return nil
	}
	d := u.inner(&t.lo)
	if d == nil {
		return nil
	}
	if u.inner(&t.hi) != d || !u.f.definesPair(d, t.lo.Reg, t.hi.Reg) {
		return nil
	}
	return d
}

// definesPair says that the instruction's 64-bit result has these registers as low and high word, in this order.
func (f *fn) definesPair(d *isa.Inst, lo, hi isa.Reg) bool {
	if d.Dst[0].Flags&flagPair != 0 {
		regs := f.tuples[d.Dst[0].Reg]
		return len(regs) == 2 && regs[0] == lo && regs[1] == hi
	}
	return (isAdd64(d) || isLea64(d)) && d.Dst[0].Reg == lo && d.Dst[1].Reg == hi
}

// pairDefinition is the instruction that defines both words of a term.
func (u *fuser) pairDefinition(t pairTerm) *isa.Inst {
	if t.lo.Flags != 0 || t.hi.Flags != 0 || t.lo.Kind != isa.KindReg || t.hi.Kind != isa.KindReg || t.lo.Reg < isa.VirtualBase || t.hi.Reg < isa.VirtualBase {
		return nil
	}
	l, h := u.n.of(isa.KindReg, t.lo.Reg), u.n.of(isa.KindReg, t.hi.Reg)
	if l >= len(u.defs) || h >= len(u.defs) {
		return nil
	}
	d := u.definition(l)
	if d == nil || u.definition(h) != d || !u.f.definesPair(d, t.lo.Reg, t.hi.Reg) {
		return nil
	}
	return d
}

// fuseAdd64 merges 64-bit products, sums and shifts into a 64-bit addition.
func (u *fuser) fuseAdd64(in *isa.Inst) bool {
	t := pairTerms(in)
	for k := range t {
		rest := append(append([]pairTerm(nil), t[:k]...), t[k+1:]...)
		if len(rest) == 1 && rest[0].lo.Flags == 0 && rest[0].hi.Flags == 0 && in.Guard.Kind == isa.KindNone {
			if u.wideProduct(in, t[k], rest[0]) || u.wideShift(in, t[k], rest[0]) {
				return false
			}
		}
		d := u.innerPair(t[k])
		if d == nil || !isAdd64(d) {
			continue
		}
		sub := pairTerms(d)
		if len(sub)+len(rest) > 3 {
			continue
		}
		// Two constants become one..
		all := append(rest, sub...)
		negated := 0
		for _, x := range all {
			if x.lo.Is(isa.Neg) || x.hi.Is(isa.Neg) {
				negated++
			}
		}
		if len(all) == 3 && (negated == 3 || u.f.t.SM >= 120) { // IADD.64 has two addends
			continue
		}
		var sum int64
		var kept []pairTerm
		for _, x := range all {
			if c, ok := x.constant64(); ok {
				sum += c
			} else {
				kept = append(kept, x)
			}
		}
		if sum != 0 {
			if len(kept) == 2 { // the constant stays outside, where an address can take it
				continue
			}
			kept = append(kept, pairTerm{immWord(uint32(sum)), immWord(uint32(uint64(sum) >> 32))})
		}
		setPairTerms(in, kept)
		u.take(d)
		return true
	}
	return len(t) == 2 && (u.highSum(in, t, 0) || u.highSum(in, t, 1))
}

// highSum takes a sum of two words that is an addend's high word into the addition of the high words, which has room for a third:
// the cross products of a 64-bit product.
func (u *fuser) highSum(in *isa.Inst, t []pairTerm, k int) bool {
	if u.f.t.SM < 70 || u.f.t.SM >= 120 {
		return false
	}
	for _, x := range t {
		if x.lo.Flags != 0 || x.hi.Flags != 0 || isZero(x.lo) {
			return false
		}
	}
	d := u.inner(&t[k].hi)
	if d == nil || d.Op != isa.OpIADD3 || d.Mod.Flags&^modKeep != 0 || !plainPreds(d) {
		return false
	}
	sub := terms(d, 3)
	if len(sub) != 2 || sub[0].Flags != 0 || sub[1].Flags != 0 || sub[0].Kind != isa.KindReg || sub[1].Kind != isa.KindReg {
		return false
	}
	all := append([]pairTerm(nil), t...)
	all[k].hi = sub[0]
	setPairTerms(in, append(all, pairTerm{rz, sub[1]}))
	u.take(d)
	return true
}

// wideProduct makes IMAD.WIDE with a 64-bit addend of a widening product and an addition.
func (u *fuser) wideProduct(in *isa.Inst, p, other pairTerm) bool {
	// A product that others read too stays for them: one instruction instead of two is gained in any case.
	d := u.pairDefinition(p)
	if d == nil || d.Op != isa.OpIMAD || !d.Mod.Has(isa.ModWide) || d.Mod.Has(isa.ModX) || !isZero(d.Src[2]) || d.NDst > 1 && d.Dst[1] != pt {
		return false
	}
	dst, c, ok := u.wideOperands(in, other)
	if !ok {
		return false
	}
	in.Op, in.Mod, in.NDst, in.NSrc = isa.OpIMAD, d.Mod, 1, 3
	in.Dst = [isa.MaxDst]isa.Operand{dst}
	in.Src = [isa.MaxSrc]isa.Operand{d.Src[0], d.Src[1], c}
	return true
}

// wideOperands are the destination and addend of a 64-bit addition as register pairs, if they can be pairs.
func (u *fuser) wideOperands(in *isa.Inst, other pairTerm) (dst, c isa.Operand, ok bool) {
	f := u.f
	if other.lo.Kind == isa.KindConst && consecutiveConst([]word{other.lo, other.hi}) {
		c = other.lo
		c.Flags |= flagPair | isa.Wide64
	} else {
		regs, good := f.tupleOf([]word{other.lo, other.hi})
		if !good {
			return dst, c, false
		}
		c = tupleOperand(regs)
	}
	regs, good := f.tupleOf([]word{in.Dst[0], in.Dst[1]})
	if !good {
		return dst, c, false
	}
	return tupleOperand(regs), c, true
}

// wideShift makes a 64-bit shift and addition a pair of LEA, or IMAD.WIDE when the shifted value is a word of this block. ptxas does
// not see that the upper word is zero where another block widened it.
func (u *fuser) wideShift(in *isa.Inst, p, other pairTerm) bool {
	if p.lo.Flags != 0 || p.hi.Flags != 0 {
		return false
	}
	l, h := u.inner(&p.lo), u.inner(&p.hi)
	if l == nil || h == nil || !isShiftLeft(l) {
		return false
	}
	n, _ := constant(l.Src[1])
	var hiWord isa.Operand
	switch {
	case h.Op == isa.OpSHF && h.Mod.Has(isa.ModLeft|isa.ModHI) && h.Src[0] == l.Src[0] && isImm(h.Src[1], n) && h.Src[2].Flags == 0:
		hiWord = h.Src[2]
	case h.Op == isa.OpSHF && h.Mod.Has(isa.ModRight|isa.ModHI) && h.Mod.Type == isa.U32 && h.Src[2] == l.Src[0] && isImm(h.Src[1], 32-n) && isZero(h.Src[0]):
		hiWord = rz
	default:
		return false
	}
	a := l.Src[0]
	if isZero(hiWord) && n < 31 && (u.f.t.SM < 70 || u.madeHere(&a)) {
		if dst, c, ok := u.wideOperands(in, other); ok {
			in.Op, in.Mod, in.NDst, in.NSrc = isa.OpIMAD, isa.Mod{Type: isa.U32, Flags: isa.ModWide}, 1, 3
			in.Dst = [isa.MaxDst]isa.Operand{dst}
			in.Src = [isa.MaxSrc]isa.Operand{a, imm(1 << n), c}
			u.take(l)
			u.take(h)
			return true
		}
	}
	if hiWord.Kind != isa.KindReg {
		return false
	}
	in.Op, in.Mod, in.NSrc = isa.OpLEA, isa.Mod{Flags: isa.ModWide}, 5
	in.Src = [isa.MaxSrc]isa.Operand{a, other.lo, hiWord, other.hi, imm(n)}
	u.take(l)
	u.take(h)
	return true
}

// madeHere says that the current block makes the word.
func (u *fuser) madeHere(o *isa.Operand) bool {
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase {
		return true
	}
	d := &u.defs[u.n.of(isa.KindReg, o.Reg)]
	return !d.value() || d.b == u.b
}

// isLea64 says that the instruction is the pseudo for a 64-bit shift and addition: sources low, addend's low,
// high, addend's high, shift; results low and high.
func isLea64(in *isa.Inst) bool { return in.Op == isa.OpLEA && in.Mod.Has(isa.ModWide) }

// expandLea64 emits LEA with carry and LEA.HI.X.
func (f *fn) expandLea64(out *[]isa.Inst, in *isa.Inst) {
	p := f.between(in, isa.P(f.newPred()))
	lo := isa.Inst{Op: isa.OpLEA, NDst: 2, NSrc: 3, Guard: in.Guard, Pos: in.Pos}
	lo.Dst[0], lo.Dst[1] = in.Dst[0], p
	lo.Src[0], lo.Src[1], lo.Src[2] = in.Src[0], in.Src[1], in.Src[4]
	hi := isa.Inst{Op: isa.OpLEA, Mod: isa.Mod{Flags: isa.ModHI | isa.ModX}, NDst: 2, NSrc: 5, Guard: in.Guard, Pos: in.Pos}
	hi.Dst[0], hi.Dst[1] = in.Dst[1], pt
	hi.Src = [isa.MaxSrc]isa.Operand{in.Src[0], in.Src[3], in.Src[2], in.Src[4], p}
	for _, o := range hi.Src[:3] {
		if o.Kind == isa.KindReg && o.Reg == in.Dst[0].Reg { // the low word may not be overwritten before the upper one is computed
			lo.Dst[0] = f.between(in, isa.R(f.newReg()))
			move := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Guard: in.Guard, Pos: in.Pos}
			move.Dst[0], move.Src[0] = in.Dst[0], lo.Dst[0]
			*out = append(*out, lo, hi, move)
			return
		}
	}
	*out = append(*out, lo, hi)
}
