package isa

import "fmt"

// decoder turns one instruction into a uop.
type decoder struct {
	k    *Kernel
	in   *Inst
	u    *uop
	vals []*Operand // value sources in order
	prds []*Operand // predicate sources in order
	vds  []*Operand // value results
	pds  []*Operand // predicate results
	sm   int
	err  error
	tmps uint8
}

// decodeAll predecodes the program.
func (k *Kernel) decodeAll() error {
	p := k.Program
	k.byPC = make(map[uint32]int32, len(p.Insts))
	k.sizeRegisters()
	k.ops = make([]uop, len(p.Insts))
	var d decoder
	for i := range p.Insts {
		in := &p.Insts[i]
		k.byPC[in.PC] = int32(i)
		if err := d.decode(k, in, &k.ops[i]); err != nil {
			return fmt.Errorf("%s: kernel %s, pc %#x: %s: %w%s", k.where(in), p.Name, in.PC, in.String(), err, p.excerpt(in))
		}
	}
	return nil
}

// sizeRegisters finds how many registers of each file a warp must hold.
func (k *Kernel) sizeRegisters() {
	r, ur := k.Program.Regs, 0
	see := func(o *Operand) {
		const widest = 4 // registers that the largest operand spans
		switch o.Kind {
		case KindReg:
			if o.Reg < RZ {
				r = max(r, int(o.Reg)+widest)
			}
		case KindUReg:
			if o.Reg < URZ {
				ur = max(ur, int(o.Reg)+widest)
			}
		case KindMem, KindConst:
			if o.Reg < RZ {
				r = max(r, int(o.Reg)+2)
			}
			if o.Flags&HasUReg != 0 && o.UReg < URZ {
				ur = max(ur, int(o.UReg)+2)
			}
		}
	}
	for i := range k.Program.Insts {
		in := &k.Program.Insts[i]
		for j := range min(in.NDst, MaxDst) {
			see(&in.Dst[j])
		}
		for j := range min(in.NSrc, MaxSrc) {
			see(&in.Src[j])
		}
	}
	k.nRegs, k.nURegs = min(r, 255), min(ur, 255)
}

// regFile is the number of lane vectors of a warp: registers, uniform registers, a zero and a sink.
func (k *Kernel) regFile() int { return k.nRegs + k.nURegs + 2 }

func (k *Kernel) zeroReg() int32 { return int32(k.nRegs + k.nURegs) }
func (k *Kernel) sinkReg() int32 { return int32(k.nRegs + k.nURegs + 1) }

// source is the index of a register that is read, dest of one that is written.
func (k *Kernel) source(o *Operand, plus Reg) int32 {
	switch {
	case o.Kind == KindReg && o.Reg != RZ && int(o.Reg+plus) < k.nRegs:
		return int32(o.Reg + plus)
	case o.Kind == KindUReg && o.Reg != URZ && int(o.Reg+plus) < k.nURegs:
		return int32(k.nRegs) + int32(o.Reg+plus)
	}
	return k.zeroReg()
}

func (k *Kernel) dest(o *Operand, plus Reg) int32 {
	if i := k.source(o, plus); i != k.zeroReg() {
		return i
	}
	return k.sinkReg()
}

