package isa_test

import (
	"math/big"
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"github.com/sarchlab/smsim/isa"
)

func refAddB(x *big.Int, s *refState) {
	x.Add(x, bigU(s.v[1])).Add(x, big.NewInt(boolInt(s.neg[1])))
	if len(s.p) > 0 {
		x.Add(x, big.NewInt(boolInt(s.p[0])))
	}
	s.result = []uint32{uint32(low(x, 32))}
	s.preds = []bool{x.BitLen() > 32}
}

func refLOP3(m *isa.Mod, s *refState) {
	r := fromBits(func(i int) bool {
		return m.Lut>>uint(4*boolInt(bit1(s.v[0], i))+2*boolInt(bit1(s.v[1], i))+boolInt(bit1(s.v[2], i)))&1 != 0
	})
	s.result = []uint32{r}
	s.preds = []bool{r != 0}
}

func refPRMT(m *isa.Mod, s *refState) {
	b := func(i int) uint32 { // byte i of {c, a}
		v := s.v[0]
		if i >= 4 {
			v = s.v[2]
		}
		return v >> uint(8*(i%4)) & 255
	}
	k := int(s.v[1] & 3)
	var r uint32
	for i := range 4 {
		var v uint32
		switch m.Sub {
		case isa.SubF4E:
			v = b(k + i)
		case isa.SubB4E:
			v = b((k - i + 8) % 8)
		case isa.SubRC8:
			v = b(k)
		case isa.SubECL:
			v = b(max(i, k))
		case isa.SubECR:
			v = b(min(i, k))
		case isa.SubRC16:
			v = b(k&1*2 + i&1)
		default:
			sel := s.v[1] >> uint(4*i) & 15
			v = b(int(sel & 7))
			if sel&8 != 0 {
				v = uint32(boolInt(v >= 128)) * 255
			}
		}
		r |= v << uint(8*i)
	}
	s.result = []uint32{r}
}

// TestNoDiff is the comparison.
func TestNoDiff(t *testing.T) {
	for _, c := range refCases {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { noDiff(t, c) })
		})
	}
}

