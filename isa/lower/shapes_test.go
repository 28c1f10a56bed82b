package lower

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// shapeKernel is a kernel around a piece of PTX: %r4 is a value of the thread, %r1 and %r2 are parameters, %r3 is the thread's index.
const shapeKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 m) .maxntid 1024, 1, 1
{
.reg .pred %%p<9>; .reg .b32 %%r<40>; .reg .b64 %%rd<9>;
.shared .b32 s[64];
ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out]; ld.param.u32 %%r1, [n]; ld.param.u32 %%r2, [m];
mov.u32 %%r3, %%tid.x; mul.wide.u32 %%rd3, %%r3, 4; add.s64 %%rd4, %%rd1, %%rd3; add.s64 %%rd5, %%rd2, %%rd3;
ld.global.u32 %%r4, [%%rd4];
%s
st.global.u32 [%%rd5], %%r4;
ret;
}
`

// madChain is n dependent multiply-adds.
func madChain(n int, factor string) string {
	var sb strings.Builder
	for i := range n {
		fmt.Fprintf(&sb, "mad.lo.s32 %%r4, %%r4, %s, %d;\n", factor, 77+i)
	}
	return sb.String()
}

// shapeBranch is a branch around n instructions.
func shapeBranch(kind string, n int) string {
	cond, body := "%r4", madChain(n, "%r2")
	switch kind {
	case "uniform":
		cond = "%r2"
	case "else":
		return "setp.lt.u32 %p1, %r4, %r1;\n@%p1 bra A;\n" + body + "bra D;\nA:\n" + madChain(max(1, n/2), "%r1") + "D:"
	case "store":
		body = madChain(n-1, "%r2") + "st.global.u32 [%rd5+4096], %r4;\n"
	case "load":
		body = "ld.global.u32 %r4, [%rd4+4096];\n" + madChain(n-1, "%r2")
	case "atomic":
		body = "red.global.add.u32 [%rd5+4096], %r4;\n" + madChain(n-1, "%r2")
	case "flo":
		body = "bfind.u32 %r4, %r4;\n" + madChain(n-1, "%r2")
	case "popc":
		body = "popc.b32 %r4, %r4;\n" + madChain(n-1, "%r2")
	case "dp4a":
		body = "dp4a.u32.u32 %r4, %r4, %r2, %r4;\n" + madChain(n-1, "%r2")
	case "shared":
		return "mov.u32 %r30, s;\nst.shared.u32 [%r30], %r3;\nbar.sync 0;\nsetp.lt.u32 %p1, %r4, %r1;\n@%p1 bra D;\nld.shared.u32 %r4, [%r30+4];\n" +
			madChain(n-1, "%r2") + "D:"
	}
	return "setp.lt.u32 %p1, " + cond + ", %r1;\n@%p1 bra D;\n" + body + "D:"
}

// shapeLoop is a loop around a fragment and n multiply-adds.
func shapeLoop(kind, fragment string, n int) string {
	head, start, next, test := "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra D;\n", "0", "add.s32 %r10, %r10, 1;", "setp.lt.u32 %p2, %r10, %r1;"
	pragma := ""
	switch kind {
	case "down":
		start, next, test = "%r1", "add.s32 %r10, %r10, -1;", "setp.ne.s32 %p2, %r10, 0;"
	case "up32":
		head, start, next = "setp.ge.u32 %p1, %r3, %r1;\n@%p1 bra D;\n", "%r3", "add.s32 %r10, %r10, 32;"
	case "block":
		head, start, next = "setp.ge.u32 %p1, %r3, %r1;\n@%p1 bra D;\nmov.u32 %r11, %ntid.x;\n", "%r3", "add.s32 %r10, %r10, %r11;"
	case "differ":
		test = "setp.ne.s32 %p2, %r10, %r1;"
	case "double":
		head, start, next = "", "1", "shl.b32 %r10, %r10, 1;"
	case "nested", "apart": // two ifs, the second inside the first or behind it
		second := map[string]string{"nested": "E:", "apart": "F:"}[kind]
		inner := map[string]string{"nested": "", "apart": "E:\n"}[kind]
		fragment = "setp.ne.s32 %p3, %r4, 1;\n@%p3 bra E;\nxor.b32 %r5, %r4, %r2;\n" + inner + "setp.ne.s32 %p4, %r4, 7;\n@%p4 bra " +
			second[:1] + ";\nst.shared.u32 [%r3], %r4;\n" + second
	case "cases":
		fragment = "setp.eq.s32 %p3, %r4, 1;\n@%p3 bra A;\nsetp.eq.s32 %p4, %r3, 7;\n@%p4 bra B;\nbra.uni E;\nA:\nadd.s32 %r4, %r4, %r2;\nbra.uni E;\n" +
			"B:\nxor.b32 %r4, %r4, %r2;\nE:"
	case "pragma":
		pragma = ".pragma \"nounroll\";\n"
	}
	return head + "mov.u32 %r10, " + start + ";\nL:\n" + pragma + fragment + "\n" + madChain(n, "%r2") + next + "\n" + test + "\n@%p2 bra L;\nD:"
}

func compileShape(t *testing.T, body string, sm int) *isa.Program {
	t.Helper()
	m, err := ptx.Parse("shape.ptx", fmt.Appendf(nil, shapeKernel, body))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(m, "", testTarget(sm), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestShapes compares predication and unrolling with what the vendor's compiler does.
func TestShapes(t *testing.T) {
	text, err := os.ReadFile("testdata/shapes.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, line := range strings.Split(string(text), "\n") {
		var what, kind string
		var n, copies int
		fmt.Sscan(line, &what, &kind, &n, &copies)
		for _, sm := range []int{75, 90, 120} {
			switch what {
			case "branch":
				rows++
				for body := 1; body <= 14; body++ {
					p := compileShape(t, shapeBranch(kind, body), sm)
					branches := 0
					for i := range p.Insts {
						if p.Insts[i].Op == isa.OpBRA {
							branches++
						}
					}
					if (branches == 0) != (body <= n) {
						t.Errorf("sm_%d, branch %s around %d instructions: %d branches", sm, kind, body, branches)
					}
				}
			case "loop":
				rows++
				if got := copiesInLoop(compileShape(t, shapeLoop(kind, "", n), sm)); got != copies {
					t.Errorf("sm_%d, loop %s around %d multiply-adds: %d bodies in a loop, want %d", sm, kind, n, got, copies)
				}
			case "limit":
				rows++
				fmt.Sscan(kind, &n)
				_, fragment, _ := strings.Cut(line, ": ")
				for body, want := range map[int]int{n: unrollFactor, n + 1: 1} {
					if got := copiesInLoop(compileShape(t, shapeLoop("up", fragment, body), sm)); got != want {
						t.Errorf("sm_%d, loop around %q and %d multiply-adds: %d bodies in a loop, want %d", sm, fragment, body, got, want)
					}
				}
			}
		}
	}
	if rows < 60 {
		t.Fatalf("only %d rows", rows)
	}
}

// copiesInLoop is how often the largest loop has the body's first multiply-add.
func copiesInLoop(p *isa.Program) int {
	most := 0
	for i := range p.Insts {
		in := &p.Insts[i]
		if in.Op != isa.OpBRA {
			continue
		}
		to := in.Src[in.NSrc-1].Imm // behind a condition, if it is uniform
		n := 0
		for k := to; k < int64(i); k++ {
			if isImm(p.Insts[k].Src[2], 77) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}
