package lower

import (
	"fmt"
	"slices"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// Options change how a kernel is compiled.
type Options struct {
	// NoOptimise leaves out every pass that is not needed for a correct program. Tests compare results with it.
	NoOptimise bool
	// MaxRegs limits registers a thread (like nvcc -maxrregcount); 0: the target's and the kernel's own limit.
	MaxRegs int
	// Semantics says whose results count where GPUs and the PTX document differ.
	Semantics Semantics
	// StackBytes is the stack for recursion, whose depth the compiler cannot know; 0: 8 KiB.
	StackBytes int
	// OpaqueMoves makes `mov %r, %r` a barrier to the optimiser: what the register holds is taken as unknown after it. The
	// move itself costs no instruction. Probes keep repeated executions of one instruction apart with it.
	OpaqueMoves bool
}

// Semantics is the meaning of instructions that GPUs compute in another way than the PTX document says (docs/deviations.md).
type Semantics uint8

// Meanings.
const (
	Hardware Semantics = iota // what a GPU gives
	Document                  // what the document's pseudo-code gives
)

// Compile lowers the kernel entry of module m (an empty name means the only kernel) to target t. The error lists
// every statement of the kernel that cannot be lowered, each with its position.
func Compile(m *ptx.Module, entry string, t *isa.Target, opt Options) (*isa.Program, error) {
	src := m.Entry(entry)
	if src == nil {
		return nil, noEntry(m, entry)
	}
	p, made, err := compile(m, src, t, opt, strategy{})
	if err != nil || opt.NoOptimise {
		return p, err
	}
	if made.unrolled && p.Regs > manyRegisters {
		// Unrolling made more values live at once than a large block has registers for: the loop is kept.
		if q, _, err := compile(m, src, t, opt, strategy{keepLoops: true}); err == nil && 2*q.Regs < p.Regs {
			return q, nil
		}
	}
	if t.SM >= 75 && made.pressure >= made.free-roomForUniform {
		// What all lanes share goes to uniform registers, also where that takes copies.
		if q, _, err := compile(m, src, t, opt, strategy{uniform: true}); err == nil && threadsOf(t, q.Regs) >= threadsOf(t, p.Regs) {
			return q, nil
		}
	}
	return p, nil
}

// threadsOf is how many threads an SM has registers for.
func threadsOf(t *isa.Target, regs int) int {
	file, threads, _ := registerFile(t.SM)
	return min(threads, file/alignInt(max(regs, 1), 8))
}

// strategy is what is done differently when a kernel needs many registers.
type strategy struct {
	keepLoops bool // loops of known length are not unrolled
	uniform   bool // what all lanes share goes to uniform registers even where that takes copies
}

// roomForUniform is how many registers below its target a kernel's own order may be for values that all lanes share to stay in general registers
// where moving them takes copies. Fitted on ptxas 13.0's code for sm_90: 34 of 37 kernels with such copies or UISETP need at least that many.
const roomForUniform = 1

// manyRegisters is what a thread of a block of 512 can have on an SM of 64 Ki registers.
const manyRegisters = 128

// made is what a compilation found out.
type made struct {
	unrolled bool // a loop of known length was
	pressure int  // general registers that the kernel needs in its own order
	free     int  // those that cost no occupancy
}

// compile lowers the kernel.
func compile(m *ptx.Module, src *ptx.Func, t *isa.Target, opt Options, how strategy) (*isa.Program, made, error) {
	f := newFn(t, m, src)
	f.link = newUnitInfo()
	f.link.keepLoops, f.link.uniform = how.keepLoops, how.uniform
	f.link.semantics = opt.Semantics
	f.link.units = []*fn{f}
	f.opaqueMoves = opt.OpaqueMoves
	p := &isa.Program{Name: src.Name, SM: t.SM, ParamBase: t.ParamBase, InstBytes: t.InstBytes, Address32: m.AddressSize == 32, SourceFile: m.File, Source: m.Lines,
		Control: isa.ControlComputed, SchedPadding: t.SM >= 30 && t.SM < 70}
	if err := f.front(p); err != nil {
		return nil, made{}, err
	}
	if m.SM > t.SM {
		p.Notes = append(p.Notes, fmt.Sprintf("%s is written for sm_%d; every instruction of %s could be lowered to %s", m.File, m.SM, src.Name, t.Name))
	}
	if len(f.link.emulated) > 0 {
		p.Notes = append(p.Notes, f.link.emulatedNote(t))
	}
	limit := f.registerLimit(opt) - f.systemRegs()
	regs, err := f.link.back(opt, limit)
	if err != nil {
		return nil, made{}, err
	}
	f.finish(p, regs, opt)
	if p.LocalBytes > t.MaxLocalBytes {
		return nil, made{}, f.refused(m.Errorf(src.Pos, "", "local memory of %d bytes a thread is over the target's limit of %d", p.LocalBytes, t.MaxLocalBytes))
	}
	if p.SharedBytes > staticShared && t.SM >= 20 { // older targets have less in all, which the launch checks
		return nil, made{}, f.refused(m.Errorf(src.Pos, "declare it .extern .shared and give its size at the launch",
			"kernel %s declares %d bytes of shared memory, of which %d is the most", src.Name, p.SharedBytes, staticShared))
	}
	if err := AddControl(p, t); err != nil {
		return nil, made{}, err
	}
	if err := p.Check(t); err != nil {
		return nil, made{}, fmt.Errorf("internal error: lowering made code that %s cannot execute; please report it with the kernel: %w", t.Name, err)
	}
	return p, made{f.link.unrolled, f.link.pressure, f.freeRegs()}, nil
}

// staticShared is the most shared memory in bytes that a kernel can declare, as ptxas 13.0 has it on every target.
const staticShared = 48 << 10

// newFn is an empty kernel or function.
func newFn(t *isa.Target, m *ptx.Module, src *ptx.Func) *fn {
	return &fn{t: t, m: m, src: src, nextReg: isa.VirtualBase, nextPred: isa.VirtualBase, nextUReg: isa.VirtualBase, nextUPred: isa.VirtualBase,
		tuples: map[isa.Reg][]isa.Reg{}, utuples: map[isa.Reg][]isa.Reg{}, inTuple: map[isa.Reg]isa.Reg{}, inUTuple: map[isa.Reg]bool{},
		halves: map[isa.Reg]bool{}, fileNum: map[int]int16{}, sizes: map[isa.SourcePos]statementCount{}, syms: map[*ptx.Var]*symbol{}, conv: map[int]*convention{}, locals: map[*ptx.Var]*symbol{}}
}

// adopt takes over what the units of a kernel share: placed variables, constants, source files.
func (f *fn) adopt(o *fn) {
	if o == nil || o == f {
		return
	}
	f.files, f.fileNum, f.shared, f.constMem, f.bank4, f.bank2, f.bank2Literals = o.files, o.fileNum, o.shared, o.constMem, o.bank4, o.bank2, o.bank2Literals
	if f.own != nil {
		f.localMem = max(f.localMem, o.localMem) // it becomes part of another unit's frame
	}
	f.texRefs, f.constRelocs, f.globals, f.syms, f.barriers, f.usesCC = o.texRefs, o.constRelocs, o.globals, o.syms, max(f.barriers, o.barriers), f.usesCC || o.usesCC
}

// back turns the translated units into machine code with physical registers, and returns their number.
func (u *unitInfo) back(opt Options, limit int) (regs int, err error) {
	kernel := u.units[0]
	private := u.callersFirst()
	var order []*fn
	for _, g := range u.units {
		if g.own == nil {
			order = append(order, g)
		}
	}
	last := kernel
	for _, g := range append(order, private...) {
		if g.own != nil && !opt.NoOptimise {
			g.takeConstants()
		}
		g.adopt(last)
		if g.routine != nil {
			g.frontRoutine()
		}
		if !opt.NoOptimise {
			g.orderBlocks()
		}
		g.analyse()
		if !opt.NoOptimise {
			g.statementSizes()
			g.optimise()
		}
		last = g
	}
	for _, g := range append(order, private...) {
		g.adopt(last)
		g.legaliseCode(opt)
		last = g
	}
	for _, g := range private {
		u.units[g.root].absorb(g)
	}
	if u.frames() > 1 {
		limit = max(limit, returnReg+2) // of standard calls
	}
	for _, g := range order {
		g.adopt(last)
		n, err := g.allocateCode(opt, limit)
		if err != nil {
			return 0, kernel.refused(g.m.Errorf(g.src.Pos, "", "%v", err))
		}
		regs, last = max(regs, n), g
	}
	kernel.adopt(last)
	return regs, nil
}

// legaliseCode makes machine instructions of what the target has out of the optimised ones.
func (f *fn) legaliseCode(opt Options) {
	f.expandPseudos()
	f.twoInputLogic()
	f.legalise()
	if !opt.NoOptimise {
		f.cleanup()
		f.loadDescriptor()
	}
	if f.opaqueMoves {
		f.mergeOpaque()
	}
}

// allocateCode gives the unit its registers, and returns their number.
func (f *fn) allocateCode(opt Options, limit int) (int, error) {
	f.linkCalls()
	f.analyse()
	if !opt.NoOptimise {
		f.meetAfterSpins()
		f.meetInLoops()
	}
	if f.t.SM >= 75 {
		f.eachParted(func(_ *block, body map[*block]bool) { f.apart = append(f.apart, body) })
	}
	f.converge()
	f.keepBarriers()
	allocate := f.arrangeCode
	if opt.NoOptimise {
		allocate = f.allocate
	} else {
		f.twoPredicates()
		f.yieldInSpins()
		f.link.pressure = max(f.link.pressure, slices.Max(f.pressures()))
		f.sinkWords()
	}
	f.firstWrites()
	regs, err := allocate(limit)
	f.forgetFirstWrites()
	if err != nil {
		return 0, err
	}
	f.keepRegisters()
	if !opt.NoOptimise {
		f.balance()
		f.fillStalls()
	}
	return regs, nil
}

func noEntry(m *ptx.Module, entry string) error {
	var names []string
	for _, e := range m.Entries() {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return fmt.Errorf("%s has no kernel (.entry with a body)", m.File)
	case entry == "":
		return fmt.Errorf("%s has %d kernels, name one of: %v", m.File, len(names), names)
	}
	return fmt.Errorf("%s has no kernel %q; it has %v", m.File, entry, names)
}

// registerLimit is the number of registers a thread may use: the target's, .maxnreg, the option, and what lets
// a block of .maxntid threads fit the register file.
func (f *fn) registerLimit(opt Options) int {
	limit := f.t.MaxRegs
	if n := f.src.MaxNReg; n > 0 {
		limit = min(limit, n)
	}
	if opt.MaxRegs > 0 {
		limit = min(limit, opt.MaxRegs)
	}
	if threads := f.blockThreads(); threads > 0 {
		file, slots, _ := registerFile(f.t.SM)
		// More blocks than there are threads for are not resident, whatever .minnctapersm asks.
		blocks := min(max(1, f.src.MinNCTA), max(1, slots/threads))
		limit = min(limit, max(16, file/(threads*blocks)/8*8))
	}
	return max(limit, 16)
}

// blockThreads is the number of threads of the largest block that the kernel allows, in whole warps; 0: it does not say.
func (f *fn) blockThreads() int {
	threads := 1
	for _, d := range f.src.MaxNTid {
		threads *= max(1, d)
	}
	if r := f.src.ReqNTid; r[0] > 0 {
		threads = max(1, r[0]) * max(1, r[1]) * max(1, r[2])
	}
	if threads == 1 {
		return 0
	}
	_, _, most := registerFile(f.t.SM)
	return min(alignInt(threads, 32), most)
}

// registerFile is the registers of an SM, the threads it holds, and the threads a block may have.
func registerFile(sm int) (registers, threads, block int) {
	switch {
	case sm < 12:
		return 8 << 10, 768, 512
	case sm < 20:
		return 16 << 10, 1024, 512
	case sm < 30:
		return 32 << 10, 1536, 1024
	case sm == 37:
		return 128 << 10, 2048, 1024
	case sm == 75:
		return 64 << 10, 1024, 1024
	case sm > 80 && sm < 90, sm >= 110:
		return 64 << 10, 1536, 1024
	}
	return 64 << 10, 2048, 1024
}

func alignInt(n, a int) int { return (n + a - 1) / a * a }

// front translates the kernel's body statement by statement into blocks of machine instructions.
func (f *fn) front(p *isa.Program) error {
	var errs []error
	module := newScope(nil)
	for _, v := range f.m.Vars {
		module.names[v.Name] = &symbol{name: v.Name, v: v, kind: symUnplaced}
	}
	for _, fu := range f.m.Funcs {
		if !fu.Entry {
			module.names[fu.Name] = &symbol{name: fu.Name, kind: symFunc, fn: functionNamed(f.m, fu.Name)}
		}
	}
	for _, a := range f.m.Aliases {
		if fu := functionNamed(f.m, a.Name); fu != nil {
			module.names[a.Name] = &symbol{name: fu.Name, kind: symFunc, fn: fu}
		}
	}
	params := newScope(module)
	p.Params = layoutParams(f.m, f.src, params)
	c := &compiler{f: f, b: &builder{f: f}, errs: &errs}
	c.b.place(&block{label: "entry"})
	if f.t.SM >= 20 {
		op, from := isa.OpMOV, isa.C(0, int64(f.t.StackWord))
		switch {
		case f.t.SM >= 90:
			op = isa.OpLDC
		case f.t.SM < 30: // the frame starts at the bottom of local memory
			from = rz
		}
		in := c.b.emit(op, isa.Mod{Type: isa.U32, Size: 4}, []word{isa.R(stackReg)}, []word{from})
		in.Pos.CUFile = -1
	}
	c.block(f.src.Body, params)
	c.b.in, c.b.guard = nil, word{}
	c.b.emit(isa.OpEXIT, isa.Mod{}, nil, nil)
	errs = append(errs, f.errs...)
	last := f
	for i := 1; i < len(f.link.units); i++ { // translating one can add others
		g := f.link.units[i]
		if g.routine != nil { // when its constants are known
			continue
		}
		if g.src.Body == nil {
			errs = append(errs, f.m.Errorf(g.src.Pos, linkHint, "function %s has no body in this file", g.src.Name))
			continue
		}
		g.adopt(last)
		g.frontFunction(module, &errs)
		last = g
	}
	f.adopt(last)
	if errs = mergeErrors(checkNames(f.m, f.src), errs); len(errs) > 0 {
		return f.refused(errs...)
	}
	if f.link.frames() > 1 && f.t.SM < 30 { // with calls it grows down from the top
		f.blocks[0].insts[0].Src[0] = isa.C(1, 0x100)
	}
	for _, g := range f.link.units {
		g.shared = f.shared
		g.resolveShared()
	}
	return nil
}

// resolveShared replaces the address of dynamic shared memory, now that the static variables are placed, and
// takes the stack frame from the stack pointer.
func (f *fn) resolveShared() {
	dyn := alignUp(f.shared, 16)
	for _, blk := range f.blocks {
		for i := range blk.insts {
			in := &blk.insts[i]
			for k := range in.Src[:in.NSrc] {
				if o := &in.Src[k]; o.Imm >= dynamicShared/2 && (o.Kind == isa.KindImm || o.Kind == isa.KindMem) {
					o.Imm += dyn - dynamicShared
					if o.Kind == isa.KindImm && o.Imm == 0 {
						*o = rz
					}
				}
			}
		}
	}
}
