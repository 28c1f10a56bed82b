package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// TestConstantTable: a loop of known length over a table of constants is unrolled and every word is an operand at a fixed place: of the
// multiplication itself before compute capability 9.0, of a uniform register from there on, where an outer loop keeps some and loads the
// others pair by pair. ptxas 13.0 makes the same of both.
func TestConstantTable(t *testing.T) {
	const words = 64
	values := make([]string, words)
	for i := range values {
		values[i] = fmt.Sprint(i*37%101 + 1)
	}
	var body strings.Builder
	for i := range 16 { // pairs stand apart, as a front end leaves them
		fmt.Fprintf(&body, "ld.const.u32 %%c, [%%a+%d]; mad.lo.u32 %%x%d, %%t, %%c, %%x%d;\n", i*4, i&3, i&3)
	}
	src := ".version 8.0\n.target sm_90\n.address_size 64\n.const .align 4 .u32 T[64] = {" + strings.Join(values, ",") + "};\n" +
		".entry k(.param .u64 P, .param .u32 N)\n{ .reg .b64 %q, %a; .reg .b32 %c, %t, %i, %j, %n, %x<4>; .reg .pred %p;\n" +
		"ld.param.u64 %q, [P]; ld.param.u32 %n, [N]; mov.u32 %t, %tid.x; mov.u32 %j, 0; mov.u32 %x0, 0; mov.u32 %x1, 0; mov.u32 %x2, 0; mov.u32 %x3, 0;\n" +
		"$O: mov.u64 %a, T; mov.u32 %i, 0;\n" +
		"$L: " + body.String() + "add.s64 %a, %a, 64; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 4; @%p bra $L;\n" +
		"xor.b32 %t, %t, %x0; add.u32 %j, %j, 1; setp.lt.u32 %p, %j, %n; @%p bra $O;\n" +
		"add.u32 %x0, %x0, %x1; add.u32 %x2, %x2, %x3; add.u32 %x0, %x0, %x2; st.global.u32 [%q], %x0; ret; }\n"
	m, err := ptx.Parse("t.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, sm := range []int{75, 86, 90, 120} {
		p, err := Compile(m, "k", isa.NewTarget(sm), Options{})
		if err != nil {
			t.Fatal(err)
		}
		products, operands, loads, indexed := 0, 0, 0, 0
		for i := range p.Insts {
			in := &p.Insts[i]
			switch in.Op {
			case isa.OpIMAD:
				products++
				for _, o := range in.Src[:in.NSrc] {
					if o.Kind == isa.KindConst && o.Bank == 3 {
						operands++
					}
				}
			case isa.OpLDC, isa.OpULDC, isa.OpLDCU:
				if in.Src[0].Bank == 3 {
					loads++
					if in.Src[0].Reg != isa.RZ {
						indexed++
					}
				}
			}
		}
		wantOperands, mostLoads := words, 0
		if sm >= 90 {
			wantOperands, mostLoads = 0, words*3/4
		}
		if products < words || operands != wantOperands || loads > mostLoads || indexed != 0 {
			t.Errorf("sm_%d: %d products, %d read the bank (want %d), %d loads of it (at most %d), %d of them indexed", sm, products, operands, wantOperands, loads, mostLoads, indexed)
		}
	}
}
