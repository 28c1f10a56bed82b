package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// Simplifications that look at how the sources of an instruction were computed. Each keeps the instruction's result for
// all inputs; opt_algebra_test.go compares them with random values.

// algebra applies the rules to one instruction. It may turn it into a copy, or let it read an earlier value.
func (v *numberer) algebra(in *isa.Inst) {
	if in.Op == isa.OpNone || in.NDst == 0 || in.Mod.Has(modKeep) && !(in.Op == isa.OpLOP3 && idleLogic(in)) || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Flags&(flagPair|flagQuad) != 0 {
		return
	}
	switch in.Op {
	case isa.OpLOP3:
		if plainPreds(in) {
			v.logicAlgebra(in)
		}
		if in.Op == isa.OpLOP3 && plainPreds(in) {
			v.selectAlgebra(in)
		}
	case isa.OpSHF, isa.OpIMAD:
		if in.Op == isa.OpSHF && in.Guard.Kind == isa.KindNone && shiftBits(in, func(k int) known { return v.bits(in.Src[k], bitDepth-1) }).most() == 0 {
			toMov(in, rz)
			return
		}
		v.selectAlgebra(in)
	case isa.OpPRMT:
		v.permuteAlgebra(in)
	case isa.OpIADD3, isa.OpIADD:
		v.carryAlgebra(in)
		v.negateAlgebra(in)
	case isa.OpIABS:
		v.absAlgebra(in)
	case isa.OpI2F:
		v.convertAlgebra(in)
	case isa.OpSEL:
		v.wideAbsAlgebra(in)
	case isa.OpVIMNMX, isa.OpIMNMX:
		v.minMaxAlgebra(in)
	}
}

// current says that a source of an earlier instruction still has the same value at the instruction being simplified.
func (v *numberer) current(d *isa.Inst, o isa.Operand) bool {
	switch o.Kind {
	case isa.KindImm:
		return true
	case isa.KindReg:
		if o.Reg == isa.RZ {
			return true
		}
		if o.Reg < isa.VirtualBase || o.Flags&(flagPair|flagQuad) != 0 {
			return false
		}
		id := v.n.of(isa.KindReg, o.Reg)
		if id < 0 || id >= len(v.defs) {
			return false
		}
		if v.defs[id].value() {
			return true
		}
		// A variable: both instructions are in this block and it was not written since.
		at := v.position[v.n.of(isa.KindReg, d.Dst[0].Reg)]
		return at >= 0 && v.position[id] < at
	case isa.KindConst:
		return o.Reg == isa.RZ
	}
	return false
}

// narrower is an operand that has the same bits as o where mask has ones: o's definition without the parts that only
// change other bits.
func (v *numberer) narrower(o isa.Operand, mask uint32) isa.Operand {
	for range bitDepth {
		d := v.definition(o)
		if d == nil || d.Mod.Has(modKeep) {
			return o
		}
		next := isa.Operand{}
		switch d.Op {
		case isa.OpMOV:
			if d.Mod.Flags == 0 {
				next = d.Src[0]
			}
		case isa.OpLOP3:
			for k := range 2 {
				c, ok := constant(d.Src[k])
				if !ok || !plainPreds(d) || !isZero(d.Src[2]) {
					continue
				}
				if d.Mod.Lut == lutAnd && mask&^c == 0 || d.Mod.Lut == lutOr && mask&c == 0 || d.Mod.Lut == lutXor && mask&c == 0 {
					next = d.Src[1-k]
				}
			}
		}
		if next.Kind != isa.KindReg || next.Flags != 0 || next.Reg == isa.RZ || !v.current(d, next) {
			return o
		}
		o = next
	}
	return o
}

