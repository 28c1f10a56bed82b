package validate

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/sm"
)

// launch is one measured launch of a real kernel: the manifest's record with its counters.
type launch struct {
	ID       int    `json:"id"`
	File     string `json:"file"`
	Function string `json:"function"`
	Args     []struct {
		Kind  string `json:"kind"`
		Words int    `json:"words"`
		Seed  uint32 `json:"seed"`
		Zero  bool   `json:"zero"`
		Value uint64 `json:"value"`

		// of a texture of 8-bit components in the buffer, row after row
		Width    uint32 `json:"width"`
		Height   uint32 `json:"height"`
		Channels int    `json:"channels"`
	} `json:"args"`
	Grid          [3]uint32         `json:"grid"`
	Block         [3]uint32         `json:"block"`
	DynamicShared int               `json:"dynamic_shared_bytes"`
	WordsPerBlock int               `json:"words_per_block"`
	Checksums     map[string]string `json:"block_fnv1a64"`

	counters map[string]float64 // columns of kernels.csv that are numbers
}

// cyclesColumn is the column with the measured cycles of a set of kernels.
var cyclesColumn = map[string]string{"kernels_cold": "sm__cycles_active.avg", "kernels_warm": "warm:sm__cycles_active.avg"}

// name says which launch it is, for reports.
func (l *launch) name() string {
	return fmt.Sprintf("%s, %d threads, %d blocks", l.Function, l.Block[0]*l.Block[1]*l.Block[2], l.Grid[0]*l.Grid[1]*l.Grid[2])
}

