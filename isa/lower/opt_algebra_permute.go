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
