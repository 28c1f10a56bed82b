package isa

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// String is the instruction as a listing prints it, guard first. A label is the index of its instruction: "#12".
func (in *Inst) String() string {
	return in.Text(func(label int) string { return "#" + strconv.Itoa(label) })
}

// Text is the instruction as a listing prints it; label gives the text for the index of a jump target.
func (in *Inst) Text(label func(index int) string) string {
	var b strings.Builder
	if in.Guard.Kind != KindNone {
		b.WriteByte('@')
		b.WriteString(operandText(in, &in.Guard, label))
		b.WriteByte(' ')
	}
	b.WriteString(in.Mnemonic())
	sep := " "
	add := func(s string) {
		b.WriteString(sep)
		b.WriteString(s)
		sep = ", "
	}
	for i := range in.Dst[:in.NDst] {
		if o := &in.Dst[i]; o.Kind != KindNone && !in.hiddenDst(o) {
			add(operandText(in, o, label))
		}
	}
	n := in.visibleSrcs()
	for i := range in.Src[:n] {
		if o := &in.Src[i]; o.Kind != KindNone {
			add(operandText(in, o, label))
		}
	}
	switch in.Op {
	case OpLOP3, OpULOP3:
		add(fmt.Sprintf("0x%02x", in.Mod.Lut))
	case OpPLOP3, OpUPLOP3:
		add(fmt.Sprintf("0x%02x", in.Mod.Lut))
		add(fmt.Sprintf("0x%02x", in.Mod.Lut2))
	}
	return b.String()
}

// hiddenDst says that a dropped predicate result is not printed: comparisons print it, adders and logic do not.
func (in *Inst) hiddenDst(o *Operand) bool {
	if o.Kind != KindPred && o.Kind != KindUPred || o.Reg != PT {
		return false
	}
	return !in.comparison() && in.Op != OpSHFL
}

// comparison says that the instruction compares and so prints all of its predicates.
func (in *Inst) comparison() bool {
	switch in.Op {
	case OpISETP, OpUISETP, OpFSETP, OpDSETP, OpHSETP2, OpPSETP, OpPLOP3, OpUPLOP3, OpVSETP, OpCSETP:
		return true
	}
	return false
}

// visibleSrcs is the number of sources without trailing predicates that have their neutral value.
func (in *Inst) visibleSrcs() int {
	n := int(in.NSrc)
	switch in.Op {
	case OpIADD3, OpUIADD3, OpLEA, OpULEA, OpIMAD, OpUIMAD, OpLOP3, OpULOP3, OpIADD, OpBRA, OpVIADD:
	default:
		return n
	}
	for n > 0 && (in.Src[n-1].Kind == KindPred || in.Src[n-1].Kind == KindUPred) && in.Src[n-1].Reg == PT {
		n--
	}
	return n
}

// typeText are the type suffixes of mnemonics; a type that is missing has none.
var typeText = [...]string{
	U8: "U8", S8: "S8", U16: "U16", S16: "S16", U32: "U32", S32: "S32", U64: "U64", S64: "S64", U128: "128", F16: "F16", BF16: "BF16",
	F32: "F32", F64: "F64", U16x2: "U16x2", S16x2: "16x2", U8x4: "U8x4", S8x4: "8x4", F16x2: "F16x2", BF16x2: "BF16_V2",
	TF32: "TF32", E4M3: "E4M3", E5M2: "E5M2",
}

func (t Type) String() string {
	if int(t) < len(typeText) {
		return typeText[t]
	}
	return ""
}

var cmpText = [...]string{
	CmpF: "F", CmpLT: "LT", CmpEQ: "EQ", CmpLE: "LE", CmpGT: "GT", CmpNE: "NE", CmpGE: "GE", CmpNum: "NUM", CmpNan: "NAN",
	CmpLTU: "LTU", CmpEQU: "EQU", CmpLEU: "LEU", CmpGTU: "GTU", CmpNEU: "NEU", CmpGEU: "GEU", CmpT: "T",
}

