package pipelines

import (
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
)

// TestQueue: the ninth store of a sub-partition waits for the queue: blocked at N-1 for lg_throttle, issues at N.
func TestQueue(t *testing.T) {
	m := newPath(t, MemConfig{WarmL2: true})
	for i := uint64(0); i < 8; i++ {
		if _, _, blocked := m.Blocked(100+i, 0, isa.ClassSTG); blocked {
			t.Fatalf("store %d blocked", i)
		}
		m.Access(access(100+i, isa.ClassSTG, 4, stride(page+i*4096, 4)))
	}
	_, until, blocked := m.Blocked(108, 0, isa.ClassSTG)
	if blocked { // the first store has left by then
		t.Fatalf("ninth store blocked until %d", until)
	}
	m.Access(access(108, isa.ClassSTG, 4, stride(page+9*4096, 4)))
	state, until, blocked := m.Blocked(109, 0, isa.ClassSTG)
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
			a := access(cycle[sp], c.class, c.size, stride(page+uint64(i%64)<<16, c.bytes))
			a.SubPartition, a.Slot = sp, i%64 // no two stores to one line near each other
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

// TestStoreCombining: a store joins earlier ones to the same lines while these wait: up to 40 cycles after the last of them on an idle link, behind stores to 24 lines
// at most, 12 if they are of bytes, whichever warps made them.
func TestStoreCombining(t *testing.T) {
	m := newPath(t, MemConfig{WarmL2: true})
	other := uint64(page + 1<<20)
	for _, c := range []struct {
		name  string
		cycle uint64
		size  uint8
		slot  int
		addr  func(lane int) uint64
		l2    int
	}{
		{"first word of each sector", 1000, 4, 0, stride(page, 32), 32},
		{"second word at the last moment", 1000 + 40, 4, 0, stride(page+4, 32), 0},
		{"third word, as late behind that", 1000 + 2*40, 4, 0, stride(page+8, 32), 0},
		{"fourth word, too late", 1000 + 3*40 + 1, 4, 0, stride(page+12, 32), 32},
		{"elsewhere", 2000, 4, 0, stride(other, 32), 32},
		{"another warp", 2001, 4, 1, stride(other+4, 32), 0},
		{"the first warp again", 2002, 4, 0, stride(other+8, 32), 0},
		{"whole line", 3000, 4, 0, stride(page+2<<20, 4), 4},
		{"whole line again", 3011, 4, 0, stride(page+2<<20, 4), 0},
		{"a line more", 4000, 4, 0, stride(page+3<<20, 8), 8},
		{"one of the two", 4001, 2, 0, stride(page+3<<20, 2), 0},
		{"half of a line", 5000, 2, 0, stride(page+4<<20, 2), 2},
		{"other half", 5011, 2, 0, stride(page+4<<20+64, 2), 2},
	} {
		a := access(c.cycle, isa.ClassSTG, c.size, c.addr)
		a.Slot = c.slot
		if got := m.Access(a); got.L2Sectors != c.l2 {
			t.Errorf("%s: %d sectors to L2, want %d", c.name, got.L2Sectors, c.l2)
		}
	}
	// Stores to one line each between two to the same line, which take 24 lines' room.
	for _, c := range []struct {
		size    uint8
		between int
		slot    int // of the last
		joins   bool
	}{{4, 23, 0, true}, {4, 24, 0, false}, {1, 11, 0, true}, {1, 12, 0, false}, {1, 11, 2, true}, {4, 23, 2, true}, {4, 24, 2, false}} {
		m := newPath(t, MemConfig{WarmL2: true})
		m.Access(access(1000, isa.ClassSTG, c.size, stride(page, 4)))
		for i := range c.between {
			a := access(1001, isa.ClassSTG, c.size, stride(other+uint64(i)*128, 4))
			a.Slot = 1
			m.Access(a)
		}
		a := access(1002, isa.ClassSTG, c.size, stride(page, 4))
		a.Slot = c.slot
		if got := m.Access(a); got.L2Sectors == 0 != c.joins {
			t.Errorf("%d bytes a lane, %d lines between, warp %d: %d sectors to L2, joins should be %v", c.size, c.between, c.slot, got.L2Sectors, c.joins)
		}
	}
}

// TestByteMasks: a packet carries a header, its byte mask, if it leaves bytes of a sector unwritten.
func TestByteMasks(t *testing.T) {
	for _, c := range []struct {
		lanes uint32 // of a warp that writes a line of words
		link  uint64
	}{{^uint32(0), 4}, {0xff, 1}, {0x7f, 2}, {0xffff, 2}, {0xfffe, 3}, {0xff00ff00, 2}} {
		m := newPath(t, MemConfig{WarmL2: true})
		a := access(1000, isa.ClassSTG, 4, stride(page, 4))
		a.Effect.Exec = c.lanes
		got := m.Access(a)
		if link := m.store.free.cycle() - (got.Result - 1); link != c.link {
			t.Errorf("lanes %#x: %d cycles of the link, want %d", c.lanes, link, c.link)
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

// TestLocal: the words of the lanes at one offset are neighbours, warps are apart. Stores go to L2, sector by sector, and leave what they
// write whole in L1.
func TestLocal(t *testing.T) {
	m := newPath(t, MemConfig{WarmL2: true})
	same := m.Access(access(100, isa.ClassSTL, 4, stride(64, 0)))
	if same.Wavefronts != 1 || same.L1Sectors != 4 || same.L1SectorHits != 0 || same.Level != LevelL2 {
		t.Errorf("equal offsets: %d lines, %d sectors, %d hits, %v; want 1, 4, 0, l2", same.Wavefronts, same.L1Sectors, same.L1SectorHits, same.Level)
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
	before := m.store.free
	a = access(3000, isa.ClassSTL, 4, stride(1024, 4))
	got := m.Access(a)
	if link := m.store.free - max(before, ticks(got.Result-1)*ticksCycle); link != 64*ticksCycle {
		t.Errorf("32 lanes on 32 lines: %d cycles of the link, want 64", link/ticksCycle)
	}
	if got := m.Access(access(4000, isa.ClassLDL, 4, stride(1024, 4))); got.L1SectorHits != 0 {
		t.Errorf("sectors stored in part: %d hits, want 0", got.L1SectorHits)
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

// TestStoresToALineCombine: a second store to a sector costs the link nothing, to another sector of the line no header, from whichever
// warp. All of them find a line that is there.
func TestStoresToALineCombine(t *testing.T) {
	for _, c := range []struct {
		slot, offset  int
		sectors, hits int
		gone          uint64 // cycles of the link
	}{
		{slot: 0, offset: 4, sectors: 0, hits: 1, gone: 0},
		{slot: 0, offset: 32, sectors: 1, hits: 1, gone: 1},
		{slot: 1, offset: 4, sectors: 0, hits: 1, gone: 0},
		{slot: 1, offset: 32, sectors: 1, hits: 1, gone: 1},
	} {
		m := newPath(t, MemConfig{WarmL2: true})
		a := access(100, isa.ClassSTG, 4, stride(page, 4))
		a.Effect.Exec = 1
		m.Access(a)
		before := m.store.free.cycle()
		b := access(101, isa.ClassSTG, 4, stride(page+uint64(c.offset), 4))
		b.Effect.Exec, b.Slot = 1, c.slot
		got := m.Access(b)
		gone := m.store.free.cycle() - before
		if gone > 0 && m.store.free.cycle() > before {
			gone = m.store.free.cycle() - max(before, got.Result-1)
		}
		if got.L2Sectors != c.sectors || got.L1SectorHits != c.hits || gone != c.gone {
			t.Errorf("warp %d, offset %d: %d sectors to L2, %d hits, %d cycles of the link; want %d, %d, %d", c.slot, c.offset,
				got.L2Sectors, got.L1SectorHits, gone, c.sectors, c.hits, c.gone)
		}
	}
}

// TestWideGroupsMerge: neighbouring groups of lanes of a wide shared access are one pass if no bank is asked for two words.
func TestWideGroupsMerge(t *testing.T) {
	for _, c := range []struct {
		size   uint8
		addr   func(lane int) uint64
		passes int
	}{
		{8, stride(0, 0), 1}, {8, stride(0, 8), 2}, {16, stride(0, 0), 2}, {16, stride(0, 16), 4},
	} {
		m := newPath(t, MemConfig{})
		got := m.Access(access(100, isa.ClassLDS, c.size, c.addr))
		if got.Wavefronts != c.passes || got.BankConflicts != 0 {
			t.Errorf("%d bytes, second lane at %d: %d passes, %d conflicts; want %d, 0", c.size, c.addr(1), got.Wavefronts, got.BankConflicts, c.passes)
		}
	}
}

// TestStrongForTheSM: a load that is strong for its SM only is served by L1.
func TestStrongForTheSM(t *testing.T) {
	m := newPath(t, MemConfig{WarmL2: true})
	m.Access(access(100, isa.ClassLDG, 4, stride(page, 4)))
	for flags, want := range map[isa.ModFlags]MemLevel{isa.ModStrong: LevelL2, isa.ModStrong | isa.ModCTA: LevelL1} {
		a := access(2000, isa.ClassLDG, 4, stride(page, 4))
		a.Effect.Inst.Mod.Flags = flags
		if got := m.Access(a); got.Level != want {
			t.Errorf("flags %#x: %v, want %v", uint64(flags), got.Level, want)
		}
	}
}

// TestSharedStorePasses: a store sends the data of every lane, so lanes that agree take as many passes as others; a load takes fewer. Stores of
// one sub-partition enter its port 12 cycles apart.
func TestSharedStorePasses(t *testing.T) {
	m := newPath(t, MemConfig{})
	first := m.Access(access(100, isa.ClassSTS, 16, stride(0, 0)))
	if first.Wavefronts != 4 {
		t.Errorf("STS.128 of one address: %d passes, want 4", first.Wavefronts)
	}
	second := m.Access(access(101, isa.ClassSTS, 16, stride(0, 16)))
	if got := second.SlotFree - first.SlotFree; got != 12 {
		t.Errorf("second STS.128 leaves the queue %d cycles after the first, want 12", got)
	}
	load := newPath(t, MemConfig{}).Access(access(100, isa.ClassLDS, 16, stride(0, 0)))
	if load.Wavefronts >= 4 {
		t.Errorf("LDS.128 of one address: %d passes, want fewer than 4", load.Wavefronts)
	}
}
