package pipelines

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestDRAMAtom: DRAM brings 64 bytes; the other sector is there when the first is, and no sooner.
func TestDRAMAtom(t *testing.T) {
	m := newPath(t, MemConfig{L2Bytes: 1 << 30})
	one := func(cycle, addr uint64) MemTiming {
		ld := access(cycle, isa.ClassLDG, 4, stride(addr, 0))
		ld.Effect.Inst.Mod.Flags = isa.ModStrong
		return m.Access(ld)
	}
	first := one(1000, page)
	if first.DRAMBytes != 64 || first.Level != LevelDRAM {
		t.Fatalf("first sector: %d bytes from %v, want 64 from dram", first.DRAMBytes, first.Level)
	}
	if got := one(1100, page+32); got.DRAMBytes != 0 || got.Level != LevelL2 || got.Result != first.Result {
		t.Errorf("its neighbour 100 cycles later: %d bytes from %v at %d, want none from l2 at %d", got.DRAMBytes, got.Level, got.Result, first.Result)
	}
	if got := one(5000, page+32); got.Result-5000 > 300 {
		t.Errorf("its neighbour later: %d cycles", got.Result-5000)
	}
	if got := one(6000, page+64); got.DRAMBytes != 64 {
		t.Errorf("the next pair: %d bytes", got.DRAMBytes)
	}
}

// TestGatherMisses: a gather of all SMs misses less the more of the data they have brought in: chase_warp's 300 links of 2 MB a warp
// miss 58 times in a hundred with one warp an SM, 38 with two, as the DRAM counters say; other loads take this SM's share first.
func TestGatherMisses(t *testing.T) {
	for _, c := range []struct {
		loads  int
		gather bool
		min    float64
		max    float64
	}{
		{300, true, 0.53, 0.63},
		{600, true, 0.33, 0.42},
		{200, false, 1, 1},
	} {
		m := newPath(t, chipConfig(2<<20, 2<<20, false))
		misses := 0
		for i := 0; i < c.loads; i++ {
			ld := access(uint64(1000+i*1000), isa.ClassLDG, 4, stride(page+uint64(i)*7919%16384*128, 0))
			ld.Gather = c.gather
			if m.Access(ld).DRAMBytes > 0 {
				misses++
			}
		}
		if part := float64(misses) / float64(c.loads); part < c.min || part > c.max {
			t.Errorf("%d loads, gather %v: %.2f miss, want %.2f to %.2f", c.loads, c.gather, part, c.min, c.max)
		}
	}
}

// TestAtomicSlices: cycles a warp-instruction takes of the whole chip when all SMs update the same words, and that different slices
// work beside each other.
func TestAtomicSlices(t *testing.T) {
	for _, c := range []struct {
		name       string
		addr       func(warp uint64) func(int) uint64
		everywhere bool
		cas        bool
		want, slop float64
	}{
		{"one word", func(uint64) func(int) uint64 { return stride(page, 0) }, true, false, 44.1, 1},
		{"words of a line", func(uint64) func(int) uint64 { return stride(page, 4) }, true, false, 4.2, 0.1},
		{"words of a line, compare and swap", func(uint64) func(int) uint64 { return stride(page, 4) }, true, true, 7.8, 0.3},
		{"sectors of 8 lines", func(uint64) func(int) uint64 { return stride(page, 32) }, true, false, 20.7, 4.5},
		{"32 lines", func(uint64) func(int) uint64 { return stride(page, 128) }, true, false, 5.76, 0.4},
		{"words 256 bytes apart", func(w uint64) func(int) uint64 { return stride(page+w%2*256, 0) }, true, false, 22.05, 0.6},
		{"words 512 bytes apart", func(w uint64) func(int) uint64 { return stride(page+w%2*512, 0) }, true, false, 42, 3},
		{"words 1024 bytes apart", func(w uint64) func(int) uint64 { return stride(page+w%2*1024, 0) }, true, false, 22.05, 0.6},
		{"each block its own word", func(uint64) func(int) uint64 { return stride(page, 0) }, false, false, 0.8, 0.5},
	} {
		const n = 64
		m := newPath(t, chipConfig(1<<20, 1<<20, true))
		var end uint64
		for i := uint64(0); i < n; i++ {
			a := access(1000+i*4, isa.ClassATOMG, 4, c.addr(i))
			a.Everywhere = c.everywhere
			if c.cas {
				a.Effect.Inst.Mod.Sub = isa.SubCAS
			}
			end = max(end, m.Access(a).Complete)
		}
		if got := float64(end-1000) / n / 132; got < c.want-c.slop || got > c.want+c.slop {
			t.Errorf("%s: %.2f cycles a warp-instruction and SM, want %.2f", c.name, got, c.want)
		}
	}
}

