package sm

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/isa/zipped"
)

// measuredKernels writes the assembled kernels of a file of testdata out as one listing.
func measuredKernels(t *testing.T, file string) *sass.Listing {
	t.Helper()
	text := zipped.Read(t, "testdata/"+file+".txt.gz")
	var out strings.Builder
	out.WriteString("code for sm_90\n")
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	at := 0
	for i := 0; i < len(lines); i++ {
		var n, repeats int
		switch f := strings.Fields(lines[i]); f[0] {
		case "#":
		case "K":
			fmt.Fprintf(&out, "Function : %s\n", f[1])
			at = 0
		case "B":
			if _, err := fmt.Sscanf(lines[i], "B %d %d", &n, &repeats); err != nil {
				t.Fatal(err)
			}
			for k := range n * repeats {
				f := strings.SplitN(lines[i+1+k%n], " ", 3)
				fmt.Fprintf(&out, "/*%04x*/ %s ; /* 0x%s */\n/* 0x%s */\n", at, f[2], f[0], f[1])
				at += 16
			}
			i += n
		default:
			t.Fatalf("line %d: %q", i+1, lines[i])
		}
	}
	l, err := sass.Read(file, []byte(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestMeasuredKernels replays kernels that were assembled to separate mechanisms, and compares with what they took on the hardware.
func TestMeasuredKernels(t *testing.T) {
	rows, err := os.ReadFile("testdata/h200_kernels.csv")
	if err != nil {
		t.Fatal(err)
	}
	l := measuredKernels(t, "h200_kernels")
	a := arch(t, "sm_90")
	for n, line := range strings.Split(strings.TrimSpace(string(rows)), "\n") {
		f := strings.Split(line, ",")
		if line[0] == '#' || f[0] == "kernel" {
			continue
		}
		if len(f) != 5 {
			t.Fatalf("line %d: %q", n+1, line)
		}
		var v [4]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(f[i+1], 64); err != nil {
				t.Fatalf("line %d: %v", n+1, err)
			}
		}
		fn, err := l.Entry(f[0])
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.Program(fn, 90)
		if err != nil {
			t.Fatal(err)
		}
		p.SharedBytes = 20480
		got := clockSpan(t, a, p, int(v[0]), 1)
		if e := (got/v[1] - 1) * 100; math.Abs(e) > v[3] {
			t.Errorf("%s, %g warps: %g cycles, measured %g: %+.1f %%, tolerance %g", f[0], v[0], got, v[1], e, v[3])
		}
	}
}

// clockSpan runs a kernel of one block and returns its latest end minus its earliest start, by its own clock reads: those of one
// or of 32 threads a warp.
func clockSpan(t *testing.T, a *configs.Arch, p *isa.Program, warps, threads int) float64 {
	t.Helper()
	l := launch(1, 32*warps)
	out := l.Mem.Alloc("out", uint64(64*warps*threads))
	binary.LittleEndian.PutUint64(l.Params[0:], l.Mem.Alloc("in", 1<<19).Addr)
	binary.LittleEndian.PutUint64(l.Params[8:], out.Addr)
	if _, err := Run(a, p, l, Options{}); err != nil {
		t.Fatal(err)
	}
	first, last := uint64(math.MaxUint64), uint64(0)
	for w := range warps * threads {
		first = min(first, binary.LittleEndian.Uint64(out.Data[64*w:]))
		last = max(last, binary.LittleEndian.Uint64(out.Data[64*w+8:]))
	}
	return float64(last - first)
}

// TestMeasuredPaths replays kernels that separate the costs of divergent paths: of a switch to the path stored last and to others, of BREAK, and of
// what joins the paths again.
func TestMeasuredPaths(t *testing.T) {
	rows, err := os.ReadFile("testdata/h200_paths.csv")
	if err != nil {
		t.Fatal(err)
	}
	l := measuredKernels(t, "h200_paths")
	a := arch(t, "sm_90")
	for _, line := range strings.Split(strings.TrimSpace(string(rows)), "\n")[2:] {
		var warps int
		var cycles, tolerance float64
		f := strings.SplitN(line, ",", 2)
		if _, err := fmt.Sscanf(f[1], "%d,%g,%g", &warps, &cycles, &tolerance); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		fn, err := l.Entry(f[0])
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.Program(fn, 90)
		if err != nil {
			t.Fatal(err)
		}
		p.SharedBytes = 20480
		got := clockSpan(t, a, p, warps, 32)
		if e := (got/cycles - 1) * 100; math.Abs(e) > tolerance {
			t.Errorf("%s, %d warps: %g cycles, measured %g: %+.1f %%, tolerance %g", f[0], warps, got, cycles, e, tolerance)
		}
	}
}
