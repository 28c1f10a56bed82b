// Package configs holds the architectures: one YAML file per compute capability, embedded, decoded strictly
// into [Arch]. Every number carries its source and confidence. It knows nothing of kernels or simulation.
package configs

// Confidence says how well a number is known.
type Confidence string

// Confidence levels, best first.
const (
	Measured  Confidence = "measured"  // on hardware, by this project
	Published Confidence = "published" // a vendor's document or tool, or somebody's measurement with data
	Derived   Confidence = "derived"   // inferred from published numbers
	Assumed   Confidence = "assumed"   // a guess that keeps the model complete
)

// Origin is the provenance of the numbers in one row or section.
type Origin struct {
	Source     string     `yaml:"source,verbatim"` // key of docs/sources.md, or text
	Confidence Confidence `yaml:"confidence"`      //
	Note       string     `yaml:"note,optional,verbatim"`
}

// Arch describes one SM and the share of the chip that it sees. Times are SM cycles unless the name says otherwise.
type Arch struct {
	Name              string `yaml:"name,verbatim"`               // "sm_90"
	ComputeCapability string `yaml:"compute_capability,verbatim"` // "9.0"
	Family            string `yaml:"family"`                      // "Hopper"
	Base              string `yaml:"base,optional,verbatim"`      // architecture or family file this one differs from
	Board             string `yaml:"board,verbatim"`              // default board, key of boards.yaml

	WarpScheduler string              `yaml:"warp_scheduler"` // gty (greedy then youngest), gto (greedy then oldest), lrr (loose round robin)
	SM            SM                  `yaml:"sm"`
	Occupancy     Occupancy           `yaml:"occupancy"`
	RegisterFile  RegisterFile        `yaml:"register_file"`
	Pipes         map[string]Pipe     `yaml:"pipes"`
	Classes       map[string]ClassRow `yaml:"classes"` // key: isa.Class names; every class the target has must be there
	Fetch         Fetch               `yaml:"fetch"`
	Control       ControlFlow         `yaml:"control_flow"`
	LSU           LSU                 `yaml:"lsu"`
	Memory        Memory              `yaml:"memory"`
	Launch        LaunchCost          `yaml:"launch"`

	// Overrides are the changes made to the loaded file, in order; those that changed nothing are left out.
	Overrides []Override `yaml:"-"`
	// Followed are those of them that nobody asked for: keys that could not stay beside a changed one.
	Followed []Override `yaml:"-"`
	// Disowned are the keys whose numbers differ from those of the target's own architecture and yet name its source; they count as assumed.
	Disowned []string `yaml:"-"`

	own provenance // of single keys
}

// SM is the issue structure.
type SM struct {
	Origin         `yaml:",inline"`
	SubPartitions  int  `yaml:"sub_partitions"`           // warp schedulers, each with its share of warps (warp slot mod N)
	IssueInterval  int  `yaml:"issue_interval"`           // cycles between issue slots of a scheduler: 1; 2 on 2.x (half-rate clock); 4 on 1.x
	IssueWidth     int  `yaml:"issue_width"`              // instructions a slot from one warp: 2 where the generation dual-issues
	CrossPipe      int  `yaml:"cross_pipe_latency"`       // extra cycles between producer and consumer on different math pipes
	PredLatency    int  `yaml:"predicate_latency"`        // predicate write to its use as a source: SEL, ISETP, PLOP3, IADD3.X
	GuardLatency   int  `yaml:"guard_latency"`            // predicate write to a guard, or to VOTE
	BranchPred     int  `yaml:"branch_predicate_latency"` // predicate write to a branch
	UniformLatency int  `yaml:"uniform_latency"`          // uniform register write to its use by a vector instruction; 0: no uniform datapath
	SignalLatency  int  `yaml:"signal_latency"`           // cycles from a dependency barrier's set to the first cycle a waiter can see it
	PassIssues     int  `yaml:"pass_issues,optional"`     // gty: issues of a scheduler after which a warp's pass of its turn is forgotten
	BlockOrder     bool `yaml:"block_order,optional"`     // of the warps that can issue, those of the block launched first come first
}

