package isa

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa/excerpt"
)

// fail is a run-time error of the running instruction; explain adds where it happened.
func (w *Warp) fail(msg string) error { return errors.New(msg) }

// position names an instruction: its source position if known, address and text.
func (k *Kernel) position(index int) string {
	if index < 0 || index >= len(k.Program.Insts) {
		return fmt.Sprintf("instruction %d", index)
	}
	in := &k.Program.Insts[index]
	return fmt.Sprintf("%s: %s", k.where(in), in.String())
}

// where is "file:line:col" of the instruction's source, or its address when there is none.
func (k *Kernel) where(in *Inst) string { return k.Program.where(in) }

func (p *Program) where(in *Inst) string {
	if in.Pos.Line == 0 {
		return fmt.Sprintf("%s+%#x", p.Name, in.PC)
	}
	file := p.SourceFile
	if file == "" {
		file = p.Name
	}
	return fmt.Sprintf("%s:%d:%d", file, in.Pos.Line, in.Pos.Col)
}

// excerpt is the instruction's line in its source with a caret, or nothing where the source is not at hand.
func (p *Program) excerpt(in *Inst) string {
	if in.Pos.Line < 1 || int(in.Pos.Line) > len(p.Source) {
		return ""
	}
	return excerpt.Lines(p.Source[in.Pos.Line-1], int(in.Pos.Col))
}

// cuda is the CUDA source line of the instruction in brackets, or nothing.
func (k *Kernel) cuda(in *Inst) string {
	p := in.Pos
	if p.CULine == 0 {
		return ""
	}
	file := "CUDA source"
	if p.CUFile >= 0 && int(p.CUFile) < len(k.Program.Files) {
		file = k.Program.Files[p.CUFile]
	}
	return fmt.Sprintf(" [%s:%d]", file, p.CULine)
}

// explain completes the error of a failed instruction and keeps the warp from going on.
func (w *Warp) explain(u *uop) error {
	err := w.err
	w.err = nil
	w.halted = true
	return fmt.Errorf("%s: kernel %s, block %d, warp %d, pc %#x: %s: %w%s%s",
		w.k.where(u.in), w.k.Program.Name, w.Block.Index, w.Index, u.in.PC, u.in.String(), err, w.k.cuda(u.in), w.k.Program.excerpt(u.in))
}

// notRunnable explains a Step of a warp that cannot run.
func (w *Warp) notRunnable() error {
	if w.live == 0 {
		return fmt.Errorf("kernel %s, block %d: warp %d has exited", w.k.Program.Name, w.Block.Index, w.Index)
	}
	return fmt.Errorf("kernel %s, block %d: warp %d waits at a barrier", w.k.Program.Name, w.Block.Index, w.Index)
}

// warpDeadlock explains a warp whose groups all wait for each other.
func (w *Warp) warpDeadlock() error {
	return fmt.Errorf("divergence deadlock: no lane of the warp can continue (living lanes %#08x)\n  %s",
		w.live, strings.Join(w.waiting(), "\n  "))
}

// endless explains a run over the step limit: the loop that the warp is in.
func (k *Kernel) endless(w *Warp, limit uint64) error {
	pc := w.PC()
	if pc < 0 {
		return fmt.Errorf("kernel %s: more than %d warp-instructions executed (step limit)", k.Program.Name, limit)
	}
	lo, hi := k.loopAround(pc)
	in := &k.Program.Insts[lo]
	return fmt.Errorf("%s: kernel %s: more than %d warp-instructions executed (step limit): block %d warp %d is in the loop at pc %#x to %#x, %s%s; raise the limit if the kernel is meant to run that long%s",
		k.where(in), k.Program.Name, limit, w.Block.Index, w.Index, in.PC, k.Program.Insts[hi].PC, in.String(), k.cuda(in), k.Program.excerpt(in))
}

// loopAround is the innermost loop (target and backward branch) that contains the instruction; the instruction itself when there is none.
func (k *Kernel) loopAround(pc int) (lo, hi int) {
	lo, hi = pc, pc
	best := len(k.ops) + 1
	for i := range k.ops {
		u := &k.ops[i]
		if !u.hasTarget || int(u.target) > i || u.in.Op == OpCALL {
			continue
		}
		if int(u.target) <= pc && pc <= i && i-int(u.target) < best {
			lo, hi, best = int(u.target), i, i-int(u.target)
		}
	}
	return lo, hi
}

// threadName names a lane's thread by its coordinates in the block.
func (w *Warp) threadName(lane int) string {
	t := w.k.Launch.Block.At(w.Index*warpLanes + lane)
	b := w.Block.ID
	return fmt.Sprintf("lane %d (thread %d,%d,%d of block %d,%d,%d)", lane, t.X, t.Y, t.Z, b.X, b.Y, b.Z)
}

var spaceNames = [...]string{"?", "global", "shared", "local", "constant", "parameter", "generic", "texture"}

// String is the name of the space.
func (s Space) String() string {
	if int(s) < len(spaceNames) {
		return spaceNames[s]
	}
	return "?"
}

// verb says what a memory instruction does, for messages.
func verb(e *Effect) string {
	switch {
	case e.Load && e.Store:
		return "atomic"
	case e.Store:
		return "store"
	}
	return "load"
}

// misaligned is the error of an address that is not a multiple of the access size.
func (w *Warp) misaligned(space Space, lane int, addr uint64, size uint64) error {
	return fmt.Errorf("misaligned %s %s of %d bytes at address %#x by %s: the address must be a multiple of %d",
		space, verb(w.e), size, addr, w.threadName(lane), size)
}

// outOfBounds is the error of an address outside of the memory it names.
func (w *Warp) outOfBounds(space Space, lane int, addr uint64, size uint64) error {
	var where string
	switch space {
	case SpaceGlobal:
		where = w.k.Launch.Mem.describe(addr, size)
	case SpaceShared:
		p := w.k.Program
		where = fmt.Sprintf("the block has %d bytes (%d static, %d dynamic)", p.SharedBytes+w.k.Launch.DynamicShared, p.SharedBytes, w.k.Launch.DynamicShared)
		if base := p.SharedBase; base > 0 {
			where += fmt.Sprintf(" from address 0x%x on", base)
		}
	case SpaceLocal:
		where = fmt.Sprintf("a thread has %d bytes", w.k.localLen)
		if int32(addr) < 0 && w.k.Program.calls() { // below the stack's end
			return fmt.Errorf("stack overflow: %s writes or reads %d bytes below its stack of %d bytes: the calls nest too deeply; recursion must end before the stack does",
				w.threadName(lane), -int64(int32(addr)), w.k.localLen)
		}
	case SpaceConst:
		where = fmt.Sprintf("the bank has %d bytes", len(w.k.banks[w.e.ConstBank]))
	}
	kind := "out of bounds"
	if space == SpaceGlobal && addr < 4096 {
		kind = "null pointer"
		where = "the pointer was never set, or an index was added to a null pointer"
	}
	return fmt.Errorf("%s: %s %s of %d bytes at address %#x by %s: %s", kind, space, verb(w.e), size, addr, w.threadName(lane), where)
}

// calls says whether the program calls functions.
func (p *Program) calls() bool {
	return slices.ContainsFunc(p.Insts, func(in Inst) bool { return in.Op == OpCALL })
}

// lowest is the lowest lane of a mask.
func lowest(m uint32) int { return bits.TrailingZeros32(m) & 31 }
