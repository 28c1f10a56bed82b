package lower

import (
	"math/bits"

	"github.com/sarchlab/smsim/isa"
)

// What is known of a 32-bit value without running the program: bits that are always 0 or always 1, and how many of its
// top bits equal the sign bit.

// bitDepth is how many definitions are followed.
const bitDepth = 6

// known is the bits of a value that are always 0, and those that are always 1.
type known struct{ zero, one uint32 }

// definition is the instruction that gives a plain register operand its value; nil for variables, other operands and
// results that are not the instruction's first.
func (v *numberer) definition(o isa.Operand) *isa.Inst {
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase || o.Flags&^isa.Reuse != 0 {
		return nil
	}
	id := v.n.of(isa.KindReg, o.Reg)
	if id < 0 || id >= len(v.defs) || !v.defs[id].value() || v.defs[id].b == nil {
		return nil
	}
	d := &v.defs[id]
	if int(d.i) >= len(d.b.insts) {
		return nil
	}
	in := &d.b.insts[d.i]
	if in.Op == isa.OpNone || in.NDst == 0 || in.Guard.Kind != isa.KindNone {
		return nil
	}
	if x := &in.Dst[0]; x.Kind != isa.KindReg || x.Reg != o.Reg || x.Flags&(flagPair|flagQuad) != 0 {
		return nil
	}
	return in
}

// bits is what is known of the operand.
func (v *numberer) bits(o isa.Operand, depth int) known {
	if c, ok := constant(o); ok {
		return known{^c, c}
	}
	in := v.definition(o)
	if in == nil || depth == 0 {
		return known{}
	}
	if depth == bitDepth && in.Mod.Type != isa.U8 && v.loadedHalf(o, bitDepth) {
		return known{zero: 0xffff0000}
	}
	src := func(k int) known { return v.bits(in.Src[k], depth-1) }
	switch in.Op {
	case isa.OpMOV:
		if in.Mod.Flags&isa.ModWide == 0 {
			return src(0)
		}
	case isa.OpLOP3:
		return lutBits(in.Mod.Lut, src(0), src(1), src(2))
	case isa.OpLOP:
		a, b := src(0), src(1)
		switch in.Mod.Sub {
		case isa.SubAnd:
			return known{a.zero | b.zero, a.one & b.one}
		case isa.SubOr:
			return known{a.zero & b.zero, a.one | b.one}
		case isa.SubXor:
			return known{a.zero&b.zero | a.one&b.one, a.zero&b.one | a.one&b.zero}
		}
	case isa.OpSHF:
		return shiftBits(in, src)
	case isa.OpSHL:
		if n, ok := constant(in.Src[1]); ok && n < 32 && in.Mod.Flags == 0 {
			a := src(0)
			return known{a.zero<<n | (1<<n - 1), a.one << n}
		}
	case isa.OpSHR:
		if n, ok := constant(in.Src[1]); ok && n < 32 && in.Mod.Flags == 0 && in.Mod.Type == isa.U32 {
			a := src(0)
			return known{a.zero>>n | ^(0xffffffff >> n), a.one >> n}
		}
	case isa.OpPOPC:
		return known{zero: ^uint32(63)}
	case isa.OpIABS:
		if in.Mod.Flags == 0 {
			return v.absBits(in.Src[0])
		}
	case isa.OpIMAD:
		if in.Mod.Flags == 0 && isZero(in.Src[2]) && in.Src[0].Flags == 0 && in.Src[1].Flags == 0 {
			if n := bitLength(src(0)) + bitLength(src(1)); n < 32 {
				return known{zero: ^uint32(0) << n}
			}
		}
	case isa.OpSEL: // between constants only
		a, okA := constant(in.Src[0])
		b, okB := constant(in.Src[1])
		if okA && okB && in.Mod.Flags == 0 {
			return known{^a & ^b, a & b}
		}
	case isa.OpLDG, isa.OpLDS, isa.OpLDL, isa.OpLD, isa.OpLDC:
		if in.Mod.Type == isa.U8 {
			return known{zero: ^uint32(0xff)}
		}
	case isa.OpPRMT:
		if in.Mod.Size == sizeZero {
			return known{zero: 0xffff0000}
		}
	}
	return known{}
}

// bitLength is the number of low bits that can be other than zero.
func bitLength(k known) int { return 32 - bits.LeadingZeros32(^k.zero) }

