package pipelines

import (
	"encoding/binary"
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
)

// playBytes turns bytes into accesses, books them in issue order (as Blocked allows) and checks what must always hold. It returns a sum over all timings.
func playBytes(t *testing.T, arch *configs.Arch, cfg MemConfig, data []byte) (sum uint64) {
	m, err := NewMemPath(arch, cfg)
	if err != nil {
		t.Fatal(err)
	}
	classes := []isa.Class{isa.ClassLDG, isa.ClassSTG, isa.ClassLDS, isa.ClassSTS, isa.ClassLDL, isa.ClassSTL, isa.ClassATOMG,
		isa.ClassATOMS, isa.ClassRED, isa.ClassLDGSTS, isa.ClassTEX}
	sizes := []uint8{1, 2, 4, 8, 16}
	cycle := uint64(0)
	for len(data) >= 18 {
		class := classes[int(data[0])%len(classes)]
		size := sizes[int(data[1])%len(sizes)]
		sp := int(data[2]) % len(m.queues)
		cycle += uint64(data[3] & 0x3f)
		if data[3]&0xc0 == 0xc0 {
			cycle += uint64(data[3]) << 12 // long idle times
		}
		mask := binary.LittleEndian.Uint32(data[4:])
		base := uint64(binary.LittleEndian.Uint32(data[8:])) << (data[12] % 24)
		step := uint64(int64(int16(binary.LittleEndian.Uint16(data[13:]))))
		a := access(cycle, class, size, func(lane int) uint64 {
			if data[15]&1 != 0 {
				return base + step*uint64(lane)*uint64(lane*7+int(data[16]))
			}
			return base + step*uint64(lane)
		})
		if data[17]&1 != 0 {
			a.Effect.Inst.Mod.Flags = isa.ModStrong
		}
		a.Effect.Exec = mask
		a.SubPartition, a.Slot, a.Block = sp, int(data[16])%64, int(data[17])%5
		data = data[18:]

		_, until, blocked := m.Blocked(cycle, sp, class)
		if blocked {
			if until <= cycle {
				t.Fatalf("blocked until %d at %d", until, cycle)
			}
			if at, ok := m.NextEvent(cycle); !ok || at > until {
				t.Fatalf("next event %d %v, but a queue has room at %d", at, ok, until)
			}
			if _, _, still := m.Blocked(until, sp, class); still {
				t.Fatalf("blocked at %d, the cycle it named", until)
			}
			cycle = until
			a.Cycle = cycle
		}
		port, drained := m.queues[sp].port, m.Drained()
		got := m.Access(a)
		switch {
		case got.Result < cycle || got.SourcesRead < cycle || got.SlotFree < cycle || got.Complete < got.Result:
			t.Fatalf("%v at %d: %+v is before its issue", class, cycle, got)
		case m.queues[sp].port < port || m.Drained() < drained || m.Drained() < got.Complete:
			t.Fatalf("%v at %d: a resource became free earlier", class, cycle)
		case got.L1SectorHits > got.L1Sectors || got.L2SectorHits > got.L2Sectors || got.BankConflicts < 0 || got.Wavefronts < got.BankConflicts:
			t.Fatalf("%v: counts %+v", class, got)
		case mask != 0 && got.Level == LevelNone || mask == 0 && got.Level != LevelNone:
			t.Fatalf("%v with mask %x: level %v", class, mask, got.Level)
		}
		for _, v := range []uint64{got.Result, got.SourcesRead, got.SlotFree, got.Complete, uint64(got.Wavefronts), uint64(got.L1SectorHits), uint64(got.DRAMBytes)} {
			sum = sum*1099511628211 + v
		}
	}
	return sum
}

// pseudoBytes are n bytes of a linear congruential sequence.
func pseudoBytes(n int, seed uint32) []byte {
	b := make([]byte, n)
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = byte(seed >> 24)
	}
	return b
}

// TestEveryArchitecture plays random accesses on every architecture, twice with equal results.
func TestEveryArchitecture(t *testing.T) {
	for _, name := range configs.List() {
		arch, err := configs.Load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, cfg := range []MemConfig{
			{}, {WarmL2: true, L2Bytes: 4 << 20, FootprintBytes: 5 << 20},
			{AllSMsActive: true, SMs: 30, L2Bytes: 1 << 20, SharedCarveout: 40 << 10},
		} {
			data := pseudoBytes(18*4000, uint32(i))
			if a, b := playBytes(t, arch, cfg, data), playBytes(t, arch, cfg, data); a != b {
				t.Errorf("%s: two runs differ", name)
			}
		}
	}
}

