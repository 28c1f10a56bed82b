package lower

import "github.com/sarchlab/smsim/isa"

// A multi-word multiplication in PTX is pairs of mad.lo.cc and madc.hi with the same factors. From Volta on
// ptxas makes one IMAD.WIDE of such a pair: {hi, lo} = a * b + {c1, c0} with a carry in and out. The low
// half leaves a note when it is selected; the high half, if it follows at once, takes it back and emits
// the wide form.

// madNote remembers the instructions of a mad.lo.cc.
type madNote struct {
	block     *block
	from, end int // its instructions in the block
	d         word
	a, b, c   word
	in        bool
	carry     word // the carry it took
	guard     word
}

// noteMadLo keeps the note of a mad.lo.cc just emitted.
func (x *expander) noteMadLo(n madNote) {
	if x.sm() >= 70 {
		x.f.madLo = n
	}
}

// fuseWide emits the wide form for a madc.hi that follows its mad.lo; false when it does not.
func (x *expander) fuseWide(d, a, b, c word, signed, in, out bool) bool {
	n := x.f.madLo
	x.f.madLo = madNote{}
	if n.block == nil || n.block != x.cur || n.end != len(x.cur.insts) || n.guard != x.guard || !in {
		return false
	}
	same := n.a == a && n.b == b || n.a == b && n.b == a
	if !same || n.d == a || n.d == b || n.d == c || n.d == d {
		return false
	}
	x.cur.insts = x.cur.insts[:n.from]
	to := pt
	if out {
		to = x.carryOut()
	}
	mod := isa.Mod{Type: signedType(signed), Flags: isa.ModWide}
	srcs := [][]word{{a}, {b}, {n.c, c}}
	if n.in {
		mod.Flags |= isa.ModX
		srcs = append(srcs, []word{n.carry})
	}
	x.emitWide(isa.OpIMAD, mod, [][]word{{n.d, d}, {to}}, srcs)
	return true
}
