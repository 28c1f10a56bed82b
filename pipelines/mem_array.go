package pipelines

import "github.com/sarchlab/smsim/configs"

// arrayParams are the times of L2's data array in this SM's share, with all SMs active. A slice writes one sector in one of its cycles,
// whether a store brings it or DRAM: 96 slices of 32 bytes at 1.68 GHz are 20 bytes a cycle for each of the H200's 132 SMs. So a
// cold launch that moves 52 MB takes as long if it writes a third, a half or two thirds of them, and stores alone run at 20 bytes.
// Requests pass the slice's input on their way to the array, what DRAM brings does not, and only there a packet in part takes longer: stores
// at an odd word take 3.3 to 3.6 cycles more each where nothing comes from DRAM, 1.4 to 1.9, as much as the sector more, where it does.
// The zero value does nothing.
type arrayParams struct {
	write     ticks // one sector that a store writes whole or DRAM brings
	partial   ticks // more at the input, for a packet that leaves bytes of a sector unwritten
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

// sliceQueues are the queues that this SM's share of L2's slices acts as, at one place in them. Requests meet those of other SMs at their
// slice, so they wait long before all slices are busy.
type sliceQueues struct {
	free []ticks // next free time of each
	all  ticks   // and of all together, if they shared their work
}

func newSliceQueues(n int) sliceQueues { return sliceQueues{free: make([]ticks, max(n, 1))} }

// wait is how long queue k is busy yet.
func (s *sliceQueues) wait(k int, now ticks) ticks { return max(s.free[k], now) - now }

// book takes length of queue k's time, from the given time on, and returns its end.
func (s *sliceQueues) book(k int, at, length ticks) (done ticks) {
	q := &s.free[k]
	*q = max(*q, at) + length
	s.all = max(s.all, at) + length/ticks(len(s.free))
	return *q
}

// bookEvenly takes length of one slice's time from all of them together.
func (s *sliceQueues) bookEvenly(at, length ticks) {
	length /= ticks(len(s.free))
	for i := range s.free {
		s.free[i] = max(s.free[i], at) + length
	}
	s.all = max(s.all, at) + length
}

// slice is the queue that serves a line, of the n that this SM's share of L2's slices acts as.
func slice(line uint64, n int) int { return int(hashLine(line) >> 13 % uint64(n)) }

// arrayQueue is the queue of the slice that holds a line, in the array and at its input.
func (m *MemPath) arrayQueue(line uint64) int { return slice(line, len(m.far.array.free)) }

// arrayRead books sectors of a line that a read finds and those that DRAM brings. It returns how long DRAM's data waits for the array and
// how long what is found waits for its turn, behind the requests before it.
func (m *MemPath) arrayRead(line uint64, hits, fills int, now ticks) (fill, hit ticks) {
	a, f := &m.par.array, &m.far
	if a.write == 0 && a.reduction == 0 {
		return 0, 0
	}
	k := m.arrayQueue(line)
	fill = f.array.wait(k, now)
	hit = max(fill, f.input.wait(k, now))
	f.array.book(k, now, ticks(hits)*a.read+ticks(fills)*a.write)
	f.input.book(k, now, ticks(hits)*a.read)
	return fill, hit
}

// arrayWrite books the lines of a store that arrives at the given time and returns when they are written. Stores that wait for one slice do
// not hold up those for others.
func (m *MemPath) arrayWrite(at ticks) (written ticks) {
	written = at
	for i := 0; i < m.co.n; i++ {
		if l := &m.co.lines[i]; l.array+l.partial > 0 {
			k := m.arrayQueue(l.line)
			written = max(written, m.far.array.book(k, at, l.array), m.far.input.book(k, at, l.array+l.partial))
		}
	}
	return written
}

// slicesBusy is until when all slices together have work.
func (m *MemPath) slicesBusy() ticks { return max(m.far.array.all, m.far.input.all) }

// arrayStore is the array's time for the fresh sectors of a store to a line and what the slice's input takes beyond it. A packet that leaves
// bytes of a sector unwritten takes longer there; one that becomes whole while it waits gives that back.
func (m *MemPath) arrayStore(w *pendingWrite, fresh int, part uint32) (length, partial ticks) {
	a := &m.par.array
	switch {
	case a.write == 0:
		return 0, 0
	case part == 0 && w.charged:
		w.charged = false
		q := &m.far.input.free[m.arrayQueue(w.line)]
		*q -= min(*q, a.partial)
	case part != 0 && !w.charged:
		w.charged = true
		partial = a.partial
	}
	return ticks(fresh) * a.write, partial
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
