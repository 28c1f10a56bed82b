package lower

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// TestAddressOrigins: what addresses are computed from, through registers that are used again and around loops.
func TestAddressOrigins(t *testing.T) {
	const head = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n .reg .b64 %a<9>; .reg .b32 %r<9>; .reg .pred %q;\n" +
		" ld.param.u64 %a0, [p];\n ld.param.u32 %r0, [n];\n mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n"
	target := testTarget(90)
	for _, c := range []struct {
		name, body string
		n          byte     // the second parameter
		want       []Origin // of the accesses to global memory, in order
	}{
		{"thread", "mul.wide.u32 %a1, %r1, 4; add.s64 %a2, %a0, %a1; red.global.add.u32 [%a2], %r0;", 1, []Origin{0}},
		{"parameter", "red.global.add.u32 [%a0], %r1;", 1, []Origin{0}},
		{"block", "mad.lo.u32 %r3, %r2, %r0, %r1; mul.wide.u32 %a1, %r3, 4; add.s64 %a2, %a0, %a1; red.global.add.u32 [%a2], %r0;", 1, []Origin{FromBlock}},
		{"block times zero", "mad.lo.u32 %r3, %r2, %r0, %r1; mul.wide.u32 %a1, %r3, 4; add.s64 %a2, %a0, %a1; red.global.add.u32 [%a2], %r0;", 0, []Origin{0}},
		{"gather", "mul.wide.u32 %a1, %r1, 4; add.s64 %a2, %a0, %a1; ld.global.u32 %r4, [%a2]; mul.wide.u32 %a3, %r4, 4; add.s64 %a4, %a0, %a3; red.global.add.u32 [%a4], %r0;", 1,
			[]Origin{0, FromData}},
		{"block's data", "mul.wide.u32 %a1, %r2, 4; add.s64 %a2, %a0, %a1; ld.global.u32 %r4, [%a2]; mul.wide.u32 %a3, %r4, 4; add.s64 %a4, %a0, %a3; red.global.add.u32 [%a4], %r0;", 1,
			[]Origin{FromBlock, FromData}},
		{"chain", "mov.u32 %r5, %r1;\nL: mul.wide.u32 %a1, %r5, 4; add.s64 %a2, %a0, %a1; ld.global.u32 %r5, [%a2]; add.u32 %r0, %r0, -1; setp.ne.u32 %q, %r0, 0; @%q bra L;\n st.global.u32 [%a0], %r5;", 1,
			[]Origin{FromData, 0}},
	} {
		m, err := ptx.Parse("k.ptx", []byte(head+c.body+"\n ret;\n}\n"))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		p, err := Compile(m, "k", target, Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got []Origin
		params := make([]byte, 16)
		params[8] = c.n
		for i, o := range AddressOrigins(p, params) {
			switch p.Insts[i].Class() {
			case isa.ClassLDG, isa.ClassSTG, isa.ClassRED, isa.ClassATOMG:
				got = append(got, o)
			}
		}
		if len(got) > len(c.want) { // an unrolled loop
			got = got[len(got)-len(c.want):]
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: origins %v, want %v", c.name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: access %d comes from %v, want %v", c.name, i, got[i], c.want[i])
			}
		}
	}
}

