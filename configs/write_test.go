package configs

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
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
