package sm

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/isa/zipped"
)

// TestYieldOrder replays kernels whose lanes wait in loops with YIELD, and compares the order of the groups of lanes at marked places, and the number of
// executed instructions, with the hardware's.
func TestYieldOrder(t *testing.T) {
	// What of the order is the hardware's, in events, and by how much the number of instructions may differ in percent.
	cases := []struct {
		kernel string
		events int
		differ float64
	}{
		{"chase_t", 15, 1}, {"plain3_t", 33, 0.1}, {"cas_t", 90, 0.2}, {"cas2_t", 93, 0.3}, {"lock_t", 46, 0.3}, {"flag_t", 123, 0.2},
		{"chase3_t", 6, 2.5}, {"nest_t", 13, 12.5}, {"uf_t", 6, 5.5},
	}
	l, err := sass.Read("h200_yield.sass", zipped.Read(t, "testdata/h200_yield.sass.gz"))
	if err != nil {
		t.Fatal(err)
	}
	events, counts := map[string][]string{}, map[string]float64{}
	lines := strings.Split(strings.TrimSpace(string(zipped.Read(t, "testdata/h200_yield.txt.gz"))), "\n")
	for i, line := range lines {
		var name string
		var n float64
		if _, err := fmt.Sscanf(line, "K %s %g", &name, &n); err == nil {
			events[name], counts[name] = strings.Fields(lines[i+1]), n
		}
	}
	for _, c := range cases {
		got, n := yieldEvents(t, l, c.kernel)
		want := events[c.kernel]
		if len(want) < c.events || len(got) < c.events {
			t.Errorf("%s: %d events, measured %d, to compare %d", c.kernel, len(got), len(want), c.events)
			continue
		}
		for i := range c.events {
			if got[i] != want[i] {
				t.Errorf("%s: event %d is %s, measured %s", c.kernel, i, got[i], want[i])
				break
			}
		}
		if e := (n/counts[c.kernel] - 1) * 100; math.Abs(e) > c.differ {
			t.Errorf("%s: %g instructions, measured %g: %+.1f %%", c.kernel, n, counts[c.kernel], e)
		}
	}
}

// yieldEvents runs a kernel of h200_yield.sass with one warp: its events "place:lanes" by clock, and its warp-instructions.
func yieldEvents(t *testing.T, l *sass.Listing, kernel string) ([]string, float64) {
	t.Helper()
	const entries, bytes = 256, 16 // a lane writes its n-th event to entry n, 32 lanes beside each other
	fn, err := l.Entry(kernel)
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Program(fn, 90)
	if err != nil {
		t.Fatal(err)
	}
	p.SharedBytes = 5120
	la := launch(1, 32)
	rounds, words := uint32(4), parents()
	if kernel == "uf_t" {
		rounds, words = 12, nil
		for x := uint32(1); len(words) < 4096; {
			x = x*1664525 + 1013904223
			words = append(words, x)
		}
	}
	in, out, log := la.Mem.Alloc("in", uint64(4*len(words))), la.Mem.Alloc("out", 2048), la.Mem.Alloc("log", 32*entries*bytes)
	for i, w := range words {
		binary.LittleEndian.PutUint32(in.Data[4*i:], w)
	}
	for i, a := range []uint64{in.Addr, out.Addr, log.Addr} {
		binary.LittleEndian.PutUint64(la.Params[8*i:], a)
	}
	binary.LittleEndian.PutUint32(la.Params[24:], rounds)
	r, err := Run(arch(t, "sm_90"), p, la, Options{})
	if err != nil {
		t.Fatal(err)
	}
	type event struct {
		clock uint32
		text  string
	}
	var all []event
	known := map[event]bool{}
	for b := log.Data; len(b) > 0; b = b[bytes:] {
		place, lanes, clock := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
		if e := (event{clock, fmt.Sprintf("%d:%x", place, lanes)}); lanes != 0 && !known[e] {
			known[e] = true
			all = append(all, e)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].clock < all[j].clock })
	var text []string
	for _, e := range all {
		text = append(text, e.text)
	}
	return text, float64(r.WarpInstructions)
}

// parents is the forest of the kernels: lane n begins at node n, whose root is 5 n mod 7 steps away; the upper half is zero.
func parents() []uint32 {
	p := make([]uint32, 1024)
	for i := range 512 {
		p[i] = uint32(i)
	}
	free := uint32(32)
	for lane := range uint32(32) {
		at := lane
		for range lane * 5 % 7 {
			p[at] = free
			at, free = free, free+1
		}
	}
	return p
}
