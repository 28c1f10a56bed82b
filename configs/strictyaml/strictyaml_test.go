package strictyaml

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// sample uses every kind of field.
type sample struct {
	Place Place
	Name  string         `yaml:"name,required"`
	Count int8           `yaml:"count"`
	Size  uint16         `yaml:"size"`
	Rate  float64        `yaml:"rate"`
	On    bool           `yaml:"on"`
	List  []int          `yaml:"list"`
	Map   map[string]int `yaml:"map"`
	ByNum map[int]string `yaml:"by_number"`
	Maybe *int           `yaml:"maybe"`
	Inner []inner        `yaml:"inner"`
	inner `yaml:",inline"`
	Notes map[string]string `yaml:"-"`
}

type inner struct {
	Depth uint64 `yaml:"depth"`
}

func TestDecode(t *testing.T) {
	const text = `
name: "x y" # comment
count: -128
size: 0xffff
rate: 1_0.5
on: true
list: [1, 2, &three 3]
map: {a: 1, b: *three}
by_number: {7: seven}
maybe: 4
depth: 18446744073709551615
inner:
  - {depth: 1}
  - depth: 2
`
	var s sample
	if err := Decode("f.yaml", []byte(text), &s); err != nil {
		t.Fatal(err)
	}
	if s.Name != "x y" || s.Count != -128 || s.Size != 65535 || s.Rate != 10.5 || !s.On || len(s.List) != 3 || s.Map["b"] != 3 ||
		s.ByNum[7] != "seven" || s.Maybe == nil || *s.Maybe != 4 || s.Depth != math.MaxUint64 || len(s.Inner) != 2 || s.Inner[1].Depth != 2 {
		t.Errorf("decoded %+v", s)
	}
	if s.Place.Pos != (Pos{2, 1}) || s.Place.File != "f.yaml" {
		t.Errorf("place is %+v", s.Place)
	}
}

// TestTagOptions: strings as they are written, single values for lists.
func TestTagOptions(t *testing.T) {
	var s struct {
		Version string   `yaml:"version,verbatim"`
		Pipes   []string `yaml:"pipes,optional,single"`
		Sizes   []int    `yaml:"sizes,single"`
	}
	if err := Decode("f", []byte("version: 9.0\npipes: alu\nsizes: [1, 2]\n"), &s); err != nil {
		t.Fatal(err)
	}
	if s.Version != "9.0" || !slices.Equal(s.Pipes, []string{"alu"}) || !slices.Equal(s.Sizes, []int{1, 2}) {
		t.Errorf("%+v", s)
	}
	if err := Decode("f", []byte("version: [9]\n"), &s); err == nil || !strings.HasPrefix(err.Error(), "f:1:10: expected a string, found a list") {
		t.Errorf("%v", err)
	}
}

