package pipelines

import "github.com/sarchlab/smsim/isa"

// storePort carries stores, atomics and reductions from the SM to L2: packets of sectors, each with a header unless it is
// a whole line.
type storePort struct {
	free   ticks     // next free time of the link
	buffer leaveRing // accesses held in the SM
}

func newStorePort(p *memParams) storePort { return storePort{buffer: newLeaveRing(p.storeBuffer)} }

// send books length of the link's time from the given cycle on, for an access that takes words a lane of the SM's buffer, and
// returns when the last of it has gone.
func (m *MemPath) send(at uint64, words uint64, length ticks) (gone uint64) {
	p, s := &m.par, &m.store
	s.free = max(s.free, ticks(at)*ticksCycle) + length
	// What is under way beyond the SM takes no room in its buffer.
	leave := at
	if s.free > p.storeBurstTicks {
		leave = max(leave, (s.free - p.storeBurstTicks).cycle())
	}
	for ; words > 0; words-- {
		s.buffer.push(leave)
	}
	return s.free.cycle()
}

// accessStore is a store to global or local memory. Global stores are written through to L2 and not allocated in L1; a
// line that L1 holds is updated, so a following load still hits. Local stores stay in L1 until they are thrown out.
func (m *MemPath) accessStore(a MemAccess, t *MemTiming) {
	p, e := &m.par, a.Effect
	groups := m.coalesce(a)
	n := m.co.n
	width := widthIndex(e.Size)
	if e.Space == isa.SpaceLocal {
		first, last := m.enter(a, p.globalStorePort[width], max(uint64(n), groups), 16)
		t.SourcesRead, t.SlotFree = first+p.readDelay, first
		t.Wavefronts, t.Level = n, LevelL1
		for i := 0; i < n; i++ {
			l := &m.co.lines[i]
			c := sectorCount(l.sectors)
			t.L1Sectors += c
			hit, victim := m.l1.find(l.line)
			if hit == nil && victim != nil {
				m.replaceL1(victim, l.line, last)
				hit = victim
			}
			if hit != nil {
				hit.sectors |= l.sectors
				hit.dirty |= l.sectors
				hit.ready = max(hit.ready, last)
			}
			t.L1SectorHits += c
		}
		t.Result = last + 1
		t.Complete = last + p.localLatency
		return
	}
	m.holdForStore(a, groups)
	first, last := m.enter(a, p.globalStorePort[width], groups*p.storePasses, 16)
	t.SourcesRead, t.SlotFree = first+p.readDelay, first
	t.Wavefronts, t.BankConflicts = max(n, int(groups)), max(n-int(groups), 0)
	m.co.byteMasks(e.Addr, e.Exec, uint64(max(e.Size, 1)), p.lineShift)
	length := m.combine(a.Cycle, a.Slot, t)
	t.Level = LevelL2
	t.Result = last + 1
	if length == 0 { // went along with the store before
		t.Complete = max(last, m.store.free.cycle()) + p.l2Latency
		return
	}
	gone := m.send(last, groups, length)
	if p.array.write > 0 {
		// With all SMs active the store waits for L2's data array, a part of that time outside the SM.
		gone = m.arrayWrite(m.store.free).cycle()
		busy := max(m.far.arrayAll, m.far.dramAll) // written data that has to leave L2 holds up what comes
		m.store.free = max(m.store.free, busy-min(busy, p.array.slack))
	}
	t.Complete = gone + p.l2Latency
}

// pendingWrite is a line of global memory that stores wrote in part and that has not left yet.
type pendingWrite struct {
	line    uint64
	since   uint64    // cycle of the first store
	used    uint64    // cycle of the last
	written [2]uint64 // bytes that stores of any warp wrote
	slot    int       // warp whose packet waits
	packet  [2]uint64 // bytes of it
}

// The table of such lines: sets of ways, found by line number.
const (
	combineSets = 32
	combineWays = 4
)

