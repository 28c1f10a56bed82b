package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// ruleTex is tex.1d and tex.2d: a point-sampled fetch at integer or floating-point texel coordinates, of a .texref variable or
// through a handle in a register. A sampler operand changes nothing.
func ruleTex(x *expander) {
	geom := x.take("1d", "2d")
	x.drop("base")
	if geom == "" {
		x.fail("%s is not modelled: of textures, tex.1d and tex.2d are", x.in.Name())
		return
	}
	x.drop("v4")
	types := slices.Clone(x.mods)
	x.mods = nil
	if len(types) != 2 || typeBits(types[0]) != 32 || types[1] != "s32" && types[1] != "f32" {
		x.fail("%s is not modelled: tex gives .v4.u32, .v4.s32 or .v4.f32 for coordinates of type .s32 or .f32, without .level or .grad", x.in.Name())
		return
	}
	if len(x.in.Args) != 2 || x.in.Args[1].Kind != ptx.ArgTexAddr || x.in.Args[0].Kind == ptx.ArgPair {
		x.fail("tex needs {d, d, d, d}, [image, {coordinates}]; offsets, comparisons and residency predicates are not modelled")
		return
	}
	elems := x.in.Args[1].Elems
	d := x.dstVec(0, types[0])
	if len(d) != 4 {
		x.fail("tex gives four values, %d registers are named", len(d))
		return
	}
	at := &elems[len(elems)-1]
	coords := []ptx.Arg{*at}
	if at.Kind == ptx.ArgVector {
		coords = at.Elems
	}
	need := 1
	if geom == "2d" {
		need = 2
	}
	if len(coords) < need {
		x.fail("tex.%s needs %d coordinates, %d given", geom, need, len(coords))
		return
	}
	handle := x.value(&elems[0], "u64")
	srcs := [][]word{handle}
	for i := range coords[:need] {
		w := x.value(&coords[i], types[1])[0]
		if w.Kind != isa.KindReg || w.Flags != 0 {
			r := x.reg()
			x.mov(r, w)
			w = r
		}
		srcs = append(srcs, []word{w})
	}
	for k, w := range handle { // the handle is a pair of registers
		r := x.reg()
		x.mov(r, w)
		handle[k] = r
	}
	m := isa.Mod{Type: isa.U32, BType: isa.S32}
	if types[0] == "f32" {
		m.Type = isa.F32
	}
	if types[1] == "f32" {
		m.BType = isa.F32
	}
	var regs []word
	for _, e := range d {
		regs = append(regs, e[0])
	}
	x.emitWide(isa.OpTEX, m, [][]word{regs}, srcs)
}
