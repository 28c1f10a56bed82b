package pipelines

import (
	"math"
	"math/rand"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// combineRow is a measured launch of W warps an SM that store words right behind a barrier: n stores each of 32 words, the sectors that an SM sends.
//
// Measured on the H200 with Nsight Compute (l1tex__m_l1tex2xbar_write_bytes), mean of four rounds on each of 132 SMs. Lines > 0: store k of every warp goes to
// lines k*lines and on, 32/lines words of each, so that lines warps fill them; 0: the words of all stores are a random permutation of as many in a row.
type combineRow struct {
	lines, warps, n int
	sectors         float64
}

var combineRows = []combineRow{
	{4, 4, 1, 16}, {4, 4, 4, 64},
	{8, 2, 1, 8}, {8, 2, 4, 32}, {8, 4, 1, 16}, {8, 4, 4, 64}, {8, 8, 1, 32}, {8, 8, 2, 64}, {8, 8, 4, 155.5},
	{16, 2, 1, 16}, {16, 2, 2, 32}, {16, 2, 4, 64}, {16, 4, 1, 16}, {16, 4, 2, 32}, {16, 4, 4, 64}, {16, 8, 1, 32}, {16, 8, 2, 80.4}, {16, 8, 4, 318}, {16, 16, 1, 64.4}, {16, 16, 2, 194}, {16, 16, 4, 585},
	{32, 2, 1, 64}, {32, 2, 4, 256}, {32, 4, 2, 256}, {32, 8, 1, 256}, {32, 16, 1, 512},
	{0, 2, 1, 10}, {0, 4, 1, 25.8}, {0, 5, 1, 39.4}, {0, 6, 1, 39.6}, {0, 8, 1, 49.1}, {0, 12, 1, 65.7}, {0, 16, 1, 81.2},
	{0, 2, 4, 42}, {0, 4, 4, 78}, {0, 5, 4, 88.6}, {0, 6, 4, 123}, {0, 8, 4, 587}, {0, 12, 4, 1270}, {0, 16, 4, 1826},
}

// program is the row's stores.
func (r *combineRow) program(base uint64) *rigProgram {
	perm := rand.New(rand.NewSource(int64(r.warps))).Perm(r.warps * 32 * r.n)
	p := &rigProgram{iters: 1}
	p.ops = repeat(rigOp{class: isa.ClassSTG, space: isa.SpaceGlobal, size: 4, stores: true}, r.n, func(k int) func(warp, lane, iter int) uint64 {
		return func(warp, lane, iter int) uint64 {
			if r.lines == 0 {
				return base + uint64(perm[(warp*32+lane)*r.n+k])*4
			}
			return base + uint64(((k*r.lines+lane%r.lines)*32+warp*(32/r.lines)+lane/r.lines)*4)
		}
	})
	return p
}

// TestCombine replays the measured launches. The mean error is that of launches with one store a warp or as many warps as sub-partitions at most, whose order is known; which of
// the other warps of a sub-partition is first is not, and each keeps others' lines from waiting long enough.
func TestCombine(t *testing.T) {
	known, all := 0.0, 0.0
	n := 0
	for _, r := range combineRows {
		m := newPath(t, MemConfig{WarmL2: true, AllSMsActive: true, SMs: 132})
		var total MemTiming
		const rounds = 4
		for i := uint64(0); i < rounds; i++ {
			runRig(m, r.program(0x700000000+i<<16), r.warps, 1000+i*20000, &total)
		}
		got := float64(total.L2Sectors) / rounds
		e := 100 * (got/r.sectors - 1)
		if *showRows {
			t.Logf("lines %2d warps %2d stores %d: %.1f sectors, measured %.1f (%+.0f %%)", r.lines, r.warps, r.n, got, r.sectors, e)
		}
		all += math.Abs(e) / float64(len(combineRows))
		if r.lines > 0 && (r.n == 1 || r.warps <= 4) {
			known += math.Abs(e)
			n++
		}
	}
	if known /= float64(n); known > 1 {
		t.Errorf("%d launches whose order is known send %.1f %% more or fewer sectors than measured, want 1 %%", n, known)
	}
	if all > 16 {
		t.Errorf("mean error %.1f %%, want 16 %%", all)
	}
	t.Logf("mean error of the sectors sent %.1f %%, of %d launches whose order is known %.1f %%", all, n, known)
}

// TestStoreStage: when the SM's store buffer is full, two more stores of every sub-partition leave its queue before the next waits in it, but their registers are not
// read. Measured on the H200 (stores to 32 lines each, 64 cycles of the link): one warp has issued 32 before it waits for the link, four of four sub-partitions 62,
// eight in the queue and two behind it for each and 22 in common; registers of 23 have been read.
func TestStoreStage(t *testing.T) {
	for _, subs := range []int{1, 2, 4} {
		m := newPath(t, MemConfig{WarmL2: true})
		unread, held, free := 0, 0, [4]uint64{}
		for i := 0; held == 0; i++ {
			a := access(1000+uint64(i), isa.ClassSTG, 4, stride(page+uint64(i)<<13, 128))
			a.SubPartition = i % subs
			got := m.Access(a)
			if unread == 0 && got.SourcesRead > got.SlotFree+m.par.readDelay {
				unread = i
			}
			if last := &free[i%subs]; *last > 0 && got.SlotFree > *last+32 {
				held = i
			} else {
				*last = got.SlotFree
			}
		}
		if held-unread != 2*subs+1 || unread < 20 || unread > 24 { // one leaves the SM while the others wait
			t.Errorf("%d sub-partitions: registers of %d stores read, %d have left the queues; want 20 to 24 and %d more", subs, unread, held, 2*subs+1)
		}
	}
}
