package study

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/zipped"
	"github.com/sarchlab/smsim/workloads"
)

// listedLaunch is one launch of a real kernel with checksums of the blocks that a GPU computed.
type listedLaunch struct {
	Function      string
	Grid, Block   [3]uint32
	Shared        int
	WordsPerBlock int `json:"words_per_block"`
	Checksums     map[string]string
	Args          []struct {
		Kind  string
		Words uint64
		Seed  uint64
		Zero  bool
		Value uint32
	}
}

// literals are the kernels whose code before sm_90 takes the four ones that DP4A sums bytes with from the literal pool,
// constant bank 2, which cuobjdump -sass does not print.
var literals = map[string]bool{"ncc_dp4a_c1": true, "ncc_dp4a_c2": true, "ncc_dp4a_c4": true, "sad4_absdiff": true}

func (l *listedLaunch) kase(file *workloads.KernelFile) *workloads.Case {
	c := &workloads.Case{Kernel: file, Entry: l.Function, Grid: isa.Dim3{X: l.Grid[0], Y: l.Grid[1], Z: l.Grid[2]},
		Block: isa.Dim3{X: l.Block[0], Y: l.Block[1], Z: l.Block[2]}, DynamicShared: l.Shared}
	if literals[l.Function] && slices.Contains([]string{"sm_75.sass", "sm_80.sass", "sm_86.sass", "sm_89.sass"}, file.Path) {
		c.Consts = []workloads.ConstWords{{Bank: 2, Words: []uint32{0x01010101}}}
	}
	for i, a := range l.Args {
		arg := workloads.Arg{Name: fmt.Sprintf("a%d", i), Bytes: 4 * a.Words, Mask: ^uint32(0)}
		switch {
		case a.Kind == "u32":
			arg = workloads.Arg{Name: arg.Name, Type: "u32", Raw: []byte{byte(a.Value), byte(a.Value >> 8), byte(a.Value >> 16), byte(a.Value >> 24)}}
		case a.Zero:
			arg.Buffer, arg.Out = workloads.GenZero, true
		default:
			arg.Buffer, arg.Seed = workloads.GenLCG, a.Seed
		}
		c.Args = append(c.Args, arg)
	}
	return c
}

func listedLaunches(t *testing.T) []listedLaunch {
	t.Helper()
	b, err := os.ReadFile("testdata/listings/launches.json")
	if err != nil {
		t.Fatal(err)
	}
	var ls []listedLaunch
	if err := json.Unmarshal(b, &ls); err != nil {
		t.Fatal(err)
	}
	return ls
}

// TestListedKernels runs the machine code of real kernels for seven targets: two blocks of each leave the checksums that a
// GPU computed. The words of the launch (parameters, block and grid size, stack) are where each generation has them.
func TestListedKernels(t *testing.T) {
	launches := listedLaunches(t)
	files, err := filepath.Glob("testdata/listings/sm_*.sass.gz")
	if err != nil || len(files) != 7 || len(launches) < 39 {
		t.Fatalf("%d listings, %d launches, %v", len(files), len(launches), err)
	}
	for _, path := range files {
		arch := filepath.Base(path)[:len(filepath.Base(path))-len(".sass.gz")]
		file := &workloads.KernelFile{Path: arch + ".sass", Text: zipped.Read(t, path)}
		plan := &workloads.Plan{}
		c, err := newCompiler(plan, defaultArchs(file))
		if err != nil {
			t.Fatal(err)
		}
		if len(c.order) != 1 || c.order[0] != arch {
			t.Fatalf("%s: target %v", path, c.order)
		}
		m := c.machines[arch]
		for i := range launches {
			l := &launches[i]
			cs := l.kase(file)
			p, err := c.program(cs, m)
			if err != nil {
				t.Errorf("%s: %v", arch, err)
				continue
			}
			if err := p.Check(m.target); err != nil {
				t.Errorf("%s: %v", arch, err)
			}
			if p.Control != isa.ControlDecoded {
				t.Errorf("%s: control information of %s is not decoded", arch, l.Function)
			}
			launch, bufs, err := cs.NewLaunch(p)
			if err != nil {
				t.Errorf("%s: %v", arch, err)
				continue
			}
			launch.NumSMs, launch.MaxSteps = 132, 5_000_000
			k, err := isa.Bind(p, m.target, launch)
			if err != nil {
				t.Errorf("%s: %v", arch, err)
				continue
			}
			if _, err := k.RunGrid([]int{0, 1}); err != nil {
				t.Errorf("%s: %s: %v", arch, l.Function, err)
				continue
			}
			compareBlocks(t, arch, l, bufs)
		}
	}
}

func compareBlocks(t *testing.T, arch string, l *listedLaunch, bufs []*isa.Buffer) {
	t.Helper()
	compared := 0
	for j := range l.Args {
		if !l.Args[j].Zero {
			continue
		}
		for b, want := range l.Checksums {
			n, err := strconv.Atoi(b)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("%016x", workloads.FNV1a64(bufs[j].Data[4*n*l.WordsPerBlock:4*(n+1)*l.WordsPerBlock]))
			if got != want {
				t.Errorf("%s: %s: block %d: checksum %s, the GPU's %s", arch, l.Function, n, got, want)
			}
			compared++
		}
	}
	if compared != 2 {
		t.Errorf("%s: %s: %d blocks compared", arch, l.Function, compared)
	}
}
