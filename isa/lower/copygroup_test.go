package lower

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// TestCopyGroups: cp.async becomes LDGSTS also with a source size equal to its size; groups count on a barrier of their own, which
// no other instruction of the kernel sets.
func TestCopyGroups(t *testing.T) {
	m, err := ptx.Parse("t.ptx", []byte(`.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 P)
{ .reg .b64 %q; .reg .b32 %r<12>; .shared .align 16 .b8 s[512];
ld.param.u64 %q, [P]; mov.u32 %r1, s;
cp.async.cg.shared.global [%r1], [%q], 16, 16;
cp.async.commit_group;
ld.global.u32 %r2, [%q+16]; ld.global.u32 %r3, [%q+32]; ld.global.u32 %r4, [%q+64]; popc.b32 %r5, %r2; popc.b32 %r6, %r3; popc.b32 %r7, %r4;
cp.async.ca.shared.global [%r1+16], [%q+16], 8;
cp.async.commit_group;
cp.async.wait_group 1;
ld.shared.u32 %r8, [%r1];
cp.async.wait_all;
add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7; add.u32 %r5, %r5, %r8;
st.global.u32 [%q+8], %r5; ret; }
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, sm := range []int{80, 90, 120} {
		p, err := Compile(m, "k", isa.NewTarget(sm), Options{})
		if err != nil {
			t.Fatal(err)
		}
		copies, groups, waits := 0, 0, 0
		for i := range p.Insts {
			in := &p.Insts[i]
			switch in.Op {
			case isa.OpLDGSTS:
				copies++
			case isa.OpLDGDEPBAR:
				groups++
				if in.Ctrl.WriteBar != copyBarrier {
					t.Errorf("sm_%d: %s counts on barrier %d", sm, p.Text(i), in.Ctrl.WriteBar)
				}
				continue
			case isa.OpDEPBAR:
				waits++
			}
			if in.Ctrl.WriteBar == copyBarrier || in.Ctrl.ReadBar == copyBarrier {
				t.Errorf("sm_%d: %s uses the barrier of the copy groups", sm, p.Text(i))
			}
		}
		if copies != 2 || groups != 3 || waits != 2 {
			t.Errorf("sm_%d: %d copies, %d groups, %d waits", sm, copies, groups, waits)
		}
	}
}
