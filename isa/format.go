package isa

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Text of instructions in nvdisasm's syntax.

// String is the instruction with its guard, modifiers and operands, without control information. Branch targets are shown as
// "-> index" because addresses belong to the program; see Program.Text.
func (in *Inst) String() string {
	return in.text(0, func(i int) string { return "`(." + strconv.Itoa(i) + ")" })
}

// Text is instruction i of the program with branch targets as addresses.
func (p *Program) Text(i int) string {
	if s, ok := p.Unknown[i]; ok {
		return s
	}
	return p.Insts[i].text(p.SM, func(t int) string {
		if t >= 0 && t < len(p.Insts) {
			return fmt.Sprintf("%#x", p.Insts[t].PC)
		}
		return "?"
	})
}

// text is the instruction as listings of target sm show it (0: by the opcode's own name).
func (in *Inst) text(sm int, label func(int) string) string {
	var b strings.Builder
	switch in.Guard.Kind {
	case KindPred, KindUPred:
		if in.Guard.Reg != PT || in.Guard.Flags&Neg != 0 {
			b.WriteByte('@')
			b.WriteString(in.Guard.format(0))
			b.WriteByte(' ')
		}
	}
	switch {
	case in.Mod.Has(ModLock):
		b.WriteString(in.lockName())
	case in.Op == OpBRX && in.NSrc > 0 && in.Src[0].Kind == KindUReg:
		b.WriteString("BRXU")
	default:
		b.WriteString(in.Op.NameOn(sm))
	}
	switch {
	case in.Op == OpLDS && sm >= 70 && sm < 80:
		b.WriteString(".U")
	case in.Op == OpBMOV && sm >= 70:
		b.WriteString(".32")
	}
	suffix := in.suffix()
	if in.Op == OpVABSDIFF && sm >= 70 || (in.Op == OpVIMNMX || in.Op == OpVIMNMX3 || in.Op == OpVIADDMNMX) && sm > 0 && sm < 120 {
		suffix = strings.Replace(suffix, ".S32", "", 1) // listings say it from compute capability 12 on only
	}
	b.WriteString(suffix)
	sep := " "
	put := func(s string) {
		b.WriteString(sep)
		b.WriteString(s)
		sep = ", "
	}
	for _, i := range in.destOrder(sm) {
		if i == noDest {
			put(in.noPredicate())
			continue
		}
		put(in.formatOperand(&in.Dst[i], label, true) + in.laneMask())
	}
	for i := range min(in.NSrc, MaxSrc) {
		if in.hiddenSource(int(i)) {
			continue
		}
		if (in.Op == OpRET || in.Op == OpBRX || in.Op == OpJMX) && in.Src[i].Kind == KindImm && sep == ", " {
			sep = " "
		}
		o := in.Src[i]
		if o.Kind == KindMem && sm > 0 && sm < 80 && in.Mod.Has(ModE64) && o.Flags&HasUReg == 0 {
			o.Flags &^= Wide64 // .E says it
		}
		if in.Op == OpSULD || in.Op == OpSUST {
			o.Flags &^= Wide64 // the shape says it
		}
		put(in.formatOperand(&o, label, false) + in.laneSelection(int(i)))
		if i == in.lutAfter() {
			put(fmt.Sprintf("%#x", in.Mod.Lut))
			if in.Op == OpPLOP3 || in.Op == OpUPLOP3 {
				put(fmt.Sprintf("%#x", in.Mod.Lut2))
			}
		}
		if in.Op == OpTXQ && in.Mod.Tex.Dim == TexSize && i == 0 {
			put(TexDims[TexSize])
		}
	}
	if in.IsOctet() && in.Mod.Lut != 0 {
		put(fmt.Sprintf("%#x", in.Mod.Lut))
	}
	in.texShape(put)
	return b.String()
}

// VideoLanes is the number of lanes of a SIMD video instruction, and the letter of its selectors; 0 for others.
func (op Op) VideoLanes() (n int, letter byte) {
	switch op {
	case OpVADD2, OpVMNMX2, OpVSET2, OpVAVRG2, OpVABSDIFF2:
		return 2, 'H'
	case OpVADD4, OpVMNMX4, OpVSET4, OpVAVRG4, OpVABSDIFF4:
		return 4, 'B'
	}
	return 0, 0
}

