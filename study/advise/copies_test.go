package advise

import (
	"testing"

	"github.com/sarchlab/smsim/study"
)

// TestCopies multiplies bundled kernels: every copy must write what the kernel alone does, and each must cost its own instructions.
func TestCopies(t *testing.T) {
	for _, c := range []struct {
		workload, variant string
		n                 []int
	}{
		{"dot8", "dot8_imad", []int{2, 3}},
		{"montmul", "montmul", []int{2}},    // carry chains
		{"hamming", "hamming", []int{2, 3}}, // population counts
		{"scan", "scan", []int{2, 3}},       // shared memory and shuffles
		{"hist", "hist", []int{2, 3}},       // shared atomics
		{"collatz", "collatz", []int{2, 3}}, // control flow that depends on data
	} {
		t.Run(c.variant, func(t *testing.T) {
			p := bundledCase(t, c.workload, c.variant)
			p.Cases[0].Expect = nil
			base, err := study.Execute(p, study.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range c.n {
				many, err := multiplied(p, "sm_90", p.Cases[0].Entry, n)
				if err != nil {
					t.Fatal(err)
				}
				rep, err := study.Execute(many, study.Options{})
				if err != nil {
					t.Fatal(err)
				}
				a, b := &base.Runs[0], &rep.Runs[0]
				if len(b.Outputs) != n*len(a.Outputs) {
					t.Fatalf("%d outputs, want %d times %d", len(b.Outputs), n, len(a.Outputs))
				}
				for i, o := range b.Outputs {
					if want := a.Outputs[i%len(a.Outputs)].FNV1a64; o.FNV1a64 != want {
						t.Errorf("%d copies: output %s is %s, want %s", n, o.Name, o.FNV1a64, want)
					}
				}
				spills := b.Memory.LocalStores > 0 // of registers, where the copies need more than there are
				if r := float64(b.WarpInstructions) / float64(a.WarpInstructions); r < 0.5*float64(n) || r > 1.3*float64(n) && !spills {
					t.Errorf("%d copies execute %.2f times as many instructions", n, r)
				}
			}
		})
	}
}

// TestNoCopies are kernels that cannot be multiplied, with the reason.
func TestNoCopies(t *testing.T) {
	const head = ".version 8.0\n.target sm_90\n.address_size 64\n.global .u32 counter;\n.func f() { ret; }\n.visible .entry k(.param .u64 out)\n{\n.reg .b64 %q<4>;\n.reg .b32 %r<4>;\n"
	for _, c := range []struct{ body, want string }{
		{"ld.param.u64 %q0, [out]; call f; st.global.u32 [%q0], 1; ret;", "it calls functions"},
		{"ld.param.u64 %q0, [out]; atom.global.add.u32 %r0, [counter], 1; st.global.u32 [%q0], %r0; ret;", "it uses the variable counter of the module"},
		{"ld.param.u64 %q0, [out]; ld.global.u32 %r0, [%q0]; ret;", "it writes to none of its buffers"},
	} {
		_, err := Copies("k.ptx", []byte(head+c.body+"\n}\n"), "k", []bool{true}, 0, 2)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.body, err, c.want)
		}
	}
}