var boolText = [...]string{BoolAnd: "AND", BoolOr: "OR", BoolXor: "XOR"}

var subText = [NumSubs]string{
	SubAdd: "ADD", SubMin: "MIN", SubMax: "MAX", SubInc: "INC", SubDec: "DEC", SubAnd: "AND", SubOr: "OR", SubXor: "XOR", SubExch: "EXCH",
	SubCAS: "CAS", SubSafeAdd: "SAFEADD", SubPassB: "PASS_B", SubIdx: "IDX", SubUp: "UP", SubDown: "DOWN", SubBfly: "BFLY",
	SubAll: "ALL", SubAny: "ANY", SubEq: "EQ", SubRcp: "RCP", SubRsq: "RSQ", SubLg2: "LG2", SubEx2: "EX2", SubSin: "SIN", SubCos: "COS",
	SubSqrt: "SQRT", SubTanh: "TANH", SubRcp64H: "RCP64H", SubRsq64H: "RSQ64H", SubF4E: "F4E", SubB4E: "B4E", SubRC8: "RC8",
	SubECL: "ECL", SubECR: "ECR", SubRC16: "RC16", SubSync: "SYNC", SubArrive: "ARV", SubRedPopc: "RED.POPC", SubRedAnd: "RED.AND",
	SubRedOr: "RED.OR", Sub4A: "4A", Sub2ALo: "2A.LO", Sub2AHi: "2A.HI", SubCBCC: "CBCC", SubCHI: "CHI", SubCLO: "CLO", SubCSFU: "CSFU",
	SubAvg: "AVG", SubAbsDiff: "ABSDIFF", SubSub: "SUB", SubShl: "SHL", SubShr: "SHR", SubSet: "SET", SubMad: "MAD",
}

// flagText are the modifiers that are printed before the type, in the order of listings.
var flagText = []struct {
	flag ModFlags
	text string
}{
	{ModMov, "MOV"}, {ModShl, "SHL"}, {ModAdd, "IADD"}, {ModE64, "E"}, {ModWide, "WIDE"}, {ModLeft, "L"}, {ModRight, "R"}, {ModWrap, "W"},
	{ModMMA, "MMA"}, {ModPackAB, "PACK_AB"}, {ModPackB, "PACK_B"}, {ModBrev, "BREV"}, {ModRS, "RS"}, {ModLS, "LS"}, {ModREL, "REL"}, {ModABS, "ABS"},
	{ModNoInc, "NOINC"}, {ModBF, "BF"}, {ModInt, "INT"}, {ModClear, "CLEAR"}, {ModReconvergent, "RECONVERGENT"}, {ModAllLanes, "ALL"},
	{ModDiv, "DIV"}, {ModConv, "CONV"}, {ModU, "U"}, {ModPAND, "PAND"},
}

// lateFlagText are the modifiers that are printed after the type.
var lateFlagText = []struct {
	flag ModFlags
	text string
}{
	{ModConstant, "CONSTANT"}, {ModStrong, "STRONG"}, {ModSys, "SYS"}, {ModLU, "LU"}, {ModHI, "HI"}, {ModSX32, "SX32"}, {ModX, "X"}, {ModEX, "EX"}, {ModPSL, "PSL"},
	{ModMRG, "MRG"}, {ModSH, "SH"}, {ModAcc, "ACC"}, {ModPO, "PO"}, {ModRelu, "RELU"}, {ModSat, "SAT"}, {ModFTZ, "FTZ"}, {ModFMZ, "FMZ"}, {ModNTZ, "NTZ"},
	{ModNaN, "NAN"}, {ModXMED, "XMED"}, {ModXHI, "XHI"}, {ModXLO, "XLO"}, {ModShr7, "SHR_7"}, {ModShr15, "SHR_15"}, {ModDeferBlk, "DEFER_BLOCKING"},
	{ModSpin, "SPIN"}, {ModPopcInc, "POPC.INC"}, {ModINV, "IV"}, {ModS, "S"},
}

