package lower

import (
	"math/bits"

	"github.com/sarchlab/smsim/isa"
)

// toMov turns the instruction into a copy of o.
func toMov(in *isa.Inst, o isa.Operand) {
	d := in.Dst[0]
	*in = isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Guard: in.Guard, Pos: in.Pos, PC: in.PC}
	in.Dst[0], in.Src[0] = d, o
}

func plainPreds(in *isa.Inst) bool {
	for k := 1; k < int(in.NDst); k++ {
		if in.Dst[k] != pt {
			return false
		}
	}
	return true
}

// simplify folds constants and replaces instructions by cheaper ones that compute the same. It never makes a
// copy with source modifiers.
func (f *fn) simplify(in *isa.Inst) {
	if in.Op == isa.OpNone || in.NDst == 0 || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Flags&(flagPair|flagQuad) != 0 {
		if in.Op == isa.OpIMAD && in.Mod.Has(isa.ModWide) {
			f.simplifyWide(in)
		}
		return
	}
	switch in.Op {
	case isa.OpIADD3:
		if in.Mod.Flags == 0 && plainPreds(in) {
			f.simplifyAdd(in, 3)
		}
	case isa.OpIADD:
		if in.Mod.Flags == 0 {
			f.simplifyAdd(in, 2)
		}
	case isa.OpIMAD:
		f.simplifyMad(in)
	case isa.OpLOP3:
		if plainPreds(in) && !in.Mod.Has(modKeep) {
			f.simplifyLop3(in)
		}
	case isa.OpSHF:
		f.simplifyShift(in)
	case isa.OpSHL, isa.OpSHR:
		a, okA := constant(in.Src[0])
		n, okN := constant(in.Src[1])
		switch {
		case in.Mod.Has(isa.ModWrap) || in.Mod.Flags != 0:
		case okN && n == 0:
			if in.Src[0].Flags == 0 {
				toMov(in, in.Src[0])
			}
		case okA && okN && in.Op == isa.OpSHL:
			toMov(in, immWord(shiftLeft(a, n)))
		case okA && okN && in.Mod.Type == isa.U32:
			toMov(in, immWord(shiftRight(a, n)))
		case okA && okN:
			toMov(in, immWord(uint32(int32(a)>>min(n, 31))))
		}
	case isa.OpLDC: // of a word at a fixed place, which its readers take as an operand
		if in.Mod.Size == 4 && in.Mod.Flags == 0 && in.Src[0].Kind == isa.KindConst && in.Src[0].Bank == 3 && in.Src[0].Reg == isa.RZ && in.Src[0].Flags == 0 {
			toMov(in, in.Src[0])
		}
	case isa.OpSEL:
		switch {
		case in.Mod.Flags != 0:
		case in.Src[2].Reg == isa.PT && !in.Src[2].Is(isa.Neg) && in.Src[0].Flags == 0:
			toMov(in, in.Src[0])
		case in.Src[2].Reg == isa.PT && in.Src[2].Is(isa.Neg) && in.Src[1].Flags == 0:
			toMov(in, in.Src[1])
		case in.Src[0] == in.Src[1] && in.Src[0].Flags == 0:
			toMov(in, in.Src[0])
		}
	case isa.OpPRMT:
		s, ok := constant(in.Src[1])
		if ok && in.Mod.Sub == isa.SubNone && !in.Mod.Has(modKeep) {
			a, okA := constant(in.Src[0])
			c, okC := constant(in.Src[2])
			switch {
			case okA && okC:
				toMov(in, immWord(permute(a, c, s)))
			case s&0xffff == 0x3210 && in.Src[0].Flags == 0:
				toMov(in, in.Src[0])
			case s&0xffff == 0x7654 && in.Src[2].Flags == 0:
				toMov(in, in.Src[2])
			}
		}
	}
}

