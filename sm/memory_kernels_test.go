package sm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/isa/zipped"
)

// memoryRow is one measured launch of a kernel of memory_kernels_h200.sass: its parameters are two buffers, a record of 32 bytes a warp
// (start, end, two values of the kernel's) and three numbers.
type memoryRow struct {
	kernel      string
	cold        bool
	grid, block int
	n, s, k     uint32
	cycles      float64 // of an SM, mean over those that ran
	aux, aux2   float64
}

func (r *memoryRow) String() string {
	mode := "warm"
	if r.cold {
		mode = "cold"
	}
	return fmt.Sprintf("%s %s %dx%d n %d s %#x k %d", r.kernel, mode, r.grid, r.block, r.n, r.s, r.k)
}

func memoryRows(t *testing.T) (rows []memoryRow) {
	sc := bufio.NewScanner(bytes.NewReader(zipped.Read(t, "testdata/memory_kernels_h200.csv.gz")))
	for sc.Scan() {
		line := sc.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		c := strings.Split(line, ",")
		r := memoryRow{kernel: c[0], cold: c[1] == "cold"}
		for i, v := range []any{2: &r.grid, &r.block, &r.n, &r.s, &r.k, &r.cycles, 11: &r.aux, &r.aux2} {
			if v == nil {
				continue
			}
			if _, err := fmt.Sscan(c[i], v); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// recordBytes is a warp's record.
const recordBytes = 32

// footprint is what a launch reads and writes, in bytes over the whole chip.
func (r *memoryRow) footprint() (read, written uint64) {
	threads, blocks, warps := uint64(r.grid*r.block), uint64(r.grid), uint64(r.grid*r.block/32)
	n := uint64(r.n)
	switch r.kernel {
	case "coldstep1":
		return warps / blocks * n * 128, threads * 4
	case "coldstep3":
		return (warps + 2*warps/blocks) * n * 128, threads * 4
	case "stcomb":
		return 256, threads * n * 16
	case "l2hist":
		return n * 128, 4096
	}
	if strings.HasPrefix(r.kernel, "blur") {
		return (blocks + 2) * uint64(r.s), blocks * n
	}
	return 1 << 20, threads * 4
}

// run simulates a launch and gives the cycles of the SM and the kernel's own values.
func (r *memoryRow) run(a *configs.Arch, li *sass.Listing) (cycles, aux, aux2 float64, err error) {
	f, err := li.Entry(r.kernel)
	if err != nil {
		return 0, 0, 0, err
	}
	p, err := li.Program(f, 90)
	if err != nil {
		return 0, 0, 0, err
	}
	p.LocalBytes = max(p.LocalBytes, 4352)
	if strings.HasPrefix(r.kernel, "hum") {
		p.SharedBytes = 16384
	}
	if r.kernel == "ldcdiv" {
		p.ConstBanks = map[uint8][]byte{3: make([]byte, 256)}
	}
	mem := isa.NewMemory()
	in, out := mem.Alloc("in", 96<<20), mem.Alloc("out", 64<<20)
	rec := mem.Alloc("rec", uint64(r.grid*r.block))
	params := binary.LittleEndian.AppendUint64(nil, in.Addr)
	params = binary.LittleEndian.AppendUint64(params, out.Addr)
	params = binary.LittleEndian.AppendUint64(params, rec.Addr)
	for _, v := range []uint32{r.n, r.s, r.k, 0} {
		params = binary.LittleEndian.AppendUint32(params, v)
	}
	read, written := r.footprint()
	l := &isa.Launch{Grid: isa.Dim3{X: uint32(r.grid), Y: 1, Z: 1}, Block: isa.Dim3{X: uint32(r.block), Y: 1, Z: 1}, Mem: mem, Params: params, NumSMs: h200SMs}
	_, err = Run(a, p, l, Options{NumSMs: h200SMs, AllSMsActive: r.grid > 1, ClockMHz: 1980, L2Bytes: h200L2, Cold: r.cold, FootprintBytes: read + written, ReadBytes: read})
	if err != nil {
		return 0, 0, 0, err
	}
	lo, hi := uint64(math.MaxUint64), uint64(0)
	for b := 0; b < r.grid; b += h200SMs {
		for w := range r.block / 32 {
			at := (b*r.block/32 + w) * recordBytes
			v := func(i int) uint64 { return binary.LittleEndian.Uint64(rec.Data[at+8*i:]) }
			lo, hi = min(lo, v(0)), max(hi, v(1))
			aux = max(aux, float64(v(2)))
			aux2 = max(aux2, float64(v(3)&(1<<48-1)))
		}
	}
	return float64(hi - lo), aux, aux2, nil
}

// memoryBounds are the largest mean errors of a kernel's rows, in percent, where they are not 10.
var memoryBounds = map[string]float64{"blur0": 28, "coldstep1": 35, "coldstep3": 52, "gstld": 14, "l1conf": 4, "l2hist": 15, "ldcdiv": 4, "locgap": 6, "loc_rand": 40, "loc_st": 25, "loc_stld": 8, "st_own": 15,
	"stcomb": 25}

// wholeKernel is replayed with all its rows, whose mean says more than that of two.
const wholeKernel = "loc_stld"

// TestMemoryKernels replays kernels that separate mechanisms of the memory path, by default every sixth launch.
func TestMemoryKernels(t *testing.T) {
	a, err := configs.Load("sm_90", nil)
	if err != nil {
		t.Fatal(err)
	}
	li, err := sass.Read("memory_kernels_h200.sass", zipped.Read(t, "testdata/memory_kernels_h200.sass.gz"))
	if err != nil {
		t.Fatal(err)
	}
	groups := rowErrors{}
	for i, r := range memoryRows(t) {
		if *onlyFlag == "" && i%6 != 0 && r.kernel != wholeKernel && !*rowsFlag || !strings.HasPrefix(r.String(), *onlyFlag) {
			continue
		}
		c, aux, aux2, err := r.run(a, li)
		if err != nil {
			t.Fatalf("%v: %v", &r, err)
		}
		e := 100 * (c/r.cycles - 1)
		groups.add(r.kernel, e)
		if *rowsFlag {
			t.Logf("%-44s %8.0f measured %8.0f %+6.1f %%  aux %.0f (%.0f) %.0f (%.0f)", &r, c, r.cycles, e, aux, r.aux, aux2, r.aux2)
		}
	}
	groups.check(t, func(kernel string) float64 {
		if bound, known := memoryBounds[kernel]; known {
			return bound
		}
		return 10
	})
}
