package lower

import (
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// addPacked is add and sub on two or four lanes of a word.
func (x *expander) addPacked(t vtype, sub bool) {
	d, a, b := x.d32(0, t.name), x.a32(1, t.name), x.a32(2, t.name)
	halves := strings.HasSuffix(t.name, "x2")
	if v, ok := x.negatedHalves(b); ok && !sub && halves {
		b, sub = v, true
	}
	switch {
	case sub && halves && x.t().Has(isa.OpVIADD):
		x.emit(isa.OpVIADD, isa.Mod{Type: t.machine()}, []word{d}, []word{a, neg(b)})
	case halves && x.sm() >= 70 && !x.t().Has(isa.OpVIADD): // undo the carry or borrow between the halves
		s := x.add(auto, a, b)
		if sub {
			s = x.sub(auto, a, b)
		}
		c := x.and(auto, x.lop3(auto, s, a, b, lutA^lutB^lutC), imm(0x10000))
		if sub {
			x.add(d, s, c)
		} else {
			x.sub(d, s, c)
		}
	case !sub && x.t().Has(isa.OpVIADD) && (t.name[len(t.name)-1] == '2' || x.sm() >= 120):
		x.emit(isa.OpVIADD, isa.Mod{Type: t.machine()}, []word{d}, []word{a, b})
	default:
		// Add (subtract) without the top bit of each lane, then put that bit in.
		top := uint32(0x80008000)
		if strings.HasSuffix(t.name, "x4") {
			top = 0x80808080
		}
		if sub {
			s := x.sub(auto, x.or(auto, a, imm(top)), x.and(auto, b, imm(^top)))
			x.xor(d, s, x.lop3(auto, a, b, imm(top), uint8(^(lutA^lutB)&lutC)))
			return
		}
		s := x.add(auto, x.and(auto, a, imm(^top)), x.and(auto, b, imm(^top)))
		x.xor(d, s, x.lop3(auto, a, b, imm(top), (lutA^lutB)&lutC))
	}
}

// negatedHalves gives v where the word is {-v.hi, -v.lo} taken apart, negated and put together again before in this
// block, as CUDA's headers write a subtraction of halves.
func (x *expander) negatedHalves(w word) (word, bool) {
	if x.sm() < 70 {
		return w, false
	}
	pack, at := x.lastWrite(w, len(x.cur.insts))
	if pack == nil || pack.Op != isa.OpPRMT || pack.Src[1] != imm(0x5410) {
		return w, false
	}
	lo, ok := x.negatedHalf(pack.Src[0], at, 0x7610)
	hi, okHi := x.negatedHalf(pack.Src[2], at, 0x7632)
	if !ok || !okHi || lo != hi {
		return w, false
	}
	if later, _ := x.lastWrite(lo, len(x.cur.insts)); later != nil {
		if before, _ := x.lastWrite(lo, at); before != later {
			return w, false
		}
	}
	return lo, true
}

// negatedHalf follows a half back to the word that PRMT with selector sel took it from, through its negation.
func (x *expander) negatedHalf(w word, at int, sel uint32) (word, bool) {
	low, at := x.lastWrite(w, at)
	if low == nil || low.Op != isa.OpPRMT || low.Src[1] != imm(0x7710) || low.Src[2] != rz {
		return w, false
	}
	minus, at := x.lastWrite(low.Src[0], at)
	if minus == nil || minus.Op != isa.OpIADD3 || minus.Mod.Flags != 0 {
		return w, false
	}
	t := terms(minus, 3)
	if len(t) != 1 || !t[0].Is(isa.Neg) {
		return w, false
	}
	part, _ := x.lastWrite(neg(t[0]), at)
	if part == nil || part.Op != isa.OpPRMT || part.Src[1] != imm(sel) {
		return w, false
	}
	return part.Src[0], part.Src[0].Kind == isa.KindReg && part.Src[0].Flags == 0
}

// lastWrite is the last instruction of the current block before position at that gives the register its value,
// through copies; nil if none does, or a guarded one.
func (x *expander) lastWrite(w word, at int) (*isa.Inst, int) {
	if w.Kind != isa.KindReg || w.Flags != 0 || w.Reg < isa.VirtualBase {
		return nil, 0
	}
	for i := at - 1; i >= 0; i-- {
		in := &x.cur.insts[i]
		found := false
		for k := range in.Dst[:in.NDst] {
			x.f.members(&in.Dst[k], func(kind isa.OperandKind, r isa.Reg) { found = found || kind == isa.KindReg && r == w.Reg })
		}
		switch {
		case found && in.Guard.Kind != isa.KindNone:
			return nil, 0
		case found && in.Op == isa.OpMOV && in.Src[0].Kind == isa.KindReg && in.Src[0].Flags == 0:
			return x.lastWrite(in.Src[0], i)
		case found:
			return in, i
		}
	}
	return nil, 0
}

// minmaxPacked is min or max on the lanes of a word: natively from sm_90 on, else lane by lane.
func (x *expander) minmaxPacked(d, a, b word, max, relu bool, t vtype) {
	halves := t.name[len(t.name)-1] == '2'
	if x.sm() >= 90 && (halves || x.sm() >= 120) {
		p := pt
		if max {
			p = notPT
		}
		var f isa.ModFlags
		if relu {
			f = isa.ModRelu
		}
		x.emit(isa.OpVIMNMX, isa.Mod{Type: t.machine(), Flags: f}, []word{d}, []word{a, b, p})
		return
	}
	mt := signedType(t.signed())
	if halves && !t.signed() && x.sm() >= 70 {
		l := x.minmax(auto, x.and(auto, a, imm(0xffff)), x.and(auto, b, imm(0xffff)), max, mt)
		x.lop3(d, l, imm(0xffff0000), x.minmax(auto, a, b, max, mt), 0xf8)
		return
	}
	if halves { // as CUDA's functions do: the upper halves decide a comparison of words, the lower ones are compared in the upper place
		hi := x.minmax(auto, a, b, max, mt)
		lo := x.minmax(auto, x.shl(auto, a, imm(16)), x.shl(auto, b, imm(16)), max, mt)
		if relu {
			hi, lo = x.minmax(auto, x.joinHalves(auto, lo, hi), rz, true, isa.S32), x.minmax(auto, lo, rz, true, isa.S32)
		}
		x.joinHalves(d, lo, hi)
		return
	}
	lanes := make([]word, 4)
	for i := range lanes {
		lanes[i] = x.minmax(auto, x.laneOf(a, i, 8, t.signed()), x.laneOf(b, i, 8, t.signed()), max, mt)
		if relu {
			lanes[i] = x.minmax(auto, lanes[i], rz, true, isa.S32)
		}
	}
	x.packLanes(d, lanes, 8)
}

// joinHalves is the upper half of hi above the upper half of lo.
func (x *expander) joinHalves(d, lo, hi word) word {
	hi = x.and(auto, hi, imm(0xffff0000))
	if x.sm() < 70 {
		return x.or(d, hi, x.shr(auto, lo, imm(16)))
	}
	d = x.out(d)
	x.emit(isa.OpLEA, isa.Mod{Flags: isa.ModHI}, []word{d, pt}, []word{lo, hi, rz, imm(16)})
	return d
}

// laneOf is lane i of a packed word as an extended 32-bit value.
func (x *expander) laneOf(a word, i, width int, signed bool) word {
	return x.bfe(auto, a, i*width, width, signed)
}

// packLanes puts the low bits of the lanes together.
func (x *expander) packLanes(d word, lanes []word, width int) {
	if width == 16 {
		x.prmt(d, lanes[0], imm(0x5410), lanes[1])
		return
	}
	lo := x.prmt(auto, lanes[0], imm(0x0040), lanes[1])
	hi := x.prmt(auto, lanes[2], imm(0x0040), lanes[3])
	x.prmt(d, lo, imm(0x5410), hi)
}
