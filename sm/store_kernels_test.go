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
	"github.com/sarchlab/smsim/sim"
)

// storeRow is one measured launch of a kernel of store_kernels_h200.sass: an output buffer, three numbers, and an input buffer or a zero.
type storeRow struct {
	kernel      string
	grid, block int
	out, in     int // words of the buffers
	p           [3]uint32
	cycles      float64 // of an SM
	sectors     float64 // that an SM sent L2 to write
}

func storeRows(t *testing.T) (rows []storeRow) {
	sc := bufio.NewScanner(bytes.NewReader(zipped.Read(t, "testdata/store_kernels_h200.csv.gz")))
	for sc.Scan() {
		line := sc.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		r := storeRow{}
		r.kernel, line, _ = strings.Cut(line, ",")
		if _, err := fmt.Sscan(strings.ReplaceAll(line, ",", " "), &r.grid, &r.block, &r.out, &r.p[0], &r.p[1], &r.p[2], &r.in, &r.cycles, &r.sectors); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, r)
	}
	return rows
}

// run simulates a launch on warm caches.
func (r *storeRow) run(a *configs.Arch, li *sass.Listing) (*sim.Result, error) {
	f, err := li.Entry(r.kernel)
	if err != nil {
		return nil, err
	}
	p, err := li.Program(f, 90)
	if err != nil {
		return nil, err
	}
	mem := isa.NewMemory()
	params := binary.LittleEndian.AppendUint64(nil, mem.Alloc("out", uint64(4*r.out)).Addr)
	for _, v := range r.p {
		params = binary.LittleEndian.AppendUint32(params, v)
	}
	params = binary.LittleEndian.AppendUint32(params, 0)
	if r.in > 0 {
		params = binary.LittleEndian.AppendUint64(params, mem.Alloc("in", uint64(4*r.in)).Addr)
	}
	l := &isa.Launch{Grid: isa.Dim3{X: uint32(r.grid), Y: 1, Z: 1}, Block: isa.Dim3{X: uint32(r.block), Y: 1, Z: 1}, Mem: mem, Params: params, NumSMs: h200SMs}
	return Run(a, p, l, Options{NumSMs: h200SMs, AllSMsActive: r.grid > 1, ClockMHz: 1980, L2Bytes: h200L2, FootprintBytes: uint64(4 * (r.out + r.in)), ReadBytes: uint64(4 * r.in)})
}

// storeBounds are the largest mean errors of cycles by kernel, in percent.
var storeBounds = map[string]float64{"stb": 12, "stw": 14, "stp": 16, "lsb": 14, "ra32": 25, "ra64": 20, "rm32": 14, "rld": 10}

// TestStoreKernels replays launches that show how stores combine and what reductions cost, by default every fifth: cycles, and the sectors that stores send.
func TestStoreKernels(t *testing.T) {
	a, err := configs.Load("sm_90", nil)
	if err != nil {
		t.Fatal(err)
	}
	li, err := sass.Read("store_kernels_h200.sass", zipped.Read(t, "testdata/store_kernels_h200.sass.gz"))
	if err != nil {
		t.Fatal(err)
	}
	groups := rowErrors{}
	stores, same := 0, 0
	for i, r := range storeRows(t) {
		if i%5 != 0 && !*rowsFlag {
			continue
		}
		res, err := r.run(a, li)
		if err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		e := 100 * (float64(res.Cycles)/r.cycles - 1)
		groups.add(r.kernel, e)
		if strings.HasPrefix(r.kernel, "st") {
			stores++
			if math.Abs(float64(res.Memory.L2Sectors)/r.sectors-1) <= 0.05 {
				same++
			}
		}
		if *rowsFlag {
			t.Logf("%s %dx%d %v: %d cycles, measured %.0f, %+.1f %%; %d sectors, measured %.0f", r.kernel, r.grid, r.block, r.p, res.Cycles, r.cycles, e, res.Memory.L2Sectors, r.sectors)
		}
	}
	if same*10 < stores*9 {
		t.Errorf("%d of %d launches send as many sectors as measured, want nine of ten", same, stores)
	}
	groups.check(t, func(kernel string) float64 { return storeBounds[kernel] })
}
