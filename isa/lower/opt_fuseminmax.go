package lower

import "github.com/sarchlab/smsim/isa"

// fuseMinMax merges additions and min/max into the three-input forms where the target has them.
func (u *fuser) fuseMinMax(in *isa.Inst) bool {
	halves := in.Mod.Type == isa.S16x2 || in.Mod.Type == isa.U16x2
	relu := in.Mod.Flags == isa.ModRelu && (in.Mod.Type == isa.S32 || in.Mod.Type == isa.S16x2)
	if in.NDst > 1 || in.Mod.Type != isa.S32 && in.Mod.Type != isa.U32 && !halves || in.Src[2].Reg != isa.PT || in.Mod.Flags != 0 && !relu {
		return false
	}
	for k := range 2 {
		o, other := in.Src[k], in.Src[1-k]
		if o.Flags != 0 || other.Flags != 0 {
			continue
		}
		d := u.inner(&o)
		if d == nil {
			continue
		}
		max := in.Src[2].Is(isa.Neg)
		switch {
		case isZero(other) && max && !relu && in.Mod.Type == isa.S32 && d.Mod.Type == isa.S32 && d.Mod.Flags == 0 &&
			(d.Op == isa.OpVIMNMX || d.Op == isa.OpVIMNMX3 || d.Op == isa.OpVIADDMNMX):
			dst, g, pos := in.Dst[0], in.Guard, in.Pos
			*in = *d
			in.Dst[0], in.Guard, in.Pos = dst, g, pos
			in.Mod.Flags |= isa.ModRelu
			u.take(d)
			return true
		case d.Op == isa.OpVIMNMX && (d.Mod == in.Mod || relu && d.Mod.Flags == 0 && d.Mod.Type == in.Mod.Type) && d.Src[2] == in.Src[2] && u.f.t.Has(isa.OpVIMNMX3) && !isZero(other) && d.NDst == 1:
			in.Op, in.NSrc = isa.OpVIMNMX3, 4
			in.Src = [isa.MaxSrc]isa.Operand{d.Src[0], d.Src[1], other, in.Src[2]}
			u.take(d)
			u.f.arrange(in)
			return true
		case halves && d.Op == isa.OpVIADD && (d.Mod.Type == isa.S16x2 || d.Mod.Type == isa.U16x2) && d.Mod.Flags == 0 && d.Src[0].Flags|d.Src[1].Flags == 0 &&
			d.Src[0].Kind == isa.KindReg && u.f.t.Has(isa.OpVIADDMNMX):
			in.Op, in.NSrc = isa.OpVIADDMNMX, 4
			in.Src = [isa.MaxSrc]isa.Operand{d.Src[0], d.Src[1], other, in.Src[2]}
			u.take(d)
			return true
		case !halves && plainAdd(d) && u.f.t.Has(isa.OpVIADDMNMX):
			t := terms(d, 3)
			if len(t) != 2 || t[0].Flags != 0 || t[1].Flags != 0 || u.chosen(t[0]) || u.chosen(t[1]) {
				continue
			}
			if t[0].Kind != isa.KindReg {
				t[0], t[1] = t[1], t[0]
			}
			in.Op, in.NSrc = isa.OpVIADDMNMX, 4
			in.Src = [isa.MaxSrc]isa.Operand{t[0], t[1], other, in.Src[2]}
			u.take(d)
			return true
		}
	}
	return false
}

// chosen says that the word is a constant that a predicate chooses for one sum, which becomes two guarded sums (guardSelects).
func (u *fuser) chosen(o isa.Operand) bool {
	d := u.inner(&o)
	if d == nil || !plainSelect(d) {
		return false
	}
	_, first := constant(d.Src[0])
	_, second := constant(d.Src[1])
	return first && second
}
