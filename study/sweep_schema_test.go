package study

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs/strictyaml/schemas"
)

// TestSweepSchema: the schema and the decoder agree on files with and without mistakes, where the schema can see them.
func TestSweepSchema(t *testing.T) {
	schema := schemas.Compile(t, filepath.Join("..", "docs", "schema", "sweep.schema.json"))
	for _, c := range []struct {
		text   string
		want   string // part of the decoder's message, "" where it accepts
		unseen bool   // by the schema
	}{
		{crashSweep, "", false},
		{"sweep: a\nrun: [ncc]\nseeds: [0, 1]\nblocks: 2\nchecks: none\n", `unknown key "checks"; did you mean "check"`, false},
		{"sweep: a\nrun: [ncc]\npoints:\n  - {variant: dp4a_c1, launch: 128x1, arch: sm_90, overrides: {warp_scheduler: [gto, lrr]}}\n", "", false},
		{"sweep: a\nrun: [ncc]\noverrides: {classes.idp.pipe: [[alu], [fmaheavy, alu]], lsu.l1_latency: 1..5}\nvariants: [dp4a_c1]\nlaunches: [128x1]\n", "", false},
		{"run: [ncc]\n", "sweep", false},
		{"sweep: a\n", "run", false},
		{"sweep: a\nrun: []\n", "run names no file", false},
		{"sweep: a\nrun: [ncc]\nsms: 0\n", "sms must be 1 or more", false},
		{"sweep: a\nrun: [ncc]\ncheck: maybe\n", "expected a check mode", false},
		{"sweep: a\nrun: [ncc]\nseeds: [-1]\n", "-1", false},
		{"sweep: a\nrun: [ncc]\noverrides: [1]\n", "overrides are a mapping", false},
		{"sweep: a\nrun: [ncc]\noverrides: {a.b: []}\n", "a.b has no values", false},
		{"sweep: a\nrun: [ncc]\noverrides: {a: {b: 1}}\n", "expected values of a", false},
		{"sweep: a\nrun: [ncc]\ngrids: [0]\n", "a size must be 1 to", false},
		{"sweep: a\nrun: [ncc]\ngrids: [4]\n", "grids and block_sizes go with workload files", true},
		{"sweep: a\nrun: [nncc]\n", "cannot read", true},
		{"sweep: a\nrun: [ncc]\npoints: [{variant: dp4a}]\n", `no run file has a variant "dp4a"; valid here: imad_c1, imad_c2, imad_c4, dp4a_c1, dp4a_c2, dp4a_c4`, true},
		{"sweep: a\nrun: [ncc]\npoints: [{variants: dp4a}]\n", `unknown key "variants"`, false},
		{"sweep: a\nrun: [ncc]\nlaunches: [one]\n", `no run file has "one" among its launches`, true},
		{"sweep: a\nrun: [ncc]\noverrides: {a: 0..99999, b: 0..99999}\n", "at most 1000", true},
	} {
		_, err := DecodeSweep("s.yaml", []byte(c.text))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ndecoder: %v, want %q", c.text, err, c.want)
		}
		if err := schema.Validate(schemas.Document(t, []byte(c.text))); (err == nil) != (c.want == "" || c.unseen) {
			t.Errorf("%s\nschema: %v", c.text, err)
		}
	}
}
