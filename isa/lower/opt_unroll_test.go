package lower

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// countedCase is a loop whose counter goes from a start to a bound, both different in every thread.
type countedCase struct {
	test string // of the counter with the bound: the loop goes on
	step int32
	zero bool   // the start, or for loops that go down the bound, is a literal zero
	body string // what a round does beside hashing its counter
}

// countedBodies are bodies with one block, with a branch and with two sides, which unrolling copies.
var countedBodies = map[string]string{
	"straight": "mad.lo.s32 %h, %h, 1664525, %c;\n",
	"branch":   "mad.lo.s32 %h, %h, 1664525, %c;\nand.b32 %x, %h, 64;\nsetp.eq.s32 %p4, %x, 0;\n@%p4 bra S;\nred.shared.add.u32 [%s], %h;\nadd.s32 %k, %k, 3;\nS:\n",
	"sides":    "mad.lo.s32 %h, %h, 1664525, %c;\nand.b32 %x, %h, 64;\nsetp.eq.s32 %p4, %x, 0;\n@%p4 bra E;\nxor.b32 %h, %h, %k;\nbra S;\nE:\nred.shared.add.u32 [%s], %c;\nS:\nadd.s32 %k, %k, 5;\n",
}

func (c *countedCase) text() string {
	start, bound := "%i", "%b"
	if c.zero && c.step > 0 {
		start = "0"
	} else if c.zero {
		bound = "0"
	}
	return fmt.Sprintf(`.version 7.0
.target sm_50
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred %%p<9>; .reg .b32 %%t, %%i, %%b, %%c, %%h, %%k, %%x, %%s; .reg .b64 %%rd<9>;
.shared .b32 sh[64];
ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out];
mov.u32 %%t, %%tid.x; mul.wide.u32 %%rd3, %%t, 8; add.s64 %%rd1, %%rd1, %%rd3; add.s64 %%rd2, %%rd2, %%rd3;
ld.global.u32 %%i, [%%rd1]; ld.global.u32 %%b, [%%rd1+4];
mov.u32 %%s, sh; shl.b32 %%x, %%t, 2; add.s32 %%s, %%s, %%x; st.shared.u32 [%%s], %%t;
mov.u32 %%h, %%t; mov.u32 %%k, 0;
mov.u32 %%c, %s;
L:
%sadd.s32 %%c, %%c, %d;
setp.%s %%p1, %%c, %s;
@%%p1 bra L;
ld.shared.u32 %%x, [%%s];
add.s32 %%h, %%h, %%k; add.s32 %%h, %%h, %%c;
st.global.u32 [%%rd2], %%h; st.global.u32 [%%rd2+4], %%x;
ret;
}
`, start, countedBodies[c.body], c.step, c.test, bound)
}

// run gives what thread t writes; ok is false for a loop of too many rounds.
func (c *countedCase) run(t, i, b uint32) (h, shared uint32, ok bool) {
	h, shared = t, t
	k := uint32(0)
	if c.zero && c.step > 0 {
		i = 0
	} else if c.zero {
		b = 0
	}
	cmp, unsigned, _ := strings.Cut(c.test, ".")
	for range 40 {
		h = h*1664525 + i
		switch set := h&64 != 0; {
		case c.body == "branch" && set:
			shared += h
			k += 3
		case c.body == "sides" && set:
			h ^= k
		case c.body == "sides":
			shared += i
		}
		if c.body == "sides" {
			k += 5
		}
		i += uint32(c.step)
		less, equal := int32(i) < int32(b), i == b
		if unsigned == "u32" {
			less = i < b
		}
		if !map[string]bool{"lt": less, "le": less || equal, "gt": !less && !equal, "ge": !less, "ne": !equal}[cmp] {
			return h + k + i, shared, true
		}
	}
	return 0, 0, false
}

