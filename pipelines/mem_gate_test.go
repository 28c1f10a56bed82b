package pipelines

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// access builds one warp access; addr gives the address of a lane.
func access(cycle uint64, class isa.Class, size uint8, addr func(lane int) uint64) MemAccess {
	var a [32]uint64
	for lane := range a {
		a[lane] = addr(lane)
	}
	e := &isa.Effect{Inst: &isa.Inst{}, Active: ^uint32(0), Exec: ^uint32(0), Size: size, Addr: &a}
	switch class {
	case isa.ClassLDS, isa.ClassSTS, isa.ClassATOMS:
		e.Space = isa.SpaceShared
	case isa.ClassLDL, isa.ClassSTL:
		e.Space = isa.SpaceLocal
	default:
		e.Space = isa.SpaceGlobal
	}
	switch class {
	case isa.ClassSTS, isa.ClassSTG, isa.ClassSTL, isa.ClassRED:
		e.Store = true
	case isa.ClassATOMS, isa.ClassATOMG:
		e.Store, e.Load = true, true
	default:
		e.Load = true
	}
	return MemAccess{Cycle: cycle, Class: class, Effect: e}
}

func stride(base uint64, bytes int) func(lane int) uint64 {
	return func(lane int) uint64 { return base + uint64(lane*bytes) }
}

const page = 1 << 32 // a global address

// TestSharedPasses: the passes of one shared-memory access by width and stride.
func TestSharedPasses(t *testing.T) {
	for _, c := range []struct {
		name             string
		class            isa.Class
		size             uint8
		addr             func(lane int) uint64
		mask             uint32
		passes, conflict int
	}{
		{"words in a row", isa.ClassLDS, 4, stride(0, 4), ^uint32(0), 1, 0},
		{"broadcast", isa.ClassLDS, 4, stride(64, 0), ^uint32(0), 1, 0},
		{"stride 2", isa.ClassLDS, 4, stride(0, 8), ^uint32(0), 2, 1},
		{"stride 3", isa.ClassLDS, 4, stride(0, 12), ^uint32(0), 1, 0},
		{"stride 8", isa.ClassSTS, 4, stride(0, 32), ^uint32(0), 8, 7},
		{"stride 32", isa.ClassLDS, 4, stride(0, 128), ^uint32(0), 32, 31},
		{"stride 32, eight lanes", isa.ClassLDS, 4, stride(0, 128), 0x11111111, 8, 7},
		{"bytes in a row", isa.ClassLDS, 1, stride(0, 1), ^uint32(0), 1, 0},
		{"two words of a bank", isa.ClassLDS, 4, func(l int) uint64 { return uint64(l & 1 * 128) }, ^uint32(0), 2, 1},
		{"64 bit in a row", isa.ClassLDS, 8, stride(0, 8), ^uint32(0), 2, 0},
		{"64 bit, stride 2", isa.ClassLDS, 8, stride(0, 16), ^uint32(0), 4, 2},
		{"64 bit, lower half only", isa.ClassLDS, 8, stride(0, 8), 0xffff, 1, 0},
		{"128 bit in a row", isa.ClassSTS, 16, stride(0, 16), ^uint32(0), 4, 0},
		{"128 bit, stride 2", isa.ClassLDS, 16, stride(0, 32), ^uint32(0), 8, 4},
		{"atomics on distinct banks", isa.ClassATOMS, 4, stride(0, 4), ^uint32(0), 1, 0},
		{"atomics on one word", isa.ClassATOMS, 4, stride(0, 0), ^uint32(0), 32, 31},
		{"atomics, 4 lanes a word", isa.ClassATOMS, 4, func(l int) uint64 { return uint64(l / 4 * 4) }, ^uint32(0), 4, 3},
	} {
		a := access(100, c.class, c.size, c.addr)
		a.Effect.Exec = c.mask
		got := newPath(t, MemConfig{}).Access(a)
		if got.Wavefronts != c.passes || got.BankConflicts != c.conflict || got.Level != LevelShared {
			t.Errorf("%s: %d passes, %d conflicts, level %v; want %d, %d, shared", c.name, got.Wavefronts, got.BankConflicts, got.Level, c.passes, c.conflict)
		}
	}
}

