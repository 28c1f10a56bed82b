package sm

import "github.com/sarchlab/smsim/configs"

// chunkPort is the port through which a sub-partition's warps get their instructions from the L0: an aligned chunk of four (64 bytes) a
// cycle. The target of a taken branch takes it for two cycles, three if it is the last instruction of its chunk, because the next chunk is fetched
// with it; that one comes a cycle after it could issue. A warp that goes on in line asks for the next chunk when it stands before the last
// instruction of one, and waits for it if targets of other warps are in the way.
//
// Measured on the H200 (testdata/h200_kernels.csv): chains of BRA from eight warps need 2.25 cycles a branch, the mean of 2, 2, 2 and 3;
// with a NOP before each, so that every second target is the last of its chunk and the branch itself is in the next, 2.5. From one warp the
// chains with 1, 2, 4, 8 NOPs cost 14, 10, 10, 13 cycles more in 32 branches than their instructions: one for each target at a chunk's end.
//
// The port keeps the cycles in which it is taken, as bits from a base cycle on: targets ask for cycles ahead, later requests may come before.
type chunkPort struct {
	insts   int32 // instructions of a chunk, a power of two; 0: not modelled
	target  int   // cycles that a target takes
	latency uint64
	base    uint64
	busy    uint64
}

// chunkGap is the number of cycles from the request of a chunk in line to its first instruction.
const chunkGap = 2

func newChunkPort(f *configs.Fetch, instBytes int) chunkPort {
	if f.ChunkBytes < instBytes {
		return chunkPort{}
	}
	return chunkPort{insts: int32(f.ChunkBytes / instBytes), target: max(1, f.TargetCycles), latency: uint64(max(0, f.ChunkLatency))}
}

// last says whether an instruction is the last of its chunk.
func (c *chunkPort) last(index int32) bool { return c.insts > 0 && (index+1)&(c.insts-1) == 0 }

// redirect is when a branch that issues at t has its target, which with the port free it would have at the given cycle; further is added to the
// cycles that it takes.
func (c *chunkPort) redirect(t, at uint64, index int32, further int) uint64 {
	n := c.target + further
	if c.last(index) {
		n++
	}
	ask := at - min(c.latency, at-t)
	return at + c.take(t, ask, n) - ask
}

// next is the cycle at which the chunk behind the present one is there for a warp that asks for it at t.
func (c *chunkPort) next(t uint64) uint64 { return c.take(t, t, 1) + chunkGap }

// take books the port for n cycles in a row, from the given cycle on or later. now never goes back.
func (c *chunkPort) take(now, at uint64, n int) uint64 {
	c.busy >>= now - c.base
	c.base = now
	run := uint64(1)<<n - 1
	d := at - now
	for c.busy>>d&run != 0 {
		d++
	}
	c.busy |= run << d
	return now + d
}