// TestOverlay: mappings are merged, other values replaced, the order is the base's, and faults point into the file that holds them.
func TestOverlay(t *testing.T) {
	parse := func(file, text string) Node {
		n, err := Parse(file, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	base := parse("base", "name: b\ninner:\n  depth: 1\n  more: x\nlist: [1, 2]\n")
	over := parse("over", "new: 1\ninner: {depth: 2}\nlist: [3]\n")
	n := Overlay(base, over)
	var keys []string
	for _, p := range n.Pairs {
		keys = append(keys, p.Key)
	}
	inner, _ := n.Find("inner")
	depth, _ := inner.Value.Get("depth")
	more, _ := inner.Value.Find("more")
	list, _ := n.Get("list")
	if !slices.Equal(keys, []string{"name", "inner", "list", "new"}) || depth.Text != "2" || !depth.SameFile(over) || len(list.Items) != 1 {
		t.Errorf("%+v", n)
	}
	if err := more.Errorf("bad"); err.Error() != "base:4:3: bad\n     4 |   more: x\n       |   ^" {
		t.Error(err)
	}
	if old, _ := base.Get("list"); len(old.Items) != 2 {
		t.Errorf("the base has changed: %+v", base)
	}
	if w := n.Without("name", "list").With("new", StringAt(list, "y")); len(w.Pairs) != 2 || w.Pairs[1].Value.Text != "y" || len(n.Pairs) != 4 {
		t.Errorf("%+v", w)
	}
}

// TestCaretsInArgument: a fault within an argument has no line number.
func TestCaretsInArgument(t *testing.T) {
	err := &Error{File: "--set", Pos: Pos{Col: 5}, Line: "lsu.l1=3", Width: 2, Message: "no key"}
	if want := "--set: no key\n  lsu.l1=3\n      ^^"; err.Error() != want {
		t.Errorf("%s\nwant\n%s", err, want)
	}
}

// TestErrors: a text and the exact message.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"nmae: x\n", "f:1:1: unknown key \"nmae\"; did you mean \"name\"?\n     1 | nmae: x\n       | ^"},
		{"name: x\ncount: 200\n", "f:2:8: 200 is out of range\n     2 | count: 200\n       |        ^"},
		{"name: x\nsize: -1\n", "f:2:7: -1 is negative; expected 0 or more\n     2 | size: -1\n       |       ^"},
		{"name: 3\n", "f:1:7: expected a string, found 3; put it in quotes\n     1 | name: 3\n       |       ^"},
		{"count: 3\n", "f:1:1: missing key \"name\"\n     1 | count: 3\n       | ^"},
		{"name: x\non: yes\n", "f:2:5: expected true or false, found \"yes\"\n     2 | on: yes\n       |     ^"},
		{"name: x\nlist: 3\n", "f:2:7: expected a list, found 3\n     2 | list: 3\n       |       ^"},
		{"name: x\nlist: [1, b]\n", "f:2:11: expected an integer, found \"b\"\n     2 | list: [1, b]\n       |           ^"},
		{"name: x\nmap: {a: 1, a: 2}\n", "f:2:13: key \"a\" is here twice; the first is in line 2\n     2 | map: {a: 1, a: 2}\n       |             ^"},
		{"name: x\nby_number: {a: b}\n", "f:2:13: a does not fit in a signed 64-bit integer\n     2 | by_number: {a: b}\n       |             ^"},
		{"name: x\nrate: fast\n", "f:2:7: expected a number, found \"fast\"\n     2 | rate: fast\n       |       ^"},
		{"name: x\ninner: [{dept: 1}]\n", "f:2:10: unknown key \"dept\"; did you mean \"depth\"?\n     2 | inner: [{dept: 1}]\n       |          ^"},
		{"name: *a\n", "f:1:7: no anchor &a before this place\n     1 | name: *a\n       |       ^"},
		{"name: !!str x\n", "f:1:7: YAML tags are not accepted\n     1 | name: !!str x\n       |       ^"},
		{"", "f: the file is empty"},
		{"name: x\n---\nname: y\n", "f:3:5: a second YAML document; the file must hold one\n     3 | name: y\n       |     ^"},
		{strings.Repeat("#", MaxBytes+1), "f: the file has 1048577 bytes; at most 1048576 are read"},
		{"- 1\n", "f:1:1: expected a mapping such as {name: ...}, found a list\n     1 | - 1\n       | ^"},
		{"name: x\ninner: [3]\n", "f:2:9: expected a mapping such as {depth: ...}, found 3\n     2 | inner: [3]\n       |         ^"},
		{"name: x\nlist: &a [1, *a]\n", "f:2:14: the alias *a stands inside its own anchor &a: the value would contain itself\n     2 | list: &a [1, *a]\n       |              ^"},
	} {
		var s sample
		err := Decode("f", []byte(c.text), &s)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q gives\n%v\nwant\n%s", c.text, err, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"launch", "args", "archs", "expect"}
	for in, want := range map[string]string{"lauch": "launch", "lanuch": "launch", "arsg": "args", "Launch": "launch", "exepct": "expect", "zzzzzz": ""} {
		if got := Nearest(in, words); got != want {
			t.Errorf("nearest to %q is %q, want %q", in, got, want)
		}
	}
}

// TestCaretOnLongLine keeps a long line within a screen, with the caret under the place.
func TestCaretOnLongLine(t *testing.T) {
	line := strings.Repeat("a", 300) + "X" + strings.Repeat("b", 300)
	lines := strings.Split(Caret(line, Pos{7, 301}, 1), "\n")
	if len(lines) != 2 || len(lines[0]) > 100 || lines[0][len(lines[1])-1] != 'X' {
		t.Errorf("caret is not under X:\n%s", strings.Join(lines, "\n"))
	}
}

// FuzzDecode: no text makes the decoder panic, and every error names the file.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"name: x\n", "a: [1, {b: *c}]\n", "? x\n: y\n", "name: |\n  text\n", "<<: {a: 1}\n", "{", "- - -", "a: &a [*a]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s sample
		if err := Decode("f.yaml", text, &s); err != nil && !strings.HasPrefix(err.Error(), "f.yaml") {
			t.Errorf("error does not name the file: %v", err)
		}
	})
}

// TestTrim: a byte order mark before a text and the zeros behind a C string are no part of it.
func TestTrim(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\xef\xbb\xbf.version 8.0\n", ".version 8.0\n"},
		{".version 8.0\n\x00\x00", ".version 8.0\n"},
		{"\x00a\x00b\x00", "\x00a\x00b"},
		{"", ""},
	} {
		if got := string(Trim([]byte(c.text))); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}
