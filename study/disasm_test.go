package study

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/workloads"
)

// TestCompileKeepsOrder: the kernels of a file are compiled side by side and come in the file's order, architecture by architecture, each with
// its own code. The first take longest here, and one cannot be lowered.
func TestCompileKeepsOrder(t *testing.T) {
	const kernels, broken = 12, 5
	var text strings.Builder
	text.WriteString(".version 8.0\n.target sm_90\n.address_size 64\n")
	for k := range kernels {
		fmt.Fprintf(&text, ".visible .entry k%d(.param .u64 p) {\n.reg .b64 %%rd<3>; .reg .b32 %%r<3>;\nld.param.u64 %%rd1, [p]; ld.global.u32 %%r1, [%%rd1];\n", k)
		if k == broken {
			text.WriteString("cp.async.bulk.commit_group;\n")
		}
		for i := range 60 * (kernels - k) {
			fmt.Fprintf(&text, "mul.lo.u32 %%r1, %%r1, %%r1; add.u32 %%r1, %%r1, %d;\n", i+1)
		}
		text.WriteString("st.global.u32 [%rd1], %r1;\nret;\n}\n")
	}
	file := &workloads.KernelFile{Path: "many.ptx", Text: []byte(text.String())}
	archs := []string{"sm_90", "sm_75"}
	plan := &workloads.Plan{}
	plan.Archs = archs
	machines, err := Compile(plan, file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(machines) != kernels*len(archs) {
		t.Fatalf("%d kernels, want %d", len(machines), kernels*len(archs))
	}
	for i := range machines {
		m, k := &machines[i], i%kernels
		if want := fmt.Sprintf("k%d", k); m.Name != want || m.Arch.Name != archs[i/kernels] {
			t.Errorf("%d: %s for %s, want %s for %s", i, m.Name, m.Arch.Name, want, archs[i/kernels])
		}
		if k == broken {
			if m.Err == nil || !strings.Contains(m.Err.Error(), "cp.async.bulk") {
				t.Errorf("%s for %s: error %v, want one about cp.async.bulk", m.Name, m.Arch.Name, m.Err)
			}
			continue
		}
		if m.Err != nil {
			t.Errorf("%s for %s: %v", m.Name, m.Arch.Name, m.Err)
			continue
		}
		if n, least := len(m.Program.Insts), 60*(kernels-k); m.Program.Name != m.Name || n < least || n > 3*least+40 {
			t.Errorf("%s for %s: code of %s, %d instructions for %d rounds", m.Name, m.Arch.Name, m.Program.Name, n, least)
		}
	}
}
