package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// builder emits machine instructions for one PTX instruction at a time. Selection rules use only these methods
// (and what they add beside them), never fn's blocks directly.
type builder struct {
	f     *fn
	cur   *block
	scope *scope

	in    *ptx.Instr  // the PTX instruction being selected
	guard isa.Operand // its guard as a machine predicate; KindNone: unconditional. Copied to every emitted instruction

	err      error    // first error of the instruction
	cc       word     // predicate that holds PTX's carry flag CC.CF; KindNone before the first .cc
	returnTo *block   // inside an inlined device function: where ret continues
	calls    []string // functions being inlined, for the recursion check
}

// t is the target.
func (b *builder) t() *isa.Target { return b.f.t }

// sm is the target's number, for example 86.
func (b *builder) sm() int { return b.f.t.SM }

// reg is a new virtual register.
func (b *builder) reg() word { return isa.R(b.f.newReg()) }

// regs makes n new virtual registers.
func (b *builder) regs(n int) []word {
	w := make([]word, n)
	for i := range w {
		w[i] = b.reg()
	}
	return w
}

// pred is a new virtual predicate.
func (b *builder) pred() word { return isa.P(b.f.newPred()) }

func (f *fn) newReg() isa.Reg  { r := f.nextReg; f.nextReg++; return r }
func (f *fn) newPred() isa.Reg { r := f.nextPred; f.nextPred++; return r }
func (f *fn) newUReg() isa.Reg { r := f.nextUReg; f.nextUReg++; return r }

// newUPred is a new virtual uniform predicate.
func (f *fn) newUPred() word {
	p := word{Kind: isa.KindUPred, Reg: f.nextUPred}
	f.nextUPred++
	return p
}

// Words that rules need often.
var (
	rz    = isa.R(isa.RZ)
	pt    = isa.P(isa.PT)
	notPT = isa.NotP(isa.PT)
)

// imm is an immediate word.
func imm(v uint32) word { return isa.I(v) }

// isImm says that w is the immediate v.
func isImm(w word, v uint32) bool { c, ok := constant(w); return ok && c == v }

// isZero says that w always reads 0.
func isZero(w word) bool { return isImm(w, 0) }

// constant is the value of an immediate or zero-register word.
func constant(w word) (uint32, bool) {
	switch {
	case w.Kind == isa.KindImm:
		v := uint32(w.Imm)
		if w.Flags&isa.Neg != 0 {
			v = -v
		}
		if w.Flags&isa.Inv != 0 {
			v = ^v
		}
		return v, w.Imm != dynamicShared
	case (w.Kind == isa.KindReg && w.Reg == isa.RZ || w.Kind == isa.KindUReg && w.Reg == isa.URZ) && w.Flags&^(isa.Neg|isa.Reuse) == 0:
		return 0, true
	case (w.Kind == isa.KindReg && w.Reg == isa.RZ || w.Kind == isa.KindUReg && w.Reg == isa.URZ) && w.Flags&^isa.Reuse == isa.Inv:
		return 0xffffffff, true
	}
	return 0, false
}

// neg and inv are w with its sign or all its bits flipped by the operand modifier.
func neg(w word) word {
	if w.Kind == isa.KindImm {
		return imm(-uint32(w.Imm))
	}
	w.Flags ^= isa.Neg
	return w
}

func inv(w word) word {
	if w.Kind == isa.KindImm {
		return imm(^uint32(w.Imm))
	}
	w.Flags ^= isa.Inv
	return w
}

// typeBits is the width in bits of a PTX type name without dot, 0 for an unknown one ("pred" is 1).
func typeBits(typ string) int {
	switch typ {
	case "pred":
		return 1
	case "u8", "s8", "b8", "e4m3", "e5m2":
		return 8
	case "u16", "s16", "b16", "f16", "bf16", "e4m3x2", "e5m2x2":
		return 16
	case "u32", "s32", "b32", "f32", "f16x2", "bf16x2", "tf32", "u16x2", "s16x2", "u8x4", "s8x4":
		return 32
	case "u64", "s64", "b64", "f64", "f32x2":
		return 64
	case "b128":
		return 128
	}
	return 0
}

// typeWords is the number of 32-bit words of a PTX type, at least 1.
func typeWords(typ string) int { return max(1, (typeBits(typ)+31)/32) }

// errorf is an error at the PTX instruction. It also becomes the builder's error.
func (b *builder) errorf(format string, args ...any) *ptx.Error {
	return b.fail(b.in.Pos, format, args...)
}

