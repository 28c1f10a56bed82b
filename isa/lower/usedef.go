package lower

import "github.com/sarchlab/smsim/isa"

// Every virtual register of every file has a dense number for tables: general registers first, then predicates,
// uniform registers and uniform predicates.
type numbering struct{ preds, uregs, upreds, total int }

func (f *fn) numbering() numbering {
	n := numbering{preds: int(f.nextReg - isa.VirtualBase)}
	n.uregs = n.preds + int(f.nextPred-isa.VirtualBase)
	n.upreds = n.uregs + int(f.nextUReg-isa.VirtualBase)
	n.total = n.upreds + int(f.nextUPred-isa.VirtualBase)
	return n
}

// of is the dense number of a register, -1 for a physical one.
func (n numbering) of(kind isa.OperandKind, r isa.Reg) int {
	if r < isa.VirtualBase {
		return -1
	}
	i := int(r - isa.VirtualBase)
	switch kind {
	case isa.KindReg, isa.KindMem, isa.KindConst:
		return i
	case isa.KindPred:
		return n.preds + i
	case isa.KindUReg:
		return n.uregs + i
	case isa.KindUPred:
		return n.upreds + i
	}
	return -1
}

// kindOf is the register file of dense number i, and its register.
func (n numbering) kindOf(i int) (isa.OperandKind, isa.Reg) {
	switch {
	case i < n.preds:
		return isa.KindReg, isa.VirtualBase + isa.Reg(i)
	case i < n.uregs:
		return isa.KindPred, isa.VirtualBase + isa.Reg(i-n.preds)
	case i < n.upreds:
		return isa.KindUReg, isa.VirtualBase + isa.Reg(i-n.uregs)
	}
	return isa.KindUPred, isa.VirtualBase + isa.Reg(i-n.upreds)
}

// members calls visit for the registers of an operand.
func (f *fn) members(o *isa.Operand, visit func(kind isa.OperandKind, r isa.Reg)) {
	switch o.Kind {
	case isa.KindReg, isa.KindMem, isa.KindConst:
		if o.Reg >= isa.VirtualBase {
			if o.Flags&(flagPair|flagQuad) != 0 {
				for _, r := range f.tuples[o.Reg] {
					visit(isa.KindReg, r)
				}
			} else {
				visit(isa.KindReg, o.Reg)
			}
		}
		if o.Kind == isa.KindMem && o.Is(isa.HasUReg) && o.UReg >= isa.VirtualBase {
			visit(isa.KindUReg, o.UReg)
			if o.Is(isa.UWide64) {
				if t := f.utuples[o.UReg]; len(t) > 1 {
					visit(isa.KindUReg, t[1])
				}
			}
		}
	case isa.KindUReg:
		if o.Reg >= isa.VirtualBase {
			if o.Flags&(flagPair|flagQuad) != 0 {
				for _, r := range f.utuples[o.Reg] {
					visit(isa.KindUReg, r)
				}
			} else {
				visit(isa.KindUReg, o.Reg)
			}
		}
	case isa.KindPred, isa.KindUPred:
		if o.Reg >= isa.VirtualBase {
			visit(o.Kind, o.Reg)
		}
	}
}

// uses calls visit for every virtual register that the instruction reads. A guarded instruction also reads
// its destinations, which keep their value in lanes where the guard is false.
func (f *fn) uses(in *isa.Inst, n numbering, visit func(id int)) {
	each := func(kind isa.OperandKind, r isa.Reg) { visit(n.of(kind, r)) }
	f.members(&in.Guard, each)
	for i := range in.Src[:in.NSrc] {
		f.members(&in.Src[i], each)
	}
	if in.Guard.Kind != isa.KindNone && in.Guard.Flags&flagFirst == 0 {
		f.guardedDefs(in, n, false, visit)
	}
	if s := f.site(in); s != nil {
		visitPassed(s.uses, n, visit)
	}
}