// Occupancy holds the limits and allocation granularities of the occupancy calculation.
type Occupancy struct {
	Origin          `yaml:",inline"`
	MaxWarps        int `yaml:"max_warps"`                // warp slots of an SM
	MaxBlocks       int `yaml:"max_blocks"`               // block slots of an SM
	MaxThreads      int `yaml:"max_threads"`              // threads an SM can hold
	MaxThreadsBlock int `yaml:"max_threads_per_block"`    // threads a block may have
	Registers       int `yaml:"registers"`                // 32-bit registers in the register file
	MaxRegsBlock    int `yaml:"max_registers_per_block"`  // registers a block may take
	MaxRegsThread   int `yaml:"max_registers_per_thread"` // registers an instruction can name
	RegUnit         int `yaml:"register_unit"`            // allocation granularity, registers
	// replaces register_unit for the registers a thread listed in register_counts_coarse (2.x).
	RegUnitCoarse   int    `yaml:"register_unit_coarse,optional"`
	RegCountsCoarse []int  `yaml:"register_counts_coarse,optional,single"` // registers a thread for which the coarse unit applies
	RegScope        string `yaml:"register_scope"`                         // warp or block: what the unit applies to
	WarpGranularity int    `yaml:"warp_granularity"`                       // warps are allocated in multiples of this
	// rounds a block's warps up for the check against max_registers_per_block only.
	LaunchGranularity int   `yaml:"launch_warp_granularity"`
	SharedBytes       int   `yaml:"shared_bytes"`                 // largest shared memory of an SM
	SharedBlock       int   `yaml:"shared_bytes_per_block"`       // largest a block may have without opt-in
	SharedBlockOptin  int   `yaml:"shared_bytes_per_block_optin"` // largest a block may have when the kernel asks for it
	SharedUnit        int   `yaml:"shared_unit"`                  // allocation granularity, bytes
	SharedReserved    int   `yaml:"shared_reserved"`              // bytes the system takes of each block
	SharedCarveouts   []int `yaml:"shared_carveouts,single"`      // selectable shared sizes, bytes, ascending; empty: fixed
	MaxBarriers       int   `yaml:"max_barriers_per_block"`       // named barriers of a block
}

// RegisterFile is the operand read model.
type RegisterFile struct {
	Origin     `yaml:",inline"`
	Banks      int  `yaml:"banks"`       // bank of Rn is n mod Banks
	ReadPorts  int  `yaml:"read_ports"`  // 32-lane reads a cycle a bank, shared by all pipes of the sub-partition
	ReuseCache bool `yaml:"reuse_cache"` // operand reuse flags keep a source for the next instruction of the warp
	FreePorts  bool `yaml:"free_ports"`  // second passes hold no operand ports: an ablation
	Queue      int  `yaml:"queue"`       // cycles of reads that may be outstanding at a bank before dispatch stalls
}

// Pipe is a functional unit.
type Pipe struct {
	Origin `yaml:",inline"`
	Per    string `yaml:"per"`   // sub_partition or sm: how many there are
	Queue  int    `yaml:"queue"` // warp-instructions that wait in front of it before issue stalls; 0: issue waits for the pipe itself
	Stall  string `yaml:"stall"` // warp state while it is busy: math_pipe_throttle, mio_throttle, lg_throttle, tex_throttle, dispatch_stall
}

