package lower

import (
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// TestRaisedLoads has two loads with code between them and counts those that stand before it: as many as in ptxas 13.0's code.
func TestRaisedLoads(t *testing.T) {
	const store = "@!%p bra J;\nst.shared.u32 [%o], %a;\n"
	const far = "mul.lo.u32 %c, %a, %a; xor.b32 %c, %c, 77; mul.lo.u32 %c, %c, %c; xor.b32 %c, %c, 79; mul.lo.u32 %c, %c, %c; xor.b32 %c, %c, 81;\n"
	for _, c := range []struct {
		name, between string
		first         int // loads of constant data before the code between
	}{
		{"if with a store", store + "J:", 2},
		{"long branch", "@!%p bra J;\n" + far + "st.shared.u32 [%o], %c;\nJ:", 2},
		{"if with else", "@!%p bra E;\n" + far + "st.shared.u32 [%o], %c;\nbra J;\nE:" + far + "st.shared.u32 [%o+64], %c;\nJ:", 1},
		{"if in an if", "@!%p bra J;\n" + far + "st.shared.u32 [%o], %c;\nsetp.lt.u32 %p, %c, 9;\n@!%p bra J;\n" + far + "st.shared.u32 [%o+64], %c;\nJ:", 2},
		{"store and barrier", store + "J: bar.sync 0;", 2},
		{"barrier of the warp", "st.shared.u32 [%o], %a; bar.warp.sync 0xffffffff;", 2},
		{"loop", "L: st.shared.u32 [%o], %a; add.u32 %a, %a, 3; setp.lt.u32 %p, %a, 100; @%p bra L;", 1},
		{"shuffle in the branch", "@!%p bra J; shfl.sync.bfly.b32 %a, %a, 1, 31, 0xffffffff; st.shared.u32 [%o], %a;\nJ:", 1},
		{"the address changes in the branch", "@!%p bra J; st.shared.u32 [%o], %a; add.u64 %q, %q, 8;\nJ:", 1},
	} {
		m, err := ptx.Parse("t.ptx", []byte(".version 8.0\n.target sm_90\n.address_size 64\n.shared .b32 s[64];\n.entry k(.param .u64 P)\n{ .reg .b64 %q; .reg .b32 %a, %b, %c, %o; .reg .pred %p;\n"+
			"ld.param.u64 %q, [P]; mov.u32 %o, %tid.x; and.b32 %o, %o, 60; ld.global.nc.u32 %a, [%q]; setp.lt.u32 %p, %a, 9;\n"+
			c.between+"\nld.global.nc.u32 %b, [%q+4]; add.u32 %b, %b, %a; st.global.u32 [%q+8], %b; ret; }\n"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(m, "k", isa.NewTarget(90), Options{})
		if err != nil {
			t.Fatal(err)
		}
		first, passed := 0, false
		var text []string
		for i := range p.Insts {
			text = append(text, p.Text(i))
			switch op := p.Insts[i].Op; {
			case op == isa.OpSTS || op == isa.OpSHFL || op == isa.OpBAR:
				passed = true
			case op == isa.OpLDG && !passed:
				first++
			}
		}
		if first != c.first {
			t.Errorf("%s: %d loads before it, want %d:\n%s", c.name, first, c.first, strings.Join(text, "\n"))
		}
	}
}
