package isa_test

import (
	"encoding/binary"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// benchCase is one instruction whose cost a warp-instruction is measured.
type benchCase struct {
	name string
	sm   int
	in   isa.Inst
}

func benchCases() []benchCase {
	r := isa.R
	wide := isa.Mod{Flags: isa.ModWide, Type: isa.U32}
	return []benchCase{
		{"IADD3", 86, asm(isa.OpIADD3, isa.Mod{}, ops(r(0)), ops(r(1), r(2), r(3)))},
		{"IADD3_neg", 86, asm(isa.OpIADD3, isa.Mod{}, ops(r(0)), ops(r(1), r(2).Negated(), r(3)))},
		{"IADD3_carry", 86, asm(isa.OpIADD3, isa.Mod{}, ops(r(0), isa.P(0)), ops(r(1), r(2), r(3)))},
		{"IADD3.X", 86, asm(isa.OpIADD3, isa.Mod{Flags: isa.ModX}, ops(r(0)), ops(r(1), r(2), r(3), isa.P(0)))},
		{"LOP3_xor", 86, asm(isa.OpLOP3, isa.Mod{Lut: 0x3c}, ops(r(0)), ops(r(1), r(2), r(3)))},
		{"LOP3_any", 86, asm(isa.OpLOP3, isa.Mod{Lut: 0x1d}, ops(r(0)), ops(r(1), r(2), r(3)))},
		{"IMAD", 86, asm(isa.OpIMAD, isa.Mod{}, ops(r(0)), ops(r(1), r(2), r(3)))},
		{"IMAD.WIDE", 86, asm(isa.OpIMAD, wide, ops(r(4)), ops(r(1), r(2), r(2)))},
		{"IMAD.HI", 86, asm(isa.OpIMAD, isa.Mod{Flags: isa.ModHI, Type: isa.U32}, ops(r(0)), ops(r(1), r(2), isa.R(isa.RZ)))},
		{"XMAD", 61, asm(isa.OpXMAD, isa.Mod{}, ops(r(0)), ops(r(1), r(2), r(3)))},
		{"IDP.4A", 86, asm(isa.OpIDP, isa.Mod{Sub: isa.Sub4A, Type: isa.U8, BType: isa.U8}, ops(r(0)), ops(r(1), r(2), r(3)))},
		{"IDP.4A.S8", 86, asm(isa.OpIDP, isa.Mod{Sub: isa.Sub4A, Type: isa.S8, BType: isa.S8}, ops(r(0)), ops(r(1), r(2), r(3)))},
		{"SHF_imm", 86, asm(isa.OpSHF, isa.Mod{Flags: isa.ModLeft, Type: isa.U32}, ops(r(0)), ops(r(1), isa.I(7), r(isa.RZ)))},
		{"SHF_funnel", 86, asm(isa.OpSHF, isa.Mod{Flags: isa.ModLeft | isa.ModHI, Type: isa.U32}, ops(r(0)), ops(r(1), isa.I(7), r(2)))},
		{"SHF_var", 86, asm(isa.OpSHF, isa.Mod{Flags: isa.ModRight, Type: isa.U32}, ops(r(0)), ops(r(1), r(2), r(3)))},
		{"PRMT", 86, asm(isa.OpPRMT, isa.Mod{}, ops(r(0)), ops(r(1), isa.I(0x5410), r(3)))},
		{"SEL", 86, asm(isa.OpSEL, isa.Mod{}, ops(r(0)), ops(r(1), r(2), isa.P(0)))},
		{"ISETP", 86, asm(isa.OpISETP, isa.Mod{Cmp: isa.CmpLT}, ops(isa.P(0), isa.P(7)), ops(r(1), r(2), isa.P(7)))},
		{"IMNMX", 86, asm(isa.OpIMNMX, isa.Mod{}, ops(r(0)), ops(r(1), r(2), isa.P(7)))},
		{"VIMNMX3", 90, asm(isa.OpVIMNMX3, isa.Mod{}, ops(r(0)), ops(r(1), r(2), r(3), isa.P(7)))},
		{"VIADDMNMX", 90, asm(isa.OpVIADDMNMX, isa.Mod{}, ops(r(0)), ops(r(1), r(2), r(3), isa.P(7)))},
		{"VIMNMX.S16x2", 90, asm(isa.OpVIMNMX, isa.Mod{Type: isa.S16x2}, ops(r(0)), ops(r(1), r(2), isa.P(7)))},
		{"LEA", 86, asm(isa.OpLEA, isa.Mod{}, ops(r(0)), ops(r(1), r(2), isa.I(2)))},
		{"POPC", 86, asm(isa.OpPOPC, isa.Mod{}, ops(r(0)), ops(r(1)))},
		{"FLO", 86, asm(isa.OpFLO, isa.Mod{Type: isa.U32}, ops(r(0)), ops(r(1)))},
		{"VABSDIFF4.ACC", 86, asm(isa.OpVABSDIFF4, isa.Mod{Type: isa.U8, Flags: isa.ModAcc}, ops(r(0)), ops(r(1), r(2), r(3)))},
		{"MOV_const", 86, asm(isa.OpMOV, isa.Mod{}, ops(r(0)), ops(isa.C(0, 0)))},
		{"FADD", 86, asm(isa.OpFADD, isa.Mod{}, ops(r(0)), ops(r(1), r(2)))},
		{"FFMA", 86, asm(isa.OpFFMA, isa.Mod{}, ops(r(0)), ops(r(1), r(2), r(3)))},
		{"MUFU.RCP", 86, asm(isa.OpMUFU, isa.Mod{Sub: isa.SubRcp}, ops(r(0)), ops(r(1)))},
		{"SHFL", 86, asm(isa.OpSHFL, isa.Mod{Sub: isa.SubBfly}, ops(isa.P(7), r(0)), ops(r(1), isa.I(1), isa.I(0x1f)))},
		{"UIADD3", 86, asm(isa.OpUIADD3, isa.Mod{}, ops(isa.UR(0)), ops(isa.UR(1), isa.UR(2), isa.UR(3)))},
		{"S2R", 86, asm(isa.OpS2R, isa.Mod{}, ops(r(0)), ops(isa.SR(isa.SRTidX)))},
		{"LDS", 86, asm(isa.OpLDS, isa.Mod{Size: 4}, ops(r(0)), ops(isa.Mem(8, 16, false)))},
		{"STS", 86, asm(isa.OpSTS, isa.Mod{Size: 4}, nil, ops(isa.Mem(8, 16, false), r(0)))},
		{"LDG", 86, asm(isa.OpLDG, isa.Mod{Size: 4, Flags: isa.ModE64}, ops(r(0)), ops(isa.Mem(10, 16, true)))},
		{"LDG.128", 86, asm(isa.OpLDG, isa.Mod{Size: 16, Flags: isa.ModE64}, ops(r(12)), ops(isa.Mem(10, 0, true)))},
		{"STG", 86, asm(isa.OpSTG, isa.Mod{Size: 4, Flags: isa.ModE64}, nil, ops(isa.Mem(10, 16, true), r(0)))},
		{"ATOMS.ADD", 86, asm(isa.OpATOMS, isa.Mod{Sub: isa.SubAdd}, ops(r(0)), ops(isa.Mem(8, 0, false), r(1)))},
		{"LDC", 86, asm(isa.OpLDC, isa.Mod{Size: 4}, ops(r(0)), ops(isa.C(0, 0)))},
		{"BSSY", 86, asm(isa.OpBSSY, isa.Mod{}, nil, ops(isa.B(0), isa.Label(0)))},
		{"NOP", 86, asm(isa.OpNOP, isa.Mod{}, nil, nil)},
	}
}

// benchWarp is a warp that runs the instruction in an endless loop of 63 copies and a branch.
func benchWarp(b testing.TB, c benchCase, threads uint32) (*isa.Warp, *isa.Memory) {
	tg := isa.NewTarget(c.sm)
	var insts []isa.Inst
	for range 63 {
		insts = append(insts, c.in)
	}
	insts = append(insts, asm(isa.OpBRA, isa.Mod{}, nil, ops(isa.Label(0))))
	p := program(c.sm, insts...)
	p.Regs, p.SharedBytes = 20, 4096
	mem := isa.NewMemory()
	buf := mem.Alloc("buf", 4096)
	k, err := isa.Bind(p, tg, &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: threads, Y: 1, Z: 1},
		Params: binary.LittleEndian.AppendUint64(nil, buf.Addr), Mem: mem})
	if err != nil {
		b.Fatal(err)
	}
	w := k.NewBlock(0).Warps[0]
	for l := range 32 {
		for r := isa.Reg(0); r < 8; r++ {
			w.SetReg(r, l, uint32(l*77+int(r)*131))
		}
		w.SetReg(8, l, uint32(4*l))
		w.SetReg(10, l, uint32(buf.Addr)+uint32(16*l))
		w.SetReg(11, l, uint32(buf.Addr>>32))
	}
	return w, mem
}

// BenchmarkStep measures one warp-instruction of 32 lanes.
func BenchmarkStep(b *testing.B) {
	for _, c := range benchCases() {
		b.Run(c.name, func(b *testing.B) {
			w, _ := benchWarp(b, c, 32)
			var e isa.Effect
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if err := w.Step(&e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPartial measures the same with 20 of 32 lanes active.
func BenchmarkPartial(b *testing.B) {
	for _, c := range benchCases() {
		if c.name != "IADD3" && c.name != "IMAD.WIDE" && c.name != "LDG" {
			continue
		}
		b.Run(c.name, func(b *testing.B) {
			w, _ := benchWarp(b, c, 20)
			var e isa.Effect
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if err := w.Step(&e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestStepAllocatesNothing is the steady-state rule: no opcode allocates a byte per instruction.
func TestStepAllocatesNothing(t *testing.T) {
	for _, c := range benchCases() {
		w, _ := benchWarp(t, c, 32)
		var e isa.Effect
		n := testing.AllocsPerRun(200, func() {
			if err := w.Step(&e); err != nil {
				t.Fatal(c.name, err)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations per instruction", c.name, n)
		}
	}
}
