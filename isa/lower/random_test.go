package lower

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// programWriter writes random kernels: integer code on a few registers with branches and a loop, whose registers
// are all stored at the end.
type programWriter struct {
	sb    strings.Builder
	r     *rand.Rand
	label int
	temp  int
	last  int // predicate written in this section, 0: none

	shared, wideShared int  // registers of memoryWriter that hold what all lanes share (not before something diverges), behind the others
	onlyShared         bool // write and read these only
}

func (w *programWriter) reg() string {
	if w.r.Intn(6) == 0 {
		return fmt.Sprint(int32(w.r.Uint32()) >> w.r.Intn(32))
	}
	return w.onlyReg()
}
func (w *programWriter) onlyReg() string { return fmt.Sprintf("%%r%d", 10+w.number(8, w.shared)) }
func (w *programWriter) wide() string    { return fmt.Sprintf("%%rd%d", 10+w.number(4, w.wideShared)) }

func (w *programWriter) number(own, shared int) int {
	if w.onlyShared {
		return own + w.r.Intn(shared)
	}
	return w.r.Intn(own + shared)
}
func (w *programWriter) out(format string, args ...any) {
	fmt.Fprintf(&w.sb, "\t"+format+"\n", args...)
}

func (w *programWriter) pick(s ...string) string { return s[w.r.Intn(len(s))] }

