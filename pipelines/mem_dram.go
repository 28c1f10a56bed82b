package pipelines

// dramAtoms widens a mask of a line's sectors to what DRAM brings for them.
func (p *memParams) dramAtoms(sectors uint32) uint32 {
	for n := uint32(1); n < p.atomSectors; n *= 2 {
		odd := uint32(0xaaaaaaaa)
		if n == 2 {
			odd = 0xcccccccc
		}
		sectors |= sectors&odd>>n | sectors&^odd<<n
	}
	return sectors & p.fullL2Line
}

// dramQueue is the queue of DRAM that serves a line. With all SMs at work a request meets those of the others at its channel and
// bank, so its latency grows long before the bandwidth is used up. To one SM its share looks like a few queues, each slower by
// their number, and lines fall on them at random.
func (m *MemPath) dramQueue(line uint64) *ticks {
	return &m.far.dramFree[m.dramIndex(line)]
}

func (m *MemPath) dramIndex(line uint64) int {
	return int(hashLine(line) >> 33 % uint64(len(m.far.dramFree)))
}

// bookDRAM takes the time of some sectors in the queue of a line and returns when they are first served.
func (m *MemPath) bookDRAM(line uint64, sectors int, now ticks) (start ticks) {
	q, time := m.dramQueue(line), ticks(sectors)*m.par.dramQueueTicks
	start = max(now, *q)
	*q = start + time
	m.far.dramAll = max(m.far.dramAll, now) + time/ticks(len(m.far.dramFree))
	return start
}

// fromDRAM books DRAM for sectors of a line and returns when the last one arrives at the SM.
func (m *MemPath) fromDRAM(line uint64, sectors int, now ticks) ticks {
	p := &m.par
	start := m.bookDRAM(line, sectors, now)
	m.openRow(line, sectors, start, start > now)
	return start + ticks(sectors-1)*p.dramSectorTicks + ticks(p.dramLatency+jitter(line, p.dramJitter))*ticksCycle
}

// openRow books what a request of no more than DRAM brings at a time takes longer, unless the rest of the line is asked for at about the same
// time: then DRAM finds its row open, and what the first of the two has paid is given back. Measured on the H200, all SMs, 48 warps: threads that read 64 bytes each get 15.5 bytes a
// cycle if they are neighbours in memory, 11.8 if they are 128 bytes apart, 9.8 if 1 KB, whether the other half of a line is read later or never.
func (m *MemPath) openRow(line uint64, sectors int, start ticks, waited bool) {
	p := &m.par
	if p.dramLoneTicks == 0 || m.entry == nil {
		return
	}
	before := m.entry.asked
	m.entry.asked = start
	if sectors > int(p.atomSectors) {
		return
	}
	q := m.dramQueue(line)
	if before > 0 && start <= before+p.dramOpenTicks {
		if waited {
			*q = max(*q-min(*q, p.dramLoneTicks), start)
		}
		return
	}
	*q += p.dramLoneTicks
}

// writeBack books DRAM for dirty sectors that L2 throws out. A queue of DRAM collects them and writes some at a time, because it costs to
// turn from reads to writes. Nobody waits for them, but what is behind them does.
func (m *MemPath) writeBack(line uint64, sectors int, now ticks, t *MemTiming) {
	t.DRAMBytes += sectors * int(m.par.sectorBytes)
	w := &m.far.toWrite[m.dramIndex(line)]
	if *w += sectors; *w >= m.par.dramWrites {
		m.bookDRAM(line, *w, now)
		*w = 0
	}
}

// evictDirty is for written sectors that leave L2, unless they have been written back before.
func (m *MemPath) evictDirty(line uint64, sectors int, now ticks, t *MemTiming) {
	m.dirty -= sectors
	early := min(sectors, m.clean)
	m.clean -= early
	if sectors > early {
		m.writeBack(line, sectors-early, now, t)
	}
}

// makeDirty notes sectors that become dirty. L2 holds a limited number of them; beyond it, as many others are written back. (A launch
// on the whole H200 that only writes leaves 29.5 MB of its data in L2, whatever it writes; the rest goes to DRAM while it runs.)
func (m *MemPath) makeDirty(line uint64, sectors int, now ticks, t *MemTiming) {
	m.dirty += sectors
	if limit := m.par.dirtySectors; limit > 0 && m.dirty-m.clean > limit {
		out := m.dirty - m.clean - limit
		m.clean += out
		m.writeBack(line, out, now, t)
	}
}

// evictOld is for sectors of a line that take the place of what the last launch left in L2. As large a part of that was
// written, and has to go to DRAM first, as this launch writes, but never more than L2 holds of it.
func (m *MemPath) evictOld(line uint64, sectors int, now ticks, t *MemTiming) {
	if m.stored == 0 {
		return
	}
	m.oldDirty += uint64(sectors) * m.stored
	if out := m.oldDirty / m.moved; out > 0 && (m.par.dirtySectors == 0 || m.oldOut < m.par.dirtySectors) {
		m.oldOut += int(out)
		m.oldDirty -= out * m.moved
		m.writeBack(line, int(out), now, t)
	}
}
