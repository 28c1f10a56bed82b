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

// writtenStores are the lines that a warp's last stores to global memory wrote in part.
type writtenStores struct {
	next  int // the oldest store
	lines [combineDepth][32]lineReq
}

// combineDepth is the number of stores that a later one can join.
const combineDepth = 4

// combine merges the store in the line list with the warp's stores before it and returns the link's time for what is new.
// Sectors that one of them has written in part take no second packet: it waits long enough for neighbouring words, as the
// kernels show that store the columns of a thread one after the other. Such lines count as hits.
func (m *MemPath) combine(slot int, t *MemTiming) (length ticks) {
	p := &m.par
	for slot >= len(m.written) {
		m.written = append(m.written, writtenStores{})
	}
	w := &m.written[slot]
	mine := &w.lines[w.next]
	w.next = (w.next + 1) % combineDepth
	for i := 0; i < m.co.n; i++ {
		l := &m.co.lines[i]
		fresh := l.sectors
		t.L1Sectors += sectorCount(l.sectors)
		if i < len(mine) {
			for d := range w.lines {
				if old := &w.lines[d][i]; old.line == l.line && old.bytes > 0 {
					t.L1SectorHits += sectorCount(l.sectors)
					if int(old.bytes) < sectorCount(old.sectors)*int(p.sectorBytes) {
						fresh &^= old.sectors // whole sectors have left
					}
					l.bytes += old.bytes
					l.sectors |= old.sectors
					old.bytes = 0
					break
				}
			}
			mine[i] = *l
			if int(l.bytes) >= p.lineBytes { // written whole: a further store is a new one
				mine[i].bytes = 0
			}
		}
		if fresh == 0 {
			continue
		}
		length += ticks(sectorCount(fresh)) * p.storeSectorTicks
		if int(l.bytes) < p.lineBytes {
			length += p.storeHeaderTicks
		}
		m.lookupL2(l.line, fresh, true, t)
	}
	if m.co.n < len(mine) {
		clear(mine[m.co.n:])
	}
	return length
}

// holdForStore keeps the sub-partition's port until the SM's store buffer has room: a store at the head of the queue
// holds up what is behind it.
func (m *MemPath) holdForStore(a MemAccess, words uint64) {
	q := &m.queues[a.SubPartition]
	q.port = max(q.port, m.store.buffer.freeFor(int(words)))
}
