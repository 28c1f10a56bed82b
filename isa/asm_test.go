package isa_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/sass"
)

// read makes a program of instructions in the listing's syntax, one a line and a branch's target being the number of an
// instruction: what the tests and their case files are written in.
func read(sm int, insts []string) (*isa.Program, error) {
	step := isa.NewTarget(sm).InstBytes
	var text strings.Builder
	fmt.Fprintf(&text, "code for sm_%d\nFunction : k\n", sm)
	for i, s := range insts {
		fmt.Fprintf(&text, "/*%04x*/ %s ;\n", uint32(i)*step, s)
	}
	l, err := sass.Read("k.sass", []byte(text.String()))
	if err != nil {
		return nil, err
	}
	return l.Program(l.Funcs[0], sm)
}

// assemble makes a program from lines of instructions. "name:" before an instruction is a label; "// ..." is a comment.
func assemble(t testing.TB, sm int, text string) *isa.Program {
	t.Helper()
	step := isa.NewTarget(sm).InstBytes
	address := map[string]string{} // of labels
	var insts []string
	var lines []int // of the instructions
	for n, l := range strings.Split(text, "\n") {
		l, _, _ = strings.Cut(l, "//")
		for {
			name, rest, ok := strings.Cut(l, ":")
			if !ok {
				break
			}
			address[strings.TrimSpace(name)] = fmt.Sprintf("%#x", uint32(len(insts))*step)
			l = rest
		}
		if l = strings.TrimSpace(l); l != "" {
			insts, lines = append(insts, l), append(lines, n+1)
		}
	}
	for i, l := range insts {
		k := strings.LastIndexAny(l, " ,") + 1
		if at, ok := address[l[k:]]; ok && k > 0 {
			insts[i] = l[:k] + at
		}
	}
	p, err := read(sm, insts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Insts {
		p.Insts[i].Pos = isa.SourcePos{Line: int32(lines[i]), Col: 1, CUFile: -1}
	}
	p.Source, p.SharedBytes, p.LocalBytes = nil, 1024, 64
	return p
}

// start binds a program without parameters and starts block 0.
func start(t testing.TB, p *isa.Program, threads uint32, mem *isa.Memory, params []byte) (*isa.Kernel, *isa.Block) {
	t.Helper()
	k, err := isa.Bind(p, isa.NewTarget(p.SM), &isa.Launch{Grid: isa.Dim3{X: 4, Y: 1, Z: 1}, Block: isa.Dim3{X: threads, Y: 1, Z: 1},
		Mem: mem, Params: params, MaxSteps: 100000, NumSMs: 1})
	if err != nil {
		t.Fatal(err)
	}
	return k, k.NewBlock(0)
}

// run executes a block warp by warp and returns its error.
func run(b *isa.Block) error {
	var e isa.Effect
	for !b.Done() {
		moved := false
		for _, w := range b.Warps {
			for w.PC() >= 0 {
				if err := w.Step(&e); err != nil {
					return err
				}
				moved = true
				if w.Steps() > 100000 {
					return errors.New("endless")
				}
			}
		}
		if !moved {
			return b.Stuck()
		}
	}
	return nil
}
