package lower

import "github.com/sarchlab/smsim/isa"

// gatherAdd64 joins the two halves of 64-bit additions into one pseudo instruction (IADD3 with ModWide: low and
// high results; sources three low words, then three high words), which fusion can treat as one value.
func (f *fn) gatherAdd64() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	uses := f.useCounts(n)
	for _, b := range f.blocks {
		for i := 0; i+1 < len(b.insts); i++ {
			lo, hi := &b.insts[i], &b.insts[i+1]
			if lo.Op != isa.OpIADD3 || hi.Op != isa.OpIADD3 || lo.Mod.Flags != 0 || hi.Mod.Flags != isa.ModX || lo.Guard != hi.Guard {
				continue
			}
			c := lo.Dst[1]
			if c.Kind != isa.KindPred || c.Reg < isa.VirtualBase || lo.Dst[2] != pt || hi.Dst[1] != pt || hi.Dst[2] != pt ||
				hi.Src[3] != c || hi.Src[4] != notPT || uses[n.of(isa.KindPred, c.Reg)] != 1 || !isZero(lo.Src[2]) || !isZero(hi.Src[2]) {
				continue
			}
			if lo.Dst[0].Reg == isa.RZ || hi.Dst[0].Reg == isa.RZ || hi.Src[0].Reg == lo.Dst[0].Reg && hi.Src[0].Kind == isa.KindReg || hi.Src[1].Reg == lo.Dst[0].Reg && hi.Src[1].Kind == isa.KindReg {
				continue
			}
			if isZero(lo.Src[1]) && isZero(hi.Src[1]) && lo.Src[0].Flags == 0 && hi.Src[0].Flags == 0 { // as in `add.u64 %rd1, %SPL, 0`
				toMov(lo, lo.Src[0])
				toMov(hi, hi.Src[0])
				continue
			}
			ok := true
			w := isa.Inst{Op: isa.OpIADD3, Mod: isa.Mod{Flags: isa.ModWide}, NDst: 2, NSrc: 6, Guard: lo.Guard, Pos: lo.Pos}
			w.Dst[0], w.Dst[1] = lo.Dst[0], hi.Dst[0]
			for k := range 2 {
				l, h := lo.Src[k], hi.Src[k]
				switch {
				case l.Is(isa.Neg):
					if !h.Is(isa.Inv) {
						if v, isC := constant(h); isC {
							h = immWord(^v)
						} else {
							ok = false
						}
					}
					h.Flags = h.Flags&^isa.Inv | isa.Neg
					if isZero(h) {
						h = rz
					}
				case h.Is(isa.Inv) && h.Kind != isa.KindReg || h.Is(isa.Inv) && h.Reg != isa.RZ:
					ok = false
				case h.Is(isa.Inv):
					h = imm(0xffffffff)
				}
				w.Src[k], w.Src[3+k] = l, h
			}
			w.Src[2], w.Src[5] = rz, rz
			if !ok {
				continue
			}
			*lo = w
			dead(hi)
			i++
		}
	}
	f.compact()
}

// isAdd64 says that the instruction is the 64-bit addition pseudo.
func isAdd64(in *isa.Inst) bool { return in.Op == isa.OpIADD3 && in.Mod.Has(isa.ModWide) }

// expandPseudos replaces pseudo instructions by machine instructions.
func (f *fn) expandPseudos() {
	for _, b := range f.blocks {
		any := false
		for i := range b.insts {
			any = any || isAdd64(&b.insts[i]) || isLea64(&b.insts[i])
		}
		if !any {
			continue
		}
		var out []isa.Inst
		for i := range b.insts {
			in := b.insts[i]
			if !isAdd64(&in) && !isLea64(&in) {
				out = append(out, in)
				continue
			}
			low := in.Dst[0]
			if highReads(&in, low) { // the low half must not overwrite what the high half reads
				in.Dst[0] = isa.R(f.newReg())
			}
			if isAdd64(&in) {
				f.expandAdd64(&out, &in)
			} else {
				f.expandLea64(&out, &in)
			}
			if in.Dst[0] != low {
				mv := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Guard: in.Guard, Pos: in.Pos}
				mv.Dst[0], mv.Src[0] = low, in.Dst[0]
				out = append(out, mv)
			}
		}
		b.insts = out
	}
}

