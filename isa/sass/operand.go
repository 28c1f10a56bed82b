package sass

import (
	"math"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// splitOperands cuts an operand list at its top-level commas. BRX and RET print a register and an
// offset with a blank between: the blank separates too.
func splitOperands(s string) []string {
	var out []string
	depth, start := 0, 0
	flush := func(end int) {
		if t := strings.TrimSpace(s[start:end]); t != "" {
			out = append(out, t)
		}
		start = end + 1
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '(', '{':
			depth++
		case ']', ')', '}':
			depth--
		case ',':
			if depth == 0 {
				flush(i)
			}
		}
	}
	flush(len(s))
	return out
}

// operandParser turns operand text into isa.Operand; double says that immediates are doubles of which
// the high word counts, half that they are halves, float that decimal immediates are single precision.
type operandParser struct {
	sm          int
	float, half bool
	bfloat      bool // halves are bfloat16
	double      bool
}

// parse reads one operand; ok is false if it is none that machine code has.
func (p *operandParser) parse(s string) (o isa.Operand, ok bool) {
	neg, abs, inv := false, false, false
	for len(s) > 0 {
		switch {
		case s[0] == '-' && len(s) > 1 && !isNumberStart(s[1:]):
			neg, s = !neg, s[1:]
			continue
		case s[0] == '!':
			neg, s = !neg, s[1:]
			continue
		case s[0] == '~':
			inv, s = true, s[1:]
			continue
		case s[0] == '|':
			k := strings.LastIndexByte(s, '|')
			if k == 0 {
				return o, false
			}
			abs = true
			s = s[1:k] + s[k+1:]
			continue
		}
		break
	}
	reuse := false
	if t, found := strings.CutSuffix(s, ".reuse"); found {
		s, reuse = t, true
	}
	o, ok = p.core(s)
	if !ok {
		return o, false
	}
	if neg {
		o.Flags |= isa.Neg
	}
	if abs {
		o.Flags |= isa.Abs
	}
	if inv {
		o.Flags |= isa.Inv
	}
	if reuse {
		o.Flags |= isa.Reuse
	}
	return o, true
}

func isNumberStart(s string) bool {
	return s[0] >= '0' && s[0] <= '9' || s[0] == '.' || strings.HasPrefix(s, "INF") || strings.HasPrefix(s, "QNAN") || strings.HasPrefix(s, "SNAN")
}

// core reads an operand without negation, absolute value and reuse flag.
func (p *operandParser) core(s string) (isa.Operand, bool) {
	switch {
	case s == "":
		return isa.Operand{}, false
	case strings.HasPrefix(s, "desc["):
		return p.desc(s)
	case s == "Rpc.LO":
		return isa.R(rpc), true
	case s == "Rpc.HI":
		return isa.R(rpc + 1), true
	case s[0] == '[':
		return p.memory(s)
	case strings.HasPrefix(s, "c[") || strings.HasPrefix(s, "c ["):
		return p.constant(s)
	case strings.HasPrefix(s, "cx["):
		return p.boundConstant(s)
	case strings.HasPrefix(s, "`("):
		return isa.Operand{Kind: isa.KindLabel, Imm: -1}, true
	}
	if o, ok := p.register(s); ok {
		return o, true
	}
	return p.immediate(s)
}

var selectors = map[string]isa.OperandFlags{
	"H0": isa.SelH0, "H1": isa.SelH1, "H0_H0": isa.SelH0, "H1_H1": isa.SelH1, "H1_H0": 0, "H0_NH1": 0,
	"B0": isa.SelB0, "B1": isa.SelB1, "B2": isa.SelB2, "B3": isa.SelB3,
	"64": isa.Wide64, "CC": isa.CCReg, "SIGN": isa.Sign, "X4": isa.ScaleX4, "X8": isa.ScaleX8, "X16": isa.ScaleX16,
	"U32": 0, "S32": 0, "F32": 0, "LO": 0, "reuse": isa.Reuse,
}

// earlySpecial is today's name of a special register as the first tools wrote it: SR_Tid_X, SR_CTAid_Y, SR_LaneId.
func earlySpecial(s string) string {
	s = strings.ToUpper(s)
	for _, d := range []string{"X", "Y", "Z"} {
		if t, ok := strings.CutSuffix(s, "_"+d); ok {
			return t + "." + d
		}
	}
	return s
}

