package sass

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// unknownError says which part of an instruction is not known.
type unknownError struct{ what string }

func (e *unknownError) Error() string { return e.what }

// parseText reads an instruction without address, encodings and semicolon. Branch targets stay
// byte addresses (KindImm) or nvdisasm labels (in labels, by operand position); resolve turns them into indices.
func parseText(sm int, text string) (in isa.Inst, label string, err error) {
	s := strings.TrimSpace(text)
	if strings.HasPrefix(s, "@") {
		if in.Guard, s, err = parseGuard(sm, s); err != nil {
			return in, "", err
		}
	}
	mnemonic, rest, _ := strings.Cut(s, " ")
	if err := parseMnemonic(&in, mnemonic); err != nil {
		return in, "", err
	}
	label, err = parseOperands(&in, sm, mnemonic, rest)
	return in, label, err
}

// parseGuard separates the guard from the instruction behind it.
func parseGuard(sm int, s string) (guard isa.Operand, rest string, err error) {
	g, rest, ok := strings.Cut(s, " ")
	if !ok {
		return guard, "", &unknownError{"guard without instruction"}
	}
	p := operandParser{sm: sm}
	guard, ok = p.parse(g[1:])
	if !ok || guard.Kind != isa.KindPred && guard.Kind != isa.KindUPred {
		return guard, "", &unknownError{fmt.Sprintf("guard %s", g)}
	}
	return guard, strings.TrimSpace(rest), nil
}

// parseMnemonic reads the opcode and its modifiers.
func parseMnemonic(in *isa.Inst, mnemonic string) error {
	parts := strings.Split(mnemonic, ".")
	op, ok := isa.OpByName(parts[0])
	if !ok {
		if op, ok = opAliases[parts[0]]; !ok || op == isa.OpNone {
			return &unknownError{"opcode " + parts[0]}
		}
	}
	in.Op = op
	switch parts[0] {
	case "LDSLK", "STSUL", "STSCUL":
		in.Mod.Flags |= isa.ModLock
	}
	if op == isa.OpSULD || op == isa.OpSUST {
		in.Mod.Tex.Bounds = isa.TexClamp
	}
	m := modState{in: in}
	if op == isa.OpSYNCS || op == isa.OpARRIVES {
		if !m.mbarrier(parts[1:]) {
			return &unknownError{fmt.Sprintf("operation of %s", mnemonic)}
		}
		parts = parts[:1]
	}
	for _, mod := range parts[1:] {
		if !m.apply(mod) {
			return &unknownError{fmt.Sprintf("modifier .%s of %s", mod, parts[0])}
		}
	}
	m.finish()
	return nil
}

// operandParserOf reads the literals of an opcode as numbers of its kind.
func operandParserOf(in *isa.Inst, sm int, name string) operandParser {
	p := operandParser{sm: sm}
	switch op := in.Op; {
	case isHalf(op):
		p.half, p.bfloat = true, in.Mod.Type == isa.BF16x2 || in.Mod.Type == isa.BF16
	case op == isa.OpDADD || op == isa.OpDMUL || op == isa.OpDFMA || op == isa.OpDSETP || op == isa.OpDMNMX:
		p.double = true
	case strings.HasPrefix(name, "F") && op != isa.OpFLO || op == isa.OpMUFU || strings.HasPrefix(name, "UF") && op != isa.OpUFLO || op == isa.OpRRO:
		p.float = true
	}
	return p
}

// isHalf says that the opcode works on pairs of halves.
func isHalf(op isa.Op) bool {
	switch op {
	case isa.OpHADD2, isa.OpHMUL2, isa.OpHFMA2, isa.OpHSETP2, isa.OpHSET2, isa.OpHMNMX2:
		return true
	}
	return false
}

// parseOperands reads the operands behind the mnemonic and gives the label among them, if there is one.
func parseOperands(in *isa.Inst, sm int, mnemonic, rest string) (label string, err error) {
	op := in.Op
	name, _, _ := strings.Cut(mnemonic, ".")
	p := operandParserOf(in, sm, name)
	switch op {
	case isa.OpBRX, isa.OpRET, isa.OpJMX, isa.OpCALL:
		rest = spacesToCommas(rest)
	}
	var ops []isa.Operand
	narrowBase := false
	for _, t := range splitOperands(rest) {
		if strings.HasPrefix(t, "`(") && strings.HasSuffix(t, ")") {
			label = strings.TrimSuffix(t[2:], ")")
		}
		if d := texDim(op, t); d != isa.TexNone {
			in.Mod.Tex.Dim = d
			continue
		}
		if op == isa.OpDEPBAR && strings.HasPrefix(t, "{") { // DEPBAR.LE SB0, 0x0, {2,1}: further barriers, which must be clear
			mask, ok := barrierList(t)
			if !ok {
				return "", &unknownError{fmt.Sprintf("operand %q of %s", t, mnemonic)}
			}
			in.Ctrl.WaitMask |= mask
			continue
		}
		plain := takeLanes(in, len(ops), t)
		o, ok := p.parse(plain)
		if !ok || o.Kind == isa.KindReg && (o.Reg == rpc || o.Reg == rpc+1) && name != "RPCMOV" {
			return "", &unknownError{fmt.Sprintf("operand %q of %s", t, mnemonic)}
		}
		if o.Kind == isa.KindMem && strings.Contains(t, ".U32") {
			narrowBase = true
		}
		ops = append(ops, o)
	}
	if in.Mod.Tex.Dim != isa.TexNone && isTexture(op) {
		ops = takeMask(in, ops, strings.TrimSpace(rest))
	}
	if err := place(in, mnemonic, ops); err != nil {
		return "", err
	}
	widenAddress(in, narrowBase)
	return label, nil
}

