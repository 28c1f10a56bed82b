package advise

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// halfName is the register that holds the low or high word of the n-th of k.longs in new code, which gets mov.b64 {low, high} behind the
// instruction that sets the value.
func (k *kernel) halfName(n, high int) string { return fmt.Sprintf("%s%d", k.halfPrefix, 2*n+high) }

// inHalf makes a field of a 64-bit value one of its low or high word, where it lies in one of them.
func (k *kernel) inHalf(f field) field {
	if f.isConst || f.w.reg.bits() != 64 || f.lo/32 != (f.lo+f.n-1)/32 || f.w.setter() == nil || f.w.def.Guard != nil {
		return f
	}
	n := slices.Index(k.longs, f.w)
	if n < 0 {
		n = len(k.longs)
		k.longs = append(k.longs, f.w)
	}
	f.w = word{reg: reg{name: k.halfName(n, f.lo/32), typ: "b32"}, def: f.w.def}
	f.lo %= 32
	return f
}

// long finds what a 64-bit operand is: bits of a 64-bit value, extended.
func (k *kernel) long(at *inst, a ptx.Arg, steps int) (field, bool) {
	w, ok := k.argWord(at, a)
	if !ok || w.reg.bits() != 64 {
		return field{}, false
	}
	whole := field{w: w, n: 64}
	d := w.setter()
	if d == nil || steps == 0 || d.Guard != nil || len(d.Args) < 2 || d.Args[1].Kind != ptx.ArgName {
		return whole, true
	}
	var f field
	number := func(i int) (int64, bool) {
		g, ok := k.follow(d, d.Args[i], steps-1)
		return g.value, ok && g.isConst
	}
	from := func() bool {
		f, ok = k.long(d, d.Args[1], steps-1)
		return ok
	}
	switch {
	case d.isAny("mov", nil, "b64", "u64", "s64") && from():
		return f, true
	case d.isAny("shr", nil, "u64", "s64", "b64") && from():
		if n, ok := number(2); ok && n >= 0 && n < 64 {
			if g, ok := f.right(int(n), 64, d.Mods[0][0] == 's'); ok {
				return g, true
			}
		}
	case d.is("and", "b64") && from():
		if mask, ok := number(2); ok && mask != 0 && mask&(mask+1) == 0 {
			if g, ok := f.low(bits.Len64(uint64(mask))); ok {
				return g, true
			}
		}
	case d.isAny("bfe", nil, "u64", "s64") && from():
		pos, ok1 := number(2)
		n, ok2 := number(3)
		if ok1 && ok2 && f.up == 0 && pos >= 0 && n > 0 && int(pos+n) <= f.n {
			return field{w: f.w, lo: f.lo + int(pos), n: int(n), signed: d.Mods[0] == "s64"}, true
		}
	}
	return whole, true
}

// ofLong is what instruction d takes out of a 64-bit value into the narrower register r; ok is false if it does not do that.
func (k *kernel) ofLong(d *inst, r reg, steps int) (f field, ok bool) {
	switch {
	case d.Guard != nil:
	case d.Op == "cvt" && len(d.Mods) == 2 && (d.Mods[1] == "u64" || d.Mods[1] == "s64"):
		size, signed, known := intType(d.Mods[0])
		if f, ok = k.long(d, d.Args[1], steps); !ok || !known || size > r.bits() || f.up != 0 {
			return f, false
		}
		switch {
		case f.n >= size:
			f.n, f.signed = size, signed && size < r.bits()
		case f.signed && !signed && size < r.bits():
			return f, false
		}
		return f, true
	case d.is("mov", "b64") && d.Args[0].Kind == ptx.ArgVector && len(d.Args[0].Elems) == 2:
		if f, ok = k.long(d, d.Args[1], steps); !ok || f.n != 64 || f.up != 0 {
			return f, false
		}
		for i, e := range d.Args[0].Elems {
			if e.Name == r.name {
				return field{w: f.w, lo: f.lo + 32*i, n: 32}, true
			}
		}
	}
	return field{}, false
}

// splits are the instructions that take apart the 64-bit values of which new code reads a word, by the instruction behind which each goes.
func (k *kernel) splits(used func(name string) bool) (after map[*ptx.Instr][]*ptx.Instr, count int) {
	after = map[*ptx.Instr][]*ptx.Instr{}
	for n, w := range k.longs {
		low, high := k.halfName(n, 0), k.halfName(n, 1)
		if used(low) || used(high) {
			in := op("mov.b64", vec(name(low), name(high)), name(w.reg.name))
			in.Loc = w.def.Loc
			after[w.def.Instr] = append(after[w.def.Instr], in)
			count = 2 * len(k.longs)
		}
	}
	return after, count
}
