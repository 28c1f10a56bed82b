package sm

import (
	"os/exec"
	"strings"
	"testing"
)

// TestAkitaWithoutC checks that only Akita's component library is linked in: its tracing and monitoring packages need a C compiler.
func TestAkitaWithoutC(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "github.com/sarchlab/smsim/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, name := range strings.Fields(string(out)) {
		if strings.HasPrefix(name, "github.com/sarchlab/akita/") && name != "github.com/sarchlab/akita/v3/sim" {
			t.Errorf("%s is linked in: only akita/v3/sim builds without a C compiler", name)
		}
	}
}
