package isa

import (
	"math/bits"
)

// lanes is one 32-bit value of every lane of a warp.
type lanes = [warpLanes]uint32

// allLanes is the mask of a full warp.
const allLanes = ^uint32(0)

// Places of the constant entries in the predicate array: 0-6 P, 7 PT, 8-14 UP, 15 UPT.
const (
	predTrue  = 7
	predUBase = 8
	predUTrue = 15
)

// Warp is 32 lanes of a block.
type Warp struct {
	Block *Block
	Index int // within the block

	k    *Kernel
	regs []lanes    // general registers, uniform registers (broadcast), a zero and a sink
	p    [16]uint32 // predicates and uniform predicates as lane masks

	pc     int32  // next instruction of the running group
	mask   uint32 // its lanes
	live   uint32 // lanes that have not exited
	halted bool   // nothing to run: exited, or every group waits

	groups  []group            // Volta on: the other groups
	newest  uint32             // lanes that the last divergent branch stored, until the warp turns to others
	oldPath bool               // the running instruction turned to lanes other than the newest
	yielded uint32             // lanes that have yielded to other groups
	spins   int                // backward branches of the running group since the last switch
	bars    barrierRegs        // convergence barrier registers
	stack   []token            // before Volta
	calls   [warpLanes][]int32 // return addresses that CALL without .NOINC kept, per lane (Volta on)

	cf, zf, sf, of uint32 // condition code (before Volta): carry, zero, sign, overflow
	barResult      uint32 // result of the last barrier reduction

	local   []byte // local memory, lane after lane
	steps   uint64
	err     error
	e       *Effect
	scratch [4]lanes          // results of partial masks
	tmp     [8]lanes          // modified sources
	addr    [warpLanes]uint64 // addresses of a memory instruction
	addr2   [warpLanes]uint64
	buf     *Buffer // allocation of the last global access
}

// reset puts the warp at the first instruction with its lanes of the block alive.
func (w *Warp) reset() {
	clear(w.regs)
	clear(w.local)
	w.p = [16]uint32{predTrue: allLanes, predUTrue: allLanes}
	n := w.Block.k.Launch.Block.Count() - w.Index*warpLanes
	w.live = allLanes
	if n < warpLanes {
		w.live = 1<<uint(n) - 1
	}
	w.pc, w.mask, w.halted = 0, w.live, false
	w.groups, w.stack = w.groups[:0], w.stack[:0]
	w.newest, w.yielded, w.spins, w.steps = 0, 0, 0, 0
	w.cf, w.zf, w.sf, w.of, w.barResult = 0, 0, 0, 0, 0
	w.bars.reset(w.k.savedBars)
	for i := range w.calls {
		w.calls[i] = w.calls[i][:0]
	}
	w.err, w.buf = nil, nil
}

// PC is the index of the instruction the warp will execute next, -1 when it has exited or waits at a block barrier.
func (w *Warp) PC() int {
	if w.halted {
		return -1
	}
	return int(w.pc)
}

// Exited says whether no lane is left.
func (w *Warp) Exited() bool { return w.live == 0 }

// Active is the mask of the lanes at PC.
func (w *Warp) Active() uint32 { return w.mask }

// Steps is the number of instructions the warp has executed.
func (w *Warp) Steps() uint64 { return w.steps }

// Reg reads general register r of a lane, for observers and tests. RZ and registers the program does not use read zero.
func (w *Warp) Reg(r Reg, lane int) uint32 {
	if int(r) >= w.k.nRegs {
		return 0
	}
	return w.regs[r][lane]
}

// SetReg writes general register r of a lane before or between steps; a register the program does not use is ignored.
func (w *Warp) SetReg(r Reg, lane int, v uint32) {
	if int(r) < w.k.nRegs {
		w.regs[r][lane] = v
	}
}

// Pred reads predicate register p as a lane mask.
func (w *Warp) Pred(p Reg) uint32 { return w.p[p&7] }

// SetPred writes lanes of predicate register p before or between steps; PT stays true.
func (w *Warp) SetPred(p Reg, lanes uint32) { w.setPred(uint8(p&7), allLanes, lanes) }

// SetUReg writes uniform register r; one that the program does not use is ignored.
func (w *Warp) SetUReg(r Reg, v uint32) {
	if int(r) < w.k.nURegs {
		d := &w.regs[w.k.nRegs+int(r)]
		for i := range d {
			d[i] = v
		}
	}
}

// UReg reads uniform register r.
func (w *Warp) UReg(r Reg) uint32 {
	if int(r) >= w.k.nURegs {
		return 0
	}
	return w.regs[w.k.nRegs+int(r)][0]
}

// Step executes one instruction for the group of lanes at PC and describes it in e.
// Errors name the kernel, instruction, lane and position (out of bounds, misaligned, not modelled ...).
func (w *Warp) Step(e *Effect) error {
	b := w.Block
	b.released = b.released[:0]
	if w.halted {
		return w.notRunnable()
	}
	u := &w.k.ops[w.pc]
	m := w.mask & (w.p[u.guard] ^ u.guardInv)
	*e = Effect{Inst: u.in, Index: int(w.pc), Active: w.mask, Exec: m, Next: int(w.pc) + 1,
		ConstBank: u.constBank, ConstAddr: u.constAddr, HasConst: u.hasConst}
	w.e, w.oldPath = e, false
	w.steps++
	switch {
	case u.flow:
		u.exec(w, u, m)
	case m != 0:
		if u.uniform {
			m = allLanes
		}
		u.exec(w, u, m)
		fallthrough
	default:
		w.pc++
		if u.pop {
			w.popSync(e.Exec)
		}
	}
	if w.err != nil {
		return w.explain(u)
	}
	e.OldPath = w.oldPath
	if w.halted {
		e.Next = -1
		e.Exited = w.live == 0
	} else {
		e.Next = int(w.pc)
	}
	return nil
}

// val is the value of a source in every lane. Modified sources are computed into the warp's temporaries.
func (w *Warp) val(s *sref) *lanes {
	if s.ptr != nil {
		return s.ptr
	}
	if s.mod == 0 {
		return &w.regs[s.reg]
	}
	return w.modified(s)
}

// pred is the value of a predicate source as a lane mask.
func (w *Warp) pred(s pref) uint32 { return w.p[s.idx&15] ^ s.inv }

// setPred writes lanes m of predicate i; the constants stay.
func (w *Warp) setPred(i uint8, m, v uint32) {
	if i&7 == predTrue {
		return
	}
	if i >= predUBase && m != 0 {
		// A uniform predicate holds one value for the warp: that of the lowest executing lane.
		if v>>uint(bits.TrailingZeros32(m))&1 != 0 {
			w.p[i&15] = allLanes
		} else {
			w.p[i&15] = 0
		}
		return
	}
	w.p[i&15] = w.p[i&15]&^m | v&m
}

// out is where result i is computed: the register itself when all lanes execute, else a scratch vector that commit merges.
func (w *Warp) out(u *uop, i int, m uint32) *lanes {
	if m == allLanes {
		return &w.regs[u.d[i]]
	}
	return &w.scratch[i]
}

// commit merges the first n results of a partial mask into their registers.
func (w *Warp) commit(u *uop, n int, m uint32) {
	if m == allLanes {
		return
	}
	for i := range n {
		d, s := &w.regs[u.d[i]], &w.scratch[i]
		for r := m; r != 0; r &= r - 1 {
			l := bits.TrailingZeros32(r) & 31
			d[l] = s[l]
		}
	}
}
