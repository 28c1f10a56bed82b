package configs

import (
	"slices"
	"testing"
)

// TestFollow moves each ordered key far up and far down on every architecture: it loads; the keys that are set are never
// among what follows.
func TestFollow(t *testing.T) {
	followed := 0
	for _, name := range List() {
		a := load(t, name)
		for _, o := range a.orders() {
			for _, key := range []string{o.low, o.high} {
				for _, v := range []string{"x0.4", "x3"} {
					set := []Override{{Key: key, Value: v}}
					b, err := Load(name, set)
					if err != nil {
						t.Errorf("%s: %s=%s: %v", name, key, v, err)
						continue
					}
					if slices.ContainsFunc(b.Followed, func(m Override) bool { return m.Key == key }) {
						t.Errorf("%s: %s=%s changes itself: %v", name, key, v, b.Followed)
					}
					followed += len(b.Followed)
				}
			}
		}
	}
	if followed == 0 {
		t.Error("no key follows another")
	}
}

// TestFollowValues: what follows, and that set keys stay.
func TestFollowValues(t *testing.T) {
	a := load(t, "sm_90")
	for _, c := range []struct {
		set, want []Override
	}{
		{[]Override{{Key: "memory.l2_latency", Value: "5000"}}, []Override{{Key: "memory.dram_latency", Value: "5000"}, {Key: "memory.l2_latency_far", Value: "5000"}}},
		{[]Override{{Key: "memory.l2_latency", Value: "5000"}, {Key: "memory.dram_latency", Value: "6000"}}, []Override{{Key: "memory.l2_latency_far", Value: "5000"}}},
		{[]Override{{Key: "memory.l2_latency", Value: "5000"}, {Key: "memory.dram_latency", Value: "400"}}, []Override{{Key: "memory.l2_latency_far", Value: "5000"}}},
		{[]Override{{Key: "memory.dram_latency", Value: "20"}}, []Override{{Key: "lsu.l1_latency", Value: "20"}, {Key: "memory.l2_latency", Value: "20"}}},
		{[]Override{{Key: "memory.dram_latency", Value: "-20"}}, nil}, // refused itself, so that the error is about it
		{[]Override{{Key: "memory.dram_latency", Value: "x-1"}}, nil},
		{[]Override{{Key: "warp_scheduler", Value: "lrr"}}, nil},
	} {
		if got := a.follow(c.set); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v follow, want %v", c.set, got, c.want)
		}
	}
}
