package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs"
)

func occupancyArch(t *testing.T, name string) *configs.Arch {
	t.Helper()
	a, err := configs.Load(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestOccupancyQuestions are questions that users asked, with the answers of NVIDIA's calculator.
func TestOccupancyQuestions(t *testing.T) {
	for _, c := range []struct {
		arch                  string
		block, regs, shared   int
		blocks, warps         int
		limiter, inArithmetic string
	}{
		{"2.0", 224, 48, 0, 2, 14, "registers", "48 x 32 = 1536; 16384 registers in each of 2 sub-partitions hold 10 warps, together 20; 20 / 7 = 2"},
		{"2.0", 256, 25, 3568, 4, 32, "registers", "25 x 32 = 800, rounded up to a multiple of 64: 832"},
		{"3.5", 224, 92, 0, 2, 14, "registers", "92 x 32 = 2944, rounded up to a multiple of 256: 3072"},
		{"6.1", 768, 36, 0, 2, 48, "warps", "36 x 32 = 1152, rounded up to a multiple of 256: 1280"},
		{"1.0", 256, 10, 0, 3, 24, "warps", "allocated by block: 8 warps; 8 x 32 x 10 = 2560; 8192 registers / 2560 = 3"},
		{"1.0", 96, 11, 0, 5, 15, "registers", "3 warps, rounded up to a multiple of 2: 4"},
		{"9.0", 128, 32, 50000, 4, 16, "shared", "50000 bytes + 1024 for the system = 51024, rounded up to a multiple of 128: 51072; 233472 bytes / 51072 = 4 (the kernel must opt in to more than 49152 bytes)"},
		{"9.0", 1024, 65, 0, 0, 0, "registers", "a block of 32 warps takes 73728, more than the 65536"},
		{"8.6", 2048, 32, 0, 0, 0, "threads", "1 to 1024 threads, not 2048"},
		{"2.0", 32, 64, 0, 8, 8, "blocks", "can name only 63 registers"},
	} {
		q := OccupancyOf(occupancyArch(t, c.arch), c.block, c.regs, c.shared)
		if q.Blocks != c.blocks || q.Warps != c.warps || q.Limiter != c.limiter {
			t.Errorf("%s %d x %d, %d B: %d blocks, %d warps, %s; want %d, %d, %s", c.arch, c.block, c.regs, c.shared, q.Blocks, q.Warps, q.Limiter, c.blocks, c.warps, c.limiter)
		}
		if words := fmt.Sprint(q.Limits); !strings.Contains(words, c.inArithmetic) {
			t.Errorf("%s %d x %d: %s lacks %q", c.arch, c.block, c.regs, words, c.inArithmetic)
		}
	}
}

// TestFullOccupancyRegisters is the table of the registers a thread that full occupancy allows. On 2.x textbooks divide
// 32768 registers by 1536 threads and print 21; allocation by warp in units of 64 leaves 20.
func TestFullOccupancyRegisters(t *testing.T) {
	for arch, want := range map[string]int{"1.0": 10, "1.2": 16, "2.0": 20, "2.1": 20, "3.0": 32} {
		a := occupancyArch(t, arch)
		full := 0
		for regs := 1; regs <= a.Occupancy.MaxRegsThread; regs++ {
			if a.ResidentBlocks(256, regs, 0).Fraction == 1 {
				full = regs
			}
		}
		if full != want {
			t.Errorf("%s: %d registers at full occupancy, want %d", arch, full, want)
		}
	}
}

// TestOccupancyJSON: the document has the keys that scripts use, and what the calculator says, for random kernels on all
// architectures; the ranges of the curves have no gap and agree with the calculator at both ends.
func TestOccupancyJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range configs.List() {
		a := occupancyArch(t, name)
		for range 3 {
			block, regs, shared := 1+r.IntN(a.Occupancy.MaxThreadsBlock), 1+r.IntN(a.Occupancy.MaxRegsThread), r.IntN(a.Occupancy.SharedBlockOptin)
			q := OccupancyOf(a, block, regs, shared)
			var b bytes.Buffer
			if err := WriteOccupancy(&b, []*Occupancy{q}, "json"); err != nil {
				t.Fatal(err)
			}
			var doc struct {
				Blocks, Warps *int
				Occupancy     *float64
				Limiter       *string
			}
			if err := json.Unmarshal(b.Bytes(), &doc); err != nil || doc.Blocks == nil || doc.Warps == nil || doc.Occupancy == nil || doc.Limiter == nil {
				t.Fatal("keys are missing", err, b.String()[:200])
			}
			want := a.ResidentBlocks(block, regs, shared)
			if *doc.Blocks != want.Blocks || *doc.Warps != want.Warps || *doc.Occupancy != want.Fraction || *doc.Limiter != want.Limiter {
				t.Errorf("%s %d x %d, %d B: %v, the calculator %v", name, block, regs, shared, b.String()[:300], want)
			}
			checkCurve(t, name, q.BlockCurve, func(x int) configs.OccupancyResult { return a.ResidentBlocks(x, regs, shared) })
			checkCurve(t, name, q.RegisterCurve, func(x int) configs.OccupancyResult { return a.ResidentBlocks(block, x, shared) })
			checkCurve(t, name, q.SharedCurve, func(x int) configs.OccupancyResult { return a.ResidentBlocks(block, regs, x) })
		}
	}
}

func checkCurve(t *testing.T, name string, curve []OccupancyStep, at func(int) configs.OccupancyResult) {
	t.Helper()
	for i, s := range curve {
		if i > 0 && s.From != curve[i-1].To+1 {
			t.Errorf("%s: gap between %d and %d", name, curve[i-1].To, s.From)
		}
		for _, x := range []int{s.From, s.To} {
			if r := at(x); r.Blocks != s.Blocks || r.Warps != s.Warps && s.From == s.To || r.Limiter != s.Limiter {
				t.Errorf("%s: %d is in %v, the calculator says %v", name, x, s, r)
			}
		}
	}
}

func TestOccupancyPictures(t *testing.T) {
	p, err := OccupancyPictures(OccupancyOf(occupancyArch(t, "9.0"), 256, 40, 9000))
	if err != nil || len(p) != 6 {
		t.Fatal(len(p), err)
	}
	if !bytes.Contains(p[0].data, []byte("resident warps")) {
		t.Error("the first picture has no curve of resident warps")
	}
	if _, err := OccupancyPictures(OccupancyOf(occupancyArch(t, "9.0"), 2048, 40, 0)); err != nil {
		t.Error("a block that does not fit:", err)
	}
}
