package isa

import "math/big"

// VideoDocument is a scalar video instruction as the pseudo-code of the PTX document (PTX ISA, "Scalar Video Instructions")
// computes it, in exact arithmetic and one lane at a time. What GPUs compute deviates: docs/deviations.md.
type VideoDocument struct {
	Op      string // vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset, vmad
	D, A, B VideoPart
	Sat     bool
	Wrap    bool // shifts: by the amount modulo 32, else by at most 32
	Cmp     Cmp  // vset
	Second  Sub  // SubAdd, SubMin, SubMax with c

	// vmad
	NegProduct, NegC, PlusOne bool
	Shift                     uint
}

// VideoPart is the type of an operand and the part of the register that it takes: Bits 8, 16 or 32, from bit At.
type VideoPart struct {
	Signed   bool
	At, Bits uint
}

// take extends the part of a register.
func (p VideoPart) take(v uint32) *big.Int {
	v >>= p.At
	if p.Bits < 32 {
		v &= 1<<p.Bits - 1
	}
	return extendTo(v, p.Bits, p.Signed)
}

func extendTo(v uint32, bits uint, sgn bool) *big.Int {
	x := new(big.Int).SetUint64(uint64(v))
	if sgn && v>>(bits-1)&1 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), bits))
	}
	return x
}

// clampBig saturates to an integer of so many bits.
func clampBig(x *big.Int, bits uint, sgn bool) *big.Int {
	one := big.NewInt(1)
	low, high := new(big.Int), new(big.Int).Lsh(one, bits)
	if sgn {
		high.Rsh(high, 1)
		low.Neg(high)
	}
	high.Sub(high, one)
	switch {
	case x.Cmp(low) < 0:
		return low
	case x.Cmp(high) > 0:
		return high
	}
	return x
}

// lowWord is the low word in two's complement.
func lowWord(x *big.Int) uint32 {
	return uint32(new(big.Int).And(x, big.NewInt(1<<32-1)).Uint64())
}

// Value is the result for operands a, b and c.
func (v *VideoDocument) Value(a, b, c uint32) uint32 {
	x, y := v.A.take(a), v.B.take(b)
	if v.Op == "vmad" {
		return v.multiply(x, y, c)
	}
	t := new(big.Int)
	switch v.Op {
	case "vadd":
		t.Add(x, y)
	case "vsub":
		t.Sub(x, y)
	case "vabsdiff":
		t.Abs(t.Sub(x, y))
	case "vmin", "vmax":
		t.Set(x)
		if x.Cmp(y) < 0 != (v.Op == "vmin") {
			t.Set(y)
		}
	case "vset":
		t.SetUint64(uint64(bit(compare64(v.Cmp, int64(x.Cmp(y)), 0))))
	case "vshl", "vshr":
		n := uint(y.Uint64())
		if v.Wrap {
			n &= 31
		}
		n = min(n, 32)
		if v.Op == "vshl" {
			t.Lsh(x, n)
		} else {
			t.Rsh(x, n)
		}
	}
	if v.Sat {
		t = clampBig(t, v.D.Bits, v.D.Signed)
	}
	if v.D.Bits < 32 {
		k := uint32(1<<v.D.Bits-1) << v.D.At
		return c&^k | lowWord(t)<<v.D.At&k
	}
	z := extendTo(c, 32, v.D.Signed)
	switch v.Second {
	case SubAdd:
		t.Add(t, z)
	case SubMin, SubMax:
		if v.D.Signed { // the intermediate result as a word of the destination's type
			t = extendTo(lowWord(t), 32, true)
		}
		if z.Cmp(t) < 0 == (v.Second == SubMin) {
			t = z
		}
	}
	return lowWord(t)
}

// multiply is vmad.
func (v *VideoDocument) multiply(x, y *big.Int, c uint32) uint32 {
	sgn := v.A.Signed || v.B.Signed || v.NegProduct || v.NegC
	t := new(big.Int).Mul(x, y)
	one := v.PlusOne
	switch {
	case v.PlusOne:
	case v.NegProduct:
		t.Not(t)
		one = true
	case v.NegC:
		c, one = ^c, true
	}
	t.Add(t, extendTo(c, 32, sgn))
	if one {
		t.Add(t, big.NewInt(1))
	}
	t.Rsh(t, v.Shift)
	if v.Sat {
		t = clampBig(t, 32, sgn)
	}
	return lowWord(t)
}

// ExtractDocument is bfe of so many bits (32 or 64) as the pseudo-code of the PTX document computes it: positions and
// lengths are taken modulo 256, and a signed field is filled with its top bit.
func ExtractDocument(a uint64, pos, length uint32, bits uint, signed bool) uint64 {
	at, n := uint(pos&0xff), uint(length&0xff)
	fill := uint64(0)
	if signed && n > 0 {
		fill = a >> min(at+n-1, bits-1) & 1
	}
	var d uint64
	for i := range bits {
		b := fill
		if i < n && at+i < bits {
			b = a >> (at + i) & 1
		}
		d |= b << i
	}
	return d
}

// InsertDocument is bfi: the low bits of a over those of b from pos on.
func InsertDocument(a, b uint64, pos, length uint32, bits uint) uint64 {
	at, n := uint(pos&0xff), uint(length&0xff)
	for i := uint(0); i < n && at+i < bits; i++ {
		b = b&^(1<<(at+i)) | a>>i&1<<(at+i)
	}
	return b
}

// FindSetDocument is fns: the position of the offset-th one of mask from base on, downwards for negative offsets, all
// ones where there is none. The document leaves bases over 31 open: ok is false.
func FindSetDocument(mask, base uint32, offset int32) (pos uint32, ok bool) {
	const none = 0xffffffff
	if base > 31 {
		return 0, false
	}
	if offset == 0 {
		if mask>>base&1 == 1 {
			return base, true
		}
		return none, true
	}
	step, count := 1, int64(offset)
	if offset < 0 {
		step, count = -1, -count
	}
	for at := int(base); at >= 0 && at < 32; at += step {
		if mask>>at&1 == 1 {
			if count--; count == 0 {
				return uint32(at), true
			}
		}
	}
	return none, true
}
