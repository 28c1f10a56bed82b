package lower

import (
	"encoding/binary"
	"math/bits"

	"github.com/sarchlab/smsim/isa"
)

// Stride is by how many bytes the address of a memory instruction moves from one block of the grid to the next in x, modulo 2^32;
// Known only if that is the same everywhere. Scattered says that each block computes addresses as good as random: a hash of its index.
type Stride struct {
	Bytes            int32
	Known, Scattered bool
}

// BlockStrides finds the stride of every memory instruction's address, by index. It follows sums and products with launch constants, the low
// words of 64-bit ones included, through registers; blockDimBase is where constant bank 0 holds the block's dimensions. A quotient of the
// block's index by a number that is not constant counts as the same for both blocks, as it is for most.
// What depends on the block in another way (remainders, masks, other dimensions of the grid) is not known. Values read from global memory count
// as the same for both blocks too: with AddressOrigins that tells a walk by data through a region of the block's own (a stride that is not
// zero) from a table that all blocks look up (zero, or not known).
func BlockStrides(p *isa.Program, l *isa.Launch, blockDimBase uint32) []Stride {
	out := make([]Stride, len(p.Insts))
	a := stridePass{p: p, l: l, dims: int64(blockDimBase), in: make([]*[ctlRegs]affine, len(p.Insts))}
	for i := range p.Insts {
		in := &p.Insts[i]
		if (in.Op == isa.OpBRX || in.Op == isa.OpJMX) && len(p.Indexed[i]) == 0 { // where control goes is not known
			return out
		}
		for k := range in.Src[:in.NSrc] {
			if o := &in.Src[k]; o.Kind == isa.KindLabel && o.Imm >= 0 && int(o.Imm) < len(a.in) {
				a.leader(int(o.Imm))
			}
		}
		for _, t := range p.Indexed[i] {
			a.leader(t)
		}
		if in.Op == isa.OpCALL && i+1 < len(a.in) {
			a.leader(i + 1)
		}
	}
	a.calls = callWrites(p)
	for _, i := range p.Unreached() { // functions that are called through pointers
		a.leader(i)
		for r := range a.in[i] {
			a.in[i][r] = notAffine
		}
	}
	for a.changed = true; a.changed; {
		a.changed = false
		a.sweep(out)
	}
	return out
}

// affine is a value coefficient x block index + something, which is the constant if that is known.
type affine struct {
	state       uint8 // affineNone, affineYes or affineNo
	coefficient uint32
	constant    uint32
	fixed       bool // the constant is known
}

const (
	affineNone = iota // not computed yet
	affineYes
	affineNo
	affineWild // as good as random, a different one in each block
)

// wildFactor is what a product has to have as a factor to count as a hash: no sizes of rows or records come near it, and the blocks of a grid
// take it around 2^32 many times.
const wildFactor = 1 << 20

// wraps says whether a factor is as large as those of hashes.
func wraps(factor uint32) bool { return int32(factor) >= wildFactor || int32(factor) <= -wildFactor }

var wild = affine{state: affineWild}

// unknown is what is left of a value that an operation does not keep affine.
func (a affine) unknown() affine {
	if a.state == affineWild || a.state == affineYes && wraps(a.coefficient) {
		return wild
	}
	return notAffine
}

var (
	independent = affine{state: affineYes} // of the block
	notAffine   = affine{state: affineNo}
)

type stridePass struct {
	p       *isa.Program
	l       *isa.Launch
	dims    int64
	in      []*[ctlRegs]affine // at the targets of branches
	calls   []writingCall
	changed bool
	list    []int16
}

func (a *stridePass) leader(i int) {
	if a.in[i] == nil {
		a.in[i] = new([ctlRegs]affine)
	}
}

// join is what two ways to one place leave of a value.
func (a affine) join(b affine) affine {
	switch {
	case a.state == affineNone || a == b:
		return b
	case b.state == affineNone:
		return a
	case a.state == affineNo || b.state == affineNo:
		return notAffine
	case a.state == affineWild || b.state == affineWild || a.coefficient != b.coefficient:
		if a, b = a.unknown(), b.unknown(); a == b {
			return a
		}
		return notAffine
	}
	return affine{state: affineYes, coefficient: a.coefficient}
}

func (a *stridePass) sweep(out []Stride) {
	var s [ctlRegs]affine
	for r := range s {
		s[r] = independent
	}
	for i := range a.p.Insts {
		in := &a.p.Insts[i]
		if at := a.in[i]; at != nil {
			a.merge(at, &s)
			s = *at
		}
		if in.Class().IsMemory() {
			out[i] = a.stride(in, &s)
		}
		a.step(in, &s)
		for k := range in.Src[:in.NSrc] {
			if o := &in.Src[k]; o.Kind == isa.KindLabel && o.Imm >= 0 && int(o.Imm) < len(a.in) {
				a.merge(a.in[o.Imm], &s)
			}
		}
		for _, t := range a.p.Indexed[i] {
			a.merge(a.in[t], &s)
		}
		if in.Op == isa.OpRET {
			for k := range a.calls {
				left := s
				for r, w := range a.calls[k].writes {
					if !w {
						left[r] = affine{}
					}
				}
				a.merge(a.in[a.calls[k].at+1], &left)
			}
		}
		if ends(in) {
			s = [ctlRegs]affine{}
		} else if c := callAt(a.calls, i); c != nil {
			for r, w := range c.writes {
				if w {
					s[r] = affine{}
				}
			}
		}
	}
}

