package lower

import "github.com/sarchlab/smsim/isa"

// narrow makes 64-bit products and sums of which only the low word is read 32-bit ones, also where a high word is read only
// to make high words that nobody reads (an address in local memory that a loop steps).
func (f *fn) narrow() {
	f.removeDead() // what is left of a carry is read: the sums below that carry into nothing have no second result any more
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	wanted := f.wantedWords(n)
	left := map[isa.Reg]bool{} // first registers of pairs of which one word is left
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			switch {
			case in.Op == isa.OpIADD3 && in.Mod.Size == sizeHalf && in.Mod.Flags == modKeep && plainPreds(in): // nobody reads its carry
				in.Mod = isa.Mod{}
			case f.splitsProduct(in):
				regs := f.tuples[in.Dst[0].Reg]
				if wanted[n.of(isa.KindReg, regs[1])] {
					continue
				}
				in.Mod = isa.Mod{Type: isa.S32}
				in.NDst, in.Dst = 1, [isa.MaxDst]isa.Operand{isa.R(regs[0])}
				if c := &in.Src[2]; c.Flags&flagPair != 0 {
					c.Flags &^= flagPair | isa.Wide64
				}
				left[regs[0]] = true
			case splitsSum(in) && !wanted[n.of(isa.KindReg, in.Dst[1].Reg)]:
				lo := isa.Inst{Op: isa.OpIADD3, NDst: 1, NSrc: 3, Guard: in.Guard, Pos: in.Pos, PC: in.PC}
				lo.Dst[0] = in.Dst[0]
				copy(lo.Src[:3], in.Src[:3])
				fillLayout(&lo)
				*in = lo
			}
		}
	}
	if len(left) > 0 {
		f.removeDead() // copies of high words that are not made any more
		f.leavePairs(left)
	}
}

// splitsProduct says that the instruction is a product of 32 x 32 bits whose high word can be left out.
func (f *fn) splitsProduct(in *isa.Inst) bool {
	return in.Op == isa.OpIMAD && in.Mod.Flags == isa.ModWide && in.Dst[0].Flags&flagPair != 0 && (in.NDst == 1 || plainPreds(in)) && len(f.tuples[in.Dst[0].Reg]) == 2
}

// splitsSum says that the instruction is a 64-bit sum whose high word can be left out.
func splitsSum(in *isa.Inst) bool {
	return isAdd64(in) && in.Dst[1].Kind == isa.KindReg && in.Dst[1].Reg >= isa.VirtualBase
}

// wantedWords says for every register whether something with an effect depends on it, where low words of products and sums do
// not depend on high ones.
func (f *fn) wantedWords(n numbering) []bool {
	wanted := make([]bool, n.total)
	defs := make([][]*isa.Inst, n.total)
	var work []int
	want := func(id int) {
		if !wanted[id] {
			wanted[id] = true
			work = append(work, id)
		}
	}
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			f.defs(in, n, func(id int) { defs[id] = append(defs[id], in) })
			if hasEffect(in) {
				f.uses(in, n, want)
			}
		}
	}
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		for _, in := range defs[id] {
			f.wordUses(in, n, id, want)
		}
	}
	return wanted
}

// wordUses calls visit for what result id of the instruction depends on.
func (f *fn) wordUses(in *isa.Inst, n numbering, id int, visit func(id int)) {
	each := func(kind isa.OperandKind, r isa.Reg) { visit(n.of(kind, r)) }
	switch {
	case splitsSum(in) && id == n.of(isa.KindReg, in.Dst[0].Reg) && id != n.of(isa.KindReg, in.Dst[1].Reg):
		for k := range in.Src[:3] {
			f.members(&in.Src[k], each)
		}
	case f.splitsProduct(in) && id == n.of(isa.KindReg, f.tuples[in.Dst[0].Reg][0]):
		for k := range in.Src[:2] {
			f.members(&in.Src[k], each)
		}
		low := in.Src[2]
		low.Flags &^= flagPair
		f.members(&low, each)
	default:
		f.uses(in, n, visit)
		return
	}
	f.members(&in.Guard, each)
}

// leavePairs takes the words of those pairs apart that no instruction reads or writes as a pair any more.
func (f *fn) leavePairs(pairs map[isa.Reg]bool) {
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			for _, list := range [][]isa.Operand{in.Dst[:in.NDst], in.Src[:in.NSrc]} {
				for _, o := range list {
					if o.Flags&(flagPair|flagQuad) != 0 {
						delete(pairs, o.Reg)
					}
				}
			}
		}
	}
	for first := range pairs {
		for _, r := range f.tuples[first] {
			delete(f.inTuple, r)
		}
		delete(f.tuples, first)
	}
}
