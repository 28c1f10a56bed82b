package configs

import (
	"reflect"
	"strings"
	"testing"
)

func override(t testing.TB, text string) Override {
	t.Helper()
	o, err := ParseOverride(text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOverride(t *testing.T) {
	cases := []struct {
		arch, set string
		get       func(*Arch) any
		want      any
	}{
		{"sm_90", "classes.idp.issue_interval=1", func(a *Arch) any { return a.Classes["idp"].IssueInterval }, 1},
		{"sm_90", "pipes.idp.issue_interval=1", func(a *Arch) any { return a.Classes["idp"].IssueInterval }, 1},
		{"sm_61", "pipes.dp4a.issue_interval=4", func(a *Arch) any { return a.Classes["idp"].IssueInterval }, 4},
		{"sm_80", "classes.IADD3.latency=2", func(a *Arch) any { return a.Classes["iadd3"].Latency }, 2},
		{"sm_86", "lsu.l1_latency=64", func(a *Arch) any { return a.LSU.L1Latency }, 64},
		{"sm_86", "warp_scheduler=lrr", func(a *Arch) any { return a.WarpScheduler }, "lrr"},
		{"sm_86", "occupancy.registers=32768", func(a *Arch) any { return a.Occupancy.Registers }, 32768},
		{"sm_86", "occupancy.registers=32_768", func(a *Arch) any { return a.Occupancy.Registers }, 32768},
		{"sm_86", "memory.l2_latency=400", func(a *Arch) any { return a.Memory.L2Latency }, 400},
		{"sm_86", "memory.l2_bytes_per_cycle_all=12.5", func(a *Arch) any { return a.Memory.L2BytesCycleAll }, 12.5},
		{"sm_86", "register_file.reuse_cache=false", func(a *Arch) any { return a.RegisterFile.ReuseCache }, false},
		{"sm_86", "classes.idp.pipe=fmalite,fmaheavy", func(a *Arch) any { return a.Classes["idp"].Pipe }, []string{"fmalite", "fmaheavy"}},
		{"sm_86", "pipes.alu.queue=2", func(a *Arch) any { return a.Pipes["alu"].Queue }, 2},
		{"sm_86", "occupancy.shared_carveouts=[0, 102400]", func(a *Arch) any { return a.Occupancy.SharedCarveouts }, []int{0, 102400}},
		{"sm_86", "board=rtx3090", func(a *Arch) any { return a.Board }, "rtx3090"},
	}
	for _, c := range cases {
		a, err := Load(c.arch, []Override{override(t, c.set)})
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if got := c.get(a); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s: %v, want %v", c.arch, c.set, got, c.want)
		}
		if len(a.Overrides) != 1 {
			t.Errorf("%s: overrides %v", c.set, a.Overrides)
			continue
		}
		if o, ok := a.OriginOf(a.Overrides[0].Key); !ok || o.Confidence != Assumed || o.Source != "override" {
			t.Errorf("%s: origin %v %v", c.set, o, ok)
		}
	}
}

// TestOverrideMarksTheRow: what a result rests on is the row's confidence.
func TestOverrideMarksTheRow(t *testing.T) {
	a, err := Load("sm_90", []Override{override(t, "classes.idp.issue_interval=1"), override(t, "classes.imad.latency=4")})
	if err != nil {
		t.Fatal(err)
	}
	if idp, imad := a.Classes["idp"], a.Classes["imad"]; idp.Confidence != Assumed || imad.Confidence != Measured {
		t.Errorf("idp %v, imad %v (set to its own value)", idp.Origin, imad.Origin)
	}
}

func TestOverrideDoesNotLeak(t *testing.T) {
	if _, err := Load("sm_86", []Override{override(t, "classes.idp.latency=99")}); err != nil {
		t.Fatal(err)
	}
	if l := load(t, "sm_86").Classes["idp"].Latency; l == 99 {
		t.Error("an override changed the next load")
	}
}

func TestOverrideErrors(t *testing.T) {
	var all strings.Builder
	for _, set := range []string{
		"classes.idp.isue_interval=1", "classes.ipd.issue_interval=1", "clases.idp.issue_interval=1", "l1_latency=64", "xyzzy=1",
		"pipes.alu.issue_interval=1", "pipes.fma.queue=1", "register_file=1", "classes=1", "classes.idp=1", "lsu.l1_latency.x=1",
		"lsu.l1_latency=fast", "lsu.l1_latency=1.5", "register_file.reuse_cache=maybe", "memory.l2_bytes_per_cycle=NaN",
		"lsu.l1_latency=-3", "classes.idp.latency=0", "warp_scheduler=fifo", "classes.idp.pipe=fmaheavi", "board=GTX 9999x",
		"compute_capability=8.0", "name=x", "classes.idp.source=me", "occupancy.max_threads=9000",
		"classes.viaddmnmx.latency=3",
	} {
		o := override(t, set)
		_, err := Load("sm_86", []Override{o})
		if err == nil {
			t.Errorf("%s is accepted", set)
			continue
		}
		if strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %v", set, err)
		}
		all.WriteString(err.Error() + "\n")
	}
	for _, set := range []string{"", "x", "=1", "x=", " = "} {
		if _, err := ParseOverride(set); err == nil {
			t.Errorf("%q is accepted", set)
		} else {
			all.WriteString(err.Error() + "\n")
		}
	}
	checkGolden(t, "testdata/override_errors.txt", all.String())
}

