package lower

import (
	"math/bits"

	"github.com/sarchlab/smsim/isa"
)

// Operand places of machine encodings. Every arithmetic instruction has at most one source that is not a general
// register (an immediate, a constant-bank word or a uniform register), and only some of its places take one.

// operandPlaces is keyed by opcode; opcodes that are missing take registers only, except that immediates stay that are not stored.
var operandPlaces = map[isa.Op]string{
	isa.OpIADD: "rf", isa.OpISUB: "rf", isa.OpIADD3: "rfr--", isa.OpIMUL: "rf", isa.OpIMAD: "rff-", isa.OpXMAD: "rff",
	isa.OpIMUL24: "rf", isa.OpIMAD24: "rff", isa.OpIDP: "rfr", isa.OpISCADD: "rf-", isa.OpLEA: "rf---", isa.OpISAD: "rfr",
	isa.OpVABSDIFF: "rff", isa.OpVABSDIFF2: "rff", isa.OpVABSDIFF4: "rff", isa.OpIABS: "f", isa.OpIMNMX: "rf-", isa.OpVIMNMX: "rf-",
	isa.OpVIMNMX3: "rff--", isa.OpVIADDMNMX: "rff-", isa.OpVIADD: "rf", isa.OpLOP: "rf", isa.OpLOP32I: "rf", isa.OpLOP3: "rfr-",
	isa.OpSHL: "rf", isa.OpSHR: "rf", isa.OpSHF: "rff", isa.OpPRMT: "rff", isa.OpSEL: "rf-", isa.OpFSEL: "rf-", isa.OpICMP: "rff",
	isa.OpMOV: "f", isa.OpMOV32I: "f", isa.OpISETP: "rf--", isa.OpISET: "rf-", isa.OpSGXT: "rf", isa.OpBMSK: "rf", isa.OpBFE: "rf",
	isa.OpBFI: "rff", isa.OpBREV: "f", isa.OpPOPC: "f", isa.OpFLO: "f", isa.OpFADD: "rf", isa.OpFMUL: "rf", isa.OpFFMA: "rff", isa.OpFMAD: "rff",
	isa.OpFSETP: "rf-", isa.OpFSET: "rf-", isa.OpFMNMX: "rf-", isa.OpI2F: "f", isa.OpF2I: "f", isa.OpF2F: "f", isa.OpI2I: "f",
	isa.OpI2FP: "f", isa.OpF2FP: "rf", isa.OpFRND: "f", isa.OpMUFU: "f", isa.OpI2IP: "rff", isa.OpF2IP: "rf",
	isa.OpDADD: "rf", isa.OpDMUL: "rf", isa.OpDFMA: "rff", isa.OpDSETP: "rf-", isa.OpHADD2: "rf", isa.OpHMUL2: "rf", isa.OpHFMA2: "rff",
	isa.OpVADD: "rff", isa.OpVSUB: "rff", isa.OpVMNMX: "rff", isa.OpVSHL: "rff", isa.OpVSHR: "rff", isa.OpVSET: "rff", isa.OpVMAD: "rff",
}

// placesOf gives the source places of an instruction on the target.
func (f *fn) placesOf(in *isa.Inst) string {
	p := operandPlaces[in.Op]
	if in.Op == isa.OpLEA && in.Mod.Has(isa.ModHI) && !in.Mod.Has(isa.ModSX32) {
		return "rfr--"
	}
	return p
}

