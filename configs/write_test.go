package configs

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestWriteYAML: a written architecture is read again to the same numbers with the same sources, and one with a filter to the same
// numbers, of which the written ones are assumed.
func TestWriteYAML(t *testing.T) {
	for _, name := range List() {
		a, err := Load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, filter := range []string{"", "latency", "classes.i", "warp_scheduler"} {
			b := rewritten(t, a, filter)
			keys, again := a.Keys(), b.Keys()
			if len(keys) != len(again) {
				t.Fatalf("%s, filter %q: %d keys, want %d", name, filter, len(again), len(keys))
			}
			for i, k := range keys {
				g := again[i]
				if filter != "" {
					k.Origin, g.Origin = Origin{}, Origin{}
				}
				if !reflect.DeepEqual(k, g) {
					t.Errorf("%s, filter %q: %+v, want %+v", name, filter, g, k)
				}
			}
			if o, _ := b.OriginOf("sm.guard_latency"); filter == "latency" && o.Confidence != Assumed {
				t.Errorf("%s: a number written to be changed is %s", name, o.Confidence)
			}
		}
	}
}

func rewritten(t *testing.T, a *Arch, filter string) *Arch {
	t.Helper()
	var text bytes.Buffer
	if err := a.WriteYAML(&text, filter); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Load(path, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	return b
}

// TestDisowned: a number changed in a written file is assumed though the file still names the source of the old one, its row counts as
// a guess, and the others keep what they have; with a source of its own it is what the file says.
func TestDisowned(t *testing.T) {
	a, err := Load("sm_90", nil)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := a.WriteYAML(&text, ""); err != nil {
		t.Fatal(err)
	}
	edit := func(pairs ...string) *Arch {
		s := text.String()
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(s, pairs[i]) {
				t.Fatalf("the file has no %q", pairs[i])
			}
			s = strings.Replace(s, pairs[i], pairs[i+1], 1)
		}
		path := filepath.Join(t.TempDir(), "mine.yaml")
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := Load(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	const latency = "l1_latency: 32"
	idp := text.String()[strings.Index(text.String(), "\n  idp: "):]
	idp = idp[1 : 1+strings.Index(idp[1:], "\n")]
	slower := strings.Replace(idp, "issue_interval: 2", "issue_interval: 4", 1)

	b := edit(latency, "l1_latency: 30", idp, slower)
	for key, want := range map[string]Confidence{"lsu.l1_latency": Assumed, "lsu.shared_latency": Measured, "classes.idp.issue_interval": Assumed, "classes.idp.latency": Measured} {
		if o, _ := b.OriginOf(key); o.Confidence != want {
			t.Errorf("%s is %s, want %s", key, o.Confidence, want)
		}
	}
	if b.Classes["idp"].Confidence != Assumed || b.Classes["lop"].Confidence != Measured {
		t.Errorf("rows: idp is %s, lop %s", b.Classes["idp"].Confidence, b.Classes["lop"].Confidence)
	}
	if want := []string{"classes.idp.issue_interval", "lsu.l1_latency"}; !slices.Equal(b.Disowned, want) {
		t.Errorf("disowned: %v, want %v", b.Disowned, want)
	}

	b = edit(idp, strings.Replace(slower, "source: H200", "source: my chip", 1))
	if o, _ := b.OriginOf("classes.idp.issue_interval"); o.Source != "my chip" || o.Confidence != Measured || b.Disowned != nil {
		t.Errorf("with a source of its own: %+v, disowned %v", o, b.Disowned)
	}
}