// TestSharedSixteenBanks: compute capability 1.x serves half-warps.
func TestSharedSixteenBanks(t *testing.T) {
	arch := *h200(t)
	arch.LSU.SharedBanks = 16
	m, err := NewMemPath(&arch, MemConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bytes, passes int
	}{{4, 2}, {8, 4}, {64, 32}, {0, 2}} {
		if got := m.Access(access(100, isa.ClassLDS, 4, stride(0, c.bytes))); got.Wavefronts != c.passes {
			t.Errorf("stride %d bytes: %d passes, want %d", c.bytes, got.Wavefronts, c.passes)
		}
	}
}

// TestLatencies: result minus issue of one access on an idle path.
func TestLatencies(t *testing.T) {
	spread := uint64(h200(t).Memory.L2LatencySpread) / 2
	for _, c := range []struct {
		name       string
		class      isa.Class
		size       uint8
		cfg        MemConfig
		warm       bool // the line is in L1
		want, slop uint64
		level      MemLevel
	}{
		{"LDS", isa.ClassLDS, 4, MemConfig{}, false, 23, 0, LevelShared},
		{"LDS.64", isa.ClassLDS, 8, MemConfig{}, false, 26, 0, LevelShared},
		{"LDS.128", isa.ClassLDS, 16, MemConfig{}, false, 32, 0, LevelShared},
		{"ATOMS", isa.ClassATOMS, 4, MemConfig{}, false, 26, 0, LevelShared},
		{"LDG, L1 hit", isa.ClassLDG, 4, MemConfig{WarmL2: true}, true, 32, 0, LevelL1},
		{"LDL, hit", isa.ClassLDL, 4, MemConfig{WarmL2: true}, true, 29, 0, LevelL1},
		{"LDG, L2 hit", isa.ClassLDG, 1, MemConfig{WarmL2: true}, false, 273, spread + 1, LevelL2},
		{"LDG, DRAM", isa.ClassLDG, 1, MemConfig{L2Bytes: 1 << 20}, false, 668, uint64(h200(t).Memory.DRAMLatencySpread)/2 + 2, LevelDRAM},
		{"ATOMG", isa.ClassATOMG, 4, MemConfig{WarmL2: true}, false, 280 + 5, 2, LevelL2},
	} {
		m := newPath(t, c.cfg)
		addr := stride(page, int(c.size))
		if c.class == isa.ClassLDL {
			addr = stride(64, 0)
		}
		if c.warm {
			m.Access(access(100, c.class, c.size, addr))
		}
		got := m.Access(access(5000, c.class, c.size, addr))
		d := got.Result - 5000
		if d+c.slop < c.want || d > c.want+c.slop || got.Level != c.level {
			t.Errorf("%s: %d cycles from %v, want %d +- %d from %v", c.name, d, got.Level, c.want, c.slop, c.level)
		}
	}
}

// TestSharedUnit: the four sub-partitions share one pass a cycle, one sub-partition alone gets one in two.
func TestSharedUnit(t *testing.T) {
	m := newPath(t, MemConfig{})
	for sp := 0; sp < 4; sp++ {
		a := access(100, isa.ClassLDS, 4, stride(0, 4))
		a.SubPartition, a.Slot = sp, sp
		if got, want := m.Access(a).Result, uint64(123+sp); got != want {
			t.Errorf("LDS of sub-partition %d: result at %d, want %d", sp, got, want)
		}
	}
	m = newPath(t, MemConfig{})
	for i := uint64(0); i < 8; i++ {
		if got, want := m.Access(access(100+i, isa.ClassLDS, 4, stride(0, 4))).Result, 123+2*i; got != want {
			t.Errorf("LDS %d of one sub-partition: result at %d, want %d", i, got, want)
		}
	}
}

