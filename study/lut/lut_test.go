package lut

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func parse(t *testing.T, text string, names ...string) *Expr {
	t.Helper()
	e, err := Parse(text, names)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestLutOfExpression(t *testing.T) {
	for _, c := range []struct {
		expr  string
		names string
		want  uint8
	}{
		{"(a|b)&~c", "", 0x54}, {"a", "", 0xf0}, {"b", "", 0xcc}, {"c", "", 0xaa}, {"a^b^c", "", 0x96},
		{"a ? b : c", "", 0xca}, {"(a & b) | (a & c) | (b & c)", "", 0xe8}, {"0", "", 0}, {"1", "", 0xff}, {"~(a & 1)", "", 0x0f},
		{"x & y", "", 0xc0}, {"x & y", "y,x", 0xc0}, {"z", "x,y,z", 0xaa}, {"b && !c", "", 0x44}, {"a | b & c", "", 0xf8}, {"a ^ b & c | 0", "", 0x78},
		{"~~a", "", 0xf0}, {"b & c", "", 0x88}, {"a ? b ? c : 0 : 1", "", 0x8f},
	} {
		var names []string
		if c.names != "" {
			names = strings.Split(c.names, ",")
		}
		got, ok := parse(t, c.expr, names...).Table.Lut()
		if !ok || got != c.want {
			t.Errorf("%s over %q: %#02x, want %#02x", c.expr, c.names, got, c.want)
		}
	}
}

// TestEveryFunction: the minimal expression of each function parses back to it, and has as many operators as it says.
func TestEveryFunction(t *testing.T) {
	most := 0
	for lut := range 256 {
		expr, ops := Minimal(uint8(lut), [3]string{"x", "y", "z"})
		got, _ := parse(t, expr, "x", "y", "z").Table.Lut()
		if got != uint8(lut) {
			t.Errorf("%#02x gives %s, which is %#02x", lut, expr, got)
		}
		n := 0
		for _, c := range expr {
			n += boolInt(strings.ContainsRune("~&|^?", c))
		}
		if n != ops {
			t.Errorf("%s: %d operators, said to be %d", expr, n, ops)
		}
		most = max(most, ops)
	}
	if most > 6 || most < 4 {
		t.Errorf("the hardest function takes %d operators", most)
	}
}

func TestMinimal(t *testing.T) {
	names := [3]string{"a", "b", "c"}
	for lut, want := range map[uint8]string{0xca: "a ? b : c", 0x96: "a ^ b ^ c", 0xf0: "a", 0x0f: "~a", 0x80: "a & b & c", 0: "0", 0xff: "1"} {
		if got, _ := Minimal(lut, names); got != want {
			t.Errorf("%#02x: %s, want %s", lut, got, want)
		}
	}
	if _, n := Minimal(0x54, names); n != 3 {
		t.Errorf("0x54 takes %d operators, want 3", n)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ expr, names, want string }{
		{"a & (b | c", "", `expression:11: expected ")" for the "(" in column 5`},
		{"a + b", "", `expression:3: unexpected "+"`},
		{"", "", "expression:1: expected an input"},
		{"a ? b", "", `expression:6: expected ":"`},
		{"a & 7", "", `expression:5: "7" is no input; constants are 0 and 1`},
		{"a & q", "a,b", `expression:5: "q" is not among the inputs a, b`},
		{"a b", "", `expression:3: unexpected "b"`},
		{"a & & b", "", "expression:5: unexpected"},
		{"a1^a2^a3^a4^a5^a6^a7^a8^a9^b1^b2", "", "at most 10"},
		{strings.Repeat("(", 3000), "", "nested deeper"},
	} {
		var names []string
		if c.names != "" {
			names = strings.Split(c.names, ",")
		}
		_, err := Parse(c.expr, names)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v lacks %q", c.expr[:min(40, len(c.expr))], err, c.want)
		}
	}
	_, err := Parse("a & @b", nil)
	if err == nil || !strings.Contains(err.Error(), "\n  a & @b\n      ^") {
		t.Errorf("no caret: %v", err)
	}
}