// Mnemonic is the opcode with its modifiers: "IMAD.WIDE.U32", "ISETP.GE.U32.AND".
func (in *Inst) Mnemonic() string {
	m := &in.Mod
	s := []string{in.Op.String()}
	add := func(t string) {
		if t != "" {
			s = append(s, t)
		}
	}
	class := in.Class()
	compares := in.comparison() || in.Op == OpISET || in.Op == OpFSET || in.Op == OpICMP || in.Op == OpFCMP || in.Op == OpVSET
	if compares && in.Op != OpPLOP3 && in.Op != OpUPLOP3 && in.Op != OpPSETP {
		add(cmpText[m.Cmp])
	}
	if in.Op != OpXMAD && m.Sub < NumSubs && !m.Has(ModPopcInc) {
		add(subText[m.Sub])
	}
	for _, f := range flagText {
		switch {
		case !m.Has(f.flag), f.flag == ModE64 && !class.IsMemory():
		case f.flag == ModWide && class != ClassIMADWIDE:
			add("64")
		default:
			add(f.text)
		}
	}
	multiply := class == ClassIMAD || class == ClassIMADHI || class == ClassIMADWIDE
	if multiply && m.Has(ModHI) {
		add("HI")
	}
	if class.IsMemory() || class == ClassLDC || class == ClassULDC {
		switch {
		case m.Type == U8, m.Type == S8, m.Type == U16, m.Type == S16, m.Sub != SubNone && m.Type != TypeNone && m.Type != U32:
			add(m.Type.String())
		case m.Size > 4:
			add(strconv.Itoa(8 * int(m.Size)))
		}
	} else {
		if m.Type != S32 || in.Op == OpF2I || in.Op == OpSHF {
			add(m.Type.String())
		}
		if m.BType != m.Type || in.Op == OpIDP || class == ClassVIDEO {
			add(m.BType.String())
		}
	}
	for _, f := range lateFlagText {
		if m.Has(f.flag) && !(f.flag == ModHI && multiply) {
			add(f.text)
		}
	}
	if in.Op == OpXMAD {
		add(subText[m.Sub])
	}
	switch class {
	case ClassI2F, ClassF2I, ClassF2F, ClassFFMA, ClassDFMA:
		add([]string{RN: "", RM: "RM", RP: "RP", RZero: "RZ"}[m.Round])
	}
	if compares && in.Op != OpPLOP3 && in.Op != OpUPLOP3 && in.Op != OpICMP && in.Op != OpFCMP {
		add(boolText[m.Bool])
	}
	if m.Sub2 != SubNone && m.Sub2 < NumSubs {
		add(subText[m.Sub2])
	}
	if in.Op == OpLOP3 {
		add("LUT")
	}
	return strings.Join(s, ".")
}

// selectorText are the byte and half selectors of operands.
var selectorText = []struct {
	flag OperandFlags
	text string
}{{SelB0, ".B0"}, {SelB1, ".B1"}, {SelB2, ".B2"}, {SelB3, ".B3"}, {SelH0, ".H0"}, {SelH1, ".H1"}}

func operandText(in *Inst, o *Operand, label func(int) string) string {
	s := ""
	switch o.Kind {
	case KindReg:
		s = registerText("R", o.Reg, RZ)
	case KindUReg:
		s = registerText("UR", o.Reg, URZ)
	case KindPred:
		s = predicateText("P", o)
	case KindUPred:
		s = predicateText("UP", o)
	case KindBarrier:
		s = "B" + strconv.Itoa(int(o.Reg))
	case KindSpecial:
		return SpecialName(o.Reg)
	case KindLabel:
		return label(int(o.Imm))
	case KindImm:
		return immediateText(in, o.Imm)
	case KindConst:
		s = constText(o)
	case KindMem:
		return memoryText(o)
	}
	if o.Kind == KindPred || o.Kind == KindUPred {
		return s
	}
	for _, f := range selectorText {
		if o.Is(f.flag) {
			s += f.text
		}
	}
	if o.Is(CCReg) {
		s += ".CC"
	}
	if o.Is(Sign) {
		s += ".SIGN"
	}
	if o.Is(Reuse) {
		s += ".reuse"
	}
	if o.Is(Abs) {
		s = "|" + s + "|"
	}
	if o.Is(Inv) {
		s = "~" + s
	}
	if o.Is(Neg) {
		s = "-" + s
	}
	return s
}