// TestCoalescing: sectors and lines of global loads.
func TestCoalescing(t *testing.T) {
	for _, c := range []struct {
		name         string
		size         uint8
		addr         func(lane int) uint64
		mask         uint32
		sectors, pas int
	}{
		{"words in a row", 4, stride(page, 4), ^uint32(0), 4, 1},
		{"one word", 4, stride(page, 0), ^uint32(0), 1, 1},
		{"bytes in a row", 1, stride(page, 1), ^uint32(0), 1, 1},
		{"words, misaligned by one", 4, stride(page+4, 4), ^uint32(0), 5, 2},
		{"stride 2", 4, stride(page, 8), ^uint32(0), 8, 2},
		{"stride 32", 4, stride(page, 128), ^uint32(0), 32, 32},
		{"stride 32 backward", 4, stride(page, -128), ^uint32(0), 32, 32},
		{"one lane", 4, stride(page, 128), 1 << 9, 1, 1},
		{"128 bit in a row", 16, stride(page, 16), ^uint32(0), 16, 4},
		{"two lines in turn", 4, func(l int) uint64 { return page + uint64(l%2*128+l/2*4) }, ^uint32(0), 4, 2},
	} {
		a := access(100, isa.ClassLDG, c.size, c.addr)
		a.Effect.Exec = c.mask
		got := newPath(t, MemConfig{WarmL2: true}).Access(a)
		if got.L1Sectors != c.sectors || got.L2Sectors != c.sectors || got.Wavefronts != c.pas {
			t.Errorf("%s: %d sectors, %d to L2, %d passes; want %d, %d, %d", c.name, got.L1Sectors, got.L2Sectors, got.Wavefronts, c.sectors, c.sectors, c.pas)
		}
	}
}

// TestL1Banks: passes of loads that hit: bank conflicts as in shared memory, four tags a cycle. A conflict comes back every other cycle, behind
// the last tag.
func TestL1Banks(t *testing.T) {
	for _, c := range []struct {
		name        string
		size        uint8
		addr        func(lane int) uint64
		banks, tags int // passes
	}{
		{"words in a row", 4, stride(page, 4), 1, 1},
		{"stride 4", 4, stride(page, 16), 4, 1},
		{"stride 32", 4, stride(page, 128), 32, 8},
		{"stride 33: other line and other bank for each lane", 4, stride(page, 132), 1, 8},
		{"two lines in turn", 4, func(l int) uint64 { return page + uint64(l%2*128+l*4) }, 1, 1},
		{"one word", 4, stride(page, 0), 1, 1},
		{"one 128-bit word", 16, stride(page, 0), 4, 1},
	} {
		m := newPath(t, MemConfig{WarmL2: true})
		m.Access(access(100, isa.ClassLDG, c.size, c.addr))
		got := m.Access(access(5000, isa.ClassLDG, c.size, c.addr))
		groups := int(laneGroups(^uint32(0), widthIndex(c.size)))
		passes, want := max(c.banks, c.tags), uint64(5032+c.tags-1+2*(c.banks-groups))
		if got.Wavefronts != passes || got.Result != want || got.Level != LevelL1 {
			t.Errorf("%s: %d passes, result at %d from %v; want %d, %d, l1", c.name, got.Wavefronts, got.Result, got.Level, passes, want)
		}
	}
}

// TestL1 follows one line through loads and stores.
func TestL1(t *testing.T) {
	m := newPath(t, MemConfig{WarmL2: true})
	word := stride(page, 0)
	first := m.Access(access(100, isa.ClassLDG, 4, word))
	if first.L1SectorHits != 0 || first.L2Sectors != 1 {
		t.Errorf("cold load: %+v", first)
	}
	// A second load while the first is under way joins it.
	joined := m.Access(access(150, isa.ClassLDG, 4, word))
	if joined.L1SectorHits != 1 || joined.L2Sectors != 0 || joined.Result != first.Result {
		t.Errorf("load of a line under way: %+v, want the result at %d and no L2 access", joined, first.Result)
	}
	// Another sector of the line misses, the line's tag hits.
	other := m.Access(access(1000, isa.ClassLDG, 4, stride(page+32, 0)))
	if other.L1SectorHits != 0 || other.L2Sectors != 1 {
		t.Errorf("other sector: %+v", other)
	}
	// Stores go to L2 and leave the line; a load still hits.
	st := m.Access(access(2000, isa.ClassSTG, 4, word))
	if st.L2Sectors != 1 || st.Complete < st.Result+200 {
		t.Errorf("store: %+v", st)
	}
	if got := m.Access(access(2100, isa.ClassLDG, 4, word)); got.Level != LevelL1 || got.Result != 2132 {
		t.Errorf("load after store: %+v, want an L1 hit at 2132", got)
	}
	// A store does not allocate.
	m.Access(access(3000, isa.ClassSTG, 4, stride(page+1<<20, 0)))
	if got := m.Access(access(3100, isa.ClassLDG, 4, stride(page+1<<20, 0))); got.Level != LevelL2 {
		t.Errorf("load after store to a line not in L1: %v, want l2", got.Level)
	}
	// Volatile and device-scope loads pass L1 by.
	a := access(4000, isa.ClassLDG, 4, word)
	a.Effect.Inst.Mod.Flags = isa.ModStrong
	if got := m.Access(a); got.Level != LevelL2 || got.L1SectorHits != 0 {
		t.Errorf("strong load: %+v, want l2", got)
	}
}

