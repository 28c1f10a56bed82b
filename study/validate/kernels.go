package validate

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/sm"
)

// Launch is one measured launch of a real kernel: the manifest's record with its counters.
type Launch struct {
	ID       int    `json:"id"`
	File     string `json:"file"`
	Function string `json:"function"`
	Args     []struct {
		Kind  string `json:"kind"`
		Words int    `json:"words"`
		Seed  uint32 `json:"seed"`
		Zero  bool   `json:"zero"`
		Out   bool   `json:"out"`
		Value uint32 `json:"value"`
	} `json:"args"`
	Grid          [3]uint32         `json:"grid"`
	Block         [3]uint32         `json:"block"`
	DynamicShared int               `json:"dynamic_shared_bytes"`
	WordsPerBlock int               `json:"words_per_block"`
	Checksums     map[string]string `json:"block_fnv1a64"`

	Counters map[string]float64 `json:"-"` // columns of kernels.csv that are numbers
}

// LoadKernels reads kernels.json and kernels.csv of a data folder; an absent folder gives none.
func LoadKernels(dir string) ([]Launch, error) {
	base := filepath.Join(dir, "kernels")
	b, err := ReadFile(filepath.Join(base, "kernels.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ls []Launch
	if err := json.Unmarshal(b, &ls); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(base, "kernels.json"), err)
	}
	head, recs, err := table(filepath.Join(base, "kernels.csv"))
	if err != nil {
		return nil, err
	}
	byID := map[int][]string{}
	for _, r := range recs {
		id, err := strconv.Atoi(r[head["id"]])
		if err != nil {
			return nil, fmt.Errorf("kernels.csv: id %q is not a number", r[head["id"]])
		}
		byID[id] = r
	}
	for i := range ls {
		l := &ls[i]
		l.Counters = map[string]float64{}
		r, ok := byID[l.ID]
		if !ok {
			return nil, fmt.Errorf("kernels.csv has no row for launch %d", l.ID)
		}
		for name, k := range head {
			if v, err := strconv.ParseFloat(r[k], 64); err == nil {
				l.Counters[name] = v
			}
		}
	}
	return ls, nil
}

// Input says which form of the kernel runs.
type Input string

// Inputs.
const (
	FromSASS Input = "sass" // the machine code that ran
	FromPTX  Input = "ptx"  // lowered by this project
)

// KernelRunner runs measured launches on one SM.
type KernelRunner struct {
	Dir      string
	Arch     *configs.Arch
	programs map[string]*isa.Program
}

// NewKernelRunner runs launches of the data folder on the architecture.
func NewKernelRunner(dir string, a *configs.Arch) *KernelRunner {
	return &KernelRunner{Dir: dir, Arch: a, programs: map[string]*isa.Program{}}
}

// Program is the launch's kernel from the given input.
func (r *KernelRunner) Program(l *Launch, in Input) (*isa.Program, error) {
	key := string(in) + l.Function
	if p := r.programs[key]; p != nil {
		return p, nil
	}
	name := strings.TrimSuffix(filepath.Base(l.File), ".cu")
	var p *isa.Program
	switch in {
	case FromSASS:
		path := filepath.Join(r.Dir, "kernels", "sass", r.Arch.Name, name+".sass")
		b, err := ReadFile(path)
		if err != nil {
			return nil, err
		}
		li, err := sass.Read(path, b)
		if err != nil {
			return nil, err
		}
		f, err := li.Entry(l.Function)
		if err != nil {
			return nil, err
		}
		if p, err = li.Program(f, 0); err != nil {
			return nil, err
		}
		res, err := r.resources(l.Function)
		if err != nil {
			return nil, err
		}
		p.Regs, p.SharedBytes = res[0], res[1]
	case FromPTX:
		path := filepath.Join(r.Dir, "kernels", "ptx", name+".ptx")
		b, err := ReadFile(path)
		if err != nil {
			return nil, err
		}
		m, err := ptx.Parse(path, b)
		if err != nil {
			return nil, err
		}
		if p, err = lower.Compile(m, l.Function, r.Arch.Target(), lower.Options{}); err != nil {
			return nil, err
		}
	}
	r.programs[key] = p
	return p, nil
}

// resources is registers and static shared bytes of a function, from resources.csv.
func (r *KernelRunner) resources(function string) (res [2]int, err error) {
	head, recs, err := table(filepath.Join(r.Dir, "kernels", "resources.csv"))
	if err != nil {
		return res, err
	}
	for _, c := range recs {
		if c[head["function"]] == function && strings.ReplaceAll(c[head["target"]], "sm_", "") == strings.TrimPrefix(r.Arch.Name, "sm_") {
			for i, n := range []string{"registers", "static_shared_bytes"} {
				if res[i], err = strconv.Atoi(c[head[n]]); err != nil {
					return res, fmt.Errorf("resources.csv: %s of %s: %q is not a number", n, function, c[head[n]])
				}
			}
			return res, nil
		}
	}
	return res, fmt.Errorf("resources.csv has no row for %s on %s", function, r.Arch.Name)
}

// Predict runs this SM's share of a launch and says whether the blocks it executed left the recorded checksums.
func (r *KernelRunner) Predict(l *Launch, in Input, cold bool) (*sim.Result, string, error) {
	p, err := r.Program(l, in)
	if err != nil {
		return nil, "", err
	}
	mem := isa.NewMemory()
	launch := &isa.Launch{Grid: isa.Dim3{X: l.Grid[0], Y: l.Grid[1], Z: l.Grid[2]}, Block: isa.Dim3{X: l.Block[0], Y: l.Block[1], Z: l.Block[2]},
		DynamicShared: l.DynamicShared, Mem: mem, NumSMs: 132}
	var out *isa.Buffer
	var footprint uint64
	for i, a := range l.Args {
		if a.Kind == "u32" {
			launch.Params = binary.LittleEndian.AppendUint32(launch.Params, a.Value)
			continue
		}
		for len(launch.Params)%8 != 0 {
			launch.Params = append(launch.Params, 0)
		}
		b := mem.Alloc("arg"+strconv.Itoa(i), uint64(4*a.Words))
		footprint += uint64(4 * a.Words)
		if a.Zero {
			out = b
		} else {
			x := a.Seed
			for k := 0; k < a.Words; k++ {
				x = x*1664525 + 1013904223
				binary.LittleEndian.PutUint32(b.Data[4*k:], x)
			}
		}
		launch.Params = binary.LittleEndian.AppendUint64(launch.Params, b.Addr)
	}
	opt := sm.Options{NumSMs: 132, AllSMsActive: true, ClockMHz: 1980, Cold: cold, L2Bytes: 60 << 20, FootprintBytes: footprint}
	res, err := sm.Run(r.Arch, p, launch, opt)
	if err != nil {
		return nil, "", err
	}
	check := "none"
	for _, b := range []int{0, 132} {
		want, ok := l.Checksums[strconv.Itoa(b)]
		if !ok || out == nil {
			continue
		}
		h := uint64(14695981039346656037)
		for _, c := range out.Data[4*b*l.WordsPerBlock : 4*(b+1)*l.WordsPerBlock] {
			h = (h ^ uint64(c)) * 1099511628211
		}
		if got := fmt.Sprintf("%016x", h); got != want {
			return res, fmt.Sprintf("block %d: %s, expected %s", b, got, want), nil
		}
		check = "passed"
	}
	return res, check, nil
}
