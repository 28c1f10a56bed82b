package pipelines

import (
	"slices"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// chipConfig is a launch that fills a chip with the H200's L2.
func chipConfig(footprint, read uint64, warm bool) MemConfig {
	return MemConfig{L2Bytes: 60 << 20, AllSMsActive: true, SMs: 132, WarmL2: warm, FootprintBytes: footprint, ReadBytes: read}
}

// TestArray: stores and the data that DRAM brings take turns in L2's data array: as many sectors take the same time whoever brings them,
// and reads that hit take a part of it.
func TestArray(t *testing.T) {
	const lines = 4000
	mem := &h200(t).Memory
	run := func(cold bool, reads, writes int) float64 {
		m := newPath(t, chipConfig(1<<30, 1<<30, !cold))
		if !cold {
			m = newPath(t, chipConfig(1<<20, 1<<20, true))
		}
		end := uint64(0)
		for i, r, w := uint64(0), 0, 0; i < lines; i++ {
			if r*writes < w*reads || writes == 0 {
				r++
				ld := access(1000+i*2, isa.ClassLDG, 4, stride(page+i*128, 4))
				ld.Effect.Inst.Mod.Flags = isa.ModStrong
				end = max(end, m.Access(ld).Result)
			} else {
				w++
				end = max(end, m.Access(access(1000+i*2, isa.ClassSTG, 4, stride(page+i*128, 4))).Complete)
			}
		}
		return float64(end - 1000)
	}
	write := lines * 128 / mem.L2ArrayBytesAll
	for _, c := range []struct {
		name          string
		cold          bool
		reads, writes int
		least, most   float64
	}{
		{"stores", true, 0, 1, write, 1.05 * write},
		{"as many cold reads", true, 1, 1, write, 1.15 * write},
		{"twice as many cold reads", true, 2, 1, write, 1.2 * write},
		{"as many reads that hit", false, 1, 1, write / 2 * (1 + mem.L2ArrayRead), write * 0.8},
	} {
		if got := run(c.cold, c.reads, c.writes); got < c.least || got > c.most+1000 {
			t.Errorf("%s: %.0f cycles, want %.0f to %.0f", c.name, got, c.least, c.most)
		}
	}
}

// TestReadWaitsAtSlice: a read that hits comes as much later as its slice's array or input is busy, and no later for what the others have.
// What DRAM brings does not pass the input.
func TestReadWaitsAtSlice(t *testing.T) {
	const line, at = page / 128, 1000
	fetch := func(busy uint64, place func(*memFar) *sliceQueues, other, cold bool) uint64 {
		m := newPath(t, chipConfig(1<<20, 1<<20, !cold))
		s := place(&m.far)
		for q := range s.free {
			if own := q == m.arrayQueue(line); own != other {
				s.free[q] = ticks(at+busy) * ticksCycle
			}
		}
		return m.fetch(line, 0xf, at, &MemAccess{}, &MemTiming{})
	}
	array, input := func(f *memFar) *sliceQueues { return &f.array }, func(f *memFar) *sliceQueues { return &f.input }
	free, miss := fetch(0, array, false, false), fetch(0, array, false, true)
	for _, busy := range []uint64{1, 7, 200} {
		for name, place := range map[string]func(*memFar) *sliceQueues{"array": array, "input": input} {
			if got := fetch(busy, place, false, false); got != free+busy {
				t.Errorf("slice's %s busy for %d cycles: data at %d, want %d", name, busy, got, free+busy)
			}
			if got := fetch(busy, place, true, false); got != free {
				t.Errorf("other slices' %s busy for %d cycles: data at %d, want %d", name, busy, got, free)
			}
		}
	}
	const busy = 5000
	if got := fetch(busy, input, false, true); got != miss {
		t.Errorf("input busy: DRAM's data at %d, want %d", got, miss)
	}
	if got := fetch(busy, array, false, true); got < at+busy {
		t.Errorf("array busy until %d: DRAM's data at %d", at+busy, got)
	}
}

// TestPartialWrites: a packet that leaves bytes of a sector unwritten costs as much as 1.2 sectors more, whichever and however many they are, and no more
// once the rest has been written.
func TestPartialWrites(t *testing.T) {
	a := newPath(t, chipConfig(1<<20, 0, true))
	whole, part := a.par.array.write, a.par.array.partial
	if part*100 < whole*119 || part*100 > whole*121 {
		t.Errorf("a packet in part takes %d ticks more, a whole sector %d, want 1.2 times as many", part, whole)
	}
	for _, c := range []struct {
		name   string
		stores [][4]int // cycle, warp, first byte, bytes a lane
		want   ticks    // of the last
	}{
		{"line", [][4]int{{0, 0, 0, 4}}, 4 * whole},
		{"shifted by a word: two lines", [][4]int{{0, 0, 4, 4}}, 5*whole + 2*part},
		{"shifted by a sector", [][4]int{{0, 0, 32, 4}}, 4 * whole},
		{"a sector in bytes", [][4]int{{0, 0, 0, 1}}, whole},
		{"two parts of sectors", [][4]int{{0, 0, 16, 1}}, 2*whole + part},
		{"the same part at the last moment", [][4]int{{0, 0, 16, 1}, {40, 0, 16, 1}}, 0},
		{"another warp's at the last moment", [][4]int{{0, 0, 16, 1}, {40, 1, 16, 1}}, 0},
		{"too late", [][4]int{{0, 0, 16, 1}, {40 + 1, 0, 16, 1}}, 2*whole + part},
		{"another warp's too late", [][4]int{{0, 0, 16, 1}, {40 + 1, 1, 16, 1}}, 2*whole + part},
	} {
		m := newPath(t, chipConfig(1<<20, 0, true))
		for _, b := range c.stores {
			s := access(1000+uint64(b[0]), isa.ClassSTG, uint8(b[3]), stride(page+uint64(b[2]), b[3]))
			s.Slot = b[1]
			m.Access(s)
		}
		var got ticks
		for i := 0; i < m.co.n; i++ {
			got += m.co.lines[i].array + m.co.lines[i].partial
		}
		if got != c.want {
			t.Errorf("%s: %d ticks of the input, want %d", c.name, got, c.want)
		}
	}
	// The even words of a line, then the odd ones, are the line.
	m := newPath(t, chipConfig(1<<20, 0, true))
	half := func(first int) MemAccess {
		s := access(1000, isa.ClassSTG, 4, stride(page+uint64(first), 8))
		s.Effect.Exec = 0xffff
		return s
	}
	m.Access(half(0))
	before := slices.Max(m.far.input.free)
	m.Access(half(4))
	if after := slices.Max(m.far.input.free); before-after != part {
		t.Errorf("completing four sectors changes the input's time by %d ticks, want %d back", before-after, part)
	}
}

// TestDirtyLimit: written data up to the limit stays in L2, every sector beyond it goes to DRAM while the launch runs.
func TestDirtyLimit(t *testing.T) {
	m := newPath(t, chipConfig(1<<30, 0, false))
	limit := m.par.dirtySectors
	bytes := 0
	for i := 0; i < limit/4; i++ {
		bytes += m.Access(access(uint64(1000+i*10), isa.ClassSTG, 4, stride(page+uint64(i)*128, 4))).DRAMBytes
	}
	if bytes != 0 {
		t.Errorf("%d bytes written back below the limit of %d sectors", bytes, limit)
	}
	for i := limit / 4; i < limit/4+10; i++ {
		bytes += m.Access(access(uint64(1000+i*10), isa.ClassSTG, 4, stride(page+uint64(i)*128, 4))).DRAMBytes
	}
	if bytes != 10*128-(limit-limit/4*4+0)*32 {
		t.Errorf("%d bytes written back for 10 lines beyond the limit", bytes)
	}
}

// TestChipCapacity: what a repeated launch on the whole chip finds in L2, from all to nothing.
func TestChipCapacity(t *testing.T) {
	for _, c := range []struct {
		footprint, read float64 // MB
		misses          float64 // part, measured by DRAM counters
		slop            float64
	}{
		{43.25, 43.25, 0.02, 0.05},
		{47.58, 47.58, 0.226, 0.12},
		{51.91, 51.91, 0.871, 0.1},
		{55.15, 55.15, 0.975, 0.03},
		{43.25, 32.44, 0.155, 0.05},
		{47.58, 35.69, 0.512, 0.05},
		{42.17, 28.11, 0.16, 0.05},
		{45.42, 30.28, 0.388, 0.05},
		{38.93, 12.98, 0.097, 0.06},
		{42.17, 14.06, 0.303, 0.06},
		{45.42, 15.14, 0.499, 0.05},
		{51.91, 17.3, 0.911, 0.05},
	} {
		m := newPath(t, chipConfig(uint64(c.footprint*1e6), uint64(c.read*1e6), true))
		if got := m.par.chipMisses; got < c.misses-c.slop || got > c.misses+c.slop {
			t.Errorf("%.1f MB, %.1f of them read: misses %.3f, measured %.3f", c.footprint, c.read, got, c.misses)
		}
	}
}

// TestWriteBatch: a queue of DRAM collects what has to be written back: reads wait for none of it one sector before the batch is full,
// for all of it after.
func TestWriteBatch(t *testing.T) {
	m := newPath(t, chipConfig(1<<30, 1<<30, false))
	const line, now = 77, 1000 * ticksCycle
	var stats MemTiming
	q := m.dramQueue(line)
	m.writeBack(line, m.par.dramWrites-1, now, &stats)
	if *q != 0 {
		t.Errorf("queue busy until %d before the batch is full", *q)
	}
	m.writeBack(line, 1, now, &stats)
	if want := now + ticks(m.par.dramWrites)*m.par.dramQueueTicks; *q != want {
		t.Errorf("queue busy until %d, want %d", *q, want)
	}
	if stats.DRAMBytes != m.par.dramWrites*32 {
		t.Errorf("%d bytes written, want %d sectors", stats.DRAMBytes, m.par.dramWrites)
	}
}
