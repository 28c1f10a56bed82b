package advise

import (
	"math"
	"path"
	"slices"
	"testing"

	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

// bundledCase is the small launch of a variant of a bundled study.
func bundledCase(t *testing.T, name, variant string) *workloads.Plan {
	t.Helper()
	p := bundledCases(t, name, variant)
	p.Cases = p.Cases[:1]
	return p
}

// lastLaunch is the launch that fills the SM.
func lastLaunch(t *testing.T, name, variant string) *workloads.Plan {
	t.Helper()
	p := bundledCases(t, name, variant)
	p.Cases = p.Cases[len(p.Cases)-1:]
	return p
}

func bundledCases(t *testing.T, name, variant string) *workloads.Plan {
	t.Helper()
	p, err := workloads.LoadFS(workloads.Bundled(), path.Join(name, "study.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p.Archs, p.Compare = []string{"sm_90"}, nil
	p.Cases = slices.DeleteFunc(p.Cases, func(c *workloads.Case) bool { return c.Variant != variant })
	if len(p.Cases) == 0 {
		t.Fatalf("%s has no variant %s", name, variant)
	}
	return p
}

// TestKernels lists the rules that apply to kernels as nvcc writes them. Those that are simulated must keep the outputs of the whole grid, and
// the rewrites together must gain at least what is given; where the H200 ran the same launch with dp2a, what it measured.
func TestKernels(t *testing.T) {
	for _, c := range []struct {
		workload, variant string
		rules             []string
		gain              float64 // 0: not simulated here
		measured          float64 // on the H200, 0: not there
	}{
		{"dot8", "dot8_imad", []string{"dot"}, 1.1, 0},
		{"conv1d", "conv1d_imad", []string{"dot"}, 1.03, 1.042},
		{"sad4", "sad4_absdiff", []string{"sad"}, 0.9, 0},
		{"montmul", "montmul", []string{"wide"}, 1.02, 0},
		{"hamming", "hamming", []string{"popc"}, 1.15, 0}, // on a full SM, where the pipe of the counts is the limit
		{"divide", "divide_param", []string{"constant"}, 1.2, 0},
		{"floyd", "floyd_nofuse", []string{"constant"}, 0, 0},
		{"sw", "sw_nofuse", []string{"constant", "minmax"}, 0, 0},
		{"sw", "sw_dpx", nil, 0, 0},
		{"ncc", "imad_c1", []string{"dot"}, 0, 0},
		{"ncc", "imad_c2", []string{"dot"}, 0, 0},
		{"ncc", "imad_c4", []string{"dot", "mad"}, 0, 0},
		{"ncc", "dp4a_c4", nil, 0, 0},
		{"gemm8", "gemm8_imad", []string{"dot"}, 0, 0},
		{"sha256", "sha256", []string{"lop3"}, 0, 0},
		{"saxpyi", "saxpyi", nil, 0, 0},
	} {
		t.Run(c.variant, func(t *testing.T) {
			p := bundledCase(t, c.workload, c.variant)
			if c.workload == "hamming" {
				p = lastLaunch(t, c.workload, c.variant)
			}
			var got []string
			cs := p.Cases[0]
			m, err := ptx.Parse(cs.Kernel.Path, cs.Kernel.Text)
			if err != nil {
				t.Fatal(err)
			}
			fn := m.Entry(cs.Entry)
			for _, r := range Rules() {
				ch, err := Rewrite(cs.Kernel.Path, cs.Kernel.Text, fn.Name, scalars(fn, cs), r)
				if err != nil {
					t.Fatal(err)
				}
				if ch != nil && !ch.silent && !(r.Name == "constant" && c.workload == "gemm8") { // its one column panel is a divisor of the block index
					got = append(got, r.Name)
				}
			}
			if !slices.Equal(got, c.rules) {
				t.Fatalf("rules %v, want %v", got, c.rules)
			}
			if c.gain == 0 || testing.Short() {
				return
			}
			a, err := Advise(p, Options{Options: study.Options{}, NoWarps: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range a.Rewrites {
				if !r.Equal {
					t.Errorf("%s changes the output: %s", r.Rule, r.Differs)
				}
				if r.SpeedUp["sm_90"] < c.gain {
					t.Errorf("%s: speed-up %.3f, at least %.2f expected: %s", r.Rule, r.SpeedUp["sm_90"], c.gain, r.Reasons["sm_90"])
				}
				if c.measured > 0 && math.Abs(r.SpeedUp["sm_90"]-c.measured) > 0.012 {
					t.Errorf("%s: speed-up %.3f, the H200's is %.3f", r.Rule, r.SpeedUp["sm_90"], c.measured)
				}
			}
		})
	}
}
