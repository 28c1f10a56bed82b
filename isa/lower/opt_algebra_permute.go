package lower

import "github.com/sarchlab/smsim/isa"

// halfAlgebra: the negative of a negative in 16 bits, of which nobody looks at the upper half.
func (v *numberer) halfAlgebra(in *isa.Inst) {
	y, ok := negated(v.definition(in.Src[0]))
	if !ok {
		return
	}
	d := v.definition(y)
	if d == nil || d.Op != isa.OpPRMT || d.Mod.Size != sizeHalf || !isImm(d.Src[1], 0x7710) {
		return
	}
	m := v.definition(d.Src[0])
	if z, ok := negated(m); ok && v.current(m, z) {
		toMov(in, z)
	}
}

// permuteAlgebra drops a permutation of bytes of a word that the same permutation made.
func (v *numberer) permuteAlgebra(in *isa.Inst) {
	sel, ok := constant(in.Src[1])
	o := in.Src[0]
	if ok && sel == 0x7710 && in.Mod.Size == sizeHalf && isZero(in.Src[2]) {
		v.halfAlgebra(in)
		return
	}
	if !ok || in.Mod.Sub != isa.SubNone || o.Kind != isa.KindReg || o.Flags != 0 || !isZero(in.Src[2]) {
		return
	}
	if z := v.bits(o, bitDepth).zero; sel == 0x9910 && z>>15 == 0x1ffff || sel == 0x7710 && in.Mod.Size != sizeHalf && z>>16 == 0xffff {
		toMov(in, o)
		return
	}
	if w, ok := v.narrowSigned(o, sel, in.Mod.Size == sizeOperand); ok {
		toMov(in, w)
		return
	}
	d := v.definition(o)
	if sel == 0x9910 && d != nil && (d.Class().IsMemory() || d.Op == isa.OpLDC) && d.Mod.Type == isa.U8 { // the sign of a half that is a loaded byte
		toMov(in, o)
		return
	}
	if d == nil || d.Op != isa.OpPRMT || d.Mod != in.Mod || !isImm(d.Src[1], sel) || !isZero(d.Src[2]) {
		return
	}
	for i := range 4 { // twice the same: each byte is chosen from a place that holds it already
		n := sel >> (4 * i) & 0xf
		if n&4 != 0 {
			continue // zero
		}
		m := sel >> (4 * (n & 3)) & 0xf
		if n&8 != 0 && m != n && m != n&7 || n&8 == 0 && m != n {
			return
		}
	}
	toMov(in, o)
}

// narrowSigned is the word whose low byte or half a permutation of o extends (sel: 0x8880 or 0x9910), if that word is the extension
// already: compilers that compute in 16-bit registers widen a signed byte at every step. Probes: ptxas 13.0 drops the extension of a
// field that bfe extended and of a byte that a load extended; that of a half which a conversion left in a 16-bit register, or which a
// comparison needs (operand); not a second one of a byte.
func (v *numberer) narrowSigned(o isa.Operand, sel uint32, operand bool) (isa.Operand, bool) {
	kept, bits := uint32(0xff), uint32(16)
	switch sel {
	case 0x8880:
		kept, bits = 0xf, 8
	case 0x9910:
	default:
		return o, false
	}
	for range bitDepth {
		d := v.definition(o)
		switch {
		case d == nil:
			return o, false
		case d.Class().IsMemory():
			return o, bits == 16 && (d.Mod.Type == isa.S8 || d.Mod.Type == isa.S16)
		case d.Op == isa.OpSGXT:
			n, ok := constant(d.Src[1])
			return o, ok && d.Mod.Type == isa.S32 && d.Mod.Flags&isa.ModWrap == 0 && n > 0 && n <= bits
		case d.Op != isa.OpPRMT || d.Mod.Sub != isa.SubNone || !isZero(d.Src[2]):
			return o, false
		case operand && (isImm(d.Src[1], 0x8880) || isImm(d.Src[1], 0x9910) && bits == 16):
			return o, true
		case d.Src[0].Kind != isa.KindReg || d.Src[0].Flags != 0 || !v.current(d, d.Src[0]):
			return o, false
		}
		if c, ok := constant(d.Src[1]); !ok || c&kept != 0x10&kept {
			return o, false
		}
		o, operand = d.Src[0], operand || bits == 16
	}
	return o, false
}