func (a *stridePass) merge(at, s *[ctlRegs]affine) {
	for r := range s {
		if v := at[r].join(s[r]); v != at[r] {
			at[r] = v
			a.changed = true
		}
	}
}

// stride is that of the last address in an instruction's operands: of a copy to shared memory, where it reads.
func (a *stridePass) stride(in *isa.Inst, s *[ctlRegs]affine) (st Stride) {
	for k := range in.Src[:in.NSrc] {
		o := &in.Src[k]
		if o.Kind != isa.KindMem || o.Is(isa.ScaleX4) || o.Is(isa.ScaleX8) || o.Is(isa.ScaleX16) {
			continue
		}
		v := a.reg(isa.KindReg, o.Reg, s)
		if o.Is(isa.HasUReg) {
			v = v.add(a.reg(isa.KindUReg, o.UReg, s))
		}
		st = Stride{Bytes: int32(v.coefficient), Known: v.state == affineYes, Scattered: v.state == affineWild}
	}
	return st
}

func (a affine) add(b affine) affine {
	switch {
	case a.state == affineWild || b.state == affineWild:
		return wild
	case a.state != affineYes || b.state != affineYes:
		return notAffine
	}
	return affine{state: affineYes, coefficient: a.coefficient + b.coefficient, constant: a.constant + b.constant, fixed: a.fixed && b.fixed}
}

// times is a product; one of the factors has to be a constant if the other depends on the block.
func (a affine) times(b affine) affine {
	switch {
	case a.state == affineWild || b.state == affineWild,
		a.state == affineNo && b.fixed && wraps(b.constant), b.state == affineNo && a.fixed && wraps(a.constant):
		return wild
	case a.state != affineYes || b.state != affineYes:
		return notAffine
	case a.coefficient == 0 && a.fixed:
		return affine{state: affineYes, coefficient: a.constant * b.coefficient, constant: a.constant * b.constant, fixed: b.fixed}
	case b.coefficient == 0 && b.fixed:
		return b.times(a)
	case a.coefficient == 0 && b.coefficient == 0:
		return independent
	}
	return notAffine
}

// aligned is a value without its low bits. It moves as before if the coefficient has none of them: nothing is carried out of them then.
func (a affine) aligned(low uint) affine {
	if a.state != affineYes || a.coefficient&(1<<low-1) != 0 {
		return a.unknown()
	}
	return affine{state: affineYes, coefficient: a.coefficient}
}

func (a *stridePass) reg(kind isa.OperandKind, r isa.Reg, s *[ctlRegs]affine) affine {
	switch {
	case kind == isa.KindReg && r == isa.RZ, kind == isa.KindUReg && r == isa.URZ:
		return affine{state: affineYes, fixed: true}
	case kind == isa.KindReg && r < ctlPred:
		return s[r]
	case kind == isa.KindUReg && int(r) < ctlUPred-ctlUReg:
		return s[ctlUReg+int(r)]
	}
	return notAffine
}

// word is a word of constant bank 0, as far as the launch says what it is.
func (a *stridePass) word(o *isa.Operand) affine {
	if o.Bank != 0 || o.Reg != isa.RZ || o.Is(isa.HasUReg) {
		return independent
	}
	if at := o.Imm - int64(a.p.ParamBase); at >= 0 && at+4 <= int64(len(a.l.Params)) {
		return affine{state: affineYes, constant: binary.LittleEndian.Uint32(a.l.Params[at:]), fixed: true}
	}
	for i, n := range [3]uint32{a.l.Block.X, a.l.Block.Y, a.l.Block.Z} {
		if o.Imm == a.dims+4*int64(i) {
			return affine{state: affineYes, constant: n, fixed: true}
		}
	}
	return independent
}

// source is the low word of an operand.
func (a *stridePass) source(in *isa.Inst, k int, s *[ctlRegs]affine) affine {
	if k >= int(in.NSrc) {
		return notAffine
	}
	o, v := &in.Src[k], independent
	switch o.Kind {
	case isa.KindImm:
		v = affine{state: affineYes, constant: uint32(o.Imm), fixed: true}
	case isa.KindReg, isa.KindUReg:
		v = a.reg(o.Kind, o.Reg, s)
	case isa.KindConst:
		v = a.word(o)
	}
	switch {
	case o.Flags&(isa.Abs|isa.SelH0|isa.SelH1|isa.SelB0|isa.SelB1|isa.SelB2|isa.SelB3) != 0:
		if v.coefficient != 0 {
			return v.unknown()
		}
		v.fixed = false
	case o.Is(isa.Neg):
		v.coefficient, v.constant = -v.coefficient, -v.constant
	case o.Is(isa.Inv):
		v.coefficient, v.constant = -v.coefficient, ^v.constant
	}
	return v
}