// laneMask is the suffix of a SIMD video result that names the lanes written, highest first as in PTX; nothing when all are.
func (in *Inst) laneMask() string {
	n, letter := in.Op.VideoLanes()
	if all := uint8(1)<<n - 1; n == 0 || in.Mod.DSel&all == 0 || in.Mod.DSel&all == all {
		return ""
	}
	s := []byte{'.', letter}
	for i := n - 1; i >= 0; i-- {
		if in.Mod.DSel>>i&1 != 0 {
			s = append(s, '0'+byte(i))
		}
	}
	return string(s)
}

// laneSelection is the suffix of a source of a SIMD video instruction that says where its lanes come from, highest first.
func (in *Inst) laneSelection(source int) string {
	n, letter := in.Op.VideoLanes()
	if n == 0 || source > 1 {
		return ""
	}
	sel := in.Mod.ASel
	if source == 1 {
		sel = in.Mod.BSel
	}
	if sel == 0 {
		return ""
	}
	s := []byte{'.', letter}
	for i := n - 1; i >= 0; i-- {
		s = append(s, '0'+byte(sel>>(4*i)&7))
	}
	return string(s)
}

// lutAfter is the source after which the truth table stands, 255 for opcodes without one.
func (in *Inst) lutAfter() uint8 {
	switch in.Op {
	case OpLOP3, OpULOP3, OpPLOP3, OpUPLOP3:
		return min(in.NSrc, 3) - 1 // 255 without sources
	}
	return 255
}

// noDest stands for a predicate result that the instruction does not have and listings print as PT.
const noDest = -1

// noPredicate is the text of such a result.
func (in *Inst) noPredicate() string {
	if in.Op == OpUIADD3 {
		return "UPT"
	}
	return "PT"
}

// destOrder is the order in which destinations are printed on target sm: a predicate that is PT is left out, except where nvdisasm
// always prints it; LOP3 and ATOM print theirs first.
func (in *Inst) destOrder(sm int) []int {
	var regs, preds []int
	for i := range min(int(in.NDst), MaxDst) {
		if k := in.Dst[i].Kind; k == KindPred || k == KindUPred {
			preds = append(preds, i)
		} else {
			regs = append(regs, i)
		}
	}
	always := false
	first := false
	switch in.Op {
	case OpISETP, OpUISETP, OpFSETP, OpUFSETP, OpDSETP, OpHSETP2, OpPLOP3, OpUPLOP3, OpPSETP, OpCSETP, OpVSETP, OpVOTE, OpVOTEU:
		always = true
	case OpSHFL, OpATOM, OpATOMG:
		always, first = true, true
	case OpLDS, OpSTS:
		always, first = in.Mod.Has(ModLock), in.Mod.Has(ModLock)
	case OpLOP3, OpULOP3, OpMATCH, OpELECT, OpQSPC:
		first = true
	}
	if sm >= 100 {
		switch {
		case in.Op == OpIADD3, in.Op == OpUIADD3, in.Op == OpVIMNMX && sm < 120, in.Op == OpIMNMX:
			always, first = true, in.Op == OpIMNMX
			for len(preds) < 2 {
				preds = append(preds, noDest)
			}
		}
	}
	if !always {
		for len(preds) > 0 && in.Dst[preds[len(preds)-1]].Reg == PT {
			preds = preds[:len(preds)-1]
		}
	}
	if first {
		return append(preds, regs...)
	}
	return append(regs, preds...)
}

// hiddenSource says that a trailing predicate source has its neutral value and is not printed.
func (in *Inst) hiddenSource(i int) bool {
	o := &in.Src[i]
	if o.Kind != KindPred && o.Kind != KindUPred || o.Reg != PT {
		return false
	}
	switch in.Op {
	case OpIADD3, OpUIADD3, OpIMAD, OpUIMAD, OpLEA, OpULEA:
		return !in.Mod.Has(ModX)
	case OpBRA, OpEXIT, OpBREAK:
		return o.Flags&Neg == 0
	}
	return false
}

