package lower

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// callWriter writes random kernels that call random functions, by name and through pointers, and the same kernels with the functions'
// bodies in the place of the calls.
type callWriter struct {
	bodies []string // of functions 0, 1, 2: a later one can call earlier ones; calls are lines "#call ..."
	temps  int
	labels int
	unique int
}

// A call line: function, a second function or -1, a predicate's operands, results and arguments.
type callLine struct {
	k, other                     int
	d, e, a, w, b, first, second string
}

func (c *callWriter) body(r *rand.Rand, depth, callable int) string {
	w := &programWriter{r: r, temp: c.temps, label: c.labels}
	part := func() {
		w.section(depth)
		if callable > 0 {
			other := -1
			if r.Intn(2) == 0 {
				other = r.Intn(callable)
			}
			fmt.Fprintf(&w.sb, "#call %d %d %s %s %s %s %s %s %s\n", r.Intn(callable), other, w.onlyReg(), w.wide(), w.onlyReg(), w.wide(), w.onlyReg(), w.onlyReg(), w.onlyReg())
		}
	}
	part()
	if callable > 0 {
		if r.Intn(2) == 0 { // one in a loop
			w.label++
			w.temp++
			n, p := w.label, w.temp
			w.out("and.b32 %%c%d, %s, 3;", n, w.onlyReg())
			fmt.Fprintf(&w.sb, "L%d:\n", n)
			part()
			w.out("add.s32 %%c%d, %%c%d, -1;", n, n)
			w.out("setp.ge.s32 %%p%d, %%c%d, 0;", p, n)
			w.out("@%%p%d bra L%d;", p, n)
		}
		part()
	}
	w.section(0)
	c.temps, c.labels = w.temp, w.label
	return w.sb.String()
}

func (c *callWriter) registers() string {
	return fmt.Sprintf("\t.reg .b32 %%r<20>, %%t<%d>, %%c<%d>;\n\t.reg .b64 %%rd<20>;\n\t.reg .b16 %%h<4>;\n\t.reg .pred %%p<%d>;\n", c.temps+1, c.labels+1, c.temps+1)
}

// start sets the registers of a function's body from its arguments.
func start(a, w, b string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "\tmov.b32 %%r10, %s;\n\tmov.b32 %%r11, %s;\n\tmov.b64 %%rd10, %s;\n\tmov.b32 %%r0, 1;\n", a, b, w)
	for i := 2; i < 8; i++ {
		fmt.Fprintf(&s, "\tmad.lo.s32 %%r%d, %%r10, %d, %%r11;\n", 10+i, 77*i+1)
	}
	for i := 1; i < 4; i++ {
		fmt.Fprintf(&s, "\tmul.wide.u32 %%rd%d, %%r10, %%r%d;\n", 10+i, 11+i)
	}
	return s.String()
}

// expand writes the body with calls, or with the functions' bodies in their place.
func (c *callWriter) expand(body string, inline bool) string {
	var out strings.Builder
	for _, line := range strings.SplitAfter(body, "\n") {
		var x callLine
		if n, _ := fmt.Sscanf(line, "#call %d %d %s %s %s %s %s %s %s", &x.k, &x.other, &x.d, &x.e, &x.a, &x.w, &x.b, &x.first, &x.second); n != 9 {
			out.WriteString(line)
			continue
		}
		c.unique++
		u := c.unique
		if inline {
			c.inline(&out, &x, u)
			continue
		}
		fmt.Fprintf(&out, "\t{\n\t.param .b32 a0, a2, a3;\n\t.param .b64 a1;\n\t.param .b32 q0;\n\t.param .b64 q1;\n")
		fmt.Fprintf(&out, "\tst.param.b32 [a0], %s;\n\tst.param.b64 [a1], %s;\n\tst.param.b32 [a2], %s;\n\tst.param.b32 [a3], %%sh;\n", x.a, x.w, x.b)
		if x.other < 0 {
			fmt.Fprintf(&out, "\tcall (q0, q1), f%d, (a0, a1, a2, a3);\n", x.k)
		} else {
			fmt.Fprintf(&out, "\t.reg .b64 fa, fb, fp;\n\t.reg .pred fq;\n\tsetp.lt.s32 fq, %s, %s;\n\tmov.u64 fa, f%d;\n\tmov.u64 fb, f%d;\n\tselp.b64 fp, fa, fb, fq;\n", x.first, x.second, x.k, x.other)
			fmt.Fprintf(&out, "P%d: .callprototype (.param .b32 _, .param .b64 _) _ (.param .b32 _, .param .b64 _, .param .b32 _, .param .b32 _);\n", u)
			fmt.Fprintf(&out, "\tcall (q0, q1), fp, (a0, a1, a2, a3), P%d;\n", u)
		}
		fmt.Fprintf(&out, "\tld.param.b32 %s, [q0];\n\tld.param.b64 %s, [q1];\n\t}\n", x.d, x.e)
	}
	return out.String()
}

