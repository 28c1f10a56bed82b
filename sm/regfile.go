package sm

import "github.com/sarchlab/smsim/sim"

// regFile is the read side of one sub-partition's register file. Every bank reads one register of 32 lanes a cycle and
// port; the reads of all instructions, whatever their pipe, queue at their bank. An instruction leaves the dispatch
// stage in the cycle from which on its reads take no longer than they would alone, or than its pipe takes to accept
// it (two cycles for 16 lanes); until then nothing else of the sub-partition can issue.
//
// Measured on the H200 ("registerfile"): a stream runs as fast as its busier bank allows, whatever the mix of
// pipes: E,E,E 3 cycles, E,O,E beside O,E,O 3 for both, beside E,O,E 4; a single warp feels a conflict in the next instruction.
//
// An instruction of two passes dispatches twice, the second pass two cycles after the first or when the first has its
// operands. The second pass takes two cycles of dispatch if the second word of its 64-bit source shares its bank with another read.
type regFile struct {
	sim.Unit
	free  [maxBanks]uint64 // port-reads done by each bank so far: cycle * ports
	ports uint64
	queue uint64
	at    uint64 // first cycle at which the dispatch stage is free
}

// dispatchWindow is the number of cycles that operands may trickle in while a 16-lane pipe accepts an instruction.
const dispatchWindow = 2

// dispatchAt is the first cycle, at or after the given one, at which a warp's next instruction can be dispatched.
func (f *regFile) dispatchAt(cycle uint64, c *timing, sequential bool) uint64 {
	at := max(cycle, f.at)
	r := &c.first
	if sequential {
		r = &c.firstSeq
	}
	if r.busiest == 0 {
		return at
	}
	slack := uint64(max(r.busiest, uint8(min(c.hold, dispatchWindow)))) + f.queue*f.ports
	for b, n := range &r.bank {
		if n == 0 {
			continue
		}
		// free + n <= at*ports + slack
		if need := f.free[b] + uint64(n); need > at*f.ports+slack {
			at = (need - slack + f.ports - 1) / f.ports
		}
	}
	return at
}

// read books the reads of an instruction dispatched at the cycle.
func (f *regFile) read(cycle uint64, c *timing, sequential bool) {
	first, second, last := &c.first, &c.second, c.lastPass
	if sequential {
		first, second, last = &c.firstSeq, &c.secondSeq, c.lastPassSeq
	}
	f.book(cycle, first)
	if c.passes > 1 {
		cycle += uint64(max(first.busiest, dispatchWindow))
		f.book(cycle, second)
		f.at = cycle + uint64(max(last, 1))
	}
}

func (f *regFile) book(cycle uint64, r *reads) {
	if r.busiest == 0 {
		return
	}
	base := cycle * f.ports
	for b, n := range &r.bank {
		if n != 0 {
			f.free[b] = max(f.free[b], base) + uint64(n)
		}
	}
}
