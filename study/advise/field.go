package advise

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa/ptx"
)

// field is what a value of at most 32 bits is known to be: bits lo to lo+n-1 of a word, or of a 64-bit value if they are in both of its words,
// zero- or sign-extended and then shifted left by up; or a constant. n is the register's width when nothing is known.
type field struct {
	w      word
	lo, n  int
	signed bool
	up     int

	isConst bool
	value   int64
}

// maxSteps bounds how far a value is followed through the instructions that made it.
const maxSteps = 16

// field finds what an operand is.
func (k *kernel) field(at *inst, a ptx.Arg) (field, bool) { return k.follow(at, a, maxSteps) }

func (k *kernel) follow(at *inst, a ptx.Arg, steps int) (field, bool) {
	if a.Kind == ptx.ArgInt {
		return field{isConst: true, value: a.Int}, true
	}
	w, ok := k.argWord(at, a)
	if !ok || w.reg.bits() < 8 || w.reg.bits() > 32 {
		return field{}, false
	}
	whole := field{w: w, n: w.reg.bits()}
	d := w.setter()
	if d == nil || steps == 0 || d.Guard != nil || len(d.Args) < 2 {
		return whole, true
	}
	if f, ok := k.derived(d, w.reg, steps-1); ok {
		return k.inHalf(f), true
	}
	return whole, true
}

// derived is the field that instruction d puts into register r.
func (k *kernel) derived(d *inst, r reg, steps int) (field, bool) {
	if p, ok := k.parts[partKey{d, r}]; ok {
		return field{w: p.word.w, lo: p.lo, n: p.n, signed: p.signed}, true
	}
	if d.Op == "ld" && len(d.Mods) > 0 {
		size, signed, ok := intType(d.Mods[len(d.Mods)-1])
		if ok && size < r.bits() && d.Args[0].Kind == ptx.ArgName {
			return field{w: word{reg: r, def: d}, n: size, signed: signed}, true
		}
		return field{}, false
	}
	if f, ok := k.ofLong(d, r, steps); ok {
		return f, true
	}
	if d.Args[0].Kind == ptx.ArgVector {
		return k.unpacked(d, r, steps)
	}
	f, ok := k.follow(d, d.Args[1], steps)
	if !ok {
		return field{}, false
	}
	imm := func(i int) (int, bool) {
		if i >= len(d.Args) {
			return 0, false
		}
		g, ok := k.follow(d, d.Args[i], steps)
		return int(g.value), ok && g.isConst && g.value >= 0 && g.value <= 64
	}
	switch {
	case d.isAny("mov", nil, "b32", "u32", "s32", "b16", "u16", "s16"):
		return f, d.Args[1].Kind == ptx.ArgName || d.Args[1].Kind == ptx.ArgInt
	case f.isConst:
		return field{}, false
	case d.isAny("and", nil, "b32", "b16"):
		g, ok := k.follow(d, d.Args[2], steps)
		if !ok || !g.isConst {
			return field{}, false
		}
		return f.masked(uint32(g.value), r.bits())
	case d.isAny("shl", nil, "b32", "b16"):
		s, ok := imm(2)
		if !ok {
			return field{}, false
		}
		return f.left(s, r.bits())
	case d.isAny("shr", nil, "u32", "s32", "b32", "u16", "s16", "b16"):
		s, ok := imm(2)
		if !ok {
			return field{}, false
		}
		return f.right(s, r.bits(), d.Mods[0][0] == 's')
	case d.isAny("bfe", nil, "u32", "s32"):
		pos, ok1 := imm(2)
		n, ok2 := imm(3)
		if !ok1 || !ok2 || f.up != 0 || n == 0 || pos+n > f.n {
			return field{}, false
		}
		return field{w: f.w, lo: f.lo + pos, n: n, signed: d.Mods[0] == "s32"}, true
	case d.Op == "cvt" && len(d.Mods) == 2:
		return f.convert(d.Mods[0], d.Mods[1])
	case d.is("prmt", "b32"):
		return k.permuted(d, f, steps)
	}
	return field{}, false
}

// masked is the field under a mask, in a register of some bits.
func (f field) masked(mask uint32, width int) (field, bool) {
	if f.up != 0 || mask == 0 {
		return field{}, false
	}
	// A mask of ones in one place: the low zeros are bits shifted out and back.
	up := bits.TrailingZeros32(mask)
	ones := mask >> up
	if ones&(ones+1) != 0 {
		return field{}, false
	}
	f, ok := f.low(min(bits.Len32(mask), width))
	if !ok || f.n <= up {
		return field{}, false
	}
	f.lo, f.n, f.up = f.lo+up, f.n-up, up
	return f, true
}

// left is the field shifted left by s in a register of some bits.
func (f field) left(s, width int) (field, bool) {
	if s >= width {
		return field{}, false
	}
	f.up += s
	if f.n+f.up > width {
		f.n, f.signed = width-f.up, false
	} else if f.signed && f.n+f.up < width {
		return field{}, false
	}
	return f, f.n > 0
}

