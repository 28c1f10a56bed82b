package lower

import (
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// TestUniformInvariants: what is computed before a loop from parameters alone is kept in uniform registers if the loop's instructions
// have a place for one; what depends on the lane, or stands beside another operand that is no general register, is not.
func TestUniformInvariants(t *testing.T) {
	const frame = ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 P, .param .u32 N, .param .u32 M)\n{ .reg .b64 %q; .reg .b32 %r<9>, %i, %n, %m, %t, %u; .reg .pred %p;\n" +
		"ld.param.u64 %q, [P]; ld.param.u32 %n, [N]; ld.param.u32 %m, [M]; mov.u32 %t, %tid.x; ld.global.u32 %r3, [%q]; mov.u32 %i, 0;\n"
	for _, c := range []struct {
		name, before, loop string
		uniform            int // UIADD3, ULOP3, UIMAD
	}{
		{"sum and product of parameters", "add.u32 %u, %m, 12345; mul.lo.u32 %u, %u, %m;", "xor.b32 %r3, %r3, %u; shl.b32 %r3, %r3, 1;", 2},
		{"of the lane", "add.u32 %u, %m, %t;", "xor.b32 %r3, %r3, %u; shl.b32 %r3, %r3, 1;", 0},
		{"beside an immediate", "add.u32 %u, %m, 12345;", "mad.lo.u32 %r3, %u, 77, %r3;", 0},
		{"not in the loop", "add.u32 %u, %m, 12345; xor.b32 %r3, %r3, %u;", "mad.lo.u32 %r3, %r3, 77, %i;", 0},
	} {
		m, err := ptx.Parse("t.ptx", []byte(frame+c.before+"\n$L:\n.pragma \"nounroll\";\n"+c.loop+" add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra $L;\nst.global.u32 [%q], %r3; ret; }\n"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(m, "k", isa.NewTarget(90), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		var text []string
		for i := range p.Insts {
			text = append(text, p.Text(i))
			switch p.Insts[i].Op {
			case isa.OpUIADD3, isa.OpULOP3, isa.OpUIMAD:
				got++
			}
		}
		if got != c.uniform {
			t.Errorf("%s: %d instructions of the uniform datapath, want %d:\n%s", c.name, got, c.uniform, strings.Join(text, "\n"))
		}
	}
}
