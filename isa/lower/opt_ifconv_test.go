package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestPredicationLimits: how many instructions are predicated depends on what the condition waits for and on the loads around, as 270 bodies
// compiled with ptxas 13.0 show.
func TestPredicationLimits(t *testing.T) {
	const frame = ".version 8.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 P, .param .u64 Q, .param .u32 N, .param .u32 M)\n{ .reg .b64 %p<9>; .reg .b32 %v, %c, %a, %i, %g, %n, %m, %t, %r; .reg .pred %l, %q, %u;\n" +
		"ld.param.u64 %p1, [P]; ld.param.u64 %p2, [Q]; ld.param.u32 %n, [N]; ld.param.u32 %m, [M]; mov.u32 %t, %tid.x; mov.u32 %a, %t; mov.u32 %g, %t; mov.u32 %i, 0;\n"
	const head, tail = "mul.wide.u32 %p3, %g, 4; add.s64 %p3, %p1, %p3; ld.global.u32 %v, [%p3];\n", "add.u32 %a, %a, %v;\n"
	const gather = "mul.wide.u32 %p4, %a, 4; add.s64 %p4, %p1, %p4; ld.global.nc.u32 %r, [%p4]; xor.b32 %a, %a, %r;\n"
	for _, c := range []struct {
		name, condition, first, behind string
		loop                           bool
		most                           int // instructions that are predicated, first included
	}{
		{"in a loop, on what was loaded", "setp.gt.u32 %q, %v, 5;", "", "", true, 8},
		{"in a loop, on the lane", "setp.gt.u32 %q, %t, 5;", "", "", true, 16},
		{"in a loop, on a parameter", "setp.gt.u32 %q, %m, %i;", "", "", true, 16},
		{"in a loop, with a load", "setp.gt.u32 %q, %v, 5;", gather, "", true, 17},
		{"in a loop, with a load, or else a parameter", "setp.gt.u32 %u, %m, 5; setp.gt.or.u32 %q, %v, 5, %u;", gather, "", true, 0},
		{"a load behind", "setp.gt.u32 %q, %v, 5;", "", gather, false, 20},
		{"with a load, before the end", "setp.gt.u32 %q, %v, 5;", gather, "", false, 0},
		{"with a load, before more", "setp.gt.u32 %q, %v, 5;", gather, "bar.sync 0; st.global.u32 [%p3+4], %v; bar.sync 0;", false, 17},
	} {
		for _, sm := range []int{75, 90, 120} {
			most := 0
			for n := 1; n <= 24; n++ {
				body := c.first
				k := n
				if k -= 4 * strings.Count(c.first, "ld."); k < 0 {
					continue
				}
				for i := range k {
					body += []string{fmt.Sprintf("mul.lo.u32 %%a, %%a, %d;\n", 1000003+4*i), "xor.b32 %a, %a, %t;\n"}[i%2]
				}
				text := head + c.condition + " @%q bra $S;\n" + body + "$S:\n" + c.behind + tail
				if c.loop {
					text = "$L:\n.pragma \"nounroll\";\n" + text + "add.u32 %g, %g, %t; add.u32 %i, %i, 1; setp.lt.u32 %l, %i, %n; @%l bra $L;\n"
				}
				p := compileText(t, frame+text+"st.global.u32 [%p2], %a; ret; }\n", sm)
				branches := 0
				for i := range p.Insts {
					if p.Insts[i].Op == isa.OpBRA {
						branches++
					}
				}
				if c.loop {
					branches--
				}
				if branches == 0 {
					most = n
				}
			}
			if most != c.most {
				t.Errorf("sm_%d, %s: %d instructions are predicated, want %d", sm, c.name, most, c.most)
			}
		}
	}
}
