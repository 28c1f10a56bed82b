package lower

import (
	"fmt"
	"os"
	"strings"
	"testing"
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
