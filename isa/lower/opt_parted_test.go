package lower

import (
	"testing"

	"github.com/sarchlab/smsim/isa/ptx"
)

// TestUniformApart: counters that lanes step while they are apart, because a barrier of the block gathers them later or nothing
// gathers them at the entry of a loop with two, stay in general registers; a uniform register that one side of a branch still needs is not written on the other.
func TestUniformApart(t *testing.T) {
	const frame = ".version 8.0\n.target sm_61\n.address_size 64\n.entry k(.param .u64 out, .param .u32 n)\n{ .reg .b64 %q, %o; .reg .b32 %t, %a, %b, %i, %j, %s, %n, %c, %d; .reg .pred %p<9>;\n" +
		"ld.param.u64 %o, [out]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mul.wide.u32 %q, %t, 64; add.s64 %q, %q, %o; and.b32 %s, %t, 7; mov.u32 %a, %t; mov.u32 %b, 1; mov.u32 %i, 0; mov.u32 %j, 0;\n"
	const end = "\nst.global.u32 [%q], %a; st.global.u32 [%q+4], %b; ret; }\n"
	for _, c := range []struct{ name, body string }{
		{"barrier gathers", "$L: .pragma \"nounroll\";\nmov.u32 %j, %s;\n$M: .pragma \"nounroll\";\nmad.lo.u32 %a, %a, 77, %j; add.u32 %j, %j, -1; setp.ge.s32 %p1, %j, 0; @%p1 bra $M; " +
			"add.u32 %i, %i, 1; mad.lo.u32 %b, %a, %i, %b; setp.lt.u32 %p3, %i, %s; bar.red.or.pred %p2, 0, %p3; @%p2 bra $L;"},
		{"two entries", "setp.gt.u32 %p1, %s, 3; @%p1 bra $B;\n$A: .pragma \"nounroll\";\nadd.u32 %i, %i, 1; mad.lo.u32 %a, %a, %i, %t;\n" +
			"$B: add.u32 %j, %j, 3; mad.lo.u32 %b, %b, %j, %i; setp.lt.u32 %p4, %j, %n; @%p4 bra $A;"},
		{"the other side reads a parameter later", "mov.u32 %c, %ctaid.y; mov.u32 %d, %ntid.y; and.b32 %j, %t, 1; add.u32 %a, %a, %n; setp.eq.u32 %p1, %j, 0; @%p1 bra $E;\n" +
			"$A: .pragma \"nounroll\";\nadd.u32 %i, %i, %d; mad.lo.u32 %a, %a, 7, %i; xor.b32 %b, %b, %d; setp.lt.u32 %p2, %i, %s; @%p2 bra $A; mov.u32 %d, %ntid.x; add.u32 %a, %a, %d; mul.lo.u32 %b, %a, %d; xor.b32 %a, %b, %d;" +
			" mov.u32 %d, %nctaid.x; mul.lo.u32 %b, %a, %d; xor.b32 %a, %b, %d; add.u32 %a, %a, %d; bra $J;\n" +
			"$E: add.u32 %a, %a, %n; mul.lo.u32 %b, %a, %n; xor.b32 %a, %b, %n; st.global.u32 [%q+8], %a; add.u32 %a, %a, %n; mul.lo.u32 %b, %a, %n; xor.b32 %a, %b, %n;\n$J:"},
		{"two entries, then other parameters", "setp.gt.u32 %p1, %s, 3; @%p1 bra $B;\n$A: .pragma \"nounroll\";\nadd.u32 %i, %i, 1; mad.lo.u32 %a, %a, %i, %t;\n" +
			"$B: add.u32 %j, %j, 3; mad.lo.u32 %b, %b, %j, %i; setp.lt.u32 %p4, %j, %n; @%p4 bra $A;\nmov.u32 %d, %ntid.x; add.u32 %a, %a, %d; xor.b32 %b, %b, %d; mov.u32 %c, %nctaid.x; add.u32 %a, %a, %c; xor.b32 %b, %b, %c;"},
	} {
		m, err := ptx.Parse("t.ptx", []byte(frame+c.body+end))
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for _, sm := range []int{52, 70, 75, 90, 120} {
			for _, how := range []strategy{{}, {uniform: true}} {
				target := testTarget(sm)
				p, _, err := compile(m, m.Entry("k"), target, Options{}, how)
				if err != nil {
					t.Fatal(err)
				}
				got, err := runRandom(p, target)
				if err != nil {
					t.Fatal(err)
				}
				if want == "" {
					want = string(got)
				}
				if string(got) != want {
					t.Errorf("%s: sm_%d %+v: results differ: %s", c.name, sm, how, diffWords(got, []byte(want)))
				}
			}
		}
	}
}
