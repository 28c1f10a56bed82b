package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sarchlab/smsim/isa"
)

// TestReduxMask: a lane mask that is a literal, also through a register, is the same in all lanes and needs no check.
func TestReduxMask(t *testing.T) {
	for _, c := range []struct {
		name, body string
		votes      int
	}{
		{"literal", "redux.sync.add.u32 %r4, %r4, 0xffffffff;", 0},
		{"register", "mov.u32 %r9, -1; redux.sync.add.u32 %r4, %r4, %r9;", 0},
		{"register of a scope", "{ .reg .b32 %m; mov.b32 %m, 0xffffffff; redux.sync.max.u32 %r4, %r4, %m; }", 0},
		{"written twice", "mov.u32 %r9, -1; setp.lt.u32 %p1, %r3, 9; @%p1 mov.u32 %r9, 511; redux.sync.add.u32 %r4, %r4, %r9;", 1},
		{"written under a guard", "setp.lt.u32 %p1, %r3, 9; @%p1 mov.u32 %r9, 511; redux.sync.add.u32 %r4, %r4, %r9;", 1},
		{"computed", "shl.b32 %r9, %r1, 3; redux.sync.add.u32 %r4, %r4, %r9;", 1},
	} {
		votes := 0
		for _, in := range compileShape(t, c.body, 90).Insts {
			if in.Op == isa.OpVOTE {
				votes++
			}
		}
		if votes != c.votes {
			t.Errorf("%s: %d votes, want %d", c.name, votes, c.votes)
		}
	}
}

// TestLiteralRegisters: an instruction whose operands are registers that hold literals throughout, in other blocks too, is the machine
// code of the instruction with the literals.
func TestLiteralRegisters(t *testing.T) {
	for _, c := range []string{
		"div.u32 %r4, %r4, A", "rem.s32 %r4, %r4, A", "bfi.b32 %r4, %r4, %r3, A, B", "bfe.u32 %r4, %r4, A, B", "bfe.s32 %r4, %r4, A, B",
		"shf.l.wrap.b32 %r4, %r4, %r3, A", "prmt.b32 %r4, %r4, %r3, A", "mul.lo.u32 %r4, %r4, B", "shl.b32 %r4, %r4, A", "cvt.u16.u32 %h1, A; cvt.u32.u16 %r4, %h1",
		"max.u32 %r4, %r4, A; min.u32 %r4, %r4, B", "dp4a.u32.u32 %r4, %r4, A, B", "and.b32 %r4, A, B; add.u32 %r4, %r4, %r3",
	} {
		for _, sm := range []int{61, 75, 90, 120} {
			code := func(body string) string {
				text := fmt.Sprintf(`.version 8.0
.target sm_%d
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) { .reg .b16 %%h<4>; .reg .b32 %%r<9>, %%a<3>; .reg .b64 %%rd<3>; .reg .pred %%p<2>;
ld.param.u64 %%rd1, [p]; ld.param.u32 %%r3, [n]; %s
L: ld.global.u32 %%r4, [%%rd1]; %s; st.global.u32 [%%rd1], %%r4; add.u32 %%r3, %%r3, -1; setp.ne.u32 %%p1, %%r3, 0; @%%p1 bra L; ret; }`,
					min(sm, 75), strings.Split(body, "|")[0], strings.Split(body, "|")[1])
				p := compileText(t, text, sm)
				var out strings.Builder
				for i := range p.Insts {
					fmt.Fprintln(&out, p.Text(i))
				}
				return out.String()
			}
			literals := code("|" + strings.NewReplacer("A", "10", "B", "5").Replace(c))
			registers := code("mov.u32 %a0, 10; mov.b32 %a1, %a0; mov.u32 %a2, 5;|" + strings.NewReplacer("A", "%a1", "B", "%a2").Replace(c))
			if diff := cmp.Diff(literals, registers); diff != "" {
				t.Errorf("sm_%d, %s: literals (-) and registers (+):\n%s", sm, c, diff)
			}
		}
	}
}