// low keeps the low n bits, the others zero.
func (f field) low(n int) (field, bool) {
	switch {
	case f.up != 0:
		return field{}, false
	case n <= f.n:
		f.n, f.signed = n, false
	case f.signed:
		return field{}, false
	}
	return f, true
}

// right shifts a value in a register of the width.
func (f field) right(s, width int, signed bool) (field, bool) {
	top := f.n+f.up == width // the field's top bit is the register's
	if f.signed && !signed && f.n < width {
		return field{}, false // the copies of the sign do not follow
	}
	if s < f.up {
		f.up -= s
		return f, !top || !signed
	}
	s -= f.up
	f.up = 0
	f.lo, f.n = f.lo+s, f.n-s
	if top {
		f.signed = signed
	}
	return f, f.n > 0
}

// convert is cvt.to.from.
func (f field) convert(to, from string) (field, bool) {
	size, signed, ok := intType(from)
	size2, _, ok2 := intType(to)
	if !ok || !ok2 || f.up != 0 || size > 32 || size2 > 32 {
		return field{}, false
	}
	switch {
	case f.n >= size:
		f.n, f.signed = size, signed
	case f.signed && !signed && size2 > size:
		return field{}, false
	}
	if f.n >= size2 {
		f.n, f.signed = size2, false
	}
	return f, true
}

// permuted is prmt.b32 with a constant selector that takes one byte or two neighbouring bytes and extends them.
func (k *kernel) permuted(d *inst, f field, steps int) (field, bool) {
	if len(d.Args) != 4 {
		return field{}, false
	}
	g, ok := k.follow(d, d.Args[2], steps)
	s, ok2 := k.follow(d, d.Args[3], steps)
	if !ok || !ok2 || !s.isConst || f.up != 0 || f.n != 32 {
		return field{}, false
	}
	nib := func(i int) int { return int(s.value>>(4*i)) & 15 }
	zero := func(i int) bool { return g.isConst && g.value == 0 && nib(i)&7 >= 4 && nib(i)&8 == 0 }
	b := nib(0)
	switch {
	case b > 3:
	case zero(1) && zero(2) && zero(3):
		return field{w: f.w, lo: f.lo + 8*b, n: 8}, true
	case nib(1) == b|8 && nib(2) == b|8 && nib(3) == b|8:
		return field{w: f.w, lo: f.lo + 8*b, n: 8, signed: true}, true
	case nib(1) != b+1 || b == 3:
	case zero(2) && zero(3):
		return field{w: f.w, lo: f.lo + 8*b, n: 16}, true
	case nib(2) == nib(1)|8 && nib(3) == nib(1)|8:
		return field{w: f.w, lo: f.lo + 8*b, n: 16, signed: true}, true
	}
	return field{}, false
}

// unpacked is one register of mov.b32 {a, b}, c.
func (k *kernel) unpacked(d *inst, r reg, steps int) (field, bool) {
	if !d.is("mov", "b32") {
		return field{}, false
	}
	f, ok := k.follow(d, d.Args[1], steps)
	el := d.Args[0].Elems
	if !ok || f.isConst || f.n != 32 || f.up != 0 {
		return field{}, false
	}
	for i := range el {
		if el[i].Name == r.name {
			n := 32 / len(el)
			return field{w: f.w, lo: f.lo + i*n, n: n}, true
		}
	}
	return field{}, false
}

// intType reads "u8", "s16", "b32".
func intType(t string) (size int, signed, ok bool) {
	if t == "" || !strings.Contains("bsu", t[:1]) {
		return 0, false, false
	}
	size, err := strconv.Atoi(t[1:])
	return size, t[0] == 's', err == nil
}

// byteOf is the number of the byte, if the field is one.
func (f field) byteOf() (int, bool) {
	return f.lo / 8, !f.isConst && f.n == 8 && f.up == 0 && f.lo%8 == 0 && f.w.reg.bits() == 32
}

// halfOf is the number of the 16-bit half, if the field is one.
func (f field) halfOf() (int, bool) {
	return f.lo / 16, !f.isConst && f.n == 16 && f.up == 0 && f.lo%16 == 0 && f.w.reg.bits() == 32
}

// narrow says that a difference of two such values does not wrap in a register of the width.
func (f field) narrow(width int) bool {
	if f.isConst {
		return f.value > -(1<<(width-2)) && f.value < 1<<(width-2)
	}
	return f.n+f.up <= width-2
}

// unsignedBits is the number of bits an unsigned value can have, 32 if unknown.
func (f field) unsignedBits() int {
	switch {
	case f.isConst && f.value >= 0:
		return bits.Len64(uint64(f.value))
	case f.isConst || f.signed:
		return 32
	}
	return min(32, f.n+f.up)
}
