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
	return u.cycles.take(cycle, uint64(passes))
}
