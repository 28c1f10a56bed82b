package isa

import (
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"strings"
)

// Kernel is a program bound to a launch: checked, predecoded, with its constant banks and globals in place.
// Blocks of one kernel may be executed in any order and share only global memory. A Kernel and its blocks belong to one
// goroutine at a time: they reuse block storage and share the launch's memory.
type Kernel struct {
	Program *Program
	Launch  *Launch
	Target  *Target

	// Clock answers %clock and %globaltimer reads in cycles (and, scaled by ClockNS, nanoseconds). The timing model sets it;
	// without it the clock counts the warp's own instructions.
	Clock func(w *Warp) uint64
	// ClockNS is the length of a cycle in nanoseconds for %globaltimer, 1 if zero.
	ClockNS float64

	ops       []uop
	byPC      map[uint32]int32 // byte address -> instruction index
	banks     [256][]byte      // constant banks
	consts    map[constKey]*lanes
	zero      *lanes // shared all-zero source
	nRegs     int    // general registers a warp holds
	nURegs    int    // uniform registers
	warps     int    // per block
	shared    int    // bytes a block, from offset 0
	volta     bool   // convergence barriers (from compute capability 7.0 on), else token stack
	idle      []*Block
	localLen  int
	anyConst  bool   // Check: constant banks are not known yet
	savedBars uint16 // convergence barrier registers that functions save in general registers
}

// constKey identifies a pre-broadcast constant: its 32 bits.
type constKey uint32

// Generic address windows: the high word of an address in the window of a 64-bit program, and the first address in a 32-bit one.
const (
	sharedWindowHi = 0x7fff
	localWindowHi  = 0x7ffe
	sharedWindow32 = 0xff000000
	localWindow32  = 0xfe000000
)

// SharedGeneric is the generic address of an offset in shared memory; wide: in a program with 64-bit addresses.
func SharedGeneric(offset uint64, wide bool) uint64 {
	if wide {
		return sharedWindowHi<<32 + offset
	}
	return sharedWindow32 + offset
}

// warpLanes is the number of lanes of a warp on every architecture.
const warpLanes = 32

// Bind checks the launch against the program (block size, parameter bytes, shared memory), builds constant
// bank 0 (parameters, blockDim, gridDim, stack word), places module globals and predecodes the instructions.
// Mem may be nil for a program that touches no global memory.
func Bind(p *Program, t *Target, l *Launch) (k *Kernel, err error) {
	defer func() {
		if r := recover(); r != nil {
			k, err = nil, fmt.Errorf("kernel %s: internal error while binding: %v\n%s", p.Name, r, trimStack())
		}
	}()
	if len(p.Insts) == 0 {
		return nil, fmt.Errorf("kernel %s: it has no instructions", p.Name)
	}
	if err := checkLaunch(p, l); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", p.Name, err)
	}
	k = &Kernel{Program: p, Launch: l, Target: t, consts: map[constKey]*lanes{}, zero: new(lanes), volta: t.SM >= 70}
	if l.Mem == nil {
		l.Mem = NewMemory()
	}
	k.warps = (l.Block.Count() + warpLanes - 1) / warpLanes
	k.shared = p.SharedBytes + l.DynamicShared
	if u := p.SharedUnit; u > 0 {
		k.shared = (k.shared + u - 1) / u * u
	}
	k.shared += int(p.SharedBase)
	k.localLen = (p.LocalBytes + 15) &^ 15
	if err := k.placeGlobals(); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", p.Name, err)
	}
	if err := k.buildBanks(); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", p.Name, err)
	}
	if err := k.bindTextures(); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", p.Name, err)
	}
	if err := k.decodeAll(); err != nil {
		return nil, err
	}
	if err := p.checkEnd(); err != nil {
		return nil, err
	}
	return k, nil
}

// trimStack is the innermost part of the stack of a broken invariant, enough to find the place.
func trimStack() string {
	lines := strings.Split(string(debug.Stack()), "\n")
	if len(lines) > 24 {
		lines = lines[:24]
	}
	return strings.Join(lines, "\n")
}