func registerText(file string, r, zero Reg) string {
	switch {
	case r == zero:
		return file + "Z"
	case r >= VirtualBase:
		return fmt.Sprintf("%%%s%d", strings.ToLower(file), r-VirtualBase)
	}
	return file + strconv.Itoa(int(r))
}

func predicateText(file string, o *Operand) string {
	s := file + strconv.Itoa(int(o.Reg))
	switch {
	case o.Reg == PT:
		s = file + "T"
	case o.Reg >= VirtualBase:
		s = fmt.Sprintf("%%%s%d", strings.ToLower(file), o.Reg-VirtualBase)
	}
	if o.Is(Neg) {
		return "!" + s
	}
	return s
}

func constText(o *Operand) string {
	switch {
	case o.Is(HasUReg):
		return fmt.Sprintf("c[0x%x][%s%s]", o.Bank, registerText("UR", o.UReg, URZ), offsetText(o.Imm))
	case o.Reg != RZ:
		return fmt.Sprintf("c[0x%x][%s%s]", o.Bank, registerText("R", o.Reg, RZ), offsetText(o.Imm))
	}
	return fmt.Sprintf("c[0x%x][0x%x]", o.Bank, o.Imm)
}

func offsetText(v int64) string {
	switch {
	case v == 0:
		return ""
	case v < 0:
		return fmt.Sprintf("-0x%x", -v)
	}
	return fmt.Sprintf("+0x%x", v)
}

func memoryText(o *Operand) string {
	var parts []string
	if o.Reg != RZ {
		r := registerText("R", o.Reg, RZ)
		switch {
		case o.Is(Wide64):
			r += ".64"
		case o.Is(ScaleX4):
			r += ".X4"
		case o.Is(ScaleX8):
			r += ".X8"
		case o.Is(ScaleX16):
			r += ".X16"
		}
		parts = append(parts, r)
	}
	if o.Is(HasUReg) {
		parts = append(parts, registerText("UR", o.UReg, URZ))
	}
	s := strings.Join(parts, "+")
	if s == "" {
		return fmt.Sprintf("[0x%x]", o.Imm)
	}
	return "[" + s + offsetText(o.Imm) + "]"
}

// immediateText is a float for floating-point arithmetic, otherwise hexadecimal with a sign for small negative numbers.
func immediateText(in *Inst, v int64) string {
	switch opTable[in.Op].class {
	case ClassFFMA, ClassFSETP, ClassFMNMX, ClassMUFU:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', -1, 32)
	}
	switch in.Op {
	case OpIADD3, OpUIADD3, OpIADD, OpIMAD, OpUIMAD, OpISETP, OpUISETP, OpLEA:
		if w := int32(v); v == int64(uint32(v)) && w < 0 {
			return fmt.Sprintf("-0x%x", -int64(w))
		}
	}
	if v < 0 {
		return fmt.Sprintf("-0x%x", uint64(-v))
	}
	return fmt.Sprintf("0x%x", v)
}

// Text is the control information in the notation of assemblers for these generations: wait mask, read barrier,
// write barrier, yield, stall. "B01----:R-:W2:Y:S04".
func (c *Control) Text() string {
	b := []byte("B------:R-:W-:-:S00")
	for i := range 6 {
		if c.WaitMask>>i&1 != 0 {
			b[1+i] = byte('0' + i)
		}
	}
	if c.ReadBar != NoBar {
		b[9] = '0' + c.ReadBar
	}
	if c.WriteBar != NoBar {
		b[12] = '0' + c.WriteBar
	}
	if !c.Yield {
		b[14] = 'Y'
	}
	b[17], b[18] = '0'+c.Stall/10, '0'+c.Stall%10
	return string(b)
}