// TestL1Off: architectures that do not cache global loads still cache local memory.
func TestL1Off(t *testing.T) {
	arch := *h200(t)
	arch.LSU.L1CachesGlobal = false
	m, err := NewMemPath(&arch, MemConfig{WarmL2: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		class isa.Class
		want  MemLevel
	}{{isa.ClassLDG, LevelL2}, {isa.ClassLDL, LevelL1}} {
		m.Access(access(100, c.class, 4, stride(0x100, 4)))
		if got := m.Access(access(2000, c.class, 4, stride(0x100, 4))); got.Level != c.want {
			t.Errorf("second %v: from %v, want %v", c.class, got.Level, c.want)
		}
	}
}

// TestL1Capacity walks footprints twice; what fits hits in the second walk.
func TestL1Capacity(t *testing.T) {
	for _, c := range []struct {
		carveout, kilobytes int
		hits                bool
	}{
		{0, 216, true}, {0, 320, false}, {64 << 10, 190, true}, {64 << 10, 320, false},
		{100 << 10, 150, true}, {100 << 10, 216, false}, {227 << 10, 27, true}, {227 << 10, 64, false},
	} {
		m := newPath(t, MemConfig{SharedCarveout: c.carveout, WarmL2: true})
		var hits, sectors int
		for pass := 0; pass < 2; pass++ {
			for line := 0; line < c.kilobytes*8; line++ {
				got := m.Access(access(uint64(1000+pass*1000000+line*400), isa.ClassLDG, 4, stride(page+uint64(line)*128, 4)))
				if pass == 1 {
					hits += got.L1SectorHits
					sectors += got.L1Sectors
				}
			}
		}
		if c.hits != (hits == sectors) || !c.hits && hits > 0 {
			t.Errorf("%d KB with %d KB of shared memory: %d of %d sectors hit, want all %v", c.kilobytes, c.carveout>>10, hits, sectors, c.hits)
		}
	}
}

// TestL2: cold and warm, footprint against capacity, share of the chip.
func TestL2(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  MemConfig
		want MemLevel
	}{
		{"cold", MemConfig{L2Bytes: 50 << 20}, LevelDRAM},
		{"warm", MemConfig{L2Bytes: 50 << 20, WarmL2: true}, LevelL2},
		{"warm, data fits", MemConfig{L2Bytes: 50 << 20, WarmL2: true, FootprintBytes: 40 << 20}, LevelL2},
		{"warm, data does not fit", MemConfig{L2Bytes: 50 << 20, WarmL2: true, FootprintBytes: 400 << 20}, LevelDRAM},
		{"no L2 given", MemConfig{WarmL2: true}, LevelL2},
	} {
		m := newPath(t, c.cfg)
		if got := m.Access(access(100, isa.ClassLDG, 4, stride(page, 4))); got.Level != c.want {
			t.Errorf("%s: first load from %v, want %v", c.name, got.Level, c.want)
		}
	}
	// What an SM brings in stays while it fits its share.
	walk := func(kilobytes int) MemLevel {
		m := newPath(t, MemConfig{L2Bytes: 132 << 20, SMs: 132, AllSMsActive: true, SharedCarveout: 227 << 10})
		var last MemTiming
		for pass := 0; pass < 2; pass++ {
			for line := 0; line < kilobytes*8; line++ {
				last = m.Access(access(uint64(1000+pass*100000000+line*1000), isa.ClassLDG, 4, stride(page+uint64(line)*128, 4)))
			}
		}
		return last.Level
	}
	if got := walk(512); got != LevelL2 {
		t.Errorf("512 KB of a share of 1 MB: second walk from %v, want l2", got)
	}
	if got := walk(2048); got != LevelDRAM {
		t.Errorf("2 MB of a share of 1 MB: second walk from %v, want dram", got)
	}
}