// ClassRow is the timing of one opcode class.
type ClassRow struct {
	Origin          `yaml:",inline"`
	Pipe            []string `yaml:"pipe,single"`               // one, or alternatives of which a free one is taken (FFMA: fmaheavy, fmalite)
	Holds           []string `yaml:"holds,optional,single"`     // further pipes that it occupies at the same time (HFMA2: both FMA halves)
	IssueInterval   int      `yaml:"issue_interval"`            // cycles a warp-instruction holds the pipe
	Latency         int      `yaml:"latency"`                   // issue to issue of a dependent instruction
	Variable        bool     `yaml:"variable,optional"`         // the result is signalled by a dependency barrier
	SharedPipe      string   `yaml:"shared_pipe,optional"`      // unit that it passes after the pipe: SM-wide (lsu), or behind the memory-instruction queue (xu)
	SharedHold      int      `yaml:"shared_hold,optional"`      // cycles it holds that unit
	ExtraHold       int      `yaml:"extra_hold,optional"`       // cycles beyond its stall count that the warp waits after it (IMAD.WIDE)
	ReadPasses      int      `yaml:"read_passes,optional"`      // passes over its sources (IMAD.WIDE reads twice): 0 means 1
	PredicatedOff   int      `yaml:"predicated_off,optional"`   // pipe cycles when no lane executes; 0: issue_interval
	RegisterOperand int      `yaml:"register_operand,optional"` // pipe cycles and latency more for a second register source (SHFL with its lane in a register)
	WarpRegister    int      `yaml:"warp_register,optional"`    // latency more for a special register of the block or the grid (S2R)
	WarpPipe        string   `yaml:"warp_pipe,optional"`        // unit that such a register comes from, if not the shared pipe
	PredicateResult int      `yaml:"predicate_result,optional"` // latency more when it also sets a predicate (SHFL)
}

// Fetch is the instruction memory hierarchy.
type Fetch struct {
	Origin           `yaml:",inline"`
	L0Bytes          int     `yaml:"l0_bytes"`                         // a sub-partition
	L1Bytes          int     `yaml:"l1_bytes"`                         // an SM
	L15Bytes         int     `yaml:"l15_bytes"`                        // an SM or TPC, second level
	L1Ways           int     `yaml:"l1_ways,optional"`                 // 0: fully associative
	L15Ways          int     `yaml:"l15_ways,optional"`                // 0: fully associative
	L1BytesCycle     float64 `yaml:"l1_bytes_per_cycle"`               // stream beyond L0, a sub-partition
	L15BytesCycle    float64 `yaml:"l15_bytes_per_cycle"`              // stream beyond L1, an SM
	L2BytesCycle     float64 `yaml:"l2_bytes_per_cycle"`               // stream beyond L1.5, an SM
	L15BytesCycleAll float64 `yaml:"l15_bytes_per_cycle_all,optional"` // the same with all SMs active, 0: as one
	L2BytesCycleAll  float64 `yaml:"l2_bytes_per_cycle_all,optional"`  // stream beyond L1.5 with all SMs active, 0: as one
	L0MissLatency    int     `yaml:"l0_miss_latency"`                  // extra cycles at a jump whose target misses L0
	L1MissLatency    int     `yaml:"l1_miss_latency"`                  // extra cycles when it misses the first level too
	L1MissLatencyAll int     `yaml:"l1_miss_latency_all,optional"`     // the same with all SMs active, 0: as one
	L15MissLatency   int     `yaml:"l15_miss_latency"`                 // extra cycles when it comes from L2
	LineBytes        int     `yaml:"line_bytes"`                       // instruction cache line
	Prefetch         int     `yaml:"prefetch_lines"`                   // lines fetched ahead of a stream
	ChunkBytes       int     `yaml:"chunk_bytes,optional"`             // instructions that reach a warp at a time, bytes; 0: not modelled
	TargetCycles     int     `yaml:"target_cycles,optional"`           // cycles that the target of a branch takes of the port that chunks pass
	ChunkLatency     int     `yaml:"chunk_latency,optional"`           // cycles from that port to the issue of the first instruction
	Buffer           int     `yaml:"buffer"`                           // decoded instructions a warp holds ahead
	// Bytes of a program that a launch has brought into the second level on its way to the SM; 0: none.
	LaunchPrefetch int `yaml:"launch_prefetch_bytes,optional"`
	// Cycles between the lines that it brings; 0: as a stream beyond L1.
	LaunchLine float64 `yaml:"launch_line_cycles,optional"`
	// In a cold launch on all SMs, which ask at once, the first lines of a stream beyond L1: how many, and bytes a cycle; 0: as all.
	StartLines      int     `yaml:"start_lines,optional"`
	StartBytesCycle float64 `yaml:"start_bytes_per_cycle,optional"`
}