func FuzzMemPath(f *testing.F) {
	f.Add(pseudoBytes(18*64, 1), byte(0))
	f.Add(make([]byte, 18*20), byte(1))
	arch := h200(f)
	f.Fuzz(func(t *testing.T, data []byte, kind byte) {
		cfg := MemConfig{WarmL2: kind&1 != 0, AllSMsActive: kind&2 != 0, SMs: 132, L2Bytes: int(kind>>2) << 20, FootprintBytes: uint64(kind) << 22, SharedCarveout: int(kind) << 10}
		playBytes(t, arch, cfg, data)
	})
}

// BenchmarkAccess books one warp access of each kind.
func BenchmarkAccess(b *testing.B) {
	for _, k := range []struct {
		name  string
		class isa.Class
		size  uint8
		bytes int
		walk  uint64 // distance between accesses
		wrap  uint64
	}{
		{"lds", isa.ClassLDS, 4, 4, 128, 1 << 14},
		{"lds_conflict8", isa.ClassLDS, 4, 32, 4, 128},
		{"lds128", isa.ClassLDS, 16, 16, 512, 1 << 14},
		{"ldg_l1_hit", isa.ClassLDG, 4, 4, 128, 1 << 15},
		{"ldg_l2_stream", isa.ClassLDG, 4, 4, 128, 1 << 22},
		{"ldg_broadcast", isa.ClassLDG, 4, 0, 4, 1 << 12},
		{"ldg_bytes", isa.ClassLDG, 1, 1, 32, 1 << 15},
		{"ldg128", isa.ClassLDG, 16, 16, 512, 1 << 15},
		{"ldg_stride32", isa.ClassLDG, 4, 128, 4096, 1 << 17},
		{"stg", isa.ClassSTG, 4, 4, 128, 1 << 20},
		{"stg_stride32", isa.ClassSTG, 4, 128, 4096, 1 << 20},
		{"atomg", isa.ClassATOMG, 4, 4, 128, 1 << 16},
		{"atomg_same", isa.ClassATOMG, 4, 0, 128, 1 << 16},
		{"ldl", isa.ClassLDL, 4, 0, 4, 256},
	} {
		b.Run(k.name, func(b *testing.B) {
			m := newPath(b, MemConfig{WarmL2: true, L2Bytes: 50 << 20})
			a := access(1000, k.class, k.size, stride(page, k.bytes))
			if a.Effect.Space != isa.SpaceGlobal {
				a = access(1000, k.class, k.size, stride(0, k.bytes))
			}
			start := *a.Effect.Addr
			at := uint64(0)
			step := func() {
				at = (at + k.walk) % k.wrap
				for lane := range start {
					a.Effect.Addr[lane] = start[lane] + at
				}
				if _, until, blocked := m.Blocked(a.Cycle, a.SubPartition, a.Class); blocked {
					a.Cycle = until
				}
				m.Access(a)
				a.Cycle++
				a.SubPartition = (a.SubPartition + 1) & 3
			}
			for i := uint64(0); i < k.wrap/k.walk+100; i++ {
				step()
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; i < b.N; i++ {
				step()
			}
		})
	}
}

// TestNoAllocation: once its tables are warm, an access allocates nothing.
func TestNoAllocation(t *testing.T) {
	m := newPath(t, MemConfig{WarmL2: true, L2Bytes: 1 << 20})
	var list []MemAccess
	for _, class := range []isa.Class{isa.ClassLDG, isa.ClassSTG, isa.ClassLDS, isa.ClassSTS, isa.ClassLDL, isa.ClassSTL, isa.ClassATOMG, isa.ClassATOMS, isa.ClassRED} {
		for _, bytes := range []int{0, 4, 36, 128} {
			list = append(list, access(0, class, 4, stride(0x1000, bytes)))
		}
	}
	cycle := uint64(1000)
	step := func() {
		for _, a := range list {
			cycle++
			if _, until, blocked := m.Blocked(cycle, 0, a.Class); blocked {
				cycle = until
			}
			a.Cycle = cycle
			m.Access(a)
		}
	}
	step()
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%.1f allocations in %d accesses", n, len(list))
	}
}
