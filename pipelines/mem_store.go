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
	var length ticks
	for i := 0; i < n; i++ {
		l := &m.co.lines[i]
		c := sectorCount(l.sectors)
		t.L1Sectors += c
		length += ticks(c) * p.storeSectorTicks
		if int(l.bytes) < p.lineBytes {
			length += p.storeHeaderTicks
		}
		m.lookupL2(l.line, l.sectors, true, t)
	}
	t.Level = LevelL2
	t.Result = last + 1
	t.Complete = m.send(last, groups, length) + p.l2Latency
}

// holdForStore keeps the sub-partition's port until the SM's store buffer has room: a store at the head of the queue
// holds up what is behind it.
func (m *MemPath) holdForStore(a MemAccess, words uint64) {
	q := &m.queues[a.SubPartition]
	q.port = max(q.port, m.store.buffer.freeFor(int(words)))
}