// TestOverridesAreCheckedTogether: two keys that depend on each other can be set in any order.
func TestOverridesAreCheckedTogether(t *testing.T) {
	set := []Override{{Key: "memory.l2_latency", Value: "9000"}, {Key: "memory.dram_latency", Value: "9001"}}
	if a, err := Load("sm_86", set); err != nil || a.Memory.L2Latency != 9000 {
		t.Errorf("%v", err)
	}
	set[1].Value = "8999"
	_, err := Load("sm_86", set)
	if err == nil || !strings.Contains(err.Error(), "is less than memory.l2_latency 9000") {
		t.Errorf("%v", err)
	}
}

// TestKeysRoundTrip sets every key of every architecture to the value it has: nothing may change.
func TestKeysRoundTrip(t *testing.T) {
	for _, name := range List() {
		a := load(t, name)
		keys := a.Keys()
		if len(keys) < 200 {
			t.Errorf("%s: only %d keys", name, len(keys))
		}
		b := load(t, name)
		for _, k := range keys {
			if k.Value == "" {
				continue // an empty list or word
			}
			if err := b.apply(Override{Key: k.Path, Value: k.Value}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if k.Source == "" || k.Confidence == "" || k.Kind == "" {
				t.Errorf("%s: %s has no source, confidence or kind: %+v", name, k.Path, k)
			}
		}
		if f := check(b); f != nil {
			t.Errorf("%s: %s", name, f.message)
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s changes when its own values are set", name)
		}
	}
}

// TestEveryKeyHasADescription keeps arch.go's comments complete: they are what users read.
func TestEveryKeyHasADescription(t *testing.T) {
	for _, k := range load(t, "sm_90").Keys() {
		if k.Doc == "" {
			t.Errorf("%s has no comment in arch.go", k.Path)
		}
	}
}

// TestScaled: multiples of the present value, whole where it is whole.
func TestScaled(t *testing.T) {
	for _, c := range []struct{ value, present, want string }{
		{"x2", "32", "64"}, {"x0.5", "65536", "32768"}, {"x0.5", "3", "2"}, {"x1.5", "0.5", "0.75"}, {"x0", "7", "0"},
		{"2", "32", ""}, {"x", "32", ""}, {"x2", "gto", ""}, {"xinf", "3", ""}, {"x2y", "3", ""},
	} {
		got, ok := Scaled(c.value, c.present)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("Scaled(%s, %s) = %q, %v, want %q", c.value, c.present, got, ok, c.want)
		}
	}
}

// TestOwnPipe: a class gets a pipe named after it, like the one that it used.
func TestOwnPipe(t *testing.T) {
	a, err := Load("sm_90", []Override{{Key: "classes.imad.pipe", Value: OwnPipe}, {Key: "lsu.l1_latency", Value: "x2"}})
	if err != nil {
		t.Fatal(err)
	}
	base, err := Load("sm_90", nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.LSU.L1Latency != 2*base.LSU.L1Latency {
		t.Errorf("L1 latency %d, before %d", a.LSU.L1Latency, base.LSU.L1Latency)
	}
	was := base.Classes["imad"].Pipe[0]
	if now := a.Classes["imad"].Pipe; len(now) != 1 || now[0] != "imad" || a.Pipes["imad"].Per != base.Pipes[was].Per {
		t.Errorf("imad uses %v, before %s", now, was)
	}
	for _, bad := range []Override{{Key: "classes.imad.latency", Value: "own"}, {Key: "warp_scheduler", Value: "x2"}, {Key: "lsu.l1_latency", Value: "x-1"}} {
		if _, err := Load("sm_90", []Override{bad}); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
