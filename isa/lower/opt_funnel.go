package lower

import (
	"math/bits"

	"github.com/sarchlab/smsim/isa"
)

// disjointSums turns 64-bit additions of words without common bits into OR, as the compiler does: "x << 13 + x >> 51" is how
// compilers write a rotation in PTX. fuseFunnel makes funnel shifts of what results.
func (f *fn) disjointSums() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	defs := f.defSites(n)
	for _, b := range f.blocks {
		var out []isa.Inst
		for i := range b.insts {
			in := b.insts[i]
			lo, hi, ok := f.disjoint(&in, defs, n)
			if ok && out == nil {
				out = append(make([]isa.Inst, 0, len(b.insts)+4), b.insts[:i]...)
			}
			switch {
			case ok:
				out = append(out, lo, hi)
			case out != nil:
				out = append(out, in)
			}
		}
		if out != nil {
			b.insts = out
		}
	}
}

// disjoint is the pair of OR instructions that a 64-bit addition of two terms without common bits amounts to.
func (f *fn) disjoint(in *isa.Inst, defs []defSite, n numbering) (lo, hi isa.Inst, ok bool) {
	if !isAdd64(in) || in.Guard.Kind != isa.KindNone || in.Dst[0].Kind != isa.KindReg || in.Dst[1].Kind != isa.KindReg ||
		in.Dst[0].Flags&(flagPair|flagQuad) != 0 {
		return lo, hi, false
	}
	t := pairTerms(in)
	if len(t) != 2 {
		return lo, hi, false
	}
	for _, w := range []isa.Operand{t[0].lo, t[0].hi, t[1].lo, t[1].hi} {
		if w.Flags != 0 || w.Kind != isa.KindReg && w.Kind != isa.KindImm || w == in.Dst[0] {
			return lo, hi, false
		}
	}
	// A term that is not shifted is left to the adder, which takes shifts as addresses do.
	apart := func(a, b isa.Operand) bool {
		return zeroBitsFrom(a, defs, n, 1)|zeroBitsFrom(b, defs, n, 1) == ^uint32(0)
	}
	if !apart(t[0].lo, t[1].lo) || !apart(t[0].hi, t[1].hi) {
		return lo, hi, false
	}
	or := func(d, a, b isa.Operand) isa.Inst {
		w := isa.Inst{Op: isa.OpLOP3, Mod: isa.Mod{Lut: lutA | lutB}, NDst: 2, NSrc: 3, Pos: in.Pos, Ctrl: in.Ctrl}
		w.Dst[0], w.Dst[1], w.Src[0], w.Src[1], w.Src[2] = d, pt, a, b, rz
		f.arrange(&w)
		return w
	}
	return or(in.Dst[0], t[0].lo, t[1].lo), or(in.Dst[1], t[0].hi, t[1].hi), true
}

// zeroDepth is how many instructions zeroBits looks back.
const zeroDepth = 8

// zeroBits are the bits of a word that are known to be 0 from the instructions that made it.
func zeroBits(o isa.Operand, defs []defSite, n numbering) uint32 {
	return zeroBitsFrom(o, defs, n, zeroDepth)
}

func zeroBitsFrom(o isa.Operand, defs []defSite, n numbering, depth int) uint32 {
	if v, ok := constant(o); ok {
		return ^v
	}
	id := n.of(o.Kind, o.Reg)
	if depth == 0 || o.Kind != isa.KindReg || o.Flags != 0 || id < 0 || id >= len(defs) || !defs[id].value() || defs[id].b == nil {
		return 0
	}
	d := &defs[id].b.insts[defs[id].i]
	if d.Op == isa.OpNone || d.Guard.Kind != isa.KindNone || d.NDst == 0 || d.Dst[0].Reg != o.Reg {
		return 0
	}
	of := func(x isa.Operand) uint32 { return zeroBitsFrom(x, defs, n, depth-1) }
	switch {
	case isShiftLeft(d):
		k, _ := constant(d.Src[1])
		return of(d.Src[0])<<k | (1<<k - 1)
	case isShiftRight(d):
		k, _ := constant(d.Src[1])
		return of(d.Src[2])>>k | ^(^uint32(0) >> k)
	case d.Op == isa.OpIMAD && d.Mod.Flags == 0 && d.NDst == 1 && isZero(d.Src[2]):
		if c, ok := constant(d.Src[1]); ok && c != 0 {
			return 1<<bits.TrailingZeros32(c) - 1
		}
	case d.Op == isa.OpLOP3 && plainPreds(d) && d.NSrc == 3:
		return zeroOfLogic(d.Mod.Lut, [3]uint32{of(d.Src[0]), of(d.Src[1]), of(d.Src[2])})
	case d.Op == isa.OpLEA && d.Mod.Flags == isa.ModHI && d.NSrc == 4 && plainPreds(d) && isZero(d.Src[2]): // x >> k + y
		if k, ok := constant(d.Src[3]); ok && k > 0 && k < 32 {
			x, y := of(d.Src[0])>>(32-k)|^(^uint32(0)>>(32-k)), of(d.Src[1])
			if x|y == ^uint32(0) {
				return x & y
			}
		}
	}
	return 0
}

