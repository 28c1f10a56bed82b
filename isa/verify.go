package isa

import (
	"errors"
	"fmt"
	"math"
)

// Check says whether the program is one that the target's hardware could run: every opcode exists there, operands fit the opcode in
// number and kind, registers are in range and tuples aligned, labels and barriers exist, and every form can be executed. All problems
// are joined into one error (at most ten), each with its source position and instruction. Loaders run it so that a mistake in lowering or in a
// listing shows as a message instead of a wrong result.
func (p *Program) Check(t *Target) error {
	var errs []error
	const most = 10
	k := &Kernel{Program: p, Target: t, Launch: &Launch{}, consts: map[constKey]*lanes{}, zero: new(lanes), volta: t.SM >= 70, anyConst: true}
	k.sizeRegisters()
	var d decoder
	var u uop
	for i := range p.Insts {
		in := &p.Insts[i]
		err := in.check(t, len(p.Insts))
		if err == nil {
			err = d.decode(k, in, &u)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: kernel %s, pc %#x: %s: %w%s", k.where(in), p.Name, in.PC, in.String(), err, p.excerpt(in)))
			if len(errs) == most {
				break
			}
		}
	}
	return errors.Join(errs...)
}

func (in *Inst) check(t *Target, insts int) error {
	if in.Op == OpNone || in.Op >= NumOps {
		return fmt.Errorf("opcode %d does not exist", in.Op)
	}
	if !t.Has(in.Op) {
		return fmt.Errorf("%s does not exist on %s", in.Op, t.Name)
	}
	if in.NDst > MaxDst || in.NSrc > MaxSrc {
		return fmt.Errorf("%d results and %d sources, at most %d and %d are possible", in.NDst, in.NSrc, MaxDst, MaxSrc)
	}
	switch g := in.Guard; g.Kind {
	case KindNone:
	case KindPred, KindUPred:
		if g.Reg > PT {
			return fmt.Errorf("guard predicate P%d does not exist", g.Reg)
		}
	default:
		return fmt.Errorf("the guard must be a predicate")
	}
	s := &shapes[in.Op]
	var vd, pd, vs, ps int8
	for i := range in.NDst {
		o := &in.Dst[i]
		switch o.Kind {
		case KindPred, KindUPred:
			pd++
		case KindReg, KindUReg, KindBarrier:
			vd++
		default:
			return fmt.Errorf("result %d is %s: only registers and predicates can be written", i+1, o.format(t.SM))
		}
		if err := in.checkOperand(o, t, insts); err != nil {
			return fmt.Errorf("result %d: %w", i+1, err)
		}
	}
	for i := range in.NSrc {
		o := &in.Src[i]
		switch o.Kind {
		case KindNone:
			return fmt.Errorf("source %d is empty", i+1)
		case KindPred, KindUPred:
			ps++
		default:
			vs++
		}
		if err := in.checkOperand(o, t, insts); err != nil {
			return fmt.Errorf("source %d: %w", i+1, err)
		}
	}
	switch {
	case vd > s.dst || vd < s.dstMin:
		return fmt.Errorf("%d register results, %s has %s", vd, in.Op, span1(s.dstMin, s.dst))
	case pd > s.pdst:
		return fmt.Errorf("%d predicate results, %s has at most %d", pd, in.Op, s.pdst)
	case vs < s.srcMin || vs > s.srcMax:
		return fmt.Errorf("%d value sources, %s has %s", vs, in.Op, span1(s.srcMin, s.srcMax))
	case ps > s.psrc:
		return fmt.Errorf("%d predicate sources, %s has at most %d", ps, in.Op, s.psrc)
	}
	return in.checkTuples()
}

// span1 prints a range of counts.
func span1(from, to int8) string {
	if from == to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d to %d", from, to)
}

func (in *Inst) checkOperand(o *Operand, t *Target, insts int) error {
	bad := func(r Reg, zero Reg) bool { return r != zero && (r >= VirtualBase || int(r) >= t.MaxRegs) }
	switch o.Kind {
	case KindReg:
		if bad(o.Reg, RZ) {
			return fmt.Errorf("register %s is beyond the %d registers a thread of %s can have", o.format(t.SM), t.MaxRegs, t.Name)
		}
	case KindUReg:
		if o.Reg > URZ || t.SM < 75 || t.SM < 100 && o.Reg > 62 && o.Reg != URZ {
			return fmt.Errorf("uniform register %s does not exist on %s", o.format(t.SM), t.Name)
		}
	case KindPred, KindUPred:
		if o.Reg > PT {
			return fmt.Errorf("predicate %s does not exist", o.format(t.SM))
		}
	case KindImm:
		wide := in.Mod.Has(ModWide) || in.Mod.Type == U64 || in.Mod.Type == S64
		if !wide && (o.Imm < math.MinInt32 || o.Imm > math.MaxUint32) {
			return fmt.Errorf("literal %#x has more than 32 bits", uint64(o.Imm))
		}
	case KindMem:
		if bad(o.Reg, RZ) {
			return fmt.Errorf("base register of %s is beyond the %d registers a thread of %s can have", o.format(t.SM), t.MaxRegs, t.Name)
		}
		if o.Is(Wide64) && o.Reg != RZ && o.Reg&1 != 0 {
			return fmt.Errorf("64-bit address %s must start at an even register", o.format(t.SM))
		}
	case KindLabel:
		if o.Imm < 0 || o.Imm >= int64(insts) {
			return fmt.Errorf("branch target %d is outside of the program's %d instructions", o.Imm, insts)
		}
	case KindBarrier:
		if o.Reg > 15 {
			return fmt.Errorf("barrier B%d does not exist", o.Reg)
		}
	}
	return nil
}

// checkTuples verifies the alignment of register pairs and quads.
func (in *Inst) checkTuples() error {
	aligned := func(o *Operand, n Reg) error {
		if o.Kind == KindReg && o.Reg != RZ && o.Reg%n != 0 || o.Kind == KindUReg && o.Reg != URZ && o.Reg%n != 0 {
			return fmt.Errorf("%s is the first of %d registers and must be a multiple of %d", o.format(0), n, n)
		}
		return nil
	}
	if in.IsOctet() {
		return in.checkOctet(aligned)
	}
	n := Reg(1)
	switch c := opTable[in.Op].class; {
	case c.IsMemory() || in.Op == OpLDC || in.Op == OpULDC || in.Op == OpLDCU:
		n = Reg(max(memSize(&in.Mod)/4, 1))
		for i := range in.NSrc { // data registers
			if o := &in.Src[i]; i > 0 && o.Kind == KindReg && (c != ClassTEX || in.Op == OpSUST && i == 1) && (in.Op != OpSYNCS || in.Mod.Sub == SubExch) {
				if err := aligned(o, n); err != nil {
					return err
				}
			}
		}
	case c == ClassDFMA:
		n = 2
		for i := range in.NSrc {
			if err := aligned(&in.Src[i], 2); err != nil {
				return err
			}
		}
	case in.Mod.Has(ModWide):
		n = 2
		if in.Op == OpIMAD && in.NSrc > 2 {
			if err := aligned(&in.Src[2], 2); err != nil {
				return err
			}
		}
	}
	for i := range in.NDst {
		if err := aligned(&in.Dst[i], n); err != nil {
			return err
		}
	}
	return nil
}
