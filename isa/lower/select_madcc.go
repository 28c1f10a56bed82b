package lower

import "github.com/sarchlab/smsim/isa"

// A multi-word multiplication in PTX is pairs of mad.lo.cc and madc.hi with the same factors. From Volta on
// ptxas makes one IMAD.WIDE of such a pair: {hi, lo} = a * b + {c1, c0} with a carry in and out. The low
// half leaves a note when it is selected; the high half, if it follows at once, takes it back and emits
// the wide form.

// madNote remembers the instructions of a mad.lo.cc.
type madNote struct {
	block   *block
	from    int // index of its IMAD in the block
	end     int // length of the block after it
	d       word
	a, b, c word
	in      bool
	guard   word
}

// noteMadLo is called after the addition at index at was emitted for a mad.lo.cc.
func (x *expander) noteMadLo(at int, d, a, b, c word, in bool) {
	if x.sm() < 70 {
		return
	}
	x.f.madLo = madNote{block: x.cur, from: at - 1, end: len(x.cur.insts), d: d, a: a, b: b, c: c, in: in, guard: x.guard}
}

// fuseWide emits the wide form for a madc.hi that follows its mad.lo; false when it does not.
func (x *expander) fuseWide(d, a, b, c word, signed, in, out bool) bool {
	n := x.f.madLo
	x.f.madLo = madNote{}
	if n.block == nil || n.block != x.cur || n.end != len(x.cur.insts) || n.guard != x.guard || !in {
		return false
	}
	same := n.a == a && n.b == b || n.a == b && n.b == a
	if !same || n.d == a || n.d == b || n.d == c {
		return false
	}
	x.cur.insts = x.cur.insts[:n.from]
	cy := x.carryFlag()
	to := pt
	if out {
		to = cy
	}
	mod := isa.Mod{Type: signedType(signed), Flags: isa.ModWide}
	srcs := [][]word{{a}, {b}, {n.c, c}}
	if isZero(n.c) && isZero(c) {
		srcs[2] = []word{rz}
	}
	if n.in {
		mod.Flags |= isa.ModX
		srcs = append(srcs, []word{cy})
	}
	x.emitWide(isa.OpIMAD, mod, [][]word{{n.d, d}, {to}}, srcs)
	return true
}

// carryFlag is the predicate that stands for PTX's CC.CF from Volta on. It is one variable of the kernel.
func (x *expander) carryFlag() word {
	if x.f.carry.Kind == isa.KindNone {
		x.f.carry = x.pred()
	}
	return x.f.carry
}