// barrierList reads a list of dependency barriers, {5,4,3}.
func barrierList(s string) (mask uint8, ok bool) {
	for _, d := range strings.Split(strings.Trim(s, "{} "), ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(d), 10, 8)
		if err != nil || n > 5 {
			return 0, false
		}
		mask |= 1 << n
	}
	return mask, true
}

// spacesToCommas separates "R2 -0x350" as indirect jumps, calls and returns print it.
func spacesToCommas(s string) string {
	f := strings.Fields(s)
	return strings.Join(strings.FieldsFunc(strings.Join(f, ","), func(r rune) bool { return r == ',' }), ", ")
}

// widenAddress marks the address registers of global accesses with .E as pairs: before sm_80 listings
// do not print ".64".
func widenAddress(in *isa.Inst, narrowBase bool) {
	if !in.Mod.Has(isa.ModE64) {
		return
	}
	for i := range in.Src[:in.NSrc] {
		o := &in.Src[i]
		if o.Kind != isa.KindMem || in.Op == isa.OpLDGSTS && i == 0 {
			continue
		}
		switch {
		case narrowBase:
			o.Flags |= isa.Base32
		case o.Reg != isa.RZ:
			o.Flags |= isa.Wide64
		}
		if o.Is(isa.HasUReg) {
			o.Flags |= isa.UWide64
		}
	}
}

// destinations says how many leading operands an opcode writes.
type destinations uint8

const (
	dstValue destinations = iota // [P,] R [, P [, P]]
	dstNone
	dstPred1
	dstPred2
	dstAllButLast // VOTE
)

func destinationsOf(in *isa.Inst) destinations {
	if in.Mod.Sub == isa.SubMbEnd {
		return dstNone
	}
	switch in.Op {
	case isa.OpSUST, isa.OpST, isa.OpSTG, isa.OpSTS, isa.OpSTL, isa.OpRED, isa.OpLDGSTS, isa.OpBRA, isa.OpBRX, isa.OpJMP, isa.OpJMX, isa.OpCALL, isa.OpRET,
		isa.OpPRET, isa.OpEXIT, isa.OpKILL, isa.OpBSSY, isa.OpBSYNC, isa.OpBREAK, isa.OpSSY, isa.OpPBK, isa.OpPCNT, isa.OpSYNC, isa.OpBRK,
		isa.OpCONT, isa.OpWARPSYNC, isa.OpENDCOLLECTIVE, isa.OpYIELD, isa.OpNANOSLEEP, isa.OpBAR, isa.OpNOP, isa.OpBPT, isa.OpCCTL, isa.OpMEMBAR, isa.OpFENCE, isa.OpERRBAR,
		isa.OpLDGDEPBAR, isa.OpDEPBAR, isa.OpTEXDEPBAR, isa.OpARRIVES, isa.OpR2P, isa.OpUR2UP:
		return dstNone
	case isa.OpISETP, isa.OpFSETP, isa.OpDSETP, isa.OpHSETP2, isa.OpPSETP, isa.OpPLOP3, isa.OpVSETP, isa.OpCSETP, isa.OpUISETP, isa.OpUFSETP, isa.OpUPLOP3:
		return dstPred2
	case isa.OpFCHK:
		return dstPred1
	case isa.OpVOTE, isa.OpVOTEU:
		return dstAllButLast
	}
	return dstValue
}

func isPred(o *isa.Operand) bool { return o.Kind == isa.KindPred || o.Kind == isa.KindUPred }

// carriesOut says whether predicates after the first register are results (carry-outs, comparison results).
func carriesOut(op isa.Op) bool {
	switch op {
	case isa.OpIADD3, isa.OpIADD, isa.OpLEA, isa.OpIMAD, isa.OpVIMNMX, isa.OpFLO, isa.OpUIADD3, isa.OpULEA, isa.OpUIMAD, isa.OpUVIMNMX, isa.OpUFLO,
		isa.OpHMNMX2, isa.OpFMNMX, isa.OpLOP, isa.OpLOP32I:
		return true
	}
	return false
}

