package isa_test

import (
	"math/big"

	"pgregory.net/rapid"

	"github.com/sarchlab/smsim/isa"
)

// A second executor of the core integer instructions, written from the PTX ISA's definitions with big integers and bit loops, one lane at a
// time and as slow as that is. TestNoDiff compares it with Step on random operands, modifiers, predicates and lane masks.

// refState is what one lane sees: operand values, in source order, and predicates.
type refState struct {
	v      []uint32 // value sources, after negation and complement
	neg    []bool   // source was negated (its value is the complement; 1 is still to be added)
	p      []bool   // predicate sources
	hi     []uint32 // high words of pair sources
	result []uint32
	preds  []bool
}

func bigU(v uint32) *big.Int { return new(big.Int).SetUint64(uint64(v)) }
func bigS(v uint32) *big.Int { return big.NewInt(int64(int32(v))) }

func bigOf(v uint32, sgn bool) *big.Int {
	if sgn {
		return bigS(v)
	}
	return bigU(v)
}

// low is the low n bits of a number in two's complement.
func low(x *big.Int, n uint) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), n)
	return new(big.Int).Mod(x, m).Uint64()
}

func bit1(v uint32, i int) bool { return i >= 0 && i < 32 && v>>uint(i)&1 != 0 }

// fromBits packs 32 bits, least significant first.
func fromBits(f func(i int) bool) uint32 {
	var r uint32
	for i := range 32 {
		if f(i) {
			r |= 1 << uint(i)
		}
	}
	return r
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// refCase is one instruction form: how to build it and what it means.
type refCase struct {
	name  string
	sm    int
	draw  func(t *rapid.T, g *gen) isa.Inst
	apply func(m *isa.Mod, s *refState)
}

// gen draws operands. Registers 1-12 are sources, 0 and 20, 21 results; predicates 1-3 sources, 4 and 5 results.
type gen struct{ t *rapid.T }

func (g *gen) reg(mods bool) isa.Operand {
	o := isa.R(isa.Reg(rapid.IntRange(1, 12).Draw(g.t, "reg")))
	switch rapid.IntRange(0, 9).Draw(g.t, "kind") {
	case 0:
		return isa.R(isa.RZ)
	case 1:
		return isa.I(word(g.t))
	case 2:
		if mods {
			o.Flags |= isa.Neg
		}
	case 3:
		if mods {
			o.Flags |= isa.Inv
		}
	}
	return o
}

func (g *gen) pair() isa.Operand { return isa.R(isa.Reg(2 * rapid.IntRange(1, 5).Draw(g.t, "pair"))) }

func (g *gen) pred() isa.Operand {
	p := isa.P(isa.Reg(rapid.SampledFrom([]int{1, 2, 3, 7}).Draw(g.t, "pred")))
	if rapid.Bool().Draw(g.t, "not") {
		p.Flags |= isa.Neg
	}
	return p
}

func (g *gen) typ(ts ...isa.Type) isa.Type { return rapid.SampledFrom(ts).Draw(g.t, "type") }
func (g *gen) flag(f isa.ModFlags) isa.ModFlags {
	if rapid.Bool().Draw(g.t, "flag") {
		return f
	}
	return 0
}

// word favours values at which integer code goes wrong.
func word(t *rapid.T) uint32 {
	if rapid.Bool().Draw(t, "edge") {
		return rapid.SampledFrom([]uint32{0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
			0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x55555555, 0xaaaaaaaa, 0x01020304, 0x80808080}).Draw(t, "edge value")
	}
	return rapid.Uint32().Draw(t, "value")
}

var cmps32 = []isa.Cmp{isa.CmpF, isa.CmpLT, isa.CmpEQ, isa.CmpLE, isa.CmpGT, isa.CmpNE, isa.CmpGE, isa.CmpT}

func refCompare(c isa.Cmp, x, y *big.Int) bool {
	d := x.Cmp(y)
	switch c {
	case isa.CmpLT:
		return d < 0
	case isa.CmpEQ:
		return d == 0
	case isa.CmpLE:
		return d <= 0
	case isa.CmpGT:
		return d > 0
	case isa.CmpNE:
		return d != 0
	case isa.CmpGE:
		return d >= 0
	}
	return c == isa.CmpT
}

func refBool(op isa.BoolOp, a, b bool) bool {
	switch op {
	case isa.BoolOr:
		return a || b
	case isa.BoolXor:
		return a != b
	}
	return a && b
}

func isSigned(t isa.Type) bool {
	switch t {
	case isa.U8, isa.U16, isa.U32, isa.U64, isa.U16x2:
		return false
	}
	return true
}

// part is byte or half i of v.
func part(v uint32, i, n int, sgn bool) *big.Int {
	x := int64(0)
	for j := range n {
		x += boolInt(bit1(v, i*n+j)) << uint(j)
	}
	if sgn && bit1(v, i*n+n-1) {
		x -= 1 << uint(n)
	}
	return big.NewInt(x)
}

var refCases = []refCase{
	{"IADD3", 86, func(t *rapid.T, g *gen) isa.Inst {
		f := g.flag(isa.ModX)
		src := ops(g.reg(true), g.reg(true), g.reg(true))
		if f != 0 {
			src = append(src, g.pred(), g.pred())
		}
		return asm(isa.OpIADD3, isa.Mod{Flags: f}, ops(isa.R(0), isa.P(4), isa.P(5)), src)
	}, func(m *isa.Mod, s *refState) {
		x := new(big.Int)
		for i := range 3 {
			x.Add(x, bigU(s.v[i]))
			x.Add(x, big.NewInt(boolInt(s.neg[i])))
		}
		for _, p := range s.p {
			x.Add(x, big.NewInt(boolInt(p)))
		}
		s.result = []uint32{uint32(low(x, 32))}
		carry := new(big.Int).Rsh(x, 32).Int64()
		s.preds = []bool{carry >= 1, carry >= 2}
	}},
	{"IMAD", 86, func(t *rapid.T, g *gen) isa.Inst {
		return asm(isa.OpIMAD, isa.Mod{Type: g.typ(isa.S32, isa.U32)}, ops(isa.R(0)), ops(g.reg(false), g.reg(false), g.reg(true)))
	}, func(m *isa.Mod, s *refState) {
		x := new(big.Int).Mul(bigU(s.v[0]), bigU(s.v[1]))
		x.Add(x, bigU(s.v[2])).Add(x, big.NewInt(boolInt(s.neg[2])))
		s.result = []uint32{uint32(low(x, 32))}
	}},
	{"IMAD.WIDE", 86, func(t *rapid.T, g *gen) isa.Inst {
		f := isa.ModWide | g.flag(isa.ModX)
		src := ops(g.reg(false), g.reg(false), g.pair())
		if f&isa.ModX != 0 {
			src = append(src, g.pred())
		}
		return asm(isa.OpIMAD, isa.Mod{Type: g.typ(isa.S32, isa.U32), Flags: f}, ops(isa.R(20), isa.P(4)), src)
	}, func(m *isa.Mod, s *refState) {
		p := new(big.Int).Mul(bigOf(s.v[0], isSigned(m.Type)), bigOf(s.v[1], isSigned(m.Type)))
		x := new(big.Int).SetUint64(low(p, 64))
		x.Add(x, new(big.Int).SetUint64(uint64(s.hi[2])<<32|uint64(s.v[2])))
		if len(s.p) > 0 {
			x.Add(x, big.NewInt(boolInt(s.p[0])))
		}
		r := low(x, 64)
		s.result = []uint32{uint32(r), uint32(r >> 32)}
		s.preds = []bool{x.BitLen() > 64}
	}},
	{"IMAD.HI", 86, func(t *rapid.T, g *gen) isa.Inst {
		return asm(isa.OpIMAD, isa.Mod{Type: g.typ(isa.S32, isa.U32), Flags: isa.ModHI}, ops(isa.R(0)), ops(g.reg(false), g.reg(false), g.pair()))
	}, func(m *isa.Mod, s *refState) {
		p := new(big.Int).Mul(bigOf(s.v[0], isSigned(m.Type)), bigOf(s.v[1], isSigned(m.Type)))
		p.Add(p, new(big.Int).SetUint64(uint64(s.hi[2])<<32|uint64(s.v[2])))
		s.result = []uint32{uint32(low(p.Rsh(p, 32), 32))}
	}},
	{"IMAD before Volta", 35, func(t *rapid.T, g *gen) isa.Inst {
		return asm(isa.OpIMAD, isa.Mod{Type: g.typ(isa.S32, isa.U32), BType: g.typ(isa.S32, isa.U32), Flags: isa.ModHI}, ops(isa.R(0)), ops(g.reg(false), g.reg(false), g.reg(false)))
	}, func(m *isa.Mod, s *refState) {
		p := new(big.Int).Mul(bigOf(s.v[0], isSigned(m.Type)), bigOf(s.v[1], isSigned(m.BType)))
		p.Rsh(p, 32).Add(p, bigU(s.v[2]))
		s.result = []uint32{uint32(low(p, 32))}
	}},
	{"LOP3", 86, func(t *rapid.T, g *gen) isa.Inst {
		return asm(isa.OpLOP3, isa.Mod{Lut: uint8(rapid.IntRange(0, 255).Draw(t, "lut"))}, ops(isa.R(0), isa.P(4)), ops(g.reg(false), g.reg(false), g.reg(false), isa.NotP(isa.PT)))
	}, refLOP3},
	{"LOP3 without predicate", 86, func(t *rapid.T, g *gen) isa.Inst {
		return asm(isa.OpLOP3, isa.Mod{Lut: uint8(rapid.IntRange(0, 255).Draw(t, "lut"))}, ops(isa.R(0)), ops(g.reg(false), g.reg(false), g.reg(false)))
	}, refLOP3},
	{"SHF", 86, func(t *rapid.T, g *gen) isa.Inst {
		dir := rapid.SampledFrom([]isa.ModFlags{isa.ModLeft, isa.ModRight}).Draw(t, "direction")
		m := isa.Mod{Type: g.typ(isa.U32, isa.S32, isa.U64, isa.S64), Flags: dir | g.flag(isa.ModHI) | g.flag(isa.ModWrap)}
		amount := g.reg(false)
		if rapid.Bool().Draw(t, "constant amount") {
			amount = isa.I(uint32(rapid.IntRange(0, 70).Draw(t, "amount")))
		}
		return asm(isa.OpSHF, m, ops(isa.R(0)), ops(g.reg(false), amount, g.reg(false)))
	}, func(m *isa.Mod, s *refState) {
		width := uint32(32)
		if m.Type == isa.U64 || m.Type == isa.S64 {
			width = 64
		}
		n := s.v[1]
		if m.Has(isa.ModWrap) {
			n %= width
		}
		n = min(n, width)
		x := new(big.Int).Lsh(bigOf(s.v[2], isSigned(m.Type)), 32)
		x.Add(x, bigU(s.v[0]))
		if m.Has(isa.ModLeft) {
			x.Lsh(x, uint(n))
		} else if m.Has(isa.ModHI) { // the high word alone is shifted
			x = new(big.Int).Lsh(new(big.Int).Rsh(bigOf(s.v[2], isSigned(m.Type)), uint(n)), 32)
		} else {
			x.Rsh(x, uint(n))
		}
		if m.Has(isa.ModHI) {
			x.Rsh(x, 32)
		}
		s.result = []uint32{uint32(low(x, 32))}
	}},
	{"PRMT", 86, func(t *rapid.T, g *gen) isa.Inst {
		sub := rapid.SampledFrom([]isa.Sub{isa.SubNone, isa.SubNone, isa.SubF4E, isa.SubB4E, isa.SubRC8, isa.SubECL, isa.SubECR, isa.SubRC16}).Draw(t, "mode")
		return asm(isa.OpPRMT, isa.Mod{Sub: sub}, ops(isa.R(0)), ops(g.reg(false), g.reg(false), g.reg(false)))
	}, refPRMT},
	{"LEA", 86, func(t *rapid.T, g *gen) isa.Inst {
		f := g.flag(isa.ModX)
		src := ops(g.reg(false), g.reg(true), isa.I(uint32(rapid.IntRange(0, 31).Draw(t, "shift"))))
		if f != 0 {
			src = append(src, g.pred())
		}
		return asm(isa.OpLEA, isa.Mod{Flags: f}, ops(isa.R(0), isa.P(4)), src)
	}, func(m *isa.Mod, s *refState) {
		x := bigU(uint32(low(new(big.Int).Lsh(bigU(s.v[0]), uint(s.v[2])), 32)))
		refAddB(x, s)
	}},
	{"LEA.HI", 86, func(t *rapid.T, g *gen) isa.Inst {
		f := isa.ModHI | g.flag(isa.ModX)
		src := ops(g.reg(false), g.reg(true), g.reg(false), isa.I(uint32(rapid.IntRange(0, 31).Draw(t, "shift"))))
		if f&isa.ModX != 0 {
			src = append(src, g.pred())
		}
		return asm(isa.OpLEA, isa.Mod{Flags: f}, ops(isa.R(0), isa.P(4)), src)
	}, func(m *isa.Mod, s *refState) {
		x := new(big.Int).Lsh(bigU(s.v[2]), 32)
		x.Add(x, bigU(s.v[0])).Lsh(x, uint(s.v[3])).Rsh(x, 32)
		refAddB(bigU(uint32(low(x, 32))), s)
	}},
	{"IDP", 86, func(t *rapid.T, g *gen) isa.Inst {
		m := isa.Mod{Sub: rapid.SampledFrom([]isa.Sub{isa.Sub4A, isa.Sub2ALo, isa.Sub2AHi}).Draw(t, "sub"), Type: g.typ(isa.U8, isa.S8), BType: g.typ(isa.U8, isa.S8)}
		if m.Sub != isa.Sub4A {
			m.Type += isa.U16 - isa.U8
		}
		return asm(isa.OpIDP, m, ops(isa.R(0)), ops(g.reg(false), g.reg(false), g.reg(false)))
	}, func(m *isa.Mod, s *refState) {
		x := bigU(s.v[2])
		n, first, size := 4, 0, 8
		if m.Sub != isa.Sub4A {
			n, size = 2, 16
		}
		if m.Sub == isa.Sub2AHi {
			first = 2
		}
		for i := range n {
			x.Add(x, new(big.Int).Mul(part(s.v[0], i, size, isSigned(m.Type)), part(s.v[1], first+i, 8, isSigned(m.BType))))
		}
		s.result = []uint32{uint32(low(x, 32))}
	}},
	{"ISETP", 86, func(t *rapid.T, g *gen) isa.Inst {
		m := isa.Mod{Cmp: rapid.SampledFrom(cmps32).Draw(t, "cmp"), Type: g.typ(isa.S32, isa.U32), Bool: isa.BoolOp(rapid.IntRange(0, 2).Draw(t, "bool"))}
		return asm(isa.OpISETP, m, ops(isa.P(4), isa.P(5)), ops(g.reg(false), g.reg(false), g.pred()))
	}, func(m *isa.Mod, s *refState) {
		r := refCompare(m.Cmp, bigOf(s.v[0], isSigned(m.Type)), bigOf(s.v[1], isSigned(m.Type)))
		s.preds = []bool{refBool(m.Bool, r, s.p[0]), refBool(m.Bool, !r, s.p[0])}
	}},
	{"VIMNMX, VIMNMX3, VIADDMNMX", 90, func(t *rapid.T, g *gen) isa.Inst {
		op := rapid.SampledFrom([]isa.Op{isa.OpVIMNMX, isa.OpVIMNMX3, isa.OpVIADDMNMX}).Draw(t, "op")
		m := isa.Mod{Type: g.typ(isa.S32, isa.U32, isa.S16x2, isa.U16x2)}
		if isSigned(m.Type) {
			m.Flags = g.flag(isa.ModRelu)
		}
		src := ops(g.reg(false), g.reg(false))
		if op != isa.OpVIMNMX {
			src = append(src, g.reg(false))
		}
		m.Lut = uint8(op - isa.OpVIMNMX) // tells apply which
		return asm(op, m, ops(isa.R(0)), append(src, g.pred()))
	}, func(m *isa.Mod, s *refState) {
		n := 32
		if m.Type == isa.S16x2 || m.Type == isa.U16x2 {
			n = 16
		}
		sgn := isSigned(m.Type)
		pick := func(x, y *big.Int) *big.Int {
			if (x.Cmp(y) < 0) == s.p[0] {
				return x
			}
			return y
		}
		var r uint32
		for i := range 32 / n {
			x, y := part(s.v[0], i, n, sgn), part(s.v[1], i, n, sgn)
			switch m.Lut {
			case 0:
				x = pick(x, y)
			case 1:
				x = pick(pick(x, y), part(s.v[2], i, n, sgn))
			default:
				w := uint32(low(x.Add(x, y), uint(n)))
				x = pick(part(w, 0, n, sgn), part(s.v[2], i, n, sgn))
			}
			if m.Has(isa.ModRelu) && x.Sign() < 0 {
				x = new(big.Int)
			}
			r |= uint32(low(x, uint(n))) << uint(i*n)
		}
		s.result = []uint32{r}
	}},
	{"BFE", 61, func(t *rapid.T, g *gen) isa.Inst {
		return asm(isa.OpBFE, isa.Mod{Type: g.typ(isa.S32, isa.U32), Flags: g.flag(isa.ModBrev)}, ops(isa.R(0)), ops(g.reg(false), g.reg(false)))
	}, func(m *isa.Mod, s *refState) {
		a, pos, n := s.v[0], int(s.v[1]&255), int(s.v[1]>>8&255)
		if m.Has(isa.ModBrev) {
			a = fromBits(func(i int) bool { return bit1(s.v[0], 31-i) })
		}
		fill := isSigned(m.Type) && n > 0 && bit1(a, min(pos+n-1, 31))
		s.result = []uint32{fromBits(func(i int) bool {
			if i < n && pos+i <= 31 {
				return bit1(a, pos+i)
			}
			return fill
		})}
	}},
	{"BFI", 61, func(t *rapid.T, g *gen) isa.Inst {
		return asm(isa.OpBFI, isa.Mod{}, ops(isa.R(0)), ops(g.reg(false), g.reg(false), g.reg(false)))
	}, func(m *isa.Mod, s *refState) {
		pos, n := int(s.v[1]&255), int(s.v[1]>>8&255)
		s.result = []uint32{fromBits(func(i int) bool {
			if i >= pos && i < pos+n {
				return bit1(s.v[0], i-pos)
			}
			return bit1(s.v[2], i)
		})}
	}},
	{"SGXT", 86, func(t *rapid.T, g *gen) isa.Inst {
		return asm(isa.OpSGXT, isa.Mod{Type: g.typ(isa.S32, isa.U32), Flags: g.flag(isa.ModWrap)}, ops(isa.R(0)), ops(g.reg(false), g.reg(false)))
	}, func(m *isa.Mod, s *refState) {
		n := int64(s.v[1])
		if m.Has(isa.ModWrap) {
			n %= 32
		}
		s.result = []uint32{fromBits(func(i int) bool {
			if int64(i) < n {
				return bit1(s.v[0], i)
			}
			return isSigned(m.Type) && n > 0 && bit1(s.v[0], int(n-1))
		})}
	}},
	{"BMSK", 86, func(t *rapid.T, g *gen) isa.Inst {
		return asm(isa.OpBMSK, isa.Mod{Flags: g.flag(isa.ModWrap)}, ops(isa.R(0)), ops(g.reg(false), g.reg(false)))
	}, func(m *isa.Mod, s *refState) {
		pos, n := int64(s.v[0]), int64(s.v[1])
		if m.Has(isa.ModWrap) {
			pos, n = pos%32, n%32
		}
		s.result = []uint32{fromBits(func(i int) bool { return int64(i) >= pos && int64(i) < pos+n })}
	}},
	{"FLO, POPC, BREV, IABS", 86, func(t *rapid.T, g *gen) isa.Inst {
		op := rapid.SampledFrom([]isa.Op{isa.OpFLO, isa.OpPOPC, isa.OpBREV, isa.OpIABS}).Draw(t, "op")
		m := isa.Mod{Lut: uint8(op & 0xff)}
		if op == isa.OpFLO {
			m.Type, m.Flags = g.typ(isa.S32, isa.U32), g.flag(isa.ModSH)
		}
		return asm(op, m, ops(isa.R(0)), ops(g.reg(false)))
	}, func(m *isa.Mod, s *refState) {
		a := s.v[0]
		var r uint32
		switch isa.Op(m.Lut) {
		case isa.OpFLO & 0xff:
			r = 0xffffffff
			sign := isSigned(m.Type) && bit1(a, 31)
			for i := range 32 {
				if bit1(a, i) != sign {
					r = uint32(i)
					if m.Has(isa.ModSH) {
						r = uint32(31 - i)
					}
				}
			}
		case isa.OpPOPC & 0xff:
			for i := range 32 {
				r += uint32(boolInt(bit1(a, i)))
			}
		case isa.OpBREV & 0xff:
			r = fromBits(func(i int) bool { return bit1(a, 31-i) })
		default:
			r = uint32(low(new(big.Int).Abs(bigS(a)), 32))
		}
		s.result = []uint32{r}
	}},
	{"VABSDIFF4", 86, func(t *rapid.T, g *gen) isa.Inst {
		return asm(isa.OpVABSDIFF4, isa.Mod{Type: g.typ(isa.U8, isa.S8), Flags: g.flag(isa.ModAcc)}, ops(isa.R(0)), ops(g.reg(false), g.reg(false), g.reg(false)))
	}, func(m *isa.Mod, s *refState) {
		sum := bigU(s.v[2])
		var lanes uint32
		for i := range 4 {
			d := part(s.v[0], i, 8, isSigned(m.Type))
			d.Sub(d, part(s.v[1], i, 8, isSigned(m.Type))).Abs(d)
			sum.Add(sum, d)
			lanes |= uint32(low(d, 8)) << uint(8*i)
		}
		s.result = []uint32{lanes}
		if m.Has(isa.ModAcc) {
			s.result[0] = uint32(low(sum, 32))
		}
	}},
	{"XMAD", 61, func(t *rapid.T, g *gen) isa.Inst {
		m := isa.Mod{Type: g.typ(isa.U16, isa.S16), BType: g.typ(isa.U16, isa.S16), Flags: g.flag(isa.ModPSL) | g.flag(isa.ModMRG),
			Sub: rapid.SampledFrom([]isa.Sub{isa.SubNone, isa.SubCBCC, isa.SubCHI, isa.SubCLO}).Draw(t, "c")}
		a, b := isa.R(isa.Reg(rapid.IntRange(1, 12).Draw(t, "a"))), isa.R(isa.Reg(rapid.IntRange(1, 12).Draw(t, "b")))
		if rapid.Bool().Draw(t, "a.H1") {
			a.Flags |= isa.SelH1
			m.Lut |= 1
		}
		if rapid.Bool().Draw(t, "b.H1") {
			b.Flags |= isa.SelH1
			m.Lut |= 2
		}
		return asm(isa.OpXMAD, m, ops(isa.R(0)), ops(a, b, g.reg(false)))
	}, func(m *isa.Mod, s *refState) {
		x := new(big.Int).Mul(part(s.v[0], int(m.Lut&1), 16, isSigned(m.Type)), part(s.v[1], int(m.Lut>>1), 16, isSigned(m.BType)))
		if m.Has(isa.ModPSL) {
			x.Lsh(x, 16)
		}
		switch m.Sub {
		case isa.SubCBCC:
			x.Add(x, bigU(s.v[2])).Add(x, new(big.Int).Lsh(bigU(s.v[1]), 16))
		case isa.SubCHI:
			x.Add(x, part(s.v[2], 1, 16, false))
		case isa.SubCLO:
			x.Add(x, part(s.v[2], 0, 16, false))
		default:
			x.Add(x, bigU(s.v[2]))
		}
		r := uint32(low(x, 32))
		if m.Has(isa.ModMRG) {
			r = uint32(low(big.NewInt(int64(r)), 16) + low(bigU(s.v[1]), 16)<<16)
		}
		s.result = []uint32{r}
	}},
}
