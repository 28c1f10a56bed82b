package lower

import (
	"os"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// gateHead is the module that ptxas was given, for a version and a target. PTX before 2.3 has no .address_size, before 2.0 neither
// images nor linking directives.
func gateHead(version string, sm string) string {
	size, images, visible := ".address_size 64\n", ".global .texref tr; .global .surfref sr;", ".visible "
	if version < "2.3" {
		size = ""
	}
	if version < "2.0" {
		images, visible = "", ""
	}
	params := "(.param .u64 out, .param .u32 n, .param .u64 in)\n{\n"
	if version < "1.4" {
		params = "\n{\n.param .u64 out; .param .u32 n; .param .u64 in;\n"
	}
	return ".version " + version + "\n.target sm_" + sm + "\n" + size + ".global .align 16 .b32 gv[64]; " + images + " .const .align 16 .b32 cv[64];\n" +
		visible + ".entry k" + params +
		".reg .b32 %r<60>; .reg .b64 %rd<40>; .reg .pred %p<20>; .reg .b16 %h<20>; .reg .f32 %f<20>; .reg .f64 %fd<20>; .reg .u16 %uh<9>;\n" +
		".shared .align 16 .b32 sh[64]; .shared .align 8 .b64 mb; .local .align 16 .b32 lo[64];\n"
}

// TestGates: an instruction is refused on the PTX versions and targets on which ptxas refuses it, and with what it needs. What is
// not modelled is left out.
func TestGates(t *testing.T) {
	text, err := os.ReadFile("testdata/gates.txt")
	if err != nil {
		t.Fatal(err)
	}
	var modules []string
	checked, refused, wrong := 0, 0, 0
	target := isa.NewTarget(100)
	for n, line := range strings.Split(string(text), "\n") {
		verdicts, instr, ok := strings.Cut(line, " ")
		switch {
		case !ok || verdicts == "#":
			continue
		case verdicts == "modules":
			modules = strings.Fields(instr)
			continue
		}
		for i, module := range modules {
			if (n+i)%4 != 0 || verdicts[i] == '?' {
				continue
			}
			version, sm, _ := strings.Cut(module, "/")
			m, err := ptx.Parse("gate.ptx", []byte(gateHead(version, sm)+instr+"\nret;\n}\n"))
			if err != nil {
				t.Fatal(instr, err)
			}
			_, err = Compile(m, "k", target, Options{})
			if err != nil && strings.Contains(err.Error(), "not modelled") {
				break
			}
			checked++
			if err != nil {
				refused++
			}
			if (err == nil) != (verdicts[i] == '1') {
				if wrong++; wrong < 60 {
					t.Errorf("PTX %s for sm_%s: %s: error %v, ptxas %c", version, sm, instr, err, verdicts[i])
				}
			}
		}
	}
	if checked < 4000 || refused < checked/4 {
		t.Errorf("only %d checked, %d refused", checked, refused)
	}
}
