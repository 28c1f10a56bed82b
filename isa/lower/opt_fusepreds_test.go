package lower

import (
	"fmt"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// TestPredicateLogic: the logic of two predicates joins a comparison or a branch, and is right for all four cases.
func TestPredicateLogic(t *testing.T) {
	for _, c := range []struct {
		name, body string
		plop       int
		branch     bool // takes two predicates
		want       func(a, b bool) bool
	}{
		{"and", "and.pred %r, %p, %q; selp.b32 %x, 1, 0, %r;", 0, false, func(a, b bool) bool { return a && b }},
		{"or", "or.pred %r, %p, %q; selp.b32 %x, 1, 0, %r;", 0, false, func(a, b bool) bool { return a || b }},
		{"xor", "xor.pred %r, %p, %q; selp.b32 %x, 1, 0, %r;", 0, false, func(a, b bool) bool { return a != b }},
		{"inverted", "not.pred %p, %p; or.pred %r, %p, %q; selp.b32 %x, 1, 0, %r;", 0, false, func(a, b bool) bool { return !a || b }},
		{"both inverted", "not.pred %p, %p; not.pred %q, %q; and.pred %r, %p, %q; selp.b32 %x, 1, 0, %r;", 0, false, func(a, b bool) bool { return !a && !b }},
		{"read twice", "and.pred %r, %p, %q; selp.b32 %x, 1, 0, %r; @%p add.u32 %x, %x, 2; @%q add.u32 %x, %x, 4; and.b32 %x, %x, 1;", 0, false, func(a, b bool) bool { return a && b }},
		{"xor of 64 bits", "mov.b64 %o, {%b, %b}; setp.gt.u64 %q, %o, 4294967297; xor.pred %r, %p, %q; selp.b32 %x, 1, 0, %r;", 0, false, func(a, b bool) bool { return a != b }},
		{"xor of an inverted one of 64 bits", "mov.b64 %o, {%b, %b}; setp.gt.u64 %q, %o, 4294967297; not.pred %q, %q; xor.pred %r, %q, %p; selp.b32 %x, 1, 0, %r;", 0, false, func(a, b bool) bool { return a == b }},
		{"branch", "and.pred %r, %p, %q; mov.u32 %x, 1; @%r bra S; atom.global.add.u32 %a, [%out+8], %a; mov.u32 %x, 0;\nS:", 0, true, func(a, b bool) bool { return a && b }},
		{"branch on or", "or.pred %r, %p, %q; mov.u32 %x, 1; @%r bra S; atom.global.add.u32 %a, [%out+8], %a; mov.u32 %x, 0;\nS:", 0, false, func(a, b bool) bool { return a || b }},
	} {
		m, err := ptx.Parse("t.ptx", fmt.Appendf(nil, ".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 P, .param .u32 N)\n{ .reg .b64 %%out, %%o; .reg .b32 %%a, %%b, %%x; .reg .pred %%p, %%q, %%r;\n"+
			"ld.param.u64 %%out, [P]; mov.u32 %%a, %%tid.x; mul.wide.u32 %%o, %%a, 64; add.s64 %%out, %%out, %%o; and.b32 %%b, %%a, 1; setp.eq.u32 %%p, %%b, 1; and.b32 %%b, %%a, 6; setp.gt.u32 %%q, %%b, 1;\n%s\nst.global.u32 [%%out], %%x; ret; }\n", c.body))
		if err != nil {
			t.Fatal(err)
		}
		for _, sm := range []int{75, 90} {
			target := testTarget(sm)
			p, err := Compile(m, "k", target, Options{})
			if err != nil {
				t.Fatal(err)
			}
			plop, branch := 0, false
			for i := range p.Insts {
				if p.Insts[i].Op == isa.OpPLOP3 {
					plop++
				}
				branch = branch || p.Insts[i].Op == isa.OpBRA && p.Insts[i].NSrc == 2
			}
			if plop != c.plop || branch != c.branch {
				t.Errorf("sm_%d %s: %d PLOP3, branch of two predicates: %v; want %d, %v", sm, c.name, plop, branch, c.plop, c.branch)
			}
			out, err := runRandom(p, target)
			if err != nil {
				t.Fatal(err)
			}
			for tid := range 50 {
				if got, want := out[64*tid] != 0, c.want(tid&1 == 1, tid&6 > 1); got != want {
					t.Errorf("sm_%d %s: thread %d gives %v, want %v", sm, c.name, tid, got, want)
					break
				}
			}
		}
	}
}
