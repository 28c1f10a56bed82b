package study

import (
	"strings"
	"testing"

	"github.com/sarchlab/smsim/workloads"
)

// TestCompiledBarriers: kernels with mbarrier, cuda::barrier and cuda::pipeline leave the same in memory from PTX and from
// the machine code that ptxas makes of them, ATOMS.ARRIVE on sm_80 and SYNCS from sm_90 on.
func TestCompiledBarriers(t *testing.T) {
	files := compiledFiles(t, "mbarrier.tar.gz")
	ran := 0
	for _, arch := range []string{"sm_80", "sm_90", "sm_120"} {
		m, err := loadMachine(arch, &workloads.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			base, isListing := strings.CutSuffix(name, "."+arch+".sass")
			if !isListing {
				continue
			}
			listing := &workloads.KernelFile{Path: name, Text: []byte(text)}
			module := &workloads.KernelFile{Path: base + ".ptx", Text: []byte(files[base+".ptx"])}
			fromPTX, err := readSource(module)
			if err != nil {
				t.Fatal(err)
			}
			listed, err := readSource(listing)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range fromPTX.module.Entries() {
				n := byte(5)
				switch f.Name {
				case "m_init", "n_init", "m_dropn", "n_dropn":
					n = 3
				case "n_prodcons":
					n = 2 * (128 - 32) // twice the consumers, which are all but one warp
				default:
					if strings.HasPrefix(base, "mb") {
						n = 128 // the number of threads that arrive
					}
				}
				c := compiledCase(module, f.Name)
				c.Args[2].Raw[0] = n
				p, err := fromPTX.program(f.Name, m.target, &workloads.Plan{})
				if err != nil {
					t.Errorf("%s on %s: %v", f.Name, arch, err)
					continue
				}
				want, err := checksum(p, c, m)
				if err != nil {
					t.Errorf("%s on %s: %v", f.Name, arch, err)
					continue
				}
				lc := compiledCase(listing, f.Name)
				lc.Module, lc.Args[2].Raw[0] = module, n
				got, err := runListed(listed, lc, m)
				if err != nil && strings.Contains(err.Error(), "reads constant bank 2") {
					continue
				}
				if err != nil || got != want {
					t.Errorf("%s of %s: %s, from PTX %s (%v)", f.Name, name, got, want, err)
				}
				ran++
			}
		}
	}
	if ran < 50 {
		t.Errorf("%d listings ran", ran)
	}
}
