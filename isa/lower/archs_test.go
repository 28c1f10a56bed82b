package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// olderTargets are those whose code of the bundled kernels TestKernels does not compare with the vendor's.
var olderTargets = []int{10, 13, 20, 21, 30, 35, 50, 60, 62, 70}

// lacks is a part of the message for a kernel that the target has no instructions for, "" for one that must run.
func lacks(sm int, kernel string) string {
	switch {
	case sm < 30 && strings.HasPrefix(kernel, "dot8"):
		return "no shuffle between lanes"
	case sm < 12 && kernel == "hist":
		return "no atomic instructions on shared memory"
	}
	return ""
}

// TestOlderTargets compiles the bundled kernels for targets without reference listings (each kernel for a third of them),
// executes a block and compares the result with the one measured on hardware. Those before compute capability 3.5
// have few registers, so most kernels spill there.
func TestOlderTargets(t *testing.T) {
	modules := map[string]*ptx.Module{}
	for i, l := range readLaunches(t) {
		if modules[l.file] == nil {
			modules[l.file] = parseKernel(t, l.file)
		}
		for k, sm := range olderTargets {
			if (i+k)%3 == 0 {
				compileAndCompare(t, modules[l.file], &l, testTarget(sm), Options{})
			}
		}
	}
}

// TestFewRegisters compiles kernels for the fewest registers that can be asked for.
func TestFewRegisters(t *testing.T) {
	modules := map[string]*ptx.Module{}
	targets := []int{20, 35, 61, 86, 90, 120}
	for i, l := range readLaunches(t) {
		if modules[l.file] == nil {
			modules[l.file] = parseKernel(t, l.file)
		}
		sm := targets[i%len(targets)]
		p := compileAndCompare(t, modules[l.file], &l, testTarget(sm), Options{MaxRegs: 16})
		if p != nil && p.Regs > 16 {
			t.Errorf("sm_%d %s: %d registers, 16 were allowed", sm, l.kernel, p.Regs)
		}
	}
}

// TestFewRegistersForPairs spills pairs whose first word is read by the same instruction on its own.
func TestFewRegistersForPairs(t *testing.T) {
	var text strings.Builder
	text.WriteString(".reg .b64 %e<8>; .reg .pred %t; .reg .b32 %n;\n")
	for i := range 8 {
		fmt.Fprintf(&text, "mad.wide.u32 %%e%d, %%a, %d, %%y;\n", i, 2*i+3)
	}
	text.WriteString("mov.u32 %n, 0;\nL: .pragma \"nounroll\";\n")
	for i := range 7 {
		fmt.Fprintf(&text, "mad.lo.s64 %%e%d, %%e%d, %%e%d, %%e%d;\n", i, i, i+1, i)
	}
	text.WriteString("add.u32 %n, %n, 1; setp.lt.u32 %t, %n, %b; @!%t bra E; setp.lt.u32 %t, %n, 5; @%t bra L;\nE:\n")
	for i := range 7 {
		fmt.Fprintf(&text, "xor.b64 %%e7, %%e7, %%e%d;\n", i)
	}
	text.WriteString("mov.b64 {%a, %b}, %e7; xor.b32 %d, %a, %b;\n")
	plain, target := compileAlgebra(t, text.String(), 90, Options{NoOptimise: true})
	want := runAlgebra(t, plain, target)
	for _, sm := range []int{35, 52, 61, 70, 75, 86, 90, 100, 120} {
		for _, opt := range []Options{{MaxRegs: 16}, {MaxRegs: 16, NoOptimise: true}, {MaxRegs: 20}} {
			p, target := compileAlgebra(t, text.String(), sm, opt)
			if runAlgebra(t, p, target) != want {
				t.Errorf("sm_%d %+v gives another result than unoptimised code", sm, opt)
			}
		}
	}
}

func compileAndCompare(t *testing.T, m *ptx.Module, l *launch, target *isa.Target, opt Options) *isa.Program {
	t.Helper()
	p, err := Compile(m, l.kernel, target, opt)
	if reason := lacks(target.SM, l.kernel); reason != "" {
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s %s: error is %v, should say %q", target.Name, l.kernel, err, reason)
		}
		return nil
	}
	if err != nil {
		t.Errorf("%s %s: %v", target.Name, l.kernel, err)
		return nil
	}
	_, sum, err := runLaunch(p, target, l)
	if err != nil {
		t.Errorf("%s %s: %v", target.Name, l.kernel, err)
	} else if sum != l.sum {
		t.Errorf("%s %s: checksum %s, want %s", target.Name, l.kernel, sum, l.sum)
	}
	return p
}
