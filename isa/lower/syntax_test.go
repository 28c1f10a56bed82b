package lower

import (
	"strings"
	"testing"
)

// TestSyntaxTable: every line of syntax.txt is of an operation that is lowered, has a known age and no group that is empty.
func TestSyntaxTable(t *testing.T) {
	for op, forms := range syntaxForms {
		if selectors[op] == nil && op != "bra" && op != "ret" && op != "exit" {
			t.Errorf("%s has a form and no rule", op)
		}
		for _, f := range forms {
			if f.age != "" && syntaxAge[f.age] == nil {
				t.Errorf("%s: unknown age %s", f.text, f.age)
			}
			for _, g := range append(f.needed, f.may...) {
				for _, m := range g {
					if m == "" || strings.Trim(m, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" { // the name of a set that there is not
						t.Errorf("%s: modifier %q", f.text, m)
					}
				}
			}
		}
	}
	for op := range operandRows {
		if selectors[op] == nil {
			t.Errorf("%s has operand types and no rule", op)
		}
	}
}
