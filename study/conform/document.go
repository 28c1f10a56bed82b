package conform

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// documentOf is the form as the PTX document's pseudo-code computes it, nil where GPUs do as the document says: all but
// scalar video instructions.
func (f *Form) documentOf(m *ptx.Module) *isa.VideoDocument {
	in := formInstr(m, f.PTX)
	if in == nil {
		return nil
	}
	switch in.Op {
	case "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset", "vmad":
	default:
		return nil
	}
	v := &isa.VideoDocument{Op: in.Op}
	var types []bool
	for _, mod := range in.Mods {
		switch mod {
		case "u32", "s32":
			types = append(types, mod == "s32")
		case "sat":
			v.Sat = true
		case "wrap":
			v.Wrap = true
		case "po":
			v.PlusOne = true
		case "shr7":
			v.Shift = 7
		case "shr15":
			v.Shift = 15
		case "add":
			v.Second = isa.SubAdd
		case "min":
			v.Second = isa.SubMin
		case "max":
			v.Second = isa.SubMax
		}
		if c, ok := comparisons[mod]; ok {
			v.Cmp = c
		}
	}
	if in.Op == "vset" { // its result is a truth value
		types = append([]bool{false}, types...)
	}
	if len(types) != 3 || len(in.Args) < 3 {
		return nil
	}
	for i, p := range []*isa.VideoPart{&v.D, &v.A, &v.B} {
		*p = videoPart(&in.Args[i], types[i])
	}
	if in.Op == "vmad" {
		v.NegProduct = in.Args[1].Neg != in.Args[2].Neg
		v.NegC = in.Args[3].Neg
	}
	return v
}

var comparisons = map[string]isa.Cmp{"eq": isa.CmpEQ, "ne": isa.CmpNE, "lt": isa.CmpLT, "le": isa.CmpLE, "gt": isa.CmpGT, "ge": isa.CmpGE}

// videoPart is what an operand's selector names.
func videoPart(a *ptx.Arg, signed bool) isa.VideoPart {
	p := isa.VideoPart{Signed: signed, Bits: 32}
	if len(a.Member) == 2 {
		switch n := uint(a.Member[1] - '0'); a.Member[0] {
		case 'b':
			p.At, p.Bits = 8*n, 8
		case 'h':
			p.At, p.Bits = 16*n, 16
		}
	}
	return p
}

// formInstr finds the instruction of the form in its kernel.
func formInstr(m *ptx.Module, text string) *ptx.Instr {
	for _, e := range m.Entries() {
		for _, st := range e.Body.Stmts {
			if in, ok := st.(*ptx.Instr); ok && in.Text == text {
				return in
			}
		}
	}
	return nil
}
