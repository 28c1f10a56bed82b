package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

const (
	floatTypes      = "f16 f16x2 bf16 bf16x2 f32 f64"
	arithmeticTypes = floatTypes + " f32x2" // of add, sub, mul and fma
)

// floatMods uses up .ftz, .sat and the rounding of an arithmetic instruction.
type floatMods struct {
	flags isa.ModFlags
	round isa.Round
}

func (x *expander) floatMods() floatMods {
	var m floatMods
	if r := x.take("rn", "rz", "rm", "rp"); r != "" {
		m.round = roundings[r]
	} else if x.in.Has("f32") && (x.in.Op == "mul" || x.in.Op == "add" || x.in.Op == "sub") && x.sm() >= 70 {
		m.flags |= modContract
	}
	if x.has("ftz") {
		m.flags |= isa.ModFTZ
	}
	if x.has("sat") {
		m.flags |= isa.ModSat
	}
	return m
}

// operands of a floating-point instruction as lists of words.
func (x *expander) floatSrc(i int, t vtype) []word { return x.src(i, t.name) }

// negFloat flips the sign of a value with the operand modifier, or of an immediate's bits.
func negFloat(w []word, t vtype) []word {
	if t.name == "f32x2" {
		one := valueTypes["f32"]
		return []word{negFloat(w[:1], one)[0], negFloat(w[1:2], one)[0]}
	}
	out := append([]word(nil), w...)
	k := len(out) - 1
	if out[k].Kind == isa.KindImm || out[k].Kind == isa.KindReg && out[k].Reg == isa.RZ {
		v, _ := constant(out[k])
		switch {
		case t.packed:
			v ^= 0x80008000
		case t.bits == 16:
			v ^= 0x8000
		default:
			v ^= 0x80000000
		}
		out[k] = imm(v)
		return out
	}
	// The modifier of a pair stands on its first word, which the tuple operand is made of.
	out[0].Flags ^= isa.Neg
	return out
}

// float2 and float3 emit an arithmetic instruction of two or three sources in the unit of the type.
func (x *expander) floatEmit(t vtype, f32, f64, f16 isa.Op, m floatMods, d []word, srcs ...[]word) {
	mod := isa.Mod{Round: m.round, Flags: m.flags}
	switch {
	case t.name == "f32x2": // two numbers in a pair of registers, one instruction each
		mod.Flags |= x.ftz
		for k := range d {
			var s []word
			for _, w := range srcs {
				s = append(s, w[k])
			}
			x.emit(f32, mod, d[k:k+1], s)
		}
	case t.bits == 64:
		x.emitWide(f64, mod, [][]word{d}, x.pairs(srcs))
	case t.name == "f32":
		mod.Flags |= x.ftz
		var s []word
		for _, w := range srcs {
			s = append(s, w[0])
		}
		x.emit(f32, mod, d, s)
	default:
		x.halfEmit(t, f32, f16, mod, d, srcs)
	}
}

// pairs moves the Neg flag of a pair to the tuple operand. Words with a modifier are copied without it first.
func (x *expander) pairs(srcs [][]word) [][]word {
	out := make([][]word, len(srcs))
	for i, w := range srcs {
		f := w[0].Flags & (isa.Neg | isa.Abs)
		if f == 0 || len(w) < 2 {
			out[i] = w
			continue
		}
		plain := append([]word(nil), w...)
		plain[0].Flags &^= isa.Neg | isa.Abs
		o := x.tupleSrc(plain)
		o.Flags |= f
		out[i] = []word{o}
	}
	return out
}

