package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// ruleTex is tex: a point-sampled fetch from a one- or two-dimensional image or the first layer of an array, at integer or
// floating-point texel coordinates, of a .texref variable or through a handle in a register. A sampler operand, the level of
// detail and derivatives change nothing: images have one level.
func ruleTex(x *expander) {
	geom := x.take("1d", "2d", "a1d", "a2d")
	x.drop("base", "level", "grad")
	if geom == "" {
		x.fail("%s is not modelled: of textures, 1d, 2d, a1d and a2d are", x.in.Name())
		return
	}
	typ, at, ok := x.texTypes("s32", "f32")
	if !ok {
		return
	}
	if len(x.in.Args) > 4 || x.in.Args[1].Kind != ptx.ArgTexAddr || x.in.Args[0].Kind == ptx.ArgPair {
		x.fail("tex needs {d, d, d, d}, [image, {coordinates}]; offsets, comparisons and residency predicates are not modelled")
		return
	}
	layered, need := geom[0] == 'a', 1
	if geom[len(geom)-2] == '2' {
		need = 2
	}
	x.texture(isa.OpTEX, isa.TexForm{}, typ, at, need, layered)
}

// ruleTld4 is tld4: one component of the four texels around a point.
func ruleTld4(x *expander) {
	channel := x.take("r", "g", "b", "a")
	geom := x.take("2d", "a2d")
	if geom == "" || channel == "" {
		x.fail("%s is not modelled: tld4.r, .g, .b and .a of 2d and a2d are", x.in.Name())
		return
	}
	typ, at, ok := x.texTypes("f32")
	if !ok {
		return
	}
	if len(x.in.Args) != 2 || x.in.Args[1].Kind != ptx.ArgTexAddr || x.in.Args[0].Kind == ptx.ArgPair {
		x.fail("tld4 needs {d, d, d, d}, [image, {coordinates}]; offsets, comparisons and residency predicates are not modelled")
		return
	}
	x.texture(isa.OpTLD4, isa.TexForm{Channel: uint8(slices.Index([]string{"r", "g", "b", "a"}, channel))}, typ, at, 2, geom[0] == 'a')
}

// texTypes takes the types of result and coordinates.
func (x *expander) texTypes(coordinates ...string) (typ, at string, ok bool) {
	x.drop("v4")
	types := slices.Clone(x.mods)
	x.mods = nil
	if len(types) != 2 || typeBits(types[0]) != 32 || !slices.Contains(coordinates, types[1]) {
		x.fail("%s is not modelled: results are .v4.u32, .v4.s32 or .v4.f32, coordinates .f32 or, of tex, .s32", x.in.Name())
		return "", "", false
	}
	return types[0], types[1], true
}

// texture emits a fetch with the given number of coordinates behind the layer.
func (x *expander) texture(op isa.Op, form isa.TexForm, typ, coordinate string, need int, layered bool) {
	if !x.t().Has(op) {
		x.fail("%s has no %s", x.t().Name, op)
		return
	}
	elems := x.in.Args[1].Elems
	d := x.dstVec(0, typ)
	if len(d) != 4 {
		x.fail("%s gives four values, %d registers are named", x.in.Op, len(d))
		return
	}
	at := &elems[len(elems)-1]
	coords := []ptx.Arg{*at}
	if at.Kind == ptx.ArgVector {
		coords = at.Elems
	}
	if layered && len(coords) > 0 {
		coords = coords[1:]
	}
	if len(coords) < need {
		x.fail("%s needs %d coordinates, %d given", x.in.Name(), need, len(coords))
		return
	}
	srcs := [][]word{x.imageHandle(&elems[0])}
	for i := range coords[:need] {
		srcs = append(srcs, []word{x.inRegister(x.value(&coords[i], coordinate)[0])})
	}
	m := isa.Mod{Type: isa.U32, BType: isa.S32, Tex: form}
	if typ == "f32" {
		m.Type = isa.F32
	}
	if coordinate == "f32" {
		m.BType = isa.F32
	}
	var regs []word
	for _, e := range d {
		regs = append(regs, e[0])
	}
	x.emitWide(op, m, [][]word{regs}, srcs)
}

// imageHandle is the handle of an image in a pair of registers.
func (x *expander) imageHandle(a *ptx.Arg) []word {
	named := *a
	if named.Kind == ptx.ArgAddr && named.Int == 0 { // [image]
		named.Kind = ptx.ArgName
	}
	handle := x.value(&named, "u64")
	for k, w := range handle {
		r := x.reg()
		x.mov(r, w)
		handle[k] = r
	}
	return handle
}

