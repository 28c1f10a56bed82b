package pipelines

import "github.com/sarchlab/smsim/sim"

// Shared is a unit that all sub-partitions of an SM feed: one pass a cycle. Bookings may come out of order, because a
// sub-partition with a backlog books ahead of one without, so gaps are used by whoever can.
type Shared struct {
	sim.Unit
	cycles calendar
}

// NewShared is an idle unit.
func NewShared(name string) *Shared {
	u := &Shared{cycles: newCalendar()}
	u.InitUnit(name)
	return u
}

// Take books passes cycles from the first free one at or after the given cycle, and returns the first and the last.
func (u *Shared) Take(cycle uint64, passes int) (first, last uint64) {
	return u.cycles.take(cycle, uint64(passes), 16)
}

// Through takes an instruction that touches no memory (shuffle, match, special register, constant load) through
// its sub-partition's memory-instruction queue, whose port it holds for port cycles, and the unit behind it for
// passes cycles; unit nil is the load/store unit. It returns the cycle of the first pass, for
// the load/store unit less the cycles of its way there: the cycle at which an uncontended instruction issues. The caller has asked Blocked.
func (m *MemPath) Through(cycle uint64, subPartition int, port int, unit *Shared, passes int) (first uint64) {
	a := MemAccess{Cycle: cycle, SubPartition: subPartition}
	if unit == nil {
		first, _ = m.enterUnit(a, uint64(port), uint64(passes), 16)
		return first - m.par.entry
	}
	q := &m.queues[subPartition]
	first, last := unit.Take(max(cycle, q.port), passes)
	q.port = max(first+uint64(port), last+1)
	q.push(false, first)
	return first
}

// ThroughPipe takes an instruction through its sub-partition's memory-instruction queue into a pipe of the sub-partition
// (the transcendental unit), which it holds for hold cycles. Whatever follows in the queue waits until the pipe has
// taken it. It returns the cycle at which the pipe starts.
func (m *MemPath) ThroughPipe(cycle uint64, subPartition int, port int, pipe *Pipe, hold int) (start uint64) {
	q := &m.queues[subPartition]
	start = pipe.Take(max(cycle, q.port), hold)
	q.port = start + uint64(port)
	q.push(false, start)
	return start
}

// UnitQueue is a sub-partition's own queue in front of a unit of the SM, beside the queue of memory instructions: what waits
// in one does not hold up the other. Entries leave in order.
//
// Measured on the H200 (sm/testdata/h200_turns.csv): LDC and S2R from 32 warps take 1.0 cycles each an SM when they alternate, 2.0 alone, LDC
// beside LDS 1.0, S2R beside LDS 1.5; one warp issues four LDC in a row, 24 S2R.
type UnitQueue struct {
	unit    *Shared
	entries leaveRing
	port    uint64 // next cycle at which an entry can be handed over
}

// NewUnitQueue is an empty queue of so many places.
func NewUnitQueue(unit *Shared, places int) *UnitQueue {
	return &UnitQueue{unit: unit, entries: newLeaveRing(places)}
}

// TakeSpaced is Take for an instruction that comes back for each of its passes: the next is due spacing cycles after the one before, and what
// stands behind it in the queue uses the unit in between. It returns the first cycles of the first and the last pass.
func (q *UnitQueue) TakeSpaced(cycle uint64, port, passes, length, spacing int) (first, last uint64) {
	first, _ = q.unit.Take(max(cycle, q.port), length)
	last = first
	for range passes - 1 {
		last, _ = q.unit.Take(last+uint64(spacing), length)
	}
	q.port = first + uint64(max(port, length))
	q.entries.push(first)
	return first, last
}

// IssueAt is the first cycle at which an instruction for the unit can issue.
func (q *UnitQueue) IssueAt() uint64 { return q.entries.freeAt() }

// Take books the port and passes cycles of the unit for an instruction that issues at the cycle, and returns the first of them.
func (q *UnitQueue) Take(cycle uint64, port, passes int) (first uint64) {
	first, last := q.unit.Take(max(cycle, q.port), passes)
	q.port = max(first+uint64(port), last+1)
	q.entries.push(first)
	return first
}