// TestGuardedOrigins: under its guard a register holds what was written under the same guard, not what it held before.
func TestGuardedOrigins(t *testing.T) {
	reg := func(r isa.Reg) isa.Operand { return isa.Operand{Kind: isa.KindReg, Reg: r} }
	guard := func(p isa.Reg) isa.Operand { return isa.Operand{Kind: isa.KindPred, Reg: p} }
	load := func(dst, address isa.Reg, g isa.Operand) isa.Inst {
		in := isa.Inst{Op: isa.OpLDG, Guard: g, NDst: 1, NSrc: 1}
		in.Dst[0], in.Src[0] = reg(dst), isa.Operand{Kind: isa.KindMem, Reg: address}
		return in
	}
	move := func(dst isa.Reg, g isa.Operand) isa.Inst {
		in := isa.Inst{Op: isa.OpMOV, Guard: g, NDst: 1, NSrc: 1}
		in.Dst[0], in.Src[0] = reg(dst), reg(9)
		return in
	}
	test := func(p isa.Reg) isa.Inst {
		in := isa.Inst{Op: isa.OpISETP, NDst: 1, NSrc: 2}
		in.Dst[0], in.Src[0], in.Src[1] = guard(p), reg(9), reg(9)
		return in
	}
	none := isa.Operand{}
	for _, c := range []struct {
		name  string
		insts []isa.Inst
		want  Origin // of the last instruction's address
	}{
		{"data", []isa.Inst{load(4, 2, none), load(6, 4, none)}, FromData},
		{"written before", []isa.Inst{load(4, 2, none), move(4, none), load(6, 4, none)}, 0},
		{"same guard", []isa.Inst{load(4, 2, none), move(4, guard(1)), load(6, 4, guard(1))}, 0},
		{"no guard", []isa.Inst{load(4, 2, none), move(4, guard(1)), load(6, 4, none)}, FromData},
		{"other guard", []isa.Inst{load(4, 2, none), move(4, guard(1)), load(6, 4, guard(2))}, FromData},
		{"guard set again", []isa.Inst{load(4, 2, none), move(4, guard(1)), test(1), load(6, 4, guard(1))}, FromData},
		{"data under the guard", []isa.Inst{move(4, none), load(4, 2, guard(1)), load(6, 4, guard(1))}, FromData},
		{"the value loses it again", []isa.Inst{load(4, 2, none), move(4, guard(1)), load(4, 2, guard(1)), load(6, 4, guard(1))}, FromData},
	} {
		p := &isa.Program{SM: 90, Insts: c.insts}
		if got := AddressOrigins(p, nil); got[len(got)-1] != c.want {
			t.Errorf("%s: %d, want %d", c.name, got[len(got)-1], c.want)
		}
	}
}

// TestOriginUnderGuards: a register written under a guard and under its opposite holds nothing older.
func TestOriginUnderGuards(t *testing.T) {
	reg := func(r isa.Reg) isa.Operand { return isa.Operand{Kind: isa.KindReg, Reg: r} }
	guard := func(flags isa.OperandFlags) isa.Operand {
		return isa.Operand{Kind: isa.KindPred, Reg: 1, Flags: flags}
	}
	inst := func(op isa.Op, g isa.Operand, dst, src isa.Operand) isa.Inst {
		in := isa.Inst{Op: op, Guard: g, NDst: 1, NSrc: 1}
		in.Dst[0], in.Src[0] = dst, src
		return in
	}
	block := isa.Operand{Kind: isa.KindSpecial, Reg: isa.Reg(isa.SRCtaidX)}
	at := isa.Operand{Kind: isa.KindMem, Reg: 4}
	for _, c := range []struct {
		second isa.OperandFlags // of the second guard
		want   Origin
	}{{isa.Neg, FromBlock}, {0, FromBlock | FromData}} {
		p := &isa.Program{SM: 90, Insts: []isa.Inst{
			inst(isa.OpS2R, isa.Operand{}, reg(3), block),
			inst(isa.OpLDG, isa.Operand{}, reg(4), isa.Operand{Kind: isa.KindMem, Reg: 3}),
			inst(isa.OpMOV, guard(0), reg(4), reg(3)),
			inst(isa.OpMOV, guard(c.second), reg(4), isa.Operand{Kind: isa.KindImm, Imm: 64}),
			inst(isa.OpLDG, isa.Operand{}, reg(5), at),
			{Op: isa.OpEXIT},
		}}
		if got := AddressOrigins(p, nil)[4]; got != c.want {
			t.Errorf("second guard %v: %v, want %v", c.second, got, c.want)
		}
	}
}
