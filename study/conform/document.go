package conform

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// documented is what the PTX document's pseudo-code gives for operand values; defined is false where it leaves the
// result open.
type documented func(a, b, c uint64) (want uint64, defined bool)

// documentOf is the form as the PTX document's pseudo-code computes it, nil where GPUs do as the document says: all but
// scalar video instructions, bit fields and fns.
func (f *Form) documentOf(m *ptx.Module) documented {
	in := formInstr(m, f.PTX)
	if in == nil {
		return nil
	}
	switch in.Op {
	case "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset", "vmad":
		v := videoDocument(in)
		if v == nil {
			return nil
		}
		return func(a, b, c uint64) (uint64, bool) { return uint64(v.Value(uint32(a), uint32(b), uint32(c))), true }
	case "bfe", "bfi", "fns":
		return fieldDocument(in)
	}
	return nil
}

// fieldDocument is bfe, bfi or fns; operands are %a, %b, %c or integers.
func fieldDocument(in *ptx.Instr) documented {
	bits, signed := uint(32), in.Has("s32") || in.Has("s64")
	if in.Has("u64") || in.Has("s64") || in.Has("b64") {
		bits = 64
	}
	keep := uint64(1)<<bits - 1 // all ones for 64
	args := in.Args[1:]
	return func(a, b, c uint64) (uint64, bool) {
		var v [4]uint64
		for i := range args {
			if args[i].Kind == ptx.ArgInt {
				v[i] = uint64(args[i].Int)
			} else {
				v[i] = map[string]uint64{"%a": a, "%b": b, "%c": c}[args[i].Name]
			}
		}
		switch in.Op {
		case "bfe":
			return isa.ExtractDocument(v[0]&keep, uint32(v[1]), uint32(v[2]), bits, signed), true
		case "bfi":
			return isa.InsertDocument(v[0]&keep, v[1]&keep, uint32(v[2]), uint32(v[3]), bits), true
		}
		pos, ok := isa.FindSetDocument(uint32(v[0]), uint32(v[1]), int32(v[2]))
		return uint64(pos), ok
	}
}

// videoDocument is a scalar video instruction.
func videoDocument(in *ptx.Instr) *isa.VideoDocument {
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
