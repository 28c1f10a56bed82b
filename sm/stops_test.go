package sm

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestMeasuredStops replays kernels that read the clock on their way: through constants of the module, and through code.
func TestMeasuredStops(t *testing.T) {
	for _, file := range []string{"h200_constants", "h200_fetch"} {
		rows, err := os.ReadFile("testdata/" + file + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		l := measuredKernels(t, file)
		a := arch(t, "sm_90")
		for _, line := range strings.Split(strings.TrimSpace(string(rows)), "\n")[2:] {
			var threads int
			var caches string
			var cycles, tolerance float64
			f := strings.Split(line, ",")
			if _, err := fmt.Sscan(strings.Join(f[1:], " "), &threads, &caches, &cycles, &tolerance); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			fn, err := l.Entry(f[0])
			if err != nil {
				t.Fatal(err)
			}
			p, err := l.Program(fn, 90)
			if err != nil {
				t.Fatal(err)
			}
			p.ConstBanks = map[uint8][]byte{3: make([]byte, 1<<16)}
			got := meanSpan(t, launch(132, threads), func(l *isa.Launch) error {
				_, err := Run(a, p, l, Options{NumSMs: 132, AllSMsActive: true, Cold: caches == "cold"})
				return err
			})
			if e := (got/cycles - 1) * 100; math.Abs(e) > tolerance {
				t.Errorf("%s, %d threads, %s: %g cycles, measured %g: %+.1f %%, tolerance %g", f[0], threads, caches, got, cycles, e, tolerance)
			}
		}
	}
}

// meanSpan is the mean, over the warps of block 0, of the last minus the first time that a thread writes to its 128 words of the output.
func meanSpan(t *testing.T, l *isa.Launch, run func(*isa.Launch) error) float64 {
	t.Helper()
	const words = 128
	threads := int(l.Block.X)
	out := l.Mem.Alloc("out", uint64(4*words*threads*int(l.Grid.X)))
	binary.LittleEndian.PutUint64(l.Params, out.Addr)
	if err := run(l); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for w := 0; w < threads; w += 32 {
		times := out.Data[4*words*w:]
		first := binary.LittleEndian.Uint32(times)
		last := first
		for i := range words {
			if at := binary.LittleEndian.Uint32(times[4*i:]); at != 0 {
				last = at
			}
		}
		sum += float64(last - first)
	}
	return sum / float64(threads/32)
}