// sourceKindOK says whether operand o may stand in source place k of the instruction, its other sources given.
func (f *fn) sourceKindOK(in *isa.Inst, k int, o *isa.Operand) bool {
	switch o.Kind {
	case isa.KindReg, isa.KindPred, isa.KindUPred, isa.KindMem, isa.KindLabel, isa.KindSpecial, isa.KindBarrier, isa.KindNone:
		return true
	}
	if uniformOp(in) {
		return true
	}
	p := f.placesOf(in)
	if k >= len(p) {
		return o.Kind == isa.KindImm && !storesOperand(in) || in.Op == isa.OpLDC
	}
	switch p[k] {
	case '-':
		return true
	case 'r':
		return false
	}
	// One operand that is no register.
	for j := range in.Src[:in.NSrc] {
		if j == k || j >= len(p) || p[j] == '-' {
			continue
		}
		switch in.Src[j].Kind {
		case isa.KindImm, isa.KindConst, isa.KindUReg:
			return false
		}
	}
	if o.Kind == isa.KindConst && o.Reg != isa.RZ {
		return false
	}
	if o.Kind == isa.KindImm && in.Op == isa.OpSHF && k == 2 && isZero(in.Src[0]) && in.Mod.Has(isa.ModHI) && !in.Mod.Has(isa.ModLeft) {
		return false // ptxas shifts no literal to the right that is not in a register
	}
	if o.Kind == isa.KindUReg && !f.takesUniform(in) {
		return false
	}
	return true
}

// storesOperand says that the instruction hands the data it reads to memory: from general registers only.
func storesOperand(in *isa.Inst) bool {
	switch in.Op {
	case isa.OpST, isa.OpSTG, isa.OpSTS, isa.OpSTL, isa.OpSUST, isa.OpATOM, isa.OpATOMG, isa.OpATOMS, isa.OpRED:
		return true
	}
	return false
}

// uniformOp says that the instruction runs on the uniform datapath and reads uniform registers.
func uniformOp(in *isa.Inst) bool {
	switch in.Class() {
	case isa.ClassUALU, isa.ClassULDC, isa.ClassS2UR:
		return true
	}
	return false
}

// takesUniform says whether the instruction has a form with a uniform register source.
func (f *fn) takesUniform(in *isa.Inst) bool {
	if f.t.SM < 75 {
		return false
	}
	switch in.Op {
	case isa.OpPOPC, isa.OpFLO, isa.OpBREV, isa.OpI2F, isa.OpF2I, isa.OpF2F, isa.OpMUFU, isa.OpDADD, isa.OpDMUL, isa.OpDFMA:
		return f.t.SM >= 80
	}
	return true
}

// commutes says that sources 0 and 1 can be exchanged.
func commutes(in *isa.Inst) bool {
	switch in.Op {
	case isa.OpIADD, isa.OpIADD3, isa.OpIMUL, isa.OpIMAD, isa.OpIMNMX, isa.OpVIMNMX, isa.OpFADD, isa.OpFMUL, isa.OpFFMA, isa.OpFMAD, isa.OpFMNMX,
		isa.OpDADD, isa.OpDMUL, isa.OpDFMA, isa.OpVIMNMX3, isa.OpIMUL24, isa.OpIMAD24, isa.OpVIADDMNMX:
		return true
	case isa.OpIDP:
		return in.Mod.Type == in.Mod.BType && in.Mod.Sub == isa.Sub4A
	case isa.OpLOP:
		return in.Mod.Sub == isa.SubAnd || in.Mod.Sub == isa.SubOr || in.Mod.Sub == isa.SubXor
	}
	return false
}

// swapCompare exchanges the sources of a comparison.
func swapCompare(c isa.Cmp) isa.Cmp {
	switch c {
	case isa.CmpLT:
		return isa.CmpGT
	case isa.CmpGT:
		return isa.CmpLT
	case isa.CmpLE:
		return isa.CmpGE
	case isa.CmpGE:
		return isa.CmpLE
	case isa.CmpLTU:
		return isa.CmpGTU
	case isa.CmpGTU:
		return isa.CmpLTU
	case isa.CmpLEU:
		return isa.CmpGEU
	case isa.CmpGEU:
		return isa.CmpLEU
	}
	return c
}

// lutSwapAB and lutSwapBC give the truth table after two inputs are exchanged.
func lutSwapAB(l uint8) uint8 {
	return l&0xc3 | l>>2&0x0c | l<<2&0x30
}

func lutSwapBC(l uint8) uint8 {
	return l&0x99 | l>>1&0x22 | l<<1&0x44
}