func (d *decoder) decode(k *Kernel, in *Inst, u *uop) error {
	*d = decoder{k: k, in: in, u: u, sm: k.Target.SM, vals: d.vals[:0], prds: d.prds[:0], vds: d.vds[:0], pds: d.pds[:0]}
	*u = uop{in: in, guard: predTrue, pd: [2]uint8{predTrue, predTrue}}
	for i := range u.d {
		u.d[i] = k.sinkReg()
	}
	for i := range u.ps {
		u.ps[i] = pref{idx: predTrue}
	}
	for i := range u.s {
		u.s[i] = sref{ptr: k.zero}
	}
	if in.Op == OpNone || in.Op >= NumOps {
		return fmt.Errorf("opcode %d does not exist: %w", in.Op, ErrNotExecutable)
	}
	if int(in.NDst) > MaxDst || int(in.NSrc) > MaxSrc {
		return fmt.Errorf("%d results and %d sources: at most %d and %d", in.NDst, in.NSrc, MaxDst, MaxSrc)
	}
	if g := in.Guard; g.Kind == KindPred || g.Kind == KindUPred {
		p := d.pref(&g)
		u.guard, u.guardInv = p.idx, p.inv
	}
	for i := range in.NDst {
		o := &in.Dst[i]
		if o.Kind == KindPred || o.Kind == KindUPred {
			d.pds = append(d.pds, o)
		} else {
			d.vds = append(d.vds, o)
		}
	}
	for i := range in.NSrc {
		o := &in.Src[i]
		switch {
		case o.Kind == KindPred || o.Kind == KindUPred:
			d.prds = append(d.prds, o)
		default:
			d.vals = append(d.vals, o)
		}
		if o.Kind == KindConst {
			u.hasConst, u.constBank, u.constAddr = true, o.Bank, uint32(o.Imm)
		}
	}
	u.nd, u.nvals = int8(len(d.vds)), int8(len(d.vals))
	for i, o := range d.pds {
		if i < len(u.pd) {
			u.pd[i] = d.pref(o).idx
		}
	}
	for i, o := range d.prds {
		if i < len(u.ps) {
			u.ps[i] = d.pref(o)
		}
	}
	if len(d.vds) > 0 {
		u.d[0] = k.dest(d.vds[0], 0)
	}
	row := &decoders[in.Op]
	if row.fn == nil {
		return fmt.Errorf("%s is %w", in.Op, ErrNotExecutable)
	}
	if len(d.vds) < int(shapes[in.Op].dstMin) {
		return fmt.Errorf("%s needs a register result", in.Op)
	}
	if len(d.vals) < row.minVals {
		return fmt.Errorf("%s has %d value sources, it needs at least %d", in.Op, len(d.vals), row.minVals)
	}
	if d.sm < 70 && d.has(ModCC) && !writesCC[in.Op] {
		return fmt.Errorf("%s that writes the condition code is %w", in.Op, ErrNotExecutable)
	}
	u.uniform = row.uniform
	u.pop = in.Mod.Has(ModS)
	row.fn(d)
	if d.err == nil && u.exec == nil {
		d.failf("this form of %s is %w", in.Op, ErrNotExecutable)
	}
	return d.err
}