func (in *Inst) formatOperand(o *Operand, label func(int) string, dst bool) string {
	switch o.Kind {
	case KindLabel:
		return label(int(o.Imm))
	case KindBarrier:
		if in.Op == OpDEPBAR {
			return "SB" + strconv.Itoa(int(o.Reg))
		}
	case KindImm:
		switch {
		case in.floatImmediate():
			return floatText(in, o.Imm)
		case in.halfImmediate():
			return halfText(uint16(o.Imm>>16), in) + ", " + halfText(uint16(o.Imm), in)
		case in.signedImmediate():
			return immText(int64(int32(o.Imm)))
		}
	case KindConst:
		if o.Imm == 0 && o.Reg == RZ && o.Flags&HasUReg == 0 && in.Op == OpLDC {
			return fmt.Sprintf("c[%#x][RZ]", o.Bank)
		}
	case KindReg:
		s := o.format(0)
		if dst && (o.Flags&CCReg != 0 || in.Mod.Has(ModCC)) {
			s += ".CC"
		}
		return s
	}
	return o.format(0)
}

// floatImmediate says whether the instruction's immediates are floating-point numbers.
func (in *Inst) floatImmediate() bool {
	switch in.Op {
	case OpFADD, OpFMUL, OpFFMA, OpFMAD, OpFSETP, OpFSET, OpFCMP, OpFMNMX, OpFSEL, OpDADD, OpDMUL, OpDFMA, OpDSETP, OpDMNMX, OpMUFU, OpFCHK,
		OpUFADD, OpUFMUL, OpUFFMA, OpUFMNMX, OpUFSEL, OpUFSETP, OpUFRND, OpUF2F, OpUF2FP:
		return true
	}
	return false
}

// signedImmediate says whether listings show the instruction's 32-bit immediates as signed numbers.
func (in *Inst) signedImmediate() bool {
	switch in.Op {
	case OpIADD3, OpUIADD3, OpIMAD, OpUIMAD, OpIADD, OpISCADD:
		return !in.Mod.Has(ModWide)
	case OpISETP, OpUISETP, OpIMNMX, OpVIMNMX:
		return in.Mod.Type == TypeNone || in.Mod.Type == S32
	}
	return false
}

// halfImmediate says whether an immediate is a pair of halves.
func (in *Inst) halfImmediate() bool {
	switch in.Op {
	case OpHFMA2, OpHADD2, OpHMUL2, OpHSETP2, OpHSET2, OpHMNMX2:
		return true
	}
	return false
}

func halfText(h uint16, in *Inst) string {
	v := float64(halfToFloat(h, isBF(&in.Mod)))
	switch {
	case math.IsInf(v, 1):
		return "+INF"
	case math.IsInf(v, -1):
		return "-INF"
	case math.IsNaN(v):
		return "+QNAN"
	}
	return strconv.FormatFloat(v, 'g', 24, 64) // exact
}

// floatText prints a floating-point immediate as nvdisasm does.
func floatText(in *Inst, bits int64) string {
	v := float64(math.Float32frombits(uint32(bits)))
	switch in.Op {
	case OpDADD, OpDMUL, OpDFMA, OpDSETP, OpDMNMX:
		v = math.Float64frombits(uint64(bits) << 32)
	}
	switch {
	case math.IsInf(v, 1):
		return "+INF"
	case math.IsInf(v, -1):
		return "-INF"
	case math.IsNaN(v):
		return "+QNAN"
	}
	return strconv.FormatFloat(v, 'g', 20, 64)
}

// format is the operand's text. sm is not used by the syntax of today's listings but fixes the form if a generation differs.
func (o *Operand) format(sm int) string {
	_ = sm
	var s string
	switch o.Kind {
	case KindNone:
		return "?"
	case KindReg:
		s = regName("R", o.Reg, RZ)
	case KindUReg:
		s = regName("UR", o.Reg, URZ)
	case KindPred:
		s = regName("P", o.Reg, PT)
	case KindUPred:
		s = regName("UP", o.Reg, PT)
	case KindBarrier:
		return "B" + strconv.Itoa(int(o.Reg))
	case KindSpecial:
		if n := SpecialName(o.Reg); n != "" {
			return n
		}
		return "SR" + strconv.Itoa(int(o.Reg))
	case KindImm:
		return immText(o.Imm)
	case KindConst:
		if o.Flags&Bindless != 0 {
			return fmt.Sprintf("cx[%s][%#x]", regName("UR", o.UReg, URZ), o.Imm)
		}
		s = fmt.Sprintf("c[%#x]%s", o.Bank, o.constAddress())
	case KindMem:
		return o.memText()
	case KindLabel:
		return "`(." + strconv.FormatInt(o.Imm, 10) + ")"
	}
	if o.Kind == KindPred || o.Kind == KindUPred {
		if o.Flags&Neg != 0 {
			return "!" + s
		}
		return s
	}
	for _, f := range operandSuffixes {
		if o.Flags&f.flag != 0 {
			s += f.text
		}
	}
	if o.Flags&Abs != 0 {
		s = "|" + strings.TrimSuffix(s, ".reuse") + "|"
		if o.Flags&Reuse != 0 {
			s += ".reuse"
		}
	}
	if o.Flags&Inv != 0 {
		s = "~" + s
	}
	if o.Flags&Neg != 0 {
		s = "-" + s
	}
	return s
}

