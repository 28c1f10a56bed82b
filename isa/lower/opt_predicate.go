package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// Tables of PLOP3 that give a constant from three true predicates, as ptxas writes them.
const (
	lutTrue  = 0x80
	lutFalse = 0x08
)

// simplifyPredicates folds PLOP3, the logic of predicates: constants, repeated sources and complements. What depends on
// one source only becomes a copy of it or of its complement (table 0xf0), which valueNumber hands on to the readers.
func (f *fn) simplifyPredicates(in *isa.Inst) {
	if in.Op != isa.OpPLOP3 || in.NDst != 2 || in.NSrc != 3 || in.Dst[0].Kind != isa.KindPred || in.Dst[1] != pt {
		return
	}
	lut := in.Mod.Lut
	if (lut == lutTrue || lut == lutFalse) && in.Src[0] == pt && in.Src[1] == pt && in.Src[2] == pt {
		return // what an unrolled loop notes at its places
	}
	for k := range 3 {
		o := in.Src[k]
		if o.Kind != isa.KindPred {
			return
		}
		if o.Reg == isa.PT {
			lut = lutFix(lut, k, !o.Is(isa.Neg))
			continue
		}
		if o.Is(isa.Neg) {
			lut = lutInvert(lut, k)
		}
		for j := range k {
			if p := in.Src[j]; p.Reg == o.Reg {
				lut = lutTie(lut, j, k)
			}
		}
	}
	var needs []int
	for k := range 3 {
		if lutFix(lut, k, false) != lutFix(lut, k, true) {
			needs = append(needs, k)
		}
	}
	copyOf := func(o isa.Operand) {
		in.Mod = isa.Mod{Lut: 0xf0, Lut2: 0x0f}
		in.Src = [isa.MaxSrc]isa.Operand{o, pt, pt}
	}
	switch len(needs) {
	case 0:
		o := pt
		if lut == 0 {
			o.Flags |= isa.Neg
		}
		copyOf(o)
	case 1:
		o := isa.P(in.Src[needs[0]].Reg)
		if lutFix(lut, needs[0], true) == 0 {
			o.Flags |= isa.Neg
		}
		copyOf(o)
	}
}

// cutBranches removes guarded instructions whose guard is known to be false; a branch that is never taken or always
// taken changes the control flow, which is then analysed anew.
func (f *fn) cutBranches() {
	changed := false
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			never := in.Guard.Kind == isa.KindPred && in.Guard.Reg == isa.PT && in.Guard.Is(isa.Neg)
			if in.Op == isa.OpBRA && (never || in.Guard.Kind == isa.KindNone && len(b.succs) > 1) {
				changed = true
			}
			if never {
				dead(in)
			}
		}
	}
	f.compact()
	if changed {
		f.analyse()
	}
}

// dropSyncs removes WARPSYNC with a constant mask where control flow has not diverged, and after another one of the same
// mask in the block: all lanes that take part are together there.
func (f *fn) dropSyncs() {
	any := false
	for _, b := range f.blocks {
		for i := range b.insts {
			any = any || b.insts[i].Op == isa.OpWARPSYNC
		}
	}
	if !any {
		return
	}
	apart := f.divergentBlocks()
	for _, b := range f.blocks {
		var last isa.Operand
		for i := range b.insts {
			in := &b.insts[i]
			if in.Op != isa.OpWARPSYNC || in.Guard.Kind != isa.KindNone {
				continue
			}
			if _, known := constant(in.Src[0]); !known {
				continue
			}
			if !apart[b] || in.Src[0] == last {
				dead(in)
				continue
			}
			last = in.Src[0]
		}
	}
	f.compact()
}

// divergentBlocks are the blocks that only some lanes of a warp may execute together: those between a branch on a
// value that differs and the point where its sides meet. Lanes that exit do not part from the others.
func (f *fn) divergentBlocks() map[*block]bool {
	apart := map[*block]bool{}
	f.divergentRegions(f.uniformity(), func(_ *block, region map[*block]bool) {
		for b := range region {
			apart[b] = true
		}
	})
	return apart
}

// divergentLoops are the blocks of loops that lanes leave in different rounds.
func (f *fn) divergentLoops() map[*block]bool {
	loops := map[*block]bool{}
	f.divergentRegions(f.uniformity(), func(branch *block, region map[*block]bool) {
		if region[branch] {
			for b := range region {
				loops[b] = true
			}
		}
	})
	return loops
}

// divergentRegions calls visit for every branch on a value that differs between lanes, with the blocks between it and the point where its
// sides meet.
func (f *fn) divergentRegions(u *uniformity, visit func(branch *block, region map[*block]bool)) {
	for _, b := range f.rpo {
		if len(b.succs) < 2 || !u.divergentBranch(b) {
			continue
		}
		ends := false
		for _, s := range b.succs {
			ends = ends || lonelyExit(s)
		}
		if ends {
			continue
		}
		visit(b, sidesOf(b))
	}
}

// sidesOf are the blocks between the branch that ends b and the point where its sides meet.
func sidesOf(b *block) map[*block]bool {
	work := slices.Clone(b.succs)
	sides := map[*block]bool{}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if x == b.ipdom || sides[x] {
			continue
		}
		sides[x] = true
		work = append(work, x.succs...)
	}
	return sides
}
