package sm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/isa/zipped"
)

var (
	rowsFlag = flag.Bool("rows", false, "print every row of the measured memory streams")
	onlyFlag = flag.String("only", "", "replay the groups of streams that begin so")
)

const (
	h200SMs   = 132
	h200L2    = 60 << 20
	recordLen = 24 // start, end, SM of a block
)

// mixRow is one measured launch of the kernel mix<R,W>: every thread reads R words and writes W words an item.
type mixRow struct {
	tag             string
	r, w            int
	threads, blocks int
	shift, n        uint32
	cold            bool
	measured        float64
	megabytes       float64
}

func mixRows(t *testing.T) (rows []mixRow) {
	sc := bufio.NewScanner(bytes.NewReader(zipped.Read(t, "testdata/mixed_streams_h200.csv.gz")))
	for sc.Scan() {
		c := strings.Split(sc.Text(), ",")
		if c[0] != "mix" && c[0] != "shape" && c[0] != "shift" {
			continue
		}
		r := mixRow{tag: c[0], cold: c[8] == "cold"}
		for i, v := range []any{&r.r, &r.w, &r.megabytes, &r.threads, &r.blocks, &r.shift, &r.n} {
			if _, err := fmt.Sscan(c[i+1], v); err != nil {
				t.Fatalf("%s: %v", sc.Text(), err)
			}
		}
		if _, err := fmt.Sscan(c[10], &r.measured); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

func (r *mixRow) run(a *configs.Arch, li *sass.Listing) (cycles float64, dram int, err error) {
	f, err := li.Entry(fmt.Sprintf("_Z3mixILi%dELi%dEEvPKjPjjyjP3Rec", r.r, r.w))
	if err != nil {
		return 0, 0, err
	}
	p, err := li.Program(f, 90)
	if err != nil {
		return 0, 0, err
	}
	p.Regs = 32
	grid := r.blocks * h200SMs
	items := uint64(grid*r.threads) * uint64(r.n)
	stride := (items + 64 + 1023) / 1024 * 1024
	mem := isa.NewMemory()
	words := func(name string, n int) *isa.Buffer { return mem.Alloc(name, stride*4*uint64(max(n, 1))+4096) }
	in, out := words("in", r.r), words("out", r.w)
	rec := mem.Alloc("rec", uint64(grid*recordLen))
	var params []byte
	params = binary.LittleEndian.AppendUint64(params, in.Addr)
	params = binary.LittleEndian.AppendUint64(params, out.Addr)
	params = binary.LittleEndian.AppendUint64(params, uint64(r.n))
	params = binary.LittleEndian.AppendUint64(params, stride)
	params = binary.LittleEndian.AppendUint64(params, uint64(r.shift))
	params = binary.LittleEndian.AppendUint64(params, rec.Addr)
	l := &isa.Launch{Grid: isa.Dim3{X: uint32(grid), Y: 1, Z: 1}, Block: isa.Dim3{X: uint32(r.threads), Y: 1, Z: 1}, Mem: mem, Params: params, NumSMs: h200SMs}
	res, err := Run(a, p, l, Options{NumSMs: h200SMs, AllSMsActive: true, ClockMHz: 1980, L2Bytes: h200L2, Cold: r.cold,
		FootprintBytes: items * 4 * uint64(r.r+r.w), ReadBytes: items * 4 * uint64(r.r)})
	if err != nil {
		return 0, 0, err
	}
	lo, hi := uint64(math.MaxUint64), uint64(0)
	for b := 0; b < grid; b += h200SMs {
		lo = min(lo, binary.LittleEndian.Uint64(rec.Data[b*recordLen:]))
		hi = max(hi, binary.LittleEndian.Uint64(rec.Data[b*recordLen+8:]))
	}
	return float64(hi - lo), int(res.Memory.DRAMBytes), nil
}

// TestMixedStreams replays streams that read and write on all SMs at once, below and above the capacity of L2: 452 launches measured
// with the kernel of mixed_streams_h200.sass (sums of R arrays stored to W; "mix" at full occupancy over 4 to 191 MB, "shape" with
// few warps, "shift" with addresses off a line's beginning). By default every fourth row and all of "shift", which are few and differ.
func TestMixedStreams(t *testing.T) {
	a, err := configs.Load("sm_90", nil)
	if err != nil {
		t.Fatal(err)
	}
	li, err := sass.Read("streams_h200.sass", zipped.Read(t, "testdata/mixed_streams_h200.sass.gz"))
	if err != nil {
		t.Fatal(err)
	}
	groups := rowErrors{}
	for i, r := range mixRows(t) {
		if i%4 != 0 && r.tag != "shift" && !*rowsFlag {
			continue
		}
		mode := "warm"
		if r.cold {
			mode = "cold"
		}
		key := fmt.Sprintf("%s %d,%d %s", r.tag, r.r, r.w, mode)
		if !strings.HasPrefix(key, *onlyFlag) {
			continue
		}
		c, dram, err := r.run(a, li)
		if err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		e := 100 * (c/r.measured - 1)
		groups.add(key, e)
		if *rowsFlag {
			t.Logf("%-16s %7.2f MB %4dx%-2d shift %d: %8.0f measured %8.0f %+6.1f %%  DRAM %.2f MB", key, r.megabytes, r.threads, r.blocks, r.shift, c, r.measured, e, float64(dram)*h200SMs/1e6)
		}
	}
	groups.check(t, func(group string) float64 {
		tag, _, _ := strings.Cut(group, " ")
		return mixBounds[tag]
	})
}

// rowErrors are the errors of measured rows in percent, by group.
type rowErrors map[string][]float64

func (r rowErrors) add(group string, e float64) { r[group] = append(r[group], e) }

// check prints the mean error of each group and compares it with its bound.
func (r rowErrors) check(t *testing.T, bound func(group string) float64) {
	for _, k := range slices.Sorted(maps.Keys(r)) {
		sum, bias := 0.0, 0.0
		for _, e := range r[k] {
			sum += math.Abs(e)
			bias += e
		}
		n := float64(len(r[k]))
		t.Logf("%s: %d rows, mean error %.1f %%, bias %+.1f %%", k, len(r[k]), sum/n, bias/n)
		if b := bound(k); sum/n > b {
			t.Errorf("%s: mean error %.1f %%, bound %.0f %%", k, sum/n, b)
		}
	}
}

// mixBounds are the largest mean errors of a group, in percent.
var mixBounds = map[string]float64{"mix": 11, "shape": 12, "shift": 10}
