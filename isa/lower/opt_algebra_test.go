package lower

import (
	"encoding/binary"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// algebraKernel loads %a, %b, %c and %y of each thread, executes the statements and stores %d.
func algebraKernel(statements string) string {
	return `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %a, %b, %c, %d, %i;
  .reg .b16 %h, %k;
  .reg .b64 %x, %y, %p, %q;
  ld.param.u64 %p, [in]; ld.param.u64 %q, [out];
  mov.u32 %i, %tid.x; mul.wide.u32 %x, %i, 32; add.u64 %p, %p, %x;
  ld.global.u32 %a, [%p]; ld.global.u32 %b, [%p+4]; ld.global.u32 %c, [%p+8]; ld.global.u64 %y, [%p+16];
  ` + statements + `
  mul.wide.u32 %x, %i, 4; add.u64 %q, %q, %x;
  st.global.u32 [%q], %d;
  ret;
}
`
}

func compileAlgebra(t *testing.T, statements string, sm int, opt Options) (*isa.Program, *isa.Target) {
	t.Helper()
	m, err := ptx.Parse("algebra.ptx", []byte(algebraKernel(statements)))
	if err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
	target := testTarget(sm)
	p, err := Compile(m, "k", target, opt)
	if err != nil {
		t.Fatalf("%s sm_%d: %v", statements, sm, err)
	}
	return p, target
}

// runAlgebra runs 32 threads on words of a fixed random source, some of them small or with equal halves.
func runAlgebra(t *testing.T, p *isa.Program, target *isa.Target) string {
	t.Helper()
	const threads = 96
	mem := isa.NewMemory()
	in, out := mem.Alloc("in", 32*threads), mem.Alloc("out", 4*threads)
	r := rand.New(rand.NewSource(7))
	for i := range 8 * threads {
		v := r.Uint32()
		switch r.Intn(5) {
		case 0:
			v = uint32(int32(v) >> r.Intn(32))
		case 1:
			v >>= r.Intn(32)
		case 2:
			v = []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xff, 0x80, 0x8000, 0xffff8000}[r.Intn(9)]
		}
		binary.LittleEndian.PutUint32(in.Data[4*i:], v)
	}
	params := binary.LittleEndian.AppendUint64(nil, in.Addr)
	params = binary.LittleEndian.AppendUint64(params, out.Addr)
	k, err := isa.Bind(p, target, &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: threads, Y: 1, Z: 1}, Params: params, Mem: mem, MaxSteps: 20000})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = k.RunBlock(0); err != nil {
		t.Fatal(err)
	}
	return string(out.Data)
}

// TestAlgebra compiles the statements of testdata/algebra.txt: what remains of them has the stated number of
// instructions on sm_90, and on seven targets computes what unoptimised code does.
func TestAlgebra(t *testing.T) {
	text, err := os.ReadFile("testdata/algebra.txt")
	if err != nil {
		t.Fatal(err)
	}
	base, _ := compileAlgebra(t, "mov.b32 %d, %a;", 90, Options{})
	cases := 0
	for _, line := range strings.Split(string(text), "\n") {
		count, statements, ok := strings.Cut(line, ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		cases++
		want, err := strconv.Atoi(count)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		plain, target := compileAlgebra(t, statements, 90, Options{NoOptimise: true})
		results := runAlgebra(t, plain, target)
		for _, sm := range []int{35, 52, 61, 75, 86, 90, 120} {
			p, target := compileAlgebra(t, statements, sm, Options{})
			if runAlgebra(t, p, target) != results {
				t.Errorf("%s: sm_%d gives another result than unoptimised code", statements, sm)
			}
			if got := computes(p) - computes(base); sm == 90 && got != want {
				t.Errorf("%s: %d instructions, want %d", statements, got, want)
			}
		}
	}
	if cases < 20 {
		t.Fatalf("only %d cases", cases)
	}
}

// computes is the number of instructions that neither access memory nor control the flow.
func computes(p *isa.Program) int {
	n := 0
	for i := range p.Insts {
		if cl := p.Insts[i].Class(); !cl.IsMemory() && !cl.IsControl() && p.Insts[i].Op != isa.OpNOP && cl != isa.ClassULDC {
			n++
		}
	}
	return n
}
