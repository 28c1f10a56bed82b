package lower

import (
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
