package isa_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

var cmps = map[string]isa.Cmp{"F": isa.CmpF, "LT": isa.CmpLT, "EQ": isa.CmpEQ, "LE": isa.CmpLE, "GT": isa.CmpGT, "NE": isa.CmpNE, "GE": isa.CmpGE, "NUM": isa.CmpNum, "NAN": isa.CmpNan, "LTU": isa.CmpLTU, "EQU": isa.CmpEQU, "LEU": isa.CmpLEU, "GTU": isa.CmpGTU, "NEU": isa.CmpNEU, "GEU": isa.CmpGEU, "T": isa.CmpT}
var types = map[string]isa.Type{"U8": isa.U8, "S8": isa.S8, "U16": isa.U16, "S16": isa.S16, "U32": isa.U32, "S32": isa.S32, "U64": isa.U64, "S64": isa.S64, "F16": isa.F16, "F32": isa.F32, "F64": isa.F64, "BF16": isa.BF16, "U16x2": isa.U16x2, "S16x2": isa.S16x2, "16x2": isa.U16x2, "U8x4": isa.U8x4, "S8x4": isa.S8x4, "BF16_V2": isa.BF16x2}
var flags = map[string]isa.ModFlags{"X": isa.ModX, "HI": isa.ModHI, "WIDE": isa.ModWide, "SAT": isa.ModSat, "ISAT": isa.ModSat, "FTZ": isa.ModFTZ, "W": isa.ModWrap, "RELU": isa.ModRelu, "SH": isa.ModSH, "EX": isa.ModEX, "SX32": isa.ModSX32, "MOV": isa.ModMov, "ACC": isa.ModAcc, "NTZ": isa.ModNTZ, "MMA": isa.ModMMA, "E": isa.ModE64, "CONSTANT": isa.ModConstant, "STRONG": isa.ModStrong, "SYS": isa.ModSys, "NOINC": isa.ModNoInc, "NODEC": isa.ModNoInc, "REL": isa.ModREL, "CLEAR": isa.ModClear, "RECONVERGENT": isa.ModReconvergent, "CC": isa.ModCC, "S": isa.ModS, "RS": isa.ModRS, "LS": isa.ModLS, "PO": isa.ModPO, "BREV": isa.ModBrev, "SHR_7": isa.ModShr7, "SHR_15": isa.ModShr15, "BF": isa.ModBF, "FMZ": isa.ModFMZ, "XLO": isa.ModXLO, "XMED": isa.ModXMED, "XHI": isa.ModXHI, "NANMODE": isa.ModNaN, "DEFER_BLOCKING": isa.ModDeferBlk, "PACK_AB": isa.ModPackAB, "MRG": isa.ModMRG, "PSL": isa.ModPSL, "PAND": isa.ModPAND, "LU": isa.ModLU, "U": isa.ModU, "GPU": 0, "SM": 0, "SC": 0, "LUT": 0, "SPIN": isa.ModSpin, "IVALL": 0, "SIGN": 0, "RESULT": 0}
var subs = func() map[string]isa.Sub {
	subs := map[string]isa.Sub{}
	for s := isa.Sub(1); s < isa.NumSubs; s++ {
		subs[s.String()] = s
	}
	subs["SUM"] = isa.SubAdd
	subs["TRAP"] = isa.SubTrap
	subs["ARV"] = isa.SubArrive
	return subs
}()

var alias = map[string]string{"REDG": "RED", "CGAERRBAR": "ERRBAR", "CAL": "CALL"}