func (w *programWriter) instruction() {
	d := w.onlyReg()
	switch w.r.Intn(41) {
	case 0, 1:
		w.out("add.s32 %s, %s, %s;", d, w.reg(), w.reg())
	case 2:
		w.out("sub.s32 %s, %s, %s;", d, w.reg(), w.reg())
	case 3:
		w.out("mul.lo.s32 %s, %s, %s;", d, w.onlyReg(), w.reg())
	case 4:
		w.out("mad.lo.s32 %s, %s, %s, %s;", d, w.onlyReg(), w.reg(), w.reg())
	case 5, 6:
		w.out("%s.b32 %s, %s, %s;", w.pick("and", "or", "xor"), d, w.onlyReg(), w.reg())
	case 7:
		w.out("shl.b32 %s, %s, %d;", d, w.onlyReg(), w.r.Intn(34))
	case 8:
		w.out("%s %s, %s, %d;", w.pick("shr.u32", "shr.s32"), d, w.onlyReg(), w.r.Intn(34))
	case 9:
		w.out("%s %s, %s, %s;", w.pick("min.s32", "max.s32", "min.u32", "max.u32"), d, w.onlyReg(), w.reg())
	case 10:
		w.temp++
		w.out("setp.%s %%p%d, %s, %s;", w.pick("lt.s32", "ge.u32", "eq.s32", "ne.s32"), w.temp, w.onlyReg(), w.reg())
		w.out("selp.b32 %s, %s, %s, %%p%d;", d, w.reg(), w.reg(), w.temp)
	case 11:
		w.temp++
		w.out("and.b32 %%t%d, %s, %d;", w.temp, w.onlyReg(), 1+w.r.Intn(7))
		w.out("setp.%s.s32 %%p%d, %%t%d, 0;", w.pick("eq", "ne"), w.temp, w.temp)
		w.out("%s%%p%d %s %s, %s, %s;", w.pick("@", "@!"), w.temp, w.pick("add.s32", "xor.b32", "min.s32"), d, w.onlyReg(), w.reg())
	case 12:
		w.out("mul.wide.%s %s, %s, %s;", w.pick("u32", "s32"), w.wide(), w.onlyReg(), w.pick(w.reg(), "4", "8", "12"))
	case 13, 14:
		w.out("%s %s, %s, %s;", w.pick("add.s64", "sub.s64"), w.wide(), w.wide(), w.pick(w.wide(), fmt.Sprint(w.r.Intn(4096)-2048), "-1"))
	case 15:
		w.out("shl.b64 %s, %s, %d;", w.wide(), w.wide(), w.r.Intn(40))
	case 16:
		w.out("cvt.u64.u32 %s, %s;", w.wide(), w.onlyReg())
	case 17:
		w.out("cvt.u32.u64 %s, %s;", d, w.wide())
	case 18:
		w.out("{ .reg .b32 lo, hi; mov.b64 {lo, hi}, %s; xor.b32 %s, lo, hi; }", w.wide(), d)
	case 19:
		w.out("not.b32 %s, %s;", d, w.onlyReg())
	case 20:
		w.out("add.cc.u32 %s, %s, %s;", d, w.onlyReg(), w.onlyReg())
		w.out("addc.u32 %s, %s, %s;", w.onlyReg(), w.onlyReg(), w.reg())
	case 22:
		w.out("%s %s, %s, %s;", w.pick("mul.hi.u32", "mul.hi.s32"), d, w.onlyReg(), w.reg())
	case 23:
		w.out("%s %s, %s;", w.pick("popc.b32", "clz.b32"), d, w.onlyReg())
	case 24:
		w.out("%s %s, %s;", w.pick("popc.b64", "clz.b64"), d, w.wide())
	case 25:
		w.out("%s %s, %s, %s, %d;", w.pick("bfe.u32", "bfe.s32"), d, w.onlyReg(), w.pick(w.onlyReg(), fmt.Sprint(w.r.Intn(40))), w.r.Intn(34))
	case 26:
		w.out("prmt.b32 %s, %s, %s, %s;", d, w.onlyReg(), w.onlyReg(), w.pick(w.onlyReg(), fmt.Sprint(w.r.Intn(1<<16))))
	case 27:
		w.out("%s %s, %s, %s, %s;", w.pick("shf.l.wrap.b32", "shf.r.wrap.b32"), d, w.onlyReg(), w.onlyReg(), w.pick(w.onlyReg(), fmt.Sprint(w.r.Intn(40))))
	case 28:
		w.out("%s %s, %s, %s;", w.pick("shr.u64", "shr.s64"), w.wide(), w.wide(), w.pick(w.onlyReg(), fmt.Sprint(w.r.Intn(70))))
	case 29:
		w.temp++
		w.out("setp.%s %%p%d, %s, %s;", w.pick("lt.s64", "ge.u64", "eq.s64", "gt.s64"), w.temp, w.wide(), w.wide())
		w.out("@%%p%d add.s64 %s, %s, 1;", w.temp, w.wide(), w.wide())
	case 30:
		w.out("%s %s, %s;", w.pick("abs.s32", "neg.s32", "not.b32", "popc.b32", "cnot.b32"), d, w.onlyReg())
	case 31: // parts of words, again and again of the same register
		s := w.onlyReg()
		for range 1 + w.r.Intn(3) {
			w.out("{ .reg .b16 h; cvt.u16.u32 h, %s; %s %s, h; }", s, w.pick("cvt.u32.u16", "cvt.s32.s16", "cvt.u32.u8", "cvt.s32.s8"), d)
			s = d
		}
	case 32:
		s := w.onlyReg()
		for range 1 + w.r.Intn(3) {
			w.out("prmt.b32 %s, %s, %s, 0x%04x;", d, s, w.pick("0", s, w.onlyReg()), w.r.Intn(1<<16))
			s = d
		}
	case 33:
		e := w.wide()
		w.out("%s.b64 %s, %s, %s;", w.pick("and", "or", "xor"), e, w.wide(), w.pick(w.wide(), "0xffff", "-1", "0x7f00000000"))
		w.out("%s %s, %s;", w.pick("not.b64", "neg.s64", "abs.s64"), w.wide(), e)
	case 34:
		w.out("%s %s, %s, %s;", w.pick("min.u32", "max.u32", "min.s32", "max.s32"), d, w.onlyReg(), w.pick("0", "255", "65535", "127", "-128"))
		w.out("and.b32 %s, %s, %d;", w.onlyReg(), d, w.r.Intn(1<<16))
	case 35, 36, 37, 38, 39, 40:
		w.rarer(d)
	case 21:
		w.out("st.shared.u32 [%%sh+%d], %s;", 4*w.r.Intn(4), w.onlyReg())
		w.out("ld.shared.u32 %s, [%%sh+%d];", d, 4*w.r.Intn(4))
	}
}

