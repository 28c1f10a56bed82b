package sim

import (
	akita "github.com/sarchlab/akita/v3/sim"

	"github.com/sarchlab/smsim/isa"
)

// Hook positions. The item of the context is a pointer to the record named in the comment; records are reused,
// so a hook copies what it keeps.
var (
	HookPosIssue  = &akita.HookPos{Name: "Issue"}       // *IssueRecord, from a sub-partition
	HookPosWarp   = &akita.HookPos{Name: "Warp"}        // *WarpRecord, from a sub-partition
	HookPosMemory = &akita.HookPos{Name: "Memory"}      // *MemoryRecord, from the load/store unit
	HookPosEnd    = &akita.HookPos{Name: "End of run"}  // *EndRecord, from the SM
	HookPosBlock  = &akita.HookPos{Name: "Block start"} // *BlockRecord, from the SM
)

// StateCycles is a number of cycles that one warp spent in a state.
type StateCycles struct {
	State  WarpState
	Cycles uint64
}

// WarpRecord is the start or the end of a warp's residence.
type WarpRecord struct {
	Cycle        uint64 // first cycle of residence, or first cycle after it
	SubPartition int
	Slot         int
	Block, Warp  int
	End          bool
	// States are the cycles since the warp's last issue (End only).
	States []StateCycles
	// Index is the instruction at which the warp ended (End only).
	Index int
}

// MemoryRecord is what one warp-instruction did in the memory path.
type MemoryRecord struct {
	Cycle        uint64 // issue
	SubPartition int
	Slot         int
	Class        isa.Class
	Space        isa.Space
	Load, Store  bool
	Lanes        int // executing lanes
	Bytes        int // a lane
	Result       uint64
	Complete     uint64
	Wavefronts   int
	Conflicts    int
	L1Sectors    int
	L1SectorHits int
	L2Sectors    int
	L2SectorHits int
	DRAMBytes    int
}

// BlockRecord is a block that became resident.
type BlockRecord struct {
	Cycle uint64
	Block int
}

// EndRecord closes a run.
type EndRecord struct {
	Cycle uint64 // cycles of the whole run
}
