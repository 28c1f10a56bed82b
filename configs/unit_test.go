package configs

import (
	"strings"
	"testing"
)

func TestUnit(t *testing.T) {
	for key, want := range map[string]string{
		"memory.l2_latency": "cycles", "classes.idp.issue_interval": "cycles", "classes.idp.extra_hold": "cycles", "latency": "cycles",
		"memory.l2_bytes_per_cycle_all": "bytes a cycle", "occupancy.shared_bytes_per_block": "bytes", "lsu.l1_bytes": "bytes",
		"register_file.banks": "", "memory.l2_far_share": "", "classes.idp.pipe": "", "": "",
	} {
		if got := Unit(key); got != want {
			t.Errorf("unit of %q is %q, not %q", key, got, want)
		}
	}
}

// Words have no unit: a key whose name would give one must hold a number.
func TestUnitsAreOfNumbers(t *testing.T) {
	a, err := Load("sm_90", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range a.Keys() {
		if Unit(k.Path) != "" && !strings.Contains(k.Kind, "number") {
			t.Errorf("%s is %s, but has the unit %s", k.Path, k.Kind, Unit(k.Path))
		}
	}
}
