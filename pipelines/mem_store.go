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
	length := m.combine(a.Slot, t)
	t.Level = LevelL2
	t.Result = last + 1
	if length == 0 { // went along with the store before
		t.Complete = max(last, m.store.free.cycle()) + p.l2Latency
		return
	}
	t.Complete = m.send(last, groups, length) + p.l2Latency
}

// writtenLines are the lines that a warp's last store to global memory wrote in part.
type writtenLines struct {
	n     int
	lines [32]lineReq
}

// combine merges the store in the line list with the warp's store before it and returns the link's time for what is new.
// Sectors that the store before has written take no second packet: it waits long enough for neighbouring words, as the
// kernels show that store the columns of a thread one after the other. Such lines count as hits.
func (m *MemPath) combine(slot int, t *MemTiming) (length ticks) {
	p := &m.par
	for slot >= len(m.written) {
		m.written = append(m.written, writtenLines{})
	}
	w := &m.written[slot]
	n := min(m.co.n, len(w.lines))
	for i := 0; i < m.co.n; i++ {
		l := &m.co.lines[i]
		fresh := l.sectors
		t.L1Sectors += sectorCount(l.sectors)
		if i < w.n && w.lines[i].line == l.line {
			t.L1SectorHits += sectorCount(l.sectors)
			fresh &^= w.lines[i].sectors
			if fresh == 0 {
				l.sectors |= w.lines[i].sectors
				l.bytes += w.lines[i].bytes
				m.note(w, i, l)
				continue
			}
		}
		length += ticks(sectorCount(fresh)) * p.storeSectorTicks
		if int(l.bytes) < p.lineBytes {
			length += p.storeHeaderTicks
		}
		m.lookupL2(l.line, fresh, true, t)
		m.note(w, i, l)
	}
	w.n = n
	return length
}

// note remembers a line as written in part. A line written whole has left: a further store to it is a new one.
func (m *MemPath) note(w *writtenLines, i int, l *lineReq) {
	if i >= len(w.lines) {
		return
	}
	w.lines[i] = *l
	if int(l.bytes) >= sectorCount(l.sectors)*int(m.par.sectorBytes) {
		w.lines[i].sectors = 0
		if l.sectors == m.par.fullLine {
			w.lines[i].line = noLine
		}
	}
}

// noLine is no line of global memory.
const noLine = ^uint64(0)

// holdForStore keeps the sub-partition's port until the SM's store buffer has room: a store at the head of the queue
// holds up what is behind it.
func (m *MemPath) holdForStore(a MemAccess, words uint64) {
	q := &m.queues[a.SubPartition]
	q.port = max(q.port, m.store.buffer.freeFor(int(words)))
}
