package lower

import "github.com/sarchlab/smsim/isa"

// recursionStack is the stack that calls of unknown depth get.
const recursionStack = 8 << 10

// code is the unit's instructions in layout order; label operands are indices into them, but for those of CALL.
func (f *fn) code() ([]isa.Inst, []branchTable) {
	frame := f.frameBytes()
	start := map[*block]int{}
	entryAt := map[int]int64{}
	var out []isa.Inst
	var tables []branchTable
	function := f.unit != 0 && frame > 0
	n := 0
	if function {
		n = 1
		out = append(out, f.moveStack(-frame, isa.SourcePos{CUFile: -1}))
	}
	for _, b := range f.blocks {
		start[b] = n
		for _, e := range f.entries {
			if e.at == b {
				entryAt[e.unit] = int64(n)
			}
		}
		n += len(b.insts)
		if function {
			for i := range b.insts {
				if f.leaves(&b.insts[i]) {
					n++
				}
			}
		}
	}
	for _, b := range f.blocks {
		for i := range b.insts {
			in := b.insts[i]
			in.Mod.Flags &^= modKeep | modApart | modWhole | modOpaque | modContract
			if in.Op == isa.OpIMAD && in.Mod.Size == sizeCross || in.Mod.Size == sizeAddend && (in.Op == isa.OpMOV || in.Op == isa.OpIADD3) {
				in.Mod.Size = 0
			}
			to := b.to
			if in.Op == isa.OpBSSY || in.Op == isa.OpSSY || in.Op == isa.OpMOV && in.Src[0].Kind == isa.KindLabel {
				to = f.syncs[in.Src[0].Imm]
			}
			if in.Op == isa.OpBRA && in.Guard.Kind == isa.KindUPred { // BRA.U UP0, target
				in.NSrc, in.Src[0], in.Src[1], in.Guard = 2, in.Guard, in.Src[0], isa.Operand{}
			}
			leaves := f.leaves(&in)
			if in.Op == isa.OpCALL || in.Op == isa.OpRET {
				f.finishCall(&in, entryAt)
				to = nil
			}
			for k := range in.Src[:in.NSrc] {
				o := &in.Src[k]
				if o.Kind == isa.KindLabel && to != nil {
					o.Imm = int64(start[to])
				}
				if o.Kind == isa.KindMem && o.Imm >= incomingMark/2 {
					o.Imm += frame - f.incoming - incomingMark
				}
			}
			if leaves && function {
				out = append(out, f.moveStack(frame, in.Pos))
			}
			out = append(out, in)
		}
		if len(b.table) > 0 {
			t := branchTable{branch: int64(len(out) - 1), offset: b.tableAt}
			for _, to := range b.table {
				at, ok := start[to]
				if !ok {
					panic("lower: a target of an indexed branch is no longer in the code")
				}
				t.to = append(t.to, int64(at))
			}
			tables = append(tables, t)
		}
	}
	return out, tables
}

// leaves says that the instruction returns from a function with a frame.
func (f *fn) leaves(in *isa.Inst) bool {
	s := f.site(in)
	return in.Op == isa.OpRET && s != nil && s.standard
}

// finishCall drops what a call or return says to the package only, and gives a call of a function in the same code its place.
func (f *fn) finishCall(in *isa.Inst, entryAt map[int]int64) {
	if in.NSrc > 0 && in.Src[in.NSrc-1].Flags&flagSite != 0 {
		in.NSrc--
		in.Src[in.NSrc] = isa.Operand{}
	}
	if f.t.SM >= 70 { // the return address is in registers
		in.Mod.Flags |= isa.ModREL | isa.ModNoInc
	}
	for k := range in.Src[:in.NSrc] {
		o := &in.Src[k]
		o.Flags &^= isa.Wide64
		if at, ok := entryAt[int(o.Imm-unitMark)]; ok && o.Kind == isa.KindLabel {
			o.Imm = at
		}
	}
}

