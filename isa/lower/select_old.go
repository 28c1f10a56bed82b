package lower

import "github.com/sarchlab/smsim/isa"

// Operations that early generations lack, built from the ones they have.

// lutTree computes a three-input truth table with two-input logic: the table is split at a into two tables
// of b and c, t1 where a is 1 and t0 where a is 0; d = t0 ^ (a & (t0 ^ t1)).
func (x *expander) lutTree(d, a, b, c word, lut uint8) word {
	t0, t1 := lut&0xf, lut>>4
	diff := t0 ^ t1
	switch {
	case diff == 0:
		return x.lut2(d, b, c, t0)
	case t0 == 0 && diff == 0xf:
		return x.mov(d, a)
	case diff == 0xf:
		return x.xor(d, a, x.lut2(auto, b, c, t0))
	case t0 == 0:
		return x.and(d, a, x.lut2(auto, b, c, t1))
	case t1 == 0xf:
		return x.or(d, a, x.lut2(auto, b, c, t0))
	case t1 == 0:
		return x.and(d, x.not(auto, a), x.lut2(auto, b, c, t0))
	}
	m := x.and(auto, a, x.lut2(auto, b, c, diff))
	return x.xor(d, m, x.lut2(auto, b, c, t0))
}

// lut2 is a two-input table: the bit of index 2b+c is the result.
func (x *expander) lut2(d, b, c word, lut uint8) word {
	switch lut & 0xf {
	case 0x0:
		return x.mov(d, imm(0))
	case 0xf:
		return x.mov(d, imm(0xffffffff))
	case 0xc:
		return x.mov(d, b)
	case 0xa:
		return x.mov(d, c)
	case 0x3:
		return x.not(d, b)
	case 0x5:
		return x.not(d, c)
	case 0x8:
		return x.and(d, b, c)
	case 0xe:
		return x.or(d, b, c)
	case 0x6:
		return x.xor(d, b, c)
	case 0x7:
		return x.not(d, x.and(auto, b, c))
	case 0x1:
		return x.not(d, x.or(auto, b, c))
	case 0x9:
		return x.not(d, x.xor(auto, b, c))
	case 0x4:
		return x.and(d, b, x.not(auto, c))
	case 0x2:
		return x.and(d, x.not(auto, b), c)
	case 0xd:
		return x.or(d, b, x.not(auto, c))
	}
	return x.or(d, x.not(auto, b), c) // 0xb
}

// byteOf is byte k of {b, a}, moved to byte position at, with all other bits zero; or its sign spread over the byte.
func (x *expander) byteOf(a, b word, k uint32, at int, sign bool) word {
	w := a
	if k >= 4 {
		w = b
	}
	if isZero(w) {
		return rz
	}
	if sign {
		v := x.shl(auto, w, imm(24-8*(k&3)))
		return x.and(auto, x.signWord(auto, v), imm(0xff<<(8*at)))
	}
	from, to := int(k&3)*8, at*8
	switch {
	case from < to:
		w = x.shl(auto, w, imm(uint32(to-from)))
	case from > to:
		w = x.shr(auto, w, imm(uint32(from-to)))
	}
	return x.and(auto, w, imm(0xff<<to))
}

// permuteBytes is PRMT with a constant selector on targets without it.
func (x *expander) permuteBytes(d, a word, sel uint32, b word) word {
	var parts []word
	for i := 0; i < 4; i++ {
		n := sel >> (4 * i) & 0xf
		if w := x.byteOf(a, b, n&7, i, n&8 != 0); !isZero(w) {
			parts = append(parts, w)
		}
	}
	if len(parts) == 0 {
		return x.mov(d, imm(0))
	}
	v := parts[0]
	for _, p := range parts[1:] {
		v = x.or(auto, v, p)
	}
	return x.mov(d, v)
}

// permuteVar is PRMT with a variable selector on targets without it: each nibble shifts the pair right.
func (x *expander) permuteVar(d, a, sel, b word) word {
	v := word{}
	for i := 0; i < 4; i++ {
		n := sel
		if i > 0 {
			n = x.shr(auto, sel, imm(uint32(4*i)))
		}
		shift := x.shl(auto, x.and(auto, n, imm(3)), imm(3))
		p := x.test(isa.CmpNE, isa.U32, x.and(auto, n, imm(4)), imm(0))
		byt := x.shr(auto, x.sel(auto, b, a, p), shift)
		sign := x.sar(auto, x.shl(auto, byt, imm(24)), imm(31))
		q := x.test(isa.CmpNE, isa.U32, x.and(auto, n, imm(8)), imm(0))
		byt = x.and(auto, x.sel(auto, sign, byt, q), imm(0xff))
		if i == 0 {
			v = byt
			continue
		}
		v = x.or(auto, v, x.shl(auto, byt, imm(uint32(8*i))))
	}
	return x.mov(d, v)
}

// popcSteps counts bits by adding fields of growing width.
func (x *expander) popcSteps(d, a word) word {
	a = x.sub(auto, a, x.and(auto, x.shr(auto, a, imm(1)), imm(0x55555555)))
	a = x.add(auto, x.and(auto, a, imm(0x33333333)), x.and(auto, x.shr(auto, a, imm(2)), imm(0x33333333)))
	a = x.and(auto, x.add(auto, a, x.shr(auto, a, imm(4))), imm(0x0f0f0f0f))
	a = x.add(auto, a, x.shr(auto, a, imm(8)))
	a = x.add(auto, a, x.shr(auto, a, imm(16)))
	return x.and(d, a, imm(0x3f))
}

// floSteps is the position of the leading one by halving, all ones for zero.
func (x *expander) floSteps(d, a word) word {
	pos := x.mov(auto, imm(0))
	v := x.mov(auto, a)
	for _, n := range []uint32{16, 8, 4, 2, 1} {
		p := x.test(isa.CmpGE, isa.U32, v, imm(1<<n))
		v = x.sel(auto, x.shr(auto, v, imm(n)), v, p)
		pos = x.add(auto, pos, x.sel(auto, imm(n), rz, p))
	}
	none := x.test(isa.CmpEQ, isa.U32, a, rz)
	return x.sel(d, imm(0xffffffff), pos, none)
}

// brevSteps reverses bits by swapping fields.
func (x *expander) brevSteps(d, a word) word {
	for _, s := range []struct{ n, m uint32 }{{1, 0x55555555}, {2, 0x33333333}, {4, 0x0f0f0f0f}, {8, 0x00ff00ff}} {
		r := x.and(auto, x.shr(auto, a, imm(s.n)), imm(s.m))
		l := x.shl(auto, x.and(auto, a, imm(s.m)), imm(s.n))
		a = x.or(auto, l, r)
	}
	return x.or(d, x.shl(auto, a, imm(16)), x.shr(auto, a, imm(16)))
}