// absBits is what is known of the absolute value of a byte's or half's sign extension.
func (v *numberer) absBits(o isa.Operand) known {
	d := v.definition(o)
	if d == nil || d.Op != isa.OpPRMT || d.Mod.Sub != isa.SubNone || !isZero(d.Src[2]) {
		return known{}
	}
	switch {
	case isImm(d.Src[1], 0x8880):
		return known{zero: 0xffffff00}
	case isImm(d.Src[1], 0x9910):
		return known{zero: 0xffff0000}
	}
	return known{}
}

// loadedHalf says that the operand is a half or byte that was loaded, or a choice between such and constants: ptxas 13.0 does not mask these, but does so again
// with what it computes from them.
func (v *numberer) loadedHalf(o isa.Operand, depth int) bool {
	in := v.definition(o)
	if in == nil || depth == 0 {
		c, ok := constant(o)
		return ok && c <= 0xffff && depth > 0
	}
	switch in.Op {
	case isa.OpLDG, isa.OpLDS, isa.OpLDL, isa.OpLD, isa.OpLDC:
		return in.Mod.Type == isa.U16 || in.Mod.Type == isa.U8
	case isa.OpMOV:
		return in.Mod.Flags&isa.ModWide == 0 && v.loadedHalf(in.Src[0], depth-1)
	case isa.OpSEL:
		return in.Mod.Flags == 0 && v.loadedHalf(in.Src[0], depth-1) && v.loadedHalf(in.Src[1], depth-1)
	}
	return false
}

// most is the greatest value that the bits allow.
func (k known) most() uint32 { return ^k.zero }

// lutBits is what is known of a logic function of three words.
func lutBits(lut uint8, a, b, c known) known {
	k := known{0xffffffff, 0xffffffff}
	for i := range uint32(8) {
		possible := uint32(0xffffffff)
		for j, x := range [3]known{a, b, c} {
			if i>>(2-j)&1 != 0 {
				possible &^= x.zero
			} else {
				possible &^= x.one
			}
		}
		if lut>>i&1 != 0 {
			k.zero &^= possible
		} else {
			k.one &^= possible
		}
	}
	return k
}

// shiftBits is what is known of a funnel shift by a constant.
func shiftBits(in *isa.Inst, src func(int) known) known {
	n, ok := constant(in.Src[1])
	if !ok || n >= 32 || n == 0 || in.Mod.Type != isa.U32 && in.Mod.Type != isa.S32 {
		return known{}
	}
	switch left, upper := in.Mod.Has(isa.ModLeft), in.Mod.Has(isa.ModHI); {
	case left && !upper:
		a := src(0)
		return known{a.zero<<n | (1<<n - 1), a.one << n}
	case !left && upper:
		a := src(2)
		k := known{a.zero >> n, a.one >> n}
		high := ^(uint32(0xffffffff) >> n)
		switch {
		case in.Mod.Type == isa.U32 || a.zero>>31 != 0:
			k.zero |= high
		case a.one>>31 != 0:
			k.one |= high
		}
		return k
	}
	return known{}
}

// signBits is a lower bound of the number of top bits of the operand that are equal, at least 1.
func (v *numberer) signBits(o isa.Operand, depth int) int {
	k := v.bits(o, depth)
	n := max(1, bits.LeadingZeros32(^k.zero), bits.LeadingZeros32(^k.one))
	in := v.definition(o)
	if in == nil || depth == 0 {
		return n
	}
	src := func(k int) int { return v.signBits(in.Src[k], depth-1) }
	m := 1
	switch in.Op {
	case isa.OpMOV:
		if in.Mod.Flags&isa.ModWide == 0 {
			m = src(0)
		}
	case isa.OpLOP3:
		m = 32
		for k := range 3 {
			if lutFix(in.Mod.Lut, k, false) != lutFix(in.Mod.Lut, k, true) {
				m = min(m, src(k))
			}
		}
	case isa.OpSEL:
		if in.Mod.Flags == 0 {
			m = min(src(0), src(1))
		}
	case isa.OpVIMNMX, isa.OpIMNMX:
		if in.Mod.Type == isa.S32 && in.Mod.Flags == 0 {
			m = min(src(0), src(1))
		}
	case isa.OpSHF:
		if s, ok := constant(in.Src[1]); ok && s < 32 && in.Mod.Type == isa.S32 && in.Mod.Has(isa.ModHI) && !in.Mod.Has(isa.ModLeft) {
			m = min(32, int(s)+src(2))
		}
	case isa.OpSHR:
		if s, ok := constant(in.Src[1]); ok && s < 32 && in.Mod.Type == isa.S32 && in.Mod.Flags == 0 {
			m = min(32, int(s)+src(0))
		}
	}
	return max(n, m)
}