// arrange exchanges commutative sources so that the one that is no register stands in a place that takes it.
func (f *fn) arrange(in *isa.Inst) {
	plain := func(k int) bool { return in.Src[k].Kind == isa.KindReg }
	if in.NSrc < 2 || plain(0) && (plain(1) || in.NSrc < 3) && !(in.Op == isa.OpIADD3 && !plain(2)) && !(in.Op == isa.OpLOP3 && !plain(2)) {
		return
	}
	switch {
	case in.Op == isa.OpLOP3:
		if !plain(0) && plain(1) {
			in.Src[0], in.Src[1] = in.Src[1], in.Src[0]
			in.Mod.Lut = lutSwapAB(in.Mod.Lut)
		}
		if !plain(2) && plain(1) {
			in.Src[1], in.Src[2] = in.Src[2], in.Src[1]
			in.Mod.Lut = lutSwapBC(in.Mod.Lut)
		}
	case in.Op == isa.OpISETP || in.Op == isa.OpFSETP || in.Op == isa.OpDSETP:
		if !plain(0) && plain(1) && !in.Mod.Has(isa.ModEX) && in.Mod.Sub2 == isa.SubNone {
			in.Src[0], in.Src[1] = in.Src[1], in.Src[0]
			in.Mod.Cmp = swapCompare(in.Mod.Cmp)
		}
	case in.Op == isa.OpSEL || in.Op == isa.OpFSEL:
		if !plain(0) && plain(1) {
			in.Src[0], in.Src[1] = in.Src[1], in.Src[0]
			in.Src[2].Flags ^= isa.Neg
		}
	case in.Op == isa.OpIMAD && in.Mod.Type != in.Mod.BType && in.Mod.BType != isa.TypeNone:
	case commutes(in):
		if !plain(0) && plain(1) {
			in.Src[0], in.Src[1] = in.Src[1], in.Src[0]
		}
		if in.Op == isa.OpIADD3 && !plain(2) && plain(1) {
			in.Src[1], in.Src[2] = in.Src[2], in.Src[1]
		}
	}
}

// legalise moves operands that an instruction cannot encode into registers.
func (f *fn) legalise() {
	f.ready = map[isa.Operand]isa.Operand{}
	pool := newConstPool(f)
	for _, b := range f.blocks {
		var out []isa.Inst
		clear(f.ready)
		shared := sharedAddends(b)
		pool.ring.start(b.insts)
		pool.seen[b] = true
		for i := range b.insts {
			in := b.insts[i]
			pool.ring.at = i
			f.arrange(&in)
			if twoImmediates(&in) {
				f.productOfTwoImmediates(&out, &in, shared)
			}
			pool.dotImmediate(b, &out, &in)
			if f.t.SM >= 90 || uniformOp(&in) {
				pool.place(b, &out, &in)
				f.arrange(&in)
			}
			if in.Op == isa.OpIMAD && in.Src[2].Kind == isa.KindConst && in.Src[2].Is(flagPair) && in.Src[1].Kind != isa.KindReg {
				in.Src[1] = f.materialise(&out, in.Src[1], &in) // one copy instead of two
			}
			for k := range in.Src[:in.NSrc] {
				o := in.Src[k]
				if f.sourceKindOK(&in, k, &o) {
					continue
				}
				in.Src[k] = f.materialise(&out, o, &in)
			}
			out = append(out, in)
		}
		b.insts = out
	}
	pool.finish()
}

// twoImmediates says that the instruction multiplies by an immediate and adds another; it can encode one.
func twoImmediates(in *isa.Inst) bool {
	return in.Op == isa.OpIMAD && in.Mod.Flags == 0 && in.Src[1].Kind == isa.KindImm && in.Src[2].Kind == isa.KindImm && !isZero(in.Src[2])
}

