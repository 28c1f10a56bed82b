package pipelines

import (
	"math/bits"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
)

// memQueue is the queue of memory instructions in front of the load/store unit, one a sub-partition.
// Entries leave in order. It holds only the cycles at which its entries leave.
type memQueue struct {
	all, lg leaveRing
	port    uint64 // next cycle at which the sub-partition can hand an instruction over

	touched uint64 // room that its stores have taken in the store buffer so far

	staged   leaveRing // stores and atomics behind the port that wait for the SM's store buffer
	behind   leaveRing // shared-memory atomics between the port and the banks
	unitFree uint64    // cycle after the last pass of the newest of them
}

func newMemQueue(depth, lgDepth, behind, staged int) memQueue {
	return memQueue{staged: newLeaveRing(staged), behind: newLeaveRing(behind), all: newLeaveRing(depth), lg: newLeaveRing(lgDepth)}
}

// push notes an entry that leaves at the given cycle.
func (q *memQueue) push(lg bool, leave uint64) {
	q.all.push(leave)
	if lg {
		q.lg.push(leave)
	}
}

// leaveRing holds the leave cycles of the newest entries, at most its depth.
type leaveRing struct {
	leave []uint64
	next  int
}

func newLeaveRing(depth int) leaveRing { return leaveRing{leave: make([]uint64, depth)} }

func (r *leaveRing) push(leave uint64) {
	r.leave[r.next] = leave
	r.next++
	if r.next == len(r.leave) {
		r.next = 0
	}
}

// newest is the cycle at which the newest entry leaves.
func (r *leaveRing) newest() uint64 {
	if r.next == 0 {
		return r.leave[len(r.leave)-1]
	}
	return r.leave[r.next-1]
}

// freeAt is the first cycle at which a new entry fits: when the entry depth places back has left.
func (r *leaveRing) freeAt() uint64 { return r.leave[r.next] }

// freeFor is the first cycle at which n new entries fit, n at most the depth.
func (r *leaveRing) freeFor(n int) uint64 {
	i := r.next + min(n, len(r.leave)) - 1
	if i >= len(r.leave) {
		i -= len(r.leave)
	}
	return r.leave[i]
}

// Blocked says whether an instruction of the class cannot issue at the cycle because its queue is full,
// which warp state that is, and the first cycle at which it can.
func (m *MemPath) Blocked(cycle uint64, subPartition int, class isa.Class) (state sim.WarpState, until uint64, blocked bool) {
	q := &m.queues[subPartition]
	if isLocalGlobal(class) {
		if u := q.lg.freeAt(); u > cycle {
			if class == isa.ClassTEX {
				return sim.TexThrottle, u, true
			}
			return sim.LGThrottle, u, true
		}
	}
	if u := q.all.freeAt(); u > cycle {
		return sim.MIOThrottle, u, true
	}
	return sim.Selected, cycle, false
}

// NextEvent is the first cycle after the given one at which a full queue gets room, if there is one.
func (m *MemPath) NextEvent(cycle uint64) (at uint64, ok bool) {
	for i := range m.queues {
		q := &m.queues[i]
		for _, u := range [2]uint64{q.all.freeAt(), q.lg.freeAt()} {
			if u > cycle && (!ok || u < at) {
				at, ok = u, true
			}
		}
	}
	return at, ok
}

// isLocalGlobal says whether the class waits in the local/global queue.
func isLocalGlobal(c isa.Class) bool {
	switch c {
	case isa.ClassLDG, isa.ClassSTG, isa.ClassLDL, isa.ClassSTL, isa.ClassATOMG, isa.ClassRED, isa.ClassLDGSTS, isa.ClassTEX:
		return true
	}
	return false
}

// calendar books single cycles of a unit that serves one pass a cycle. Bookings may come out of order within its window
// (a sub-partition with a backlog books far ahead while another books the cycles between), and a gap is used by whoever can.
type calendar struct {
	base uint64 // cycle of bit 0 of words[head]; everything before is past
	busy [calendarWords]uint64
}

const (
	calendarWords = 128
	calendarSpan  = calendarWords * 64 // cycles: 4 sub-partitions x 16 queued x 128 passes
)

func newCalendar() calendar { return calendar{} }

// take books n free cycles from at on, spacing sixteenths of a cycle or more apart, and returns the first and last of them.
func (c *calendar) take(at, n, spacing uint64) (first, last uint64) {
	if at < c.base {
		at = c.base
	}
	first = c.one(at)
	last = first
	for i := uint64(1); i < n; i++ {
		// A pass that had to wait delays the following ones.
		at = max(last+1, first+i*spacing/16)
		last = c.one(at)
	}
	return first, last
}

// one books the first free cycle from at on.
func (c *calendar) one(at uint64) uint64 {
	for {
		// Cycles beyond the window push it forward; what falls out is past for everybody.
		if at >= c.base+2*calendarSpan {
			c.busy = [calendarWords]uint64{}
			c.base = at/64*64 - calendarSpan + 64
		}
		for at >= c.base+calendarSpan {
			c.busy[(c.base/64)%calendarWords] = 0
			c.base += 64
		}
		w := &c.busy[(at/64)%calendarWords]
		free := ^*w >> (at % 64)
		if free != 0 {
			at += uint64(bits.TrailingZeros64(free))
			*w |= 1 << (at % 64)
			return at
		}
		at = (at/64 + 1) * 64
	}
}
