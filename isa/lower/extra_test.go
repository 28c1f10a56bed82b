package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/isa/zipped"
)

// TestExtraKernels compiles 19 more kernels (sorting, hashing, random numbers, reductions, big integers, stencils), which served to
// check that rules found on the bundled ones hold for others. Results are compared with those of the vendor's machine code,
// executed here; instructions and registers with the code it made of the same PTX.
func TestExtraKernels(t *testing.T) {
	text := zipped.Read(t, "testdata/extra.ptx.gz")
	modules := map[string]*ptx.Module{}
	for _, part := range strings.Split(string(text), "//== ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		m, err := ptx.Parse(name+".ptx", []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		modules[name] = m
	}
	launches, ref := readLaunchFile(t, "testdata/extra_launches.txt"), readReference(t, "testdata/extra_ptxas.csv")
	for _, sm := range []int{75, 80, 90, 120} {
		c := &kernelComparison{}
		for i := range launches {
			l := &launches[i]
			p := compileAndCompare(t, modules[l.file], l, testTarget(sm), Options{})
			if p == nil {
				continue
			}
			n, _, err := runLaunch(p, testTarget(sm), l)
			if r := ref[fmt.Sprintf("%s sm_%d", l.kernel, sm)]; err == nil && r.steps > 0 {
				c.add(l.kernel, float64(n)/float64(r.steps), p, r.regs)
			}
		}
		t.Log(c.row(fmt.Sprintf("sm_%d", sm)))
		if len(c.steps) < 16 || c.steps[len(c.steps)/2] > 0.05 || c.near*5 < len(c.steps)*2 {
			t.Errorf("sm_%d: %s", sm, c.row("too far from the vendor's code"))
		}
	}
}
