package conform

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa/zipped"

	"github.com/sarchlab/smsim/isa"
)

// variant is an instruction or short sequence with the number of machine instructions that ptxas 13.0 makes of it, by target.
type variant struct {
	form  Form
	ptxas map[int]int
}

// variants are 1,035 forms as programs have them: one operand a literal, the same operand twice, two and three dependent operations,
// predicates and selections, conversions one after another, words put together and taken apart, single precision, video instructions
// with random selectors. Counted, as core does, in ptxas's machine code of the kernels that Form.Kernel gives.
func variants(t *testing.T) []variant {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(zipped.Read(t, "testdata/cost/variants.csv.gz")))
	r.Comma = '|'
	r.LazyQuotes = true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []variant
	for i, row := range rows[1:] {
		v := variant{Form{ID: i, PTX: row[0], Result: row[1], Operands: strings.Fields(row[2]), Second: row[3], Halves: true}, map[int]int{}}
		for c, name := range rows[0][4:] {
			sm, errName := strconv.Atoi(strings.TrimPrefix(name, "sm_"))
			n, errCount := strconv.Atoi(row[4+c])
			if errName != nil || errCount != nil {
				t.Fatalf("row %d: %q, %q", i, name, row[4+c])
			}
			v.ptxas[sm] = n
		}
		out = append(out, v)
	}
	return out
}

// TestVariantCost is TestCost on the variants. They were generated before the rules of opt_float.go, opt_pack.go and loadedHalf were written,
// which came from them; before, 72 to 78 in a hundred were equal.
func TestVariantCost(t *testing.T) {
	vs := variants(t)
	if len(vs) != 1035 {
		t.Errorf("%d variants", len(vs))
	}
	for _, g := range []struct{ sm, same, near int }{{75, 830, 963}, {86, 830, 962}, {90, 865, 969}, {120, 833, 956}} {
		var rows []costRow
		for i := range vs {
			p := compileForm(t, &vs[i].form, isa.NewTarget(g.sm))
			rows = append(rows, costRow{vs[i].form.PTX, len(core(p)), vs[i].ptxas[g.sm]})
		}
		costTable(t, g.sm, rows, g.same, g.near)
	}
}
