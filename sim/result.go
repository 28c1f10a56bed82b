package sim

import "github.com/sarchlab/smsim/isa"

// Schema is the version of the JSON form of a Result.
const Schema = 1

// WarpState is what one resident warp does in one cycle. Every cycle of every resident warp has exactly one;
// names and meanings are Nsight Compute's.
type WarpState uint8

// Warp states.
const (
	Selected         WarpState = iota // issued an instruction this cycle
	NotSelected                       // eligible, but the scheduler picked another warp
	Wait                              // fixed-latency stall count not elapsed
	MathPipeThrottle                  // the math pipe it needs is busy
	LongScoreboard                    // result of global, local or texture memory outstanding
	ShortScoreboard                   // result of shared memory, MUFU, conversion, shuffle ... outstanding
	Barrier                           // at a block barrier
	NoInstruction                     // instruction not fetched
	DispatchStall                     // dispatch port or register read port busy
	MIOThrottle                       // memory input/output queue full
	LGThrottle                        // local/global queue full
	TexThrottle                       // texture queue full
	BranchResolving                   // branch target being computed
	IMCMiss                           // constant operand missed the immediate constant cache
	Membar                            // at a memory barrier
	Sleeping                          // NANOSLEEP, or all lanes yielded
	Drain                             // exited, stores outstanding
	Misc                              // anything else
	NumWarpStates
)

var warpStateNames = [NumWarpStates]string{
	"selected", "not_selected", "wait", "math_pipe_throttle", "long_scoreboard", "short_scoreboard", "barrier",
	"no_instruction", "dispatch_stall", "mio_throttle", "lg_throttle", "tex_throttle", "branch_resolving",
	"imc_miss", "membar", "sleeping", "drain", "misc",
}

func (s WarpState) String() string { return warpStateNames[s] }

// Result is what one simulated launch gave. All outputs (text, JSON, CSV, plots, studies) come from it.
// Counts are for the one simulated SM. It holds no wall-clock value: two runs give identical bytes.
type Result struct {
	Kernel  string `json:"kernel"`
	Variant string `json:"variant,omitempty"` // name of the run in a study
	Arch    string `json:"arch"`              // "sm_86"
	Board   string `json:"board,omitempty"`
	Source  string `json:"source,omitempty"` // kernel file

	Grid          [3]uint32 `json:"grid"`
	Block         [3]uint32 `json:"block"`
	BlocksRun     int       `json:"blocks_run"` // blocks executed by this SM
	SharedBytes   int       `json:"shared_bytes"`
	Registers     int       `json:"registers"`
	ControlOrigin string    `json:"control_information"` // "computed" or "decoded"

	Cycles             uint64  `json:"cycles"`  // first block launched to last warp drained
	TimeUS             float64 `json:"time_us"` // Cycles at ClockMHz, microseconds
	ClockMHz           float64 `json:"clock_mhz"`
	WarpInstructions   uint64  `json:"warp_instructions"`
	ThreadInstructions uint64  `json:"thread_instructions"` // lanes whose guard was true
	IPC                float64 `json:"ipc"`                 // warp-instructions per cycle of the SM

	Pipes      []PipeUse    `json:"pipes"`       // in a fixed order
	Classes    []ClassCount `json:"classes"`     // executed instructions by opcode class, most first
	WarpStates []StateShare `json:"warp_states"` // in enum order, zero ones too
	IssueSlots IssueSlots   `json:"issue_slots"`
	Occupancy  Occupancy    `json:"occupancy"`
	Memory     MemoryUse    `json:"memory"`
	// Latencies are the cycles of a dependent load from each level of the memory, without contention.
	Latencies Latencies `json:"-"`
	// MemoryCeiling is the most bytes a cycle that DRAM gives this SM in this launch; 0: unknown.
	MemoryCeiling float64 `json:"memory_ceiling_bytes_per_cycle"`
	// L2Ceiling is the most bytes a cycle that this SM reads from L2 in this launch; 0: unknown.
	L2Ceiling float64   `json:"l2_ceiling_bytes_per_cycle"`
	Hot       []HotInst `json:"hottest"` // by warp-cycles attributed, most first

	Limiter    Limiter  `json:"limiter"`
	Confidence string   `json:"confidence"` // weakest of the timing of the executed classes: measured, published, derived, assumed
	Check      string   `json:"check"`      // passed, failed, none
	CheckNote  string   `json:"check_note,omitempty"`
	Notes      []string `json:"notes,omitempty"`

	// Loops and series for plots; nil unless asked for.
	Timeline []Sample `json:"timeline,omitempty"`
}