func noDiff(t *rapid.T, c refCase) {
	in := c.draw(t, &gen{t})
	in.Guard = isa.P(6)
	exec := rapid.SampledFrom([]uint32{^uint32(0), ^uint32(0), 1, 0x80000000, 0x0ff0f00f, 0}).Draw(t, "exec")
	tg := isa.NewTarget(c.sm)
	p := &isa.Program{Name: "k", SM: c.sm, Insts: []isa.Inst{in, asm(isa.OpEXIT, isa.Mod{}, nil, nil)}, ParamBase: tg.ParamBase, Regs: 24}
	k, err := isa.Bind(p, tg, &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 32, Y: 1, Z: 1}})
	if err != nil {
		t.Fatal(err)
	}
	w := k.NewBlock(0).Warps[0]
	// A few drawn words, rotated over lanes and registers, give every lane different operands.
	var words [12]uint32
	for i := range words {
		words[i] = word(t)
	}
	for l := range 32 {
		for r := range 13 {
			w.SetReg(isa.Reg(r), l, bits.RotateLeft32(words[(r+l)%12], l/12))
		}
		w.SetReg(20, l, 0xdead0000+uint32(l))
		w.SetReg(21, l, 0xbeef0000+uint32(l))
	}
	for q := isa.Reg(1); q <= 5; q++ {
		w.SetPred(q, rapid.Uint32().Draw(t, "predicate"))
	}
	w.SetPred(6, exec)
	var want [32]refState
	var before [32][3]uint32
	var beforeP [2]uint32
	beforeP[0], beforeP[1] = w.Pred(4), w.Pred(5)
	for l := range 32 {
		before[l] = [3]uint32{w.Reg(0, l), w.Reg(20, l), w.Reg(21, l)}
		s := &want[l]
		for i := range in.NSrc {
			o := in.Src[i]
			switch o.Kind {
			case isa.KindPred:
				v := w.Pred(o.Reg)>>uint(l)&1 != 0
				s.p = append(s.p, v != o.Is(isa.Neg))
				continue
			case isa.KindImm:
				s.v, s.hi = append(s.v, uint32(o.Imm)), append(s.hi, 0)
			default:
				v := w.Reg(o.Reg, l)
				if o.Flags&(isa.Inv|isa.Neg) != 0 {
					v = ^v
				}
				s.v = append(s.v, v)
				if o.Reg == isa.RZ {
					s.hi = append(s.hi, 0)
				} else {
					s.hi = append(s.hi, w.Reg(o.Reg+1, l))
				}
			}
			s.neg = append(s.neg, o.Is(isa.Neg))
		}
		c.apply(&in.Mod, s)
	}
	var e isa.Effect
	if err := w.Step(&e); err != nil {
		t.Fatal(err)
	}
	for l := range 32 {
		s := &want[l]
		on := exec>>uint(l)&1 != 0
		if !on { // nothing changes
			if got := [3]uint32{w.Reg(0, l), w.Reg(20, l), w.Reg(21, l)}; got != before[l] {
				t.Fatalf("%s: lane %d is off but its registers changed from %x to %x", in.String(), l, before[l], got)
			}
		}
		for i, v := range s.result {
			if got := w.Reg(in.Dst[0].Reg+isa.Reg(i), l); on && got != v {
				t.Fatalf("%s: lane %d: result word %d is %#x, reference %#x (sources %#x, predicates %v)", in.String(), l, i, got, v, s.v, s.p)
			}
		}
		for i, v := range s.preds {
			if !on {
				v = beforeP[i]>>uint(l)&1 != 0
			}
			if reg := isa.Reg(4 + i); hasPred(&in, reg) && w.Pred(reg)>>uint(l)&1 != 0 != v {
				t.Fatalf("%s: lane %d: P%d is %v, reference %v (sources %#x, predicates %v)", in.String(), l, reg, !v, v, s.v, s.p)
			}
		}
	}
}

func hasPred(in *isa.Inst, r isa.Reg) bool {
	for i := range in.NDst {
		if o := &in.Dst[i]; o.Kind == isa.KindPred && o.Reg == r {
			return true
		}
	}
	return false
}

// TestMulHiSequence runs the sequence that compilers emit for mul.hi.s32 on Maxwell and Pascal on all pairs of edge values.
func TestMulHiSequence(t *testing.T) {
	p := assemble(t, 61, `
		XMAD R3, R1, R2, RZ
		XMAD.U16.S16 R4, R1, R2.H1, RZ
		XMAD.S16.S16.CSFU R5, R1.H1, R2.H1, RZ
		XMAD.S16.U16.CHI R3, R1.H1, R2, R3
		IADD3.RS R0, R3, R4, R5
		EXIT`)
	edges := []uint32{0, 1, 2, 0xffff, 0x10000, 0x10001, 0x7fff0000, 0x7fffffff, 0x80000000, 0x80000001, 0x8000ffff, 0xffff0000, 0xffff0001, 0xfffffffe, 0xffffffff, 0x12345678, 0x9abcdef0}
	k, _ := start(t, p, 32, nil, nil)
	var e isa.Effect
	for _, a := range edges {
		b := k.NewBlock(0)
		w := b.Warps[0]
		for l, v := range edges {
			w.SetReg(1, l, a)
			w.SetReg(2, l, v)
		}
		for range 5 {
			if err := w.Step(&e); err != nil {
				t.Fatal(err)
			}
		}
		for l, v := range edges {
			if want := uint32(int64(int32(a)) * int64(int32(v)) >> 32); w.Reg(0, l) != want {
				t.Errorf("hi(%#x * %#x) = %#x, want %#x", a, v, w.Reg(0, l), want)
			}
		}
		k.Recycle(b)
	}
}