// parseInst reads one instruction in the listing's syntax: what the tests and their case files are written in. Branch targets
// are labels (a name before a colon, see assemble).
func parseInst(text string) (in isa.Inst, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %v", text, r)
		}
	}()
	s := strings.TrimSpace(text)
	if s[0] == '@' {
		f := strings.SplitN(s, " ", 2)
		in.Guard = parseOperand(f[0][1:])
		s = strings.TrimSpace(f[1])
	}
	mn, rest, _ := strings.Cut(s, " ")
	parts := strings.Split(mn, ".")
	name := parts[0]
	if a := alias[name]; a != "" {
		name = a
	}
	op, ok := isa.OpByName(name)
	if !ok {
		return in, fmt.Errorf("unknown opcode %s", mn)
	}
	in.Op = op
	m := &in.Mod
	isMem := false
	switch name {
	case "LDG", "STG", "LD", "ST", "LDS", "STS", "LDL", "STL", "ATOMG", "ATOMS", "RED", "LDC", "ULDC", "LDCU":
		isMem = true
		m.Size = 4
	}
	var ts []isa.Type
	nbool := 0
	for i := 1; i < len(parts); i++ {
		p := parts[i]
		switch {
		case name == "IDP" && p == "4A":
			m.Sub = isa.Sub4A
		case name == "IDP" && p == "2A":
		case name == "IDP" && p == "LO":
			m.Sub = isa.Sub2ALo
		case name == "IDP" && p == "HI":
			m.Sub = isa.Sub2AHi
		case (name == "SHF" || name == "USHF") && p == "L":
			m.Flags |= isa.ModLeft
		case (name == "SHF" || name == "USHF") && p == "R":
			m.Flags |= isa.ModRight
		case p == "IADD" && name == "IMAD":
			m.Flags |= isa.ModAdd
		case p == "SHL" && name == "IMAD":
			m.Flags |= isa.ModShl
		case p == "64" && isMem:
			m.Size = 8
		case p == "128" && isMem:
			m.Size = 16
		case p == "64":
			m.Flags |= isa.ModWide
		case p == "32":
			m.Flags |= isa.Mod32
		case isMem && (p == "U8" || p == "S8"):
			m.Size, m.Type = 1, types[p]
		case isMem && (p == "U16" || p == "S16") && m.Sub == 0:
			m.Size, m.Type = 2, types[p]
		case name == "LDS" && p == "U":
		case p == "RM" || p == "FLOOR":
			m.Round = isa.RM
		case p == "RP" || p == "CEIL":
			m.Round = isa.RP
		case p == "RZ" || p == "TRUNC":
			m.Round = isa.RZero
		case p == "ALL" && name == "WARPSYNC":
			m.Flags |= isa.ModAllLanes
		case name == "BAR" && p == "RED":
		case name == "BAR" && (p == "AND" || p == "OR" || p == "POPC"):
			m.Sub = map[string]isa.Sub{"AND": isa.SubRedAnd, "OR": isa.SubRedOr, "POPC": isa.SubRedPopc}[p]
		case strings.HasSuffix(name, "SETP") && (p == "AND" || p == "OR" || p == "XOR"):
			b := map[string]isa.BoolOp{"AND": 0, "OR": 1, "XOR": 2}[p]
			if nbool == 0 {
				m.Bool = b
			} else {
				m.Bool2 = b
			}
			nbool++
		case strings.HasSuffix(name, "SETP") && p != "U" && (func() bool { _, ok := cmps[p]; return ok })():
			m.Cmp = cmps[p]
		case name == "ATOMS" && (p == "POPC" || p == "INC") && parts[1] == "POPC":
			m.Flags |= isa.ModPopcInc
			m.Sub = isa.SubAdd
		case name == "ATOMS" && p == "CAST":
			m.Sub = isa.SubCAS
		case p == "UD":
			m.DType = isa.U32
		case p == "SD":
			m.DType = isa.S32
		case strings.HasPrefix(p, "DSEL"): // merge position of a video instruction: DSEL1 to DSEL6
			m.DSel = p[4] - '0'
			m.Flags |= isa.ModMerge
		case strings.HasPrefix(p, "ASEL"), strings.HasPrefix(p, "BSEL"): // lane selection of a SIMD video instruction, most significant lane first
			v, err := strconv.ParseUint(p[4:], 16, 16)
			if err != nil {
				panic(err)
			}
			if p[0] == 'A' {
				m.ASel = uint16(v)
			} else {
				m.BSel = uint16(v)
			}
		case strings.HasPrefix(p, "MASK"): // lanes of a SIMD video instruction, one hexadecimal digit
			v, err := strconv.ParseUint(p[4:], 16, 8)
			if err != nil {
				panic(err)
			}
			m.DSel = uint8(v)
		case (p == "ADD" || p == "MIN2" || p == "MAX2") && strings.HasPrefix(name, "V"):
			m.Sub2 = map[string]isa.Sub{"ADD": isa.SubAdd, "MIN2": isa.SubMin, "MAX2": isa.SubMax}[p]
		case (name == "VSET" || name == "VSET2" || name == "VSET4" || name == "ISET" || name == "ICMP" || name == "FSET" || name == "FCMP" || name == "CSET") && cmps[p] != 0:
			m.Cmp = cmps[p]
		case (name == "ISET" || name == "FSET" || name == "PSET") && (p == "AND" || p == "OR" || p == "XOR"):
			b := map[string]isa.BoolOp{"AND": 0, "OR": 1, "XOR": 2}[p]
			if nbool == 0 {
				m.Bool = b
			} else {
				m.Bool2 = b
			}
			nbool++
		case p == "NZ":
			m.Cmp = isa.CmpNE
		default:
			if t, ok := types[p]; ok {
				ts = append(ts, t)
			} else if f, ok := flags[p]; ok {
				m.Flags |= f
			} else if sb, ok := subs[p]; ok {
				m.Sub = sb
			} else {
				panic("modifier " + p)
			}
		}
	}
	for i, t := range ts {
		switch name {
		case "I2F", "I2FP", "UI2F":
			if t >= isa.F16 && t <= isa.F64 {
				m.Type = t
			} else {
				m.BType = t
			}
		case "F2F", "FRND":
			if i == 0 {
				m.Type = t
			} else {
				m.BType = t
			}
		case "F2I":
			if t >= isa.F16 && t <= isa.F64 {
				m.BType = t
			} else {
				m.Type = t
			}
		default:
			if i == 0 {
				m.Type = t
			} else {
				m.BType = t
			}
		}
	}
	// operands
	var toks []string
	for _, t := range strings.Split(rest, ",") {
		t = strings.TrimSpace(t)
		if t == "" || t == "PR" || t == "CC" { // the predicate file and the condition code are implied
			continue
		}
		if (name == "RET" || name == "BRX") && strings.Contains(t, " ") {
			toks = append(toks, strings.Fields(t)...)
			continue
		}
		toks = append(toks, t)
	}
	if name == "BRX" {
		m.Flags |= isa.ModREL
	}
	if strings.HasPrefix(name, "HFMA2") { // merge the immediate pair
		var out []string
		for i := 0; i < len(toks); i++ {
			if isNum(toks[i]) && i+1 < len(toks) && isNum(toks[i+1]) {
				hi, lo := f16(parseNum(toks[i])), f16(parseNum(toks[i+1]))
				out = append(out, fmt.Sprintf("0x%x", uint32(hi)<<16|uint32(lo)))
				i++
				continue
			}
			out = append(out, toks[i])
		}
		toks = out
	}
	var os []isa.Operand
	for _, t := range toks {
		o := parseOperand(t)
		if takesFloats(name) && o.Kind == isa.KindImm {
			o.Imm = int64(math.Float32bits(float32(parseNum(t))))
		}
		os = append(os, o)
	}
	lab := func(i int) { os[i].Kind = isa.KindLabel }
	switch name {
	case "BRA", "CALL", "BSSY", "SSY", "PBK", "PCNT", "PRET", "JMP":
		lab(len(os) - 1)
	}
	isp := func(o isa.Operand) bool { return o.Kind == isa.KindPred || o.Kind == isa.KindUPred }
	// luts
	switch name {
	case "LOP3", "ULOP3":
		for i := len(os) - 1; i >= 0; i-- {
			if os[i].Kind == isa.KindImm {
				m.Lut = uint8(os[i].Imm)
				os = append(os[:i:i], os[i+1:]...)
				break
			}
		}
	case "PLOP3", "UPLOP3":
		n := len(os)
		m.Lut, m.Lut2 = uint8(os[n-2].Imm), uint8(os[n-1].Imm)
		os = os[:n-2]
	}
	nd := 0
	switch name {
	case "SSY", "PBK", "PCNT", "PRET", "SYNC", "BRK", "CONT", "JMP", "R2P", "LDGSTS", "LDGDEPBAR",
		"STG", "ST", "STS", "STL", "RED", "BRA", "EXIT", "BAR", "CALL", "RET", "BRX", "BSSY", "BSYNC", "BREAK", "WARPSYNC", "NOP", "MEMBAR", "ERRBAR", "CCTL", "DEPBAR", "NANOSLEEP", "YIELD":
	case "ISETP", "UISETP", "FSETP", "DSETP", "HSETP2", "PLOP3", "UPLOP3", "PSETP", "CSETP", "VSETP":
		nd = 2
	case "VOTE", "VOTEU":
		nd = 2
	case "B2R":
		nd = len(os)
	case "FCHK":
		nd = 1
	case "BMOV":
		nd = 1
	default:
		for nd < len(os) && isp(os[nd]) {
			nd++
		}
		nd++
		switch name {
		case "IADD3", "UIADD3", "IMAD", "UIMAD", "LEA", "ULEA", "VIMNMX", "IMNMX", "FLO", "IADD", "VIMNMX3", "VIADDMNMX":
			for nd < len(os) && isp(os[nd]) {
				nd++
			}
		}
	}
	if nd > 3 {
		os, nd = os[1:], nd-1
	}
	for _, o := range os[:nd] {
		if o.Is(isa.CCReg) {
			m.Flags |= isa.ModCC
		}
	}
	in.NDst = uint8(copy(in.Dst[:], os[:nd]))
	in.NSrc = uint8(copy(in.Src[:], os[nd:]))
	return in, nil
}