// highReads says that the high half of a 64-bit pseudo reads the register.
func highReads(in *isa.Inst, r isa.Operand) bool {
	read := in.Src[3:6]
	if isLea64(in) {
		read = in.Src[:4]
	}
	for k, o := range read {
		if isLea64(in) && k == 1 { // the addend's low word
			continue
		}
		if o.Kind == isa.KindReg && o.Reg == r.Reg && r.Reg != isa.RZ {
			return true
		}
	}
	return false
}

// immWide is a 32-bit immediate of a 64-bit instruction, sign-extended.
func immWide(v uint32) word {
	w := immWord(v)
	if w.Kind == isa.KindImm {
		w.Imm = int64(int32(v))
	}
	return w
}

// emitAdd64 emits the 64-bit addition of compute capability 12 where its operands are pairs of registers, which words are copied to that
// are no pair, or literals of 32 bits.
func (f *fn) emitAdd64(out *[]isa.Inst, in *isa.Inst) bool {
	w := isa.Inst{Op: isa.OpIADD, Mod: isa.Mod{Flags: isa.ModWide}, NDst: 1, NSrc: 2, Guard: in.Guard, Pos: in.Pos}
	guarded := in.Guard.Kind != isa.KindNone
	d, pair := f.tupleOf([]word{in.Dst[0], in.Dst[1]})
	if !pair && guarded {
		return false
	}
	var before []isa.Inst
	for k := range 2 {
		lo, hi := in.Src[k], in.Src[3+k]
		a, okA := constant(lo)
		b, okB := constant(hi)
		neg := lo.Flags & isa.Neg
		switch {
		case okA && okB && uint32(int32(a)>>31) == b:
			w.Src[k] = immWide(a)
			continue
		case okA || okB || lo.Flags != neg || hi.Flags != neg:
			return false
		case lo.Kind == isa.KindConst && consecutiveConst([]word{lo, hi}):
			w.Src[k] = lo
			w.Src[k].Flags |= flagPair | isa.Wide64
			continue
		case lo.Kind != isa.KindReg || hi.Kind != isa.KindReg:
			return false
		}
		lo.Flags, hi.Flags = 0, 0
		regs, ok := f.tupleOf([]word{lo, hi})
		if !ok {
			if guarded {
				return false
			}
			regs = f.newPair()
			before = append(before, pairCopies(in, regs, []isa.Reg{lo.Reg, hi.Reg})...)
		}
		w.Src[k] = tupleOperand(regs)
		w.Src[k].Flags |= neg
	}
	switch {
	case w.Src[0].Kind == isa.KindImm && w.Src[1].Kind == isa.KindImm:
		return false
	case w.Src[0].Kind == isa.KindImm: // only the second source can be an immediate, which stands for its sign-extended value
		w.Src[0], w.Src[1] = w.Src[1], w.Src[0]
	}
	var after []isa.Inst
	if !pair {
		d = f.newPair()
		after = pairCopies(in, []isa.Reg{in.Dst[0].Reg, in.Dst[1].Reg}, d)
	}
	w.Dst[0] = tupleOperand(d)
	f.arrange(&w)
	*out = append(append(append(*out, before...), w), after...)
	return true
}

// newPair is a pair of new registers.
func (f *fn) newPair() []isa.Reg {
	regs := []isa.Reg{f.newReg(), f.newReg()}
	f.setTuple(regs)
	return regs
}