func (c *callWriter) inline(out *strings.Builder, x *callLine, u int) {
	put := func(k int) {
		fmt.Fprintf(out, "\t{\n%s%s%s\tmov.b32 ra%d, %%r10;\n\tmov.b64 rw%d, %%rd10;\n\t}\n", c.registers(), start(fmt.Sprintf("ia%d", u), fmt.Sprintf("iw%d", u), fmt.Sprintf("ib%d", u)),
			c.expand(c.bodies[k], true), u, u)
	}
	fmt.Fprintf(out, "\t{\n\t.reg .b32 ia%d, ib%d, ra%d;\n\t.reg .b64 iw%d, rw%d;\n\t.reg .pred fq%d;\n", u, u, u, u, u, u)
	fmt.Fprintf(out, "\tmov.b32 ia%d, %s;\n\tmov.b64 iw%d, %s;\n\tmov.b32 ib%d, %s;\n", u, x.a, u, x.w, u, x.b)
	if x.other < 0 {
		put(x.k)
	} else {
		fmt.Fprintf(out, "\tsetp.lt.s32 fq%d, %s, %s;\n\t@fq%d bra IT%d;\n", u, x.first, x.second, u, u)
		put(x.other)
		fmt.Fprintf(out, "\tbra IJ%d;\nIT%d:\n", u, u)
		put(x.k)
		fmt.Fprintf(out, "IJ%d:\n", u)
	}
	fmt.Fprintf(out, "\tmov.b32 %s, ra%d;\n\tmov.b64 %s, rw%d;\n\t}\n", x.d, u, x.e, u)
}

// randomCalls is a kernel with calls, and one without that computes the same.
func randomCalls(seed int64) (calls, inlined string) {
	r := rand.New(rand.NewSource(seed))
	c := &callWriter{}
	for k := range 3 {
		callable := k
		if r.Intn(2) == 0 {
			callable = 0
		}
		c.bodies = append(c.bodies, c.body(r, k&1, callable))
	}
	main := c.body(r, 1, 3)
	kernel := func(inline bool) string {
		var s strings.Builder
		s.WriteString(".version 7.0\n.target sm_61\n.address_size 64\n")
		for k, body := range c.bodies {
			if inline {
				break
			}
			fmt.Fprintf(&s, ".func (.param .b32 q0, .param .b64 q1) f%d(.param .b32 a0, .param .b64 a1, .param .b32 a2, .param .b32 a3)\n{\n%s\t.reg .b32 pa, pb, %%sh;\n\t.reg .b64 pw;\n", k, c.registers())
			s.WriteString("\tld.param.b32 pa, [a0];\n\tld.param.b64 pw, [a1];\n\tld.param.b32 pb, [a2];\n\tld.param.b32 %sh, [a3];\n")
			s.WriteString(start("pa", "pw", "pb") + c.expand(body, false))
			s.WriteString("\tst.param.b32 [q0], %r10;\n\tst.param.b64 [q1], %rd10;\n\tret;\n}\n")
		}
		s.WriteString(".visible .entry k(.param .u64 out, .param .u32 n)\n{\n" + c.registers() + "\t.reg .b32 %sh, %sb;\n\t.shared .align 4 .b8 buf[2048];\n")
		s.WriteString("\tmov.u32 %r1, %tid.x;\n\tld.param.u64 %rd1, [out];\n\tmov.u32 %sb, buf;\n\tshl.b32 %sh, %r1, 4;\n\tadd.s32 %sh, %sh, %sb;\n")
		for i := range 4 {
			fmt.Fprintf(&s, "\tst.shared.u32 [%%sh+%d], %d;\n", 4*i, i)
		}
		s.WriteString("\tmul.wide.u32 %rd2, %r1, 77777;\n" + start("%r1", "%rd2", "1234567"))
		s.WriteString(c.expand(main, inline))
		s.WriteString("\tmul.wide.u32 %rd2, %r1, 64;\n\tadd.s64 %rd3, %rd1, %rd2;\n")
		for i := range 8 {
			fmt.Fprintf(&s, "\tst.global.u32 [%%rd3+%d], %%r%d;\n", 4*i, 10+i)
		}
		for i := range 4 {
			fmt.Fprintf(&s, "\tst.global.u64 [%%rd3+%d], %%rd%d;\n", 32+8*i, 10+i)
		}
		s.WriteString("\tret;\n}\n")
		return s.String()
	}
	return kernel(false), kernel(true)
}

// TestRandomCalls runs random kernels with calls and the same without: unoptimised, optimised and with few registers.
func TestRandomCalls(t *testing.T) {
	n := int64(12)
	if testing.Short() {
		n = 3
	}
	for seed := range n {
		checkRandomCalls(t, seed, []int{35, 61, 70, 75, 90, 120})
	}
}

func checkRandomCalls(t *testing.T, seed int64, targets []int) {
	t.Helper()
	calls, inlined := randomCalls(seed)
	parse := func(text string) *ptx.Module {
		m, err := ptx.Parse("random.ptx", []byte(text))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		return m
	}
	a, b := parse(calls), parse(inlined)
	run := func(m *ptx.Module, target *isa.Target, opt Options) []byte {
		p, err := Compile(m, "k", target, opt)
		if err != nil {
			t.Fatalf("seed %d sm_%d %+v: %v", seed, target.SM, opt, err)
		}
		out, err := runRandom(p, target)
		if err != nil {
			t.Fatalf("seed %d sm_%d %+v: %v", seed, target.SM, opt, err)
		}
		return out
	}
	want := run(b, testTarget(61), Options{NoOptimise: true})
	for _, sm := range targets {
		for _, opt := range []Options{{NoOptimise: true}, {}, {MaxRegs: 24}} {
			if got := run(a, testTarget(sm), opt); string(got) != string(want) {
				t.Errorf("seed %d sm_%d %+v: results differ from those without calls\n%s", seed, sm, opt, diffWords(got, want))
				return
			}
		}
	}
}