// combineWindow is how long a line waits for further stores of its warp, cycles. Size and window are fits: the NCC kernels
// of the H200 combine nearly all stores that can be (a thread's columns, up to 64 warps). The gemm8 kernels show that only
// stores of one warp combine: four warps write each of their sectors, and combining those makes them 23 to 44 % too fast,
// not combining 7 to 13 % slow.
const combineWindow = 400

// combine merges the store in the line list with earlier ones of the same warp to the same lines, and returns the link's time
// for what is new. A sector that waits takes further bytes of its warp without another packet, a line further sectors
// without another header. A byte that is written twice, or a store of another warp, ends that: the packet leaves as it is.
// Stores to a waiting line, whichever warp wrote it, are hits, as Nsight Compute counts them.
func (m *MemPath) combine(cycle uint64, slot int, t *MemTiming) (length ticks) {
	p := &m.par
	for i := 0; i < m.co.n; i++ {
		l := &m.co.lines[i]
		fresh := l.sectors
		t.L1Sectors += sectorCount(l.sectors)
		w, waits := m.waiting(l.line, cycle)
		if waits && overlap(&w.written, &l.mask) {
			waits = false
		}
		joins := waits && w.slot == slot
		if waits {
			t.L1SectorHits += sectorCount(l.sectors)
		} else {
			*w = pendingWrite{line: l.line, since: cycle}
		}
		if joins {
			fresh &^= p.sectorsOf(w.packet)
		} else {
			w.slot, w.packet = slot, [2]uint64{}
		}
		before := p.wholeSectors(&w.packet)
		for i := range w.written {
			w.written[i] |= l.mask[i]
			w.packet[i] |= l.mask[i]
		}
		l.array = m.arrayStore(l.line, fresh, before, p.wholeSectors(&w.packet))
		w.used = cycle
		if w.written == [2]uint64{^uint64(0), ^uint64(0)} {
			w.line = noLine
		}
		if fresh == 0 {
			continue
		}
		length += ticks(sectorCount(fresh)) * p.storeSectorTicks
		if int(l.bytes) < p.lineBytes && !joins {
			length += p.storeHeaderTicks
		}
		m.lookupL2(l.line, fresh, true, ticks(cycle)*ticksCycle, t)
	}
	return length
}

// overlap says whether two masks of a line share a byte.
func overlap(a, b *[2]uint64) bool { return a[0]&b[0]|a[1]&b[1] != 0 }

// waiting finds the line's entry, or the one to use for it.
func (m *MemPath) waiting(line, cycle uint64) (w *pendingWrite, waits bool) {
	set := m.pending[line%combineSets*combineWays:][:combineWays]
	w = &set[0]
	for i := range set {
		e := &set[i]
		if e.line == line {
			return e, cycle-e.since <= combineWindow
		}
		if e.used < w.used || w.line != noLine && e.line == noLine {
			w = e
		}
	}
	return w, false
}

// sectorsOf are the sectors with a byte in the mask of a line.
func (p *memParams) sectorsOf(bytes [2]uint64) (sectors uint32) {
	for s := uint(0); s<<p.sectorShift < uint(min(p.lineBytes, 128)); s++ {
		at := s << p.sectorShift
		word := bytes[at>>6] >> (at & 63)
		if p.sectorShift < 6 {
			word &= 1<<(1<<p.sectorShift) - 1
		} else if p.sectorShift > 6 {
			word |= bytes[1]
		}
		if word != 0 {
			sectors |= 1 << s
		}
	}
	return sectors
}

// noLine is no line of global memory.
const noLine = ^uint64(0)

// holdForStore keeps the sub-partition's port until the SM's store buffer has room: a store at the head of the queue
// holds up what is behind it.
func (m *MemPath) holdForStore(a MemAccess, words uint64) {
	q := &m.queues[a.SubPartition]
	q.port = max(q.port, m.store.buffer.freeFor(int(words)))
}
