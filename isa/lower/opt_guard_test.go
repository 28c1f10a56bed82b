package lower

import (
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// TestGuardedSelections counts SEL and guarded operations of one body: a selection between a value and what is made of it needs no
// SEL, one between independent values does.
func TestGuardedSelections(t *testing.T) {
	for _, c := range []struct {
		name, body string
		sel, guard int
	}{
		{"operation of the other arm", "shr.u32 %r1, %a, 1; xor.b32 %r2, %r1, 0x123; selp.b32 %r3, %r2, %r1, %p;", 0, 1},
		{"the operation's result is read elsewhere", "shr.u32 %r1, %a, 1; xor.b32 %r2, %r1, 0x123; selp.b32 %r3, %r2, %r1, %p; add.u32 %r3, %r3, %r2;", 1, 0},
		{"independent values", "xor.b32 %r1, %a, 0x123; add.u32 %r2, %b, 7; selp.b32 %r3, %r1, %r2, %p;", 0, 1},
		{"independent values, both read elsewhere", "xor.b32 %r1, %a, 0x123; add.u32 %r2, %b, 7; selp.b32 %r3, %r1, %r2, %p; st.global.v2.u32 [%q+16], {%r1, %r2};", 1, 0},
		{"a load", "ld.global.u32 %r1, [%q+16]; selp.b32 %r3, %r1, %a, %p;", 0, 1},
		{"a load over a store", "ld.global.u32 %r1, [%q+16]; st.global.u32 [%q+12], %b; add.u32 %r2, %b, %a; selp.b32 %r3, %r1, %r2, %p; st.global.u32 [%q+20], %r2;", 1, 0},
		{"a dot product", "dp4a.u32.u32 %r1, %a, %b, %b; selp.b32 %r3, %r1, %b, %p;", 1, 0},
		{"the other arm is read before", "st.global.u32 [%q+12], %a; neg.s32 %r1, %a; selp.b32 %r3, %r1, %a, %p;", 0, 1},
		{"the other arm is read after", "neg.s32 %r1, %a; selp.b32 %r3, %r1, %a, %p; st.global.u32 [%q+12], %a;", 1, 0},
		{"constants of a sum in a maximum", "selp.b32 %r1, 5, -3, %p; add.s32 %r2, %a, %r1; max.s32 %r3, %r2, %b;", 0, 1},
		{"constants of a sum", "selp.b32 %r1, 65, 71, %p; add.u32 %r3, %a, %r1;", 0, 1},
	} {
		m, err := ptx.Parse("t.ptx", []byte(".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 P)\n{ .reg .b64 %q; .reg .b32 %r<9>, %a, %b; .reg .pred %p;\n"+
			"ld.param.u64 %q, [P]; ld.global.u32 %a, [%q]; ld.global.u32 %b, [%q+4]; setp.lt.u32 %p, %b, 9;\n"+c.body+"\nst.global.u32 [%q+8], %r3; ret; }\n"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(m, "k", isa.NewTarget(90), Options{})
		if err != nil {
			t.Fatal(err)
		}
		sel, guard := 0, 0
		var text []string
		for i := range p.Insts {
			text = append(text, p.Text(i))
			switch {
			case p.Insts[i].Op == isa.OpSEL:
				sel++
			case p.Insts[i].Guard.Kind == isa.KindPred:
				guard++
			}
		}
		if sel != c.sel || guard != c.guard {
			t.Errorf("%s: %d SEL and %d guarded, want %d and %d:\n%s", c.name, sel, guard, c.sel, c.guard, strings.Join(text, "\n"))
		}
	}
}
