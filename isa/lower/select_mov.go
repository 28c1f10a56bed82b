package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// ruleMov is mov: copies, addresses, special registers, and packing and unpacking of vectors.
func ruleMov(x *expander) {
	n := x.takeVector()
	t := x.typ("b16 b32 b64 b128 u16 s16 u32 s32 u64 s64 f16 f16x2 bf16 f32 f64 pred b8 u8 s8")
	if x.err != nil || !x.args(2, 2) {
		return
	}
	if n > 1 {
		x.movVector(n, t)
		return
	}
	if t.kind == 'p' {
		x.movP(x.predDst(0), x.predSrc(1))
		return
	}
	vd, vs := x.in.Args[0].Kind == ptx.ArgVector, x.in.Args[1].Kind == ptx.ArgVector
	switch {
	case vd && vs:
		from, to := x.srcVec(1, t.name), x.dstVec(0, t.name)
		for i := range to {
			if i < len(from) {
				x.movWords(to[i], from[i])
			}
		}
	case vd:
		x.unpackVector(t)
	case vs:
		x.packVector(t)
	default:
		d, s := x.dst(0, t.name), x.src(1, t.name)
		if x.f.opaqueMoves && len(d) > 0 && len(s) > 0 && d[0] == s[0] && d[0].Kind == isa.KindReg {
			for i := range d {
				x.emit(isa.OpMOV, isa.Mod{Flags: modOpaque}, []word{d[i]}, []word{s[i]})
			}
			return
		}
		x.movWords(d, s)
	}
}

// movVector is mov.v2 and mov.v4: element by element.
func (x *expander) movVector(n int, t vtype) {
	from, to := x.srcVec(1, t.name), x.dstVec(0, t.name)
	if len(from) != n || len(to) != n {
		x.fail("mov.v%d takes two vectors of %d elements", n, n)
		return
	}
	for i := range from { // copied first: the two vectors may share registers
		c := x.regs(len(from[i]))
		x.movWords(c, from[i])
		from[i] = c
	}
	for i := range to {
		x.movWords(to[i][:len(from[i])], from[i])
	}
}

func (x *expander) movWords(d, s []word) {
	for i := range d {
		if i < len(s) {
			x.mov(d[i], s[i])
		}
	}
}

// elemBits is the width of each of n elements of a packed type.
func (x *expander) elemBits(t vtype, n int) int {
	if n == 0 || t.bits%n != 0 || t.bits/n < 8 {
		x.fail("mov.%s cannot hold %d elements", t.name, n)
		return 0
	}
	return t.bits / n
}

// packVector is mov.bN d, {a, b, ...}.
func (x *expander) packVector(t vtype) {
	n := len(x.in.Args[1].Elems)
	bits := x.elemBits(t, n)
	if bits == 0 {
		return
	}
	name := map[int]string{8: "b8", 16: "b16", 32: "b32", 64: "b64"}[bits]
	elems := x.srcVec(1, name)
	d := x.dst(0, t.name)
	if bits >= 32 {
		var s []word
		for _, e := range elems {
			s = append(s, e...)
		}
		x.movWords(d, s)
		return
	}
	x.movWords(d, x.packSmall(elems, valueTypes[name]))
}

// unpackVector is mov.bN {a, b, ...}, s.
func (x *expander) unpackVector(t vtype) {
	n := len(x.in.Args[0].Elems)
	bits := x.elemBits(t, n)
	if bits == 0 {
		return
	}
	name := map[int]string{8: "b8", 16: "b16", 32: "b32", 64: "b64"}[bits]
	s := x.src(1, t.name)
	for i, e := range x.dstVec(0, name) {
		if e[0].Reg == isa.RZ {
			continue
		}
		switch {
		case bits == 64:
			x.movWords(e, s[2*i:2*i+2])
		case bits == 32:
			x.mov(e[0], s[i])
		case i%(32/bits) == 0 && bits == 16 && x.sm() >= 70:
			x.emit(isa.OpPRMT, isa.Mod{Size: sizeUnpack}, []word{e[0]}, []word{s[i/2], imm(0x7610), rz})
		case bits == 16 && x.sm() >= 70:
			x.emit(isa.OpPRMT, isa.Mod{Size: sizeUnpack}, []word{e[0]}, []word{s[i/2], imm(0x7632), rz})
		default:
			per := 32 / bits
			x.bfe(e[0], s[i/per], i%per*bits, bits, false)
		}
	}
}