// logicAlgebra simplifies a logic operation: masks that change nothing, sources that only differ where the mask clears
// them, and a source that is a logic operation of the same words.
func (v *numberer) logicAlgebra(in *isa.Inst) {
	if o, m, ok := mask(in); ok {
		if d := v.definition(o); d != nil && d.Op == isa.OpF2I && d.Mod.Type == isa.U16 && in.Mod.Size == sizeZero {
			toMov(in, o) // the conversion has left the upper half zero; ptxas looks at it for 32 bits, not for 64
			return
		}
		if v.bits(o, bitDepth).zero|m == 0xffffffff {
			toMov(in, o)
			return
		}
		if n := v.narrower(o, m); n != o {
			in.Src[0], in.Src[1], in.Src[2] = n, imm(m), rz
		}
		return
	}
	if in.Mod.Lut == lutOr && isZero(in.Src[2]) {
		for k := range 2 {
			if c, ok := constant(in.Src[k]); ok && in.Src[1-k].Flags == 0 && v.bits(in.Src[1-k], bitDepth).one&c == c {
				toMov(in, in.Src[1-k])
				return
			}
		}
	}
	for k := range 3 {
		if v.mergeLogic(in, in.Src[k]) {
			return
		}
	}
}

// wordSet lists the different words that logic operations read, none of them zero or modified. The first is the highest bit of a truth table's index.
type wordSet []isa.Operand

// add reports false for a word that is modified.
func (s *wordSet) add(o isa.Operand) bool {
	if isZero(o) || slices.Contains(*s, o) {
		return true
	}
	*s = append(*s, o)
	return o.Flags == 0
}

// index is the index into an operation's truth table where the set's words have the bits of values. An operand that is result has the bit given.
func (s wordSet) index(in *isa.Inst, values int, result isa.Operand, bit int) int {
	at := 0
	for _, o := range in.Src[:3] {
		b := 0
		if o == result {
			b = bit
		} else if i := slices.Index(s, o); i >= 0 {
			b = values >> (2 - i) & 1
		}
		at = at<<1 | b
	}
	return at
}

// mergeLogic makes one operation of in and the one that computed its source o, if in reads no word that the other does not.
func (v *numberer) mergeLogic(in *isa.Inst, o isa.Operand) bool {
	d := v.definition(o)
	if d == nil || d.Op != isa.OpLOP3 || !plainPreds(d) || d.Mod.Has(modKeep) && !idleLogic(d) || o.Flags != 0 {
		return false
	}
	var words wordSet
	for _, w := range d.Src[:3] {
		if !words.add(w) || !v.current(d, w) {
			return false
		}
	}
	inner := len(words)
	for _, w := range in.Src[:3] {
		if w != o && !words.add(w) {
			return false
		}
	}
	if len(words) > inner || inner > 3 {
		return false // only where the outer operation brings no new word can it fall away
	}
	if inner > 1 && logicWords(in) == 1 && v.uses[v.n.of(isa.KindReg, o.Reg)] > 1 {
		return false // the complement goes where it is read, see sharedLogic
	}
	var outer, before uint8
	for values := range 8 {
		r := d.Mod.Lut >> words.index(d, values, isa.Operand{}, 0) & 1
		before |= r << values
		outer |= in.Mod.Lut >> words.index(in, values, o, int(r)) & 1 << values
	}
	if outer == before {
		toMov(in, o)
		return true
	}
	idle := false
	for i, m := range [3]uint8{0xf0, 0xcc, 0xaa} {
		if i >= len(words) || outer != m {
			continue
		}
		if v.f.t.SM < 70 {
			toMov(in, words[i])
			return true
		}
		idle = true // ptxas makes one operation of the two and then does not look whether it changes anything
	}
	others := 0
	for len(words) < 3 {
		words = append(words, rz)
	}
	for _, w := range words {
		if w.Kind != isa.KindReg {
			others++
		}
	}
	if others > 1 {
		return false
	}
	copy(in.Src[:3], words)
	in.Mod.Lut = outer
	if idle {
		in.Mod.Flags |= modKeep
		return true
	}
	v.f.simplifyLop3(in)
	if in.Op == isa.OpLOP3 {
		v.f.arrange(in)
	}
	return true
}

// idleLogic says that a logic operation gives one of its sources.
func idleLogic(in *isa.Inst) bool {
	return in.Mod.Lut == 0xf0 || in.Mod.Lut == 0xcc || in.Mod.Lut == 0xaa
}

// logicWords is how many words a logic operation reads.
func logicWords(in *isa.Inst) int {
	n := 0
	for _, o := range in.Src[:3] {
		if !isZero(o) {
			n++
		}
	}
	return n
}

