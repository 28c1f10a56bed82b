package gainmap

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/plots"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

// Grid is what a map covers.
type Grid struct {
	Chains    []int
	Warps     []int     // resident warps a scheduler, one for each block
	Loads     []float64 // for each result
	Latencies []int     // cycles of a load that hits L1
	Iteration int       // iterations of the loop

	MapLoads            float64 // of the map over chains and warps
	MapChains, MapWarps int     // of the map over loads and latency
}

// DefaultGrid is the shipped size.
func DefaultGrid() Grid {
	return Grid{Chains: []int{1, 2, 4, 8}, Warps: []int{1, 2, 4, 8, 16}, Loads: []float64{0, 0.5, 1, 2}, Latencies: []int{20, 40, 100, 200, 400, 800}, Iteration: 64, MapLoads: 0.5, MapChains: 2, MapWarps: 2}
}

// Map is the gain of one kind on one architecture.
type Map struct {
	Schema int    `json:"schema"`
	Kind   string `json:"kind"`
	About  string `json:"about"`
	Arch   string `json:"arch"`
	Chains Table  `json:"chains_by_warps"`  // rows: chains a thread; columns: resident warps a scheduler
	Memory Table  `json:"loads_by_latency"` // rows: loads for each result; columns: cycles of a load that hits L1
}

// Table is one heat map.
type Table struct {
	Title   string      `json:"title"`
	Row     string      `json:"row"`
	Column  string      `json:"column"`
	Rows    []float64   `json:"rows"`
	Columns []float64   `json:"columns"`
	Gain    [][]float64 `json:"gain"` // speed-up, [row][column]; 0: so many warps are not resident at once
	Fewer   [][]float64 `json:"instruction_ratio"`
}

// Simulate fills the map of a kind on an architecture.
func Simulate(k Kind, arch string, g Grid, base workloads.Settings, opt study.Options) (*Map, error) {
	a, err := configs.Load(arch, nil)
	if err != nil {
		return nil, &study.InputError{Err: err}
	}
	threads := 32 * a.SM.SubPartitions // a block is one warp a scheduler
	m := &Map{Schema: sim.Schema, Kind: k.Name, About: k.About, Arch: arch}
	m.Chains = Table{Title: fmt.Sprintf("%g loads for each result", g.MapLoads), Row: "independent chains a thread", Column: "resident warps a scheduler"}
	var cases []*workloads.Case
	shapes := []Shape{}
	for _, c := range g.Chains {
		shapes = append(shapes, Shape{c, g.MapLoads})
		m.Chains.Rows = append(m.Chains.Rows, float64(c))
	}
	file := &workloads.KernelFile{Path: k.Name + ".ptx", Text: []byte(Generate(k, shapes))}
	for _, s := range shapes {
		for _, w := range g.Warps {
			cases = append(cases, pair(k, s, w, threads, file, g)...)
		}
	}
	for _, w := range g.Warps {
		m.Chains.Columns = append(m.Chains.Columns, float64(w))
	}
	if err := m.Chains.fill(k, arch, cases, base, opt); err != nil {
		return nil, err
	}
	m.Memory = Table{Title: fmt.Sprintf("%d chains a thread, %d warps a scheduler", g.MapChains, g.MapWarps), Row: "loads for each result", Column: "latency of a load that hits L1 (cycles)", Rows: g.Loads}
	shapes = nil
	for _, l := range g.Loads {
		shapes = append(shapes, Shape{g.MapChains, l})
	}
	file = &workloads.KernelFile{Path: k.Name + ".ptx", Text: []byte(Generate(k, shapes))}
	rows := make([]Table, len(g.Latencies))
	for i, lat := range g.Latencies {
		cases = nil
		for _, s := range shapes {
			cases = append(cases, pair(k, s, g.MapWarps, threads, file, g)...)
		}
		set := base
		set.Overrides = append(slices.Clone(base.Overrides), latency(a, lat)...)
		rows[i].Rows, rows[i].Columns = g.Loads, []float64{float64(lat)}
		if err := rows[i].fill(k, arch, cases, set, opt); err != nil {
			return nil, err
		}
		m.Memory.Columns = append(m.Memory.Columns, float64(lat))
	}
	for r := range g.Loads {
		var gain, fewer []float64
		for i := range rows {
			gain, fewer = append(gain, rows[i].Gain[r][0]), append(fewer, rows[i].Fewer[r][0])
		}
		m.Memory.Gain, m.Memory.Fewer = append(m.Memory.Gain, gain), append(m.Memory.Fewer, fewer)
	}
	return m, nil
}

// latency are the overrides for a load that hits L1 to take the cycles; the levels behind are never faster.
func latency(a *configs.Arch, cycles int) workloads.Overrides {
	var out workloads.Overrides
	floor := 0
	for _, x := range []struct {
		key string
		own int
	}{{"lsu.l1_latency", 0}, {"memory.l2_latency", a.Memory.L2Latency}, {"memory.l2_latency_far", a.Memory.L2LatencyFar}, {"memory.dram_latency", a.Memory.DRAMLatency}} {
		switch {
		case floor == 0:
			floor = cycles
		case x.own == 0 || x.own >= floor:
			floor = max(floor, x.own)
			continue
		}
		out = append(out, workloads.Override{Key: x.key, Value: strconv.Itoa(floor)})
	}
	return out
}

