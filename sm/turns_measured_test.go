package sm

import (
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
)

// turnsRow is one measured launch of a kernel of h200_turns.txt.
type turnsRow struct {
	kernel          string
	threads, blocks int // blocks on each SM of the chip; 1: one in all
	cycles          float64
	ends            []float64 // of the warps of the first sub-partition, percent of cycles
}

func turnsRows(t *testing.T) (rows []turnsRow) {
	b, err := os.ReadFile("testdata/h200_turns.csv")
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		f := strings.Split(line, ",")
		if line[0] == '#' || f[0] == "kernel" {
			continue
		}
		r := turnsRow{kernel: f[0], threads: int(number(f[1])), blocks: int(number(f[2])), cycles: number(f[3])}
		for _, e := range strings.Fields(f[4]) {
			r.ends = append(r.ends, number(e))
		}
		rows = append(rows, r)
	}
	return rows
}

// run replays the launch and returns its cycles and the ends of the first sub-partition's warps.
func (r *turnsRow) run(t *testing.T, a *configs.Arch, p *isa.Program) (cycles float64, ends []float64) {
	t.Helper()
	const record = 256
	warps, grid := r.threads/32, 1
	opt := Options{}
	if r.blocks > 1 {
		grid = r.blocks * h200SMs
		opt.NumSMs, opt.AllSMsActive = h200SMs, true
	}
	l := launch(grid, r.threads)
	out := l.Mem.Alloc("out", uint64(record*warps*grid))
	binary.LittleEndian.PutUint64(l.Params[8:], out.Addr)
	if _, err := Run(a, p, l, opt); err != nil {
		t.Fatal(err)
	}
	first, last := uint64(math.MaxUint64), uint64(0)
	for b := range r.blocks {
		for w := range warps {
			at := out.Data[record*(b*h200SMs*warps+w):]
			end := binary.LittleEndian.Uint64(at[8:])
			first, last = min(first, binary.LittleEndian.Uint64(at)), max(last, end)
			if w%4 == 0 {
				ends = append(ends, float64(end))
			}
		}
	}
	cycles = float64(last - first)
	for i := range ends {
		ends[i] = 100 * (ends[i] - float64(first)) / cycles
	}
	return cycles, ends
}

// distance is the mean difference of the ends, percent of the launch. Warps of a block are compared in the order in which they end.
func (r *turnsRow) distance(ends []float64) (d float64) {
	per := len(ends) / r.blocks
	for b := range r.blocks {
		x, y := slices.Clone(ends[b*per:(b+1)*per]), slices.Clone(r.ends[b*per:(b+1)*per])
		slices.Sort(x)
		slices.Sort(y)
		for i := range x {
			d += math.Abs(x[i] - y[i])
		}
	}
	return d / float64(len(ends))
}

// TestMeasuredTurns replays the kernels that show whose turn it is, and which units special registers, constants and shuffles use.
func TestMeasuredTurns(t *testing.T) {
	// Largest errors in percent: of a row that shows a unit or a latency, and the means of all.
	const unitRow, meanCycles, meanEnds = 7.5, 2.3, 2.2
	l := measuredKernels(t, "h200_turns")
	a := arch(t, "sm_90")
	programs := map[string]*isa.Program{}
	var sum, ends float64
	rows := turnsRows(t)
	for i := range rows {
		r := &rows[i]
		p := programs[r.kernel]
		if p == nil {
			fn, err := l.Entry(r.kernel)
			if err != nil {
				t.Fatal(err)
			}
			if p, err = l.Program(fn, 90); err != nil {
				t.Fatal(err)
			}
			p.SharedBytes = 20480
			programs[r.kernel] = p
		}
		cycles, at := r.run(t, a, p)
		e, d := 100*(cycles/r.cycles-1), r.distance(at)
		sum += math.Abs(e)
		ends += d
		if *rowsFlag {
			t.Logf("%s %dx%d: %g cycles, measured %g: %+.1f %%; ends %.1f off: %.0f, measured %.0f", r.kernel, r.threads, r.blocks, cycles, r.cycles, e, d, at, r.ends)
		}
		kind, _, _ := strings.Cut(r.kernel, "_")
		if unit := kind == "l" || kind == "p" || strings.HasPrefix(r.kernel, "s_sr"); unit && math.Abs(e) > unitRow {
			t.Errorf("%s, %d threads: %g cycles, measured %g: %+.1f %%", r.kernel, r.threads, cycles, r.cycles, e)
		}
	}
	n := float64(len(rows))
	sum, ends = sum/n, ends/n
	t.Logf("%d rows: cycles %.2f %% off, ends %.2f %%", len(rows), sum, ends)
	if sum > meanCycles || ends > meanEnds {
		t.Errorf("mean error of cycles %.2f %%, of the warps' ends %.2f %%; bounds %g and %g", sum, ends, meanCycles, meanEnds)
	}
}