// PipeUse is the load of one pipe over the whole SM.
type PipeUse struct {
	Name        string  `json:"name"` // "alu", "fma", "lsu", ...
	Insts       uint64  `json:"instructions"`
	BusyCycles  uint64  `json:"busy_cycles"` // summed over the pipe's instances, to the end of the run
	Instances   int     `json:"instances"`   // 4: one a sub-partition; 1: shared by the SM
	Utilization float64 `json:"utilization"` // BusyCycles / (Instances * Cycles)
}

// ClassCount is how often an opcode class ran.
type ClassCount struct {
	Class string `json:"class"`
	Pipe  string `json:"pipe"`
	Insts uint64 `json:"instructions"`
}

// StateShare is the number of warp-cycles spent in a state. They sum to the resident warp-cycles.
type StateShare struct {
	State      string  `json:"state"`
	WarpCycles uint64  `json:"warp_cycles"`
	Share      float64 `json:"share"`     // of all resident warp-cycles
	PerIssue   float64 `json:"per_issue"` // WarpCycles / WarpInstructions (Nsight's ratio)
}

// IssueSlots says how the schedulers' cycles were used.
type IssueSlots struct {
	Total       uint64  `json:"total"`       // sub-partitions * cycles
	Issued      uint64  `json:"issued"`      // slots with at least one instruction
	NoEligible  uint64  `json:"no_eligible"` // warps resident, none could issue
	NoWarp      uint64  `json:"no_warp"`     // no warp resident
	Utilization float64 `json:"utilization"`
}

// Occupancy is resident warps against the SM's capacity.
type Occupancy struct {
	TheoreticalWarps  int     `json:"theoretical_warps"`
	TheoreticalBlocks int     `json:"theoretical_blocks"`
	MaxWarps          int     `json:"max_warps"`
	Theoretical       float64 `json:"theoretical"`
	// ActiveCycles are the cycles with at least one resident warp: Result.Cycles less the launch and the exit overhead
	// and gaps between blocks. A warp is resident from its place in a sub-partition to its last store, and has a
	// state in each of these cycles: AchievedWarps * ActiveCycles is the sum of the warp states.
	ActiveCycles  uint64  `json:"active_cycles"`
	AchievedWarps float64 `json:"achieved_warps"` // average resident warps over ActiveCycles
	Achieved      float64 `json:"achieved"`
	// Limiter is the resource that stops the next block: warps, blocks, registers, shared. A grid that gives the SM
	// fewer blocks than fit (Result.BlocksRun) does not count here.
	Limiter string `json:"limiter"`
}

// Latencies are cycles from a load's issue to that of an instruction that needs its data, by the level that has it.
type Latencies struct {
	L1, L2, DRAM int
}