// failf keeps the first error.
func (d *decoder) failf(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// has says whether all of the modifiers are set.
func (d *decoder) has(f ModFlags) bool { return d.in.Mod.Has(f) }

// signed says whether a type (none: S32) is signed.
func signed(t Type) bool {
	switch t {
	case U8, U16, U32, U64, U16x2, U8x4, B32, B64:
		return false
	}
	return true
}

// pref is a predicate operand.
func (d *decoder) pref(o *Operand) pref {
	p := pref{idx: uint8(o.Reg & 7)}
	if o.Kind == KindUPred {
		p.idx += predUBase
	}
	if o.Flags&Neg != 0 {
		p.inv = allLanes
	}
	return p
}

// carryIn is predicate source i, false when it is not there.
func (d *decoder) carryIn(i int) pref {
	if i < len(d.prds) {
		return d.pref(d.prds[i])
	}
	return pref{idx: predTrue, inv: allLanes}
}

// raw is word of value source i (0: low) without modifiers other than those of mods, zero when it is not there.
func (d *decoder) raw(i int, word int, mods modKind) sref {
	if i >= len(d.vals) {
		return sref{ptr: d.k.zero}
	}
	return d.operand(d.vals[i], word, mods)
}

// operand is one word of an operand.
func (d *decoder) operand(o *Operand, word int, mods modKind) sref {
	var v uint32
	switch o.Kind {
	case KindReg, KindUReg:
		r := d.k.source(o, Reg(word))
		if o.Reg == RZ { // URZ has the same number
			if mods == 0 {
				return sref{ptr: d.k.zero}
			}
			return sref{ptr: d.k.broadcast(mods.apply(0))}
		}
		s := sref{reg: r, mod: mods}
		if mods != 0 {
			if d.tmps >= 8 {
				d.failf("more than 8 modified sources")
			}
			s.tmp = d.tmps
			d.tmps++
		}
		return s
	case KindImm:
		v = immWord(o.Imm, word)
	case KindConst:
		if o.Flags&Bindless != 0 {
			d.failf("operand %s: a bindless constant bank is %w", o.format(d.sm), ErrNotExecutable)
			return sref{ptr: d.k.zero}
		}
		if o.Reg != RZ || o.Flags&HasUReg != 0 {
			d.failf("operand %s: only LDC and ULDC take an indexed constant", o.format(d.sm))
			return sref{ptr: d.k.zero}
		}
		var ok bool
		if v, ok = d.k.constWord(o.Bank, o.Imm+int64(4*word)); !ok {
			d.failf("constant c[%#x][%#x] does not exist: the bank has %d bytes", o.Bank, o.Imm, len(d.k.banks[o.Bank]))
		}
	case KindNone:
		return sref{ptr: d.k.zero}
	default:
		d.failf("operand %s is not a value", o.format(d.sm))
		return sref{ptr: d.k.zero}
	}
	return sref{ptr: d.k.broadcast(mods.apply(v))}
}

// immWord is a word of an immediate; the upper one is that of the 64-bit number (listings print a sign-extended one as negative).
func immWord(v int64, word int) uint32 { return uint32(v >> (32 * word)) }

// intMods are the integer modifiers of an operand's flags.
func intMods(f OperandFlags) modKind {
	var k modKind
	if f&Inv != 0 {
		k |= modInv
	}
	if f&Neg != 0 {
		k |= modNeg
	}
	return k | partMods(f, false)
}

// partMods are the byte and half selectors of an operand's flags.
func partMods(f OperandFlags, sgn bool) modKind {
	var k modKind
	switch {
	case f&SelH0 != 0:
		k = modPart
	case f&SelH1 != 0:
		k = modPart | modPos1
	case f&SelB0 != 0:
		k = modPart | modByte
	case f&SelB1 != 0:
		k = modPart | modByte | modPos1
	case f&SelB2 != 0:
		k = modPart | modByte | modPos2
	case f&SelB3 != 0:
		k = modPart | modByte | modPos1 | modPos2
	}
	if k != 0 && sgn {
		k |= modSigned
	}
	return k
}

// flags are the flags of value source i.
func (d *decoder) flags(i int) OperandFlags {
	if i < len(d.vals) {
		return d.vals[i].Flags
	}
	return 0
}

// ints puts the first n value sources with their integer modifiers into s.
func (d *decoder) ints(n int) {
	for i := range n {
		d.u.s[i] = d.raw(i, 0, intMods(d.flags(i)))
	}
}

// pair is value source i as low and high word.
func (d *decoder) pair(i int) (lo, hi sref) { return d.raw(i, 0, 0), d.raw(i, 1, 0) }

// dpair makes the first result a register pair.
func (d *decoder) dpair() {
	if len(d.vds) > 0 {
		d.u.d[0], d.u.d[1] = d.k.dest(d.vds[0], 0), d.k.dest(d.vds[0], 1)
		d.u.nd = 2
	}
}

// immValue is value source i as a constant; ok is false when it is a register.
func (d *decoder) immValue(i int) (v uint32, ok bool) {
	if i >= len(d.vals) {
		return 0, true
	}
	s := d.raw(i, 0, 0)
	if s.ptr != nil {
		return s.ptr[0], true
	}
	return 0, false
}