// loadKernels reads kernels.json and kernels.csv of a data folder; an absent folder gives none.
func loadKernels(dir fs.FS) ([]launch, error) {
	b, err := readFile(dir, "kernels/kernels.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ls []launch
	if err := json.Unmarshal(b, &ls); err != nil {
		return nil, fmt.Errorf("kernels/kernels.json: %w", err)
	}
	t, err := readTable(dir, "kernels/kernels.csv", "id", cyclesColumn["kernels_cold"], cyclesColumn["kernels_warm"])
	if err != nil {
		return nil, err
	}
	counters := map[string]map[string]float64{}
	for i := range t.recs {
		c := map[string]float64{}
		for name := range t.head {
			if v, err := strconv.ParseFloat(t.get(i, name), 64); err == nil {
				c[name] = v
			}
		}
		counters[t.get(i, "id")] = c
	}
	for i := range ls {
		l := &ls[i]
		if l.counters = counters[strconv.Itoa(l.ID)]; l.counters == nil {
			return nil, fmt.Errorf("kernels/kernels.csv has no row for launch %d of kernels.json", l.ID)
		}
		n := 0
		for _, a := range l.Args {
			n += max(a.Words, 0)
		}
		if l.Grid[0] < 1 || l.Grid[1] < 1 || l.Grid[2] < 1 || 4*n > bufferBytes {
			return nil, fmt.Errorf("kernels/kernels.json: launch %d has a grid of %v and arguments of %d words, which make no launch", l.ID, l.Grid, n)
		}
	}
	return ls, nil
}

// kernelProgram is the launch's kernel from the given input.
func (w *worker) kernelProgram(l *launch, in Input) (*isa.Program, error) {
	key := string(in) + l.File + ":" + l.Function
	if w.key == key {
		return w.prog, nil
	}
	w.key = ""
	name := strings.TrimSuffix(path.Base(l.File), ".cu")
	var p *isa.Program
	var err error
	if in == FromPTX {
		p, err = w.lib.fromPTX("kernels/ptx/"+name+".ptx", l.Function)
	} else if p, err = w.lib.fromListing("kernels/sass/"+w.arch.Name+"/"+name+".sass", l.Function); err == nil {
		if p.Regs, p.SharedBytes, err = w.lib.resources(l.Function); err == nil {
			err = w.lib.addVariables(p, "kernels/ptx/"+name+".ptx")
		}
	}
	if err != nil {
		return nil, err
	}
	w.key, w.prog = key, p
	return p, nil
}

// resources is registers and static shared bytes of a function, which listings do not give.
func (l *library) resources(function string) (regs, sharedBytes int, err error) {
	t, err := readTable(l.dir, "kernels/resources.csv", "function", "target", "registers", "static_shared_bytes")
	if err != nil {
		return 0, 0, err
	}
	for i := range t.recs {
		if t.get(i, "function") == function && "sm_"+strings.TrimPrefix(t.get(i, "target"), "sm_") == l.arch.Name {
			v, err := t.ints(i, "registers", "static_shared_bytes")
			if err != nil {
				return 0, 0, err
			}
			return v[0], v[1], nil
		}
	}
	return 0, 0, fmt.Errorf("kernels/resources.csv has no row for %s on %s", function, l.arch.Name)
}

// predictKernel runs this SM's share of a launch. It is an error if a block that the SM executed left other bytes than the
// hardware's.
func (w *worker) predictKernel(l *launch, in Input, cold bool) (*sim.Result, error) {
	p, err := w.kernelProgram(l, in)
	if err != nil {
		return nil, err
	}
	mem := isa.NewMemory()
	la := &isa.Launch{Grid: isa.Dim3{X: l.Grid[0], Y: l.Grid[1], Z: l.Grid[2]}, Block: isa.Dim3{X: l.Block[0], Y: l.Block[1], Z: l.Block[2]},
		DynamicShared: l.DynamicShared, Mem: mem, NumSMs: measuredSMs}
	var out *isa.Buffer
	var opt sm.Options
	for i, a := range l.Args {
		if a.Kind == "u32" {
			la.Params = binary.LittleEndian.AppendUint32(la.Params, uint32(a.Value))
			continue
		}
		for len(la.Params)%8 != 0 {
			la.Params = append(la.Params, 0)
		}
		if a.Kind == "u64" {
			la.Params = binary.LittleEndian.AppendUint64(la.Params, a.Value)
			continue
		}
		b := mem.Alloc("arg"+strconv.Itoa(i), uint64(4*a.Words))
		opt.FootprintBytes += uint64(4 * a.Words)
		if a.Zero {
			out = b
		} else {
			opt.ReadBytes += uint64(len(b.Data))
			fillWords(b.Data, a.Seed)
		}
		if a.Kind == "texture" {
			la.Textures = append(la.Textures, isa.Texture{Name: b.Name, Addr: b.Addr, Width: a.Width, Height: a.Height, Channels: a.Channels, Format: isa.U8})
		}
		la.Params = binary.LittleEndian.AppendUint64(la.Params, b.Addr)
	}
	opt.NumSMs, opt.AllSMsActive, opt.ClockMHz, opt.L2Bytes, opt.Cold = measuredSMs, true, measuredMHz, measuredL2, cold
	opt.WholeBuffers, opt.MaxCycles = true, rowCycles
	res, err := sm.Run(w.arch, p, la, opt)
	if err != nil {
		return nil, err
	}
	return res, l.check(out)
}

// fillWords writes the words that the manifest's generator gives.
func fillWords(b []byte, seed uint32) {
	for k := 0; k+4 <= len(b); k += 4 {
		seed = seed*1664525 + 1013904223
		binary.LittleEndian.PutUint32(b[k:], seed)
	}
}

// check compares the output of the blocks that this SM executed with the recorded checksums.
func (l *launch) check(out *isa.Buffer) error {
	for _, b := range []int{0, measuredSMs} {
		want, ok := l.Checksums[strconv.Itoa(b)]
		if !ok || out == nil || 4*(b+1)*l.WordsPerBlock > len(out.Data) {
			continue
		}
		h := uint64(14695981039346656037) // FNV-1a, 64 bit
		for _, c := range out.Data[4*b*l.WordsPerBlock : 4*(b+1)*l.WordsPerBlock] {
			h = (h ^ uint64(c)) * 1099511628211
		}
		if got := fmt.Sprintf("%016x", h); got != want {
			return fmt.Errorf("output of block %d has checksum %s, the hardware's has %s", b, got, want)
		}
	}
	return nil
}

// loadArch is the architecture to replay on, with the overrides of an ablation.
func loadArch(name string, overrides []configs.Override) (*configs.Arch, error) {
	if name == "" {
		name = "sm_90"
	}
	return configs.Load(name, overrides)
}