func permute(a, c, sel uint32) uint32 {
	v := uint64(c)<<32 | uint64(a)
	var out uint32
	for i := range 4 {
		k := sel >> (4 * i) & 0xf
		b := uint32(v>>(8*(k&7))) & 0xff
		if k&8 != 0 {
			b = uint32(int32(int8(b))>>7) & 0xff
		}
		out |= b << (8 * i)
	}
	return out
}

func shiftLeft(a, n uint32) uint32 {
	if n >= 32 {
		return 0
	}
	return a << n
}

func shiftRight(a, n uint32) uint32 {
	if n >= 32 {
		return 0
	}
	return a >> n
}

// simplifyAdd gathers constants of an addition of k terms.
func (f *fn) simplifyAdd(in *isa.Inst, k int) {
	var sum uint32
	var terms []isa.Operand
	for _, o := range in.Src[:k] {
		if c, ok := constant(o); ok {
			sum += c
		} else {
			terms = append(terms, o)
		}
	}
	// x + -x cancels.
again:
	for i := 0; i < len(terms); i++ {
		for j := i + 1; j < len(terms); j++ {
			a, b := terms[i], terms[j]
			if b.Flags ^= isa.Neg; a == b && a.Kind == isa.KindReg {
				terms = append(terms[:j], terms[j+1:]...)
				terms = append(terms[:i], terms[i+1:]...)
				goto again
			}
		}
	}
	switch {
	case len(terms) == 0:
		toMov(in, immWord(sum))
		return
	case len(terms) == 1 && sum == 0 && terms[0].Flags == 0 && terms[0].Imm < dynamicShared/2:
		toMov(in, terms[0])
		return
	}
	if sum != 0 {
		terms = append(terms, imm(sum))
		if n := len(terms); n == 3 { // register, constant, register
			terms[1], terms[2] = terms[2], terms[1]
		}
	}
	for len(terms) < k {
		terms = append(terms, rz)
	}
	copy(in.Src[:k], terms)
}

// simplifyMad folds multiplications by constants.
func (f *fn) simplifyMad(in *isa.Inst) {
	if in.Mod.Flags&(isa.ModHI|isa.ModWide|isa.ModX|isa.ModSat|isa.ModCC) != 0 || f.t.SM < 70 || in.Src[2].Flags&(flagPair) != 0 || in.NDst > 1 && !plainPreds(in) {
		return
	}
	a, okA := constant(in.Src[0])
	b, okB := constant(in.Src[1])
	c, okC := constant(in.Src[2])
	if okA && !okB {
		in.Src[0], in.Src[1] = in.Src[1], in.Src[0]
		a, b, okA, okB = b, a, okB, okA
	}
	if in.Mod.Size == sizeCross {
		if okB && b == 0 && okC && c == 0 { // stays, see settleCross
			return
		}
		if okB || okC && c != 0 {
			in.Mod.Size = 0
		}
	}
	switch {
	case okA && okB:
		if p := a * b; okC {
			toMov(in, immWord(p+c))
		} else {
			in.Op, in.Mod = isa.OpIADD3, isa.Mod{}
			in.Src[0], in.Src[1], in.Src[2] = in.Src[2], immWord(p), rz
			in.NSrc, in.NDst = 3, 1
			fillLayout(in)
			f.simplifyAdd(in, 3)
		}
	case okB && b == 0 && in.Src[2].Flags == 0:
		toMov(in, in.Src[2])
	case okB && b == 1 && okC && c == 0 && in.Src[0].Flags == 0:
		toMov(in, in.Src[0])
	case okB && b == 1 && !(okC && c == 0):
		in.Op, in.Mod = isa.OpIADD3, isa.Mod{}
		in.Src[1], in.Src[2] = in.Src[2], rz
		in.NSrc, in.NDst = 3, 1
		fillLayout(in)
	case okB && bits.OnesCount32(b) == 1 && okC && c == 0 && in.Src[0].Flags == 0:
		n := uint32(bits.TrailingZeros32(b))
		*in = isa.Inst{Op: isa.OpSHF, Mod: isa.Mod{Type: isa.U32, Flags: isa.ModLeft}, NDst: 1, NSrc: 3, Guard: in.Guard, Pos: in.Pos,
			Dst: [isa.MaxDst]isa.Operand{in.Dst[0]}, Src: [isa.MaxSrc]isa.Operand{in.Src[0], imm(n), rz}}
	}
}

