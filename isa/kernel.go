package isa

import "errors"

// Kernel is a program bound to a launch: checked, predecoded, with its constant banks and globals in place.
// Blocks of one kernel may be executed in any order and share only global memory.
type Kernel struct {
	Program *Program
	Launch  *Launch
}

// Bind checks the launch against the program (block size, parameter bytes, shared memory), builds constant
// bank 0 (parameters, blockDim, gridDim, stack word) and predecodes the instructions.
func Bind(p *Program, t *Target, l *Launch) (*Kernel, error) {
	return nil, errors.New("isa: Bind is being written")
}

// Block is one thread block during execution.
type Block struct {
	Index  int // linear block index in the grid
	ID     Dim3
	Warps  []*Warp
	Shared []byte
}

// NewBlock starts the block with the given linear index. Its warps are at the first instruction.
func (k *Kernel) NewBlock(index int) *Block { return nil }

// Released returns the warps that the last Step of a warp of the block let continue (a barrier completed),
// without the stepping warp itself. The slice is reused.
func (b *Block) Released() []*Warp { return nil }

// Done says whether all warps have exited.
func (b *Block) Done() bool { return true }

// Warp is 32 lanes of a block.
type Warp struct {
	Block *Block
	Index int // within the block
}

// PC is the index of the instruction the warp will execute next, -1 when it has exited or waits at a block barrier.
func (w *Warp) PC() int { return -1 }

// Step executes one instruction for the group of lanes at PC and describes it in e.
// Errors name the kernel, instruction, lane and position (out of bounds, misaligned, not modelled ...).
func (w *Warp) Step(e *Effect) error { return errors.New("isa: Step is being written") }

// RunBlock executes the block to its end without timing and returns the number of warp-instructions.
// It reports a barrier deadlock or more than Launch.MaxSteps instructions as an error.
func (k *Kernel) RunBlock(index int) (steps uint64, err error) { return 0, nil }

// Memory is the functional global memory: separate allocations with bounds, shared by all blocks.
type Memory struct{}

// Buffer is one allocation.
type Buffer struct {
	Name string
	Addr uint64 // virtual address, 256-byte aligned at least
	Data []byte
}

// NewMemory is an empty memory.
func NewMemory() *Memory { return &Memory{} }

// Alloc makes a zeroed allocation of size bytes. Addresses are the same in every run.
func (m *Memory) Alloc(name string, size uint64) *Buffer { return nil }

// Buffers lists the allocations in order.
func (m *Memory) Buffers() []*Buffer { return nil }
