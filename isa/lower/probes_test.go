package lower

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestProbes compares short kernels with ptxas's code for them: counters and their bounds, block indices in products and addresses, bases of shared
// memory and sums of 64 bits, each of which can be on the uniform datapath or not. Which pipe has a copy or an addition, and whether a comparison or
// its opposite is made, does not count. The bounds are the instructions that differ today in all probes of a target together, missing ones and
// others in their place: less is better, more is a fault.
func TestProbes(t *testing.T) {
	text, err := os.ReadFile("testdata/uniform_probes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	source := ""
	differ, probes := map[int]int{}, 0
	for _, f := range txtar.Parse(text).Files {
		name, target, ok := strings.Cut(f.Name, ".sm_")
		if !ok {
			source = string(f.Data)
			probes++
			continue
		}
		var sm int
		if _, err := fmt.Sscan(target, &sm); err != nil {
			t.Fatal(err)
		}
		p := compileText(t, source, sm)
		var ours []string
		for i := range p.Insts {
			ours = append(ours, mnemonicOf(p.Text(i)))
		}
		missing, more := difference(probeOps(strings.Fields(string(f.Data))), probeOps(ours))
		differ[sm] += len(missing) + len(more)
		if len(missing)+len(more) > 0 {
			t.Logf("%s sm_%d: missing %v, more %v", name, sm, missing, more)
		}
	}
	if probes < 40 {
		t.Errorf("only %d probes", probes)
	}
	for sm, most := range map[int]int{75: 47, 80: 24, 90: 65} {
		if differ[sm] > most {
			t.Errorf("sm_%d: %d instructions differ from ptxas's, %d did", sm, differ[sm], most)
		}
	}
}

// mnemonicOf is the first word of an instruction's text behind its guard.
func mnemonicOf(text string) string {
	words := strings.Fields(text)
	if strings.HasPrefix(words[0], "@") {
		return words[1]
	}
	return words[0]
}

// probeOps are mnemonics with one name for what can be done in several ways, sorted.
func probeOps(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		head, _, _ := strings.Cut(n, ".")
		switch {
		case head == "ISETP":
			out[i] = "ISETP"
			if strings.Contains(n, ".EX") {
				out[i] = "ISETP.EX"
			}
		case head == "LDG" || head == "STG" || head == "BAR":
			out[i] = head
		case n == "VIADD" || n == "IMAD.IADD":
			out[i] = "IADD3"
		case n == "IMAD.X":
			out[i] = "IADD3.X"
		case n == "IMAD.SHL.U32":
			out[i] = "SHF.L.U32"
		case head == "HFMA2" || n == "IMAD.MOV.U32" || n == "IMAD.U32":
			out[i] = "MOV"
		default:
			out[i] = n
		}
	}
	slices.Sort(out)
	return out
}

// difference is what sorted list a has and b lacks, and the other way round.
func difference(a, b []string) (onlyA, onlyB []string) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			onlyA, a = append(onlyA, a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			onlyB, b = append(onlyB, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return onlyA, onlyB
}
