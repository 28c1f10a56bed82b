package sm

import (
	"fmt"

	akita "github.com/sarchlab/akita/v3/sim"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
)

// Options say how a launch is simulated. The zero value runs this SM's share of the grid on a warm chip at the clock of 1 GHz.
type Options struct {
	// Blocks are the linear indices of the blocks this SM executes, in order. Nil: blocks SMID, SMID+NumSMs, ... of the grid.
	Blocks []int
	// SMID and NumSMs give this SM's share of the grid when Blocks is nil. NumSMs 0: the whole grid runs on this SM.
	SMID, NumSMs int
	// ResidentBlocks bounds the blocks resident at once below what the occupancy allows; 0: no bound.
	ResidentBlocks int
	// AllSMsActive says that the other SMs run the same kernel: this one gets its share of L2 and DRAM bandwidth.
	AllSMsActive bool

	Target   *isa.Target // nil: the architecture's
	ClockMHz float64     // 0: 1000
	Board    string      // name for the result

	// Cold starts with empty instruction caches and L2, as after a flush; otherwise they hold what a launch before left.
	Cold bool
	// L2Bytes is the chip's L2 (0: unlimited), FootprintBytes all buffers of the launch (0: they fit a warm L2),
	// ReadBytes those that it reads (0: all), WholeBuffers that they are the allocations of the launch's memory, each touched as a whole,
	// DRAMBytesCycle this SM's share of DRAM bandwidth with all SMs active (0: the architecture's number).
	L2Bytes        int
	FootprintBytes uint64
	ReadBytes      uint64
	WholeBuffers   bool
	DRAMBytesCycle float64

	// MaxCycles ends a run that takes longer, with an error that says where its warps are. 0: 1e9.
	MaxCycles uint64
	// NoSkip steps idle cycles too. The result is the same; a test compares.
	NoSkip bool

	// Progress, if given, is called now and then with the blocks that have ended, all blocks of this SM and the
	// warp-instructions issued so far. It changes nothing in the result.
	Progress func(ended, blocks int, insts uint64)

	// Observers are hooks on the SM, its sub-partitions and its load/store unit, besides the one that makes the Result.
	Observers []akita.Hook
	// SampleCycles asks for a time series in the Result with samples of that width; 0: none.
	SampleCycles uint64
	// HotInstructions bounds Result.Hot; 0: 10.
	HotInstructions int
}

// blockList is the list of blocks this SM runs.
func (o *Options) blockList(l *isa.Launch) ([]int, error) {
	total := l.Grid.Count()
	if o.Blocks != nil {
		for _, b := range o.Blocks {
			if b < 0 || b >= total {
				return nil, fmt.Errorf("block %d is not in the grid of %d blocks", b, total)
			}
		}
		if len(o.Blocks) == 0 {
			return nil, fmt.Errorf("the list of blocks is empty")
		}
		return o.Blocks, nil
	}
	n := max(o.NumSMs, 1)
	if o.SMID < 0 || o.SMID >= n {
		return nil, fmt.Errorf("SM %d of %d does not exist", o.SMID, n)
	}
	var out []int
	for b := o.SMID; b < total; b += n {
		out = append(out, b)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("SM %d of %d gets no block of a grid of %d", o.SMID, n, total)
	}
	return out, nil
}

// Scheduler policies.
const (
	policyGTY = iota // greedy, then the youngest
	policyGTO        // greedy, then the oldest
	policyLRR        // loose round robin
)

func policy(a *configs.Arch) (int, error) {
	switch a.WarpScheduler {
	case "gty", "":
		return policyGTY, nil
	case "gto":
		return policyGTO, nil
	case "lrr":
		return policyLRR, nil
	}
	return 0, fmt.Errorf("%s: warp_scheduler %q is not gty, gto or lrr", a.Name, a.WarpScheduler)
}