// result is the low word of what an instruction computes. Of upper words it is only known whether they depend on the block.
func (a *stridePass) result(in *isa.Inst, s *[ctlRegs]affine) affine {
	src := func(k int) affine { return a.source(in, k, s) }
	switch in.Op {
	case isa.OpS2R, isa.OpS2UR, isa.OpCS2R:
		if in.NSrc > 0 && in.Src[0].Kind == isa.KindSpecial {
			switch isa.SpecialReg(in.Src[0].Reg) {
			case isa.SRCtaidX:
				return affine{state: affineYes, coefficient: 1}
			case isa.SRCtaidY, isa.SRCtaidZ, isa.SRVirtID, isa.SRSMID, isa.SRClusterCtaID, isa.SRCgaCtaID:
				return notAffine
			}
		}
		return independent
	case isa.OpMOV, isa.OpUMOV, isa.OpR2UR, isa.OpLDC, isa.OpULDC:
		return src(0)
	case isa.OpIADD3, isa.OpUIADD3, isa.OpVIADD:
		if in.Mod.Has(isa.ModX) {
			break
		}
		v := affine{state: affineYes, fixed: true}
		for k := range in.Src[:in.NSrc] {
			if kind := in.Src[k].Kind; kind == isa.KindReg || kind == isa.KindUReg || kind == isa.KindImm || kind == isa.KindConst {
				v = v.add(src(k))
			}
		}
		return v
	case isa.OpIMAD, isa.OpUIMAD:
		if in.Mod.Has(isa.ModHI) { // a step of a quotient, or the upper word of an address
			return independent
		}
		if in.Mod.Sub != 0 || in.Mod.Has(isa.ModX) {
			break
		}
		return src(0).times(src(1)).add(src(2))
	case isa.OpLEA, isa.OpULEA:
		if in.Mod.Has(isa.ModHI) || in.Mod.Has(isa.ModX) || in.NSrc < 3 {
			break
		}
		shift := src(2)
		if !shift.fixed {
			return notAffine
		}
		return src(0).times(affine{state: affineYes, constant: 1 << (shift.constant & 31), fixed: true}).add(src(1))
	case isa.OpSHF, isa.OpUSHF:
		if shift := src(1); in.Mod.Has(isa.ModLeft) && !in.Mod.Has(isa.ModHI) && shift.fixed && shift.constant < 32 {
			return src(0).times(affine{state: affineYes, constant: 1 << shift.constant, fixed: true})
		}
		if shift, v := src(1), src(2); !in.Mod.Has(isa.ModLeft) && in.Mod.Has(isa.ModHI) && shift.fixed && shift.constant < 32 {
			if v = v.aligned(uint(shift.constant)); v.state == affineYes { // a warp's number in the grid: (64 x block + thread) >> 5
				return affine{state: affineYes, coefficient: v.coefficient >> shift.constant}
			}
		}
	case isa.OpLOP3, isa.OpULOP3:
		if mask := src(1); in.Mod.Lut == lutAnd && in.NSrc > 1 && mask.fixed && mask.constant != 0 { // the first thread of a warp: & ^31
			if low := bits.TrailingZeros32(mask.constant); mask.constant == ^uint32(0)<<low {
				return src(0).aligned(uint(low))
			}
		}
	}
	a.list = appendUses(a.list[:0], in)
	v := independent
	for _, r := range a.list {
		if u := s[r]; u.state != affineYes || u.coefficient != 0 {
			if v = u.unknown(); v == wild {
				break
			}
		}
	}
	return v
}

func (a *stridePass) step(in *isa.Inst, s *[ctlRegs]affine) {
	v := a.result(in, s)
	if in.Class().IsMemory() && in.Class() != isa.ClassLDC && in.Op != isa.OpS2R && in.Op != isa.OpS2UR && in.Op != isa.OpR2UR {
		v = notAffine
		if c := in.Class(); c == isa.ClassLDG || c == isa.ClassTEX {
			v = independent
		}
	}
	a.list = appendDefs(a.list[:0], in)
	for n, r := range a.list {
		w := v
		switch {
		case n > 0 && (in.Op == isa.OpLDC || in.Op == isa.OpULDC):
			next := in.Src[0]
			next.Imm += 4 * int64(n)
			if w = independent; next.Kind == isa.KindConst {
				w = a.word(&next)
			}
		case n > 0 && (v.coefficient != 0 || v.state == affineWild): // the upper word, or a carry
			w = notAffine
		case n > 0 && v.state == affineYes:
			w = independent
		}
		if hasGuard(in) {
			w = w.join(s[r])
		}
		s[r] = w
	}
}