// place sorts operands into destinations and sources and moves immediates that are modifiers into Mod.
func place(in *isa.Inst, mnemonic string, ops []isa.Operand) error {
	if isHalf(in.Op) {
		ops = joinHalves(ops)
	}
	switch in.Op {
	case isa.OpP2R, isa.OpR2P, isa.OpUP2UR, isa.OpUR2UP, isa.OpCSET, isa.OpCSETP:
		ops = dropImplied(ops)
	}
	if in.Op == isa.OpWARPSYNC && len(ops) == 2 {
		ops = ops[:1] // "WARPSYNC.COLLECTIVE R12, 0xf70": the address behind its ENDCOLLECTIVE, where the lanes go on anyway
	}
	if in.Op == isa.OpNOP {
		ops = nil // "NOP CC.T": the condition of a token that .S pops, always true
	}
	nd := written(in, ops)
	dst, src := ops[:nd], takeTables(in, ops[nd:])
	for i := range dst {
		if dst[i].Flags&isa.CCReg != 0 {
			in.Mod.Flags |= isa.ModCC
		}
	}
	if len(dst) > isa.MaxDst || len(src) > isa.MaxSrc {
		return &unknownError{fmt.Sprintf("%d operands of %s", len(ops), mnemonic)}
	}
	in.NDst, in.NSrc = uint8(len(dst)), uint8(len(src))
	copy(in.Dst[:], dst)
	copy(in.Src[:], src)
	return nil
}

// written is the number of leading operands that the instruction writes.
func written(in *isa.Inst, ops []isa.Operand) int {
	switch {
	case in.Op == isa.OpSTS && in.Mod.Has(isa.ModLock) && len(ops) > 0 && isPred(&ops[0]):
		return 1 // STSCUL P0, [R0], R4
	case in.Op == isa.OpB2R && len(ops) > 1 && isPred(&ops[len(ops)-1]):
		return len(ops) // B2R.RESULT RZ, P0: the predicate is the reduction's result
	}
	switch destinationsOf(in) {
	case dstPred1:
		return min(1, len(ops))
	case dstPred2:
		return min(2, len(ops))
	case dstAllButLast:
		return max(0, len(ops)-1)
	case dstNone:
		return 0
	}
	nd := 0
	for nd < len(ops) && isPred(&ops[nd]) {
		nd++
	}
	switch {
	case isTexture(in.Op) && len(ops) > 1: // R10, R8: the later components, then the first two
		return 2
	case in.Op == isa.OpLDG && in.IsOctet() && len(ops) > nd+2:
		return nd + 2
	}
	if nd < len(ops) && !(isMemory(in.Op) && nd > 0 && ops[nd].Kind == isa.KindMem) { // ATOMS.CAST.SPIN P1, [R4], R2, R3 has only the predicate
		nd++
	}
	if carriesOut(in.Op) {
		for nd < len(ops)-1 && isPred(&ops[nd]) {
			nd++
		}
	}
	return nd
}

// takeTables moves the immediates among the sources that are truth tables, or say which of eight words are loaded, into Mod.
func takeTables(in *isa.Inst, src []isa.Operand) []isa.Operand {
	switch in.Op {
	case isa.OpLDG:
		if n := len(src); in.IsOctet() && n > 1 && src[n-1].Kind == isa.KindImm {
			in.Mod.Lut = uint8(src[n-1].Imm)
			return src[:n-1]
		}
	case isa.OpLOP3, isa.OpULOP3:
		for i := len(src) - 1; i >= 3; i-- {
			if src[i].Kind == isa.KindImm {
				in.Mod.Lut = uint8(src[i].Imm)
				return append(append([]isa.Operand{}, src[:i]...), src[i+1:]...)
			}
		}
	case isa.OpPLOP3, isa.OpUPLOP3:
		tables := []*uint8{&in.Mod.Lut, &in.Mod.Lut2}
		var rest []isa.Operand
		for _, o := range src {
			if o.Kind != isa.KindImm {
				rest = append(rest, o)
			} else if len(tables) > 0 {
				*tables[0], tables = uint8(o.Imm), tables[1:]
			}
		}
		return rest
	}
	return src
}

// joinHalves combines the two immediates of a half2 operand, printed high half first.
func joinHalves(ops []isa.Operand) []isa.Operand {
	for i := 0; i+1 < len(ops); i++ {
		if ops[i].Kind == isa.KindImm && ops[i+1].Kind == isa.KindImm {
			j := isa.I(uint32(ops[i].Imm&0xffff)<<16 | uint32(ops[i+1].Imm&0xffff))
			return append(append(append([]isa.Operand{}, ops[:i]...), j), ops[i+2:]...)
		}
	}
	return ops
}

// dropImplied leaves out the predicate file (PR) and the condition code (CC), which the opcode implies.
func dropImplied(ops []isa.Operand) []isa.Operand {
	var out []isa.Operand
	for _, o := range ops {
		if isPred(&o) && (o.Imm == allPredicates || o.Is(isa.CCReg)) {
			continue
		}
		out = append(out, o)
	}
	return out
}
