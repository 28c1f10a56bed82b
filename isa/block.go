package isa

import (
	"fmt"
	"strings"
)

// Block is one thread block during execution.
type Block struct {
	Index  int // linear block index in the grid
	ID     Dim3
	Warps  []*Warp
	Shared []byte

	k        *Kernel
	running  int // warps that have not exited
	bars     [numBarriers]blockBarrier
	locks    map[uint64]bool // shared addresses locked by LDSLK
	released []*Warp
}

// NewBlock starts the block with the given linear index. Its warps are at the first instruction.
func (k *Kernel) NewBlock(index int) *Block {
	var b *Block
	if n := len(k.idle); n > 0 {
		b, k.idle = k.idle[n-1], k.idle[:n-1]
		clear(b.Shared)
	} else {
		b = k.makeBlock()
	}
	b.Index, b.ID = index, k.Launch.Grid.At(index)
	b.running = len(b.Warps)
	clear(b.locks)
	b.released = b.released[:0]
	for i := range b.bars {
		b.bars[i].reset()
	}
	for _, w := range b.Warps {
		w.reset()
	}
	return b
}

// makeBlock allocates a block with its warps and registers.
func (k *Kernel) makeBlock() *Block {
	b := &Block{k: k, Shared: make([]byte, k.shared)}
	per := k.regFile()
	file := make([]lanes, per*k.warps)
	ws := make([]Warp, k.warps)
	b.Warps = make([]*Warp, k.warps)
	b.released = make([]*Warp, 0, k.warps)
	for i := range ws {
		w := &ws[i]
		w.Block, w.Index, w.k = b, i, k
		w.regs = file[i*per : (i+1)*per : (i+1)*per]
		w.local = make([]byte, k.localLen*warpLanes)
		b.Warps[i] = w
	}
	for i := range b.bars {
		b.bars[i].arrived = make([]uint32, k.warps)
	}
	return b
}

// Recycle hands back a block that has ended, so that NewBlock can reuse its memory. The caller must not use it again.
func (k *Kernel) Recycle(b *Block) { k.idle = append(k.idle, b) }

// Done says whether all warps have exited.
func (b *Block) Done() bool { return b.running == 0 }

// Released returns the warps that the last Step of a warp of the block let continue (a barrier completed),
// without the stepping warp itself. The slice is reused.
func (b *Block) Released() []*Warp { return b.released }

// Stuck describes a block of which no warp can go on: which warps wait where, and for what. It is nil while a warp can run.
func (b *Block) Stuck() error {
	if b.Done() {
		return nil
	}
	var lines []string
	for _, w := range b.Warps {
		if w.PC() >= 0 {
			return nil
		}
		if w.live == 0 {
			continue
		}
		lines = append(lines, w.waiting()...)
	}
	exited := len(b.Warps) - b.running
	msg := fmt.Sprintf("kernel %s: block %d (%d,%d,%d): barrier deadlock: no warp can continue; %d of %d warps have exited",
		b.k.Program.Name, b.Index, b.ID.X, b.ID.Y, b.ID.Z, exited, len(b.Warps))
	const most = 12
	if len(lines) > most {
		lines = append(lines[:most:most], fmt.Sprintf("... and %d more", len(lines)-most))
	}
	return fmt.Errorf("%s\n  %s", msg, strings.Join(lines, "\n  "))
}
