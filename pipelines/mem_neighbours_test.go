package pipelines

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestAskedByOthers: on a cold chip a line that a neighbouring block asks for at the same time, or has asked for, comes when its data does.
func TestAskedByOthers(t *testing.T) {
	const row = 4096
	load := func(m *MemPath, cycle uint64, offset, stride int64, strided bool) (wait uint64, dram int) {
		a := access(cycle, isa.ClassLDG, 4, func(lane int) uint64 { return uint64(page + 4*int64(lane) + offset) })
		a.Stride, a.Strided = stride, strided
		got := m.Access(a)
		return got.Result - cycle, got.DRAMBytes
	}
	cold := func() *MemPath { return newPath(t, chipConfig(40<<20, 40<<20, false)) }
	spread := uint64(cold().par.dramJitter + 60)
	full, bytes := load(cold(), 1000, 0, row, true)
	if bytes != 128 {
		t.Fatalf("the first row brings %d bytes, want 128", bytes)
	}
	for _, c := range []struct {
		name    string
		later   uint64 // than the first row
		offset  int64
		stride  int64
		strided bool
		bytes   int    // from DRAM, for this SM
		wait    uint64 // about
	}{
		{"the next block's row at the same time", 4, row, row, true, 0, full},
		{"half way", full / 2, row, row, true, 0, full / 2},
		{"the block before", 4, -row, row, true, 0, full},
		{"three blocks on", 4, 3 * row, row, true, 0, full},
		{"four blocks on are not looked at", 4, 4 * row, row, true, 128, full},
		{"no block's row", 4, row / 2, row, true, 128, full},
		{"the same for all blocks", 4, row, 0, true, 0, full},
		{"not known", 4, row, 0, false, 128, full},
	} {
		m := cold()
		load(m, 1000, 0, row, true)
		wait, bytes := load(m, 1000+c.later, c.offset, c.stride, c.strided)
		if bytes != c.bytes || wait+spread < c.wait || wait > c.wait+spread {
			t.Errorf("%s: %d cycles, %d bytes from DRAM; want about %d, %d", c.name, wait, bytes, c.wait, c.bytes)
		}
	}
	m := cold()
	load(m, 1000, 0, row, true)
	late, _ := load(m, 1000+full+500, row, row, true)
	hit, _ := load(newPath(t, chipConfig(40<<20, 40<<20, true)), 1000, row, row, true)
	if late > hit+60 {
		t.Errorf("long after the neighbour: %d cycles, a hit takes %d", late, hit)
	}
}