// pair is both forms of a cell.
func pair(k Kind, s Shape, warps, threads int, file *workloads.KernelFile, g Grid) []*workloads.Case {
	var out []*workloads.Case
	blocks := warps
	for _, with := range []bool{true, false} {
		e := Entry(k, s, with)
		out = append(out, &workloads.Case{Variant: e, Launch: strconv.Itoa(warps), Kernel: file, Entry: e,
			Grid: isa.Dim3{X: uint32(blocks), Y: 1, Z: 1}, Block: isa.Dim3{X: uint32(threads), Y: 1, Z: 1},
			Args: []workloads.Arg{{Name: "table", Buffer: workloads.GenLCG, Seed: 7, Bytes: 32 << 10}, {Name: "out", Buffer: workloads.GenZero, Bytes: uint64(4 * threads * blocks), Out: true},
				word("n", uint32(g.Iteration)), word("ten", 10), word("one", 1)}})
	}
	return out
}

func word(name string, v uint32) workloads.Arg {
	return workloads.Arg{Name: name, Type: "u32", Raw: binary.LittleEndian.AppendUint32(nil, v)}
}

// fill simulates the cases, pairs in the order of rows and columns, and checks that both forms of each pair give the same output.
func (t *Table) fill(k Kind, arch string, cases []*workloads.Case, set workloads.Settings, opt study.Options) error {
	set.Archs, set.SMs, set.Blocks = []string{arch}, 1, workloads.Blocks{Mode: workloads.BlocksWhole}
	set.Check = workloads.CheckNone
	rep, err := study.Execute(&workloads.Plan{Study: true, Name: k.Name, Settings: set, Cases: cases}, opt)
	if err != nil {
		return err
	}
	if len(rep.Failures) > 0 {
		f := rep.Failures[0]
		return fmt.Errorf("%s on %s: %w", f.Variant, f.Arch, f.Err)
	}
	for r := range t.Rows {
		var gain, fewer []float64
		for c := range t.Columns {
			i := 2 * (r*len(t.Columns) + c)
			with, without := &rep.Runs[i], &rep.Runs[i+1]
			if with.Outputs[0].FNV1a64 != without.Outputs[0].FNV1a64 {
				return fmt.Errorf("%s and %s differ in their output on %s", with.Variant, without.Variant, arch)
			}
			if blocks := cases[i].Grid.Count(); with.Occupancy.TheoreticalBlocks < blocks || without.Occupancy.TheoreticalBlocks < blocks {
				gain, fewer = append(gain, 0), append(fewer, 0) // so many warps are not resident at once
				continue
			}
			gain = append(gain, float64(without.Cycles)/float64(with.Cycles))
			fewer = append(fewer, float64(without.WarpInstructions)/float64(with.WarpInstructions))
		}
		t.Gain, t.Fewer = append(t.Gain, gain), append(t.Fewer, fewer)
	}
	return nil
}

// Figures are the two heat maps, with their names.
func (m *Map) Figures() []study.Drawing {
	var out []study.Drawing
	for i, t := range []*Table{&m.Chains, &m.Memory} {
		note := ""
		z := make([][]float64, len(t.Gain))
		for r, row := range t.Gain {
			for _, v := range row {
				if v == 0 {
					v, note = math.NaN(), "Hatched: so many warps are not resident at once."
				}
				z[r] = append(z[r], v)
			}
		}
		name := fmt.Sprintf("gain_%s_%s_%s", m.Kind, m.Arch, []string{"chains", "memory"}[i])
		out = append(out, study.Drawing{Name: name, Figure: &plots.HeatMap{Title: fmt.Sprintf("Gain of %s on %s, %s", m.Kind, m.Arch, t.Title), Note: note,
			XLabel: t.Column, YLabel: t.Row, ZLabel: "speed-up", X: t.Columns, Y: t.Rows, Z: z, Center: 1, Contours: contours(z)}})
	}
	return out
}

// extremes are the least and the largest gain.
func extremes(z [][]float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, r := range z {
		for _, v := range r {
			if v > 0 { // neither NaN nor empty
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo, hi
}

// contours are the lines to draw: break-even, and round steps above and below.
func contours(z [][]float64) []float64 {
	lo, hi := extremes(z)
	for _, step := range []float64{0.05, 0.1, 0.2, 0.5, 1, 2, 5} {
		if (hi-lo)/step > 6 {
			continue
		}
		var out []float64
		for n := int(math.Ceil((lo - 1) / step)); 1+float64(n)*step <= hi; n++ {
			out = append(out, 1+float64(n)*step)
		}
		return out
	}
	return []float64{1}
}
