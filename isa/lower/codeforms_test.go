package lower

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// codeForm is a piece of PTX and how many instructions of some kinds its code has.
type codeForm struct {
	name, ptx string
	want      []string // "LDL.128 1"; the text of a machine instruction starts so
}

// readCodeForms reads lines "form NAME", PTX, and "want TEXT N".
func readCodeForms(t *testing.T, name string) []codeForm {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var forms []codeForm
	for _, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "form "); ok {
			forms = append(forms, codeForm{name: name})
			continue
		}
		if len(forms) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		f := &forms[len(forms)-1]
		if want, ok := strings.CutPrefix(line, "want "); ok {
			f.want = append(f.want, want)
		} else {
			f.ptx += line + "\n"
		}
	}
	return forms
}

// TestCodeForms compiles the pieces of testdata/codeforms.txt: on the targets whose listings were read they have the stated
// instructions, and on six they compute what unoptimised code does.
func TestCodeForms(t *testing.T) {
	forms := readCodeForms(t, "testdata/codeforms.txt")
	for _, form := range forms {
		plain, target := compileAlgebra(t, form.ptx, 90, Options{NoOptimise: true})
		results := runAlgebra(t, plain, target)
		for _, sm := range []int{35, 61, 75, 86, 90, 120} {
			p, target := compileAlgebra(t, form.ptx, sm, Options{})
			if runAlgebra(t, p, target) != results {
				t.Errorf("%s: sm_%d gives another result than unoptimised code", form.name, sm)
			}
			if sm < 75 {
				continue
			}
			var text []string
			for i := range p.Insts {
				text = append(text, p.Text(i))
			}
			for _, want := range form.want {
				var kind string
				n, got := -1, 0
				fmt.Sscan(want, &kind, &n)
				for _, line := range text {
					if at := strings.Index(line, kind); at == 0 || at > 0 && line[0] == '@' && line[at-1] == ' ' {
						if rest := line[at+len(kind):]; rest == "" || rest[0] == ' ' {
							got++
						}
					}
				}
				if got != n {
					t.Errorf("%s: sm_%d has %d %s, want %d:\n%s", form.name, sm, got, kind, n, strings.Join(text, "\n"))
				}
			}
		}
	}
	if len(forms) < 16 {
		t.Fatalf("only %d forms", len(forms))
	}
}

// TestCodeFormsTableSize compiles a chain of comparisons behind an indexed branch whose table leaves room in constant bank 2 or none.
func TestCodeFormsTableSize(t *testing.T) {
	for length, want := range map[int]int{64: 2, 16000: 1} {
		text := ".reg .pred %t<9>; .reg .b32 %n; rem.u32 %n, %a, " + fmt.Sprint(length) + ";\nts: .branchtargets S" +
			strings.Repeat(", T, S", length/2-1) + ", T;\nbrx.idx %n, ts;\n" +
			"S: xor.b32 %b, %b, 77; bra.uni U;\nT: popc.b32 %b, %b;\nU: and.b32 %n, %c, 7; mov.u32 %d, %b;\n"
		for k := range 5 {
			text += fmt.Sprintf("setp.eq.s32 %%t%d, %%n, %d; @%%t%d bra L%d;\n", k, k, k, k%2)
		}
		text += "bra.uni V;\nL0: mad.lo.s32 %d, %a, %c, 5; bra.uni V;\nL1: mad.lo.s32 %d, %b, %c, 9;\nV: xor.b32 %d, %d, %i;\n"
		plain, target := compileAlgebra(t, text, 90, Options{NoOptimise: true})
		results := runAlgebra(t, plain, target)
		for _, sm := range []int{75, 90} {
			p, target := compileAlgebra(t, text, sm, Options{})
			if runAlgebra(t, p, target) != results {
				t.Errorf("table of %d: sm_%d gives another result than unoptimised code", length, sm)
			}
			tables := 0
			for i := range p.Insts {
				if p.Insts[i].Op == isa.OpBRX {
					tables++
				}
			}
			if bytes := len(p.ConstBanks[2]); tables != want || bytes > 1<<16 {
				t.Errorf("table of %d: sm_%d has %d tables, want %d; %d bytes in bank 2", length, sm, tables, want, bytes)
			}
		}
	}
}
