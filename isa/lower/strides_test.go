package lower

import (
	"encoding/binary"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// TestBlockStrides: how far the addresses of neighbouring blocks are apart, for a block of 64 threads and a parameter of 1000.
func TestBlockStrides(t *testing.T) {
	const head = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n .reg .b64 %a<9>; .reg .b32 %r<9>; .reg .pred %q;\n" +
		" ld.param.u64 %a0, [p];\n ld.param.u32 %r0, [n];\n mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n mov.u32 %r3, %ntid.x;\n"
	target := testTarget(90)
	for _, c := range []struct {
		name, body string
		want       []Stride // of the accesses to global memory, in order
	}{
		{"thread", "mul.wide.u32 %a1, %r1, 4; add.s64 %a2, %a0, %a1; st.global.u32 [%a2], %r1;", []Stride{{Bytes: 0, Known: true}}},
		{"row", "mad.lo.u32 %r4, %r2, %r0, %r1; mul.wide.u32 %a1, %r4, 4; add.s64 %a2, %a0, %a1; st.global.u32 [%a2], %r1;", []Stride{{Bytes: 4000, Known: true}}},
		{"thread of the grid", "mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %a1, %r4, 4; add.s64 %a2, %a0, %a1; st.global.u32 [%a2], %r1;", []Stride{{Bytes: 256, Known: true}}},
		{"downwards", "sub.u32 %r4, %r0, %r2; mul.wide.u32 %a1, %r4, 4; add.s64 %a2, %a0, %a1; st.global.u32 [%a2], %r1;", []Stride{{Bytes: -4, Known: true}}},
		{"quotient", "div.u32 %r4, %r2, %r0; mul.wide.u32 %a1, %r4, 4; add.s64 %a2, %a0, %a1; st.global.u32 [%a2], %r1;", []Stride{{Bytes: 0, Known: true}}},
		{"mask", "and.b32 %r4, %r2, 7; mul.wide.u32 %a1, %r4, 4; add.s64 %a2, %a0, %a1; st.global.u32 [%a2], %r1;", []Stride{{Bytes: 0, Known: false}}},
		{"square", "mul.lo.u32 %r4, %r2, %r2; mul.wide.u32 %a1, %r4, 4; add.s64 %a2, %a0, %a1; st.global.u32 [%a2], %r1;", []Stride{{Bytes: 0, Known: false}}},
		{"loop along a row", "mad.lo.u32 %r4, %r2, %r0, %r1;\nL: mul.wide.u32 %a1, %r4, 4; add.s64 %a2, %a0, %a1; st.global.u32 [%a2], %r1; add.u32 %r4, %r4, %r3; setp.lt.u32 %q, %r4, 5000; @%q bra L;",
			[]Stride{{Bytes: 4000, Known: true}}},
		{"gather", "mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %a1, %r4, 4; add.s64 %a2, %a0, %a1; ld.global.u32 %r5, [%a2]; mul.wide.u32 %a3, %r5, 4; add.s64 %a4, %a0, %a3; st.global.u32 [%a4], %r1;",
			[]Stride{{Bytes: 256, Known: true}, {Bytes: 0, Known: true}}},
		{"walk by data in a block's region", "mad.lo.u32 %r4, %r2, %r0, %r1; mul.wide.u32 %a1, %r4, 4; add.s64 %a2, %a0, %a1; ld.global.u32 %r5, [%a2]; add.u32 %r4, %r4, %r5; mul.wide.u32 %a3, %r4, 4; add.s64 %a4, %a0, %a3; st.global.u32 [%a4], %r1;",
			[]Stride{{Bytes: 4000, Known: true}, {Bytes: 4000, Known: true}}},
		{"hash of the block and data", "mad.lo.u32 %r4, %r2, %r0, %r1; mul.wide.u32 %a1, %r4, 4; add.s64 %a2, %a0, %a1; ld.global.u32 %r5, [%a2]; xor.b32 %r4, %r4, %r5; mul.wide.u32 %a3, %r4, 4; add.s64 %a4, %a0, %a3; st.global.u32 [%a4], %r1;",
			[]Stride{{Bytes: 4000, Known: true}, {Bytes: 0, Known: false}}},
		{"hash, then a walk", "mad.lo.u32 %r4, %r2, %r3, %r1; mul.lo.u32 %r4, %r4, 0x9e3779b1;\nL: mad.lo.u32 %r4, %r4, 1664525, 1013904223; shr.u32 %r5, %r4, 8; and.b32 %r5, %r5, %r0; mul.wide.u32 %a1, %r5, 4; add.s64 %a2, %a0, %a1; st.global.u32 [%a2], %r1; setp.lt.u32 %q, %r5, 5000; @%q bra L;",
			[]Stride{{Scattered: true}}},
		{"hash by exclusive or", "mad.lo.u32 %r4, %r2, %r3, %r1; shr.u32 %r5, %r4, 16; xor.b32 %r4, %r4, %r5; mul.lo.u32 %r4, %r4, 0x85ebca6b; shr.u32 %r4, %r4, 12; mul.wide.u32 %a1, %r4, 4; add.s64 %a2, %a0, %a1; st.global.u32 [%a2], %r1;",
			[]Stride{{Scattered: true}}},
		{"warp of the grid", "mad.lo.u32 %r4, %r2, %r3, %r1; shr.u32 %r4, %r4, 5; mul.wide.u32 %a1, %r4, 4; add.s64 %a2, %a0, %a1; st.global.u32 [%a2], %r1;", []Stride{{Bytes: 8, Known: true}}},
		{"behind a call of the division", "mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %a1, %r4, 8; add.s64 %a2, %a0, %a1; ld.global.u64 %a3, [%a2]; div.u64 %a4, %a3, %a1; st.global.u64 [%a2], %a4;",
			[]Stride{{Bytes: 512, Known: true}, {Bytes: 512, Known: true}}},
		{"half a block's number", "shr.u32 %r4, %r2, 1; mul.wide.u32 %a1, %r4, 4; add.s64 %a2, %a0, %a1; st.global.u32 [%a2], %r1;", []Stride{{Bytes: 0, Known: false}}},
	} {
		m, err := ptx.Parse("k.ptx", []byte(head+c.body+"\n ret;\n}\n"))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		p, err := Compile(m, "k", target, Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		params := binary.LittleEndian.AppendUint32(make([]byte, 8), 1000)
		l := &isa.Launch{Grid: isa.Dim3{X: 132, Y: 1, Z: 1}, Block: isa.Dim3{X: 64, Y: 1, Z: 1}, Params: params}
		var got []Stride
		for i, s := range BlockStrides(p, l, target.BlockDimBase) {
			switch p.Insts[i].Class() {
			case isa.ClassLDG, isa.ClassSTG:
				got = append(got, s)
			}
		}
		if len(got) > len(c.want) { // an unrolled loop
			got = got[len(got)-len(c.want):]
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
			continue
		}
		for i := range got {
			if got[i].Known != c.want[i].Known || got[i].Scattered != c.want[i].Scattered || got[i].Known && got[i] != c.want[i] {
				t.Errorf("%s: access %d moves by %+v, want %+v", c.name, i, got[i], c.want[i])
			}
		}
	}
}