// inRegister is the value as a plain register.
func (x *expander) inRegister(w word) word {
	if w.Kind == isa.KindReg && w.Flags == 0 {
		return w
	}
	r := x.reg()
	x.mov(r, w)
	return r
}

// ruleTxq is txq: the size of an image.
func ruleTxq(x *expander) {
	what := x.take("width", "height", "depth", "num_mipmap_levels")
	t := x.typ("b32 u32 s32")
	if what == "" {
		x.fail("%s is not modelled: .width, .height, .depth and .num_mipmap_levels are", x.in.Name())
		return
	}
	if x.err != nil || !x.args(2, 2) {
		return
	}
	if !x.t().Has(isa.OpTXQ) {
		x.fail("%s has no TXQ", x.t().Name)
		return
	}
	regs := x.regs(4)
	x.emitWide(isa.OpTXQ, isa.Mod{Type: isa.U32}, [][]word{regs}, [][]word{x.imageHandle(x.arg(1))})
	x.mov(x.d32(0, t.name), regs[slices.Index([]string{"width", "height", "depth", "num_mipmap_levels"}, what)])
}

// ruleSurface is suld.b and sust.b on one- and two-dimensional surfaces: x counts bytes, y rows.
func ruleSurface(x *expander) {
	geom := x.take("1d", "2d")
	if x.take("b") == "" || geom == "" {
		x.fail("%s is not modelled: of surfaces, suld.b and sust.b of 1d and 2d are", x.in.Name())
		return
	}
	bounds := isa.TexTrap
	switch x.take("trap", "clamp", "zero") {
	case "clamp":
		bounds = isa.TexClamp
	case "zero":
		bounds = isa.TexZero
	}
	x.takeMemOrder()
	n := x.takeVector()
	t := x.typ("b8 b16 b32 b64")
	load := x.in.Op == "suld"
	at, data, op := 1, 0, isa.OpSULD
	if !load {
		at, data, op = 0, 1, isa.OpSUST
	}
	if x.err != nil || !x.args(2, 2) {
		return
	}
	bytes := t.bits / 8 * n
	if a := x.arg(at); a.Kind != ptx.ArgTexAddr || len(a.Elems) != 2 || bytes > 16 {
		x.fail("%s needs [surface, {coordinates}] and at most 16 bytes", x.in.Op)
		return
	}
	if !x.t().Has(op) {
		x.fail("%s has no %s", x.t().Name, op)
		return
	}
	elems := x.arg(at).Elems
	coords := []ptx.Arg{elems[1]}
	if elems[1].Kind == ptx.ArgVector {
		coords = elems[1].Elems
	}
	m := isa.Mod{Size: uint8(bytes), Tex: isa.TexForm{Dim: isa.Tex1D, Bounds: bounds}}
	pair := []word{x.inRegister(x.value(&coords[0], "u32")[0])}
	if geom == "2d" {
		if len(coords) < 2 {
			x.fail("%s needs two coordinates", x.in.Name())
			return
		}
		m.Tex.Dim = isa.Tex2D
		pair = append(pair, x.inRegister(x.value(&coords[1], "u32")[0]))
	}
	mem := isa.Mem(pair[0].Reg, 0, false)
	if len(pair) == 2 {
		mem = isa.Mem(x.tupleSrc(pair).Reg, 0, true)
		mem.Flags |= flagPair
	}
	handle := x.imageHandle(&elems[0])
	if load {
		e := x.dstVec(data, t.name)
		if len(e) != n {
			x.fail("suld names %d registers for .v%d", len(e), n)
			return
		}
		regs := x.elemRegs(e, t)
		if len(e) == 1 {
			regs = e[0][:typeWords(t.name)]
		}
		if t.bits < 32 && len(e) == 1 {
			m.Type = map[int]isa.Type{8: isa.U8, 16: isa.U16}[t.bits]
		}
		x.emitWide(op, m, [][]word{regs}, [][]word{{mem}, handle})
		if len(e) > 1 && t.bits < 32 {
			x.unpackSmall(e, regs, t)
		}
		return
	}
	e := x.srcVec(data, t.name)
	if len(e) != n {
		x.fail("sust names %d registers for .v%d", len(e), n)
		return
	}
	var regs []word
	if len(e) > 1 && t.bits < 32 {
		regs = x.packSmall(e, t)
	} else {
		for _, w := range e {
			for _, v := range w {
				regs = append(regs, x.inRegister(v))
			}
		}
	}
	x.emitWide(op, m, nil, [][]word{{mem}, regs, handle})
}
