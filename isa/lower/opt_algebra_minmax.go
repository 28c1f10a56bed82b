package lower

import "github.com/sarchlab/smsim/isa"

// selectMinMax makes the selection of the lesser or greater of two words by their comparison a minimum or maximum, as ptxas 13.0 does whichever of
// < <= > >= it is, whatever the order of the arms, with literals and parameters, and where others read the comparison too (27 probed
// kernels, testdata/minmax_probes.txtar). Comparisons and selections that one statement expands to, cvt.sat for one, stay, as ptxas's do.
func (v *numberer) selectMinMax(in *isa.Inst) bool {
	op := isa.OpVIMNMX
	if v.f.t.SM < 90 {
		op = isa.OpIMNMX
	}
	p := in.Src[2]
	if !v.f.t.Has(op) || v.f.t.SM == 70 || v.f.t.SM < 20 || in.Mod != (isa.Mod{}) || in.NSrc != 3 || in.NDst != 1 || p.Kind != isa.KindPred || in.Src[0] == in.Src[1] {
		return false
	}
	d := v.valueSite(isa.KindPred, p.Reg)
	if d == nil || d.Pos == in.Pos || d.Op != isa.OpISETP || d.Dst[0].Reg != p.Reg || d.Mod.Has(isa.ModEX) || d.Mod.Bool != isa.BoolAnd || d.Src[2] != pt || d.Mod.Type != isa.S32 && d.Mod.Type != isa.U32 {
		return false
	}
	less := d.Mod.Cmp == isa.CmpLT || d.Mod.Cmp == isa.CmpLE
	if !less && d.Mod.Cmp != isa.CmpGT && d.Mod.Cmp != isa.CmpGE {
		return false
	}
	same := func(a, b isa.Operand) bool {
		a.Flags &^= isa.Reuse
		b.Flags &^= isa.Reuse
		return (a == b || isZero(a) && isZero(b)) && a.Flags == 0 && v.current(d, a)
	}
	switch {
	case same(d.Src[0], in.Src[0]) && same(d.Src[1], in.Src[1]):
	case same(d.Src[0], in.Src[1]) && same(d.Src[1], in.Src[0]):
		less = !less
	default:
		return false
	}
	which := pt // the minimum
	if less == p.Is(isa.Neg) {
		which = notPT
	}
	in.Op, in.Mod = op, isa.Mod{Type: d.Mod.Type}
	in.Src[0], in.Src[1], in.Src[2] = d.Src[0], d.Src[1], which
	return true
}