// absorb lets a logic operation with a constant that was simplified to a copy copy what a complement of a complement copies:
// ptxas simplifies the three as one operation.
func (v *numberer) absorb(in *isa.Inst) {
	if in.Op != isa.OpMOV || in.Mod.Size != sizeHalf || in.Mod.Flags != 0 || in.Src[0].Kind != isa.KindReg || in.Src[0].Flags != 0 {
		return
	}
	d := v.definition(in.Src[0])
	if !v.f.rolled {
		in.Mod.Size = 0
	}
	if d == nil || d.Op != isa.OpLOP3 || !d.Mod.Has(modKeep) || !idleLogic(d) || logicWords(d) != 1 {
		return
	}
	for _, o := range d.Src[:3] {
		if !isZero(o) && v.current(d, o) {
			in.Src[0] = o
		}
	}
}

// negated is the word whose negative an addition gives.
func negated(in *isa.Inst) (isa.Operand, bool) {
	if in == nil || in.Op != isa.OpIADD3 && in.Op != isa.OpIADD || in.Mod.Flags != 0 || !plainPreds(in) {
		return isa.Operand{}, false
	}
	k := 3
	if in.Op == isa.OpIADD {
		k = 2
	}
	t := terms(in, k)
	if len(t) != 1 || t[0].Kind != isa.KindReg || t[0].Flags != isa.Neg {
		return isa.Operand{}, false
	}
	t[0].Flags = 0
	return t[0], true
}

// negateAlgebra: the negative of a negative, of 32 or 64 bits.
func (v *numberer) negateAlgebra(in *isa.Inst) {
	if isAdd64(in) {
		v.negatePair(in)
		v.cancelPair(in)
		return
	}
	o, ok := negated(in)
	if !ok {
		return
	}
	if d := v.definition(o); d != nil {
		if x, ok := negated(d); ok && v.current(d, x) {
			toMov(in, x)
		}
	}
}

// negatePair makes the negative of a 64-bit negative a sum of one term, which trackPair takes for two copies.
func (v *numberer) negatePair(in *isa.Inst) {
	t, ok := negatedPair(in)
	if !ok {
		return
	}
	lo, hi := v.valueSite(isa.KindReg, t.lo.Reg), v.valueSite(isa.KindReg, t.hi.Reg)
	if lo == nil || lo != hi || !isAdd64(lo) || lo.Dst[0].Reg != t.lo.Reg || lo.Dst[1].Reg != t.hi.Reg {
		return
	}
	if x, ok := negatedPair(lo); ok && v.current(lo, x.lo) && v.current(lo, x.hi) {
		setPairTerms(in, []pairTerm{x})
	}
}

// cancelPair takes a 64-bit number out of a sum that was subtracted before, or the other way round.
func (v *numberer) cancelPair(in *isa.Inst) {
	t := pairTerms(in)
	for k, x := range t {
		if x.lo.Flags&^isa.Neg != 0 || x.lo.Flags != x.hi.Flags || x.lo.Kind != isa.KindReg || x.hi.Kind != isa.KindReg {
			continue
		}
		d, hi := v.valueSite(isa.KindReg, x.lo.Reg), v.valueSite(isa.KindReg, x.hi.Reg)
		if d == nil || d != hi || !isAdd64(d) || d.Dst[0].Reg != x.lo.Reg || d.Dst[1].Reg != x.hi.Reg {
			continue
		}
		rest := append(append([]pairTerm(nil), t[:k]...), t[k+1:]...)
		before := len(rest)
		ok := true
		for _, y := range pairTerms(d) {
			ok = ok && y.lo.Kind == isa.KindReg && y.hi.Kind == isa.KindReg && y.lo.Flags == y.hi.Flags && v.current(d, isa.R(y.lo.Reg)) && v.current(d, isa.R(y.hi.Reg))
			y.lo.Flags ^= x.lo.Flags & isa.Neg
			y.hi.Flags ^= x.hi.Flags & isa.Neg
			opposite := y
			opposite.lo.Flags ^= isa.Neg
			opposite.hi.Flags ^= isa.Neg
			if i := slices.Index(rest, opposite); i >= 0 {
				rest = slices.Delete(rest, i, i+1)
				before--
			} else {
				rest = append(rest, y)
			}
		}
		if ok && before == len(t)-2 && len(rest) > 0 && len(rest) <= len(t) {
			setPairTerms(in, rest)
			return
		}
	}
}

