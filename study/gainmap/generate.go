// Package gainmap maps where an integer instruction pays: the gain of a kernel with the instruction over one that computes the same without it, over
// independent chains a thread and resident warps, and over memory operations for each result and the latency of memory.
package gainmap

import (
	"fmt"
	"strings"
)

// Kind is a pair of instruction sequences.
type Kind struct {
	Name, About    string
	With, Without  string // names of the two forms
	one, otherwise func(b *body, acc, x, y string)
}

// Kinds lists the pairs.
func Kinds() []Kind {
	return []Kind{
		{"dp4a", "four byte products: dp4a against extracting the bytes and multiply-add", "dp4a", "scalar", dp4a, scalarDot},
		{"imad", "multiplication by ten and addition: one multiply-add against shifts and additions", "imad", "shift-add", imad, shiftAdd},
		{"dpx", "maximum of a sum and another value, not negative: the fused form against addition, two maxima", "dpx", "min-max", dpx, plainMax},
	}
}

// body writes one kernel.
type body struct {
	strings.Builder
	regs int
}

func (b *body) reg() string {
	b.regs++
	return fmt.Sprintf("%%r%d", b.regs-1)
}

func (b *body) op(format string, args ...any) { fmt.Fprintf(b, "\t"+format+";\n", args...) }

func dp4a(b *body, acc, x, y string) { b.op("dp4a.u32.u32 %s, %s, %s, %s", acc, x, y, acc) }

func scalarDot(b *body, acc, x, y string) {
	for i := range 4 {
		p, q := b.reg(), b.reg()
		for _, e := range [2][2]string{{p, x}, {q, y}} {
			switch i {
			case 0:
				b.op("and.b32 %s, %s, 255", e[0], e[1])
			case 3:
				b.op("shr.u32 %s, %s, 24", e[0], e[1])
			default:
				b.op("bfe.u32 %s, %s, %d, 8", e[0], e[1], 8*i)
			}
		}
		b.op("mad.lo.u32 %s, %s, %s, %s", acc, p, q, acc)
	}
}

// imad takes the factor from a parameter: a constant would be strength-reduced.
func imad(b *body, acc, x, y string) { b.op("mad.lo.u32 %s, %s, %%ten, %s", acc, acc, x) }

func shiftAdd(b *body, acc, x, y string) {
	p, q, s := b.reg(), b.reg(), b.reg()
	b.op("shl.b32 %s, %s, 3", p, acc)
	b.op("shl.b32 %s, %s, 1", q, acc)
	b.op("add.u32 %s, %s, %s", s, p, q)
	b.op("add.u32 %s, %s, %s", acc, s, x)
}

func dpx(b *body, acc, x, y string) {
	s := b.reg()
	b.op("add.s32 %s, %s, %s", s, acc, x)
	b.op("max.s32.relu %s, %s, %s", acc, s, y)
}

// plainMax keeps the addition apart by a factor that only the launch knows to be one, as a compiler without the fused form does.
func plainMax(b *body, acc, x, y string) {
	s, m := b.reg(), b.reg()
	b.op("mad.lo.s32 %s, %s, %%one, %s", s, acc, x)
	b.op("max.s32 %s, %s, %s", m, s, y)
	b.op("mad.lo.s32 %s, %s, %%one, 0", m, m)
	b.op("max.s32 %s, %s, 0", acc, m)
}

// Shape is what a kernel does in each of its iterations: Chains independent results, each from the one before, and Loads 32-bit loads for each
// result (0, 0.5, 1, 2). Operands that are not loaded stay in registers.
type Shape struct {
	Chains int
	Loads  float64
}

// Generate writes the PTX of both forms of a kind for the shapes, as kernels named by [Entry]. Every thread reads words of a small table that L1 holds, at another place in
// each second iteration, and stores the sum of its results.
func Generate(k Kind, shapes []Shape) string {
	var out strings.Builder
	out.WriteString(".version 8.0\n.target sm_90\n.address_size 64\n")
	for _, s := range shapes {
		for _, with := range []bool{true, false} {
			out.WriteString(kernel(k, s, with))
		}
	}
	return out.String()
}

// Entry is the name of a kernel: "dp4a_with_c4_l50".
func Entry(k Kind, s Shape, with bool) string {
	w := "without"
	if with {
		w = "with"
	}
	return fmt.Sprintf("%s_%s_c%d_l%d", k.Name, w, s.Chains, int(100*s.Loads+0.5))
}

func kernel(k Kind, s Shape, with bool) string {
	b := &body{}
	emit := k.otherwise
	if with {
		emit = k.one
	}
	acc := make([]string, s.Chains)
	for i := range acc {
		acc[i] = b.reg()
		b.op("add.u32 %s, %%tid32, %d", acc[i], 77*i+1)
	}
	x, y := b.reg(), b.reg()
	b.op("mul.lo.u32 %s, %%tid32, 0x01030507", x)
	b.op("xor.b32 %s, %s, 0x5a3c7e19", y, x)
	b.WriteString("LOOP:\n")
	b.op("mul.lo.u32 %%off, %%i, 512")
	b.op("and.b32 %%off, %%off, 512")
	b.op("cvt.u64.u32 %%wide, %%off")
	b.op("add.u64 %%at, %%base, %%wide")
	loads := make([]string, int(s.Loads*float64(s.Chains)+0.5))
	for i := range loads {
		loads[i] = b.reg()
		b.op("ld.global.nc.u32 %s, [%%at+%d]", loads[i], 512*i)
	}
	operand := func(i int, other string) string {
		if i < len(loads) {
			return loads[i]
		}
		return other
	}
	for i := range acc {
		emit(b, acc[i], operand(i, x), operand(i+s.Chains, y))
	}
	b.op("add.u32 %%i, %%i, 1")
	b.op("setp.lt.u32 %%p, %%i, %%n")
	b.WriteString("\t@%p bra LOOP;\n")
	for i := 1; i < len(acc); i++ {
		b.op("add.u32 %s, %s, %s", acc[0], acc[0], acc[i])
	}
	b.op("st.global.u32 [%%to], %s", acc[0])
	b.op("ret")
	return fmt.Sprintf(`.visible .entry %s(.param .u64 table, .param .u64 out, .param .u32 n, .param .u32 ten, .param .u32 one)
{
	.reg .pred %%p;
	.reg .b32 %%r<%d>, %%i, %%n, %%off, %%tid32, %%ten, %%one, %%block, %%size;
	.reg .b64 %%base, %%to, %%at, %%wide;
	ld.param.u64 %%base, [table];
	ld.param.u64 %%to, [out];
	ld.param.u32 %%n, [n];
	ld.param.u32 %%ten, [ten];
	ld.param.u32 %%one, [one];
	mov.u32 %%tid32, %%tid.x;
	mul.wide.u32 %%wide, %%tid32, 4;
	add.u64 %%base, %%base, %%wide;
	mov.u32 %%block, %%ctaid.x;
	mov.u32 %%size, %%ntid.x;
	mad.lo.u32 %%tid32, %%block, %%size, %%tid32;
	mul.wide.u32 %%wide, %%tid32, 4;
	add.u64 %%to, %%to, %%wide;
	mov.u32 %%i, 0;
%s}
`, Entry(k, s, with), b.regs, b.String())
}