// pairCopies copies registers one by one, at the place of an instruction.
func pairCopies(at *isa.Inst, to, from []isa.Reg) []isa.Inst {
	var list []isa.Inst
	for i := range to {
		in := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: at.Pos}
		in.Dst[0], in.Src[0] = isa.R(to[i]), isa.R(from[i])
		list = append(list, in)
	}
	return list
}

// expandAdd64 emits the two halves with the carry between them; three addends carry up to 2.
func (f *fn) expandAdd64(out *[]isa.Inst, in *isa.Inst) {
	// A third addend of the high word alone brings no carry, but its negation does: that of a zero low word is one.
	three := !isZero(in.Src[2]) || in.Src[2].Is(isa.Neg) || in.Src[5].Is(isa.Neg)
	if !three && isZero(in.Src[5]) {
		// A half that adds nothing: no carry is possible.
		for k := range 2 {
			if isZero(in.Src[k]) && in.Src[1-k].Flags == 0 && !in.Src[3+k].Is(isa.Neg) {
				mv := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Guard: in.Guard, Pos: in.Pos}
				mv.Dst[0], mv.Src[0] = in.Dst[0], in.Src[1-k]
				hi := isa.Inst{Op: isa.OpIADD3, NDst: 1, NSrc: 3, Guard: in.Guard, Pos: in.Pos}
				hi.Dst[0], hi.Src[0], hi.Src[1], hi.Src[2] = in.Dst[1], in.Src[3], in.Src[4], rz
				fillLayout(&hi)
				if o := in.Src[4-k]; isZero(in.Src[3+k]) && o.Flags == 0 {
					toMov(&hi, o)
				}
				if hi.Src[0].Reg == in.Dst[0].Reg || hi.Src[1].Reg == in.Dst[0].Reg { // order: do not overwrite the high half's source
					*out = append(*out, hi, mv)
				} else {
					*out = append(*out, mv, hi)
				}
				return
			}
		}
	}
	negation := isZero(in.Src[0]) && in.Src[1].Is(isa.Neg) // of two words: IADD3 and IADD3.X there too
	if !three && !negation && f.t.SM >= 120 && f.emitAdd64(out, in) {
		return
	}
	three = three || in.Src[0].Is(isa.Neg) && in.Src[1].Is(isa.Neg) // negations of two zeros carry 2 as well
	p := f.between(in, isa.P(f.newPred()))
	q := pt
	if three {
		q = f.between(in, isa.P(f.newPred()))
	}
	if in.Guard.Kind != isa.KindNone { // written and read under the guard alone
		if f.whole == nil {
			f.whole = map[isa.Operand]bool{}
		}
		f.whole[p] = true
		if three {
			f.whole[q] = true
		}
	}
	lo := isa.Inst{Op: isa.OpIADD3, NDst: 3, NSrc: 5, Guard: in.Guard, Pos: in.Pos}
	lo.Dst = [isa.MaxDst]isa.Operand{in.Dst[0], p, q}
	hi := isa.Inst{Op: isa.OpIADD3, Mod: isa.Mod{Flags: isa.ModX}, NDst: 3, NSrc: 5, Guard: in.Guard, Pos: in.Pos}
	hi.Dst = [isa.MaxDst]isa.Operand{in.Dst[1], pt, pt}
	for k := range 3 {
		l, h := in.Src[k], in.Src[3+k]
		if l.Is(isa.Neg) || h.Is(isa.Neg) {
			l.Flags |= isa.Neg
			if l.Kind == isa.KindImm { // -imm: the high half of the negated constant
				l = in.Src[k]
			}
			h.Flags = h.Flags&^isa.Neg | isa.Inv
			if v, ok := constant(h); ok {
				h = immWord(v)
			}
		}
		lo.Src[k], hi.Src[k] = l, h
	}
	lo.Src[3], lo.Src[4] = pt, pt
	hi.Src[3], hi.Src[4] = p, q
	if !three {
		hi.Src[4] = notPT
	}
	f.arrange(&lo)
	f.arrange(&hi)
	*out = append(*out, lo, hi)
}
