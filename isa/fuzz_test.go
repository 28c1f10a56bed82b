package isa_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// FuzzExecute builds instructions from bytes, whatever they say, and runs them: the result may be an error, never a panic, and the
// text of an instruction must always exist. Bind and RunBlock turn a panic into an error that says "internal error".
func FuzzExecute(f *testing.F) {
	// One seed for every opcode on two targets, with plausible operands.
	for op := isa.Op(1); op < isa.NumOps; op++ {
		for _, sm := range []byte{0, 3} {
			f.Add([]byte{sm, byte(op), byte(op >> 8), 1, 3, 1, 4, 1, 2, 1, 6, 3, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
			f.Add([]byte{sm, byte(op), byte(op >> 8), 2, 2, 3, 1, 1, 2, 7, 4, 5, 16, 0x55, 5, 1, 1, 2, 7, 1, 9, 4, 1, 2, 3, 4, 5, 6})
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		at := 0
		next := func() byte {
			if at < len(data) {
				at++
				return data[at-1]
			}
			return 0
		}
		sms := []int{61, 35, 86, 90, 120, 20, 75, 13}
		sm := sms[next()%8]
		var insts []isa.Inst
		for range 1 + len(data)/64 {
			var in isa.Inst
			in.Op = isa.Op(next()) | isa.Op(next())<<8
			in.NDst, in.NSrc = next()%5, next()%9
			operand := func() isa.Operand {
				o := isa.Operand{Kind: isa.OperandKind(next() % 12), Reg: isa.Reg(next())}
				if o.Kind == isa.KindImm || o.Kind == isa.KindMem || o.Kind == isa.KindConst {
					o.Imm = int64(int8(next()))
				}
				if next()&3 == 0 {
					o.Flags = isa.OperandFlags(next()) | isa.OperandFlags(next())<<8 | isa.OperandFlags(next())<<16
				}
				o.UReg = isa.Reg(next())
				return o
			}
			for i := range min(int(in.NDst), isa.MaxDst) {
				in.Dst[i] = operand()
			}
			for i := range min(int(in.NSrc), isa.MaxSrc) {
				in.Src[i] = operand()
			}
			if next()&1 != 0 {
				in.Guard = operand()
			}
			m := &in.Mod
			m.Type, m.BType, m.DType = isa.Type(next()), isa.Type(next()), isa.Type(next())
			m.Cmp, m.Bool, m.Bool2, m.Round = isa.Cmp(next()), isa.BoolOp(next()), isa.BoolOp(next()), isa.Round(next())
			m.Sub, m.Sub2, m.Size, m.Lut, m.Lut2 = isa.Sub(next()), isa.Sub(next()), next(), next(), next()
			m.ASel, m.BSel, m.DSel = uint16(next())<<8|uint16(next()), uint16(next())<<8|uint16(next()), next()
			m.Flags = isa.ModFlags(next()) | isa.ModFlags(next())<<8 | isa.ModFlags(next())<<16 | isa.ModFlags(next())<<24 | isa.ModFlags(next())<<32 | isa.ModFlags(next())<<40 | isa.ModFlags(next())<<48
			insts = append(insts, in)
		}
		insts = append(insts, asm(isa.OpEXIT, isa.Mod{}, nil, nil))
		p := program(sm, insts...)
		p.SharedBytes, p.LocalBytes = 256, 32
		for i := range insts {
			if insts[i].String() == "" {
				t.Error("instruction without text")
			}
		}
		if err := p.Check(isa.NewTarget(sm)); err != nil && strings.Contains(err.Error(), "internal error") {
			t.Error(err)
		}
		mem := isa.NewMemory()
		buf := mem.Alloc("data", 256)
		k, err := isa.Bind(p, isa.NewTarget(sm), &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 40, Y: 1, Z: 1}, Mem: mem,
			Params: binary.LittleEndian.AppendUint64(nil, buf.Addr), MaxSteps: 1000})
		if err == nil {
			_, err = k.RunBlock(0)
		}
		if err != nil && strings.Contains(err.Error(), "internal error") {
			t.Error(err)
		}
	})
}
