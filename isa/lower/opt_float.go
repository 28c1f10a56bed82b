package lower

import "github.com/sarchlab/smsim/isa"

// modContract marks a product or sum in single precision whose PTX names no rounding, so that the compiler may round both at once.
// It exists only inside the package.
const modContract isa.ModFlags = 1 << 59

// fuseFloat takes signs and magnitudes (FADD -a, -RZ; FADD |a|, -RZ) into the operands that read them, and makes the product and sum
// of mul.f32 and add.f32 one FFMA. ptxas contracts them where neither names a rounding, .ftz is the same and nobody else reads the product.
func (u *fuser) fuseFloat(in *isa.Inst) bool {
	if u.f.t.SM < 70 {
		return false
	}
	places := 2
	if in.Op == isa.OpFFMA {
		places = 3
	}
	for k := range places {
		if u.fuseSign(in, k) {
			return true
		}
	}
	return in.Op == isa.OpFADD && in.Mod.Has(modContract) && (u.contract(in, 0) || u.contract(in, 1))
}

// signOf says that the instruction is nothing but a sign change or magnitude.
func signOf(in *isa.Inst) bool {
	o := in.Src[1]
	return in.Op == isa.OpFADD && in.Mod.Flags&^isa.ModFTZ == 0 && in.Mod.Round == isa.RN && in.Src[0].Flags&(isa.Neg|isa.Abs) != 0 &&
		in.Src[0].Kind == isa.KindReg && o.Kind == isa.KindReg && o.Reg == isa.RZ && o.Flags&^isa.Reuse == isa.Neg
}

func (u *fuser) fuseSign(in *isa.Inst, k int) bool {
	o := &in.Src[k]
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase || signOf(in) {
		return false
	}
	id := u.n.of(isa.KindReg, o.Reg)
	if id >= len(u.defs) {
		return false
	}
	d := u.definition(id)
	if d == nil || !signOf(d) || d.Mod.Has(isa.ModFTZ) && !in.Mod.Has(isa.ModFTZ) {
		return false
	}
	w := d.Src[0]
	w.Flags &^= isa.Reuse
	switch {
	case o.Flags&isa.Abs != 0:
		w.Flags = w.Flags&^isa.Neg | isa.Abs | o.Flags&isa.Neg
	case o.Flags&isa.Neg != 0:
		w.Flags ^= isa.Neg
	}
	if w.Flags&isa.Abs != 0 && (in.Op == isa.OpFMUL || in.Op == isa.OpFFMA) { // these have no magnitudes
		return false
	}
	*o = w
	if in.Op == isa.OpFMUL || in.Op == isa.OpFFMA {
		u.productSigns(in)
	}
	if u.uses[id]--; u.uses[id] == 0 {
		u.take(d)
	} else if s := u.n.of(isa.KindReg, w.Reg); s < len(u.uses) {
		u.uses[s]++
	}
	return true
}

// productSigns leaves at most one of the factors negated.
func (u *fuser) productSigns(in *isa.Inst) {
	if in.Src[0].Flags&isa.Neg != 0 && in.Src[1].Flags&isa.Neg != 0 {
		in.Src[0].Flags &^= isa.Neg
		in.Src[1].Flags &^= isa.Neg
	}
}

func (u *fuser) contract(in *isa.Inst, k int) bool {
	o, other := &in.Src[k], in.Src[1-k]
	d := u.inner(o)
	if d == nil || d.Op != isa.OpFMUL || !d.Mod.Has(modContract) || d.Mod.Has(isa.ModSat) || d.Mod.Has(isa.ModFTZ) != in.Mod.Has(isa.ModFTZ) ||
		(o.Flags|other.Flags|d.Src[0].Flags|d.Src[1].Flags)&isa.Abs != 0 {
		return false
	}
	a, b := d.Src[0], d.Src[1]
	if o.Flags&isa.Neg != 0 {
		a.Flags ^= isa.Neg
	}
	in.Op, in.NSrc = isa.OpFFMA, 3
	in.Src = [isa.MaxSrc]isa.Operand{a, b, other}
	in.Mod.Flags &^= modContract
	u.productSigns(in)
	u.take(d)
	return true
}
