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

// left is when the end of a warp no longer waits for the stores so far: the SM has sent them and L2's data array, with all SMs active, has taken all but l2_drain_queue sectors.
// Without a data array in the description nothing waits.
func (m *MemPath) left() uint64 {
	a := &m.par.array
	if a.write == 0 {
		return 0
	}
	return max(m.store.free, m.slicesBusy()-min(m.slicesBusy(), a.drain)).cycle()
}

// accessStore is a store to global or local memory. Both are written through to L2. Global stores are not allocated in L1; a line that
// L1 holds is updated, so a following load still hits. Local stores are allocated in L1.
func (m *MemPath) accessStore(a MemAccess, t *MemTiming) {
	p, e := &m.par, a.Effect
	groups := m.coalesce(a)
	n := m.co.n
	local := e.Space == isa.SpaceLocal
	m.holdForStore(a)
	first, last := m.enter(a, p.globalStorePort[widthIndex(e.Size)], groups*p.storePasses, 16)
	t.SourcesRead, t.SlotFree = m.stage(a, first, groups)+p.readDelay, first
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
		t.Left = m.left()
		t.Complete = max(last, m.store.free.cycle()) + p.l2Latency
		return
	}
	gone := m.send(last, groups, length)
	if p.array.write > 0 {
		// With all SMs active the store waits for L2's data array, a part of that time outside the SM.
		gone = m.arrayWrite(m.store.free).cycle()
		busy := max(m.slicesBusy(), m.far.dramAll) // written data that has to leave L2 holds up what comes
		m.store.free = max(m.store.free, busy-min(busy, p.array.slack))
	}
	t.Left = m.left()
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
	entered uint64    // room that packets had taken when it entered,
	touched uint64    // that stores had taken when it was last written to, those that joined others too, and
	own     uint64    // those of the sub-partition that wrote to it last
	until   uint64    // cycle until which its packet waits
	since   uint64    // cycle of the first store
	charged bool      // L2's time for sectors that it leaves unwritten in part is booked
	packet  [2]uint64 // bytes of it
}

// The table of such lines: sets of ways, found by line number.
const (
	combineSets = 256
	combineWays = 4
)

// combine merges the stores of the line list with earlier ones to the same lines that wait in the SM, whichever warp made them, and returns the
// link's time for what is new. A line waits for combineCycles after the last store to it, longer while the link is busy with what is before it, until
// lines that entered after it have taken the buffer's room, combineLines; a store of less than a word a lane takes twice the room. A sector that waits takes further bytes without
// another packet, a line further sectors without another header, which carries the byte mask of sectors written in part.
//
// Measured on the H200 with stores of bytes and words at lane strides of 16 to 128 bytes, one to 32 warps an SM: back to back, 16 stores of bytes of one warp to 4 or 8 lines leave as one
// packet, to 16 lines as 16; 8 stores of words to 16 lines as one, to 32 as 8. Two warps that write alternate bytes of the same 8 lines share their packets, of 16 lines do not; up to 16 warps that
// write parts of the same sectors of 8 or 16 lines share all of them, of 32 lines none (combineRows in mem_combine_test.go). With 200 cycles between a warp's stores nothing combines.
// Stores to waiting lines are hits, as Nsight Compute counts them.
func (m *MemPath) combine(a *MemAccess, local bool, t *MemTiming) (length ticks) {
	p, q, cycle := &m.par, &m.queues[a.SubPartition], a.Cycle
	among := m.storing(cycle)
	room := uint64(1)
	if a.Effect.Size < 4 {
		room = 2
	}
	for i := 0; i < m.co.n; i++ {
		l := &m.co.lines[i]
		fresh := l.sectors
		t.L1Sectors += sectorCount(l.sectors)
		w := m.waiting(l.line)
		distance := m.entered - w.entered
		if local {
			distance = max(m.touched-w.touched, (q.touched-w.own)*among)
		}
		joins := !p.storesApart && w.line == l.line && cycle <= w.until && distance <= p.combineLines
		if w.line == l.line && cycle <= w.since+p.storeHits {
			t.L1SectorHits += sectorCount(l.sectors)
		} else {
			*w = pendingWrite{line: l.line, since: cycle}
			joins = false
		}
		if joins {
			fresh &^= p.sectorsOf(w.packet)
		} else {
			w.packet, w.charged, w.entered = [2]uint64{}, false, m.entered
			m.entered += room
		}
		w.touched, w.own = m.touched, q.touched
		m.touched += room
		q.touched += room
		w.until = max(cycle+p.combineCycles, m.store.free.cycle())
		for i := range w.packet {
			w.packet[i] |= l.mask[i]
		}
		part := p.sectorsOf(w.packet) &^ p.wholeSectors(&w.packet)
		l.array, l.partial = m.arrayStore(w, sectorCount(fresh), part)
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
		if e.entered < w.entered || w.line != noLine && e.line == noLine {
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

// holdForStore keeps the sub-partition's port until there is room behind it: a store at the head of the queue holds up what is
// behind it.
func (m *MemPath) holdForStore(a MemAccess) {
	q := &m.queues[a.SubPartition]
	q.port = max(q.port, q.staged.freeAt())
}

// stage notes a store that has passed the port at the given cycle and returns when the SM's store buffer has room for its words a lane: until
// then it waits behind the port and its registers are not read.
func (m *MemPath) stage(a MemAccess, at, words uint64) (entered uint64) {
	entered = max(at, m.store.buffer.freeFor(int(words)))
	m.queues[a.SubPartition].staged.push(entered)
	return entered
}
