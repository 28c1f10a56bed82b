package configs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

func TestEveryArchitectureLoads(t *testing.T) {
	names := List()
	want := strings.Fields("sm_10 sm_11 sm_12 sm_13 sm_20 sm_21 sm_30 sm_32 sm_35 sm_37 sm_50 sm_52 sm_53 sm_60 sm_61 sm_62 " +
		"sm_70 sm_72 sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121")
	if !slices.Equal(names, want) {
		t.Fatalf("%v", names)
	}
	for _, name := range names {
		a, err := Load(name, nil)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if a.Name != name || !strings.HasPrefix(a.Base, "families/") {
			t.Errorf("%s is called %s, base %s", name, a.Name, a.Base)
		}
		b, err := LoadBoard(a.Board)
		if err != nil || b.Arch != name {
			t.Errorf("%s: default board %q is a %+v, %v", name, a.Board, b, err)
		}
		for c := range a.Classes {
			if _, ok := isa.ClassByName(c); !ok {
				t.Errorf("%s: class %s", name, c)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"sm_86": "sm_86", "SM_86": "sm_86", "sm86": "sm_86", "8.6": "sm_86", "86": "sm_86", "compute_86": "sm_86", " 8.6 ": "sm_86",
		"sm_90a": "sm_90", "sm_100f": "sm_100", "12.0": "sm_120", "120": "sm_120", "1.0": "sm_10", "10": "sm_10", "10.0": "sm_100",
		"cc 7.5": "sm_75", "cc7.5": "sm_75",
	} {
		a, err := Load(text, nil)
		if err != nil || a.Name != want {
			t.Errorf("Load(%q) = %v, %v; want %s", text, a, err, want)
		}
	}
}

// TestUserFile loads a file with a base: what it says is taken, the rest is the base's.
func TestUserFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	base := load(t, "sm_90")
	a, err := Load(write("fast_dp4a.yaml", "base: 9.0\nclasses:\n  idp:\n    issue_interval: 1\n    pipe: dot\npipes:\n  dot: {per: sub_partition, queue: 1, stall: math_pipe_throttle, source: mine, confidence: assumed}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	idp := a.Classes["idp"]
	if a.Name != "fast_dp4a" || a.SMNumber() != 90 || idp.IssueInterval != 1 || idp.Pipe[0] != "dot" || idp.Latency != base.Classes["idp"].Latency || a.Pipes["dot"].Queue != 1 {
		t.Errorf("%s: %+v", a.Name, idp)
	}
	if idp.Confidence != Assumed || !strings.HasSuffix(idp.Source, "fast_dp4a.yaml") || a.Classes["imad"].Confidence != Measured {
		t.Errorf("provenance: idp %+v, imad %+v", idp.Origin, a.Classes["imad"].Origin)
	}
	if a.Classes["imad"].Pipe[0] != base.Classes["imad"].Pipe[0] || a.Memory != base.Memory {
		t.Error("values of the base are lost")
	}
	a, err = Load(write("named.yml", "base: sm_61\nname: my_pascal\nfamily: Mine\n"), []Override{{Key: "lsu.l1_latency", Value: "50"}})
	if err != nil || a.Name != "my_pascal" || a.Family != "Mine" || a.LSU.L1Latency != 50 || a.Base != "sm_61" {
		t.Errorf("%+v, %v", a, err)
	}
	// A family can be a base too, when the file completes it.
	a, err = Load(write("from_family.yaml", "base: families/ampere.yaml\ncompute_capability: \"8.6\"\nboard: RTX 3060\n"), nil)
	if err != nil || a.Name != "from_family" || a.SMNumber() != 86 {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestOwnOrigins: what a user's file or --set gives has an origin of its own; every other number keeps that of the base.
func TestOwnOrigins(t *testing.T) {
	base := map[string]Key{}
	for _, k := range load(t, "sm_90").Keys() {
		base[k.Path] = k
	}
	path := filepath.Join(t.TempDir(), "mine.yaml")
	text := "base: sm_90\nlsu: {l1_latency: 30}\nmemory: {dram_latency: 700, source: me, confidence: measured, note: here}\nclasses:\n  idp: {issue_interval: 1}\n" +
		"pipes:\n  xu: {queue: 2}\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := Load(path, []Override{{Key: "classes.imad.latency", Value: "5"}})
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]Origin{
		"lsu.l1_latency":             {Source: path, Confidence: Assumed},
		"memory.dram_latency":        {Source: "me", Confidence: Measured, Note: "here"},
		"classes.idp.issue_interval": {Source: path, Confidence: Assumed},
		"pipes.xu.queue":             {Source: path, Confidence: Assumed},
		"classes.imad.latency":       {Source: overrideSource, Confidence: Assumed, Note: "set by the user"},
	}
	for _, k := range a.Keys() {
		want, changed := own[k.Path]
		if !changed {
			want = base[k.Path].Origin
		}
		if k.Origin != want {
			t.Errorf("%s: %+v, want %+v", k.Path, k.Origin, want)
		}
	}
	// The rows themselves count as guesses, so that a result that rests on them says so.
	if a.Classes["idp"].Confidence != Assumed || a.Classes["imad"].Confidence != Assumed || a.Classes["mov"].Confidence != Measured {
		t.Error(a.Classes["idp"].Origin, a.Classes["imad"].Origin)
	}
}

func TestTarget(t *testing.T) {
	for _, name := range List() {
		a := load(t, name)
		target := a.Target()
		if target.SM != a.SMNumber() || target.DualIssue != (a.SM.IssueWidth > 1) || target.MaxRegs != a.Occupancy.MaxRegsThread || target.RegBanks != a.RegisterFile.Banks {
			t.Errorf("%s: %+v", name, target)
		}
		for c, on := range targetClasses(a.SMNumber()) {
			if on && (target.Latency[c] < 1 || target.Interval[c] < 1 || target.Pipe[c] == "") {
				t.Errorf("%s: class %v: latency %d, interval %d, pipe %q", name, isa.Class(c), target.Latency[c], target.Interval[c], target.Pipe[c])
			}
		}
	}
	target := load(t, "9.0").Target()
	if target.Latency[isa.ClassIADD3] != 4 || target.Interval[isa.ClassPOPC] != 8 || !target.Variable[isa.ClassPOPC] || target.Pipe[isa.ClassIMAD] != "fmaheavy" ||
		target.CrossPipe != 1 || target.PredLatency != 4 || target.GuardLatency != 13 {
		t.Errorf("%+v", target)
	}
}

func TestBoards(t *testing.T) {
	for _, name := range []string{"RTX 3060", "rtx 3060", "GeForce RTX 3060", "NVIDIA GeForce RTX 3060", "rtx3060", "RTX-3060", "3060"} {
		if b, err := LoadBoard(name); err != nil || b.Name != "RTX 3060" || b.SMs != 28 {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
	}
	for _, name := range []string{"GTX 280", "GTX 480", "GTX 460", "GTX 680", "K20", "K40", "K80", "GTX 750 Ti", "GTX 980", "P100", "GTX 1080 Ti", "P4", "P40", "V100",
		"T4", "RTX 2080 Ti", "A100", "RTX 3060", "RTX 3090", "A6000", "RTX A6000", "L4", "L40S", "RTX 4090", "H100 SXM", "H100 PCIe", "H200", "B200", "RTX 5090", "H100", "A100 SXM4"} {
		if _, err := LoadBoard(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := LoadBoard("RTX 3600"); err == nil || err.Error() != `no board "RTX 3600"; did you mean "RTX 3060"?` {
		t.Errorf("%v", err)
	}
	boards, err := Boards()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range boards {
		if !slices.Contains(List(), b.Arch) {
			t.Errorf("%s: no architecture %s", b.Name, b.Arch)
		}
	}
	for text, want := range map[string]string{
		"boards:\n  - {name: X, arch: sm_90, sms: 0, clock_mhz: 1, l2_kb: 1, memory_gb_s: 1, source: s, confidence: assumed}\n": "b:2:6: board X: sms, clock_mhz and memory_gb_s must be positive",
		"boards:\n  - {nam: X}\n": `b:2:6: unknown key "nam"; did you mean "name"?`,
		"boards:\n  - {name: X, arch: sm_90, sms: 1, clock_mhz: 1, l2_kb: 1, memory_gb_s: 1, source: s, confidence: sure}\n": `b:2:6: board X: confidence: "sure" is not one of measured, published, derived, assumed`,
	} {
		_, err := parseBoards("b", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