func TestDecompose(t *testing.T) {
	for _, c := range []struct {
		expr  string
		steps int
		exact bool
	}{
		{"a", 0, true}, {"a ^ a", 0, true}, {"~a", 1, true}, {"a & b", 1, true}, {"(a|b)&~c", 1, true}, {"a^b^c^d", 2, true},
		{"a^b^c^d^e", 2, true}, {"a^b^c^d^e^f", 3, true}, {"a^b^c^d^e^f^g", 3, true}, {"a^b^c^d^e^f^g^h^i", 4, true},
		{"a&b | c&d", 2, true}, {"a&b | c&d | e", 2, true}, {"(a&b|c) ^ (d&e)", 2, true},
		{"(a?b:c)&(d?e:a)", 3, true},
		// SHA-256's majority and choice with one more input, and a full adder chain's carry
		{"(a&b|a&c|b&c)^d^e", 2, true}, {"a&b&c | d&e&f", 3, true}, {"a&b|c&d|e&f|g&h", 4, true},
	} {
		e := parse(t, c.expr)
		p := e.Decompose()
		if len(p.Steps) != c.steps || p.Exact != c.exact {
			t.Errorf("%s: %d LOP3, exact %v (at least %d: %s), want %d, %v", c.expr, len(p.Steps), p.Exact, p.Bound, p.Why, c.steps, c.exact)
		}
		verify(t, e, p)
	}
}

// verify compares a sequence with its function on every row.
func verify(t *testing.T, e *Expr, p Plan) {
	t.Helper()
	if p.Bound > len(p.Steps) {
		t.Errorf("%s: %d steps, but proven that it needs %d", e.Text, len(p.Steps), p.Bound)
	}
	if len(p.Steps) == 0 {
		return
	}
	for _, s := range p.Steps {
		for k, n := range s.Src {
			if n == "0" && s.Lut != s.Lut>>(4>>k)&[3]uint8{0x0f, 0x33, 0x55}[k]|s.Lut<<(4>>k)&[3]uint8{0xf0, 0xcc, 0xaa}[k] || n != "0" && slices.Contains(s.Src[:k], n) {
				t.Errorf("%s: %s has a source twice, or depends on a constant", e.Text, s)
			}
		}
	}
	for row, want := range e.Table {
		if evaluate(p.Steps, e.Names, row) != want {
			t.Errorf("%s: row %d of %v is wrong", e.Text, row, p.Steps)
			return
		}
	}
}

// TestRandomFunctions: sequences for random functions of four to six inputs compute them; four inputs never take more than three.
func TestRandomFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	counts := []int{60, 3, 1, 1}
	for i, count := range counts {
		n := 4 + i
		for range count {
			e := &Expr{Text: "random", Names: names[:n], Table: make(Table, 1<<n)}
			for k := range e.Table {
				e.Table[k] = r.IntN(2) == 1
			}
			p := e.Decompose()
			verify(t, e, p)
			if n == 4 && (len(p.Steps) > 3 || !p.Exact) {
				t.Errorf("%d steps, exact %v for four inputs", len(p.Steps), p.Exact)
			}
			if n == 5 && len(p.Steps) > 7 {
				t.Errorf("%d steps for five inputs", len(p.Steps))
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"(a|b)&~c", "a?b:c", "x&&y||!z", "((((", "0", "%r1 ^ %r2", "a\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 200 {
			return
		}
		e, err := Parse(s, nil)
		if err != nil {
			return
		}
		if lut, ok := e.Table.Lut(); ok {
			if expr, _ := Minimal(lut, [3]string{"a", "b", "c"}); expr == "" {
				t.Error("no expression")
			}
		}
	})
}

// evaluate runs the steps on one row of the inputs' truth table.
func evaluate(steps []Step, names []string, row int) bool {
	v := map[string]bool{}
	for i, n := range names {
		v[n] = row>>(len(names)-1-i)&1 != 0
	}
	out := false
	for _, s := range steps {
		at := 0
		for _, n := range s.Src {
			at = at<<1 | boolInt(v[n])
		}
		out = s.Lut>>at&1 != 0
		v[s.Dst] = out
	}
	return out
}
