package sass

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestFormats runs the listings of testdata/formats. Their first lines say what comes out:
//
//	// words: 1 2 3        first words of the buffer that is the kernel's only parameter, for a block of 32 threads
//	// control: decoded    or computed
//	// stalls: 1 0 5       stall cycles of the first instructions, where the format has them
func TestFormats(t *testing.T) {
	files, err := filepath.Glob("testdata/formats/*.sass")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			l, err := Read(path, text)
			if err != nil {
				t.Fatal(err)
			}
			p, err := l.Program(l.Funcs[0], 0)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string][]string{}
			for _, s := range l.Lines {
				if s, ok := strings.CutPrefix(s, "// "); ok {
					if k, v, ok := strings.Cut(s, ":"); ok {
						want[k] = strings.Fields(v)
					}
				}
			}
			if got := map[isa.ControlOrigin]string{isa.ControlComputed: "computed", isa.ControlDecoded: "decoded"}[p.Control]; len(want["control"]) != 1 || got != want["control"][0] {
				t.Errorf("control information %s, want %v", got, want["control"])
			}
			for i, s := range want["stalls"] {
				if got := strconv.Itoa(int(p.Insts[i].Ctrl.Stall)); got != s {
					t.Errorf("instruction %d (%s): stall %s, want %s", i, p.Insts[i].Op, got, s)
				}
				if p.Insts[i].Ctrl.DualIssue != (s == "0") {
					t.Errorf("instruction %d: dual issue %v", i, p.Insts[i].Ctrl.DualIssue)
				}
			}
			checkWords(t, p, want["words"])
		})
	}
}

func checkWords(t *testing.T, p *isa.Program, want []string) {
	t.Helper()
	if len(want) == 0 {
		t.Fatal("the file says no words")
	}
	target := isa.NewTarget(p.SM)
	if err := p.Check(target); err != nil {
		t.Errorf("check: %v", err)
	}
	mem := isa.NewMemory()
	out := mem.Alloc("out", 1024)
	p.SharedBytes = max(p.SharedBytes, 1024)
	la := &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 32, Y: 1, Z: 1}, Mem: mem, MaxSteps: 10_000}
	la.Params = binary.LittleEndian.AppendUint64(nil, out.Addr)
	k, err := isa.Bind(p, target, la)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.RunBlock(0); err != nil {
		t.Fatal(err)
	}
	for i, s := range want {
		v, err := strconv.ParseInt(s, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := binary.LittleEndian.Uint32(out.Data[4*i:]); got != uint32(v) {
			t.Errorf("word %d: %#x, want %s", i, got, s)
		}
	}
}