// register reads R, UR, P, UP, B and SR names with their selectors.
func (p *operandParser) register(s string) (isa.Operand, bool) {
	if strings.HasPrefix(s, "S") {
		if r, ok := isa.SpecialByName(s); ok {
			return isa.SR(r), true
		}
		if r, ok := isa.SpecialByName(earlySpecial(s)); ok {
			return isa.SR(r), true
		}
	}
	base, mods, _ := strings.Cut(s, ".")
	o := isa.Operand{}
	switch {
	case base == "RZ":
		o = isa.R(isa.RZ)
	case base == "URZ":
		o = isa.UR(isa.URZ)
	case base == "PT" || base == "pt": // lower case in listings of the Fermi era
		o = isa.P(isa.PT)
	case base == "UPT":
		o = isa.UP(isa.PT)
	case base == "PR" || base == "UPR":
		o = isa.P(isa.PT)
		o.Imm = allPredicates
	case base == "CC": // with a test behind it: NOP CC.T
		o = isa.P(isa.PT)
		o.Flags |= isa.CCReg
		return o, true
	default:
		kind, digits := isa.KindNone, ""
		switch {
		case strings.HasPrefix(base, "UR"):
			kind, digits = isa.KindUReg, base[2:]
		case strings.HasPrefix(base, "UP"):
			kind, digits = isa.KindUPred, base[2:]
		case strings.HasPrefix(base, "SB"):
			kind, digits = isa.KindImm, base[2:]
		case strings.HasPrefix(base, "R"):
			kind, digits = isa.KindReg, base[1:]
		case strings.HasPrefix(base, "P"):
			kind, digits = isa.KindPred, base[1:]
		case strings.HasPrefix(base, "B"):
			kind, digits = isa.KindBarrier, base[1:]
		default:
			return o, false
		}
		if k := strings.Index(digits, "={"); k >= 0 {
			digits = digits[:k]
		}
		n, err := strconv.ParseUint(digits, 10, 8)
		if err != nil || kind == isa.KindPred && n > 7 || kind == isa.KindUPred && n > 7 || kind == isa.KindReg && n > 255 {
			return o, false
		}
		o = isa.Operand{Kind: kind, Reg: isa.Reg(n)}
		if kind == isa.KindImm {
			o = isa.I(uint32(n))
		}
	}
	if mods == "" {
		return o, true
	}
	for _, m := range strings.Split(mods, ".") {
		f, ok := selectors[m]
		if !ok {
			return o, false
		}
		o.Flags |= f
	}
	return o, true
}

// allPredicates marks the operand PR of P2R and R2P, which names the whole predicate file.
const allPredicates = 0x7f

// immediate reads integers, floats and label addresses.
func (p *operandParser) immediate(s string) (isa.Operand, bool) {
	t := strings.TrimPrefix(s, "+")
	neg := strings.HasPrefix(t, "-")
	u := strings.TrimPrefix(t, "-")
	if h, ok := strings.CutPrefix(u, "0x"); ok {
		v, err := strconv.ParseUint(h, 16, 64)
		if err != nil {
			return isa.Operand{}, false
		}
		if neg {
			v = -v
		}
		return isa.Operand{Kind: isa.KindImm, Imm: int64(v)}, true
	}
	var f float64
	switch u {
	case "INF":
		f = math.Inf(1)
	case "QNAN", "SNAN":
		f = math.NaN()
	default:
		var err error
		if f, err = strconv.ParseFloat(u, 64); err != nil {
			return isa.Operand{}, false
		}
	}
	if neg {
		f = -f
	}
	switch {
	case p.half:
		return isa.Operand{Kind: isa.KindImm, Imm: int64(p.halfBits(f))}, true
	case p.double:
		return isa.Operand{Kind: isa.KindImm, Imm: int64(math.Float64bits(f) >> 32)}, true
	case p.float:
		return isa.I(math.Float32bits(float32(f))), true
	}
	if f == math.Trunc(f) {
		return isa.Operand{Kind: isa.KindImm, Imm: int64(f)}, true
	}
	return isa.Operand{}, false
}

// halfBits rounds f to half precision, or to bfloat16, nearest even.
func (p *operandParser) halfBits(f float64) uint16 {
	if p.bfloat {
		b := math.Float32bits(float32(f))
		return uint16((b + 0x7fff + b>>16&1) >> 16)
	}
	return halfBits(f)
}

func halfBits(f float64) uint16 {
	b := math.Float64bits(f)
	sign := uint16(b >> 48 & 0x8000)
	switch {
	case math.IsNaN(f):
		return sign | 0x7fff
	case math.IsInf(f, 0):
		return sign | 0x7c00
	}
	a := math.Abs(f)
	if a < math.Ldexp(1, -14) {
		return sign | uint16(math.RoundToEven(math.Ldexp(a, 24)))
	}
	m, e := math.Frexp(a) // a = m * 2^e, 0.5 <= m < 1
	v := uint32(math.RoundToEven(math.Ldexp(m, 11)))
	h := uint32(e+13)<<10 + v // v carries the implicit bit at 10
	if h >= 0x7c00 {
		return sign | 0x7c00
	}
	return sign | uint16(h)
}

