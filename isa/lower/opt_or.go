package lower

import (
	"math/bits"

	"github.com/sarchlab/smsim/isa"
)

// fuseOr makes a shift and addition, one instruction, of a value shifted left and ORed with one that has only lower bits, and of a
// value shifted right and ORed with one that has only higher bits.
func (u *fuser) fuseOr(in *isa.Inst) bool {
	const or = 0xfc
	if in.Mod.Lut != or || !plainPreds(in) || !isZero(in.Src[2]) || u.f.t.SM < 70 {
		return false
	}
	for k := range 2 {
		d, low := u.inner(&in.Src[k]), in.Src[1-k]
		if d == nil || !isShiftLeft(d) || in.Src[k].Flags != 0 || low.Flags != 0 {
			continue
		}
		if n, _ := constant(d.Src[1]); u.width(low) > int(n) && !u.apart(in.Src[k], low) {
			continue
		}
		in.Op, in.Mod, in.NDst, in.NSrc = isa.OpLEA, isa.Mod{}, 2, 3
		in.Dst[1], in.Dst[2] = pt, isa.Operand{}
		in.Src = [isa.MaxSrc]isa.Operand{d.Src[0], low, d.Src[1]}
		u.take(d)
		return true
	}
	for k := range 2 {
		d, high := u.inner(&in.Src[k]), in.Src[1-k]
		if d == nil || !isShiftRight(d) || !isZero(d.Src[0]) || in.Src[k].Flags != 0 || high.Flags != 0 || high.Kind != isa.KindReg {
			continue
		}
		n, _ := constant(d.Src[1])
		if !u.apart(in.Src[k], high) {
			continue
		}
		in.Op, in.Mod, in.NDst, in.NSrc = isa.OpLEA, isa.Mod{Flags: isa.ModHI}, 2, 4
		in.Dst[1], in.Dst[2] = pt, isa.Operand{}
		in.Src = [isa.MaxSrc]isa.Operand{d.Src[2], high, rz, imm(32 - n)}
		u.take(d)
		return true
	}
	return false
}

// apart says that two words have no bits in common.
func (u *fuser) apart(a, b isa.Operand) bool {
	return zeroBits(a, u.defs, u.n)|zeroBits(b, u.defs, u.n) == ^uint32(0)
}

// width is the number of low bits that can be set in a word: 32 where nothing is known.
func (u *fuser) width(o isa.Operand) int {
	if c, ok := constant(o); ok {
		return bits.Len32(c)
	}
	id := u.n.of(isa.KindReg, o.Reg)
	if o.Kind != isa.KindReg || o.Flags != 0 || id < 0 || id >= len(u.defs) || !u.defs[id].value() || u.defs[id].b == nil {
		return 32
	}
	d := &u.defs[id].b.insts[u.defs[id].i]
	switch {
	case d.Op == isa.OpLOP3 && d.Mod.Lut == lutAnd && isZero(d.Src[2]):
		least := 32
		for k := range 2 {
			if c, ok := constant(d.Src[k]); ok {
				least = min(least, bits.Len32(c))
			}
		}
		return least
	case isShiftRight(d):
		n, _ := constant(d.Src[1])
		return 32 - int(n)
	}
	return 32
}
