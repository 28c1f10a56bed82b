package pipelines

import (
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
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
		{"LDG, DRAM", isa.ClassLDG, 1, MemConfig{L2Bytes: 1 << 20}, false, 668, 62, LevelDRAM},
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
		a.SubPartition = sp
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

// TestL1Banks: passes of loads that hit: bank conflicts as in shared memory, four tags a cycle.
func TestL1Banks(t *testing.T) {
	for _, c := range []struct {
		name   string
		size   uint8
		addr   func(lane int) uint64
		passes int
	}{
		{"words in a row", 4, stride(page, 4), 1},
		{"stride 4", 4, stride(page, 16), 4},
		{"stride 32", 4, stride(page, 128), 32},
		{"stride 33: other line and other bank for each lane", 4, stride(page, 132), 8},
		{"two lines in turn", 4, func(l int) uint64 { return page + uint64(l%2*128+l*4) }, 1},
		{"one word", 4, stride(page, 0), 1},
		{"one 128-bit word", 16, stride(page, 0), 4},
	} {
		m := newPath(t, MemConfig{WarmL2: true})
		m.Access(access(100, isa.ClassLDG, c.size, c.addr))
		got := m.Access(access(5000, isa.ClassLDG, c.size, c.addr))
		groups := int(laneGroups(^uint32(0), widthIndex(c.size)))
		if want := uint64(5032 + 2*(c.passes-groups)); got.Wavefronts != c.passes || got.Result != want || got.Level != LevelL1 {
			t.Errorf("%s: %d passes, result at %d from %v; want %d, %d, l1", c.name, got.Wavefronts, got.Result, got.Level, c.passes, want)
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
	if both < 250000 || both > 256000 || slower < cycles*19/10 {
		t.Errorf("as many stores: %d bytes and %d cycles, want about 256000 bytes and twice %d cycles", both, slower, cycles)
	}
}

// TestQueue: the ninth store of a sub-partition waits for the queue: blocked at N-1 for lg_throttle, issues at N.
func TestQueue(t *testing.T) {
	m := newPath(t, MemConfig{WarmL2: true})
	for i := uint64(0); i < 8; i++ {
		if _, _, blocked := m.Blocked(100+i, 0, isa.ClassSTG); blocked {
			t.Fatalf("store %d blocked", i)
		}
		m.Access(access(100+i, isa.ClassSTG, 4, stride(page+i*4096, 4)))
	}
	state, until, blocked := m.Blocked(108, 0, isa.ClassSTG)
	if blocked { // the first store has left by then
		t.Fatalf("ninth store blocked until %d", until)
	}
	m.Access(access(108, isa.ClassSTG, 4, stride(page+9*4096, 4)))
	state, until, blocked = m.Blocked(109, 0, isa.ClassSTG)
	if blocked {
		m.Access(access(until, isa.ClassSTG, 4, stride(page+10*4096, 4)))
	}
	for i := uint64(0); i < 4; i++ {
		state, until, blocked = m.Blocked(until, 0, isa.ClassSTG)
		if blocked {
			break
		}
		m.Access(access(until, isa.ClassSTG, 4, stride(page, 4)))
	}
	if !blocked || state != sim.LGThrottle {
		t.Fatalf("queue of eight is never full: %v %v", state, blocked)
	}
	if _, _, b := m.Blocked(until-1, 0, isa.ClassLDG); !b {
		t.Errorf("not blocked at %d, one cycle before room", until-1)
	}
	if _, _, b := m.Blocked(until, 0, isa.ClassLDG); b {
		t.Errorf("still blocked at %d", until)
	}
	if s, _, b := m.Blocked(until-1, 0, isa.ClassTEX); !b || s != sim.TexThrottle {
		t.Errorf("texture: %v %v, want tex_throttle", s, b)
	}
	if s, _, b := m.Blocked(until-1, 0, isa.ClassLDS); !b || s != sim.MIOThrottle {
		t.Errorf("shared load: %v %v, want mio_throttle", s, b)
	}
	if _, _, b := m.Blocked(until-1, 1, isa.ClassSTG); b {
		t.Errorf("another sub-partition is blocked too")
	}
	if at, ok := m.NextEvent(until - 1); !ok || at != until {
		t.Errorf("next event %d %v, want %d", at, ok, until)
	}
}

// TestStoreLink: packets of sectors and headers from the SM to L2, in cycles a warp store in the steady state.
func TestStoreLink(t *testing.T) {
	for _, c := range []struct {
		name  string
		class isa.Class
		size  uint8
		bytes int
		all   bool
		want  float64
	}{
		{"words in a row", isa.ClassSTG, 4, 4, false, 4},
		{"one word", isa.ClassSTG, 4, 0, false, 2},
		{"stride 2", isa.ClassSTG, 4, 8, false, 10},
		{"stride 8", isa.ClassSTG, 4, 32, false, 40},
		{"stride 32", isa.ClassSTG, 4, 128, false, 64},
		{"128 bit in a row", isa.ClassSTG, 16, 16, false, 16},
		{"words in a row, whole chip", isa.ClassSTG, 4, 4, true, 128 / 18.4},
		{"atomics, words in a row", isa.ClassATOMG, 4, 4, false, 5},
		{"atomics, one word", isa.ClassATOMG, 4, 0, false, 64},
		{"atomics, stride 8", isa.ClassATOMG, 4, 32, false, 40},
		{"reductions, one word", isa.ClassRED, 4, 0, false, 32},
	} {
		m := newPath(t, MemConfig{WarmL2: true, AllSMsActive: c.all, SMs: 132})
		const n = 4000
		cycle := [4]uint64{1000, 1000, 1000, 1000}
		var half, end uint64
		for i := 0; i < n; i++ {
			sp := 0
			for s := range cycle {
				if _, until, b := m.Blocked(cycle[s], s, c.class); b {
					cycle[s] = until
				}
				if cycle[s] < cycle[sp] {
					sp = s
				}
			}
			a := access(cycle[sp], c.class, c.size, stride(page+uint64(i%16)<<16, c.bytes))
			a.SubPartition = sp
			m.Access(a)
			end = cycle[sp]
			if i == n/2 {
				half = end
			}
			cycle[sp]++
		}
		if got := float64(end-half) / (n/2 - 1); got < 0.97*c.want || got > 1.03*c.want+0.05 {
			t.Errorf("%s: %.2f cycles each, want %.2f", c.name, got, c.want)
		}
	}
}

// TestStoreCombining: stores to the bytes of one sector become one packet while it waits, of whatever warp.
func TestStoreCombining(t *testing.T) {
	m := newPath(t, MemConfig{WarmL2: true})
	for _, c := range []struct {
		name          string
		cycle         uint64
		size          uint8
		addr          func(lane int) uint64
		l2, hits, all int
	}{
		{"first word of each sector", 1000, 4, stride(page, 32), 32, 0, 32},
		{"second word", 1100, 4, stride(page+4, 32), 0, 32, 32},
		{"elsewhere", 1200, 4, stride(page+1<<20, 32), 32, 0, 32},
		{"third word, upper half", 1300, 2, stride(page+10, 32), 0, 32, 32},
		{"third word, lower half", 1350, 2, stride(page+8, 32), 0, 32, 32},
		{"second word again", 1400, 4, stride(page+4, 32), 32, 0, 32},
		{"fifth word", 1500, 4, stride(page+16, 32), 0, 32, 32},
		{"sixth word, too late", 5500, 4, stride(page+20, 32), 32, 0, 32},
		{"whole line", 6000, 4, stride(page+2<<20, 4), 4, 0, 4},
		{"whole line again", 6100, 4, stride(page+2<<20, 4), 4, 0, 4},
		{"half of a line", 6200, 2, stride(page+3<<20, 2), 2, 0, 2},
		{"other half", 6300, 2, stride(page+3<<20+64, 2), 2, 2, 2},
	} {
		got := m.Access(access(c.cycle, isa.ClassSTG, c.size, c.addr))
		if got.L2Sectors != c.l2 || got.L1SectorHits != c.hits || got.L1Sectors != c.all {
			t.Errorf("%s: %d sectors, %d hits, %d to L2; want %d, %d, %d", c.name, got.L1Sectors, got.L1SectorHits, got.L2Sectors, c.all, c.hits, c.l2)
		}
	}
}

// TestChipAtomics: a line that several blocks update is updated by the other SMs as well.
func TestChipAtomics(t *testing.T) {
	m := newPath(t, MemConfig{WarmL2: true, AllSMsActive: true, SMs: 132})
	a := access(1000, isa.ClassRED, 4, stride(page, 0))
	own := m.Access(a).Complete - 1000
	a = access(100000, isa.ClassRED, 4, stride(page, 0))
	a.Block = 132
	shared := m.Access(a).Complete - 100000
	if shared < own+5000 || shared > own+7000 {
		t.Errorf("reduction on one word: %d cycles for a block alone, %d when another block has used it; want about 6000 more", own, shared)
	}
}

// TestLocal: the words of the lanes at one offset are neighbours, warps are apart.
func TestLocal(t *testing.T) {
	m := newPath(t, MemConfig{WarmL2: true})
	same := m.Access(access(100, isa.ClassSTL, 4, stride(64, 0)))
	if same.Wavefronts != 1 || same.L1Sectors != 4 {
		t.Errorf("equal offsets: %d lines, %d sectors; want 1, 4", same.Wavefronts, same.L1Sectors)
	}
	if got := m.Access(access(200, isa.ClassLDL, 8, stride(64, 0))); got.L1Sectors != 8 || got.L1SectorHits != 4 {
		t.Errorf("two words, one of them stored: %d sectors, %d hits; want 8, 4", got.L1Sectors, got.L1SectorHits)
	}
	if got := m.Access(access(900, isa.ClassLDL, 4, stride(64, 4))); got.L1Sectors != 32 {
		t.Errorf("different offsets: %d sectors, want 32", got.L1Sectors)
	}
	a := access(2000, isa.ClassLDL, 4, stride(64, 0))
	a.Slot = 1
	if got := m.Access(a); got.L1SectorHits != 0 {
		t.Errorf("another warp hits the first one's local memory")
	}
}

// TestPredicatedOff: an instruction without executing lanes takes the port and the unit, nothing else.
func TestPredicatedOff(t *testing.T) {
	m := newPath(t, MemConfig{})
	a := access(100, isa.ClassLDG, 4, stride(page, 4))
	a.Effect.Exec = 0
	got := m.Access(a)
	if got.L1Sectors != 0 || got.Wavefronts != 0 || got.Result < 100 || got.Result > 140 {
		t.Errorf("%+v", got)
	}
}

// TestBadArchitecture: what a description lacks is named.
func TestBadArchitecture(t *testing.T) {
	for _, c := range []struct {
		change func(*configs.Arch)
		want   string
	}{
		{func(a *configs.Arch) { a.LSU.SharedBanks = 0 }, "memory path of sm_90: lsu.shared_banks must be given and positive, it is 0"},
		{func(a *configs.Arch) { a.LSU.SharedBanks = 24 }, "memory path of sm_90: lsu.shared_banks must be a power of two up to 64, it is 24"},
		{func(a *configs.Arch) { a.Memory.DRAMLatency = 0 }, "memory path of sm_90: memory.dram_latency must be given and positive, it is 0"},
		{func(a *configs.Arch) { a.LSU.SectorBytes = 48 }, "memory path of sm_90: lsu.l1_line_bytes 128 and lsu.sector_bytes 48 must be powers of two, line >= sector"},
	} {
		arch := *h200(t)
		c.change(&arch)
		if _, err := NewMemPath(&arch, MemConfig{}); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