// MemoryUse holds the memory counters.
type MemoryUse struct {
	GlobalLoads       uint64  `json:"global_loads"` // warp-instructions
	GlobalStores      uint64  `json:"global_stores"`
	SharedLoads       uint64  `json:"shared_loads"`
	SharedStores      uint64  `json:"shared_stores"`
	LocalLoads        uint64  `json:"local_loads"`
	LocalStores       uint64  `json:"local_stores"`
	Atomics           uint64  `json:"atomics"`
	L1Sectors         uint64  `json:"l1_sectors"` // 32-byte sectors of global and local loads and stores
	L1SectorHits      uint64  `json:"l1_sector_hits"`
	L2Sectors         uint64  `json:"l2_sectors"`
	L2SectorHits      uint64  `json:"l2_sector_hits"`
	L2ReadSectors     uint64  `json:"l2_read_sectors"` // those of L2Sectors that loads read; the others are written
	DRAMBytes         uint64  `json:"dram_bytes"`      // this SM's reads and writes
	L1HitRate         float64 `json:"l1_hit_rate"`     // 0 when there was no access
	L2HitRate         float64 `json:"l2_hit_rate"`
	SharedWavefronts  uint64  `json:"shared_wavefronts"` // passes through the shared-memory data stage
	BankConflicts     uint64  `json:"bank_conflicts"`    // extra wavefronts caused by conflicts
	SectorsPerRequest float64 `json:"sectors_per_request"`
	GlobalBytes       uint64  `json:"global_bytes"` // requested by lanes
}

// HotInst is one static instruction with what it cost.
type HotInst struct {
	Index      int     `json:"index"`
	PC         uint32  `json:"pc"`
	Text       string  `json:"text"`
	Executed   uint64  `json:"executed"`    // warp-instructions
	WarpCycles uint64  `json:"warp_cycles"` // warp-cycles in which a warp's next instruction was this one
	Share      float64 `json:"share"`       // of all warp-cycles
	TopStall   string  `json:"top_stall"`   // largest state other than selected
	SourceLine string  `json:"source"`      // "ncc.ptx:123" and, if known, "ncc.cu:45"
	SourceText string  `json:"source_text,omitempty"`
}

// LimiterKind is the kind of bound.
type LimiterKind string

// Kinds of limiters.
const (
	LimitIssue     LimiterKind = "issue"
	LimitPipe      LimiterKind = "pipe"
	LimitLatency   LimiterKind = "latency"
	LimitMemory    LimiterKind = "memory"
	LimitOccupancy LimiterKind = "occupancy"
	LimitBarrier   LimiterKind = "barrier"
	LimitFetch     LimiterKind = "instruction_fetch"
	LimitConstants LimiterKind = "constants" // misses of the constant caches
	LimitLaunch    LimiterKind = "launch"    // starting blocks and the end of the grid
	LimitRegFile   LimiterKind = "register_file"
	LimitShared    LimiterKind = "shared_memory" // its data stage passes a request several times
)

// Limiter names what bounds the run, with the evidence in one sentence.
type Limiter struct {
	Kind     LimiterKind `json:"kind"`
	What     string      `json:"what"`     // what of it: a pipe, a memory level's latency or bandwidth, a warp state: "alu", "L2 latency", "wait"
	Sentence string      `json:"sentence"` // one sentence with the numbers
}

// Sample is a point of the time series: counts within [Cycle, Cycle+Width).
type Sample struct {
	Cycle    uint64   `json:"cycle"`
	Width    uint64   `json:"width"`
	Issued   uint64   `json:"issued"`
	PipeBusy []uint64 `json:"pipe_busy"` // parallel to Result.Pipes
	Resident int      `json:"resident"`
}

// IssueRecord describes one issued warp-instruction. Observers get a pointer to a reused record.
type IssueRecord struct {
	Cycle        uint64
	SubPartition int
	Slot         int // warp slot within the SM
	Block        int // linear block index
	Warp         int // warp within the block
	Effect       *isa.Effect
	Class        isa.Class
	Pipe         int    // index into the SM's pipe list, -1: none
	PipeCycles   uint64 // cycles the instruction holds its pipe
	Completes    uint64 // cycle at which its result is available (0: unknown yet)
	Dual         bool   // second instruction of a dual-issue slot
	Holds        []int  // further pipes held for PipeCycles
	Shared       int    // SM-wide unit used after the pipe, index into the pipe list; -1: none
	SharedCycles uint64 // cycles it is held
	// Waited are the cycles from the warp's previous issue (or its start) to this one, by state, without
	// this issue's own Selected cycle. Together with it they are all cycles of the warp in between.
	Waited []StateCycles
}