// halfEmit computes on halves: natively from sm_53 (f16) and sm_80 or sm_90 (bf16) on, before that in f32.
func (x *expander) halfEmit(t vtype, f32, f16 isa.Op, mod isa.Mod, d []word, srcs [][]word) {
	bf := t.name[0] == 'b'
	native := x.t().Has(f16) && (!bf || x.sm() >= 90 || x.sm() >= 80 && f16 == isa.OpHFMA2)
	if native {
		if bf {
			mod.Type = isa.BF16x2
		}
		var s []word
		for _, w := range srcs {
			o := w[0]
			if !t.packed && o.Kind == isa.KindReg && o.Reg != isa.RZ {
				o.Flags |= isa.SelH0
			}
			if !t.packed && o.Kind == isa.KindImm {
				v := uint32(o.Imm) & 0xffff
				o = imm(v | v<<16)
			}
			s = append(s, o)
		}
		x.emit(f16, mod, d, s)
		return
	}
	if f16 == isa.OpHFMA2 {
		x.fail("fma on .%s needs %s or newer; %s has no instruction that rounds once", t.name, map[bool]string{false: "sm_53", true: "sm_80"}[bf], x.t().Name)
		return
	}
	lanes := 1
	if t.packed {
		lanes = 2
	}
	out := make([]word, lanes)
	for k := range out {
		var s []word
		for _, w := range srcs {
			o := w[0]
			f := o.Flags & isa.Neg
			o.Flags &^= isa.Neg
			v := x.halfToFloat(o, k, bf)
			v.Flags |= f
			s = append(s, v)
		}
		r := x.reg()
		m := mod
		m.Flags &^= isa.ModFTZ
		x.emit(f32, m, []word{r}, s)
		out[k] = x.floatToHalf(auto, r, bf, isa.RN)
	}
	if lanes == 1 {
		x.mov(d[0], out[0])
		return
	}
	x.prmt(d[0], out[0], imm(0x5410), out[1])
}

// halfToFloat is half k of a as f32.
func (x *expander) halfToFloat(a word, k int, bf bool) word {
	if bf {
		if k == 1 {
			return x.and(auto, a, imm(0xffff0000))
		}
		return x.shl(auto, a, imm(16))
	}
	if k == 1 {
		a = x.shr(auto, a, imm(16))
	}
	r := x.reg()
	x.emit(isa.OpF2F, isa.Mod{Type: isa.F32, BType: isa.F16}, []word{r}, []word{a})
	return r
}

// floatToHalf rounds f32 to f16 or bf16 in the low half of d.
func (x *expander) floatToHalf(d, a word, bf bool, r isa.Round) word {
	d = x.out(d)
	if bf && x.sm() < 80 {
		// Round to nearest even on the bits; a NaN becomes the canonical one.
		a = x.inReg(a)
		odd := x.bfe(auto, a, 16, 1, false)
		v := x.shr(auto, x.add3(auto, a, imm(0x7fff), odd), imm(16))
		if r != isa.RN {
			v = x.shr(auto, a, imm(16))
		}
		if r == isa.RM || r == isa.RP { // away from zero on the one side of it
			side := isa.CmpGE
			if r == isa.RM {
				side = isa.CmpLT
			}
			q := x.test(isa.CmpNE, isa.U32, x.and(auto, a, imm(0xffff)), rz)
			q = x.cmp(auto, side, isa.S32, a, rz, isa.BoolAnd, q)
			x.under(q, func() { x.add(v, v, imm(1)) })
		}
		p := x.pred()
		x.emit(isa.OpFSETP, isa.Mod{Cmp: isa.CmpNan}, []word{p, pt}, []word{a, a, pt})
		return x.sel(d, imm(0x7fff), v, p)
	}
	if x.t().Has(isa.OpF2FP) {
		t := isa.F16x2
		if bf {
			t = isa.BF16x2
		}
		x.emit(isa.OpF2FP, isa.Mod{Type: t, Round: r, Flags: isa.ModPackAB}, []word{d}, []word{rz, a})
		return d
	}
	x.emit(isa.OpF2F, isa.Mod{Type: isa.F16, BType: isa.F32, Round: r}, []word{d}, []word{a})
	return d
}

func floatAdd(x *expander, sub bool) {
	m := x.floatMods()
	t := x.typ(arithmeticTypes)
	if x.err != nil || !x.args(3, 3) {
		return
	}
	a, b := x.floatSrc(1, t), x.floatSrc(2, t)
	if sub {
		b = negFloat(b, t)
	}
	x.floatEmit(t, isa.OpFADD, isa.OpDADD, isa.OpHADD2, m, x.dst(0, t.name), a, b)
}

