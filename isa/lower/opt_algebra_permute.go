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
	if w, ok := v.narrowSigned(o, sel); ok {
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
// already: compilers that compute in 16-bit registers widen a signed byte at every step, which ptxas drops.
func (v *numberer) narrowSigned(o isa.Operand, sel uint32) (isa.Operand, bool) {
	kept, bits := uint32(0xff), 16
	switch sel {
	case 0x8880:
		kept, bits = 0xf, 8
	case 0x9910:
	default:
		return o, false
	}
	for range bitDepth {
		if v.signedBits(o) <= bits {
			return o, true
		}
		d := v.definition(o)
		if d == nil || d.Op != isa.OpPRMT || d.Mod.Sub != isa.SubNone || d.Src[0].Kind != isa.KindReg || d.Src[0].Flags != 0 || !v.current(d, d.Src[0]) {
			return o, false
		}
		if c, ok := constant(d.Src[1]); !ok || c&kept != 0x10&kept {
			return o, false
		}
		o = d.Src[0]
	}
	return o, false
}

// signedBits is the number of low bits whose sign extension the word is known to be, 32 if it is not known to be one.
func (v *numberer) signedBits(o isa.Operand) int {
	d := v.definition(o)
	if d == nil {
		return 32
	}
	switch d.Op {
	case isa.OpPRMT:
		switch {
		case d.Mod.Size != 0 || d.Mod.Sub != isa.SubNone:
		case isImm(d.Src[1], 0x8880):
			return 8
		case isImm(d.Src[1], 0x9910):
			return 16
		}
	case isa.OpSGXT:
		if n, ok := constant(d.Src[1]); ok && d.Mod.Type == isa.S32 && d.Mod.Flags&isa.ModWrap == 0 && n > 0 && n < 32 {
			return int(n)
		}
	case isa.OpLDG, isa.OpLDS, isa.OpLDL, isa.OpLD, isa.OpLDC:
		switch d.Mod.Type {
		case isa.S8:
			return 8
		case isa.S16:
			return 16
		}
	}
	return 32
}
