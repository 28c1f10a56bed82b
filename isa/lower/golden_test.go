package lower

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa/ptx"
)

var update = flag.Bool("update", false, "rewrite the expected machine code")

// TestGolden compares the machine code of small kernels with testdata/golden.txt: one case for each fusion and
// folding rule, so that a change of a pass shows as a change of text. A case is "== name sm_N", the body of a kernel
// with parameters out (u64), n and m (u32), and after => the code without control information.
func TestGolden(t *testing.T) {
	const path = "testdata/golden.txt"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "\n== ")
	var out strings.Builder
	out.WriteString(parts[0])
	for _, part := range parts[1:] {
		head, rest, _ := strings.Cut(part, "\n")
		body, want, _ := strings.Cut(rest, "=>\n")
		var sm int
		if _, err := fmt.Sscanf(head[strings.LastIndex(head, "sm_"):], "sm_%d", &sm); err != nil {
			t.Fatalf("case %q names no target", head)
		}
		src := ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n, .param .u32 m)\n{\n" +
			".reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n.reg .pred %p<10>;\n.shared .align 16 .b8 sh[1024];\n" +
			"ld.param.u64 %rd0, [out];\nld.param.u32 %r1, [n];\nld.param.u32 %r2, [m];\nmov.u32 %r0, %tid.x;\n" + body + "ret;\n}\n"
		m, err := ptx.Parse("golden.ptx", []byte(src))
		if err != nil {
			t.Errorf("%s: %v", head, err)
			continue
		}
		p, err := Compile(m, "", testTarget(sm), Options{})
		if err != nil {
			t.Errorf("%s: %v", head, err)
			continue
		}
		var got strings.Builder
		for i := range p.Insts {
			fmt.Fprintf(&got, "%s\n", strings.ReplaceAll(p.Insts[i].String(), ".reuse", ""))
		}
		fmt.Fprintf(&out, "\n== %s\n%s=>\n%s", head, body, got.String())
		if strings.TrimSpace(got.String()) != strings.TrimSpace(want) && !*update {
			t.Errorf("%s:\n%s\nwant\n%s", head, got.String(), want)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
