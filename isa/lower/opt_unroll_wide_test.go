package lower

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa/ptx"
)

// wideCase is a loop with a counter of 64 bits that also steps a pointer, which it reads at before and behind the step.
type wideCase struct {
	test string // of the counter with the bound: the loop goes on
	step int64
	zero bool // the start, or for loops that go down the bound, is a literal zero
}

const wideRounds = 40

func (c *wideCase) text() string {
	start, bound := "%i", "%b"
	if c.zero && c.step > 0 {
		start = "0"
	} else if c.zero {
		bound = "0"
	}
	return fmt.Sprintf(`.version 7.0
.target sm_50
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 data)
{
.reg .pred %%p<9>; .reg .b32 %%t, %%h, %%x; .reg .b64 %%rd<9>, %%i, %%b, %%c, %%a;
ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out]; ld.param.u64 %%a, [data];
mov.u32 %%t, %%tid.x; mul.wide.u32 %%rd3, %%t, 16; add.s64 %%rd1, %%rd1, %%rd3; add.s64 %%rd2, %%rd2, %%rd3;
ld.global.u64 %%i, [%%rd1]; ld.global.u64 %%b, [%%rd1+8];
mov.u32 %%h, %%t; mov.u64 %%c, %s;
L:
ld.global.u32 %%x, [%%a];
mad.lo.s32 %%h, %%h, 1664525, %%x;
add.s64 %%a, %%a, 4;
ld.global.u32 %%x, [%%a+8];
xor.b32 %%h, %%h, %%x;
cvt.u32.u64 %%x, %%c;
add.s32 %%h, %%h, %%x;
add.s64 %%c, %%c, %d;
setp.%s %%p1, %%c, %s;
@%%p1 bra L;
ld.global.u32 %%x, [%%a];
add.s32 %%h, %%h, %%x;
st.global.u32 [%%rd2], %%h; st.global.u64 [%%rd2+8], %%c;
ret;
}
`, start, c.step, c.test, bound)
}

// wideDatum is word i of the data that the loop reads.
func wideDatum(i int) uint32 { return uint32(i)*0x9e3779b9 + 7 }

// run gives what thread t writes; ok is false for a loop of too many rounds.
func (c *wideCase) run(t uint32, i, b uint64) (h uint32, end uint64, ok bool) {
	h = t
	if c.zero && c.step > 0 {
		i = 0
	} else if c.zero {
		b = 0
	}
	cmp, typ, _ := strings.Cut(c.test, ".")
	for k := range wideRounds {
		h = (h*1664525 + wideDatum(k)) ^ wideDatum(k+3) + uint32(i)
		i += uint64(c.step)
		less, equal := int64(i) < int64(b), i == b
		if typ == "u64" {
			less = i < b
		}
		if !map[string]bool{"lt": less, "le": less || equal, "gt": !less && !equal, "ge": !less, "ne": !equal}[cmp] {
			return h + wideDatum(k+1), i, true
		}
	}
	return 0, 0, false
}

// TestWideCountedLoops is TestCountedLoops for counters of 64 bits.
func TestWideCountedLoops(t *testing.T) {
	edges := []uint64{0, 9, 1<<31 - 5, 1<<32 - 7, 1<<63 - 8, 1<<63 + 3, 1<<64 - 12}
	unrolled, lanes := 0, 0
	for _, test := range []string{"lt.u64", "lt.s64", "le.u64", "le.s64", "gt.u64", "gt.s64", "ge.s64", "ne.s64", "ne.u64"} {
		for _, step := range []int64{1, 3, -1} {
			if step > 0 == (test[0] == 'g') && test[0] != 'n' {
				continue
			}
			for _, zero := range []bool{true, false} {
				c := wideCase{test, step, zero}
				var starts, bounds []uint64
				for _, e := range edges {
					for d := range uint64(14) {
						i, b := e, e+d*uint64(step)+d%3-1
						if d%4 == 3 {
							i, b = b, i
						}
						starts, bounds = append(starts, i), append(bounds, b)
					}
				}
				n, u := checkWide(t, &c, starts, bounds)
				lanes += n
				unrolled += u
			}
		}
	}
	t.Logf("%d loops unrolled, %d threads compared", unrolled, lanes)
	if unrolled < 60 || lanes < 2000 {
		t.Errorf("only %d loops were unrolled and %d threads compared", unrolled, lanes)
	}
}

// checkWide runs one loop on some targets and gives the number of threads compared and of loops unrolled.
func checkWide(t *testing.T, c *wideCase, starts, bounds []uint64) (lanes, unrolled int) {
	t.Helper()
	m, err := ptx.Parse("counted.ptx", []byte(c.text()))
	if err != nil {
		t.Fatal(err)
	}
	const threads = 64
	var words []uint64
	for i := 0; len(words) < 2*threads && i < len(starts); i++ {
		if _, _, ok := c.run(uint32(len(words)/2), starts[i], bounds[i]); ok {
			words = append(words, starts[i], bounds[i])
		}
	}
	var in, data []byte
	for _, w := range words {
		in = binary.LittleEndian.AppendUint64(in, w)
	}
	for i := range wideRounds + 4 {
		data = binary.LittleEndian.AppendUint32(data, wideDatum(i))
	}
	for _, sm := range []int{61, 75, 90, 120} {
		target := testTarget(sm)
		p, err := Compile(m, "", target, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if additions(p, 4*unrollFactor) {
			unrolled++
		}
		out := runPairs(t, p, target, len(words)/2, in, data)
		for i := 0; i < len(words); i += 2 {
			h, end, _ := c.run(uint32(i/2), words[i], words[i+1])
			if g, e := binary.LittleEndian.Uint32(out[8*i:]), binary.LittleEndian.Uint64(out[8*i+8:]); g != h || e != end {
				t.Errorf("sm_%d %+v from %#x to %#x: %#x and %#x, want %#x and %#x", sm, *c, words[i], words[i+1], g, e, h, end)
				break
			}
			lanes++
		}
	}
	return lanes, unrolled
}