// pred is a predicate, written here or earlier in the section.
func (w *programWriter) pred() string {
	if w.last == 0 || w.r.Intn(2) == 0 {
		w.temp++
		w.last = w.temp
		w.out("setp.%s %%p%d, %s, %s;", w.pick("lt.s32", "gt.u32", "ne.s32"), w.temp, w.onlyReg(), w.reg())
	}
	return fmt.Sprintf("%%p%d", w.last)
}

// rarer is an instruction of the rest of the integer set.
func (w *programWriter) rarer(d string) {
	switch w.r.Intn(20) {
	case 0:
		w.out("%s %s, %s;", w.pick("neg.s32", "abs.s32", "brev.b32", "bfind.u32", "bfind.s32", "cnot.b32"), d, w.onlyReg())
	case 1:
		w.out("bfi.b32 %s, %s, %s, %s, %d;", d, w.onlyReg(), w.onlyReg(), w.pick(w.onlyReg(), fmt.Sprint(w.r.Intn(40))), w.r.Intn(34))
	case 2:
		w.out("mul.lo.s64 %s, %s, %s;", w.wide(), w.wide(), w.pick(w.wide(), "3", "-10", "4096"))
	case 3:
		w.out("mad.wide.%s %s, %s, %s, %s;", w.pick("u32", "s32"), w.wide(), w.onlyReg(), w.reg(), w.wide())
	case 4:
		w.out("lop3.b32 %s, %s, %s, %s, %d;", d, w.onlyReg(), w.onlyReg(), w.reg(), w.r.Intn(256))
	case 5:
		w.out("%s %s, %s, %d;", w.pick("div.u32", "div.s32", "rem.u32", "rem.s32"), d, w.onlyReg(), []int{3, 7, 8, 10, 64, 1000, 12345}[w.r.Intn(7)])
	case 6:
		w.out("%s %s, %s, %s;", w.pick("div.u32", "div.s32", "rem.u32", "rem.s32"), d, w.onlyReg(), w.onlyReg())
	case 7:
		w.out("%s %s, %s, %s;", w.pick("min.s64", "max.s64", "min.u64", "max.u64"), w.wide(), w.wide(), w.wide())
	case 8, 9:
		q := w.pred()
		w.temp++
		w.out("setp.%s.%s.%s %%p%d, %s, %s, %s%s;", w.pick("lt", "ge", "eq"), w.pick("and", "or", "xor"), w.pick("s32", "u32"), w.temp, w.onlyReg(), w.reg(), w.pick("", "!"), q)
		w.out("selp.b32 %s, %s, %s, %%p%d;", d, w.reg(), w.onlyReg(), w.temp)
	case 10, 11:
		p, q := w.pred(), w.pred()
		w.temp++
		w.out("%s %%p%d, %s, %s;", w.pick("and.pred", "or.pred", "xor.pred"), w.temp, p, q)
		w.out("@%s%%p%d add.s32 %s, %s, %s;", w.pick("", "!"), w.temp, d, w.onlyReg(), w.reg())
	case 12:
		w.out("selp.b64 %s, %s, %s, %s;", w.wide(), w.wide(), w.wide(), w.pred())
	case 13:
		w.out("slct.b32.s32 %s, %s, %s, %s;", d, w.onlyReg(), w.onlyReg(), w.onlyReg())
	case 14:
		w.out("cvt.s64.s32 %s, %s;", w.wide(), w.onlyReg())
	case 15:
		w.out("cvt.u16.u32 %%h1, %s;", w.onlyReg())
		w.out("cvt.u16.u32 %%h2, %s;", w.onlyReg())
		w.out("%s %%h3, %%h1, %%h2;", w.pick("add.s16", "sub.s16", "mul.lo.s16", "min.s16", "max.u16", "and.b16", "xor.b16"))
		w.out("%s %s, %%h3;", w.pick("cvt.u32.u16", "cvt.s32.s16"), d)
	case 16:
		w.out("sub.cc.u32 %s, %s, %s;", d, w.onlyReg(), w.onlyReg())
		w.out("subc.u32 %s, %s, %s;", w.onlyReg(), w.onlyReg(), w.onlyReg())
	case 17:
		w.out("%s %s, %s, %s, %s;", w.pick("dp4a.u32.u32", "dp4a.s32.s32", "dp4a.u32.s32"), d, w.onlyReg(), w.onlyReg(), w.reg())
	case 18:
		w.out("%s %s, %s, %s, %s;", w.pick("sad.s32", "sad.u32"), d, w.onlyReg(), w.onlyReg(), w.reg())
	case 19:
		w.out("%s %s, %s, %s;", w.pick("and.b64", "or.b64", "xor.b64"), w.wide(), w.wide(), w.pick(w.wide(), "0xff00ff", "-4096"))
	}
}

