package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// emit appends an instruction with the guard, PTX position and .loc of the PTX instruction.
// Omitted trailing operands of opcodes with a fixed layout (see layouts) are filled in.
func (b *builder) emit(op isa.Op, mod isa.Mod, dsts, srcs []word) *isa.Inst {
	in := isa.Inst{Op: op, Mod: mod, Guard: b.guard}
	if b.in != nil {
		in.Pos = b.f.position(b.in)
	}
	in.NDst = uint8(copy(in.Dst[:], dsts))
	in.NSrc = uint8(copy(in.Src[:], srcs))
	if len(dsts) > isa.MaxDst || len(srcs) > isa.MaxSrc {
		panic("lower: too many operands for " + op.String())
	}
	if b.f.t.SM < 13 && b.in != nil && b.err == nil && (in.Class() == isa.ClassDFMA || mod.Type == isa.F64 || mod.BType == isa.F64) {
		b.errorf("%s has no double precision; it came with sm_13", b.f.t.Name)
	}
	fillLayout(&in)
	b.cur.insts = append(b.cur.insts, in)
	return &b.cur.insts[len(b.cur.insts)-1]
}

// emitWide is emit for operands of several words: an operand of two or four words becomes a tuple of
// consecutive registers (three are padded to four). Words that cannot be part of a new tuple, because they
// are no registers or belong to another tuple, are copied.
func (b *builder) emitWide(op isa.Op, mod isa.Mod, dsts, srcs [][]word) *isa.Inst {
	var d, s []word
	type copyBack struct{ to, from word }
	var after []copyBack
	for _, w := range srcs {
		s = append(s, b.tupleSrc(w))
	}
	for _, w := range dsts {
		if len(w) == 1 {
			d = append(d, w[0])
			continue
		}
		regs, fresh := b.tupleDst(w)
		d = append(d, tupleOperand(regs))
		if fresh {
			for i := range w {
				if w[i].Reg != isa.RZ {
					after = append(after, copyBack{w[i], isa.R(regs[i])})
				}
			}
		}
	}
	b.emit(op, mod, d, s)
	at := len(b.cur.insts) - 1
	for _, c := range after {
		b.mov(c.to, c.from)
	}
	return &b.cur.insts[at]
}

// mov copies one word.
func (b *builder) mov(to, from word) *isa.Inst {
	return b.emit(isa.OpMOV, isa.Mod{}, []word{to}, []word{from})
}

func tupleOperand(regs []isa.Reg) word {
	o := isa.R(regs[0])
	if len(regs) == 2 {
		o.Flags |= flagPair | isa.Wide64
	} else {
		o.Flags |= flagQuad
	}
	return o
}

// tupleSrc is an operand for the words w: the word itself, an existing tuple, or a new one.
func (b *builder) tupleSrc(w []word) word {
	switch {
	case len(w) == 1:
		return w[0]
	case allZero(w):
		return rz
	case w[0].Kind == isa.KindConst && w[0].Reg == isa.RZ && consecutiveConst(w):
		o := w[0]
		o.Flags |= flagPair | isa.Wide64
		return o
	case w[0].Kind == isa.KindMem:
		return w[0]
	}
	if regs, ok := b.f.tupleOf(w); ok {
		o := tupleOperand(regs)
		o.Flags |= w[0].Flags & (isa.Neg | isa.Abs | isa.Inv)
		return o
	}
	n := 2
	if len(w) > 2 {
		n = 4
	}
	regs := make([]isa.Reg, n)
	for i := range regs {
		regs[i] = b.f.newReg()
	}
	b.f.setTuple(regs)
	for i, x := range w {
		b.mov(isa.R(regs[i]), x)
	}
	return tupleOperand(regs)
}

