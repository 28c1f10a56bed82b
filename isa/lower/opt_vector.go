package lower

import (
	"math/bits"

	"github.com/sarchlab/smsim/isa"
)

// alignments finds for every general and uniform register how many low bits of its value are known to be zero (32: it is zero, or
// never written).
func (f *fn) alignments(n numbering) []uint8 {
	z := make([]uint8, n.total)
	for i := range z {
		z[i] = 32
	}
	of := func(o *isa.Operand) uint8 {
		if o.Kind == isa.KindImm && o.Imm >= dynamicShared/2 {
			return 4 // dynamic shared memory starts at a multiple of 16
		}
		if c, ok := constant(*o); ok {
			if c == 0 {
				return 32
			}
			return uint8(bits.TrailingZeros32(c))
		}
		if o.Kind == isa.KindReg && o.Reg == stackReg && o.Flags == 0 {
			return f.stackAlignment()
		}
		if (o.Kind == isa.KindReg || o.Kind == isa.KindUReg) && o.Reg >= isa.VirtualBase && o.Flags&^isa.Neg == 0 {
			return z[n.of(o.Kind, o.Reg)]
		}
		return 0
	}
	for changed := true; changed; {
		changed = false
		for _, b := range f.rpo {
			for i := range b.insts {
				in := &b.insts[i]
				if in.NDst == 0 {
					continue
				}
				v := uint8(0)
				switch {
				case in.Op == isa.OpULEA && in.Mod.Flags == 0:
					sh, _ := constant(in.Src[2])
					v = min(of(&in.Src[0])+uint8(sh), of(&in.Src[1]))
				case in.Dst[0].Kind != isa.KindReg || in.Dst[0].Flags&(flagPair|flagQuad) != 0:
				case in.Op == isa.OpMOV:
					v = of(&in.Src[0])
				case in.Op == isa.OpSEL:
					v = min(of(&in.Src[0]), of(&in.Src[1]))
				case in.Op == isa.OpIADD || in.Op == isa.OpIADD3 && in.Mod.Flags == 0:
					v = 32
					for k := range min(in.NSrc, 3) {
						v = min(v, of(&in.Src[k]))
					}
				case in.Op == isa.OpIMAD && in.Mod.Flags == 0:
					v = min(of(&in.Src[0])+of(&in.Src[1]), of(&in.Src[2]))
				case in.Op == isa.OpLEA && in.Mod.Flags == 0, in.Op == isa.OpISCADD:
					sh, _ := constant(in.Src[2])
					v = min(of(&in.Src[0])+uint8(sh), of(&in.Src[1]))
				case isShiftLeft(in) || in.Op == isa.OpSHL && in.Mod.Flags == 0:
					if sh, ok := constant(in.Src[1]); ok && sh < 32 {
						v = of(&in.Src[0]) + uint8(sh)
					}
				case in.Op == isa.OpLOP3 && in.Mod.Lut == 0xc0 || in.Op == isa.OpLOP && in.Mod.Sub == isa.SubAnd:
					v = max(of(&in.Src[0]), of(&in.Src[1]))
				case in.Op == isa.OpLOP3 && in.Mod.Lut&1 == 0:
					v = min(of(&in.Src[0]), of(&in.Src[1]), of(&in.Src[2]))
				}
				v = min(v, 32)
				f.defs(in, n, func(id int) {
					if v < z[id] {
						z[id], changed = v, true
					}
				})
			}
		}
	}
	return z
}

// stackAlignment is how many low bits of the stack pointer are zero.
func (f *fn) stackAlignment() uint8 {
	if f.t.SM < 20 {
		return 0
	}
	return uint8(bits.TrailingZeros32(uint32(min(16, max(8, f.localAlign)))))
}