// fail is an error at a place, and the builder's if it is the first of the instruction. What to do is added with Advise.
func (b *builder) fail(pos ptx.Pos, format string, args ...any) *ptx.Error {
	e := b.f.m.Errorf(pos, "", format, args...)
	if b.err == nil {
		b.err = e
	}
	return e
}

// arg is operand i; of a pair d|p its first element.
func (b *builder) arg(i int) *ptx.Arg {
	if i < 0 || i >= len(b.in.Args) {
		b.errorf("operand %d is missing", i+1)
		return &ptx.Arg{Kind: ptx.ArgSink, Pos: b.in.Pos}
	}
	a := &b.in.Args[i]
	if a.Kind == ptx.ArgPair && len(a.Elems) > 0 {
		return &a.Elems[0]
	}
	return a
}

// src gives the words of source operand i, low word first, read as PTX type typ ("u32", "s64", "f32", "b16" ...):
// virtual registers, immediates or constants. 8- and 16-bit values sit in the low bits of a register whose
// upper bits are undefined. A special register is read by an instruction emitted here.
func (b *builder) src(i int, typ string) []word { return b.value(b.arg(i), typ) }

// dst gives the words of destination operand i that hold a value of type typ. "_" gives RZ.
func (b *builder) dst(i int, typ string) []word { return b.destination(b.arg(i), typ) }

// dstAll gives all words of the register that destination operand i names, which can be wider than the
// instruction's type (ld.u8 into a .b64 register).
func (b *builder) dstAll(i int) []word { return b.allWords(b.arg(i)) }

// srcVec gives the words of each element of a vector operand {a, b, ...}; a plain operand is one element.
func (b *builder) srcVec(i int, typ string) [][]word {
	a := b.arg(i)
	if a.Kind != ptx.ArgVector {
		return [][]word{b.value(a, typ)}
	}
	var out [][]word
	for k := range a.Elems {
		out = append(out, b.value(&a.Elems[k], typ))
	}
	return out
}

// splitVectors is a copy of the instruction (rules shorten its operands) with lists of elements for operands that name whole
// vectors: .reg .v4 .u32 v, or %tid.
func (b *builder) splitVectors(in *ptx.Instr) *ptx.Instr {
	out := *in
	out.Args = append([]ptx.Arg(nil), in.Args...)
	for i := range in.Args {
		a := &in.Args[i]
		if a.Kind != ptx.ArgName || a.Member != "" {
			continue
		}
		n := 0
		switch a.Name {
		case "%tid", "%ntid", "%ctaid", "%nctaid":
			if in.Has("v4") {
				n = 4
			}
		default:
			if s := b.scope.lookup(b.f, a.Name); s != nil && s.kind == symReg && s.v != nil {
				n = s.v.Vector
			}
		}
		if n < 2 {
			continue
		}
		v := ptx.Arg{Kind: ptx.ArgVector, Pos: a.Pos}
		for _, m := range []string{"x", "y", "z", "w"}[:min(n, 4)] {
			v.Elems = append(v.Elems, ptx.Arg{Kind: ptx.ArgName, Pos: a.Pos, Name: a.Name, Member: m})
		}
		out.Args[i] = v
	}
	return &out
}

// dstVec is srcVec for destinations; each element has all words of its register.
func (b *builder) dstVec(i int, typ string) [][]word {
	a := b.arg(i)
	if a.Kind != ptx.ArgVector {
		return [][]word{b.wideEnough(a, typ)}
	}
	var out [][]word
	for k := range a.Elems {
		out = append(out, b.wideEnough(&a.Elems[k], typ))
	}
	return out
}

// predSrc is source predicate i, negated for !p.
func (b *builder) predSrc(i int) word { return b.predValue(b.arg(i)) }

// predDst is destination predicate i (p of p|q).
func (b *builder) predDst(i int) word { return b.predDestination(b.arg(i)) }

// predDst2 is the second element of a pair d|q, PT when the operand is no pair.
func (b *builder) predDst2(i int) word {
	if i < len(b.in.Args) {
		if a := &b.in.Args[i]; a.Kind == ptx.ArgPair && len(a.Elems) == 2 {
			return b.predDestination(&a.Elems[1])
		}
	}
	return pt
}

// carryIn is the predicate with PTX's carry flag, false before any .cc instruction (Volta on; earlier
// targets use ModX and ModCC).
func (b *builder) carryIn() word {
	if b.cc.Kind == isa.KindNone {
		return notPT
	}
	return b.cc
}

// carryOut is a new predicate that becomes PTX's carry flag.
func (b *builder) carryOut() word {
	p := b.pred()
	if b.guard.Kind != isa.KindNone && b.cc.Kind == isa.KindPred {
		p = b.cc
	}
	b.cc = p
	return p
}