var operandSuffixes = []struct {
	flag OperandFlags
	text string
}{
	{Reuse, ".reuse"}, {SelH0, ".H0"}, {SelH1, ".H1"}, {SelB0, ".B0"}, {SelB1, ".B1"}, {SelB2, ".B2"}, {SelB3, ".B3"}, {Sign, ".SIGN"},
}

func immText(v int64) string {
	if v < 0 {
		return fmt.Sprintf("-%#x", -v)
	}
	return fmt.Sprintf("%#x", v)
}

// regName is a register's name; virtual registers print with a leading %.
func regName(file string, r, zero Reg) string {
	switch {
	case r == zero && file[len(file)-1] == 'P':
		return file + "T"
	case r == zero:
		return file + "Z"
	case r >= VirtualBase:
		return "%" + file + strconv.Itoa(int(r-VirtualBase))
	}
	return file + strconv.Itoa(int(r))
}

func (o *Operand) constAddress() string {
	var parts []string
	if o.Reg != RZ {
		parts = append(parts, regName("R", o.Reg, RZ))
	}
	if o.Flags&HasUReg != 0 {
		parts = append(parts, regName("UR", o.UReg, URZ))
	}
	if o.Imm != 0 || len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("%#x", o.Imm))
	}
	return "[" + strings.Join(parts, "+") + "]"
}

func (o *Operand) memText() string {
	var b strings.Builder
	if o.Flags&HasDesc != 0 {
		fmt.Fprintf(&b, "desc[%s]", regName("UR", o.Desc, URZ))
	}
	b.WriteByte('[')
	n := 0
	add := func(s string) {
		if n > 0 {
			b.WriteByte('+')
		}
		b.WriteString(s)
		n++
	}
	if o.Reg != RZ || (o.Flags&HasUReg == 0 && o.Imm == 0) {
		s := regName("R", o.Reg, RZ)
		switch {
		case o.Flags&ScaleX4 != 0:
			s += ".X4"
		case o.Flags&ScaleX8 != 0:
			s += ".X8"
		case o.Flags&ScaleX16 != 0:
			s += ".X16"
		}
		switch {
		case o.Flags&Wide64 != 0:
			s += ".64"
		case o.Flags&Base32 != 0:
			s += ".U32"
		}
		add(s)
	}
	if o.Flags&HasUReg != 0 {
		add(regName("UR", o.UReg, URZ))
	}
	if o.Imm != 0 {
		add(immText(o.Imm))
	}
	b.WriteByte(']')
	return b.String()
}

// String is the control information in the usual text form, B for the wait mask, R and W for the barriers, Y for the yield bit and S for
// the stall count: "B--2---:R-:W0:-:S04".
func (c Control) String() string {
	b := []byte("B------:R-:W-:-:S00")
	for i := range 6 {
		if c.WaitMask>>uint(i)&1 != 0 {
			b[1+i] = byte('0' + i)
		}
	}
	if c.ReadBar < 6 {
		b[9] = '0' + c.ReadBar
	}
	if c.WriteBar < 6 {
		b[12] = '0' + c.WriteBar
	}
	if !c.Yield { // the encoded bit is 0 when the warp yields
		b[14] = 'Y'
	}
	b[17] = '0' + c.Stall/10%10
	b[18] = '0' + c.Stall%10
	return string(b)
}
