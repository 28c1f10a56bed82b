package advise

import (
	"fmt"
	"math/big"
	"math/bits"

	"github.com/sarchlab/smsim/isa/ptx"
)

// divider writes the division by a known number as nvcc does, without a division: ptxas turns a division by a literal into its general
// sequence, so the literal alone would gain nothing.
type divider struct {
	s    *site
	n    *namer
	at   *inst // in front of which the instructions go
	bits uint  // width of the division, 32 or 64
}

// op puts an instruction with a new result register; its type is kind (u, s or b) and the width.
func (d *divider) op(name, kind string, args ...ptx.Arg) ptx.Arg {
	r := d.n.fresh(fmt.Sprintf("b%d", d.bits))
	d.into(r, name, kind, args...)
	return r
}

func (d *divider) into(r ptx.Arg, name, kind string, args ...ptx.Arg) {
	d.s.put(d.at, op(fmt.Sprintf("%s.%s%d", name, kind, d.bits), append([]ptx.Arg{r}, args...)...))
}

// divide puts to = a / by, or the rest of it, where by is not zero.
func (d *divider) divide(to, a ptx.Arg, by int64, signed, rest bool) {
	if !signed {
		b := uint64(by)
		if d.bits == 32 {
			b = uint64(uint32(by))
		}
		if rest && b&(b-1) == 0 {
			d.into(to, "and", "b", a, num(int64(b-1)))
			return
		}
		d.finish(to, a, d.unsigned(a, b, d.bits), num(int64(-b)), rest)
		return
	}
	d.finish(to, a, d.signed(a, by), num(-by), rest)
}

// finish moves the quotient to its register, or adds it times minus the divisor to the dividend.
func (d *divider) finish(to, a, quotient, minus ptx.Arg, rest bool) {
	if rest {
		if d.bits == 32 {
			minus.Int = int64(int32(minus.Int))
		}
		d.into(to, "mad.lo", "s", quotient, minus, a)
		return
	}
	d.into(to, "mov", "b", quotient)
}

// unsigned is a / b, where a has no bits from width on: the high word of a * ceil(2^(bits+shift) / b), shifted, with the smallest shift
// that is exact for all such a (Granlund and Montgomery 1994, theorem 4.2). A factor of one bit more than a word has its top bit added apart.
func (d *divider) unsigned(a ptx.Arg, b uint64, width uint) ptx.Arg {
	if b == 1 {
		return a
	}
	if b&(b-1) == 0 {
		return d.op("shr", "u", a, num(int64(bits.TrailingZeros64(b))))
	}
	log := uint(bits.Len64(b - 1))
	for shift := range log + 1 {
		if m, exact := reciprocal(b, d.bits, shift, width); exact && m.BitLen() <= int(d.bits) {
			h := d.op("mul.hi", "u", a, literal(m, d.bits))
			if shift == 0 {
				return h
			}
			return d.op("shr", "u", h, num(int64(shift)))
		}
	}
	if even := uint(bits.TrailingZeros64(b)); even > 0 && width == d.bits { // fewer bits need a shorter factor
		return d.unsigned(d.op("shr", "u", a, num(int64(even))), b>>even, width-even)
	}
	m, _ := reciprocal(b, d.bits, log, width)
	m.Sub(m, new(big.Int).Lsh(big.NewInt(1), d.bits))
	h := d.op("mul.hi", "u", a, literal(m, d.bits))
	half := d.op("shr", "u", d.op("sub", "s", a, h), num(1)) // (a + h) / 2 without overflow
	return d.op("shr", "u", d.op("add", "s", half, h), num(int64(log-1)))
}

// reciprocal is m = ceil(2^(n+shift) / b), and whether a*m >> n+shift is a / b for all a of so many bits: m*b - 2^(n+shift) is at most
// 2^(n+shift-width).
func reciprocal(b uint64, n, shift, width uint) (m *big.Int, exact bool) {
	d := new(big.Int).SetUint64(b)
	power := new(big.Int).Lsh(big.NewInt(1), n+shift)
	m = new(big.Int).Add(power, d)
	m.Sub(m, big.NewInt(1)).Quo(m, d)
	over := new(big.Int).Mul(m, d)
	over.Sub(over, power)
	return m, over.Lsh(over, width).Cmp(power) <= 0
}

// signed is a / b rounded to zero: the high word of a * m, shifted, plus one where a is negative (Granlund and Montgomery 1994, theorem 5.1).
func (d *divider) signed(a ptx.Arg, b int64) ptx.Arg {
	size := uint64(b)
	if b < 0 {
		size = -size
	}
	var q ptx.Arg
	switch {
	case size == 1:
		q = a
	case size&(size-1) == 0:
		k := int64(bits.TrailingZeros64(size))
		sign := d.op("shr", "s", a, num(int64(d.bits-1)))
		bias := d.op("shr", "u", sign, num(int64(d.bits)-k)) // size - 1 where a is negative
		q = d.op("shr", "s", d.op("add", "s", a, bias), num(k))
	default:
		m, shift := signedReciprocal(size, d.bits)
		q = d.op("mul.hi", "s", a, literal(m, d.bits))
		if m.BitLen() == int(d.bits) { // the factor counts as m - 2^bits
			q = d.op("add", "s", q, a)
		}
		if shift > 0 {
			q = d.op("shr", "s", q, num(int64(shift)))
		}
		q = d.op("add", "s", q, d.op("shr", "u", a, num(int64(d.bits-1))))
	}
	if b < 0 {
		q = d.op("neg", "s", q)
	}
	return q
}

// signedReciprocal is the first m = floor(2^(n-1+1+shift) / b) + 1 that is exact for all dividends of n-1 bits.
func signedReciprocal(b uint64, n uint) (m *big.Int, shift uint) {
	d := new(big.Int).SetUint64(b)
	for ; ; shift++ {
		power := new(big.Int).Lsh(big.NewInt(1), n+shift)
		m = new(big.Int).Quo(power, d)
		m.Add(m, big.NewInt(1))
		over := new(big.Int).Mul(m, d)
		over.Sub(over, power)
		if over.Lsh(over, n-1).Cmp(power) <= 0 {
			return m, shift
		}
	}
}

// literal is a number of n bits as PTX has it, which is signed.
func literal(m *big.Int, n uint) ptx.Arg {
	v := int64(m.Uint64())
	if n == 32 {
		v = int64(int32(v))
	}
	return num(v)
}