// branchTable is where an indexed branch can go: instruction indices, whose addresses lie in constant bank 2.
type branchTable struct {
	branch int64
	offset int64
	to     []int64
}

// shift moves what lies behind instruction at by n instructions.
func (t *branchTable) shift(at, n int64) {
	if t.branch > at {
		t.branch += n
	}
	for i := range t.to {
		if t.to[i] > at {
			t.to[i] += n
		}
	}
}

// placeTables fills in the addresses of the targets of indexed branches.
func (f *fn) placeTables(p *isa.Program, tables []branchTable) {
	for _, t := range tables {
		if p.Indexed == nil {
			p.Indexed = map[int][]int{}
		}
		for i, to := range t.to {
			putWord(f.bank2[t.offset+int64(4*i):], 4, uint64(p.Insts[to].PC))
			p.Indexed[int(t.branch)] = append(p.Indexed[int(t.branch)], int(to))
		}
	}
}

// finish lays the units out and fills in the program.
func (f *fn) finish(p *isa.Program, regs int, opt Options) {
	frame := f.frameBytes()
	start, tables := f.layUnits(p, frame)
	p.Notes = append(p.Notes, f.link.notes...)
	if f.link.frames() > 1 {
		reserve := int64(opt.StackBytes)
		if reserve == 0 {
			reserve = recursionStack
		}
		frame = alignUp(f.link.stackBytes(reserve), 16)
		p.Notes = append(p.Notes, f.link.describe(frame))
	}
	f.placeInsts(p)
	var entries []uint32
	for _, at := range start {
		entries = append(entries, p.Insts[at].PC)
	}
	f.placeFunctionAddresses(entries)
	f.placeTables(p, tables)
	f.fillWindow()
	p.Regs = f.reportedRegs(regs)
	p.UsesCC = f.usesCC
	p.SharedBytes = int(f.shared)
	p.SharedBase = uint32(f.sharedStart())
	p.LocalBytes = int(frame)
	p.ConstBanks = map[uint8][]byte{}
	for bank, data := range map[uint8][]byte{2: f.bank2, 3: f.constMem, 4: f.bank4} {
		if len(data) > 0 {
			p.ConstBanks[bank] = data
		}
	}
	p.Globals, p.ConstRelocs, p.TexRefs = f.globals, f.constRelocs, f.texRefs
	p.Files = f.files
	p.Barriers = max(f.barriers, barriersNamed(p.Insts))
	p.MinBlocks = f.src.MinNCTA
	if t := f.src.MaxNTid; t[0] > 0 {
		p.MaxThreads = max(1, t[0]) * max(1, t[1]) * max(1, t[2])
	}
	if r := f.src.ReqNTid; r[0] > 0 {
		p.ReqBlock = isa.Dim3{X: uint32(r[0]), Y: uint32(max(1, r[1])), Z: uint32(max(1, r[2]))}
	}
}

// layUnits puts the units' code behind one another into the program, the kernel with room for a frame of that many bytes.
// The results are the first instruction of each unit and the tables of all.
func (f *fn) layUnits(p *isa.Program, frame int64) (start []int64, tables []branchTable) {
	for _, g := range f.link.units {
		if g.own != nil { // its code is part of another unit's
			start = append(start, 0)
			continue
		}
		code, own := g.code()
		if g == f {
			at, grown := f.frame(code, frame)
			for i := range own {
				own[i].shift(at, int64(len(grown)-len(code)))
			}
			code = grown
		}
		base := int64(len(p.Insts))
		for i := range own {
			own[i].shift(-1, base)
		}
		tables = append(tables, own...)
		start = append(start, base)
		for i := range code {
			for k := range code[i].Src[:code[i].NSrc] {
				if o := &code[i].Src[k]; o.Kind == isa.KindLabel && o.Imm < unitMark {
					o.Imm += base
				}
			}
		}
		p.Insts = append(p.Insts, code...)
	}
	for i := range p.Insts {
		if in := &p.Insts[i]; in.Op == isa.OpCALL && in.Src[0].Kind == isa.KindLabel && in.Src[0].Imm >= unitMark {
			in.Src[0].Imm = start[in.Src[0].Imm-unitMark]
		}
	}
	return start, tables
}

