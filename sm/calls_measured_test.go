package sm

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/isa/zipped"
)

// TestMeasuredCalls replays compiled kernels of calls, switches and nested loops with up to eight warps a sub-partition: what returns and turns to other
// paths take of the convergence unit.
func TestMeasuredCalls(t *testing.T) {
	rows, err := os.ReadFile("testdata/h200_calls.csv")
	if err != nil {
		t.Fatal(err)
	}
	l, err := sass.Read("h200_calls.sass", zipped.Read(t, "testdata/h200_calls.sass.gz"))
	if err != nil {
		t.Fatal(err)
	}
	a := arch(t, "sm_90")
	for _, line := range strings.Split(strings.TrimSpace(string(rows)), "\n")[3:] {
		var warps int
		var n, m uint32
		var cycles, tolerance float64
		name, rest, _ := strings.Cut(line, ",")
		if _, err := fmt.Sscanf(rest, "%d,%d,%d,%g,%g", &warps, &n, &m, &cycles, &tolerance); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		fn, err := l.Entry(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.Program(fn, 90)
		if err != nil {
			t.Fatal(err)
		}
		la := &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: uint32(32 * warps), Y: 1, Z: 1}, Mem: isa.NewMemory(), NumSMs: 1}
		in, out, times := la.Mem.Alloc("in", 1<<18), la.Mem.Alloc("out", 1<<12), la.Mem.Alloc("times", uint64(32*warps))
		for _, b := range []*isa.Buffer{in, out, times} {
			la.Params = binary.LittleEndian.AppendUint64(la.Params, b.Addr)
		}
		la.Params = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(la.Params, n), m)
		if _, err := Run(a, p, la, Options{}); err != nil {
			t.Fatal(err)
		}
		first, last := uint64(math.MaxUint64), uint64(0)
		for w := range warps {
			first = min(first, binary.LittleEndian.Uint64(times.Data[32*w:]))
			last = max(last, binary.LittleEndian.Uint64(times.Data[32*w+8:]))
		}
		if e := (float64(last-first)/cycles - 1) * 100; math.Abs(e) > tolerance {
			t.Errorf("%s, %d warps, %d paths: %d cycles, measured %g: %+.1f %%, tolerance %g", name, warps, m, last-first, cycles, e, tolerance)
		}
	}
}