// TestColdShared: with the whole chip reading the same data for the first time, an SM gets its part of it from DRAM.
func TestColdShared(t *testing.T) {
	for _, c := range []struct {
		footprint, read uint64
		all             bool
		own             int // lines from DRAM
	}{
		{0, 0, true, 32}, {4096, 0, false, 32}, {132 * 4096, 0, true, 32}, {132 * 1024, 0, true, 8}, {132 * 4096, 132 * 2048, true, 16}, {1 << 30, 4096, true, 32},
	} {
		m := newPath(t, MemConfig{L2Bytes: 50 << 20, AllSMsActive: c.all, SMs: 132, FootprintBytes: c.footprint, ReadBytes: c.read})
		var bytes, hits, slow int
		for line := uint64(0); line < 32; line++ {
			got := m.Access(access(1000+line*1000, isa.ClassLDG, 4, stride(page+line*128, 4)))
			bytes += got.DRAMBytes
			hits += got.L2SectorHits
			if got.Result-(1000+line*1000) > 550 {
				slow++
			}
		}
		if bytes != c.own*128 || hits != (32-c.own)*4 || slow != c.own {
			t.Errorf("footprint %d, read %d, whole chip %v: %d bytes from DRAM, %d sector hits in L2, %d slow loads; want %d lines from DRAM",
				c.footprint, c.read, c.all, bytes, hits, slow, c.own)
		}
	}
}

// TestOldDirty: a repeated launch that does not fit L2 first writes back what it left there last time.
func TestOldDirty(t *testing.T) {
	run := func(stores bool) (bytes int, end uint64) {
		m := newPath(t, MemConfig{L2Bytes: 50 << 20, WarmL2: true, AllSMsActive: true, SMs: 132, FootprintBytes: 500 << 20})
		for i := uint64(0); i < 1000; i++ {
			ld := access(1000+i*2, isa.ClassLDG, 4, stride(page+i*128, 4))
			ld.Effect.Inst.Mod.Flags = isa.ModStrong
			got := m.Access(ld)
			bytes += got.DRAMBytes
			end = max(end, got.Result)
			if stores {
				bytes += m.Access(access(1001+i*2, isa.ClassSTG, 4, stride(page+1<<30+i*128, 4))).DRAMBytes
			}
		}
		return bytes, end - 1000
	}
	bytes, cycles := run(false)
	if bytes != 128000 {
		t.Errorf("loads only: %d bytes, want 128000", bytes)
	}
	both, slower := run(true)
	least := uint64(float64(both) / h200(t).Memory.DRAMBytesCycleAll)
	if both < 250000 || both > 256000 || slower < least || slower < cycles*3/2 {
		t.Errorf("as many stores: %d bytes and %d cycles (without: %d), want about 256000 bytes and %d cycles or more", both, slower, cycles, least)
	}
}

// TestScatteredRequests: with all SMs active a stream of single sectors is bound by the L2 slices' requests, a stream of
// whole lines by bytes.
func TestScatteredRequests(t *testing.T) {
	for _, c := range []struct {
		lanes    int    // bytes between lanes
		min, max uint64 // cycles of 64 loads of 32 lanes
	}{
		{128, 64 * 32 * 155 / 100, 64*32*165/100 + 400},
		{4, 64 * 4, 64*5 + 400},
	} {
		m := newPath(t, MemConfig{WarmL2: true, AllSMsActive: true, SMs: 132})
		var last uint64
		for i := range uint64(64) {
			last = max(last, m.Access(access(100+i, isa.ClassLDG, 4, stride(page+i<<16, c.lanes))).Result)
		}
		if n := last - 100; n < c.min || n > c.max {
			t.Errorf("lanes %d bytes apart: %d cycles, want %d to %d", c.lanes, n, c.min, c.max)
		}
	}
}

