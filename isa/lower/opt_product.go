package lower

import "github.com/sarchlab/smsim/isa"

// productKey is what two halves of one product share.
type productKey struct {
	a, b isa.Operand
}

// pairProducts computes the low and the high half of a product of the same two factors with one IMAD.WIDE instead of an
// IMAD and an IMAD.HI, which costs as much as the wide product. Products inside carry chains stay apart, as the compiler
// keeps mad.lo.cc and madc.hi.
func (f *fn) pairProducts() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	defs := f.defSites(n)
	carries := make([]bool, n.total) // read by an addition with carry
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			if in.Op == isa.OpIADD3 && !isAdd64(in) && (in.Mod.Has(isa.ModX) || !plainPreds(in)) {
				f.uses(in, n, func(id int) { carries[id] = true })
			}
		}
	}
	value := func(o isa.Operand) bool {
		id := n.of(isa.KindReg, o.Reg)
		return o.Kind == isa.KindReg && o.Flags == 0 && id >= 0 && defs[id].value() && !carries[id]
	}
	for _, b := range f.blocks {
		low, high := map[productKey]int{}, map[productKey]int{}
		for i := range b.insts {
			in := &b.insts[i]
			if in.Op != isa.OpIMAD || in.Guard.Kind != isa.KindNone || in.NSrc != 3 || !isZero(in.Src[2]) || in.NDst > 1 && in.Dst[1] != pt || !value(in.Dst[0]) {
				continue
			}
			ok := true
			f.uses(in, n, func(id int) { ok = ok && defs[id].value() })
			key := productKey{in.Src[0], in.Src[1]}
			if less(&key.b, &key.a) {
				key.a, key.b = key.b, key.a
			}
			if !ok || key.a.Flags != 0 || key.b.Flags != 0 {
				continue
			}
			mine, other := low, high
			switch in.Mod.Flags {
			case 0:
			case isa.ModHI:
				mine, other = high, low
			default:
				continue
			}
			k, found := other[key]
			if !found {
				mine[key] = i
				continue
			}
			first := &b.insts[k]
			lo, hi := first, in
			if in.Mod.Flags == 0 {
				lo, hi = in, first
			}
			if hi.Mod.BType != isa.TypeNone && hi.Mod.BType != hi.Mod.Type {
				continue
			}
			regs, free := f.tupleOf([]word{lo.Dst[0], hi.Dst[0]})
			if !free {
				continue
			}
			w := isa.Inst{Op: isa.OpIMAD, Mod: isa.Mod{Type: hi.Mod.Type, Flags: isa.ModWide}, NDst: 1, NSrc: 3, Pos: first.Pos}
			w.Dst[0], w.Src = tupleOperand(regs), [isa.MaxSrc]isa.Operand{first.Src[0], first.Src[1], rz}
			dead(in)
			*first = w
			delete(other, key)
		}
	}
	f.compact()
}
