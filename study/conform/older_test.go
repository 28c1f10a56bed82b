package conform

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestOlderCost compares single instructions with what ptxas 11.8 and 12.5 emit from Kepler to Hopper: IMUL on Kepler, XMAD
// sequences on Maxwell and Pascal, native video instructions before Volta, DP4A from 6.1, SHF from 3.5.
func TestOlderCost(t *testing.T) {
	text, err := os.ReadFile("testdata/cost/older.txt")
	if err != nil {
		t.Fatal(err)
	}
	var targets []int
	table := map[int][]costRow{}
	for id, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		c := strings.Split(l, "|")
		if l[0] == '#' {
			continue
		}
		if c[0] == "op" {
			for _, name := range c[3:] {
				sm, err := strconv.Atoi(strings.TrimPrefix(name, "sm_"))
				if err != nil {
					t.Fatal(err)
				}
				targets = append(targets, sm)
			}
			continue
		}
		types := strings.Fields(c[2])
		f := &Form{ID: id, PTX: c[1], Result: types[0], Operands: types[1:], Accepted: true}
		for i, n := range c[3:] {
			if n == "-" {
				continue
			}
			want, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			table[targets[i]] = append(table[targets[i]], costRow{c[0], f.core(compileForm(t, f, isa.NewTarget(targets[i]))), want})
		}
	}
	for _, g := range []struct{ sm, same, near int }{{35, 850, 970}, {50, 830, 970}, {61, 835, 970}, {70, 890, 985}, {75, 915, 970}, {80, 865, 955}, {86, 865, 985}, {89, 865, 985}, {90, 875, 945}} {
		costTable(t, g.sm, table[g.sm], g.same, g.near)
	}
}