func (w *programWriter) section(depth int) {
	w.last = 0
	for range 3 + w.r.Intn(12) {
		w.instruction()
	}
	if depth == 0 {
		return
	}
	switch w.r.Intn(6) {
	case 5: // branch table, with fall through and a target that stands twice
		w.label++
		n, k := w.label, 2+w.r.Intn(4)
		w.out("and.b32 %%c%d, %s, 7;", n, w.onlyReg())
		w.out("min.u32 %%c%d, %%c%d, %d;", n, n, k)
		fmt.Fprintf(&w.sb, "B%d: .branchtargets", n)
		for i := range k {
			fmt.Fprintf(&w.sb, " B%d_%d,", n, i)
		}
		fmt.Fprintf(&w.sb, " B%d_0;\n", n)
		guard := ""
		if w.r.Intn(3) == 0 {
			w.temp++
			w.out("setp.ne.s32 %%p%d, %s, %s;", w.temp, w.onlyReg(), w.reg())
			guard = fmt.Sprintf("@%%p%d ", w.temp)
		}
		w.out("%sbrx.idx %%c%d, B%d;", guard, n, n)
		for i := range k {
			fmt.Fprintf(&w.sb, "B%d_%d:\n", n, i)
			if i == 0 {
				w.section(depth - 1)
			} else {
				w.section(0)
			}
			if w.r.Intn(3) > 0 {
				w.out("bra J%d;", n)
			}
		}
		fmt.Fprintf(&w.sb, "J%d:\n", n)
	case 3: // loop with a constant trip count, which can be unrolled wholly or in part
		w.label++
		w.temp++
		n, p := w.label, w.temp
		start, step, rounds := w.r.Intn(20)-10, 1+w.r.Intn(3), 1+w.r.Intn(26)
		cmp, more := w.pick("lt", "ne"), fmt.Sprintf("@%%p%d", p)
		if w.r.Intn(2) == 0 {
			step = -step
			cmp = w.pick("gt", "ne")
		}
		if w.r.Intn(3) == 0 {
			cmp, more = map[string]string{"lt": "ge", "gt": "le", "ne": "eq"}[cmp], fmt.Sprintf("@!%%p%d", p)
		}
		w.out("mov.u32 %%c%d, %d;", n, start)
		fmt.Fprintf(&w.sb, "L%d:\n", n)
		for range 1 + w.r.Intn(4) {
			w.instruction()
		}
		if w.r.Intn(3) == 0 {
			w.out("add.s32 %s, %s, %%c%d;", w.onlyReg(), w.onlyReg(), n)
		}
		w.out("add.s32 %%c%d, %%c%d, %d;", n, n, step)
		w.out("setp.%s.s32 %%p%d, %%c%d, %d;", cmp, p, n, start+step*rounds)
		w.out("%s bra L%d;", more, n)
		if w.r.Intn(3) == 0 {
			w.out("xor.b32 %s, %s, %%c%d;", w.onlyReg(), w.onlyReg(), n)
		}
	case 0, 1: // if, with or without else, on a value that differs between lanes
		w.label++
		w.temp++
		n, p := w.label, w.temp
		w.out("setp.%s %%p%d, %s, %s;", w.pick("lt.s32", "ne.s32", "gt.u32"), p, w.onlyReg(), w.reg())
		w.out("@%%p%d bra E%d;", p, n)
		w.section(depth - 1)
		if w.r.Intn(2) == 0 {
			w.out("bra J%d;", n)
			fmt.Fprintf(&w.sb, "E%d:\n", n)
			w.section(depth - 1)
		} else {
			fmt.Fprintf(&w.sb, "E%d:\n", n)
		}
		fmt.Fprintf(&w.sb, "J%d:\n", n)
	case 2: // loop with a trip count that differs between lanes or not
		w.label++
		w.temp++
		n, p := w.label, w.temp
		down := w.r.Intn(2) == 0 // counts down to zero, which can be unrolled
		mask, step := 3, 1
		if down {
			mask, step = 15, 1+w.r.Intn(2)
		}
		w.out("and.b32 %%c%d, %s, %d;", n, w.pick("%r0", w.onlyReg()), mask)
		if down {
			w.out("mad.lo.s32 %%c%d, %%c%d, %d, %d;", n, n, step, step)
		}
		fmt.Fprintf(&w.sb, "L%d:\n", n)
		if down && w.r.Intn(3) > 0 {
			w.section(0)
		} else {
			w.section(depth - 1)
		}
		w.out("add.s32 %%c%d, %%c%d, %d;", n, n, -step)
		if down {
			w.out("setp.ne.s32 %%p%d, %%c%d, 0;", p, n)
		} else {
			w.out("setp.ge.s32 %%p%d, %%c%d, 0;", p, n)
		}
		w.out("@%%p%d bra L%d;", p, n)
	}
	w.section(depth - 1)
}