// placeInsts gives the instructions their byte addresses, also where they are numbers in the code (return addresses).
func (f *fn) placeInsts(p *isa.Program) {
	pc := uint32(0)
	for i := range p.Insts {
		if p.SchedPadding && f.t.InstBytes == 8 {
			// One control word before every three instructions (Maxwell, Pascal) or seven (Kepler).
			group := uint32(3)
			if f.t.SM < 50 {
				group = 7
			}
			k := uint32(i)
			pc = (k + k/group + 1) * 8
		}
		p.Insts[i].PC = pc
		pc += f.t.InstBytes
	}
	for i := range p.Insts {
		if in := &p.Insts[i]; in.Op == isa.OpMOV && in.Src[0].Kind == isa.KindLabel {
			in.Src[0] = isa.Operand{Kind: isa.KindImm, Imm: int64(p.Insts[in.Src[0].Imm].PC)}
		}
	}
}

// barriersNamed is how many of a block's 16 barriers the code needs: one more than the highest number it names.
func barriersNamed(code []isa.Inst) int {
	n := 0
	for i := range code {
		in := &code[i]
		if in.Op != isa.OpBAR {
			continue
		}
		n = max(n, 1)
		if o := in.Src[0]; in.NSrc > 0 && (o.Kind == isa.KindImm || o.Kind == isa.KindBarrier) && o.Imm < 16 {
			n = max(n, int(o.Imm)+1)
		}
	}
	return n
}

// frame makes room for local variables and spills at the start of the kernel: the stack grows down.
// Before Kepler the frame of a kernel without calls starts at address 0. The first result is the instruction behind which it did.
func (f *fn) frame(code []isa.Inst, bytes int64) (int64, []isa.Inst) {
	if bytes == 0 || f.t.SM < 20 {
		return 0, code
	}
	for i := range code {
		in := &code[i]
		if in.NDst == 1 && in.Dst[0].Kind == isa.KindReg && in.Dst[0].Reg == stackReg && in.Src[0].Kind == isa.KindConst {
			code = append(code[:i+1], append([]isa.Inst{f.moveStack(-bytes, in.Pos)}, code[i+1:]...)...)
			for k := range code {
				for s := range code[k].Src[:code[k].NSrc] {
					if o := &code[k].Src[s]; o.Kind == isa.KindLabel && o.Imm < unitMark && o.Imm > int64(i) {
						o.Imm++
					}
				}
			}
			return int64(i), code
		}
	}
	return 0, code
}

// moveStack adds to the stack pointer.
func (f *fn) moveStack(bytes int64, pos isa.SourcePos) isa.Inst {
	add := isa.Inst{Op: isa.OpIADD, NDst: 1, NSrc: 2, Pos: pos, Dst: [isa.MaxDst]isa.Operand{isa.R(stackReg)},
		Src: [isa.MaxSrc]isa.Operand{isa.R(stackReg), imm(uint32(bytes))}}
	if f.t.SM >= 70 {
		add.Op, add.NSrc, add.Src[2] = isa.OpIADD3, 3, rz
		fillLayout(&add)
	}
	return add
}

// systemRegs is the number of registers a thread has from Volta on beyond those its code names: in all 400 listings with
// resource figures that were compared, the count that ptxas reports is the highest register plus three.
const systemRegs = 2

// systemRegs is how many registers of a thread the code cannot use.
func (f *fn) systemRegs() int {
	if f.t.SM >= 70 {
		return systemRegs
	}
	return 0
}

// reportedRegs is the register count as ptxas prints it.
func (f *fn) reportedRegs(used int) int {
	used = max(used, 2)
	switch {
	case f.t.SM >= 90:
		return max(used, 8) + f.systemRegs()
	default:
		return max(used, 4) + f.systemRegs()
	}
}
