package ptx_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/isa/zipped"
)

// largeModule repeats a compiled kernel under other names up to a size.
func largeModule(tb testing.TB, size int) []byte {
	tb.Helper()
	text := zipped.Read(tb, "testdata/kernels/hist.ptx.gz")
	at := strings.Index(string(text), ".visible .entry")
	head, kernel := string(text[:at]), string(text[at:])
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len() < size; i++ {
		b.WriteString(strings.ReplaceAll(kernel, "hist", fmt.Sprintf("hist%d", i)))
	}
	return []byte(b.String())
}

func TestLargeModule(t *testing.T) {
	text := largeModule(t, 1<<20)
	m, err := ptx.Parse("large.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Count(string(text), ".visible .entry")
	if got := len(m.Entries()); got != want || want < 100 {
		t.Errorf("%d kernels, want %d", got, want)
	}
	if err := ptx.CheckAll(m); err != nil {
		t.Error(err)
	}
}

const twoKernels = `.version 8.0
.target sm_80
.address_size 64
.func helper() { ret; }
.entry declared();
.entry _Z3addPi() { ret; }
.entry mul() { ret; }
`

func parse(t *testing.T, text string) *ptx.Module {
	t.Helper()
	m, err := ptx.Parse("two.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestFindEntry(t *testing.T) {
	m := parse(t, twoKernels)
	for _, c := range []struct{ name, want string }{
		{"mul", ""},
		{"_Z3addPi", ""},
		{"", "two.ptx: 2 kernels in this file: name one of _Z3addPi, mul"},
		{"mull", `two.ptx: no kernel "mull" in this file; it has _Z3addPi, mul; did you mean mul?`},
		{"add", `two.ptx: no kernel "add" in this file; it has _Z3addPi, mul; did you mean _Z3addPi?`},
		{"helper", `two.ptx: no kernel "helper" in this file; it has _Z3addPi, mul`},
		{"declared", `two.ptx: no kernel "declared" in this file; it has _Z3addPi, mul`},
	} {
		f, err := m.FindEntry(c.name)
		switch {
		case c.want == "" && (err != nil || f.Name != c.name):
			t.Errorf("FindEntry(%q) = %v, %v", c.name, f, err)
		case c.want != "" && (err == nil || err.Error() != c.want):
			t.Errorf("FindEntry(%q): %v, want %s", c.name, err, c.want)
		}
	}
	if f, err := parse(t, strings.Replace(twoKernels, ".entry mul() { ret; }", "", 1)).FindEntry(""); err != nil || f.Name != "_Z3addPi" {
		t.Errorf("the only kernel: %v, %v", f, err)
	}
	if _, err := parse(t, ".version 8.0\n.target sm_80\n").FindEntry(""); err == nil || err.Error() != "two.ptx: no kernel (.entry with a body) in this file" {
		t.Error(err)
	}
}

// TestErrorType: callers find the single errors with errors.As and read their fields.
func TestErrorType(t *testing.T) {
	_, err := ptx.Parse("a.ptx", []byte(".version 8.0\n.target sm_80\n.entry k() {\n\tadd.u32 r, 0x;\r\n\tret\n}\n"))
	var e *ptx.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T", err)
	}
	if e.File != "a.ptx" || e.Pos != (ptx.Pos{Line: 4, Col: 13}) || e.Line != "\tadd.u32 r, 0x;" || e.Msg != `bad hexadecimal literal "0x"` {
		t.Errorf("%+v", e)
	}
	if list := err.(ptx.Errors); len(list) != 2 || list[1].Pos.Line != 5 {
		t.Errorf("%v", list)
	}
}

func TestSuggest(t *testing.T) {
	words := []string{"add", "addc", "mad", "popc", "shfl", "vabsdiff4"}
	for _, c := range []struct{ word, want string }{
		{"ad", ""}, {"adx", "add"}, {"adcd", "add"}, {"pocp", "popc"}, {"shfll", "shfl"}, {"vabsdif4", "vabsdiff4"},
		{"vabdsiff4", "vabsdiff4"}, {"quite_other", ""}, {"", ""}, {"mda", "mad"},
	} {
		if got := ptx.Suggest(c.word, words); got != c.want {
			t.Errorf("Suggest(%q) = %q, want %q", c.word, got, c.want)
		}
	}
}

func TestIsSpecial(t *testing.T) {
	for name, want := range map[string]bool{"%tid": true, "%clock64": true, "%envreg31": true, "%envreg32": false,
		"%envreg01": false, "%pm7": true, "%pm8": false, "%pm0_64": true, "%r1": false, "tid": false, "%": false,
		"%lanemask_lt": true, "%globaltimer_hi": true} {
		if got := ptx.IsSpecial(name); got != want {
			t.Errorf("IsSpecial(%q) = %v", name, got)
		}
	}
}

func TestVarBytes(t *testing.T) {
	m := parse(t, `.version 8.0
.target sm_80
.global .u32 a;
.global .v4 .f32 b[3];
.global .align 8 .b8 c[2][5];
.extern .shared .u16 d[];
.global .u16 e[] = {1, 2, 3};
`)
	want := map[string]int{"a": 4, "b": 48, "c": 10, "d": 2, "e": 6}
	for _, v := range m.Vars {
		if got := v.Bytes(); got != want[v.Name] {
			t.Errorf("%s has %d bytes, want %d", v.Name, got, want[v.Name])
		}
	}
}

func TestDeclares(t *testing.T) {
	v := ptx.Var{Name: "%r", Range: 12}
	for name, want := range map[string]bool{"%r0": true, "%r11": true, "%r12": false, "%r": false, "%r01": false, "%rd1": false, "%r-1": false} {
		if got := v.Declares(name); got != want {
			t.Errorf("Declares(%q) = %v", name, got)
		}
	}
}

// TestPathological: texts made to exhaust the stack, or time by going over the same bytes again and again.
func TestPathological(t *testing.T) {
	const head = ".version 8.0\n.target sm_80\n.entry k() {\n"
	const n = 1 << 20
	rep := strings.Repeat
	for name, text := range map[string]string{
		"subscripts":       head + "mov.u32 a, " + rep("a[", n),
		"braces":           head + rep("{", n),
		"vectors":          head + "mov.u32 a, " + rep("{", n),
		"parentheses":      head + "mov.u32 a, " + rep("(", n),
		"signs":            head + "mov.u32 a, " + rep("-", n),
		"addresses":        head + "mov.u32 a, " + rep("[", n),
		"conditions":       head + "mov.u32 a, 1" + rep("?1:1", n),
		"sums":             head + "mov.u32 a, 1" + rep("+1", n) + ";}",
		"initialiser":      head + "}.global .u32 a[] = " + rep("{", n),
		"hashes":           head + rep(" ", n) + rep("#", n),
		"zeros":            head + rep("\x00a", n) + rep("\x00", n),
		"quotes":           head + rep("\"", n),
		"comments":         head + rep("/*", n),
		"linking":          head + rep(".visible ", n/8),
		"linking by line":  head + rep(".visible\n", n/8),
		"members":          head + "mov.u32 a" + rep(".x", n) + ";}",
		"modifiers":        head + "mov" + rep(".x", n) + " a;}",
		"section names":    head + "} .section " + rep(".x", n) + " {",
		"digits":           head + "mov.u32 %r" + rep("1", n) + ", 0;}",
		"declared digits":  head + ".reg .u32 %r<3>; mov.u32 %r" + rep("0", n) + ", 0;}",
		"undeclared names": head + rep("mov.u32 abcdef, ghijkl;\n", n/64) + "}",
		"undefined labels": head + rep("bra abcdef;\n", n/64) + "}",
		"labels":           head + rep("abcdef: ", n/64) + "}",
		"one letter":       rep("a", n),
	} {
		m, err := ptx.Parse(name, []byte(text))
		if err == nil {
			err = ptx.CheckAll(m)
		}
		if name == "sums" {
			if err == nil || !strings.Contains(err.Error(), "undeclared name a") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if s := err.Error(); len(s) > 20000 {
			t.Errorf("%s: a message of %d bytes", name, len(s))
		}
	}
}