// desc reads desc[UR4][address].
func (p *operandParser) desc(s string) (isa.Operand, bool) {
	k := strings.IndexByte(s, ']')
	if k < 0 {
		return isa.Operand{}, false
	}
	d, ok := p.register(s[len("desc["):k])
	if !ok || d.Kind != isa.KindUReg {
		return isa.Operand{}, false
	}
	o, ok := p.memory(strings.TrimSpace(s[k+1:]))
	o.Flags |= isa.HasDesc
	o.Desc = d.Reg
	return o, ok
}

// memory reads [R2.64+UR4+0x10] and its parts in any order.
func (p *operandParser) memory(s string) (isa.Operand, bool) {
	o := isa.Operand{Kind: isa.KindMem, Reg: isa.RZ}
	if len(s) < 2 || s[len(s)-1] != ']' {
		return o, false
	}
	for _, part := range splitSum(s[1 : len(s)-1]) {
		neg := strings.HasPrefix(part, "-")
		t := strings.TrimPrefix(part, "-")
		if r, ok := p.register(t); ok {
			switch r.Kind {
			case isa.KindReg:
				o.Reg = r.Reg
				o.Flags |= r.Flags & (isa.Wide64 | isa.ScaleX4 | isa.ScaleX8 | isa.ScaleX16)
			case isa.KindUReg:
				o.UReg = r.Reg
				o.Flags |= isa.HasUReg
				if r.Flags&isa.Wide64 != 0 {
					o.Flags |= isa.UWide64
				}
			default:
				return o, false
			}
			continue
		}
		v, ok := p.integer(t)
		if !ok {
			return o, false
		}
		if neg {
			v = -v
		}
		o.Imm += v
	}
	return o, true
}

func (p *operandParser) integer(s string) (int64, bool) {
	v, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		if u, err := strconv.ParseUint(s, 0, 64); err == nil {
			return int64(u), true
		}
		return 0, false
	}
	return v, true
}

// splitSum cuts "R2.64+UR4+-0x10" into its terms; a minus sign stays with its term.
func splitSum(s string) []string {
	var out []string
	for _, t := range strings.Split(strings.ReplaceAll(s, " ", ""), "+") {
		for i := 1; i < len(t); i++ {
			if t[i] == '-' {
				out = append(out, t[:i])
				t, i = t[i:], 0
			}
		}
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

// constant reads c[0x0][0x160], c[0x3][R5+0x10] and the older c [0x0] [0x20].
func (p *operandParser) constant(s string) (isa.Operand, bool) {
	s, mods := strings.ReplaceAll(s, " ", ""), ""
	k := strings.LastIndexByte(s, ']')
	if k < 0 {
		return isa.Operand{}, false
	}
	s, mods = s[:k+1], s[k+1:]
	a := strings.SplitN(s, "][", 2)
	if len(a) != 2 {
		return isa.Operand{}, false
	}
	bank, ok := p.integer(strings.TrimPrefix(a[0], "c["))
	if !ok || bank < 0 || bank > 31 {
		return isa.Operand{}, false
	}
	m, ok := p.memory("[" + a[1])
	if !ok {
		return isa.Operand{}, false
	}
	o := isa.Operand{Kind: isa.KindConst, Bank: uint8(bank), Reg: m.Reg, UReg: m.UReg, Flags: m.Flags & isa.HasUReg, Imm: m.Imm}
	if o.Imm < 0 && o.Imm >= -0x8000 && o.Reg == isa.RZ && o.Flags&isa.HasUReg == 0 {
		o.Imm += 0x10000 // cuobjdump prints the upper half of a bank with a sign
	}
	if mods != "" {
		f, ok := selectors[strings.TrimPrefix(mods, ".")]
		if !ok {
			return o, false
		}
		o.Flags |= f
	}
	return o, true
}

// boundConstant reads cx[UR4][0x8]: a bindless constant bank, addressed through a uniform register.
func (p *operandParser) boundConstant(s string) (isa.Operand, bool) {
	k := strings.IndexByte(s, ']')
	if k < 0 {
		return isa.Operand{}, false
	}
	u, ok := p.register(s[len("cx["):k])
	if !ok || u.Kind != isa.KindUReg {
		return isa.Operand{}, false
	}
	m, ok := p.memory(s[k+1:])
	return isa.Operand{Kind: isa.KindConst, Bank: 31, Reg: isa.RZ, UReg: u.Reg, Flags: isa.HasUReg, Imm: m.Imm}, ok
}
