// Package smsim_test holds tests about the repository as a whole.
package smsim_test

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/sarchlab/smsim/"

// floors are the packages from the ground up; a package may import packages of lower floors only. README.md says
// what each holds.
var floors = [][]string{
	{"isa/excerpt", "isa/spelling", "isa/zipped", "configs/strictyaml/schemas", "study/lazy", "study/page"},
	{"configs/strictyaml", "isa", "isa/ptx"},
	{"isa/lower", "isa/sass"},
	{"configs"},
	{"sim"},
	{"sim/observe"},
	{"pipelines"},
	{"sm"},
	{"workloads", "plots"},
	{"study/validate", "study/conform", "study/lut"},
	{"study/isatable"},
	{"study"},
	{"study/advise", "study/gainmap", "study/published", "study/sweepdb"},
	{"cmd/smsim"},
}

// akitaUsers are the packages that may know Akita's types.
var akitaUsers = map[string]bool{"sim": true, "sim/observe": true, "pipelines": true, "sm": true}

// TestImportsGoDown lists every package's imports: none runs upward or sideways, none is missing from the floors,
// Akita stays in the simulation packages, and terminal, flags and configuration merging in the command.
func TestImportsGoDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	floor := map[string]int{}
	for i, names := range floors {
		for _, n := range names {
			floor[n] = i
		}
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		pkg, inside := strings.CutPrefix(words[0], module)
		if !inside {
			continue // this package
		}
		at, known := floor[pkg]
		if !known {
			t.Errorf("package %s is on no floor: add it to the list in this test", pkg)
			continue
		}
		for _, imp := range words[1:] {
			if dep, own := strings.CutPrefix(imp, module); own {
				if to, ok := floor[dep]; ok && to >= at {
					t.Errorf("%s imports %s, which is not below it", pkg, dep)
				}
				continue
			}
			switch {
			case strings.HasPrefix(imp, "github.com/sarchlab/akita/") && !akitaUsers[pkg]:
				t.Errorf("%s imports %s; Akita's types stay in sim, sim/observe, pipelines and sm", pkg, imp)
			case strings.HasPrefix(imp, "github.com/spf13/") && pkg != "cmd/smsim", strings.HasPrefix(imp, "golang.org/x/term") && pkg != "cmd/smsim":
				t.Errorf("%s imports %s, which belongs to the command", pkg, imp)
			case imp == "C":
				t.Errorf("%s needs a C compiler", pkg)
			}
		}
	}
}