// ControlFlow is the cost of control instructions.
type ControlFlow struct {
	Origin         `yaml:",inline"`
	BranchTaken    int     `yaml:"branch_taken"`             // issue to issue across a taken branch
	BranchPort     float64 `yaml:"branch_port"`              // cycles between taken branches of a sub-partition
	BranchOverlap  int     `yaml:"branch_overlap,optional"`  // more for a taken branch while another warp of the sub-partition waits for its target
	BranchApart    int     `yaml:"branch_apart,optional"`    // least distance of the targets of one warp meanwhile
	Reconverge     int     `yaml:"reconverge"`               // BSSY + BSYNC pair without divergence
	DivergedPath   int     `yaml:"diverged_path"`            // extra cycles to turn to the path that a divergent branch stored last
	OlderPath      int     `yaml:"older_path,optional"`      // more cycles to turn to any other path of the warp
	TurnHold       int     `yaml:"turn_hold,optional"`       // cycles for which a turn to the path stored last holds the convergence unit
	OlderHold      int     `yaml:"older_hold,optional"`      // the same for a turn to any other path
	RegisterHold   int     `yaml:"register_hold,optional"`   // the same for a CALL to an address in a register
	ReturnHold     int     `yaml:"return_hold,optional"`     // the same for a RET to an address in a register
	WarpsyncWait   int     `yaml:"warpsync_wait,optional"`   // from the last lane at a WARPSYNC that others waited at to the next instruction
	BreakLeave     int     `yaml:"break_leave,optional"`     // extra cycles of a BREAK whose lanes leave the barrier, and of an EXIT of some lanes
	Indexed        int     `yaml:"indexed_branch"`           // extra cycles of an indexed branch (BRX, JMX), paid again for each further target
	IndexedPort    int     `yaml:"indexed_port,optional"`    // cycles between targets of indexed branches of a sub-partition
	IndexedPath    int     `yaml:"indexed_path,optional"`    // for the lanes of each further target of an indexed branch; 0: as the first
	BarBase        int     `yaml:"bar_base"`                 // BAR.SYNC: base + per_warp * warps
	BarPerWarp     float64 `yaml:"bar_per_warp"`             // cycles each warp of the block adds to BAR.SYNC
	BarRed         int     `yaml:"bar_reduction"`            // extra for BAR.RED
	MembarCTA      int     `yaml:"membar_cta"`               // MEMBAR.CTA, issue to issue
	MembarGPU      int     `yaml:"membar_gpu"`               // MEMBAR.GPU, issue to issue
	Nanosleep      int     `yaml:"nanosleep"`                // NANOSLEEP 0
	CallReturn     int     `yaml:"call_return"`              // CALL or RET, issue to issue
	RegisterReturn int     `yaml:"register_return,optional"` // RET to an address in a register, issue to issue; 0: as call_return
}