// TestColdBuffers: each buffer of a cold launch has a share of its own: lookups in a table do not use up that of a stream, nor the stream's stand
// in for the table's. Where the launch does not fit L2 only lookups share, in buffers that fit.
func TestColdBuffers(t *testing.T) {
	const table, stream = page, page + 1<<30
	for _, c := range []struct {
		name        string
		streamBytes uint64
		gather      bool // lookups
		own         int  // of 200 lines looked up, from DRAM
		ownStream   int  // of 64 lines read behind them
	}{
		{"table of 64 lines an SM", 132 * 64 * 128, true, 61, 64},
		{"read in order", 132 * 64 * 128, false, 64, 64},
		{"half of the stream is this SM's", 132 * 32 * 128, true, 61, 32},
		{"stream beyond L2", 1 << 28, true, 61, 64},
		{"stream beyond L2, read in order", 1 << 28, false, 200, 64},
		{"no lookups in a buffer beyond L2 share", 1 << 28, false, 200, 64},
	} {
		cfg := MemConfig{L2Bytes: 60 << 20, AllSMsActive: true, SMs: 132, FootprintBytes: 132*64*128 + c.streamBytes,
			Buffers: []MemBuffer{{Addr: stream, Bytes: c.streamBytes}, {Addr: table, Bytes: 132 * 64 * 128}}}
		m := newPath(t, cfg)
		lines := func(from uint64, n, step int, gather bool) (own int) {
			for i := range n {
				ld := access(uint64(1000+i*1000), isa.ClassLDG, 4, stride(from+uint64(i*step%8192)*128, 4))
				ld.Gather = gather
				own += m.Access(ld).DRAMBytes
			}
			return own / 128
		}
		if own, next := lines(table, 200, 41, c.gather), lines(stream, 64, 1, false); own < c.own-2 || own > c.own+2 || next != c.ownStream {
			t.Errorf("%s: %d lines of the table and %d of the stream from DRAM, want %d and %d", c.name, own, next, c.own, c.ownStream)
		}
	}
}

// TestFarHits: lookups that find what other SMs brought in find some of it in the far half of L2 only, most while a quarter of the data is missing.
func TestFarHits(t *testing.T) {
	for _, c := range []struct{ missing, want float64 }{{1, 0}, {0.25, 0.125}, {0.01, 0.045}, {0, 0}} {
		s := coldShare{total: 1 << 20, missing: c.missing}
		n := 0
		for range 10000 {
			if s.farHit() {
				n++
			}
		}
		if got := float64(n) / 10000; got < c.want-0.01 || got > c.want+0.01 {
			t.Errorf("with %.2f of the data missing %.3f hits are far, want %.3f", c.missing, got, c.want)
		}
	}
}

// TestUnitSpaced: an instruction that comes back for its passes leaves the unit to others in between; the unit's cycles are the limit of many.
func TestUnitSpaced(t *testing.T) {
	unit := NewShared("SM[0].Unit")
	q := NewUnitQueue(unit, 4)
	if first, last := q.TakeSpaced(100, 2, 3, 2, 11); first != 100 || last != 122 {
		t.Errorf("three passes: %d to %d, want 100 to 122", first, last)
	}
	if first, last := q.TakeSpaced(100, 2, 3, 2, 11); first != 102 || last != 124 {
		t.Errorf("three more behind them: %d to %d, want 102 to 124", first, last)
	}
	for range 10 {
		NewUnitQueue(unit, 4).TakeSpaced(100, 2, 32, 2, 11)
	}
	if _, last := NewUnitQueue(unit, 4).TakeSpaced(100, 2, 32, 2, 11); last < 100+2*32*10 || last > 100+2*32*13 {
		t.Errorf("the last of eleven: ends at %d", last)
	}
}