// tupleDst gives the registers of a destination tuple and whether they are new, to be copied to w afterwards.
func (b *builder) tupleDst(w []word) ([]isa.Reg, bool) {
	if regs, ok := b.f.tupleOf(w); ok {
		return regs, false
	}
	n := 2
	if len(w) > 2 {
		n = 4
	}
	regs := make([]isa.Reg, n)
	for i := range regs {
		regs[i] = b.f.newReg()
	}
	b.f.setTuple(regs)
	return regs, true
}

func allZero(w []word) bool {
	for _, x := range w {
		if !isZero(x) {
			return false
		}
	}
	return true
}

func consecutiveConst(w []word) bool {
	for i, x := range w {
		if x.Kind != isa.KindConst || x.Bank != w[0].Bank || x.Imm != w[0].Imm+int64(4*i) || x.Reg != isa.RZ || x.Flags != 0 {
			return false
		}
	}
	return w[0].Imm%int64(4*len(w)) == 0
}

// tupleOf finds or makes the tuple of exactly these registers. It fails when a word is no plain register,
// repeats, or is a member of another tuple.
func (f *fn) tupleOf(w []word) ([]isa.Reg, bool) {
	if len(w) != 2 && len(w) != 4 {
		return nil, false
	}
	regs := make([]isa.Reg, len(w))
	free := true
	for i, x := range w {
		if x.Kind != isa.KindReg || x.Reg == isa.RZ || x.Reg < isa.VirtualBase || (x.Flags&^(flagPair|flagQuad|isa.Wide64)) != 0 {
			return nil, false
		}
		regs[i] = x.Reg
		for k := 0; k < i; k++ {
			if regs[k] == x.Reg {
				return nil, false
			}
		}
		if _, in := f.inTuple[x.Reg]; in {
			free = false
		}
	}
	if have := f.tuples[regs[0]]; len(have) == len(regs) {
		same := true
		for i := range have {
			same = same && have[i] == regs[i]
		}
		if same {
			return have, true
		}
	}
	if !free {
		return nil, false
	}
	f.setTuple(regs)
	return regs, true
}

func (f *fn) setTuple(regs []isa.Reg) {
	f.tuples[regs[0]] = regs
	for _, r := range regs {
		f.inTuple[r] = regs[0]
	}
}

// newBlock is a block that is not yet placed.
func (b *builder) newBlock() *block { return &block{} }

// place ends the current block, which falls through into blk unless it jumped, and continues in blk.
func (b *builder) place(blk *block) {
	b.f.blocks = append(b.f.blocks, blk)
	b.cur = blk
}

// jump ends the current block with an unconditional branch. Place a block before emitting more.
func (b *builder) jump(to *block) {
	g := b.guard
	b.guard = isa.Operand{}
	b.emit(isa.OpBRA, isa.Mod{}, nil, []word{{Kind: isa.KindLabel}})
	b.guard = g
	b.cur.to = to
	b.place(&block{})
}

// branch ends the current block with a branch taken by lanes where p is true; the others fall through into
// a new current block. uniform states that the lanes of a warp agree (bra.uni).
func (b *builder) branch(p word, to *block, uniform ...bool) {
	g := b.guard
	b.guard = p
	mod := isa.Mod{}
	if len(uniform) > 0 && uniform[0] {
		mod.Flags = isa.ModU
	}
	b.emit(isa.OpBRA, mod, nil, []word{{Kind: isa.KindLabel}})
	b.guard = g
	b.cur.to = to
	b.place(&block{})
}

// position is where an instruction comes from, in PTX and in the CUDA source.
func (f *fn) position(in *ptx.Instr) isa.SourcePos {
	p := isa.SourcePos{Line: int32(in.Pos.Line), Col: int32(in.Pos.Col), CUFile: -1}
	if in.Loc == nil {
		return p
	}
	n, ok := f.fileNum[in.Loc.File]
	if !ok {
		n = -1
		if name, has := f.m.Files[in.Loc.File]; has {
			n = int16(len(f.files))
			f.files = append(f.files, name)
		}
		f.fileNum[in.Loc.File] = n
	}
	p.CUFile, p.CULine = n, int32(in.Loc.Line)
	return p
}
