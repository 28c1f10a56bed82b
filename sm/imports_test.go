package sm

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImportsRunDownwards checks the floors of docs/decisions.md: a package imports only what lies below it, and Akita's
// component library stays in the packages that simulate. Akita's tracing and monitoring packages need a C compiler.
func TestImportsRunDownwards(t *testing.T) {
	const module = "github.com/sarchlab/smsim/"
	allowed := map[string][]string{ // package -> packages of this module below it
		"isa":         {},
		"isa/ptx":     {},
		"isa/sass":    {"isa"},
		"isa/lower":   {"isa", "isa/ptx"},
		"configs":     {"isa"},
		"sim":         {"isa"},
		"sim/observe": {"isa", "sim"},
		"pipelines":   {"isa", "configs", "sim"},
		"sm":          {"isa", "isa/lower", "configs", "sim", "sim/observe", "pipelines"}, // isa/lower: where addresses come from
		"plots":       {"isa", "sim"},
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		f := strings.Fields(line)
		name := f[0]
		if strings.HasPrefix(name, "github.com/sarchlab/akita/") && name != "github.com/sarchlab/akita/v3/sim" {
			t.Errorf("%s is linked in: only akita/v3/sim builds without a C compiler", name)
		}
		pkg, ours := strings.CutPrefix(name, module)
		if !ours || strings.HasPrefix(pkg, "scratch/") {
			continue
		}
		seen[pkg] = true
		akita := pkg == "sm" || pkg == "sim" || pkg == "sim/observe" || pkg == "pipelines"
		for _, imp := range f[1:] {
			if strings.HasPrefix(imp, "github.com/sarchlab/akita/") && !akita {
				t.Errorf("%s imports %s: Akita's types stay in sim, sim/observe, pipelines and sm", pkg, imp)
			}
			below, ours := strings.CutPrefix(imp, module)
			list, known := allowed[pkg]
			if !ours || !known {
				continue
			}
			ok := false
			for _, a := range list {
				ok = ok || a == below
			}
			if !ok {
				t.Errorf("%s imports %s, which is not below it", pkg, below)
			}
		}
	}
	for pkg := range allowed {
		if !seen[pkg] && pkg != "plots" && pkg != "isa/sass" {
			t.Errorf("package %s is gone: update the table", pkg)
		}
	}
}