// LSU is the load/store pipeline with shared memory and L1.
type LSU struct {
	Origin           `yaml:",inline"`
	QueueDepth       int  `yaml:"queue_depth"`                 // memory instructions a sub-partition queues (MIO)
	LGQueueDepth     int  `yaml:"lg_queue_depth"`              // local/global instructions before lg_throttle
	SharedBanks      int  `yaml:"shared_banks"`                // banks of shared memory
	BankBytes        int  `yaml:"bank_bytes"`                  // bytes a bank delivers a cycle
	SharedLatency    int  `yaml:"shared_latency"`              // dependent LDS, 32-bit
	SharedLatency64  int  `yaml:"shared_latency_64"`           // dependent LDS.64
	SharedLatency128 int  `yaml:"shared_latency_128"`          // dependent LDS.128
	AtomicLatency    int  `yaml:"shared_atomic_latency"`       // dependent ATOMS
	L1Latency        int  `yaml:"l1_latency"`                  // dependent global load that hits L1
	L1Bytes          int  `yaml:"l1_bytes"`                    // data cache with no shared memory in use; shrinks by the carve-out when unified
	Unified          bool `yaml:"unified"`                     // L1 and shared memory are one array of l1_bytes + ...
	UnifiedBytes     int  `yaml:"unified_bytes"`               // the array's size
	L1LineBytes      int  `yaml:"l1_line_bytes"`               // line with one tag
	SectorBytes      int  `yaml:"sector_bytes"`                // unit of transfer between L1 and L2
	L1Ways           int  `yaml:"l1_ways"`                     // associativity
	L1FixedSets      bool `yaml:"l1_fixed_sets,optional"`      // a line that finds its set of L1 full does not go where there is room: an ablation
	StoresApart      bool `yaml:"stores_apart,optional"`       // stores to the same lines do not leave together: an ablation
	LocalStays       bool `yaml:"local_stays,optional"`        // local stores stay in L1 and are not written through: an ablation
	L1CachesGlobal   bool `yaml:"l1_caches_global"`            // plain global loads are cached in L1 (not on most Kepler and Maxwell)
	L1CachesReadOnly bool `yaml:"l1_caches_read_only"`         // read-only loads (ld.global.nc) are, by way of the texture path, when plain ones are not
	L1TagsCycle      int  `yaml:"l1_tags_per_cycle"`           // lines looked up a cycle
	L1BytesCycle     int  `yaml:"l1_bytes_per_cycle"`          // data of L1 hits, an SM
	MissesInFlight   int  `yaml:"misses_in_flight"`            // lines
	L1OldLines       int  `yaml:"l1_old_lines,optional"`       // of the lines that the launch before left in L1, as many take l1_old_line_cycles more to replace, if it left twice as many
	L1OldLineCycles  int  `yaml:"l1_old_line_cycles,optional"` // that many
	StoreBytesCycle  int  `yaml:"store_bytes_per_cycle"`       // SM to L2
	LocalLatency     int  `yaml:"local_latency"`               // dependent local load that hits L1

	// Stores to lines that wait in the SM go along: for so many cycles after the last store to the line, until so many lines (of words; of less than a word half
	// as many) have come after it. Stores to a line count as hits of L1 for store_hit_cycles.
	CombineCycles  int `yaml:"combine_cycles,optional"`
	CombineLines   int `yaml:"combine_lines,optional"`
	StoreHitCycles int `yaml:"store_hit_cycles,optional"`

	// Cycles a sub-partition's port is held by an access of 1, 2 and 4 words a lane; absent: derived from a 2-cycle port.
	LoadPort        []int `yaml:"load_port,optional,single"`         // LDS
	StorePort       []int `yaml:"store_port,optional,single"`        // STS, ATOMS
	GlobalLoadPort  []int `yaml:"global_load_port,optional,single"`  // LDG
	GlobalStorePort []int `yaml:"global_store_port,optional,single"` // STG, ATOMG, RED
	// Cycles of the load/store unit that one pass (all banks once) takes; 0: 1. It is 2 on 1.x and 2.x, whose banks deliver
	// a word every second cycle, and on 7.5, which has half the lanes.
	UnitCycles int `yaml:"unit_cycles_per_pass,optional"`
	// Sixteenths of a cycle between the passes (bank conflicts, lines) of one instruction; 0: 16, one pass a cycle.
	PassInterval16      int `yaml:"pass_interval_16,optional"`
	StorePassInterval16 int `yaml:"store_pass_interval_16,optional"`
	// Sixteenths of a cycle that a missed line takes of its way back into the sub-partitions, and how many of these share
	// that way; 0: 16 and 1.
	MissReturn16    int `yaml:"miss_return_16,optional"`
	MissReturnShare int `yaml:"miss_return_share,optional"`
	// Atomics on shared memory that wait for the banks behind a sub-partition's port, sources read; 0: 1.
	SharedAtomicBuffer int `yaml:"shared_atomic_buffer,optional"`
	// Cycles from the port to the release of an instruction's source registers.
	ReadLatency int `yaml:"read_latency,optional"`
	// Cycles of the shared unit that a store to global memory takes for each group of lanes; 0: 1.
	StorePasses int `yaml:"store_passes,optional"`
	// Stores on their way out: words a lane of warp-stores the SM holds, stores of each sub-partition that wait for that behind its port
	// (0: 1), sectors in flight beyond.
	StoreBuffer       int `yaml:"store_buffer,optional"`
	StoreStage        int `yaml:"store_stage,optional"`
	StoreBurstSectors int `yaml:"store_burst_sectors,optional"`
	// Constant caches: line, and the part of a line that a first-level miss brings in when the second level has it.
	ConstantLine   int  `yaml:"constant_line_bytes,optional"`
	ConstantSector int  `yaml:"constant_sector_bytes,optional"`
	ConstantWays   int  `yaml:"constant_ways,optional"`
	ConstantApart  bool `yaml:"constant_operands_apart,optional"` // operands, and uniform loads of each sub-partition, have first levels of their own beside that of LDC
	Constant15Line int  `yaml:"constant_l15_line_bytes,optional"` // line of the second level; 0: constant_line_bytes
	// Cycles in which a line goes to a uniform load from the second level, and when LDC has brought it to its first level.
	ConstantPort     int `yaml:"constant_port_cycles,optional"`
	ConstantPortNear int `yaml:"constant_port_near_cycles,optional"`
	// Wait of a constant operand that the second level has, where it differs from an LDC's; 0: constant_miss.
	ConstantOperandMiss int `yaml:"constant_operand_miss,optional"`
	// Wait of a load of a uniform register, where it differs from an operand's; 0: constant_operand_miss.
	ConstantUniformMiss int `yaml:"constant_uniform_miss,optional"`

	ConstantBytes   int `yaml:"constant_bytes"`                  // first-level constant cache
	Constant15Bytes int `yaml:"constant_l15_bytes"`              // second-level constant cache
	ConstantLatency int `yaml:"constant_latency"`                // LDC that hits
	ConstantIndex   int `yaml:"constant_index_latency,optional"` // more for an address in a register
	ConstantMiss    int `yaml:"constant_miss"`                   // constant operand or LDC that misses the first level
	ConstantMissL2  int `yaml:"constant_miss_l2"`                // and the second
	// The same of constants of the module, which a launch does not bring: from L2, from DRAM in a cold launch; 0: as constant_miss_l2, as from L2.
	ConstantModuleMiss int `yaml:"constant_module_miss,optional"`
	ConstantModuleCold int `yaml:"constant_module_miss_cold,optional"`
}

