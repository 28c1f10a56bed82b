package isa

import "strconv"

// Target holds the facts about one target that lowering and functional execution need.
// configs fills it from an architecture file; NewTarget gives one without timing.
type Target struct {
	SM   int    // 61, 86, 120: compute capability without the dot
	Name string // "sm_86"

	// Latency is the dependent-issue distance in cycles of a class with fixed latency, and the
	// usual time to the result of a class that signals a dependency barrier.
	Latency [NumClasses]int
	// Interval is the number of cycles a sub-partition's pipe is held by one warp-instruction.
	Interval [NumClasses]int
	// Variable says that the result arrives through a dependency barrier, not after a fixed time.
	Variable [NumClasses]bool
	// Pipe names the pipe of a class ("alu", "fma", ...): lowering balances moves and adds between pipes.
	Pipe [NumClasses]string
	// Alternatives is the number of pipes that can take the class, Pipe among them.
	Alternatives [NumClasses]int
	// CrossPipe is added to Latency when producer and consumer are on different fixed-latency pipes.
	CrossPipe int
	// PredLatency is the distance from a predicate write to its use as a source (SEL, ISETP, PLOP3, IADD3.X);
	// GuardLatency: to a guard or VOTE; BranchPred: to a branch. On sm_90 ptxas keeps 4, 13 and 13 cycles.
	PredLatency, GuardLatency, BranchPred int
	// UniformLatency is the distance from a uniform register write to its use by a vector instruction.
	UniformLatency int

	RegBanks      int // register file banks
	MaxRegs       int // architectural registers a thread may use: 63, 127 (sm_1x: 124), 255
	MaxLocalBytes int
	ParamBase     uint32 // first parameter in constant bank 0
	BlockDimBase  uint32 // blockDim.x in constant bank 0; y and z follow
	GridDimBase   uint32 // gridDim.x in constant bank 0
	StackWord     uint32 // stack pointer word in constant bank 0
	DynamicWord   uint32 // bytes of dynamic shared memory in constant bank 0, 0: none
	NumSMsWord    uint32 // %nsmid in constant bank 0, 0: none
	GlobalWord    uint32 // descriptor of global memory (two words) in constant bank 0, 0: accesses need none
	SharedWord    uint32 // generic address of shared memory (two words) in constant bank 0, 0: none
	LocalWord     uint32 // generic address of local memory (two words) in constant bank 0, 0: none
	ConstWord     uint32 // generic address of constant bank 3 (two words) in constant bank 0, 0: none
	InstBytes     uint32 // 8 or 16
	HasControl    bool   // instructions carry stall counts and dependency barriers (Maxwell on)
	DualIssue     bool   // Kepler, Maxwell, Pascal (and compute capability 2.1)
}

// NewTarget is the target of compute capability sm/10 with its ABI and with latencies left zero.
// Sources of the ABI words: cuobjdump listings of each generation (docs/model.md, "Launch").
func NewTarget(sm int) *Target {
	t := &Target{SM: sm, Name: "sm_" + strconv.Itoa(sm), RegBanks: 2, MaxRegs: 255, InstBytes: 16, HasControl: true, MaxLocalBytes: 512 << 10}
	switch {
	case sm < 20:
		t.ParamBase, t.RegBanks, t.MaxRegs, t.InstBytes, t.HasControl = 0x10, 1, 124, 8, false
	case sm < 30:
		t.ParamBase, t.BlockDimBase, t.GridDimBase, t.RegBanks, t.MaxRegs, t.InstBytes, t.HasControl = 0x20, 0x08, 0x14, 2, 63, 8, false
	case sm < 50:
		t.ParamBase, t.BlockDimBase, t.GridDimBase, t.StackWord, t.RegBanks, t.InstBytes, t.HasControl, t.DualIssue = 0x140, 0x28, 0x34, 0x44, 4, 8, false, true
		if sm < 35 {
			t.MaxRegs = 63
		}
	case sm < 70:
		t.ParamBase, t.BlockDimBase, t.GridDimBase, t.StackWord, t.RegBanks, t.InstBytes, t.DualIssue = 0x140, 0x08, 0x14, 0x20, 4, 8, true
	case sm < 90:
		t.ParamBase, t.BlockDimBase, t.GridDimBase, t.StackWord = 0x160, 0x00, 0x0c, 0x28
	case sm < 100:
		t.ParamBase, t.BlockDimBase, t.GridDimBase, t.StackWord = 0x210, 0x00, 0x0c, 0x28
	default:
		t.ParamBase, t.BlockDimBase, t.GridDimBase, t.StackWord = 0x380, 0x360, 0x370, 0x37c
	}
	switch {
	case sm >= 100:
		t.DynamicWord, t.NumSMsWord, t.LocalWord, t.ConstWord = 0x2ac, 0x2d0, 0x2f8, 0x120
	case sm >= 70:
		t.DynamicWord, t.NumSMsWord, t.SharedWord, t.LocalWord = 0x2c, 0x10c, 0x18, 0x20
		if t.ConstWord = 0x50; sm >= 90 {
			t.ConstWord = 0xd0
		}
	}
	switch {
	case sm >= 100:
		t.GlobalWord = 0x358
	case sm >= 90:
		t.GlobalWord = 0x208
	case sm >= 80:
		t.GlobalWord = 0x118
	}
	return t
}

// Has says whether the target has the opcode.
func (t *Target) Has(op Op) bool { return op.OnTarget(t.SM) }
