package sm

import "github.com/sarchlab/smsim/sim"

// regFile is the read side of one sub-partition's register file. Every bank reads one register of 32 lanes a cycle and
// port; the reads of all instructions, whatever their pipe, queue at their bank. An instruction leaves the dispatch
// stage in the cycle from which on its reads take no longer than they would alone (plus the queue of the architecture
// file); until then nothing else of the sub-partition can issue.
//
// Measured on the H200 ("registerfile"): a stream runs as fast as its busier bank allows, whatever the mix of
// pipes: E,E,E 3 cycles, E,O,E beside O,E,O 3 for both, beside E,O,E 4; a single warp feels a conflict in the next instruction.
type regFile struct {
	sim.Unit
	free  [maxBanks]uint64 // port-reads done by each bank so far: cycle * ports
	ports uint64
	queue uint64
}

// dispatchAt is the first cycle, at or after the given one, at which an instruction with the reads can be dispatched.
func (f *regFile) dispatchAt(cycle uint64, r *reads, busiest uint8) uint64 {
	if busiest == 0 {
		return cycle
	}
	at := cycle
	slack := uint64(busiest) + f.queue*f.ports
	for b, n := range r {
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
func (f *regFile) read(cycle uint64, r *reads) {
	base := cycle * f.ports
	for b, n := range r {
		if n != 0 {
			f.free[b] = max(f.free[b], base) + uint64(n)
		}
	}
}
