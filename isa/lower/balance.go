package lower

import "github.com/sarchlab/smsim/isa"

// balance spreads copies, additions (with or without a carry in) and shifts over the ALU and the multiply-add pipe, so that the
// kernel's text, loops or not, has as much of both, as the compiler does from Volta on: IMAD.MOV, IMAD.IADD, IMAD.X, IMAD.SHL and, from
// Hopper on, VIADD. In ptxas's code of 323 timing kernels with both kinds the difference is at most three instructions in most. It
// runs after register allocation and also joins two clears of a register pair into CS2R. On compute capability 12 shifts alone
// move, and every other literal is made by the half-precision unit: in the code of 4,000 kernels ptxas 13.0 writes no IMAD.MOV, IMAD.IADD,
// IMAD.X or VIADD there.
func (f *fn) balance() {
	if f.t.SM < 70 {
		return
	}
	f.clearPairs()
	if f.t.SM >= 120 {
		f.literalsToHalf()
	}
	// What can go to either pipe is shared out evenly in program order.
	alu, fma, choices := 0, 0, 0
	f.eachChoice(func(in *isa.Inst, _ isa.Inst, free bool) {
		switch p := f.pipeOf(in.Class()); {
		case free:
			choices++
		case p == "alu":
			alu++
		case p == "fma":
			fma++
		}
	})
	moves := max(0, min((alu+choices-fma)/2, choices))
	seen := 0
	f.eachChoice(func(in *isa.Inst, moved isa.Inst, free bool) {
		if !free {
			return
		}
		if ((seen+1)*moves+choices/2)/choices > (seen*moves+choices/2)/choices {
			*in = moved
		}
		seen++
	})
}

// eachChoice calls do with every instruction, what it would be on the multiply-add pipe, and whether it can go there.
func (f *fn) eachChoice(do func(in *isa.Inst, moved isa.Inst, free bool)) {
	for _, b := range f.blocks {
		for i := range b.insts {
			moved := b.insts[i]
			f.moveToMultiplier(&moved)
			do(&b.insts[i], moved, moved.Op != b.insts[i].Op)
		}
	}
}

// pipeOf says whether a class is ALU or multiply-add work.
func (f *fn) pipeOf(c isa.Class) string {
	switch c {
	case isa.ClassIADD, isa.ClassIADD3, isa.ClassLOP, isa.ClassSHF, isa.ClassPRMT, isa.ClassSEL, isa.ClassMOV, isa.ClassISETP, isa.ClassIMNMX,
		isa.ClassVIMNMX3, isa.ClassVIADDMNMX, isa.ClassLEA, isa.ClassIABS, isa.ClassSGXT, isa.ClassBMSK, isa.ClassPLOP3, isa.ClassVABSDIFF, isa.ClassVABSDIFF4:
		return "alu"
	case isa.ClassIMAD, isa.ClassIMADHI, isa.ClassIMADWIDE, isa.ClassIDP, isa.ClassFFMA, isa.ClassVIADD:
		return "fma"
	}
	return ""
}

// literalsToHalf writes literals as HFMA2 R, -RZ, RZ, high, low where a block has had as many other copies. A literal with a
// half that is not a number stays: arithmetic would not keep its bits.
func (f *fn) literalsToHalf() {
	for _, b := range f.blocks {
		half, other := 0, 0
		for i := range b.insts {
			in := &b.insts[i]
			if in.Op != isa.OpMOV || in.Dst[0].Kind != isa.KindReg {
				continue
			}
			v, literal := constant(in.Src[0])
			if !literal || half > other || in.Mod.Flags != 0 || in.Guard.Kind != isa.KindNone || notHalf(uint32(v)) || notHalf(uint32(v)>>16) {
				other++
				continue
			}
			half++
			minus := rz
			minus.Flags |= isa.Neg
			in.Op, in.Mod, in.NSrc = isa.OpHFMA2, isa.Mod{}, 3
			in.Src = [isa.MaxSrc]isa.Operand{minus, rz, imm(uint32(v))}
		}
	}
}

// notHalf says that the low 16 bits, as a half-precision number, are not a number.
func notHalf(v uint32) bool { return v&0x7c00 == 0x7c00 && v&0x3ff != 0 }

