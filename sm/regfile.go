package sm

import (
	"math/bits"

	"github.com/sarchlab/smsim/sim"
)

// regFile is the read side of one sub-partition's register file. Every bank reads one register of 32 lanes a cycle and
// port; the reads of all instructions, whatever their pipe, queue at their bank. An instruction leaves the dispatch
// stage in the cycle from which on its reads take no longer than they would alone, or than its pipe takes to accept
// it (two cycles for 16 lanes); until then nothing else of the sub-partition can issue.
//
// Measured on the H200 ("registerfile"): a stream runs as fast as its busier bank allows, whatever the mix of
// pipes: E,E,E 3 cycles, E,O,E beside O,E,O 3 for both, beside E,O,E 4; a single warp feels a conflict in the next instruction.
//
// An instruction of two passes dispatches twice, the second pass two cycles after the first or when the first has its
// operands. Every operand position has a port to every bank. The second pass holds those that it and the first pass read through
// for one cycle more: an instruction dispatched right behind it reads through other ports at once, through these a cycle later.
// The port that shares its bank with the second word of a 64-bit source is the last: an instruction that reads that bank through
// this port only is dispatched a cycle later.
//
// Measured on the H200 (testdata/h200_streams.txt): IMAD.WIDE of an even, an odd register and a pair beside IADD3 takes 4.1 cycles if that reads
// an odd register in the first position or an even one in the second, 5.1 the other way round.
//
// Instructions of global and local memory wait in their queue for what they read: stores of an even register to an address in an even and an odd one issue
// every cycle (stgburst: 4, 5, 7, 11 cycles for 1, 2, 4, 8 of them), though their reads take two. The banks are busy all the same.
type regFile struct {
	sim.Unit
	free  [maxBanks]uint64 // port-reads done by each bank so far: cycle * ports
	ports uint64
	queue uint64
	at    uint64 // first cycle at which the dispatch stage is free
	held  *reads // ports held in cycle at by the two-pass instruction before; nil: none
	late  *reads // those of them that are read last

	freePorts bool // no ports are held
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
	if r.busiest == 0 || c.long {
		return at
	}
	slack := uint64(max(r.busiest, uint8(min(c.hold, dispatchWindow)))) + f.queue*f.ports
	if f.held != nil && at == f.at && !f.fits(at, r, slack) {
		at++
	}
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

// fits says whether the reads are done within the slack if they are dispatched at the cycle in which ports are held.
func (f *regFile) fits(at uint64, r *reads, slack uint64) bool {
	for b, n := range &r.bank {
		if n != 0 && (f.done(at, b, r) > at*f.ports+slack || r.ports[b] == f.late.ports[b]) {
			return false
		}
	}
	return true
}

// done is when bank b has done the reads of an instruction dispatched at the cycle, in port-reads: those through held ports come a
// cycle later, after the others.
func (f *regFile) done(at uint64, b int, r *reads) uint64 {
	end := max(f.free[b], at*f.ports) + uint64(r.bank[b])
	if f.held != nil && at == f.at {
		if late := bits.OnesCount8(r.ports[b] & f.held.ports[b]); late > 0 {
			end = max(end, (at+1)*f.ports+uint64(late))
		}
	}
	return end
}

// read books the reads of an instruction dispatched at the cycle.
func (f *regFile) read(cycle uint64, c *timing, sequential bool) {
	first, second := &c.first, &c.second
	if sequential {
		first, second = &c.firstSeq, &c.secondSeq
	}
	f.book(cycle, first)
	f.held = nil
	if c.passes > 1 {
		cycle += uint64(max(first.busiest, dispatchWindow))
		f.book(cycle, second)
		f.at = cycle + 1
		if !f.freePorts {
			f.held, f.late = first, &c.late
		}
	}
}

func (f *regFile) book(cycle uint64, r *reads) {
	if r.busiest == 0 {
		return
	}
	for b, n := range &r.bank {
		if n != 0 {
			f.free[b] = f.done(cycle, b, r)
		}
	}
}