// TestCountedLoops executes unrolled loops from starts to bounds that lie near one another, near zero and near the ends of the
// number range, on both sides, and compares all threads with the loop as written.
func TestCountedLoops(t *testing.T) {
	edges := []uint32{0, 1, 5, 12, 1<<31 - 7, 1<<31 - 1, 1 << 31, 1<<31 + 6, 1<<32 - 9, 1<<32 - 1}
	unrolled, lanes := 0, 0
	for _, test := range []string{"lt.u32", "lt.s32", "le.u32", "le.s32", "gt.u32", "gt.s32", "ge.s32", "ne.s32", "ne.u32"} {
		for _, step := range []int32{1, 3, -1, -4} {
			if step > 0 == (test[0] == 'g') && test[0] != 'n' {
				continue
			}
			for body := range countedBodies {
				for _, zero := range []bool{true, false} {
					c := countedCase{test, step, zero, body}
					var starts, bounds []uint32
					for _, e := range edges {
						for d := range uint32(14) {
							if i, b := e, e+d*uint32(step)+d%3-1; len(starts)%2 == 0 || step < 0 {
								starts, bounds = append(starts, i), append(bounds, b)
							} else {
								starts, bounds = append(starts, b), append(bounds, i)
							}
						}
					}
					n, u := checkCounted(t, &c, starts, bounds)
					lanes += n
					unrolled += u
				}
			}
		}
	}
	t.Logf("%d loops unrolled, %d threads compared", unrolled, lanes)
	if unrolled < 240 || lanes < 8000 {
		t.Errorf("only %d loops were unrolled and %d threads compared", unrolled, lanes)
	}
}

// checkCounted runs one loop on some targets and gives the number of threads compared and of loops unrolled.
func checkCounted(t *testing.T, c *countedCase, starts, bounds []uint32) (lanes, unrolled int) {
	t.Helper()
	m, err := ptx.Parse("counted.ptx", []byte(c.text()))
	if err != nil {
		t.Fatal(err)
	}
	const threads = 64
	for _, sm := range []int{61, 75, 90} {
		target := testTarget(sm)
		p, err := Compile(m, "", target, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if additions(p, c.step*unrollFactor) {
			unrolled++
		}
		var words []uint32
		for i := 0; len(words) < 2*threads && i < len(starts); i++ {
			if _, _, ok := c.run(uint32(len(words)/2), starts[i], bounds[i]); ok {
				words = append(words, starts[i], bounds[i])
			}
		}
		var in []byte
		for _, w := range words {
			in = binary.LittleEndian.AppendUint32(in, w)
		}
		out := runPairs(t, p, target, len(words)/2, in)
		for i := range words {
			if i%2 == 1 {
				continue
			}
			h, shared, _ := c.run(uint32(i/2), words[i], words[i+1])
			if g, s := binary.LittleEndian.Uint32(out[4*i:]), binary.LittleEndian.Uint32(out[4*i+4:]); g != h || s != shared {
				t.Errorf("sm_%d %+v from %#x to %#x: %#x and %#x, want %#x and %#x", sm, *c, words[i], words[i+1], g, s, h, shared)
				break
			}
			lanes++
		}
	}
	return lanes, unrolled
}

// runPairs runs one block of a loop's kernel, whose parameters are the addresses of the buffers and, second, of the results, as long as the first
// buffer: a pair of numbers for each thread.
func runPairs(t *testing.T, p *isa.Program, target *isa.Target, threads int, buffers ...[]byte) []byte {
	t.Helper()
	mem := isa.NewMemory()
	out := mem.Alloc("out", uint64(len(buffers[0])))
	var params []byte
	for i, data := range buffers {
		b := mem.Alloc(fmt.Sprint("in", i), uint64(len(data)))
		copy(b.Data, data)
		if params = binary.LittleEndian.AppendUint64(params, b.Addr); i == 0 {
			params = binary.LittleEndian.AppendUint64(params, out.Addr)
		}
	}
	k, err := isa.Bind(p, target, &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: uint32(threads), Y: 1, Z: 1}, Params: params, Mem: mem, NumSMs: 1, MaxSteps: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.RunBlock(0); err != nil {
		t.Fatalf("sm_%d: %v", target.SM, err)
	}
	return out.Data
}

// additions says that the program adds the number somewhere, as a loop of four rounds does to its counter.
func additions(p *isa.Program, by int32) bool {
	for i := range p.Insts {
		in := &p.Insts[i]
		for k := range in.Src[:in.NSrc] {
			if isImm(in.Src[k], uint32(by)) && in.Op != isa.OpISETP {
				return true
			}
		}
	}
	return false
}