// visitPassed calls visit for registers that a call or return uses without naming them.
func visitPassed(regs []isa.Reg, n numbering, visit func(id int)) {
	for _, r := range regs {
		if r != 0 {
			visit(n.of(isa.KindReg, r))
		}
	}
}

// guardedDefs calls visit for the results of a guarded instruction that nobody reads in lanes where the guard is false
// (whole), or for the others.
func (f *fn) guardedDefs(in *isa.Inst, n numbering, whole bool, visit func(id int)) {
	for i := range in.Dst[:in.NDst] {
		f.members(&in.Dst[i], func(kind isa.OperandKind, r isa.Reg) {
			if f.whole[isa.Operand{Kind: kind, Reg: r}] == whole {
				visit(n.of(kind, r))
			}
		})
	}
}

// kills calls visit for every virtual register whose value before the instruction is of no use after it.
func (f *fn) kills(in *isa.Inst, n numbering, visit func(id int)) {
	if in.Guard.Kind == isa.KindNone || in.Guard.Flags&flagFirst != 0 {
		f.defs(in, n, visit)
		return
	}
	f.guardedDefs(in, n, true, visit)
}

// defs calls visit for every virtual register that the instruction writes.
func (f *fn) defs(in *isa.Inst, n numbering, visit func(id int)) {
	for i := range in.Dst[:in.NDst] {
		f.members(&in.Dst[i], func(kind isa.OperandKind, r isa.Reg) { visit(n.of(kind, r)) })
	}
	if s := f.site(in); s != nil {
		visitPassed(s.defs, n, visit)
	}
}

// writesMemory says that the instruction stores or orders memory accesses.
func writesMemory(in *isa.Inst) bool {
	switch in.Op {
	case isa.OpSUST, isa.OpST, isa.OpSTG, isa.OpSTS, isa.OpSTL, isa.OpATOM, isa.OpATOMG, isa.OpATOMS, isa.OpSYNCS, isa.OpARRIVES, isa.OpRED, isa.OpLDGSTS,
		isa.OpMEMBAR, isa.OpFENCE, isa.OpERRBAR, isa.OpCCTL, isa.OpBAR, isa.OpLDGDEPBAR, isa.OpDEPBAR:
		return true
	}
	return false
}

// hasEffect says that the instruction must stay even if nobody reads its results.
func hasEffect(in *isa.Inst) bool {
	if writesMemory(in) || in.Mod.Flags&(modOpaque|modWhole) != 0 || passes(in) {
		return true
	}
	switch c := in.Class(); {
	case c.IsControl():
		return true
	case c == isa.ClassSHFL, c == isa.ClassMATCH, c == isa.ClassVOTE, c == isa.ClassREDUX:
		return false
	}
	for i := range in.Dst[:in.NDst] {
		o := &in.Dst[i]
		if o.Reg < isa.VirtualBase && !(o.Kind == isa.KindReg && o.Reg == isa.RZ || o.Kind == isa.KindPred && o.Reg == isa.PT || o.Kind == isa.KindUReg && o.Reg == isa.URZ) {
			return true
		}
	}
	if in.Mod.Has(isa.ModCC) {
		return true
	}
	return in.NDst == 0 || in.Op == isa.OpNOP
}

// isWarpWide says that the result depends on other lanes, so the instruction may not move to where other
// lanes are active.
func isWarpWide(in *isa.Inst) bool {
	switch in.Class() {
	case isa.ClassSHFL, isa.ClassMATCH, isa.ClassVOTE, isa.ClassREDUX, isa.ClassBAR, isa.ClassWARPSYNC:
		return true
	}
	return false
}

// mentions says that an operand names the virtual register, alone or in a tuple.
func (f *fn) mentions(o *isa.Operand, kind isa.OperandKind, r isa.Reg) (some bool) {
	f.members(o, func(k isa.OperandKind, x isa.Reg) { some = some || k == kind && x == r })
	return some
}
