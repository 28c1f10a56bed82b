package isa

// mergeNames are the places of the destination that a video instruction replaces, by destination selector.
var mergeNames = [...]string{"MRG", "MRG_8B0", "MRG_8B1", "MRG_8B2", "MRG_8B3", "MRG_16L", "MRG_16H"}

// convertSuffix prints those of conversions; it is false for other instructions.
func (in *Inst) convertSuffix(add func(string), flag func(ModFlags, string)) bool {
	m := &in.Mod
	switch in.Op {
	case OpI2F, OpI2FP, OpUI2F:
		if m.Type != TypeNone && (m.Type != F32 || in.Op == OpI2FP) {
			add(m.Type.String())
		}
		if m.BType != TypeNone && m.BType != S32 || in.Op == OpI2FP {
			add(orS32(m.BType))
		}
		add(roundNames[m.Round&3])
	case OpF2I, OpUF2I:
		flag(ModFTZ, "FTZ")
		if m.Type != TypeNone && m.Type != S32 {
			add(m.Type.String())
		}
		if m.BType != TypeNone && m.BType != F32 {
			add(m.BType.String())
		}
		add(roundIntNames[m.Round&3])
		flag(ModNTZ, "NTZ")
	case OpF2F, OpFRND, OpI2I, OpI2IP, OpF2FP, OpF2IP, OpUFRND, OpUF2F, OpUF2FP:
		flag(ModFTZ, "FTZ")
		add(m.Type.String())
		add(m.BType.String())
		if in.Op == OpFRND || in.Op == OpUFRND || in.Op == OpF2IP || m.Has(ModInt) {
			add(roundIntNames[m.Round&3])
		} else {
			add(roundNames[m.Round&3])
		}
		flag(ModSat, "SAT")
		flag(ModRelu, "RELU")
		flag(ModNTZ, "NTZ")
		flag(ModPackAB, "PACK_AB")
		flag(ModPackB, "PACK_B")
	default:
		return false
	}
	return true
}

// videoSuffix prints those of video instructions.
func (in *Inst) videoSuffix(add func(string), flag func(ModFlags, string)) {
	m := &in.Mod
	switch m.DType {
	case U32:
		add("UD")
	case S32:
		add("SD")
	}
	if m.Cmp != CmpF {
		add(m.Cmp.String())
	}
	add(m.Sub.String())
	add(m.Type.String())
	add(m.BType.String())
	flag(ModPO, "PO")
	flag(ModShr7, "SHR_7")
	flag(ModShr15, "SHR_15")
	flag(ModSat, "SAT")
	flag(ModWrap, "W")
	flag(ModAcc, "ACC")
	switch m.Sub2 {
	case SubAdd:
		add("ACC")
	case SubMin, SubMax:
		add(m.Sub2.String())
	}
	if m.Has(ModMerge) && m.DSel < uint8(len(mergeNames)) {
		add(mergeNames[m.DSel])
	}
}
