package sm

import (
	"math"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
)

// hopperFetch is the fetch unit of one sub-partition for a program of so many instructions.
func hopperFetch(t *testing.T, insts int, warm, allSMs bool) *fetcher {
	t.Helper()
	return newFetcher(&arch(t, "sm_90").Fetch, 1, insts, 16, warm, allSMs)
}

// TestCachesAfterALaunch says which lines of a program each level holds when a launch begins: 8 instructions a line.
func TestCachesAfterALaunch(t *testing.T) {
	for _, c := range []struct {
		name      string
		lines     int
		warm      bool
		line      int
		l1, l15   bool
		l0Present bool
	}{
		{"cold, first line", 2000, false, 0, false, true, false},
		{"cold, last line that the launch brings", 2000, false, 511, false, true, false},
		{"cold, the line behind it", 2000, false, 512, false, false, false},
		{"warm, all of 256 lines fit L1", 256, true, 0, true, true, false},
		{"warm, a set of L1 with five lines has lost the first", 257, true, 0, false, true, false},
		{"warm, and keeps the fifth", 257, true, 256, true, true, true},
		{"warm, its neighbour has four", 257, true, 1, true, true, false},
		{"warm, 40 lines fit L0", 40, true, 0, true, true, true},
		{"warm, the 41st takes the place of the first", 41, true, 0, true, true, false},
		{"warm, the launch pushes the oldest lines out of a full set", 1025, true, 512, false, false, false},
		{"warm, four of them", 1025, true, 640, false, true, false},
		{"warm, the end of a long program", 2000, true, 1999, true, true, true},
		{"warm, what the launch pushed out", 2000, true, 1000, false, false, false},
	} {
		x := hopperFetch(t, c.lines*8, c.warm, false)
		l0, l1, l15 := x.l0[0].at[c.line] != sim.Never, x.l1.at[c.line] != sim.Never, x.l15.at[c.line] != sim.Never
		if l0 != c.l0Present || l1 != c.l1 || l15 != c.l15 {
			t.Errorf("%s: line %d in L0 %v, L1 %v, second level %v; want %v, %v, %v", c.name, c.line, l0, l1, l15, c.l0Present, c.l1, c.l15)
		}
	}
}

// TestStreamsFollowLevels times a jump and the lines behind it: the level that holds them decides.
func TestStreamsFollowLevels(t *testing.T) {
	for _, c := range []struct {
		name         string
		line         int
		warm, allSMs bool
		first        uint64  // cycles to the first instruction
		apart        float64 // between lines afterwards
	}{
		{"L1", 100, true, false, 12, 8},
		{"second level", 100, false, false, 30 + 12, 16},
		{"second level, all SMs", 100, false, true, 64 + 12, 128 / 6.7},
		{"L2", 1000, false, false, 250 + 30 + 12, 128 / 2.89},
		{"L2, all SMs", 1000, false, true, 250 + 64 + 12, 128 / 2.73},
	} {
		insts := 8 * 2000
		if c.warm {
			insts = 8 * 200
		}
		x := hopperFetch(t, insts, c.warm, c.allSMs)
		const start = 10000 // what the launch fetches is there
		at := x.ready(0, int32(8*c.line), start)
		if at != start+c.first {
			t.Errorf("%s: first line after %d cycles, want %d", c.name, at-start, c.first)
		}
		const skip, n = 16, 20 // the first lines of a cold start on all SMs come later
		end := at
		for i := 1; i <= skip+n; i++ {
			if i == skip+1 {
				at = end
			}
			// The warp needs eight cycles for the instructions of a line.
			end = max(end+8, x.ready(0, int32(8*(c.line+i)), end+8))
		}
		if got := float64(end-at) / n; got < c.apart-0.9 || got > c.apart+0.9 {
			t.Errorf("%s: %.1f cycles a line, want %.1f", c.name, got, c.apart)
		}
	}
}

// TestColdStart: the first lines of a cold launch on all SMs come at the rate at which all can have them, those behind at the second level's.
func TestColdStart(t *testing.T) {
	f := arch(t, "sm_90").Fetch
	for _, c := range []struct {
		allSMs bool
		bytes  float64
	}{{true, f.StartBytesCycle}, {false, f.L15BytesCycle}} {
		x := hopperFetch(t, 8*400, false, c.allSMs)
		const start = 10000
		at := make([]uint64, f.StartLines+1)
		at[0] = x.ready(0, 800, start)
		for i := 1; i < len(at); i++ {
			at[i] = max(at[i-1]+8, x.ready(0, int32(800+8*i), at[i-1]+8))
		}
		n := f.StartLines - 4 // the jump's latency hides the first two or three
		if got, want := float64(at[n]-at[3])/float64(n-3), 128/c.bytes; math.Abs(got-want) > 1 {
			t.Errorf("all SMs %v: %.1f cycles a line, want %.1f", c.allSMs, got, want)
		}
	}
}

// TestStreamsDoNotShare: two streams at different places beyond the second level each run as fast as one alone.
func TestStreamsDoNotShare(t *testing.T) {
	span := func(starts ...int) uint64 {
		x := hopperFetch(t, 8*8000, false, false)
		last := uint64(0)
		at := make([]uint64, len(starts))
		for i := range 50 {
			for s, start := range starts {
				at[s] = max(at[s]+8, x.ready(0, int32(8*(start+i)), at[s]))
				last = max(last, at[s])
			}
		}
		return last
	}
	if one, two := span(1000), span(1000, 5000); two > one+8 { // 8: one line's way into L0
		t.Errorf("two streams take %d cycles, one %d", two, one)
	}
}

// TestBranchOverlap: while another warp of the sub-partition waits for its target, a taken branch takes a cycle more, and the targets of
// a warp come 13 cycles apart.
func TestBranchOverlap(t *testing.T) {
	jump := func(to int) isa.Inst { return stall(5, op(isa.OpBRA, none, isa.Label(to))) }
	a := arch(t, "sm_90", "fetch.chunk_bytes=0")
	for _, c := range []struct {
		warps         int
		first, second uint64
	}{{1, 10, 10}, {4, 10, 10}, {8, 11, 13}} {
		rec, _ := run(t, a, code(bar(), jump(2), jump(3), nop(), exit()), 1, 32*c.warps, Options{})
		first, second := uint64(0), uint64(0)
		for _, at := range rec.at {
			first, second = max(first, at[2]-at[1]), max(second, at[3]-at[2])
		}
		if first != c.first || second != c.second {
			t.Errorf("%d warps: targets after %d and %d cycles, want %d and %d", c.warps, first, second, c.first, c.second)
		}
	}
}