// negatedPair is the pair whose negative a 64-bit addition gives.
func negatedPair(in *isa.Inst) (pairTerm, bool) {
	t := pairTerms(in)
	if len(t) != 1 || t[0].lo.Flags != isa.Neg || t[0].hi.Flags != isa.Neg || t[0].lo.Kind != isa.KindReg || t[0].hi.Kind != isa.KindReg {
		return pairTerm{}, false
	}
	t[0].lo.Flags, t[0].hi.Flags = 0, 0
	return t[0], true
}

// absAlgebra: the absolute value of an absolute value, or of a number that is never negative.
func (v *numberer) absAlgebra(in *isa.Inst) {
	o := in.Src[0]
	if in.Mod.Flags != 0 || in.NSrc != 1 || o.Flags != 0 {
		return
	}
	d := v.definition(o)
	if d != nil && d.Op == isa.OpIABS && d.Mod.Flags == 0 || v.bits(o, bitDepth).zero>>31 != 0 {
		toMov(in, o)
		return
	}
	// The same of halves: what is extended again is the low half of an absolute value of an extended half.
	half := func(x *isa.Inst) bool {
		return x != nil && x.Op == isa.OpPRMT && isImm(x.Src[1], 0x9910) && isZero(x.Src[2])
	}
	if !half(d) {
		return
	}
	w := d.Src[0]
	for x := v.definition(w); x != nil && x.Op == isa.OpPRMT && x.Mod.Sub == isa.SubNone && v.current(x, x.Src[0]); x = v.definition(w) {
		if sel, ok := constant(x.Src[1]); !ok || sel&0xff != 0x10 {
			break
		}
		w = x.Src[0]
	}
	if a := v.definition(w); a != nil && a.Op == isa.OpIABS && a.Mod.Flags == 0 && half(v.definition(a.Src[0])) {
		toMov(in, w)
	}
}

// minMaxAlgebra drops a bound that a value cannot pass.
func (v *numberer) minMaxAlgebra(in *isa.Inst) {
	if in.Mod.Flags != 0 || in.Mod.Type != isa.U32 && in.Mod.Type != isa.S32 || in.Src[2].Kind != isa.KindPred || in.Src[2].Reg != isa.PT || !plainPreds(in) {
		return
	}
	greatest := in.Src[2].Is(isa.Neg)
	for k := range 2 {
		c, ok := constant(in.Src[k])
		o := in.Src[1-k]
		if !ok || o.Kind != isa.KindReg || o.Flags != 0 {
			continue
		}
		low, high := v.bounds(o, in.Mod.Type)
		b := int64(c)
		if in.Mod.Type == isa.S32 {
			b = int64(int32(c))
		}
		switch {
		case !greatest && high <= b || greatest && low >= b:
			toMov(in, o)
			return
		case !greatest && low >= b || greatest && high <= b:
			toMov(in, immWord(c))
			return
		}
	}
}

// bounds is a range that holds the value, read as signed or unsigned.
func (v *numberer) bounds(o isa.Operand, t isa.Type) (low, high int64) {
	k := v.bits(o, bitDepth)
	if t == isa.U32 {
		return int64(k.one), int64(k.most())
	}
	n := v.signBits(o, bitDepth)
	low, high = -1<<(32-n), 1<<(32-n)-1
	switch {
	case k.zero>>31 != 0:
		low, high = int64(k.one), min(high, int64(k.most()))
	case k.one>>31 != 0:
		high = -1
	}
	return low, high
}

// convertAlgebra converts an unsigned 64-bit number to a float as a 32-bit one where its high word is zero.
func (v *numberer) convertAlgebra(in *isa.Inst) {
	o := in.Src[0]
	if in.Mod.BType != isa.U64 || o.Kind != isa.KindReg || o.Flags&^isa.Wide64 != flagPair || in.Mod.Type != isa.F32 {
		return
	}
	regs := v.f.tuples[o.Reg]
	if len(regs) != 2 {
		return
	}
	high := isa.R(regs[1])
	if r, ok := v.replacement(&high); !ok || !isZero(r) {
		return
	}
	in.Mod.BType = isa.U32
	in.Src[0] = isa.R(regs[0])
	if v.f.t.Has(isa.OpI2FP) && (in.Mod.Round == isa.RN || in.Mod.Round == isa.RZero) {
		in.Op = isa.OpI2FP
	}
}
