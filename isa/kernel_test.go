package isa_test

import (
	"encoding/binary"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// asm builds an instruction.
func asm(op isa.Op, m isa.Mod, dst, src []isa.Operand) isa.Inst {
	in := isa.Inst{Op: op, Mod: m, NDst: uint8(len(dst)), NSrc: uint8(len(src))}
	copy(in.Dst[:], dst)
	copy(in.Src[:], src)
	return in
}

func ops(o ...isa.Operand) []isa.Operand { return o }

// program numbers the instructions and gives the program 8 bytes of parameters (one pointer).
func program(sm int, insts ...isa.Inst) *isa.Program {
	t := isa.NewTarget(sm)
	for i := range insts {
		insts[i].PC = uint32(i) * t.InstBytes
		insts[i].Pos = isa.SourcePos{Line: int32(i + 1), Col: 1, CUFile: -1}
	}
	return &isa.Program{Name: "k", SM: sm, Insts: insts, ParamBase: t.ParamBase, InstBytes: t.InstBytes, SourceFile: "k.ptx",
		Params: []isa.Param{{Name: "out", Size: 8, Pointer: true}}}
}

// TestVectorAdd stores 3*tid+block to a buffer.
func TestVectorAdd(t *testing.T) {
	tg := isa.NewTarget(86)
	pb := int64(tg.ParamBase)
	p := program(86,
		asm(isa.OpS2R, isa.Mod{}, ops(isa.R(0)), ops(isa.SR(isa.SRTidX))),
		asm(isa.OpS2R, isa.Mod{}, ops(isa.R(1)), ops(isa.SR(isa.SRCtaidX))),
		asm(isa.OpIMAD, isa.Mod{}, ops(isa.R(2)), ops(isa.R(0), isa.I(3), isa.R(1))),
		asm(isa.OpIMAD, isa.Mod{}, ops(isa.R(3)), ops(isa.R(1), isa.C(0, int64(tg.BlockDimBase)), isa.R(0))),
		asm(isa.OpIMAD, isa.Mod{Flags: isa.ModWide, Type: isa.U32}, ops(isa.R(4)), ops(isa.R(3), isa.I(4), isa.C(0, pb))),
		asm(isa.OpSTG, isa.Mod{Size: 4, Flags: isa.ModE64}, nil, ops(isa.Mem(4, 0, true), isa.R(2))),
		asm(isa.OpEXIT, isa.Mod{}, nil, nil),
	)
	mem := isa.NewMemory()
	out := mem.Alloc("out", 4*200)
	params := binary.LittleEndian.AppendUint64(nil, out.Addr)
	k, err := isa.Bind(p, tg, &isa.Launch{Grid: isa.Dim3{X: 2, Y: 1, Z: 1}, Block: isa.Dim3{X: 100, Y: 1, Z: 1}, Params: params, Mem: mem})
	if err != nil {
		t.Fatal(err)
	}
	steps, err := k.RunGrid(nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := uint64(2 * 4 * 7); steps != want {
		t.Errorf("steps = %d, want %d", steps, want)
	}
	for b := range 2 {
		for i := range 100 {
			if got := binary.LittleEndian.Uint32(out.Data[4*(100*b+i):]); got != uint32(3*i+b) {
				t.Fatalf("out[%d][%d] = %d, want %d", b, i, got, 3*i+b)
			}
		}
	}
}
