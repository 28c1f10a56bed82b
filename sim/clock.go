package sim

import (
	"math"

	akita "github.com/sarchlab/akita/v3/sim"
)

// Never is a cycle that does not come: nothing is scheduled.
const Never = math.MaxUint64

// Clock turns absolute SM cycles into Akita's seconds and back. The model counts cycles only; seconds exist
// at the border to Akita, always as cycle/frequency, so that the same cycle is the same float every time.
type Clock struct{ hz float64 }

// NewClock is a clock of the given frequency in MHz.
func NewClock(mhz float64) Clock { return Clock{hz: mhz * 1e6} }

// Freq is the frequency as Akita's components want it.
func (c Clock) Freq() akita.Freq { return akita.Freq(c.hz) }

// Time is Akita's time of a cycle.
func (c Clock) Time(cycle uint64) akita.VTimeInSec {
	return akita.VTimeInSec(float64(cycle) / c.hz)
}

// Cycle is the cycle of an Akita time that came from Time.
func (c Clock) Cycle(t akita.VTimeInSec) uint64 { return uint64(math.Round(float64(t) * c.hz)) }
