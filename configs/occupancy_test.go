package configs

import (
	"bytes"
	"encoding/csv"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa/zipped"
)

func load(t testing.TB, name string) *Arch {
	t.Helper()
	a, err := Load(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// readTable reads a CSV file, gzipped when its name says so, as rows of column name to cell.
func readTable(t testing.TB, path string) []map[string]string {
	t.Helper()
	read := os.ReadFile
	if strings.HasSuffix(path, ".gz") {
		read = func(path string) ([]byte, error) { return zipped.Read(t, path), nil }
	}
	text, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	c := csv.NewReader(bytes.NewReader(text))
	c.Comment, c.FieldsPerRecord = '#', -1
	cells, err := c.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, line := range cells[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[cells[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

func atoi(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOccupancyAgainstHeader compares every row that cuda_occupancy.h of CUDA 13.0 gave for 14 compute
// capabilities: blocks, each limit, allocations, and the set of limiting resources.
func TestOccupancyAgainstHeader(t *testing.T) {
	archs := map[string]*Arch{}
	rows := readTable(t, "testdata/occupancy_cc.csv.gz")
	if len(rows) != 47040 {
		t.Fatalf("%d rows", len(rows))
	}
	// Bits of limiting_factors; 16 (named barriers) is not a resource that a plain kernel runs out of first.
	bits := []struct {
		bit  int
		name string
	}{{1, "warps"}, {8, "blocks"}, {2, "registers"}, {4, "shared"}}
	bad := 0
	for _, row := range rows {
		cc := row["cc"]
		if archs[cc] == nil {
			archs[cc] = load(t, cc)
		}
		n := func(k string) int { return atoi(t, row[k]) }
		r := archs[cc].ResidentBlocks(n("threads_per_block"), n("registers"), n("dynamic_shared_bytes"))
		got := []int{r.Blocks, r.LimitByWarps, r.LimitByRegisters, r.LimitByShared, r.LimitByBlocks, r.RegistersPerBlock, r.SharedPerBlock}
		want := []int{n("blocks_per_sm"), n("blocks_by_warps"), n("blocks_by_registers"), n("blocks_by_shared"), n("blocks_by_blocks"),
			n("allocated_registers_per_block"), n("allocated_shared_per_block")}
		var limiters []string
		for _, b := range bits {
			if n("limiting_factors")&b.bit != 0 {
				limiters = append(limiters, b.name)
			}
		}
		if !slices.Equal(got, want) || !slices.Equal(limiters, r.Limiters) {
			if bad++; bad < 10 {
				t.Errorf("cc %s block %s regs %s shared %s: got %v %v, want %v %v", cc, row["threads_per_block"], row["registers"],
					row["dynamic_shared_bytes"], got, r.Limiters, want, limiters)
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d rows differ", bad, len(rows))
	}
}

// TestOccupancyAgainstDevice compares with what an H200 answered for kernels compiled to each register count.
func TestOccupancyAgainstDevice(t *testing.T) {
	a := load(t, "9.0")
	rows := readTable(t, "testdata/occupancy_sm90.csv.gz")
	if len(rows) != 4480 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		n := func(k string) int { return atoi(t, row[k]) }
		if r := a.ResidentBlocks(n("threads_per_block"), n("registers"), n("dynamic_shared_bytes")); r.Blocks != n("blocks_per_sm") {
			t.Errorf("block %s regs %s shared %s: %d blocks, device %s", row["threads_per_block"], row["registers"], row["dynamic_shared_bytes"], r.Blocks, row["blocks_per_sm"])
		}
	}
}

// TestOccupancyParameters compares every limit and granularity of every architecture with the published table.
func TestOccupancyParameters(t *testing.T) {
	kb := func(sizes []int) string {
		var s []string
		for _, b := range sizes {
			s = append(s, strconv.Itoa(b/1024))
		}
		return strings.Join(s, ",")
	}
	compared := 0
	var archs []*Arch
	for _, name := range List() {
		archs = append(archs, load(t, name))
	}
	for _, row := range readTable(t, "testdata/occupancy_parameters.csv") {
		for _, a := range archs {
			want := row[a.ComputeCapability]
			o := a.Occupancy
			got, ok := map[string]string{
				"max_warps_per_sm": strconv.Itoa(o.MaxWarps), "max_threads_per_sm": strconv.Itoa(o.MaxThreads), "max_blocks_per_sm": strconv.Itoa(o.MaxBlocks),
				"max_threads_per_block": strconv.Itoa(o.MaxThreadsBlock), "registers_per_sm": strconv.Itoa(o.Registers),
				"max_registers_per_block": strconv.Itoa(o.MaxRegsBlock), "max_registers_per_thread": strconv.Itoa(o.MaxRegsThread),
				"reg_alloc_unit": strconv.Itoa(o.RegUnit), "reg_alloc_granularity": o.RegScope, "warp_alloc_granularity": strconv.Itoa(o.WarpGranularity),
				"sub_partitions_per_sm": strconv.Itoa(a.SM.SubPartitions), "warp_schedulers_per_sm": strconv.Itoa(a.SM.SubPartitions),
				"issue_width_per_scheduler":            strconv.Itoa(a.SM.IssueWidth),
				"issue_interval_clocks_per_warp_instr": strconv.Itoa(a.SM.IssueInterval),
				"smem_per_sm_max":                      strconv.Itoa(o.SharedBytes), "smem_per_block_max_optin": strconv.Itoa(o.SharedBlockOptin),
				"smem_per_block_default_static": strconv.Itoa(o.SharedBlock), "smem_alloc_unit": strconv.Itoa(o.SharedUnit),
				"smem_reserved_per_block": strconv.Itoa(o.SharedReserved), "smem_carveouts_kb": kb(o.SharedCarveouts),
				"smem_banks": strconv.Itoa(a.LSU.SharedBanks),
			}[row["param"]]
			if !ok || want == "" {
				continue
			}
			compared++
			if got != want {
				t.Errorf("%s: %s is %s, the table has %s", a.Name, row["param"], got, want)
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d values compared", compared)
	}
}

func TestOccupancyPuzzles(t *testing.T) {
	cases := []struct {
		about               string
		arch                string
		block, regs, shared int
		blocks, warps       int
		limiter             string
	}{
		{"224 threads x 48 registers on Fermi", "2.0", 224, 48, 0, 2, 14, "registers"},
		{"the same on 2.1", "2.1", 224, 48, 0, 2, 14, "registers"},
		{"25 registers and a little shared memory", "2.0", 256, 25, 3568, 4, 32, "registers"},
		{"92 registers x 224 threads: sub-partitions hold whole warps", "3.5", 224, 92, 0, 2, 14, "registers"},
		{"the same on 8.6", "8.6", 224, 92, 0, 2, 14, "registers"},
		{"36 registers x 768 threads on Pascal is 75 %", "6.1", 768, 36, 0, 2, 48, "warps"},
		{"32 registers fill a 64K register file", "3.0", 256, 32, 0, 8, 64, "warps"},
		{"33 do not", "3.0", 256, 33, 0, 6, 48, "registers"},
		{"10 registers fill compute capability 1.0", "1.0", 256, 10, 0, 3, 24, "warps"},
		{"11 do not", "1.0", 256, 11, 0, 2, 16, "registers"},
		{"16 registers fill compute capability 1.2", "1.2", 256, 16, 0, 4, 32, "warps"},
		{"17 do not", "1.2", 256, 17, 0, 3, 24, "registers"},
		{"20 registers fill compute capability 2.x", "2.0", 192, 20, 0, 8, 48, "warps"},
		{"21 are allocated as 24", "2.0", 192, 21, 0, 7, 42, "registers"},
		{"a one-warp block runs out of block slots", "8.6", 32, 16, 0, 16, 16, "blocks"},
		{"one warp too many for the block", "9.0", 1025, 16, 0, 0, 0, "threads"},
		{"no threads", "9.0", 0, 16, 0, 0, 0, "threads"},
		{"registers of one block exceed the file", "9.0", 1024, 72, 0, 0, 0, "registers"},
		{"shared memory over the opt-in limit", "9.0", 128, 32, 232449, 0, 0, "shared"},
		{"the largest shared memory", "9.0", 128, 32, 232448, 1, 4, "shared"},
		{"1 KB reserved a block", "8.0", 64, 32, 20480, 7, 14, "shared"},
	}
	for _, c := range cases {
		r := load(t, c.arch).ResidentBlocks(c.block, c.regs, c.shared)
		if r.Blocks != c.blocks || r.Warps != c.warps || r.Limiter != c.limiter {
			t.Errorf("%s: %+v, want %d blocks, %d warps, %s", c.about, r, c.blocks, c.warps, c.limiter)
		}
	}
	if r := load(t, "6.1").ResidentBlocks(768, 36, 0); r.Fraction != 0.75 {
		t.Errorf("fraction %v", r.Fraction)
	}
}

// TestSeedTable is the quotient that the textbooks print: registers a thread when every thread slot is taken.
// The allocation unit makes the usable number smaller on 2.x (20, see TestOccupancyPuzzles).
func TestSeedTable(t *testing.T) {
	got := map[string]int{}
	for _, cc := range []string{"1.0", "1.2", "2.0", "2.1", "3.0"} {
		o := load(t, cc).Occupancy
		got[cc] = o.Registers / o.MaxThreads
	}
	want := map[string]int{"1.0": 10, "1.2": 16, "2.0": 21, "2.1": 21, "3.0": 32}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTooManyRegisters(t *testing.T) {
	a := load(t, "3.0")
	if r := a.ResidentBlocks(32, 63, 0); r.TooManyRegisters {
		t.Error("63 registers exist on 3.0")
	}
	if r := a.ResidentBlocks(32, 64, 0); !r.TooManyRegisters || r.Blocks != 16 {
		t.Errorf("64 registers do not exist on 3.0: %+v", r)
	}
}

func TestCarveout(t *testing.T) {
	a := load(t, "9.0")
	for _, c := range []struct{ shared, blocks, carveout int }{{0, 8, 8192}, {7168, 8, 65536}, {232448, 1, 233472}} {
		if r := a.ResidentBlocks(256, 32, c.shared); r.Blocks != c.blocks || r.CarveoutBytes != c.carveout {
			t.Errorf("shared %d: %d blocks, carve-out %d; want %d, %d", c.shared, r.Blocks, r.CarveoutBytes, c.blocks, c.carveout)
		}
	}
}