// checkLaunch compares geometry and parameters with what the program asks for.
func checkLaunch(p *Program, l *Launch) error {
	g, b := l.Grid, l.Block
	if g.X == 0 || g.Y == 0 || g.Z == 0 {
		return fmt.Errorf("grid %dx%dx%d is empty: every dimension must be at least 1", g.X, g.Y, g.Z)
	}
	if b.X == 0 || b.Y == 0 || b.Z == 0 {
		return fmt.Errorf("block %dx%dx%d is empty: every dimension must be at least 1", b.X, b.Y, b.Z)
	}
	if b.Count() > 1024 || b.X > 1024 || b.Y > 1024 || b.Z > 64 {
		return fmt.Errorf("block %dx%dx%d has %d threads: at most 1024 (x and y up to 1024, z up to 64)", b.X, b.Y, b.Z, b.Count())
	}
	if r := p.ReqBlock; r.X != 0 && (r.X != b.X || max(r.Y, 1) != b.Y || max(r.Z, 1) != b.Z) {
		return fmt.Errorf("block is %dx%dx%d, but the kernel requires %dx%dx%d (.reqntid)", b.X, b.Y, b.Z, r.X, max(r.Y, 1), max(r.Z, 1))
	}
	if p.MaxThreads > 0 && b.Count() > p.MaxThreads {
		return fmt.Errorf("block has %d threads, but the kernel was compiled for at most %d (.maxntid)", b.Count(), p.MaxThreads)
	}
	if l.DynamicShared < 0 {
		return fmt.Errorf("dynamic shared memory is %d bytes: it cannot be negative", l.DynamicShared)
	}
	need := 0
	for _, q := range p.Params {
		need = max(need, int(q.Offset+q.Size))
	}
	if len(l.Params) < need {
		return fmt.Errorf("parameter block has %d bytes, the kernel's %d parameters need %d", len(l.Params), len(p.Params), need)
	}
	return nil
}

// placeGlobals allocates the module's variables once per memory and resolves the addresses inside their initial values.
func (k *Kernel) placeGlobals() error {
	m := k.Launch.Mem
	fresh := map[string]bool{}
	for i := range k.Program.Globals {
		g := &k.Program.Globals[i]
		if m.globals[g.Name] != nil {
			continue
		}
		b := m.AllocAligned(g.Name, g.Bytes, g.Align)
		copy(b.Data, g.Init)
		m.globals[g.Name] = b
		fresh[g.Name] = true
	}
	for i := range k.Program.Globals {
		g := &k.Program.Globals[i]
		if !fresh[g.Name] {
			continue
		}
		for _, r := range g.Relocs {
			to := m.globals[r.Symbol]
			if to == nil {
				return fmt.Errorf("variable %s is initialised with the address of %s, which is not defined", g.Name, r.Symbol)
			}
			data := m.globals[g.Name].Data
			if err := r.Put(data, to.Addr); err != nil {
				return fmt.Errorf("variable %s: %w", g.Name, err)
			}
		}
	}
	return nil
}

// bankBytes is the size of a constant bank; reads of bank 0 beyond what is set give zero, as unset driver words do.
const bankBytes = 64 << 10

// buildBanks fills the constant banks: bank 0 with the launch, the others from the program.
func (k *Kernel) buildBanks() error {
	p, t, l := k.Program, k.Target, k.Launch
	for n, data := range p.ConstBanks {
		k.banks[n] = append([]byte(nil), data...)
	}
	end := int(p.ParamBase) + len(l.Params)
	for _, w := range []uint32{t.BlockDimBase + 12, t.GridDimBase + 12, t.StackWord + 4, t.DynamicWord + 4, t.NumSMsWord + 4, t.LocalWord + 8, t.ConstWord + 8} {
		end = max(end, int(w))
	}
	b0 := k.grow(0, end)
	put := func(off, v uint32) { binary.LittleEndian.PutUint32(b0[off:], v) }
	if t.SM >= 20 {
		put(t.BlockDimBase, l.Block.X)
		put(t.BlockDimBase+4, l.Block.Y)
		put(t.BlockDimBase+8, l.Block.Z)
		put(t.GridDimBase, l.Grid.X)
		put(t.GridDimBase+4, l.Grid.Y)
		put(t.GridDimBase+8, l.Grid.Z)
	}
	if t.SM >= 30 {
		put(t.StackWord, uint32(k.localLen))
	} else {
		b1 := k.grow(1, 0x104) // compute capability 2.x: c[0x1][0x100] is the stack pointer
		binary.LittleEndian.PutUint32(b1[0x100:], uint32(k.localLen))
	}
	if t.DynamicWord != 0 {
		put(t.DynamicWord, uint32(l.DynamicShared))
		put(t.NumSMsWord, uint32(max(l.NumSMs, 1)))
		put(t.LocalWord+4, localWindowHi)
		if t.SharedWord != 0 {
			put(t.SharedWord+4, sharedWindowHi)
		}
	}
	copy(b0[p.ParamBase:], l.Params)
	for i := range p.Globals {
		g := &p.Globals[i]
		if g.ConstBank == 0 && g.ConstOff == 0 {
			continue // not addressed through a slot
		}
		b := k.grow(g.ConstBank, int(g.ConstOff)+8)
		binary.LittleEndian.PutUint64(b[g.ConstOff:], l.Mem.globals[g.Name].Addr)
	}
	for i := range p.ConstRelocs {
		r := &p.ConstRelocs[i]
		to := l.Mem.globals[r.Symbol]
		if to == nil {
			continue // lowering places every variable that an initialiser names
		}
		if err := r.Put(k.grow(r.Bank, int(r.Offset)+8), to.Addr); err != nil {
			return err
		}
	}
	if t.ConstWord != 0 && k.banks[3] != nil && p.readsWord(t.ConstWord) { // the driver maps the bank into global memory
		b := l.Mem.AllocAligned("constants", uint64(len(k.banks[3])), 256)
		copy(b.Data, k.banks[3])
		binary.LittleEndian.PutUint64(b0[t.ConstWord:], b.Addr)
	}
	for i := range p.Globals {
		if g := &p.Globals[i]; g.Params {
			copy(l.Mem.globals[g.Name].Data, b0)
		}
	}
	return nil
}

