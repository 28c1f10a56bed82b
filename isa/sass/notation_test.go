package sass

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestNotations writes real listings as cuda-gdb and nvdisasm -json do: the same instructions come out.
func TestNotations(t *testing.T) {
	for _, sm := range []int{75, 80, 89, 90} {
		path := fmt.Sprintf("testdata/sm_%d.sass", sm)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		l := read(t, path, text)
		for name, other := range map[string]string{"cuda-gdb": asDebugger(l), "nvdisasm -json": asJSON(t, l, sm)} {
			m := read(t, name, []byte(other))
			if len(m.Funcs) != len(l.Funcs) {
				t.Fatalf("sm_%d, %s: %d functions, want %d", sm, name, len(m.Funcs), len(l.Funcs))
			}
			for i := range l.Funcs {
				want, got := instructions(t, l, l.Funcs[i], sm), instructions(t, m, m.Funcs[i], sm)
				if l.Funcs[i].Name != m.Funcs[i].Name || len(want) != len(got) {
					t.Fatalf("sm_%d, %s: %s with %d instructions, want %s with %d", sm, name, m.Funcs[i].Name, len(got), l.Funcs[i].Name, len(want))
				}
				for k := range want {
					if got[k] != want[k] {
						t.Errorf("sm_%d, %s, %s: %s, want %s", sm, name, l.Funcs[i].Name, got[k], want[k])
					}
				}
			}
		}
	}
}

func read(t *testing.T, name string, text []byte) *Listing {
	t.Helper()
	l, err := Read(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// instructions are a function's, with address and operands, as this package prints them.
func instructions(t *testing.T, l *Listing, f *Function, sm int) []string {
	t.Helper()
	p, err := l.Read(f, Options{SM: sm})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(p.Insts))
	for i := range p.Insts {
		out[i] = fmt.Sprintf("%04x %s", p.Insts[i].PC, p.Text(i))
	}
	return out
}

func asDebugger(l *Listing) string {
	var b strings.Builder
	for k, f := range l.Funcs {
		fmt.Fprintf(&b, "Dump of assembler code for function %s:\n", f.Name)
		for i, r := range f.Insts {
			mark := "  "
			if i == k {
				mark = "=>"
			}
			fmt.Fprintf(&b, "%s 0x%016x <+%d>:\t%s \n", mark, 0x7ff202156400+uint64(r.addr), r.addr, r.text)
		}
		fmt.Fprintf(&b, "End of assembler dump.\n")
	}
	return b.String()
}

// asJSON leaves out the blanks behind commas, as nvdisasm does, and puts all in one line.
func asJSON(t *testing.T, l *Listing, sm int) string {
	t.Helper()
	var funcs []map[string]any
	for _, f := range l.Funcs {
		var insts []map[string]any
		for _, r := range f.Insts {
			in, text := map[string]any{}, r.text
			if strings.HasPrefix(text, "@") {
				in["predicate"], text, _ = strings.Cut(text, " ")
			}
			opcode, operands, _ := strings.Cut(strings.TrimSpace(text), " ")
			in["opcode"] = opcode
			if operands != "" {
				in["operands"] = strings.ReplaceAll(operands, ", ", ",")
			}
			insts = append(insts, in)
		}
		length := len(insts) * int(isa.NewTarget(sm).InstBytes)
		funcs = append(funcs, map[string]any{"function-name": f.Name, "start": 0, "length": length, "other-attributes": []string{}, "sass-instructions": insts})
	}
	head := map[string]any{"SM": map[string]any{"version": map[string]int{"major": sm / 10, "minor": sm % 10}}, "Description": ""}
	text, err := json.Marshal([]any{head, funcs})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestJSONParts: code that begins where the code before it ends is a part of that kernel, which calls it by its name; an instruction
// without opcode is a gap.
func TestJSONParts(t *testing.T) {
	text := `[{"SM":{"version":{"major":9,"minor":0}}},[
	 {"function-name":"k","start":0,"length":48,"sass-instructions":[
	  {"opcode":"MOV","operands":"R20,0x20"},
	  {"opcode":"CALL.REL.NOINC","operands":"` + "`(part)" + `","other-attributes":{"control-flow":"True"},"source-line":3},
	  {"opcode":"EXIT"}]},
	 {"function-name":"part","start":48,"length":16,"sass-instructions":[
	  {"opcode":"RET.REL.NODEC","operands":"R20,` + "`(k)" + `"}]}]]`
	l := read(t, "x", []byte(text))
	if len(l.Funcs) != 1 {
		t.Fatalf("%d functions, want 1", len(l.Funcs))
	}
	p, err := l.Program(l.Funcs[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	if call := p.Insts[1].Src[0]; call.Kind != isa.KindLabel || call.Imm != 3 {
		t.Errorf("the call goes to %v, want instruction 3", call)
	}
	if at := p.Insts[3].Pos; at.Line != 7 || at.Col != 4 {
		t.Errorf("the return stands at %d:%d, want 7:4", at.Line, at.Col)
	}
}