func floatMul(x *expander) {
	m := x.floatMods()
	t := x.typ(arithmeticTypes)
	if x.err != nil || !x.args(3, 3) {
		return
	}
	x.floatEmit(t, isa.OpFMUL, isa.OpDMUL, isa.OpHMUL2, m, x.dst(0, t.name), x.floatSrc(1, t), x.floatSrc(2, t))
}

// floatFma is fma, and mad on floating-point types: rounded once from sm_20 on; on compute capability 1.x mad.f32 truncates the
// product.
func floatFma(x *expander) {
	m := x.floatMods()
	relu := x.has("relu")
	t := x.typ(arithmeticTypes)
	if x.err != nil || !x.args(4, 4) {
		return
	}
	if x.sm() < 20 && t.bits == 32 && !t.packed && slices.ContainsFunc(x.in.Mods, func(m string) bool { _, is := roundings[m]; return is }) {
		x.fail("%s needs compute capability 2.0: the multiply-add of 1.x truncates the product", x.in.Name())
		return
	}
	if relu {
		m.flags |= isa.ModRelu
	}
	single := isa.OpFFMA
	if x.sm() < 20 {
		single = isa.OpFMAD
	}
	x.floatEmit(t, single, isa.OpDFMA, isa.OpHFMA2, m, x.dst(0, t.name), x.floatSrc(1, t), x.floatSrc(2, t), x.floatSrc(3, t))
}

// ruleFma is fma.
func ruleFma(x *expander) {
	if x.sm() < 20 && (x.in.Has("f32") || x.in.Has("f32x2")) {
		x.fail("%s needs compute capability 2.0: 1.x has no fused multiply-add in single precision", x.in.Name())
		return
	}
	floatFma(x)
}

// floatSign changes the sign bit. In single precision that is an addition of -0 from Volta on, which operands take over as a
// modifier; else neg and abs are logic on the bits.
func floatSign(x *expander, abs bool) {
	ftz := x.has("ftz")
	t := x.typ(floatTypes)
	if x.err != nil || !x.args(2, 2) {
		return
	}
	if t.name == "f32" && (x.sm() >= 70 || ftz && x.sm() >= 20) {
		a, minus, m := x.inReg(x.a32(1, t.name)), rz, isa.Mod{}
		minus.Flags |= isa.Neg
		a.Flags |= isa.Neg
		if abs {
			a.Flags ^= isa.Neg | isa.Abs
		}
		if ftz {
			m.Flags |= isa.ModFTZ
		}
		x.emit(isa.OpFADD, m, []word{x.d32(0, t.name)}, []word{a, minus})
		return
	}
	mask := uint32(0x80000000)
	switch {
	case t.packed:
		mask = 0x80008000
	case t.bits == 16:
		mask = 0x8000
	}
	d, a := x.dst(0, t.name), x.src(1, t.name)
	k := len(d) - 1
	if abs {
		x.and(d[k], a[k], imm(^mask))
	} else {
		x.xor(d[k], a[k], imm(mask))
	}
	if k == 1 {
		x.mov(d[0], a[0])
	}
}

func floatNeg(x *expander) { floatSign(x, false) }
func floatAbs(x *expander) { floatSign(x, true) }

