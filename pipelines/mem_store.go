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

// accessStore is a store to global or local memory. Both are written through to L2. Global stores are not allocated in L1; a line that
// L1 holds is updated, so a following load still hits. Local stores are allocated in L1.
func (m *MemPath) accessStore(a MemAccess, t *MemTiming) {
	p, e := &m.par, a.Effect
	groups := m.coalesce(a)
	n := m.co.n
	local := e.Space == isa.SpaceLocal
	m.holdForStore(a, groups)
	first, last := m.enter(a, p.globalStorePort[widthIndex(e.Size)], groups*p.storePasses, 16)
	t.SourcesRead, t.SlotFree = first+p.readDelay, first
	t.Wavefronts, t.BankConflicts = max(n, int(groups)), max(n-int(groups), 0)
	t.Level = LevelL2
	t.Result = last + 1
	var length ticks
	if local {
		m.allocateLocal(last, t)
		if p.localStays {
			t.Complete = last + 1
			return
		}
		length = m.combine(&a, true, &MemTiming{})
	} else {
		m.co.byteMasks(e.Addr, e.Exec, uint64(max(e.Size, 1)), p.lineShift)
		length = m.combine(&a, false, t)
	}
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

// allocateLocal puts the lines of a local store into L1. A sector that is written in part and was not there stays absent: the rest of it
// is in L2 only. (Nsight Compute on the H200: the first stores to local memory miss and bring nothing in, all loads behind them hit, and L2
// gets every sector that a store writes.)
func (m *MemPath) allocateLocal(last uint64, t *MemTiming) {
	for i := 0; i < m.co.n; i++ {
		l := &m.co.lines[i]
		t.L1Sectors += sectorCount(l.sectors)
		hit, victim := m.l1.find(l.line)
		if hit == nil {
			if victim == nil {
				continue
			}
			m.l1.replace(victim, l.line)
			hit = victim
		}
		t.L1SectorHits += sectorCount(l.sectors & hit.sectors)
		hit.sectors |= m.par.wholeSectors(&l.mask)
		hit.ready = max(hit.ready, last)
	}
}

// pendingWrite is a line that waits in the SM for its turn on the link, and what is known of the writes to it before.
type pendingWrite struct {
	line    uint64
	order   uint64    // lines that entered before it
	until   uint64    // cycle until which its packet waits
	store   uint64    // that it entered with, and
	among   int       // the lines of that
	touched uint64    // lines that all warps stored to before the last store to it, and
	lines   uint64    // those that the warps of its sub-partition did
	since   uint64    // cycle of the first store
	parts   parts     // of it that were written lately
	charged bool      // L2's time for that is booked for the present packet
	slot    int       // warp whose packet waits
	packet  [2]uint64 // bytes of it
}

// The table of such lines: sets of ways, found by line number.
const (
	combineSets = 256
	combineWays = 4
)

// What a store waits for further stores of its warp to the same lines: combineWait cycles at least, longer while the link is busy with what
// is before it, until combineLines other lines have entered. On the H200 four stores of a warp to the words of the same sectors leave as one
// packet when 11 cycles lie between them (19 of 64 sectors sent) and as four when it is 70; with a second array written in between, all
// combine from two warps, half from four, none from 16.
// Both numbers are fits to that. Stores to global memory combine if all their lines are the same, those to local memory line by line: two warps that
// store to 16 lines, one further each time, combine in part, to 8 wholly, four warps that store to 16 not at all.
const (
	combineWait  = 40
	combineLines = 24
)

// Windows in cycles: storesHit is how long stores to a line count as hits, partialWindow how long sectors that a warp wrote in part count as begun (a
// fit: some launches of gemm8's kernels, four of whose warps write each sector, are 10 % slow with 128).
const (
	storesHit     = 400
	partialWindow = 512
)

// combine merges the store in the line list with an earlier one of the same warp to the same lines, and returns the link's time
// for what is new. A sector that waits takes further bytes of its warp without another packet, a line further sectors
// without another header, which carries the byte mask of sectors written in part. A store of another warp ends that: the packet leaves
// as it is. (The gemm8 kernels, four of whose warps write each sector, come out 23 to 44 % too fast otherwise.)
// Stores to a waiting line, whichever warp wrote it, are hits, as Nsight Compute counts them.
func (m *MemPath) combine(a *MemAccess, local bool, t *MemTiming) (length ticks) {
	p, q, cycle, slot := &m.par, &m.queues[a.SubPartition], a.Cycle, a.Slot
	joins := !p.storesApart && !local && m.joins(cycle, slot)
	among := m.storing(cycle)
	m.stores++
	for i := 0; i < m.co.n; i++ {
		l := &m.co.lines[i]
		fresh := l.sectors
		t.L1Sectors += sectorCount(l.sectors)
		w := m.waiting(l.line)
		if local {
			joins = !p.storesApart && w.waits(l.line, slot, cycle, max(m.touched-w.touched, (q.lines-w.lines)*among))
		}
		if w.line == l.line && cycle <= w.since+storesHit {
			t.L1SectorHits += sectorCount(l.sectors)
		} else {
			before := *w
			*w = pendingWrite{line: l.line, since: cycle}
			if before.line == l.line {
				w.parts = before.parts
			}
		}
		if joins {
			fresh &^= p.sectorsOf(w.packet)
		} else {
			w.slot, w.packet, w.charged, w.order, w.store, w.among = slot, [2]uint64{}, false, m.storeOrder, m.stores, m.co.n
			w.until = max(cycle+combineWait, m.store.free.cycle())
			m.storeOrder++
		}
		w.touched, w.lines = m.touched, q.lines
		m.touched++
		q.lines++
		for i := range w.packet {
			w.packet[i] |= l.mask[i]
		}
		part := p.sectorsOf(w.packet) &^ p.wholeSectors(&w.packet)
		l.array = m.arrayStore(w, cycle, sectorCount(fresh), slot, part)
		if fresh == 0 {
			continue
		}
		length += ticks(sectorCount(fresh)) * p.storeSectorTicks
		if fresh&part != 0 && !joins {
			length += p.storeHeaderTicks
		}
		m.lookupL2(l.line, fresh, true, ticks(cycle)*ticksCycle, t)
	}
	return length
}

// joins says whether the lines of a store are those of one that the same warp made before and that still waits.
func (m *MemPath) joins(cycle uint64, slot int) bool {
	store := uint64(0)
	for i := 0; i < m.co.n; i++ {
		w := m.waiting(m.co.lines[i].line)
		if w.line != m.co.lines[i].line || w.slot != slot || cycle > w.until || cycle > w.since+storesHit || m.storeOrder-w.order > combineLines ||
			w.among != m.co.n || i > 0 && w.store != store {
			return false
		}
		store = w.store
	}
	return true
}

// waits says whether the entry is a packet of the warp for the line that has not left, after that many stores to lines.
func (w *pendingWrite) waits(line uint64, slot int, cycle, lines uint64) bool {
	return w.line == line && w.slot == slot && cycle <= w.until && cycle <= w.since+storesHit && lines <= combineLines
}

// storing is the number of sub-partitions whose stores take turns at the cycle.
func (m *MemPath) storing(cycle uint64) (n uint64) {
	for i := range m.queues {
		if m.queues[i].lg.newest() >= cycle {
			n++
		}
	}
	return max(n, 1)
}

// waiting finds the line's entry, or the one to use for it.
func (m *MemPath) waiting(line uint64) (w *pendingWrite) {
	set := m.pending[hashLine(line)>>40%combineSets*combineWays:][:combineWays]
	w = &set[0]
	for i := range set {
		e := &set[i]
		if e.line == line {
			return e
		}
		if e.order < w.order || w.line != noLine && e.line == noLine {
			w = e
		}
	}
	return w
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
