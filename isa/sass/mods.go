package sass

import (
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

var typeNames = map[string]isa.Type{
	"U8": isa.U8, "S8": isa.S8, "U16": isa.U16, "S16": isa.S16, "U32": isa.U32, "S32": isa.S32, "U64": isa.U64, "S64": isa.S64,
	"F16": isa.F16, "F32": isa.F32, "F64": isa.F64, "BF16": isa.BF16, "BF16_V2": isa.BF16x2, "BF": isa.BF16,
	"16x2": isa.U16x2, "U16x2": isa.U16x2, "S16x2": isa.S16x2, "U8x4": isa.U8x4, "S8x4": isa.S8x4,
	"F16x2": isa.F16x2, "BF16x2": isa.BF16x2, "F16X2": isa.F16x2, "U16X2": isa.U16x2, "S16X2": isa.S16x2,
}

var cmpNames = map[string]isa.Cmp{
	"F": isa.CmpF, "LT": isa.CmpLT, "EQ": isa.CmpEQ, "LE": isa.CmpLE, "GT": isa.CmpGT, "NE": isa.CmpNE, "GE": isa.CmpGE,
	"NUM": isa.CmpNum, "NAN": isa.CmpNan, "LTU": isa.CmpLTU, "EQU": isa.CmpEQU, "LEU": isa.CmpLEU, "GTU": isa.CmpGTU,
	"NEU": isa.CmpNEU, "GEU": isa.CmpGEU, "T": isa.CmpT, "NZ": isa.CmpNE, "Z": isa.CmpEQ,
	"LO": isa.CmpLT, "LS": isa.CmpLE, "HI": isa.CmpGT, "HS": isa.CmpGE,
}

var boolNames = map[string]isa.BoolOp{"AND": isa.BoolAnd, "OR": isa.BoolOr, "XOR": isa.BoolXor}

var roundNames = map[string]isa.Round{
	"RN": isa.RN, "RM": isa.RM, "RP": isa.RP, "RZ": isa.RZero, "TRUNC": isa.RZero, "FLOOR": isa.RM, "CEIL": isa.RP,
	"ROUND": isa.RN, "PASS": isa.RN,
}

// flagNames are modifiers that set one flag whatever the opcode.
var flagNames = map[string]isa.ModFlags{
	"X": isa.ModX, "SAT": isa.ModSat, "ISAT": isa.ModSat, "FTZ": isa.ModFTZ, "FMZ": isa.ModFMZ, "W": isa.ModWrap, "WIDE": isa.ModWide,
	"RELU": isa.ModRelu, "MRG": isa.ModMRG, "PSL": isa.ModPSL, "SH": isa.ModSH, "BREV": isa.ModBrev, "ACC": isa.ModAcc, "EX": isa.ModEX,
	"PO": isa.ModPO, "E": isa.ModE64, "SX32": isa.ModSX32, "NTZ": isa.ModNTZ, "MMA": isa.ModMMA, "DEFER_BLOCKING": isa.ModDeferBlk,
	"CONSTANT": isa.ModConstant, "CI": isa.ModConstant, "STRONG": isa.ModStrong, "VOLATILE": isa.ModStrong, "CV": isa.ModStrong, "BYPASS": isa.ModStrong, "SYS": isa.ModSys,
	"SHR_7": isa.ModShr7, "SHR_15": isa.ModShr15, "ABS": isa.ModABS, "REL": isa.ModREL, "NOINC": isa.ModNoInc, "NODEC": isa.ModNoInc,
	"PAND": isa.ModPAND, "CLEAR": isa.ModClear, "DIV": isa.ModDiv, "CONV": isa.ModConv, "XMED": isa.ModXMED, "XHI": isa.ModXHI, "XLO": isa.ModXLO,
	"SPIN": isa.ModSpin, "PACK_AB": isa.ModPackAB, "PACK_B": isa.ModPackB, "ALL": isa.ModAllLanes,
	"LU": isa.ModLU, "IV": isa.ModINV, "IVALL": isa.ModINV, "RS": isa.ModRS,
}

// plainNames change neither result nor timing here: scopes, cache hints, and words that only spell the default.
var plainNames = map[string]bool{
	"LUT": true, "GPU": true, "SM": true, "CTA": true, "VC": true, "PRIVATE": true, "EF": true, "EL": true, "EN": true, "NA": true, "LTC128B": true,
	"LTC64B": true, "LTC256B": true, "WEAK": true, "RESULT": true, "NOSLEEP": true, "UNIFORM": true,
	"MMIO": true, "CG": true, "CS": true, "WT": true, "WB": true, "IL": true, "SC": true, "ALIGNED": true, "LE": false, "INST": true,
	"NOATEXIT": true, "NOMSG": true, "A": true, "1D": true, "2D": true, "ARRAY": true, "P": true, "B": true, "LL": true, "LZ": true, "PF2": true,
	"ENL2": true, "PF1": true, "PF1_5": true, "PML2": true, "RML2": true, "WARP": true, "ENTRY": true,
}

// subNames are operations within opcodes whose family is in the first key.
var subNames = map[string]map[string]isa.Sub{
	"atom": {"ADD": isa.SubAdd, "MIN": isa.SubMin, "MAX": isa.SubMax, "INC": isa.SubInc, "DEC": isa.SubDec, "AND": isa.SubAnd, "OR": isa.SubOr,
		"XOR": isa.SubXor, "EXCH": isa.SubExch, "ARRIVE": isa.SubMbArrive, "CAS": isa.SubCAS, "CAST": isa.SubCAS, "SAFEADD": isa.SubSafeAdd},
	"redux": {"SUM": isa.SubAdd, "MIN": isa.SubMin, "MAX": isa.SubMax, "OR": isa.SubOr, "XOR": isa.SubXor, "AND": isa.SubAnd},
	"lop":   {"AND": isa.SubAnd, "OR": isa.SubOr, "XOR": isa.SubXor, "PASS_B": isa.SubPassB},
	"shfl":  {"IDX": isa.SubIdx, "UP": isa.SubUp, "DOWN": isa.SubDown, "BFLY": isa.SubBfly},
	"vote":  {"ALL": isa.SubAll, "ANY": isa.SubAny, "EQ": isa.SubEq},
	"mufu": {"RCP": isa.SubRcp, "RSQ": isa.SubRsq, "LG2": isa.SubLg2, "EX2": isa.SubEx2, "SIN": isa.SubSin, "COS": isa.SubCos, "SQRT": isa.SubSqrt,
		"TANH": isa.SubTanh, "RCP64H": isa.SubRcp64H, "RSQ64H": isa.SubRsq64H},
	"prmt": {"F4E": isa.SubF4E, "B4E": isa.SubB4E, "RC8": isa.SubRC8, "ECL": isa.SubECL, "ECR": isa.SubECR, "RC16": isa.SubRC16},
	"bar":  {"SYNC": isa.SubSync, "ARV": isa.SubArrive, "POPC": isa.SubRedPopc, "AND": isa.SubRedAnd, "OR": isa.SubRedOr},
	"idp":  {"4A": isa.Sub4A},
	"bpt":  {"TRAP": isa.SubTrap},
	"xmad": {"CBCC": isa.SubCBCC, "CHI": isa.SubCHI, "CLO": isa.SubCLO, "CSFU": isa.SubCSFU},
	"mnmx": {"MIN": isa.SubMin, "MAX": isa.SubMax, "MN": isa.SubMin, "MX": isa.SubMax},
}

var subFamily = map[isa.Op]string{
	isa.OpATOM: "atom", isa.OpATOMG: "atom", isa.OpATOMS: "atom", isa.OpRED: "atom",
	isa.OpREDUX: "redux", isa.OpCREDUX: "redux", isa.OpLOP: "lop", isa.OpLOP32I: "lop",
	isa.OpSHFL: "shfl", isa.OpVOTE: "vote", isa.OpVOTEU: "vote", isa.OpMATCH: "vote", isa.OpMUFU: "mufu",
	isa.OpPRMT: "prmt", isa.OpUPRMT: "prmt", isa.OpBAR: "bar", isa.OpIDP: "idp", isa.OpXMAD: "xmad", isa.OpBPT: "bpt",
	isa.OpVMNMX: "mnmx", isa.OpVMNMX2: "mnmx", isa.OpVMNMX4: "mnmx",
}

// ownModifiers are modifiers that mean on an opcode what they mean on no other; an empty one changes nothing here.
var ownModifiers = map[isa.Op]map[string]isa.Mod{
	isa.OpIDP:       {"2A": {}, "LO": {Sub: isa.Sub2ALo}, "HI": {Sub: isa.Sub2AHi}},
	isa.OpBAR:       {"RED": {}, "SCAN": {}},
	isa.OpATOMS:     {"POPC": {Flags: isa.ModPopcInc}},
	isa.OpSHF:       {"L": {Flags: isa.ModLeft}, "R": {Flags: isa.ModRight}},
	isa.OpUSHF:      {"L": {Flags: isa.ModLeft}, "R": {Flags: isa.ModRight}},
	isa.OpIMAD:      {"MOV": {Flags: isa.ModMov}, "SHL": {Flags: isa.ModShl}, "IADD": {Flags: isa.ModAdd}},
	isa.OpUIMAD:     {"MOV": {Flags: isa.ModMov}, "SHL": {Flags: isa.ModShl}, "IADD": {Flags: isa.ModAdd}},
	isa.OpDEPBAR:    {"LE": {}},
	isa.OpBMOV:      {"32": {}, "64": {}, "PQUAD": {}},
	isa.OpCS2R:      {"32": {Flags: isa.Mod32}},
	isa.OpBPT:       {"DRAIN": {}, "PAUSE": {}, "INT": {}, "CAL": {}}, // for a debugger
	isa.OpSULD:      {"CTA": {Flags: isa.ModCTA}},
	isa.OpSUST:      {"CTA": {Flags: isa.ModCTA}},
	isa.OpMEMBAR:    {"ALL": {}, "SC": {}, "CTA": {Flags: isa.ModCTA}},
	isa.OpLD:        {"SM": {Flags: isa.ModCTA}, "CTA": {Flags: isa.ModCTA}},          // ordered within the SM: L1 serves it
	isa.OpLDG:       {"SM": {Flags: isa.ModCTA}, "CTA": {Flags: isa.ModCTA}, "U": {}}, // .U: Turing's, of an address in uniform registers
	isa.OpLDS:       {"U": {}},                                                        // unaligned: Maxwell's and Turing's LDS.U
	isa.OpBRA:       {"U": {Flags: isa.ModU}, "ANY": {Sub: isa.SubAny}},               // .U.ANY: its predicate is one of the warp
	isa.OpBRX:       {"U": {Flags: isa.ModU}},
	isa.OpFRND:      {"INT": {}},
	isa.OpUFRND:     {"INT": {}},
	isa.OpCS2UR:     {"32": {Flags: isa.Mod32}},
	isa.OpMOV:       {"32": {}}, // RPCMOV.32
	isa.OpFENCE:     {"VIEW": {}, "ASYNC": {}, "S": {}},
	isa.OpNANOSLEEP: {"SYNCS": {}}, // ends when a barrier's phase does
	isa.OpWARPSYNC:  {"EXCLUSIVE": {Sub: isa.SubExclusive}, "COLLECTIVE": {Sub: isa.SubCollective}},
	isa.OpQSPC:      {"G": {Sub: isa.SubGlobal}, "S": {Sub: isa.SubShared}, "L": {Sub: isa.SubLocal}},
	isa.OpBSSY:      {"RELIABLE": {Sub: isa.SubReliable}, "RECONVERGENT": {Sub: isa.SubReconvergent}},
	isa.OpBSYNC:     {"RELIABLE": {Sub: isa.SubReliable}, "RECONVERGENT": {Sub: isa.SubReconvergent}},
	isa.OpBREAK:     {"RELIABLE": {Sub: isa.SubReliable}, "RECONVERGENT": {Sub: isa.SubReconvergent}},
	isa.OpISET:      {"BF": {Flags: isa.ModBF}},
	isa.OpFSET:      {"BF": {Flags: isa.ModBF}},
	isa.OpPSET:      {"BF": {Flags: isa.ModBF}},
	isa.OpLOP:       {"NZ": {Cmp: isa.CmpNE}, "Z": {Cmp: isa.CmpEQ}, "T": {Cmp: isa.CmpT}},
	isa.OpLOP32I:    {"NZ": {Cmp: isa.CmpNE}, "Z": {Cmp: isa.CmpEQ}, "T": {Cmp: isa.CmpT}},
}

// commonModifiers mean the same on every other opcode.
var commonModifiers = map[string]isa.Mod{
	"HI": {Flags: isa.ModHI}, "S": {Flags: isa.ModS}, "NAN": {Flags: isa.ModNaN}, "64": {Flags: isa.ModWide},
	"UD": {DType: isa.U32}, "SD": {DType: isa.S32},
	"ADD": {Sub2: isa.SubAdd}, "MIN": {Sub2: isa.SubMin}, "MAX": {Sub2: isa.SubMax},
}

// sizeNames are the widths of memory accesses in bytes a lane.
var sizeNames = map[string]uint8{"32": 4, "64": 8, "128": 16, "256": 32}

// compares says which opcodes take a comparison and a boolean combination.
var compares = map[isa.Op]bool{
	isa.OpISETP: true, isa.OpISET: true, isa.OpICMP: true, isa.OpFSETP: true, isa.OpFSET: true, isa.OpFCMP: true, isa.OpDSETP: true,
	isa.OpHSETP2: true, isa.OpHSET2: true, isa.OpUISETP: true, isa.OpVSET: true, isa.OpVSETP: true, isa.OpVSET2: true, isa.OpVSET4: true,
	isa.OpPSETP: true, isa.OpPSET: true, isa.OpUFSETP: true, isa.OpCSET: true, isa.OpCSETP: true, isa.OpUPLOP3: true,
}

// opAliases are mnemonics that name an opcode of the table in another form.
var opAliases = map[string]isa.Op{
	"CAL": isa.OpCALL, "JCAL": isa.OpCALL, "IMUL32I": isa.OpIMUL, "IMAD32I": isa.OpIMAD, "FADD32I": isa.OpFADD, "FMUL32I": isa.OpFMUL,
	"CGAERRBAR": isa.OpERRBAR, "FFMA32I": isa.OpFFMA, "ISCADD32I": isa.OpISCADD, "REDG": isa.OpRED, "REDS": isa.OpATOMS, "HADD2_32I": isa.OpHADD2, "HMUL2_32I": isa.OpHMUL2,
	"HFMA2_32I": isa.OpHFMA2, "ULOP": isa.OpULOP3, "KIL": isa.OpKILL, "BRXU": isa.OpBRX, "PMTRIG": isa.OpNOP, "CCTLL": isa.OpCCTL, "CCTLT": isa.OpCCTL,
	"FADD2": isa.OpNone, "LDSLK": isa.OpLDS, "STSUL": isa.OpSTS, "STSCUL": isa.OpSTS, "LDG_OLD": isa.OpLDG, "RPCMOV": isa.OpMOV, "UI2FP": isa.OpUI2F,
}

// mergeSelectors are the parts of the destination that a video instruction replaces.
var mergeSelectors = map[string]uint8{"MRG_8B0": 1, "MRG_8B1": 2, "MRG_8B2": 3, "MRG_8B3": 4, "MRG_16L": 5, "MRG_16H": 6}

// takeLanes reads the lane selector behind operand n of a SIMD video instruction (R4.B7310: the lanes of a source, R4.H1: the
// lanes written) into Mod and returns the operand without it.
func takeLanes(in *isa.Inst, n int, text string) string {
	lanes, letter := in.Op.VideoLanes()
	k := strings.LastIndexByte(text, '.')
	if lanes == 0 || n > 2 || k < 0 || k+2 >= len(text) || text[k+1] != letter {
		return text
	}
	digits := text[k+2:]
	if len(digits) > lanes || n > 0 && len(digits) < lanes {
		return text
	}
	var sel uint16
	for _, c := range []byte(digits) {
		if c < '0' || c >= '0'+byte(2*lanes) {
			return text
		}
		if n == 0 {
			in.Mod.DSel |= 1 << (c - '0') & (1<<lanes - 1)
		}
		sel = sel<<4 | 8 | uint16(c-'0')
	}
	switch n {
	case 1:
		in.Mod.ASel = sel
	case 2:
		in.Mod.BSel = sel
	}
	return text[:k]
}

// modState collects what the modifiers of one instruction say before it is sorted into Mod.
type modState struct {
	in    *isa.Inst
	types []isa.Type
	bools int
}

// apply takes one modifier; ok is false when the opcode has no such modifier that we know.
func (m *modState) apply(s string) (ok bool) {
	in := m.in
	mod := &in.Mod
	op := in.Op
	if fam, has := subFamily[op]; has {
		if fam == "mnmx" && mod.Sub != isa.SubNone && (s == "MIN" || s == "MAX") {
			mod.Sub2 = subNames[fam][s]
			return true
		}
		if sub, has := subNames[fam][s]; has {
			mod.Sub = sub
			return true
		}
	}
	if texModifier(in, s) {
		return true
	}
	if own, has := ownModifiers[op][s]; has {
		add(mod, own)
		return true
	}
	switch op {
	case isa.OpATOMS:
		if s == "32" && mod.Has(isa.ModPopcInc) {
			return true
		}
	case isa.OpPSETP, isa.OpPSET:
		if b, has := boolNames[s]; has {
			if m.bools == 0 {
				mod.Bool = b
			} else {
				mod.Bool2 = b
			}
			m.bools++
			return true
		}
	}
	if sel, has := mergeSelectors[s]; has && (in.Class() == isa.ClassVIDEO || in.Class() == isa.ClassVABSDIFF) {
		mod.Flags |= isa.ModMerge
		mod.DSel = sel
		return true
	}
	if compares[op] {
		if b, has := boolNames[s]; has {
			mod.Bool = b
			return true
		}
		if c, has := cmpNames[s]; has {
			mod.Cmp = c
			return true
		}
	}
	if size, has := sizeNames[s]; has && isMemory(op) {
		mod.Size = size
		return true
	}
	if common, has := commonModifiers[s]; has {
		add(mod, common)
		return true
	}
	if t, has := typeNames[s]; has {
		m.types = append(m.types, t)
		return true
	}
	if r, has := roundNames[s]; has {
		mod.Round = r
		return true
	}
	if f, has := flagNames[s]; has {
		mod.Flags |= f
		return true
	}
	return plainNames[s]
}

// mbarrier takes the modifiers of SYNCS or ARRIVES, which together say what is done to a barrier in shared memory.
func (m *modState) mbarrier(mods []string) (ok bool) {
	mod := &m.in.Mod
	mod.Size, mod.Type = 8, isa.U64
	if k := slices.Index(mods, "TMASK"); k >= 0 {
		mod.Flags |= isa.ModTMask
		mods = slices.Delete(slices.Clone(mods), k, k+1)
	}
	name := strings.Join(mods, ".")
	if name == "EXCH.64" {
		mod.Sub = isa.SubExch
		return m.in.Op == isa.OpSYNCS
	}
	update, isUpdate := strings.CutPrefix(name, "ARRIVE.TRANS64")
	update = strings.TrimPrefix(update, ".")
	for s := isa.SubMbA0T1; s <= isa.SubMbCopiesTx; s++ {
		if isUpdate && s <= isa.SubMbOutART0 && s.String() == update || !isUpdate && s > isa.SubMbOutART0 && s.String() == name {
			mod.Sub = s
			return (s >= isa.SubMbCopies) == (m.in.Op == isa.OpARRIVES)
		}
	}
	return false
}

// add sets in mod what a modifier says.
func add(mod *isa.Mod, x isa.Mod) {
	mod.Flags |= x.Flags
	if x.Sub != isa.SubNone {
		mod.Sub = x.Sub
	}
	if x.Sub2 != isa.SubNone {
		mod.Sub2 = x.Sub2
	}
	if x.DType != isa.TypeNone {
		mod.DType = x.DType
	}
	if x.Cmp != 0 {
		mod.Cmp = x.Cmp
	}
}

func isMemory(op isa.Op) bool {
	switch op {
	case isa.OpLD, isa.OpLDG, isa.OpLDS, isa.OpLDL, isa.OpLDC, isa.OpLDU, isa.OpULDC, isa.OpLDCU, isa.OpST, isa.OpSTG, isa.OpSTS, isa.OpSTL,
		isa.OpATOM, isa.OpATOMG, isa.OpATOMS, isa.OpRED, isa.OpLDGSTS, isa.OpSYNCS, isa.OpARRIVES, isa.OpSULD, isa.OpSUST:
		return true
	}
	return false
}

func isFloat(t isa.Type) bool {
	return t == isa.F16 || t == isa.F32 || t == isa.F64 || t == isa.BF16 || t == isa.F16x2 || t == isa.BF16x2
}

// finish sorts the collected types into Mod by what the opcode means with them.
func (m *modState) finish() {
	in := m.in
	mod := &in.Mod
	switch in.Op {
	case isa.OpI2F, isa.OpUI2F, isa.OpI2FP:
		mod.Type = isa.F32
		for _, t := range m.types {
			if isFloat(t) {
				mod.Type = t
			} else {
				mod.BType = t
			}
		}
	case isa.OpF2I, isa.OpUF2I, isa.OpF2IP:
		mod.BType = isa.F32
		for _, t := range m.types {
			if isFloat(t) {
				mod.BType = t
			} else {
				mod.Type = t
			}
		}
	case isa.OpF2FP, isa.OpUF2FP:
		mod.Type = isa.F16x2
		if len(m.types) > 0 && (m.types[0] == isa.BF16 || m.types[0] == isa.BF16x2) {
			mod.Type = isa.BF16x2
		}
	default:
		if len(m.types) > 0 {
			mod.Type = m.types[0]
		}
		if len(m.types) > 1 {
			mod.BType = m.types[1]
		}
	}
	if isMemory(in.Op) && mod.Size == 0 {
		mod.Size = 4
		switch mod.Type {
		case isa.U8, isa.S8:
			mod.Size = 1
		case isa.U16, isa.S16:
			mod.Size = 2
		case isa.U64, isa.S64, isa.F64:
			mod.Size = 8
		}
	}
	if isMemory(in.Op) && mod.Size >= 8 {
		switch in.Op {
		case isa.OpATOM, isa.OpATOMG, isa.OpATOMS, isa.OpRED:
			if mod.Type == isa.TypeNone {
				mod.Type = isa.U64
			}
		}
	}
	if in.Op == isa.OpFRND || in.Op == isa.OpUFRND {
		mod.Flags |= isa.ModInt
	}
	if (in.Op == isa.OpREDUX || in.Op == isa.OpCREDUX) && mod.Type == isa.TypeNone {
		mod.Type = isa.U32 // listings print .S32 only
	}
}
