package lower

import "github.com/sarchlab/smsim/isa"

// finish lays the blocks out and fills in the program.
func (f *fn) finish(p *isa.Program, regs int) {
	start := map[*block]int{}
	n := 0
	for _, b := range f.blocks {
		start[b] = n
		n += len(b.insts)
	}
	p.Insts = make([]isa.Inst, 0, n)
	for _, b := range f.blocks {
		for i := range b.insts {
			in := b.insts[i]
			in.Mod.Flags &^= modKeep
			to := b.to
			if in.Op == isa.OpBSSY || in.Op == isa.OpSSY {
				to = f.syncs[in.Src[0].Imm]
			}
			for k := range in.Src[:in.NSrc] {
				if in.Src[k].Kind == isa.KindLabel && to != nil {
					in.Src[k].Imm = int64(start[to])
				}
			}
			p.Insts = append(p.Insts, in)
		}
	}
	frame := alignUp(f.localMem, 8)
	f.frame(p, frame)
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
	p.Regs = f.reportedRegs(regs)
	p.UsesCC = f.usesCC
	p.SharedBytes = int(f.shared)
	p.LocalBytes = int(frame)
	p.ConstBanks = map[uint8][]byte{}
	if len(f.constMem) > 0 {
		p.ConstBanks[3] = f.constMem
	}
	if len(f.bank2) > 0 {
		p.ConstBanks[2] = f.bank2
	}
	if len(f.bank4) > 0 {
		p.ConstBanks[4] = f.bank4
	}
	p.Globals = f.globals
	p.Files = f.files
	p.Barriers = f.barriers
	p.MinBlocks = f.src.MinNCTA
	if t := f.src.MaxNTid; t[0] > 0 {
		p.MaxThreads = max(1, t[0]) * max(1, t[1]) * max(1, t[2])
	}
	if r := f.src.ReqNTid; r[0] > 0 {
		p.ReqBlock = isa.Dim3{X: uint32(r[0]), Y: uint32(max(1, r[1])), Z: uint32(max(1, r[2]))}
	}
	for i := range p.Insts {
		in := &p.Insts[i]
		if in.Op == isa.OpBAR {
			p.Barriers = max(p.Barriers, 1)
			for k := range in.Src[:in.NSrc] {
				if o := in.Src[k]; k == 0 && (o.Kind == isa.KindImm || o.Kind == isa.KindBarrier) && o.Imm < 16 {
					p.Barriers = max(p.Barriers, int(o.Imm)+1)
				}
			}
		}
	}
}

// frame makes room for local variables and spills at the start of the kernel: the stack grows down.
// Before Kepler the frame starts at address 0.
func (f *fn) frame(p *isa.Program, bytes int64) {
	if bytes == 0 || f.t.SM < 30 {
		return
	}
	for i := range p.Insts {
		in := &p.Insts[i]
		if in.NDst == 1 && in.Dst[0].Kind == isa.KindReg && in.Dst[0].Reg == stackReg && in.Src[0].Kind == isa.KindConst {
			add := isa.Inst{Op: isa.OpIADD, NDst: 1, NSrc: 2, Pos: in.Pos, Dst: [isa.MaxDst]isa.Operand{isa.R(stackReg)},
				Src: [isa.MaxSrc]isa.Operand{isa.R(stackReg), imm(uint32(-bytes))}}
			if f.t.SM >= 70 {
				add.Op, add.NSrc, add.Src[2] = isa.OpIADD3, 3, rz
				fillLayout(&add)
			}
			p.Insts = append(p.Insts[:i+1], append([]isa.Inst{add}, p.Insts[i+1:]...)...)
			for k := range p.Insts {
				for s := range p.Insts[k].Src[:p.Insts[k].NSrc] {
					if o := &p.Insts[k].Src[s]; o.Kind == isa.KindLabel && o.Imm > int64(i) {
						o.Imm++
					}
				}
			}
			return
		}
	}
}

// reportedRegs is the register count as ptxas prints it.
func (f *fn) reportedRegs(used int) int {
	used = max(used, 2)
	switch {
	case f.t.SM >= 90:
		return max(used, 8)
	default:
		return max(used, 4)
	}
}