// assemble makes a program from lines of instructions. "name:" before an instruction is a label; "// ..." is a comment.
func assemble(t testing.TB, sm int, text string) *isa.Program {
	t.Helper()
	tg := isa.NewTarget(sm)
	labels := map[string]int{}
	var insts []isa.Inst
	var lines, names []string
	for n, l := range strings.Split(text, "\n") {
		l, _, _ = strings.Cut(l, "//")
		for {
			name, rest, ok := strings.Cut(l, ":")
			if !ok {
				break
			}
			labels[strings.TrimSpace(name)] = len(lines)
			l = rest
		}
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		lines = append(lines, l)
		names = append(names, strconv.Itoa(n+1))
	}
	for i, l := range lines {
		target := -1
		words := strings.FieldsFunc(l, func(r rune) bool { return r == ' ' || r == ',' })
		if at, ok := labels[words[len(words)-1]]; ok && len(words) > 1 {
			target = at
			l = strings.TrimSuffix(l, words[len(words)-1]) + "0x0"
		}
		in, err := parseInst(l)
		if err != nil {
			t.Fatalf("line %s: %v", names[i], err)
		}
		for j := range in.NSrc {
			if o := &in.Src[j]; o.Kind == isa.KindLabel {
				o.Imm = int64(target)
			}
		}
		line, err := strconv.Atoi(names[i])
		if err != nil {
			t.Fatal(err)
		}
		in.PC = uint32(i) * tg.InstBytes
		in.Pos = isa.SourcePos{Line: int32(line), Col: 1, CUFile: -1}
		insts = append(insts, in)
	}
	return &isa.Program{Name: "k", SM: sm, Insts: insts, ParamBase: tg.ParamBase, InstBytes: tg.InstBytes, SourceFile: "k.sass", SharedBytes: 1024, LocalBytes: 64}
}

// start binds a program without parameters and starts block 0.
func start(t testing.TB, p *isa.Program, threads uint32, mem *isa.Memory, params []byte) (*isa.Kernel, *isa.Block) {
	t.Helper()
	k, err := isa.Bind(p, isa.NewTarget(p.SM), &isa.Launch{Grid: isa.Dim3{X: 4, Y: 1, Z: 1}, Block: isa.Dim3{X: threads, Y: 1, Z: 1},
		Mem: mem, Params: params, MaxSteps: 100000, NumSMs: 1})
	if err != nil {
		t.Fatal(err)
	}
	return k, k.NewBlock(0)
}

// run executes a block warp by warp and returns its error.
func run(b *isa.Block) error {
	var e isa.Effect
	for !b.Done() {
		moved := false
		for _, w := range b.Warps {
			for w.PC() >= 0 {
				if err := w.Step(&e); err != nil {
					return err
				}
				moved = true
				if w.Steps() > 100000 {
					return errors.New("endless")
				}
			}
		}
		if !moved {
			return b.Stuck()
		}
	}
	return nil
}