// zeroOfLogic are the bits that a truth table leaves 0 whatever the sources' unknown bits are.
func zeroOfLogic(lut uint8, zero [3]uint32) uint32 {
	known := ^uint32(0)
	for v := range 8 {
		if lut>>v&1 == 0 {
			continue
		}
		// The sources' bits are v somewhere unless one that would have to be 1 is known to be 0.
		impossible := uint32(0)
		for k := range 3 {
			if v>>(2-k)&1 != 0 {
				impossible |= zero[k]
			}
		}
		known &= impossible
	}
	return known
}

// fuseFunnel makes one funnel shift of "x << n | y >> 32-n".
func (u *fuser) fuseFunnel(in *isa.Inst) bool {
	if !plainPreds(in) || in.NSrc != 3 || !isZero(in.Src[2]) || in.Mod.Lut != lutA|lutB && in.Mod.Lut != lutA^lutB {
		return false
	}
	return u.funnel(in, in.Src[0], in.Src[1], false)
}

// fuseRotation makes one funnel shift of the sum "x << n + x >> 32-n".
func (u *fuser) fuseRotation(in *isa.Inst, t []isa.Operand) bool {
	return len(t) == 2 && in.Guard.Kind == isa.KindNone && u.funnel(in, t[0], t[1], true)
}

// funnel makes the instruction a funnel shift if a and b are a shift left and the shift right that complements it, each read only here; same
// wants both to be shifts of one word.
func (u *fuser) funnel(in *isa.Inst, a, b isa.Operand, same bool) bool {
	if u.f.t.SM < 70 || a.Flags|b.Flags != 0 {
		return false
	}
	l, r := u.inner(&a), u.inner(&b)
	if l != nil && r != nil && isShiftLeft(r) {
		l, r = r, l
	}
	if l == nil || r == nil || !isShiftLeft(l) || !isShiftRight(r) || !isZero(r.Src[0]) || same && r.Src[2] != l.Src[0] {
		return false
	}
	n, _ := constant(l.Src[1])
	if !isImm(r.Src[1], 32-n) {
		return false
	}
	d := in.Dst[0]
	in.Op, in.Mod, in.NDst, in.NSrc = isa.OpSHF, isa.Mod{Type: isa.U32, Flags: isa.ModLeft | isa.ModWrap | isa.ModHI}, 1, 3
	in.Dst, in.Src = [isa.MaxDst]isa.Operand{d}, [isa.MaxSrc]isa.Operand{r.Src[2], imm(n), l.Src[0]}
	u.take(l)
	u.take(r)
	return true
}

// fuseWrap lets a shift by a word modulo 32 take the amount as it is and wrap it itself. ptxas 13.0 does so where only the shift reads
// the masked amount, and for a mask of 31 alone.
func (u *fuser) fuseWrap(in *isa.Inst) bool {
	if u.f.t.SM < 70 || in.Mod.Has(isa.ModWrap) || in.Mod.Type != isa.U32 && in.Mod.Type != isa.S32 {
		return false
	}
	d := u.inner(&in.Src[1])
	if d == nil || d.Mod.Has(modKeep) || d.Pos == in.Pos { // within one statement's expansion it does not look
		return false
	}
	o, m, ok := mask(d)
	if !ok || m != 31 {
		return false
	}
	in.Src[1] = o
	in.Mod.Flags |= isa.ModWrap
	u.take(d)
	return false
}