// randomKernel is a kernel of one output pointer and one number.
func randomKernel(seed int64) string {
	w := &programWriter{r: rand.New(rand.NewSource(seed))}
	w.section(2)
	body := w.sb.String()
	w.sb.Reset()
	w.sb.WriteString(".version 7.0\n.target sm_61\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n)\n{\n")
	fmt.Fprintf(&w.sb, "\t.reg .b32 %%r<20>, %%t<%d>, %%c<%d>, %%sh, %%sb;\n\t.reg .b64 %%rd<20>;\n\t.reg .b16 %%h<4>;\n\t.reg .pred %%p<%d>;\n\t.shared .align 4 .b8 buf[2048];\n", w.temp+1, w.label+1, w.temp+1)
	w.out("mov.u32 %%r0, %%ctaid.x;")
	w.out("mov.u32 %%r1, %%tid.x;")
	w.out("ld.param.u64 %%rd1, [out];")
	w.out("ld.param.u32 %%r2, [n];")
	w.out("mov.u32 %%sb, buf;")
	w.out("shl.b32 %%sh, %%r1, 4;")
	w.out("add.s32 %%sh, %%sh, %%sb;")
	for i := range 4 {
		w.out("st.shared.u32 [%%sh+%d], %%r2;", 4*i)
	}
	for i := range 8 {
		w.out("mad.lo.s32 %%r%d, %%r1, %d, %d;", 10+i, int32(w.r.Uint32())|1, int32(w.r.Uint32()))
	}
	for i := range 4 {
		w.out("mul.wide.u32 %%rd%d, %%r%d, %%r%d;", 10+i, 10+i, 12+i)
	}
	w.sb.WriteString(body)
	w.out("mul.wide.u32 %%rd2, %%r1, 64;")
	w.out("add.s64 %%rd3, %%rd1, %%rd2;")
	for i := range 8 {
		w.out("st.global.u32 [%%rd3+%d], %%r%d;", 4*i, 10+i)
	}
	for i := range 4 {
		w.out("st.global.u64 [%%rd3+%d], %%rd%d;", 32+8*i, 10+i)
	}
	w.out("ret;")
	w.sb.WriteString("}\n")
	return w.sb.String()
}

