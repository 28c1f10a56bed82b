package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// TestSpilledPredicates: of twelve predicates that live throughout and many short-lived ones, the long-lived ones go to registers: one SEL each,
// and one ISETP for a use.
func TestSpilledPredicates(t *testing.T) {
	const long, steps = 12, 60
	var b strings.Builder
	for i := range long {
		fmt.Fprintf(&b, "and.b32 %%a, %%t, %d; setp.eq.u32 %%p%d, %%a, 0;\n", 1<<i, i)
	}
	for i := range steps {
		fmt.Fprintf(&b, "shl.b64 %%y, %%x, %d; setp.lt.u64 %%q, %%y, %%x; xor.pred %%q, %%p%d, %%q; selp.b64 %%x, %%y, %%x, %%q;\n", i%7+1, i*5%long)
	}
	m, err := ptx.Parse("t.ptx", fmt.Appendf(nil, ".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 P)\n{ .reg .b64 %%out, %%x, %%y; .reg .b32 %%a, %%t; .reg .pred %%q, %%p<%d>;\n"+
		"ld.param.u64 %%out, [P]; mov.u32 %%t, %%tid.x; ld.global.u64 %%x, [%%out+8];\n%s st.global.u64 [%%out], %%x; ret; }\n", long, b.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, sm := range []int{75, 90} {
		p, err := Compile(m, "k", testTarget(sm), Options{})
		if err != nil {
			t.Fatal(err)
		}
		moves := 0
		for i := range p.Insts {
			if in := &p.Insts[i]; in.Op == isa.OpSEL && isZero(in.Src[0]) || in.Op == isa.OpISETP && in.Mod.Cmp == isa.CmpNE && isZero(in.Src[1]) {
				moves++
			}
		}
		if moves > steps+long {
			t.Errorf("sm_%d: %d moves of predicates, want %d at most", sm, moves, steps+long)
		}
	}
}