// floatMinMax is min and max on floating-point types.
func floatMinMax(x *expander, max bool) {
	var f isa.ModFlags
	if x.has("ftz") {
		f |= isa.ModFTZ
	}
	if x.has("NaN") {
		f |= isa.ModNaN
	}
	xorsign, abs := x.has("xorsign"), x.has("abs")
	three := len(x.in.Args) == 4
	if abs != xorsign && !(abs && three) {
		x.fail("%s takes .xorsign.abs together, of three sources .abs", x.in.Op)
	}
	t := x.typ(floatTypes)
	most := 3
	if t.name == "f32" { // a third source came with PTX 8.8
		most = 4
	}
	if x.err != nil || !x.args(3, most) {
		return
	}
	p := pt
	if max {
		p = notPT
	}
	d, a, b := x.dst(0, t.name), x.src(1, t.name), x.src(2, t.name)
	switch {
	case xorsign && (t.wide() || three):
		x.fail("%s: .xorsign.abs belongs to two sources of .f32 or halves", x.in.Op)
	case t.name == "f32" && xorsign:
		x.minMaxXorSign(d[0], a[0], b[0], f, p)
	case t.name == "f32":
		u, v := a[0], b[0]
		if three {
			w := x.src(3, t.name)[0]
			if abs {
				u, v, w = x.magnitude(u), x.magnitude(v), x.magnitude(w)
			}
			first := x.reg()
			x.emit(isa.OpFMNMX, isa.Mod{Flags: f}, []word{first}, []word{u, v, p})
			u, v = first, w
		}
		x.emit(isa.OpFMNMX, isa.Mod{Flags: f}, d, []word{u, v, p})
	case t.wide() && x.t().Has(isa.OpDMNMX):
		x.emitWide(isa.OpDMNMX, isa.Mod{Flags: f}, [][]word{d}, [][]word{a, b, {p}})
	case t.wide():
		op := isa.SubMin
		if max {
			op = isa.SubMax
		}
		first, neither := x.pred(), x.pred()
		x.emitWide(isa.OpDSETP, isa.Mod{Sub2: op}, [][]word{{first}, {neither}}, [][]word{a, b, {pt}})
		v := x.sel64(pair{}, asPair(a), asPair(b), first)
		x.under(neither, func() { x.or(v.hi, b[1], imm(0x80000)) })
		x.movWords(d, v.words())
	case !xorsign && (t.name[0] != 'b' && x.t().Has(isa.OpHMNMX2) || x.sm() >= 90):
		m := isa.Mod{Flags: f}
		if t.name[0] == 'b' {
			m.Type = isa.BF16x2
		}
		x.emit(isa.OpHMNMX2, m, d, []word{a[0], b[0], p})
	default:
		bf := t.name[0] == 'b'
		var out [2]word
		n := 1
		if t.packed {
			n = 2
		}
		for k := 0; k < n; k++ {
			r := x.reg()
			if u, v := x.halfToFloat(a[0], k, bf), x.halfToFloat(b[0], k, bf); xorsign {
				x.minMaxXorSign(r, u, v, f&^isa.ModFTZ, p)
			} else {
				x.emit(isa.OpFMNMX, isa.Mod{Flags: f &^ isa.ModFTZ}, []word{r}, []word{u, v, p})
			}
			out[k] = x.floatToHalf(auto, r, bf, isa.RN)
		}
		if n == 1 {
			x.mov(d[0], out[0])
		} else {
			x.prmt(d[0], out[0], imm(0x5410), out[1])
		}
	}
}

// magnitude is |a| of an f32 operand, with the operand's modifier.
func (x *expander) magnitude(a word) word {
	a = x.inReg(a)
	a.Flags = a.Flags&^isa.Neg | isa.Abs
	return a
}

// minMaxXorSign is the minimum or maximum of magnitudes with the product's sign, which a result that is not a number has not.
func (x *expander) minMaxXorSign(d, a, b word, f isa.ModFlags, p word) {
	a, b = x.inReg(a), x.inReg(b)
	sign := x.lop3(auto, a, b, imm(0x80000000), 0x28) // (a ^ b) & c
	r, q := x.reg(), x.pred()
	x.emit(isa.OpFMNMX, isa.Mod{Flags: f}, []word{r}, []word{x.magnitude(a), x.magnitude(b), p})
	x.emit(isa.OpFSETP, isa.Mod{Cmp: isa.CmpNan}, []word{q, pt}, []word{r, r, pt})
	x.under(notP(q), func() { x.or(r, r, sign) })
	x.mov(d, r)
}
