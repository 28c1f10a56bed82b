package sass

import (
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// isTexture says that the opcode reads an image and has the results and operands of isa.TexForm.
func isTexture(op isa.Op) bool {
	switch op {
	case isa.OpTEX, isa.OpTLD, isa.OpTLD4, isa.OpTXD, isa.OpTXQ:
		return true
	}
	return false
}

// texDim is the shape that an operand of a texture instruction names, TexNone for other operands.
func texDim(op isa.Op, t string) isa.TexDim {
	if !isTexture(op) {
		return isa.TexNone
	}
	return isa.TexDim(max(0, slices.Index(isa.TexDims[:], t)))
}

// takeMask takes the components of the result from the operands, 0x1 behind the shape; all four where there are none.
func takeMask(in *isa.Inst, ops []isa.Operand, text string) []isa.Operand {
	in.Mod.Tex.Mask = 0xf
	name := isa.TexDims[in.Mod.Tex.Dim]
	behind := strings.HasSuffix(text, name) // no mask stands behind the shape
	if in.Mod.Tex.Dim == isa.TexSize {      // here the handle stands between them
		behind = false
	}
	if n := len(ops); n > 0 && !behind && ops[n-1].Kind == isa.KindImm {
		in.Mod.Tex.Mask = uint8(ops[n-1].Imm) & 0xf
		ops = ops[:n-1]
	}
	return ops
}

// texModifier takes a modifier of a texture or surface instruction.
func texModifier(in *isa.Inst, s string) bool {
	f := &in.Mod.Tex
	surface := in.Op == isa.OpSULD || in.Op == isa.OpSUST
	switch {
	case !isTexture(in.Op) && !surface:
		return false
	case surface:
		switch s {
		case "1D":
			f.Dim = isa.Tex1D
		case "2D":
			f.Dim = isa.Tex2D
		case "IGN":
			f.Bounds = isa.TexZero
		case "TRAP":
			f.Bounds = isa.TexTrap
		case "D", "BA":
		default:
			return false
		}
		return true
	}
	channel := strings.Index("RGBA", s)
	switch {
	case s == "SCR":
		f.Scatter = true
	case s == "LL":
		f.Level = 1
	case s == "LZ":
		f.Level = 2
	case s == "LB":
		f.Level = 3
	case s == "NODEP" || s == "DC":
	case in.Op == isa.OpTLD4 && len(s) == 1 && channel >= 0:
		f.Channel = uint8(channel)
	default:
		return false
	}
	return s != "DC" // a comparison of depths
}
