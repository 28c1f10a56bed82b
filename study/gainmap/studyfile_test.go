package gainmap

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs/strictyaml/schemas"
)

// TestStudies: the bundled studies are those of the pairs, on several architectures.
func TestStudies(t *testing.T) {
	if got := Names(); !slices.Equal(got, []string{"dp4a", "dpx", "imad"}) {
		t.Fatalf("bundled studies %v", got)
	}
	for _, n := range Names() {
		s, err := Load(n)
		if err != nil {
			t.Fatal(err)
		}
		if s.Kind.Name != n || len(s.Archs) < 5 || s.Question == "" || len(s.Grid.Chains) < 4 || len(s.Grid.Latencies) < 4 {
			t.Errorf("%s: %+v", n, s)
		}
	}
}

// TestDecode: the schema and the decoder agree on files with and without mistakes, where the schema can see them.
func TestDecode(t *testing.T) {
	schema := schemas.Compile(t, filepath.Join("..", "..", "docs", "schema", "gainmap.schema.json"))
	for _, c := range []struct {
		text   string
		want   string // part of the decoder's message, "" where it accepts
		unseen bool   // by the schema
	}{
		{"gainmap: a\npair: dpx\n", "", false},
		{"gainmap: a\npair: imad\narchs: [sm_90]\nchains_by_warps: {chains: [1], warps: [2], loads: 0}\nloads_by_latency: {loads: [0.5], latencies: [30], chains: 1, warps: 1}\n", "", false},
		{"pair: dpx\n", "gainmap", false},
		{"gainmap: a\n", "pair", false},
		{"gainmap: a\npair: dp4\n", `g.yaml:2:7: there is no pair "dp4"; did you mean "dp4a"?`, false},
		{"gainmap: a\npair: dpx\narchs: [sm_91]\n", "g.yaml:3:9:", true},
		{"gainmap: a\npair: dpx\nchains_by_warps: {chain: [1]}\n", `unknown key "chain"`, false},
		{"gainmap: a\npair: dpx\nchains_by_warps: {warps: [0]}\n", "warps must be 1 to 16, not 0", false},
		{"gainmap: a\npair: dpx\nchains_by_warps: {loads: 3}\n", "loads for each result are 0 to 2, one for each operand, not 3", false},
		{"gainmap: a\npair: dpx\nloads_by_latency: {loads: []}\n", "loads has no values", false},
		{"gainmap: a\npair: dpx\niterations: 0\n", "iterations must be 1 to 65536, not 0", false},
		{"[]\n", "expected a gain map", false},
	} {
		_, err := Decode("g.yaml", []byte(c.text))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ndecoder: %v, want %q", c.text, err, c.want)
		}
		if err := schema.Validate(schemas.Document(t, []byte(c.text))); (err == nil) != (c.want == "" || c.unseen) {
			t.Errorf("%s\nschema: %v", c.text, err)
		}
	}
}