// productOfTwoImmediates makes it encodable: LEA for a power of two, else one immediate takes a register.
func (f *fn) productOfTwoImmediates(out *[]isa.Inst, in *isa.Inst, shared map[int64]bool) {
	factor, _ := constant(in.Src[1])
	switch {
	case f.t.SM >= 70 && bits.OnesCount32(factor) == 1 && in.Src[2].Imm < dynamicShared/2:
		in.Op, in.NDst, in.Dst[1] = isa.OpLEA, 2, pt
		in.Src[1], in.Src[2] = in.Src[2], imm(uint32(bits.TrailingZeros32(factor)))
	case shared[in.Src[2].Imm]:
		in.Src[2] = f.materialise(out, in.Src[2], in)
	}
}

// sharedAddends are the immediates of a block that products with different immediates are added to: they go into a register,
// otherwise the factor does, as in ptxas 13.0.
func sharedAddends(b *block) map[int64]bool {
	factor, shared := map[int64]int64{}, map[int64]bool{}
	for i := range b.insts {
		in := &b.insts[i]
		if !twoImmediates(in) {
			continue
		}
		c := in.Src[2].Imm
		if was, seen := factor[c]; seen && was != in.Src[1].Imm {
			shared[c] = true
		}
		factor[c] = in.Src[1].Imm
	}
	return shared
}

// takesWideImmediate says that immediates of the instruction are sign-extended to 64 bits (compute capability 12).
func takesWideImmediate(in *isa.Inst) bool {
	switch in.Op {
	case isa.OpISETP, isa.OpIMNMX:
		return in.Mod.Type == isa.U64 || in.Mod.Type == isa.S64
	case isa.OpIADD:
		return in.Mod.Has(isa.ModWide)
	}
	return false
}

// materialise emits a copy of operand o into a new register (or pair) and returns it.
func (f *fn) materialise(out *[]isa.Inst, o isa.Operand, at *isa.Inst) isa.Operand {
	keep := o.Flags & (isa.Neg | isa.Abs | isa.Inv)
	upper := imm(0) // of an immediate that stands for its sign-extended value
	if o.Kind == isa.KindImm {
		keep = 0
		v, _ := constant(o)
		if v == 0 && o.Imm != dynamicShared {
			return rz
		}
		if o.Imm < dynamicShared/2 {
			o = imm(v)
		}
		if takesWideImmediate(at) {
			o.Flags |= flagPair
			upper = immWord(uint32(int32(v) >> 31))
		}
	}
	mv := func(d isa.Reg, s isa.Operand) {
		if s.Kind == isa.KindConst && s.Reg == isa.RZ && f.t.SM >= 90 {
			*out = append(*out, isa.Inst{Op: isa.OpLDC, Mod: isa.Mod{Size: 4}, NDst: 1, NSrc: 1, Pos: at.Pos, Dst: [isa.MaxDst]isa.Operand{isa.R(d)}, Src: [isa.MaxSrc]isa.Operand{s}})
			return
		}
		*out = append(*out, isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: at.Pos, Dst: [isa.MaxDst]isa.Operand{isa.R(d)}, Src: [isa.MaxSrc]isa.Operand{s}})
	}
	key := o
	key.Flags &^= keep | isa.Wide64 | isa.Reuse
	if r, ok := f.ready[key]; ok {
		r.Flags |= keep
		return r
	}
	if o.Flags&flagPair != 0 {
		regs := []isa.Reg{f.newReg(), f.newReg()}
		f.setTuple(regs)
		lo, hi := o, o
		lo.Flags, hi.Flags = 0, 0
		if o.Kind == isa.KindImm {
			hi = upper
		} else if o.Kind == isa.KindConst {
			hi.Imm += 4
		} else if t := f.utuples[o.Reg]; o.Kind == isa.KindUReg && len(t) > 1 {
			hi.Reg = t[1]
		}
		mv(regs[0], lo)
		mv(regs[1], hi)
		d := tupleOperand(regs)
		f.ready[key] = d
		d.Flags |= keep
		return d
	}
	d := f.newReg()
	o.Flags &^= keep | isa.Wide64
	mv(d, o)
	r := isa.R(d)
	f.ready[key] = r
	r.Flags = keep
	return r
}
