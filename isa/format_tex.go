package isa

import "fmt"

// texShape prints the shape and the components of a texture instruction behind its operands; all four components are not named.
func (in *Inst) texShape(put func(string)) {
	f := &in.Mod.Tex
	switch in.Op {
	case OpTEX, OpTLD, OpTLD4, OpTXD, OpTXQ:
	default:
		return
	}
	if f.Dim == TexNone {
		return
	}
	if in.Op != OpTXQ {
		put(TexDims[f.Dim])
	}
	if f.Mask != 0xf {
		put(fmt.Sprintf("%#x", f.Mask))
	}
}

// texSuffix prints the modifiers of texture and surface instructions.
func (in *Inst) texSuffix(add func(string)) {
	f := &in.Mod.Tex
	switch in.Op {
	case OpSULD, OpSUST:
		add("D.BA")
		add(TexDims[f.Dim])
		switch in.Mod.Size {
		case 1, 2:
			add(in.Mod.Type.String())
		case 8:
			add("64")
		case 16:
			add("128")
		}
		switch {
		case in.Mod.Has(ModCTA):
			add("STRONG.CTA")
		case in.Mod.Has(ModStrong):
			add("STRONG.SM")
		}
		switch f.Bounds {
		case TexTrap:
			add("TRAP")
		case TexZero:
			add("IGN")
		}
		return
	}
	if f.Scatter {
		add("SCR")
	}
	add([...]string{"", "LL", "LZ", "LB"}[f.Level&3])
	if in.Op == OpTLD4 && f.Dim != TexNone {
		add(string("RGBA"[f.Channel&3]))
	}
}
