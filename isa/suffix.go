package isa

import "strings"

// Modifiers of an instruction as text, in nvdisasm's order as far as it is the same for an opcode's generations.

var typeNames = [...]string{TypeNone: "", U8: "U8", S8: "S8", U16: "U16", S16: "S16", U32: "U32", S32: "S32", U64: "U64", S64: "S64", U128: "128",
	F16: "F16", BF16: "BF16", F32: "F32", F64: "F64", U16x2: "U16x2", S16x2: "S16x2", U8x4: "U8x4", S8x4: "S8x4", F16x2: "F16x2", BF16x2: "BF16_V2",
	B32: "B32", B64: "64", TF32: "TF32", E4M3: "E4M3", E5M2: "E5M2"}

// String is the type's name in listings, "" for none.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return "?"
}

var cmpNames = [...]string{"F", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T"}

// String is the comparison's name in listings.
func (c Cmp) String() string {
	if int(c) < len(cmpNames) {
		return cmpNames[c]
	}
	return "?"
}

var boolNames = [...]string{"AND", "OR", "XOR"}

// String is the operation's name in listings.
func (b BoolOp) String() string {
	if int(b) < len(boolNames) {
		return boolNames[b]
	}
	return "?"
}

var subNames = [NumSubs]string{SubAdd: "ADD", SubMin: "MIN", SubMax: "MAX", SubInc: "INC", SubDec: "DEC", SubAnd: "AND", SubOr: "OR", SubXor: "XOR",
	SubExch: "EXCH", SubCAS: "CAS", SubSafeAdd: "SAFEADD", SubPassB: "PASS_B", SubIdx: "IDX", SubUp: "UP", SubDown: "DOWN", SubBfly: "BFLY",
	SubAll: "ALL", SubAny: "ANY", SubEq: "EQ", SubRcp: "RCP", SubRsq: "RSQ", SubLg2: "LG2", SubEx2: "EX2", SubSin: "SIN", SubCos: "COS",
	SubSqrt: "SQRT", SubTanh: "TANH", SubRcp64H: "RCP64H", SubRsq64H: "RSQ64H", SubF4E: "F4E", SubB4E: "B4E", SubRC8: "RC8", SubECL: "ECL",
	SubECR: "ECR", SubRC16: "RC16", SubSync: "SYNC", SubArrive: "ARV", SubRedPopc: "RED.POPC", SubRedAnd: "RED.AND", SubRedOr: "RED.OR",
	Sub4A: "4A", Sub2ALo: "2A.LO", Sub2AHi: "2A.HI", SubCBCC: "CBCC", SubCHI: "CHI", SubCLO: "CLO", SubCSFU: "CSFU", SubAvg: "AVRG",
	SubAbsDiff: "ABSDIFF", SubSub: "SUB", SubShl: "SHL", SubShr: "SHR", SubSet: "SET", SubMad: "MAD",
	SubMbArrive: "ARRIVE", SubMbA0T1: "RED.A0T1", SubMbA0TR: "RED.A0TR", SubMbA0TX: "RED.A0TX", SubMbA1T0: "A1T0", SubMbART0: "ART0",
	SubMbOutA1T0: "OPTOUT.A1T0", SubMbOutA1TR: "OPTOUT", SubMbOutART0: "OPTOUT.ART0", SubMbPhase: "PHASECHK.TRANS64",
	SubMbTryWait: "PHASECHK.TRANS64.TRYWAIT", SubMbEnd: "CCTL.IV", SubMbCopies: "LDGSTSBAR.64", SubMbCopiesArv: "LDGSTSBAR.64.ARVCNT",
	SubMbCopiesTx:   "LDGSTSBAR.64.TRANSCNT",
	SubReconvergent: "RECONVERGENT", SubReliable: "RELIABLE", SubExclusive: "EXCLUSIVE", SubCollective: "COLLECTIVE",
	SubGlobal: "G", SubShared: "S", SubLocal: "L"}

// String is the sub-operation's name in listings, "" for none.
func (s Sub) String() string {
	if s < NumSubs {
		return subNames[s]
	}
	return "?"
}

// suffix is the text of the modifiers, each with its leading dot.
func (in *Inst) suffix() string {
	if in.Op >= NumOps {
		return ""
	}
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	flag := func(f ModFlags, s string) {
		if in.Mod.Has(f) {
			add(s)
		}
	}
	switch {
	case in.arithmeticSuffix(add, flag), in.compareSuffix(add, flag), in.bitSuffix(add, flag), in.controlSuffix(add, flag), in.convertSuffix(add, flag):
	default:
		in.otherSuffix(add, flag)
	}
	flag(ModS, "S")
	if len(parts) == 0 {
		return ""
	}
	return "." + strings.Join(parts, ".")
}

// arithmeticSuffix prints the modifiers of sums, products, minima and maxima; it is false for other instructions.
func (in *Inst) arithmeticSuffix(add func(string), flag func(ModFlags, string)) bool {
	m := &in.Mod
	unsigned := func() {
		if m.Type == U32 || m.Type == U64 {
			add(m.Type.String())
		}
	}
	switch in.Op {
	case OpIADD3, OpUIADD3, OpIADD, OpISUB, OpIADD32I:
		flag(ModWide, "64")
		flag(ModRS, "RS")
		if m.Has(ModRS) && m.Type == S32 {
			add("S32")
		}
		flag(ModLS, "LS")
		flag(ModX, "X")
		flag(ModSat, "SAT")
		flag(ModPO, "PO")
	case OpVIADD, OpUVIADD:
		in.vectorSuffix(add)
		flag(ModSat, "ISAT")
	case OpIMAD, OpUIMAD, OpIMUL:
		flag(ModMov, "MOV")
		flag(ModShl, "SHL")
		flag(ModAdd, "IADD")
		flag(ModWide, "WIDE")
		if m.BType != TypeNone && m.BType != m.Type || m.Type == U32 && m.BType == U32 {
			add(orS32(m.Type))
			add(orS32(m.BType))
			flag(ModHI, "HI")
		} else {
			flag(ModHI, "HI")
			unsigned()
		}
		flag(ModSat, "SAT")
		flag(ModX, "X")
	case OpIMUL24, OpIMAD24:
		flag(ModHI, "HI")
		add(orS32(m.Type))
		flag(ModSat, "SAT")
	case OpXMAD:
		if m.Type == S16 || m.BType == S16 {
			add(orU16(m.Type))
			add(orU16(m.BType))
		}
		flag(ModPSL, "PSL")
		flag(ModMRG, "MRG")
		flag(ModX, "X")
		add(m.Sub.String())
	case OpIDP:
		add(m.Sub.String())
		add(m.Type.String())
		add(m.BType.String())
	case OpLEA, OpULEA:
		flag(ModHI, "HI")
		flag(ModX, "X")
		flag(ModSX32, "SX32")
	case OpIMNMX:
		unsigned()
		if m.Type == S64 {
			add("S64")
		}
		flag(ModXLO, "XLO")
		flag(ModXMED, "XMED")
		flag(ModXHI, "XHI")
	case OpVIMNMX, OpVIMNMX3, OpVIADDMNMX, OpUVIMNMX:
		add(m.Type.String())
		flag(ModRelu, "RELU")
	default:
		return false
	}
	return true
}

// compareSuffix prints those of comparisons.
func (in *Inst) compareSuffix(add func(string), flag func(ModFlags, string)) bool {
	m := &in.Mod
	unsigned := func() {
		if m.Type == U32 || m.Type == U64 {
			add(m.Type.String())
		}
	}
	switch in.Op {
	case OpISETP, OpUISETP, OpISET, OpICMP:
		add(m.Cmp.String())
		unsigned()
		if m.Type == S64 {
			add("S64")
		}
		flag(ModX, "X")
		if in.Op != OpICMP {
			add(m.Bool.String())
		}
		flag(ModEX, "EX")
		flag(ModBF, "BF")
	case OpFSETP, OpUFSETP, OpDSETP, OpHSETP2, OpFSET, OpHSET2, OpFCMP:
		flag(ModBF, "BF")
		if m.Type == BF16x2 {
			add("BF16_V2")
		}
		if m.Sub2 != SubNone {
			add(m.Sub2.String())
		} else {
			add(m.Cmp.String())
		}
		flag(ModFTZ, "FTZ")
		if in.Op != OpFCMP {
			add(m.Bool.String())
		}
	case OpPSETP, OpPSET:
		flag(ModBF, "BF")
		add(m.Bool.String())
		add(m.Bool2.String())
	case OpCSET, OpCSETP:
		add(m.Cmp.String())
		add(m.Bool.String())
	default:
		return false
	}
	return true
}

// bitSuffix prints those of logic, shifts, permutations, moves and votes.
func (in *Inst) bitSuffix(add func(string), flag func(ModFlags, string)) bool {
	m := &in.Mod
	unsigned := func() {
		if m.Type == U32 || m.Type == U64 {
			add(m.Type.String())
		}
	}
	switch in.Op {
	case OpLOP3, OpULOP3, OpPLOP3, OpUPLOP3:
		add("LUT")
		flag(ModPAND, "PAND")
	case OpLOP, OpLOP32I:
		add(m.Sub.String())
		flag(ModX, "X")
		switch {
		case m.Cmp == CmpNE:
			add("NZ")
		case m.Cmp == CmpEQ:
			add("Z")
		}
	case OpSHF, OpUSHF:
		flag(ModLeft, "L")
		flag(ModRight, "R")
		flag(ModWrap, "W")
		add(m.Type.String())
		flag(ModHI, "HI")
	case OpSHL:
		flag(ModWrap, "W")
	case OpSHR, OpBFE, OpSGXT, OpUSGXT, OpFLO, OpUFLO, OpISAD, OpBMSK, OpUBMSK, OpIABS:
		flag(ModWrap, "W")
		unsigned()
		flag(ModBrev, "BREV")
		flag(ModSH, "SH")
	case OpPRMT, OpUPRMT, OpMUFU, OpSHFL, OpVOTE, OpVOTEU, OpMATCH:
		if in.Op == OpMATCH && m.Sub == SubNone {
			add("ANY")
		}
		add(m.Sub.String())
		flag(ModFTZ, "FTZ")
		if in.Op == OpMUFU || in.Op == OpMATCH {
			add(m.Type.String())
		}
	case OpMOV, OpUMOV, OpSEL, OpUSEL:
		flag(ModWide, "64")
	default:
		return false
	}
	return true
}

// controlSuffix prints those of reductions over a warp, barriers and special registers.
func (in *Inst) controlSuffix(add func(string), flag func(ModFlags, string)) bool {
	m := &in.Mod
	switch in.Op {
	case OpREDUX, OpCREDUX:
		if m.Sub == SubAdd {
			add("SUM")
		} else if m.Sub != SubAnd {
			add(m.Sub.String())
		}
		if m.Type != U32 {
			add(m.Type.String())
		}
	case OpQSPC:
		flag(ModE64, "E")
		add(m.Sub.String())
	case OpBAR:
		if m.Sub == SubNone {
			add("SYNC")
		}
		add(m.Sub.String())
		flag(ModDeferBlk, "DEFER_BLOCKING")
	case OpBPT:
		if m.Sub == SubTrap {
			add("TRAP")
		}
	case OpB2R:
		add("RESULT")
	case OpCS2R, OpCS2UR, OpBMOV:
		flag(Mod32, "32")
		flag(ModClear, "CLEAR")
	case OpDEPBAR:
		if m.Cmp != CmpF {
			add(m.Cmp.String())
		}
	default:
		return false
	}
	return true
}

// vectorSuffix prints packed types as VIADD does: 16x2 without sign.
func (in *Inst) vectorSuffix(add func(string)) {
	switch t := in.Mod.Type; t {
	case U16x2, S16x2:
		add("16x2")
	case U8x4, S8x4, S32:
		add(t.String())
	}
}

func orS32(t Type) string {
	if t == TypeNone {
		return "S32"
	}
	return t.String()
}

func orU16(t Type) string {
	if t == TypeNone {
		return "U16"
	}
	return t.String()
}

var roundNames = [...]string{RN: "", RM: "RM", RP: "RP", RZero: "RZ"}
var roundIntNames = [...]string{RN: "", RM: "FLOOR", RP: "CEIL", RZero: "TRUNC"}

// otherSuffix prints memory, video and floating-point modifiers.
func (in *Inst) otherSuffix(add func(string), flag func(ModFlags, string)) {
	m := &in.Mod
	switch c := opTable[in.Op].class; {
	case c == ClassTEX:
		in.texSuffix(add)
	case in.Op == OpSYNCS || in.Op == OpARRIVES:
		switch {
		case m.Sub.isUpdate():
			add("ARRIVE.TRANS64")
			flag(ModTMask, "TMASK")
			add(m.Sub.String())
		case m.Sub == SubExch:
			add("EXCH.64")
		default:
			add(m.Sub.String())
		}
	case c.IsMemory() || in.Op == OpLDC || in.Op == OpULDC || in.Op == OpLDCU:
		in.memorySuffix(add, flag)
	case c == ClassVIDEO || c == ClassVIDEO2 || c == ClassVIDEO4 || c == ClassVMAD || c == ClassVABSDIFF || c == ClassVABSDIFF4:
		in.videoSuffix(add, flag)
	case in.Op == OpCALL:
		flag(ModREL, "REL")
		flag(ModABS, "ABS")
		flag(ModNoInc, "NOINC")
	case in.Op == OpRET:
		flag(ModREL, "REL")
		flag(ModABS, "ABS")
		flag(ModNoInc, "NODEC")
	default:
		flag(ModMMA, "MMA")
		if m.Type == BF16x2 {
			add("BF16_V2")
		}
		add(roundNames[m.Round&3])
		flag(ModFTZ, "FTZ")
		flag(ModFMZ, "FMZ")
		flag(ModSat, "SAT")
		flag(ModRelu, "RELU")
		flag(ModNaN, "NAN")
		flag(ModU, "U")
		flag(ModDiv, "DIV")
		flag(ModConv, "CONV")
		flag(ModAllLanes, "ALL")
		if in.Op == OpBRA || in.Op == OpBSSY || in.Op == OpBSYNC || in.Op == OpBREAK || in.Op == OpWARPSYNC {
			add(m.Sub.String())
		}
		flag(ModClear, "CLEAR")
	}
}

// memorySuffix prints those of loads, stores and atomics.
func (in *Inst) memorySuffix(add func(string), flag func(ModFlags, string)) {
	m := &in.Mod
	flag(ModE64, "E")
	if in.Op == OpLDGSTS && m.Has(ModStrong) {
		add("BYPASS")
	}
	if m.Sub != SubNone {
		if !m.Has(ModPopcInc) {
			add(m.Sub.String())
		}
		flag(ModPopcInc, "POPC.INC.32")
	}
	switch {
	case m.Sub != SubNone && m.Type != TypeNone && m.Type != U32 && m.Type != B32:
		if m.Type == U64 {
			add("64")
		} else {
			add(m.Type.String())
		}
		flag(ModFTZ, "FTZ.RN")
	case m.Sub != SubNone && m.Size == 8:
		add("64")
	case m.Sub != SubNone:
	case m.Size == 1 || m.Size == 2:
		switch {
		case m.Type != TypeNone:
			add(m.Type.String())
		case m.Size == 1:
			add("U8")
		default:
			add("U16")
		}
	case m.Size == 8:
		add("64")
	case m.Size == 16:
		add("128")
	case m.Size == octetBytes:
		add("ENL2.256")
	}
	flag(ModU, "U")
	flag(ModLU, "LU")
	flag(ModConstant, "CONSTANT")
	if m.Has(ModStrong) && in.Op != OpLDGSTS {
		switch {
		case m.Has(ModSys):
			add("STRONG.SYS")
		case m.Has(ModCTA):
			add("STRONG.SM")
		default:
			add("STRONG.GPU")
		}
	} else {
		flag(ModSys, "SYS")
		flag(ModCTA, "CTA")
	}
}