// Memory is what lies beyond the SM.
type Memory struct {
	Origin            `yaml:",inline"`
	L2Latency         int     `yaml:"l2_latency"`                   // dependent load that hits L2
	L2LatencyFar      int     `yaml:"l2_latency_far"`               // in the far partition; 0: none
	L2FarShare        float64 `yaml:"l2_far_share"`                 // share of L2's capacity that only the far partition holds
	L2LatencySpread   int     `yaml:"l2_latency_spread,optional"`   // range of both latencies over lines (slices are not equally far)
	DRAMLatencySpread int     `yaml:"dram_latency_spread,optional"` // range of the latency over lines (banks, refresh, row misses)
	DRAMLatency       int     `yaml:"dram_latency"`                 // dependent load that misses L2
	L2BytesCycle      float64 `yaml:"l2_bytes_per_cycle"`           // one SM alone
	L2BytesCycleAll   float64 `yaml:"l2_bytes_per_cycle_all"`       // one SM's share with all SMs active
	DRAMQueuesAll     int     `yaml:"dram_queues_all,optional"`     // queues that one SM's share of DRAM acts as with all SMs active
	L2RequestAll      float64 `yaml:"l2_request_all,optional"`      // cycles of one SM's share that a request takes with all SMs active: SMs / slices x their clock ratio
	L2RequestQueues   int     `yaml:"l2_request_queues,optional"`   // queues that this SM's share of L2's slices acts as for requests, with all SMs active; 0: 1
	// L2's data array, written by stores and by what DRAM brings, with all SMs active: bytes a cycle of one SM's share (0: no limit),
	// the part of a write's time that a read takes, the times that of a whole sector that one written in part takes more (0: none).
	L2ArrayBytesAll float64 `yaml:"l2_array_bytes_per_cycle_all,optional"`
	L2ArrayRead     float64 `yaml:"l2_array_read,optional"`
	L2PartialWrite  float64 `yaml:"l2_partial_write,optional"`
	L2StoreQueue    int     `yaml:"l2_store_queue,optional"`  // sectors of stores that wait for the data array outside the SM
	L2DrainQueue    int     `yaml:"l2_drain_queue,optional"`  // of these, as many as the end of a warp does not wait for
	L2DirtyShare    float64 `yaml:"l2_dirty_share,optional"`  // part of L2 that can hold written data that DRAM lacks, with all SMs active; 0: all
	L2ArrayQueues   int     `yaml:"l2_array_queues,optional"` // queues that this SM's share of it acts as; 0: 1

	DRAMBytesCycle    float64 `yaml:"dram_bytes_per_cycle"`     // one SM alone
	DRAMBytesCycleAll float64 `yaml:"dram_bytes_per_cycle_all"` // share with all SMs active; 0: from the board's bandwidth
	AtomicLatency     int     `yaml:"atomic_latency"`           // global atomic with return
	AtomicInterval    float64 `yaml:"atomic_interval"`          // cycles a warp-instruction, distinct words of a line
	AtomicSameAddr    float64 `yaml:"atomic_same_address"`      // cycles a lane on one address
	// Cycles a sector of an atomic (reduction) takes of this SM's share when all SMs are active; 0: as a store.
	AtomicSectorAll    float64 `yaml:"atomic_sector_all,optional"`
	ReductionSectorAll float64 `yaml:"reduction_sector_all,optional"`
	// Atomics on 64-bit words take half a warp at a time.
	AtomicHalfWarps bool `yaml:"atomic_half_warps,optional"`
	// Cycles a slice of L2 takes for atomics from the whole chip on one line: for each round of lanes on distinct words, and more for
	// each sector of it. L2Slices is the number of slices; 0: 1.
	AtomicRequest float64 `yaml:"atomic_request,optional"`
	AtomicLine    float64 `yaml:"atomic_line,optional"`
	L2Slices      int     `yaml:"l2_slices,optional"`
	// Blocks to either side whose requests to a cold L2 are inferred from this SM's own; 0: those of other SMs are not.
	BlockNeighbours int `yaml:"block_neighbours,optional"`

	DRAMWriteBatch int `yaml:"dram_write_batch,optional"` // sectors that a queue of DRAM writes at a time; 0: 1
	DRAMAtomBytes  int `yaml:"dram_atom_bytes,optional"`  // DRAM brings at a time; 0: a sector
	// More cycles of this SM's share, with all SMs active, for a request that brings no more than that.
	DRAMLoneAtom float64 `yaml:"dram_lone_atom_all,optional"`
	// Cycles after a request for another part of the line within which such a request costs no more.
	DRAMRowOpen int `yaml:"dram_row_open,optional"`
	L2LineBytes int `yaml:"l2_line_bytes"` // line of L2
}

// LaunchCost is the start and end of blocks.
type LaunchCost struct {
	Origin           `yaml:",inline"`
	First            int `yaml:"first_block"`                // launch to the first instruction of the first warp
	WarpInterval     int `yaml:"warp_interval"`              // between warps of a group
	GroupInterval    int `yaml:"group_interval"`             // between groups of one warp a sub-partition
	BlockInterval    int `yaml:"block_interval"`             // between blocks started on one SM
	Turnover         int `yaml:"turnover"`                   // last exit of a block to the first instruction of the block that takes its place
	TurnoverInterval int `yaml:"turnover_interval,optional"` // between blocks that start in places that others left; 0: block_interval
	Exit             int `yaml:"exit"`                       // last exit to the end of the launch
}

// Board is a product: what an SM sees of the chip around it.
type Board struct {
	Origin    `yaml:",inline"`
	Name      string  `yaml:"name"`
	Arch      string  `yaml:"arch"` // "sm_90"
	SMs       int     `yaml:"sms"`
	ClockMHz  float64 `yaml:"clock_mhz"` // boost or typical SM clock
	L2KB      int     `yaml:"l2_kb"`
	MemoryGBs float64 `yaml:"memory_gb_s"`
}
