package isa

import "errors"

// Space is a state space.
type Space uint8

// State spaces.
const (
	SpaceNone Space = iota
	SpaceGlobal
	SpaceShared
	SpaceLocal
	SpaceConst
	SpaceParam
	SpaceGeneric
	SpaceTexture
)

// Effect is what one executed warp-instruction did, for whoever times or observes it.
// Step fills it; the pointer fields are valid until the next Step of the same warp.
type Effect struct {
	Inst *Inst
	// Index of the instruction in Program.Insts.
	Index int
	// Active are the lanes at this instruction; Exec those whose guard was true.
	Active, Exec uint32

	// Memory instructions: resolved space (never generic), bytes a lane, and per lane of Exec its address.
	// Global addresses are virtual addresses; shared and local ones are offsets.
	Space Space
	Size  uint8
	Store bool // writes memory
	Load  bool // reads memory (atomics do both)
	Addr  *[32]uint64
	Addr2 *[32]uint64 // LDGSTS: where in shared memory it writes

	// Passes an instruction made beyond the first: MATCH.ANY takes one for each distinct value, BRX for each distinct target.
	ExtraPasses uint8

	// Branches: control did not fall through for some lanes; Diverged: lanes of the group went two ways.
	Taken, Diverged bool
	// OldPath: the warp turned to lanes that were stored before the last divergent branch, or had been turned to since. Joined: a WARPSYNC waited for others.
	OldPath, Joined bool
	// Next is the instruction index at which the warp continues (-1: all lanes ended or wait).
	Next int
	// BAR: the warp arrived at named barrier Barrier. It may continue when Waiting is false or after Block.Release lists it.
	Barrier        int
	BarrierArrived bool
	Waiting        bool
	// Exited: no lane is left.
	Exited bool
	// Sleep: cycles of a NANOSLEEP, in nanoseconds as given.
	SleepNS uint32
	// ConstMiss etc. are found by timing: the constant operand's bank and offset, if the instruction has one.
	ConstBank uint8
	ConstAddr uint32
	HasConst  bool
}

// ErrNotExecutable is wrapped by the error for an instruction that is parsed but not modelled.
var ErrNotExecutable = errors.New("not modelled")