func (f *fn) moveToMultiplier(in *isa.Inst) {
	if f.t.SM >= 120 && in.Op != isa.OpSHF {
		return
	}
	switch in.Op {
	case isa.OpMOV:
		if in.Mod.Flags&^modKeep != 0 || in.Src[0].Flags != 0 || in.Src[0].Kind == isa.KindLabel || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Reg == stackReg {
			return
		}
		in.Op, in.Mod, in.NSrc = isa.OpIMAD, isa.Mod{Type: isa.U32, Flags: isa.ModMov}, 3
		in.Src = [isa.MaxSrc]isa.Operand{rz, rz, in.Src[0]}
	case isa.OpIADD3:
		if in.Mod.Flags == isa.ModX {
			f.carryToMultiplier(in)
			return
		}
		if !plainAdd(in) || in.NDst == 0 {
			return
		}
		t := terms(in, 3)
		if len(t) == 1 && t[0].Kind == isa.KindReg && t[0].Flags&^isa.Reuse == isa.Neg { // a negation
			in.Op, in.Mod, in.NDst, in.NSrc = isa.OpIMAD, isa.Mod{Type: isa.S32, Flags: isa.ModMov}, 1, 3
			in.Src = [isa.MaxSrc]isa.Operand{rz, rz, t[0]}
			in.Dst[1], in.Dst[2] = isa.Operand{}, isa.Operand{}
			return
		}
		if len(t) != 2 {
			return
		}
		a, b := t[0], t[1]
		if a.Flags != 0 && b.Flags == 0 || a.Kind != isa.KindReg {
			a, b = b, a
		}
		if a.Kind != isa.KindReg || a.Flags&^isa.Reuse != 0 {
			return
		}
		switch {
		case b.Kind == isa.KindReg && b.Flags&^(isa.Neg|isa.Reuse) == 0:
			in.Op, in.Mod, in.NDst, in.NSrc = isa.OpIMAD, isa.Mod{Type: isa.S32, Flags: isa.ModAdd}, 1, 3
			in.Src = [isa.MaxSrc]isa.Operand{a, imm(1), b}
		case f.t.Has(isa.OpVIADD) && b.Flags&^(isa.Neg|isa.Reuse) == 0:
			in.Op, in.Mod, in.NDst, in.NSrc = isa.OpVIADD, isa.Mod{}, 1, 2
			in.Src = [isa.MaxSrc]isa.Operand{a, b}
		default:
			return
		}
		in.Dst[1], in.Dst[2] = isa.Operand{}, isa.Operand{}
	case isa.OpSHF:
		if !isShiftLeft(in) || !isZero(in.Src[2]) {
			return
		}
		n, _ := constant(in.Src[1])
		in.Op, in.Mod = isa.OpIMAD, isa.Mod{Type: isa.U32, Flags: isa.ModShl}
		in.Src = [isa.MaxSrc]isa.Operand{in.Src[0], imm(1 << n), rz}
	}
}

// carryToMultiplier makes an addition of at most two words and one carry, without carry out, IMAD.X: a * 1 + c, where only c
// can be inverted or an immediate.
func (f *fn) carryToMultiplier(in *isa.Inst) {
	if in.NDst == 0 || in.NSrc != 5 || in.Src[4] != notPT || in.Src[3].Kind != isa.KindPred {
		return
	}
	for _, o := range in.Dst[1:in.NDst] {
		if o != pt {
			return
		}
	}
	t := terms(in, 3)
	plain := func(o isa.Operand) bool { return o.Kind == isa.KindReg && o.Flags&^isa.Reuse == 0 }
	a, b, c := rz, rz, rz
	switch len(t) {
	case 0:
	case 1:
		c = t[0]
	case 2:
		a, b, c = t[0], imm(1), t[1]
		if !plain(a) {
			a, c = c, a
		}
		if !plain(a) || c.Kind != isa.KindReg {
			return
		}
	default:
		return
	}
	if c.Kind != isa.KindReg && c.Kind != isa.KindImm {
		return
	}
	carry := in.Src[3]
	in.Op, in.Mod, in.NDst, in.NSrc = isa.OpIMAD, isa.Mod{Type: isa.S32, Flags: isa.ModX}, 1, 4
	in.Src = [isa.MaxSrc]isa.Operand{a, b, c, carry}
	in.Dst[1], in.Dst[2] = isa.Operand{}, isa.Operand{}
}

// clearPairs replaces two clears of the halves of an aligned register pair by one CS2R.
func (f *fn) clearPairs() {
	clears := func(in *isa.Inst) bool {
		return in.Op == isa.OpMOV && in.Guard.Kind == isa.KindNone && in.Dst[0].Kind == isa.KindReg && in.Dst[0].Reg < isa.RZ && isZero(in.Src[0]) && in.Mod.Flags == 0
	}
	var touched []int16
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			if !clears(in) {
				continue
			}
			r := in.Dst[0].Reg
			mate := r ^ 1
			// The mate's clear, before anything else touches it.
			for j := i + 1; j < len(b.insts) && j < i+24; j++ {
				x := &b.insts[j]
				if clears(x) && x.Dst[0].Reg == mate {
					dead(x)
					in.Op, in.Mod, in.NSrc = isa.OpCS2R, isa.Mod{Flags: isa.ModWide}, 1
					in.Dst[0] = isa.R(r &^ 1)
					in.Dst[0].Flags = isa.Wide64
					in.Src[0] = isa.Operand{Kind: isa.KindSpecial, Reg: isa.SRZ}
					break
				}
				touched = appendDefs(appendUses(touched[:0], x), x)
				hit := x.Class().IsControl()
				for _, t := range touched {
					hit = hit || isa.Reg(t) == mate
				}
				if hit {
					break
				}
			}
		}
	}
	f.compact()
}