func runRandom(p *isa.Program, t *isa.Target) ([]byte, error) {
	mem := isa.NewMemory()
	out := mem.Alloc("out", 64*64)
	params := binary.LittleEndian.AppendUint64(nil, out.Addr)
	params = binary.LittleEndian.AppendUint32(params, 77)
	k, err := isa.Bind(p, t, &isa.Launch{Grid: isa.Dim3{X: 3, Y: 1, Z: 1}, Block: isa.Dim3{X: 50, Y: 1, Z: 1}, Params: params, Mem: mem, MaxSteps: 200000})
	if err != nil {
		return nil, err
	}
	_, err = k.RunBlock(2)
	return out.Data, err
}

// randomTargets are one of each generation whose lowering differs.
var randomTargets = []int{30, 35, 52, 61, 70, 75, 86, 90, 100, 120}

// TestRandomKernels runs random kernels on every generation, unoptimised, optimised and with few registers, and compares all
// with the reference.
func TestRandomKernels(t *testing.T) {
	n := 60
	if testing.Short() {
		n = 12
	}
	for seed := range int64(n) {
		checkRandom(t, seed, randomTargets)
	}
}

// FuzzLower is the same for any seed, on one target each.
func FuzzLower(f *testing.F) {
	f.Add(int64(1), uint8(0))
	f.Fuzz(func(t *testing.T, seed int64, k uint8) {
		checkRandom(t, seed, randomTargets[int(k)%len(randomTargets):][:1])
	})
}

func checkRandom(t *testing.T, seed int64, targets []int) {
	t.Helper()
	m, err := ptx.Parse("random.ptx", []byte(randomKernel(seed)))
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	want := make([]byte, 64*64)
	r := newReference(m)
	for tid := range uint64(50) {
		if err := r.run(tid, 2, 77); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		copy(want[64*tid:], r.out)
	}
	for _, sm := range targets {
		compareKernel(t, seed, m, sm, []Options{{NoOptimise: true}, {}, {MaxRegs: 18}}, runRandom, want)
	}
}

// compareKernel compiles kernel k for a target with each of the options and compares what it stores with want.
func compareKernel(t *testing.T, seed int64, m *ptx.Module, sm int, options []Options, run func(*isa.Program, *isa.Target) ([]byte, error), want []byte) {
	t.Helper()
	target := testTarget(sm)
	for _, opt := range options {
		p, err := Compile(m, "k", target, opt)
		if err != nil {
			t.Fatalf("seed %d sm_%d %+v: %v", seed, sm, opt, err)
		}
		got, err := run(p, target)
		if err != nil {
			t.Fatalf("seed %d sm_%d %+v: %v", seed, sm, opt, err)
		}
		if string(got) != string(want) {
			t.Errorf("seed %d sm_%d %+v: results differ\n%s", seed, sm, opt, diffWords(got, want))
			return
		}
	}
}

func diffWords(got, want []byte) string {
	for i := 0; i+4 <= len(got); i += 4 {
		if g, w := binary.LittleEndian.Uint32(got[i:]), binary.LittleEndian.Uint32(want[i:]); g != w {
			return fmt.Sprintf("thread %d word %d: %#x, want %#x", i/64, i%64/4, g, w)
		}
	}
	return ""
}
