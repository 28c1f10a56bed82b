package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// updateInPlace lets what a loop computes for its next round take the register that it is copied to at the loop's end, where
//
//	L: ... s = f(d, ...); ... d = s; @p bra L        and after the loop at most  d = s  again
//
// and what still reads the old d reads nothing else and can come before s: the rows of a dynamic programme whose diagonal has a constant
// added (nw: no copy is left in ptxas's code; sw, which adds a word to it, has 15 in each of its loops).
func (f *fn) updateInPlace() {
	if f.t.SM < 70 {
		return
	}
	for _, b := range f.rpo {
		if b.to != b {
			continue
		}
		n := f.numbering()
		for k := 0; k < len(b.insts); k++ {
			if in := &b.insts[k]; f.plainCopy(in) && f.mergeCopy(b, k, n) {
				k = -1
			}
		}
	}
}

// plainCopy says that the instruction copies one virtual register to another that is no word of a tuple.
func (f *fn) plainCopy(in *isa.Inst) bool {
	if in.Op != isa.OpMOV || in.Mod.Flags != 0 || in.Guard.Kind != isa.KindNone {
		return false
	}
	for _, o := range []isa.Operand{in.Dst[0], in.Src[0]} {
		if _, member := f.inTuple[o.Reg]; o.Kind != isa.KindReg || o.Flags != 0 || o.Reg < isa.VirtualBase || member || f.halves[o.Reg] {
			return false
		}
	}
	return in.Dst[0] != in.Src[0]
}

// mergeCopy makes the source of the copy at place k of a loop's block its destination, if that is possible.
func (f *fn) mergeCopy(b *block, k int, n numbering) bool {
	d, s := b.insts[k].Dst[0], b.insts[k].Src[0]
	at, copies, ok := f.onlyCopied(b, k, n)
	if !ok || len(copies) == 0 {
		return false
	}
	order, ok := f.readFirst(b, at, k, n)
	if !ok {
		return false
	}
	insts := make([]isa.Inst, 0, len(b.insts))
	for _, i := range order {
		if i == k {
			continue
		}
		in := b.insts[i]
		f.renameReads(&in, s.Reg, d.Reg)
		for j := range in.Dst[:in.NDst] {
			if in.Dst[j].Kind == isa.KindReg && in.Dst[j].Reg == s.Reg {
				in.Dst[j].Reg = d.Reg
			}
		}
		insts = append(insts, in)
	}
	b.insts = insts
	for _, x := range copies {
		x.insts = slices.DeleteFunc(x.insts, func(in isa.Inst) bool { return in.Op == isa.OpMOV && in.Dst[0] == d && in.Src[0] == s })
	}
	return true
}

// renameReads puts one register for another in the sources of an instruction.
func (f *fn) renameReads(in *isa.Inst, from, to isa.Reg) {
	for j := range in.Src[:in.NSrc] {
		if kind, ok := namedKind(&in.Src[j]); ok && kind == isa.KindReg && in.Src[j].Reg == from {
			in.Src[j].Reg = to
		}
	}
}

// onlyCopied finds where the block defines the source of the copy at place k, if that is its only definition, and the blocks
// after the loop that copy it to the same register, if nothing else there reads it.
func (f *fn) onlyCopied(b *block, k int, n numbering) (at int, copies []*block, ok bool) {
	dst, src := b.insts[k].Dst[0], b.insts[k].Src[0]
	d, s := n.of(isa.KindReg, dst.Reg), n.of(isa.KindReg, src.Reg)
	at, ok = -1, true
	for _, x := range f.rpo {
		for i := range x.insts {
			in := &x.insts[i]
			same := f.plainCopy(in) && in.Dst[0] == dst && in.Src[0] == src
			f.defs(in, n, func(id int) {
				switch {
				case id == s && x == b && at < 0 && i < k && in.Guard.Kind == isa.KindNone:
					at = i
				case id == s, id == d && !same && dominates(b, x), id == d && same && x == b && i != k:
					ok = false
				}
			})
			f.uses(in, n, func(id int) {
				if id == s && x != b && (!same || !dominates(b, x)) {
					ok = false
				}
				if id == d && x == b && i > k {
					ok = false
				}
			})
			if same && x != b {
				copies = append(copies, x)
			}
		}
	}
	return at, copies, ok && at >= 0
}

// readFirst gives an order of the block's instructions in which everything that reads the old value of the copy's destination comes
// before the definition of its source at place at; ok is false where that needs the source itself, or a load or store would move.
func (f *fn) readFirst(b *block, at, k int, n numbering) (order []int, ok bool) {
	d := n.of(isa.KindReg, b.insts[k].Dst[0].Reg)
	early := map[int]bool{}
	var need func(i int) bool
	need = func(i int) bool {
		in := &b.insts[i]
		if early[i] {
			return true
		}
		if i == at || in.Class().IsMemory() || in.Class().IsControl() || fence(in) || isWarpWide(in) {
			return false
		}
		early[i] = true
		for p := at; p < i; p++ {
			if f.ordered(&b.insts[p], in, n) && !need(p) {
				return false
			}
		}
		return true
	}
	for i := at; i < k; i++ {
		reads := false
		f.uses(&b.insts[i], n, func(id int) { reads = reads || id == d })
		if reads && i > at && (!f.oneWord(&b.insts[i]) || !need(i)) {
			return nil, false
		}
	}
	for i := range b.insts {
		if i == at {
			for p := range b.insts {
				if early[p] {
					order = append(order, p)
				}
			}
		}
		if !early[i] {
			order = append(order, i)
		}
	}
	return order, true
}

// oneWord says that the instruction reads one register and writes one, beside predicates: it may come earlier without more
// registers being live.
func (f *fn) oneWord(in *isa.Inst) bool {
	words := 0
	for _, list := range [][]isa.Operand{in.Src[:in.NSrc], in.Dst[:in.NDst]} {
		for k := range list {
			f.members(&list[k], func(kind isa.OperandKind, _ isa.Reg) {
				if kind == isa.KindReg {
					words++
				}
			})
		}
	}
	return words == 2
}

// ordered says that the second instruction has to stay behind the first because of a register.
func (f *fn) ordered(first, second *isa.Inst, n numbering) bool {
	writes, reads := map[int]bool{}, map[int]bool{}
	f.defs(first, n, func(id int) { writes[id] = true })
	f.uses(first, n, func(id int) { reads[id] = true })
	some := false
	f.uses(second, n, func(id int) { some = some || writes[id] })
	f.defs(second, n, func(id int) { some = some || writes[id] || reads[id] })
	return some
}