// readsWord says whether an instruction reads a word of constant bank 0.
func (p *Program) readsWord(at uint32) bool {
	for i := range p.Insts {
		in := &p.Insts[i]
		for _, o := range in.Src[:min(in.NSrc, MaxSrc)] {
			if o.Kind == KindConst && o.Bank == 0 && o.Reg == RZ && o.Imm == int64(at) {
				return true
			}
		}
	}
	return false
}

// grow makes constant bank n at least size bytes long, in whole words.
func (k *Kernel) grow(n uint8, size int) []byte {
	size = (size + 3) &^ 3
	if have := len(k.banks[n]); have < size {
		k.banks[n] = append(k.banks[n], make([]byte, size-have)...)
	}
	return k.banks[n]
}

// constWord reads a word of a constant bank; ok is false for a bank that does not exist or an address outside of it.
func (k *Kernel) constWord(bank uint8, off int64) (v uint32, ok bool) {
	b := k.banks[bank]
	if off < 0 || off >= bankBytes || off&3 != 0 {
		return 0, false
	}
	if int(off)+4 <= len(b) {
		return binary.LittleEndian.Uint32(b[off:]), true
	}
	return 0, bank <= 1 || k.anyConst
}

// broadcast is the shared lane vector holding v in every lane.
func (k *Kernel) broadcast(v uint32) *lanes {
	if v == 0 {
		return k.zero
	}
	if l := k.consts[constKey(v)]; l != nil {
		return l
	}
	l := new(lanes)
	for i := range l {
		l[i] = v
	}
	k.consts[constKey(v)] = l
	return l
}

// RunBlock executes the block to its end without timing and returns the number of warp-instructions.
// It reports a barrier deadlock or more than Launch.MaxSteps instructions as an error.
func (k *Kernel) RunBlock(index int) (steps uint64, err error) {
	return k.runBlock(k.NewBlock(index), 0, nil)
}

// WatchBlock is RunBlock that shows every instruction after it was executed; before counts against Launch.MaxSteps too, as the
// steps of earlier blocks. The warp and its effect belong to the kernel: visit copies what it keeps.
func (k *Kernel) WatchBlock(index int, before uint64, visit func(*Warp, *Effect)) (steps uint64, err error) {
	return k.runBlock(k.NewBlock(index), before, visit)
}

// turn is the number of instructions a warp executes before RunBlock goes on to the next warp: few enough that warps
// which communicate through memory make progress together.
const turn = 64

// runBlock executes a block round-robin over its warps; before is the number of steps already counted against MaxSteps, visit sees
// every executed instruction if it is not nil.
func (k *Kernel) runBlock(b *Block, before uint64, visit func(*Warp, *Effect)) (steps uint64, err error) {
	var e Effect
	var at *Warp
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("kernel %s: internal error at instruction %d: %v\n%s", k.Program.Name, at.PC(), r, trimStack())
		}
	}()
	limit := k.Launch.MaxSteps
	for !b.Done() {
		moved := false
		for _, w := range b.Warps {
			at = w
			for n := 0; n < turn && w.PC() >= 0; n++ {
				if err := w.Step(&e); err != nil {
					return steps, err
				}
				steps++
				moved = true
				if visit != nil {
					visit(w, &e)
				}
				if limit != 0 && before+steps >= limit && !b.Done() {
					return steps, k.endless(w, limit)
				}
			}
		}
		if !moved {
			return steps, b.Stuck()
		}
	}
	k.Recycle(b)
	return steps, nil
}

// RunGrid executes the given blocks one after another (nil: the whole grid) and returns the number of warp-instructions.
// MaxSteps limits their sum.
func (k *Kernel) RunGrid(blocks []int) (steps uint64, err error) {
	run := func(i int) error {
		n, err := k.runBlock(k.NewBlock(i), steps, nil)
		steps += n
		return err
	}
	if blocks == nil {
		for i := range k.Launch.Grid.Count() {
			if err := run(i); err != nil {
				return steps, err
			}
		}
		return steps, nil
	}
	for _, i := range blocks {
		if i < 0 || i >= k.Launch.Grid.Count() {
			return steps, fmt.Errorf("kernel %s: block %d is outside of the grid of %d blocks", k.Program.Name, i, k.Launch.Grid.Count())
		}
		if err := run(i); err != nil {
			return steps, err
		}
	}
	return steps, nil
}