// simplifyWide folds a product of constants in a 64-bit multiply-add without addend.
func (f *fn) simplifyWide(in *isa.Inst) {
	if _, ok := constant(in.Src[0]); ok {
		if _, both := constant(in.Src[1]); !both && in.Src[0].Flags == 0 {
			in.Src[0], in.Src[1] = in.Src[1], in.Src[0]
		}
	}
}

// simplifyLop3 folds constant inputs of a logic operation into its truth table.
func (f *fn) simplifyLop3(in *isa.Inst) {
	lut := in.Mod.Lut
	// Constants 0 and ~0 and equal inputs vanish into the table.
	for k := range 3 {
		o := in.Src[k]
		if o.Flags&isa.Inv != 0 && o.Kind == isa.KindReg && o.Reg != isa.RZ {
			lut = lutInvert(lut, k)
			in.Src[k].Flags &^= isa.Inv
			o = in.Src[k]
		}
		if c, ok := constant(o); ok && (c == 0 || c == 0xffffffff) {
			lut = lutFix(lut, k, c != 0)
			in.Src[k] = rz
		}
	}
	for j := 1; j < 3; j++ {
		for i := range j {
			if in.Src[i] == in.Src[j] && in.Src[i].Kind == isa.KindReg && in.Src[i].Reg != isa.RZ && in.Src[i].Flags == 0 {
				lut = lutTie(lut, i, j)
				in.Src[j] = rz
			}
		}
	}
	for k := range 3 { // an input that the table ignores
		if lutFix(lut, k, false) == lutFix(lut, k, true) {
			in.Src[k] = rz
		}
	}
	in.Mod.Lut = lut
	if lut == 0 {
		toMov(in, rz)
		return
	}
	if lut == 0xff {
		toMov(in, imm(0xffffffff))
		return
	}
	var known [3]uint32
	all := true
	for k := range 3 {
		c, ok := constant(in.Src[k])
		known[k] = c
		all = all && ok
	}
	if all {
		toMov(in, immWord(lutEval(lut, known[0], known[1], known[2])))
		return
	}
	masks := [3]uint8{0xf0, 0xcc, 0xaa}
	for k := range 3 {
		if lut == masks[k] && in.Src[k].Flags == 0 {
			toMov(in, in.Src[k])
			return
		}
	}
}

func lutEval(lut uint8, a, b, c uint32) uint32 {
	var out uint32
	for i := range uint32(8) {
		if lut>>i&1 == 0 {
			continue
		}
		x, y, z := a, b, c
		if i&4 == 0 {
			x = ^x
		}
		if i&2 == 0 {
			y = ^y
		}
		if i&1 == 0 {
			z = ^z
		}
		out |= x & y & z
	}
	return out
}

// lutIndexBit is the index bit of input k (0: a).
func lutIndexBit(k int) int { return 4 >> k }

// lutFix is the table with input k known.
func lutFix(lut uint8, k int, one bool) uint8 {
	bit := lutIndexBit(k)
	var out uint8
	for i := range 8 {
		j := i &^ bit
		if one {
			j |= bit
		}
		out |= lut >> j & 1 << i
	}
	return out
}

// lutInvert is the table for the complement of input k.
func lutInvert(lut uint8, k int) uint8 {
	bit := lutIndexBit(k)
	var out uint8
	for i := range 8 {
		out |= lut >> (i ^ bit) & 1 << i
	}
	return out
}

// lutTie is the table when input j equals input i; it then ignores j.
func lutTie(lut uint8, i, j int) uint8 {
	bi, bj := lutIndexBit(i), lutIndexBit(j)
	var out uint8
	for k := range 8 {
		src := k &^ bj
		if k&bi != 0 {
			src |= bj
		}
		out |= lut >> src & 1 << k
	}
	return out
}

