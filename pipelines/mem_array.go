package pipelines

import "github.com/sarchlab/smsim/configs"

// arrayParams are the times of L2's data array in this SM's share, with all SMs active. A slice writes one sector in one of its cycles,
// whether a store brings it or DRAM: 96 slices of 32 bytes at 1.68 GHz are 20 bytes a cycle for each of the H200's 132 SMs. So a
// cold launch that moves 52 MB takes as long if it writes a third, a half or two thirds of them, and stores alone run at 20 bytes.
// The zero value does nothing.
type arrayParams struct {
	write     ticks // one sector that a store writes whole or DRAM brings
	partial   ticks // more, for a packet that leaves bytes of a sector unwritten
	read      ticks // one sector that a read finds
	slack     ticks // for which stores wait outside the SM
	drain     ticks // of that, what the end of a warp does not wait for
	reduction ticks // one sector of a reduction; 0: reductions take no time of the array
	queues    int
}

func newArrayParams(mem *configs.Memory, sectorBytes uint64) (a arrayParams) {
	a.write = ticksFor(float64(sectorBytes), mem.L2ArrayBytesAll)
	a.slack = ticks(mem.L2StoreQueue) * a.write
	a.drain = ticks(mem.L2DrainQueue) * a.write
	a.queues = orInt(mem.L2ArrayQueues, 1)
	a.write *= ticks(a.queues) // a queue is slower by their number
	a.reduction = ticksFor(mem.ReductionSectorAll, 1) * ticks(a.queues)
	a.partial = ticks(float64(a.write) * mem.L2PartialWrite)
	a.read = ticks(float64(a.write) * mem.L2ArrayRead)
	return a
}

// arrayQueue is the queue of the slice that holds a line. Requests meet those of other SMs at their slice, so they wait long before
// all slices are busy.
func (m *MemPath) arrayQueue(line uint64) *ticks {
	return &m.far.array[slice(line, len(m.far.array))]
}

// slice is the queue that serves a line, of the n that this SM's share of L2's slices acts as.
func slice(line uint64, n int) int { return int(hashLine(line) >> 13 % uint64(n)) }

// arrayRead books the array for sectors of a line that a read finds and for those that DRAM brings. It returns how long the array was
// still busy: DRAM's data waits for that.
func (m *MemPath) arrayRead(line uint64, hits, fills int, now ticks) (wait ticks) {
	a, q := &m.par.array, m.arrayQueue(line)
	if *q > now {
		wait = *q - now
	}
	m.bookArray(q, now, ticks(hits)*a.read+ticks(fills)*a.write)
	return wait
}

// bookArray takes length of a queue's time, from the given time on.
func (m *MemPath) bookArray(q *ticks, at, length ticks) {
	*q = max(*q, at) + length
	m.far.arrayAll = max(m.far.arrayAll, at) + length/ticks(len(m.far.array))
}

// bookEvenly takes length of one queue's time from all of them together.
func (m *MemPath) bookEvenly(at, length ticks) {
	length /= ticks(len(m.far.array))
	for i := range m.far.array {
		m.far.array[i] = max(m.far.array[i], at) + length
	}
	m.far.arrayAll = max(m.far.arrayAll, at) + length
}

// arrayWrite books the array for the lines of a store that arrives at the given time and returns when they are written. Stores that
// wait for one slice do not hold up those for others.
func (m *MemPath) arrayWrite(at ticks) (written ticks) {
	written = at
	for i := 0; i < m.co.n; i++ {
		if l := &m.co.lines[i]; l.array > 0 {
			q := m.arrayQueue(l.line)
			m.bookArray(q, at, l.array)
			written = max(written, *q)
		}
	}
	return written
}

// arrayStore is the array's time for the fresh sectors of a store to a line. A packet that leaves bytes of a sector unwritten takes longer; one that
// becomes whole while it waits gives that back.
func (m *MemPath) arrayStore(w *pendingWrite, fresh int, part uint32) (length ticks) {
	a := &m.par.array
	switch {
	case a.write == 0:
		return 0
	case part == 0 && w.charged:
		w.charged = false
		q := m.arrayQueue(w.line)
		*q -= min(*q, a.partial)
	case part != 0 && !w.charged:
		w.charged = true
		length = a.partial
	}
	return length + ticks(fresh)*a.write
}

// wholeSectors are the sectors of a line whose bytes are all in the mask.
func (p *memParams) wholeSectors(bytes *[2]uint64) (sectors uint32) {
	for s := uint(0); s<<p.sectorShift < uint(min(p.lineBytes, 128)); s++ {
		at := s << p.sectorShift
		word := ^bytes[at>>6] >> (at & 63)
		if p.sectorShift < 6 {
			word &= 1<<(1<<p.sectorShift) - 1
		} else if p.sectorShift > 6 {
			word |= ^bytes[1]
		}
		if word == 0 {
			sectors |= 1 << s
		}
	}
	return sectors
}
