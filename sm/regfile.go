package sm

import "github.com/sarchlab/smsim/sim"

// regFile is the read side of one sub-partition's register file. Every bank reads one register of 32 lanes a cycle and
// port; the reads of all instructions, whatever their pipe, queue at their bank. Dispatch stalls when a
// bank's queue is longer than the operand collectors can absorb. (Measured: a stream of instructions runs as fast as its busier
// bank allows, whatever the mix of pipes: micro-benchmarks "registerfile" on the H200.)
type regFile struct {
	sim.Unit
	free  [maxBanks]uint64 // cycle at which the bank has served all reads so far, in port-reads
	ports uint64
	queue uint64
	// at is the first cycle at which another instruction can be dispatched.
	at uint64
}

// read books the reads of an instruction dispatched at the cycle.
func (f *regFile) read(cycle uint64, r *reads) {
	base := cycle * f.ports
	var worst uint64
	for b, n := range r {
		if n == 0 {
			continue
		}
		f.free[b] = max(f.free[b], base) + uint64(n)
		worst = max(worst, f.free[b])
	}
	if worst == 0 {
		return
	}
	// The instruction's last read happens in cycle done-1; it may lag its dispatch by the queue.
	done := (worst + f.ports - 1) / f.ports
	if done > cycle+1+f.queue {
		f.at = max(f.at, done-1-f.queue)
	}
}