// simplifyShift folds funnel shifts by constants.
func (f *fn) simplifyShift(in *isa.Inst) {
	n, ok := constant(in.Src[1])
	if !ok || f.t.SM < 70 {
		return
	}
	f.narrowShift(in, n)
	if n, ok = constant(in.Src[1]); !ok || in.Op != isa.OpSHF || in.Mod.Type != isa.U32 && in.Mod.Type != isa.S32 {
		return
	}
	if in.Mod.Has(isa.ModWrap) {
		n &= 31
	}
	lo, okLo := constant(in.Src[0])
	hi, okHi := constant(in.Src[2])
	left, upper := in.Mod.Has(isa.ModLeft), in.Mod.Has(isa.ModHI)
	switch {
	case n == 0 && left && !upper && in.Src[0].Flags == 0, n == 0 && !left && !upper && in.Src[0].Flags == 0:
		toMov(in, in.Src[0])
	case n == 0 && upper && in.Src[2].Flags == 0:
		toMov(in, in.Src[2])
	case left && !upper && okLo:
		toMov(in, immWord(shiftLeft(lo, n)))
	case !left && upper && okHi && in.Mod.Type == isa.U32:
		toMov(in, immWord(shiftRight(hi, n)))
	case !left && upper && okHi:
		toMov(in, immWord(uint32(int32(hi)>>min(n, 31))))
	}
}

// narrowShift makes a word of a shift by 32 or more a shift of the other word, and the upper word of a widened word's shift to the
// left a shift of that word.
func (f *fn) narrowShift(in *isa.Inst, n uint32) {
	if n < 32 && in.Mod.Type == isa.U64 && in.Mod.Flags == isa.ModLeft|isa.ModHI && isZero(in.Src[2]) && in.Src[0].Flags == 0 {
		if n == 0 {
			toMov(in, rz)
			return
		}
		in.Mod = isa.Mod{Type: isa.U32, Flags: isa.ModRight | isa.ModHI}
		in.Src[0], in.Src[1], in.Src[2] = rz, imm(32-n), in.Src[0]
		return
	}
	if n < 32 || in.Mod.Has(isa.ModWrap) || in.Src[0].Flags|in.Src[2].Flags != 0 {
		return
	}
	left, upper := in.Mod.Has(isa.ModLeft), in.Mod.Has(isa.ModHI)
	signed := in.Mod.Type == isa.S64 || in.Mod.Type == isa.S32
	most := uint32(64)
	if in.Mod.Type == isa.U32 || in.Mod.Type == isa.S32 {
		most = 32
	}
	n = min(n, most)
	shift := func(flags isa.ModFlags, t isa.Type, lo, hi isa.Operand, k uint32) {
		in.Mod = isa.Mod{Type: t, Flags: flags}
		in.Src[0], in.Src[1], in.Src[2] = lo, imm(k), hi
	}
	switch {
	case left && !upper: // low word: {c,a} << n without c
		toMov(in, rz)
	case left && most == 64 && n == 64:
		toMov(in, rz)
	case left && most == 64:
		shift(isa.ModLeft, isa.U32, in.Src[0], rz, n-32)
	case !left && !upper && most == 64 && signed:
		shift(isa.ModRight|isa.ModHI, isa.S32, rz, in.Src[2], min(n-32, 31))
	case !left && !upper && most == 64 && n == 64:
		toMov(in, rz)
	case !left && !upper && most == 64:
		shift(isa.ModRight|isa.ModHI, isa.U32, rz, in.Src[2], n-32)
	case !left && upper && isZero(in.Src[0]) && signed:
		shift(isa.ModRight|isa.ModHI, isa.S32, rz, in.Src[2], 31)
	case !left && upper && isZero(in.Src[0]):
		toMov(in, rz)
	}
}
