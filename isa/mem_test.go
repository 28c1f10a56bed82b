package isa_test

import (
	"encoding/binary"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// memCase is a program for one warp on a buffer of 256 bytes whose byte i is i (parameter 0), and what R0 is at the end in every lane.
type memCase struct {
	name string
	sm   int
	text string
	want func(lane uint32) uint32
}

const address86 = "S2R R1, SR_TID.X\nIMAD.WIDE.U32 R2, R1, 0x4, c[0x0][0x160]\n"

func word4(i uint32) uint32 { return (i & 255) | (i+1)&255<<8 | (i+2)&255<<16 | (i+3)&255<<24 }

func TestMemory(t *testing.T) {
	for _, c := range []memCase{
		{"word", 86, address86 + "LDG.E R0, [R2.64]", func(l uint32) uint32 { return word4(4 * l) }},
		{"unsigned byte", 86, address86 + "LDG.E.U8 R0, [R2.64+0x80]", func(l uint32) uint32 { return (128 + 4*l) & 255 }},
		{"signed byte", 86, "S2R R1, SR_TID.X\nIADD3 R2, P0, R1, c[0x0][0x160], RZ\nIADD3.X R3, RZ, c[0x0][0x164], RZ, P0, !PT\nLDG.E.S8 R0, [R2.64+0x70]",
			func(l uint32) uint32 { return uint32(int32(int8(0x70 + l))) }},
		{"signed half", 86, address86 + "LDG.E.S16 R0, [R2.64+0x2]", func(l uint32) uint32 { return uint32(int32(int16(word4(4*l + 2)))) }},
		{"128 bits", 86, "S2R R1, SR_TID.X\nLOP3.LUT R1, R1, 0x7, RZ, 0xc0, !PT\nIMAD.WIDE.U32 R2, R1, 0x10, c[0x0][0x160]\nLDG.E.128 R4, [R2.64]\nIADD3 R0, R4, R5, R6\nIADD3 R0, R0, R7, RZ",
			func(l uint32) uint32 {
				b := 16 * (l & 7)
				return word4(b) + word4(b+4) + word4(b+8) + word4(b+12)
			}},
		{"64-bit store and load through shared memory", 86, "S2R R1, SR_TID.X\nSHF.L.U32 R2, R1, 0x3, RZ\nMOV R4, R1\nIADD3 R5, R1, 0x64, RZ\nSTS.64 [R2], R4\nLDS.64 R6, [R2]\nIMAD R0, R7, 0x3e8, R6",
			func(l uint32) uint32 { return 1000*(l+100) + l }},
		{"scaled shared address", 86, "S2R R1, SR_TID.X\nSTS [R1.X4+0x10], R1\nSHF.L.U32 R2, R1, 0x2, RZ\nLDS R0, [R2+0x10]", func(l uint32) uint32 { return l }},
		{"uniform base", 86, "S2R R1, SR_TID.X\nSHF.L.U32 R1, R1, 0x2, RZ\nULDC.64 UR4, c[0x0][0x160]\nMOV R3, RZ\nMOV R2, R1\nLDG.E R0, [R2.64+UR4]", func(l uint32) uint32 { return word4(4 * l) }},
		{"local memory is private", 86, "S2R R1, SR_TID.X\nSTL [RZ], R1\nLDL R0, [RZ]", func(l uint32) uint32 { return l }},
		{"generic address of shared memory", 86, "S2R R1, SR_TID.X\nSHF.L.U32 R2, R1, 0x2, RZ\nSTS [R2], R1\nS2R R3, SR_SWINHI\nLD.E R0, [R2.64]", func(l uint32) uint32 { return l }},
		{"generic address of local memory", 86, "S2R R1, SR_TID.X\nSTL [0x8], R1\nMOV R2, 0x8\nS2R R3, SR_LWINHI\nLD.E R0, [R2.64]", func(l uint32) uint32 { return l }},
		{"generic addresses of two spaces in one instruction", 86, address86 + `SHF.L.U32 R4, R1, 0x2, RZ
			STS [R4], R1
			ISETP.GE.AND P0, PT, R1, 0x10, PT
			@P0 MOV R2, R4
			@P0 S2R R3, SR_SWINHI
			LD.E R0, [R2.64]`, func(l uint32) uint32 {
			if l >= 16 {
				return l
			}
			return word4(4 * l)
		}},
		{"32-bit generic address", 61, "S2R R1, SR_TID.X\nSHL R2, R1, 0x2\nSTS [R2], R1\nS2R R3, SR_SWINLO\nIADD R2, R2, R3\nLD R0, [R2]", func(l uint32) uint32 { return l }},
		{"copy to shared memory", 86, address86 + "SHF.L.U32 R4, R1, 0x2, RZ\nLDGSTS.E [R4+0x40], [R2.64]\nLDGDEPBAR\nDEPBAR 0x0\nLDS R0, [R4+0x40]", func(l uint32) uint32 { return word4(4 * l) }},
		{"copy to shared memory, zero fill", 86, address86 + "SHF.L.U32 R4, R1, 0x2, RZ\nSTS [R4+0x40], R1\nISETP.LT.AND P0, PT, R1, 0x8, PT\nLDGSTS.E [R4+0x40], [R2.64], P0\nLDS R0, [R4+0x40]",
			func(l uint32) uint32 {
				if l < 8 {
					return word4(4 * l)
				}
				return 0
			}},
		{"indexed constant", 86, "S2R R1, SR_TID.X\nLOP3.LUT R1, R1, 0x1, RZ, 0xc0, !PT\nSHF.L.U32 R1, R1, 0x2, RZ\nLDC R0, c[0x0][R1]", func(l uint32) uint32 { return 32 - 31*(l&1) }},
		{"fixed constant", 86, "LDC.64 R4, c[0x0][0x0]\nIMAD R0, R5, 0x64, R4", func(uint32) uint32 { return 132 }},
		// Atomics: lanes in ascending order on one word.
		{"add returns the old value", 86, "MOV R3, 0x2\nATOMS.ADD R0, [RZ], R3", func(l uint32) uint32 { return 2 * l }},
		{"minimum signed", 86, "S2R R1, SR_TID.X\nIADD3 R1, -R1, 0x10, RZ\nATOMS.MIN.S32 R2, [RZ], R1\nLDS R0, [RZ]", func(uint32) uint32 { return uint32(0xfffffff1) }},
		{"maximum unsigned", 86, "S2R R1, SR_TID.X\nIADD3 R1, -R1, 0x10, RZ\nATOMS.MAX R2, [RZ], R1\nLDS R0, [RZ]", func(uint32) uint32 { return 0xffffffff }},
		{"increment wraps", 86, "MOV R3, 0x4\nATOMS.INC R0, [RZ], R3", func(l uint32) uint32 { return l % 5 }},
		{"decrement wraps", 86, "MOV R3, 0x4\nATOMS.DEC R0, [RZ], R3", func(l uint32) uint32 { return (5 - l%5) % 5 }},
		{"exchange", 86, "S2R R1, SR_TID.X\nATOMS.EXCH R0, [RZ], R1", func(l uint32) uint32 { return max(l, 1) - 1 }},
		{"or, and, xor", 86, "S2R R1, SR_TID.X\nMOV R2, 0x1\nSHF.L.U32 R2, R2, R1, RZ\nATOMS.OR R3, [RZ], R2\nATOMS.AND R3, [RZ], R2\nATOMS.XOR R3, [RZ], R2\nLDS R0, [RZ]",
			func(uint32) uint32 { return 0xffffffff }},
		{"compare and swap", 86, "S2R R1, SR_TID.X\nIADD3 R2, R1, 0x1, RZ\nATOMS.CAS R3, [RZ], R1, R2\nLDS R0, [RZ]", func(uint32) uint32 { return 32 }},
		{"try of 4 bytes: one lane of each bank", 86, "S2R R1, SR_TID.X\nLOP3.LUT R1, R1, 0x1c, RZ, 0xc0, !PT\nSHF.L.U32 R1, R1, 0x5, RZ\nMOV R2, 0x1\nATOMS.CAST.SPIN R0, [R1], RZ, R2", func(l uint32) uint32 { return 1 - min(l, 1) }},
		{"try of 8 bytes: one lane of each bank and half", 86, "S2R R1, SR_TID.X\nLOP3.LUT R1, R1, 0x1c, RZ, 0xc0, !PT\nSHF.L.U32 R1, R1, 0x5, RZ\nMOV R2, 0x1\nATOMS.CAST.SPIN.64 R4, [R1], R6, R2\nMOV R0, R4", func(l uint32) uint32 { return 1 - min(l%16, 1) }},
		{"compare and swap, one tuple", 61, "S2R R2, SR_TID.X\nIADD R3, R2, 0x1\nATOMS.CAS R4, [RZ], R2\nLDS R0, [RZ]", func(uint32) uint32 { return 32 }},
		{"64-bit global add", 86, "MOV R2, c[0x0][0x160]\nMOV R3, c[0x0][0x164]\nMOV R4, -0x1\nMOV R5, RZ\nATOMG.E.ADD.64 PT, R6, [R2.64], R4\nLDG.E R0, [R2.64+0x4]", func(uint32) uint32 { return 0x07060504 + 32 }},
		{"reduction", 86, "MOV R2, c[0x0][0x160]\nMOV R3, c[0x0][0x164]\nMOV R4, 0x1\nRED.E.ADD [R2.64], R4\nLDG.E R0, [R2.64]", func(uint32) uint32 { return 0x03020100 + 32 }},
		{"float add", 86, "MOV R3, 0x3f800000\nATOMS.ADD.F32 R2, [RZ], R3\nLDS R0, [RZ]", func(uint32) uint32 { return 0x42000000 }},
		{"count of lanes at an address", 86, "ATOMS.POPC.INC.32 RZ, [RZ]\nLDS R0, [RZ]", func(uint32) uint32 { return 32 }},
		// Cross-lane.
		{"shuffle up leaves the first lanes", 86, "S2R R1, SR_TID.X\nSHFL.UP P0, R0, R1, 0x2, RZ\n@!P0 MOV R0, 0x63", func(l uint32) uint32 {
			if l < 2 {
				return 99
			}
			return l - 2
		}},
		{"shuffle in segments of 8", 86, "S2R R1, SR_TID.X\nSHFL.IDX PT, R0, R1, 0x3, 0x181f", func(l uint32) uint32 { return l&^7 | 3 }},
		{"shuffle down, clamped segment", 86, "S2R R1, SR_TID.X\nSHFL.DOWN P0, R0, R1, 0x1, 0x1c03\n@!P0 MOV R0, 0x63", func(l uint32) uint32 {
			if l&3 == 3 {
				return 99
			}
			return l + 1
		}},
		{"shuffle butterfly", 86, "S2R R1, SR_TID.X\nSHFL.BFLY PT, R0, R1, 0x10, 0x1f", func(l uint32) uint32 { return l ^ 16 }},
		{"vote", 86, "S2R R1, SR_TID.X\nISETP.LT.AND P1, PT, R1, 0x5, PT\nVOTE.ALL R0, P0, P1\n@P0 MOV R0, RZ", func(uint32) uint32 { return 31 }},
		{"uniform vote", 86, "S2R R1, SR_TID.X\nISETP.LT.AND P1, PT, R1, 0x5, PT\nVOTEU.ANY UR4, UP0, P1\nMOV R0, UR4", func(uint32) uint32 { return 31 }},
		{"match any", 86, "S2R R1, SR_TID.X\nLOP3.LUT R1, R1, 0x3, RZ, 0xc0, !PT\nMATCH.ANY R0, R1", func(l uint32) uint32 { return 0x11111111 << (l & 3) }},
		{"match all", 86, "S2R R1, SR_TID.X\nMATCH.ALL P0, R0, R1\n@!P0 IADD3 R0, R0, 0x7, RZ", func(uint32) uint32 { return 7 }},
		{"reduction over the warp", 86, "S2R R1, SR_TID.X\nREDUX.SUM.S32 UR4, R1\nREDUX.MAX.S32 UR5, R1\nMOV R0, UR4\nIMAD R0, R0, 0x64, RZ\nIADD3 R0, R0, UR5, RZ", func(uint32) uint32 { return 49600 + 31 }},
		{"masks of lanes", 86, "S2R R0, SR_LTMASK\nS2R R1, SR_GEMASK\nLOP3.LUT R0, R0, R1, RZ, 0x3c, !PT", func(uint32) uint32 { return 0xffffffff }},
		{"elected lane", 90, "S2R R1, SR_TID.X\nISETP.GE.AND P1, PT, R1, 0x3, PT\nMOV R0, RZ\n@P1 ELECT P0, UR4\n@P0 MOV R0, 0x1", func(l uint32) uint32 {
			if l == 3 {
				return 1
			}
			return 0
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := isa.NewMemory()
			buf := mem.Alloc("data", 256)
			for i := range buf.Data {
				buf.Data[i] = byte(i)
			}
			p := assemble(t, c.sm, c.text+"\nEXIT")
			p.Regs = 32
			if err := p.Check(isa.NewTarget(c.sm)); err != nil {
				t.Fatal(err)
			}
			_, b := start(t, p, 32, mem, binary.LittleEndian.AppendUint64(nil, buf.Addr))
			if err := run(b); err != nil {
				t.Fatal(err)
			}
			for l := range uint32(32) {
				if got, want := b.Warps[0].Reg(0, int(l)), c.want(l); got != want {
					t.Errorf("lane %d: %#x, want %#x", l, got, want)
				}
			}
		})
	}
}

// TestGlobals places module variables once for a memory, with addresses inside their initial values, and hands their addresses to the
// program through constant slots.
func TestGlobals(t *testing.T) {
	p := assemble(t, 86, "MOV R2, c[0x4][0x8]\nMOV R3, c[0x4][0xc]\nLDG.E.64 R4, [R2.64]\nLDG.E R0, [R4.64+0x4]\nIADD3 R1, R0, 0x1, RZ\nSTG.E [R4.64+0x4], R1\nEXIT")
	p.Globals = []isa.Global{
		{Name: "table", Bytes: 8, Align: 8, Init: []byte{1, 0, 0, 0, 42, 0, 0, 0}},
		{Name: "ptr", Bytes: 8, Align: 8, ConstBank: 4, ConstOff: 8, Relocs: []isa.Reloc{{Offset: 0, Symbol: "table"}}},
	}
	mem := isa.NewMemory()
	for want := uint32(42); want < 44; want++ { // the second bind of the same memory sees the first run's store
		_, b := start(t, p, 1, mem, nil)
		if err := run(b); err != nil {
			t.Fatal(err)
		}
		if got := b.Warps[0].Reg(0, 0); got != want {
			t.Errorf("value %d, want %d", got, want)
		}
	}
	if n := len(mem.Buffers()); n != 2 {
		t.Errorf("%d allocations, want 2", n)
	}
}

// TestEffect checks what a timing model reads of a memory instruction.
func TestEffect(t *testing.T) {
	mem := isa.NewMemory()
	buf := mem.Alloc("data", 256)
	p := assemble(t, 86, "S2R R1, SR_TID.X\nIMAD.WIDE.U32 R2, R1, 0x8, c[0x0][0x160]\nISETP.LT.AND P0, PT, R1, 0x4, PT\n@P0 STG.E.64 [R2.64], R2\nBRA next\nnext: EXIT")
	_, b := start(t, p, 32, mem, binary.LittleEndian.AppendUint64(nil, buf.Addr))
	w := b.Warps[0]
	var e isa.Effect
	step := func() {
		if err := w.Step(&e); err != nil {
			t.Fatal(err)
		}
	}
	step()
	step()
	if !e.HasConst || e.ConstBank != 0 || e.ConstAddr != 0x160 {
		t.Errorf("constant operand: %v c[%d][%#x]", e.HasConst, e.ConstBank, e.ConstAddr)
	}
	step()
	step()
	if e.Space != isa.SpaceGlobal || !e.Store || e.Load || e.Size != 8 || e.Exec != 0xf || e.Active != ^uint32(0) || e.Addr[3] != buf.Addr+24 {
		t.Errorf("store: %+v, lane 3 at %#x", e, e.Addr[3])
	}
	step()
	if !e.Taken || e.Diverged || e.Next != 5 {
		t.Errorf("branch: %+v", e)
	}
	step()
	if !e.Exited || e.Next != -1 || !b.Done() {
		t.Errorf("exit: %+v", e)
	}
}
