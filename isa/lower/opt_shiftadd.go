package lower

import "github.com/sarchlab/smsim/isa"

// sumUses counts, for every register, the additions of two words that read it, and those that subtract it. Sums that go into one
// other addition and nothing else do not count: they become one with that.
func (f *fn) sumUses(n numbering, uses []int32) (sums, differences []int32) {
	sums, differences = make([]int32, n.total), make([]int32, n.total)
	twoWords := func(visit func(in *isa.Inst, t []isa.Operand)) {
		for _, b := range f.blocks {
			for i := range b.insts {
				in := &b.insts[i]
				if !plainAdd(in) || in.Guard.Kind != isa.KindNone {
					continue
				}
				if t := terms(in, 3); len(t) == 2 {
					visit(in, t)
				}
			}
		}
	}
	virtual := func(o *isa.Operand) bool { return o.Kind == isa.KindReg && o.Reg >= isa.VirtualBase }
	added := map[isa.Reg]bool{}
	twoWords(func(_ *isa.Inst, t []isa.Operand) {
		for k := range t {
			added[t[k].Reg] = added[t[k].Reg] || virtual(&t[k])
		}
	})
	twoWords(func(in *isa.Inst, t []isa.Operand) {
		if d := &in.Dst[0]; virtual(d) && added[d.Reg] && uses[n.of(isa.KindReg, d.Reg)] == 1 {
			return
		}
		for k := range t {
			switch o := &t[k]; {
			case !virtual(o):
			case o.Flags == 0:
				sums[n.of(isa.KindReg, o.Reg)]++
			case o.Flags == isa.Neg:
				differences[n.of(isa.KindReg, o.Reg)]++
			}
		}
	})
	return sums, differences
}

// fuseShift makes the addition of a shifted word and another one instruction: LEA and LEA.HI. ptxas 13.0 does that also where
// several additions read the shifted word, if nothing else does, so that the shift disappears; a rotation must have one reader.
func (u *fuser) fuseShift(in *isa.Inst, shifted, other isa.Operand) bool {
	if u.f.t.SM < 70 || shifted.Kind != isa.KindReg || shifted.Reg < isa.VirtualBase || shifted.Flags&^isa.Neg != 0 || in.Guard.Kind != isa.KindNone {
		return false
	}
	id := u.n.of(isa.KindReg, shifted.Reg)
	if id >= len(u.defs) {
		return false
	}
	d := u.anyDefinition(id)
	if d == nil || d.Op != isa.OpSHF || other.Imm >= dynamicShared/2 && other.Kind == isa.KindImm {
		return false
	}
	n, _ := constant(d.Src[1])
	alone := u.uses[id] == 1
	into := func(op isa.Op, mod isa.Mod, src ...isa.Operand) bool {
		in.Op, in.Mod, in.NDst, in.NSrc = op, mod, 2, uint8(len(src))
		in.Dst[1], in.Dst[2] = pt, isa.Operand{}
		in.Src = [isa.MaxSrc]isa.Operand{}
		copy(in.Src[:], src)
		u.leave(d, id, shifted)
		return true
	}
	switch {
	case (isShiftLeft(d) || constShiftLeft(d)) && (alone || u.sums[id]+u.differences[id] >= u.uses[id]):
		if shifted.Flags == 0 {
			return into(isa.OpLEA, isa.Mod{}, d.Src[0], other, d.Src[1])
		}
		if other.Kind != isa.KindReg || other.Flags != 0 {
			return false
		}
		into(isa.OpIMAD, isa.Mod{}, d.Src[0], imm(-(uint32(1) << n)), other)
		in.NDst, in.Dst[1] = 1, isa.Operand{}
		return true
	case shifted.Flags != 0 || other.Flags&^isa.Neg != 0:
	case isShiftRight(d) && isZero(d.Src[0]) && (alone || u.sums[id] >= u.uses[id]): // x >> n is the upper word of x << 32-n
		return into(isa.OpLEA, isa.Mod{Flags: isa.ModHI}, d.Src[2], other, rz, imm(32-n))
	case isSignedShiftRight(d) && (alone || u.sums[id] >= u.uses[id]):
		return into(isa.OpLEA, isa.Mod{Flags: isa.ModHI | isa.ModSX32}, d.Src[2], other, imm(32-n))
	case isFunnelLeft(d) && alone && other.Flags == 0:
		return into(isa.OpLEA, isa.Mod{Flags: isa.ModHI}, d.Src[0], other, d.Src[2], imm(n))
	}
	return false
}

// leave notes that an instruction no longer reads the result id of d, but d's sources; d goes when nobody reads it.
func (u *fuser) leave(d *isa.Inst, id int, o isa.Operand) {
	if u.uses[id]--; u.uses[id] == 0 {
		u.take(d)
		return
	}
	if o.Flags == 0 {
		u.sums[id]--
	} else {
		u.differences[id]--
	}
	u.f.uses(d, u.n, func(s int) { u.uses[s]++ })
}

// isShiftLeft says that the instruction is a 32-bit left shift by a constant below 32.
func isShiftLeft(in *isa.Inst) bool {
	if in.Op != isa.OpSHF || !in.Mod.Has(isa.ModLeft) || in.Mod.Has(isa.ModHI) || in.Mod.Type != isa.U32 && in.Mod.Type != isa.S32 || in.Src[0].Kind != isa.KindReg || in.Src[0].Flags != 0 {
		return false
	}
	n, ok := constant(in.Src[1])
	return ok && n < 32 && n > 0
}

// constShiftLeft says that the instruction is a 32-bit left shift of a word of a constant bank by a constant from 1 to 31.
func constShiftLeft(in *isa.Inst) bool {
	if in.Op != isa.OpSHF || in.Src[0].Kind != isa.KindConst || in.Src[0].Reg != isa.RZ {
		return false
	}
	word := *in
	word.Src[0] = isa.R(isa.VirtualBase)
	return isShiftLeft(&word)
}

// isShiftRight says that the instruction is an unsigned 32-bit right shift of a register by a constant from 1 to 31.
func isShiftRight(in *isa.Inst) bool {
	if in.Op != isa.OpSHF || !in.Mod.Has(isa.ModRight|isa.ModHI) || in.Mod.Type != isa.U32 || in.Src[2].Kind != isa.KindReg || in.Src[2].Flags != 0 {
		return false
	}
	n, ok := constant(in.Src[1])
	return ok && n < 32 && n > 0
}

// isFunnelLeft says that the instruction is the upper word of two registers shifted left by a constant from 1 to 31.
func isFunnelLeft(in *isa.Inst) bool {
	if in.Op != isa.OpSHF || !in.Mod.Has(isa.ModLeft|isa.ModHI) || in.Mod.Type != isa.U32 || in.Src[0].Kind != isa.KindReg || in.Src[2].Kind != isa.KindReg || in.Src[0].Flags|in.Src[2].Flags != 0 {
		return false
	}
	n, ok := constant(in.Src[1])
	return ok && n < 32 && n > 0
}

// isSignedShiftRight says that the instruction is a signed 32-bit right shift of a register by a constant from 1 to 31.
func isSignedShiftRight(in *isa.Inst) bool {
	if in.Op != isa.OpSHF || !in.Mod.Has(isa.ModRight|isa.ModHI) || in.Mod.Type != isa.S32 || in.Src[2].Kind != isa.KindReg || in.Src[2].Flags != 0 {
		return false
	}
	n, ok := constant(in.Src[1])
	return ok && n < 32 && n > 0
}
