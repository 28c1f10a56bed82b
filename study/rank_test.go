package study

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/workloads"
)

// rankPlan is a bundled study with some of its variants, on some architectures.
func rankPlan(t *testing.T, name, launch string, archs []string, variants ...string) *workloads.Plan {
	t.Helper()
	p, err := workloads.LoadFS(workloads.Bundled(), name+"/study.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p.Archs, p.SMs, p.Board = archs, 0, ""
	var keep []*workloads.Case
	for _, c := range p.Cases {
		for _, v := range variants {
			if c.Variant == v && c.Launch == launch {
				keep = append(keep, c)
			}
		}
	}
	if len(keep) != len(variants) {
		t.Fatalf("%d of %d cases", len(keep), len(variants))
	}
	p.Cases = keep
	return p
}

func TestRank(t *testing.T) {
	ks, err := Rank(rankPlan(t, "ncc", "128x1", []string{"sm_60", "sm_61", "sm_90"}, "dp4a_c1"), nil, Options{})
	if err != nil || len(ks) != 1 {
		t.Fatal(len(ks), err)
	}
	k := ks[0]
	if len(k.Entries) != 3 || len(k.Cannot) != 0 {
		t.Fatalf("%d entries, cannot %v", len(k.Entries), k.Cannot)
	}
	want := map[string][2]string{"sm_60": {"emulated", "emulated"}, "sm_61": {"native", "emulated"}, "sm_90": {"native", "native"}}
	for i := range k.Entries {
		e := &k.Entries[i]
		if e.Rank != i+1 || i > 0 && e.TimeUS < k.Entries[i-1].TimeUS || e.Slower < 1 || e.Check != "passed" {
			t.Errorf("entry %d: %+v", i, e)
		}
		if w := want[e.Arch]; e.Features["DP4A"] != w[0] || e.Features["IMAD"] != w[1] {
			t.Errorf("%s: %v, want %v", e.Arch, e.Features, w)
		}
	}
	if k.Entries[0].Arch != "sm_90" {
		t.Errorf("%s is fastest", k.Entries[0].Arch)
	}
	var b bytes.Buffer
	if err := WriteRankings(&b, ks, "text"); err != nil || !strings.Contains(b.String(), "DP4A native on 2 of 3") {
		t.Error(err, b.String())
	}
	pictures, err := RankPictures(ks)
	if err != nil || len(pictures) != 2 || !bytes.Contains(pictures[0].data, []byte("H200 (sm_90)")) {
		t.Error(len(pictures), err)
	}
}

// TestRankBoards: two boards of one architecture differ by their SMs and clock, and a long share is scaled.
func TestRankBoards(t *testing.T) {
	ks, err := Rank(rankPlan(t, "ncc", "128x1", nil, "dp4a_c1"), []string{"GTX 1080 Ti", "P4", "Jetson TX2"}, Options{})
	if err != nil || len(ks) != 1 || len(ks[0].Entries) != 3 {
		t.Fatal(len(ks), err)
	}
	for _, e := range ks[0].Entries {
		if e.Scaled != (e.BlocksShare > e.BlocksRun) || (e.SMs == 2) != e.Scaled {
			t.Errorf("%s: %d SMs, %d of %d blocks run, scaled %v", e.Board, e.SMs, e.BlocksRun, e.BlocksShare, e.Scaled)
		}
	}
	if ks[0].Entries[0].Board != "GTX 1080 Ti" {
		t.Errorf("%s is fastest", ks[0].Entries[0].Board)
	}
}

// TestRankLogic: what no PTX instruction says is found in the machine code of sm_90.
func TestRankLogic(t *testing.T) {
	ks, err := Rank(rankPlan(t, "sha256", "small", []string{"sm_86", "sm_30"}, "sha256"), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range ks[0].Entries {
		want := map[string]string{"sm_86": "native", "sm_30": "emulated"}[e.Arch]
		if e.Features["LOP3"] != want {
			t.Errorf("%s: LOP3 %q, want %s", e.Arch, e.Features["LOP3"], want)
		}
	}
	if _, err := Rank(rankPlan(t, "sha256", "small", []string{"sm_99"}, "sha256"), nil, Options{}); err == nil {
		t.Error("no error for sm_99")
	}
}