// TestDRAMQueues: with all SMs active a line waits for the lines before it in its queue of DRAM, not for those in others.
func TestDRAMQueues(t *testing.T) {
	for _, chip := range []bool{true, false} {
		m := newPath(t, MemConfig{AllSMsActive: chip, SMs: 132})
		want := 1
		if chip {
			want = h200(t).Memory.DRAMQueuesAll
		}
		if n := len(m.far.dramFree); n != want || n == 0 {
			t.Errorf("all SMs active %v: %d queues, want %d", chip, n, want)
		}
		first := m.dramQueue(1)
		for line := uint64(2); line < 20; line++ {
			before := *first
			at := before + ticksCycle
			got := m.fromDRAM(line, 4, at) - ticks(m.par.dramLatency+jitter(line, m.par.dramJitter))*ticksCycle - 3*m.par.dramSectorTicks
			same := m.dramQueue(line) == first
			if held := *first - before; same != (held > 0) || same && held != ticksCycle+4*m.par.dramQueueTicks {
				t.Errorf("line %d: same queue %v, held for %d ticks", line, same, held)
			}
			if same && got != at {
				t.Errorf("line %d starts at %d, want %d", line, got, at)
			}
		}
	}
}

// TestOpenRow: with all SMs active a request for half a line holds its queue of DRAM dram_lone_atom_all longer, unless the other half was asked for in
// the last dram_row_open cycles; then what that paid is given back if the queue has not emptied meanwhile.
func TestOpenRow(t *testing.T) {
	for _, chip := range []bool{true, false} {
		for _, c := range []struct {
			sectors int
			later   ticks // of the second request, cycles
			want    ticks // that both hold the queue beyond their sectors, in lone requests
		}{{4, 0, 0}, {2, 0, 0}, {2, 400, 1}, {2, 3000, 2}} {
			m := newPath(t, MemConfig{AllSMsActive: chip, SMs: 132})
			lone := m.par.dramLoneTicks
			if chip != (lone > 0) {
				t.Fatalf("all SMs active %v: a lone request takes %d ticks more", chip, lone)
			}
			m.entry = &cacheLine{}
			at := ticks(1000) * ticksCycle
			m.fromDRAM(1, c.sectors, at)
			first := *m.dramQueue(1) - at
			at += c.later * ticksCycle
			before := max(*m.dramQueue(1), at)
			m.fromDRAM(1, c.sectors, at)
			second := *m.dramQueue(1) - before
			if got, want := first+second, 2*ticks(c.sectors)*m.par.dramQueueTicks+c.want*lone; got != want {
				t.Errorf("all SMs active %v, %d sectors, again after %d cycles: %d ticks, want %d", chip, c.sectors, c.later, got, want)
			}
		}
	}
}

// TestReplayLoss: warps with conflicts of 16 passes. One takes a pass every other cycle; two to four 1.33 cycles a pass together, on one
// sub-partition or on several; eight a pass a cycle.
func TestReplayLoss(t *testing.T) {
	for _, c := range []struct {
		warps, subPartitions int
		want                 float64 // cycles a pass
	}{{1, 1, 2}, {2, 1, 1.33}, {2, 2, 1.33}, {4, 4, 1.33}, {4, 2, 1.33}, {8, 4, 1}} {
		m := newPath(t, MemConfig{WarmL2: true})
		m.Access(access(100, isa.ClassLDG, 4, stride(page, 64)))
		const rounds = 32
		var end uint64
		for range rounds {
			for w := range c.warps {
				a := access(5000, isa.ClassLDG, 4, stride(page, 64))
				a.Slot, a.SubPartition = w, w%c.subPartitions
				end = max(end, m.Access(a).Result)
			}
		}
		if got := float64(end-5000) / float64(rounds*16*c.warps); got < c.want-0.03 || got > c.want+0.12 {
			t.Errorf("%d warps on %d sub-partitions: %.2f cycles a pass, want %.2f", c.warps, c.subPartitions, got, c.want)
		}
	}
}
