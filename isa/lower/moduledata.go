package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// ModuleData are a module's variables where machine code that was compiled from it finds them: constant variables in bank 3, one
// behind the other in the order of their declaration, and for each global variable its address in bank 4, 8 bytes each in that
// order (read off nvdisasm's listings of ptxas 13.0 for sm_75, 90 and 120).
type ModuleData struct {
	Globals     []isa.Global
	Constants   []byte // bank 3
	ConstRelocs []isa.ConstReloc
	// Functions are the addresses of functions in initial values: zero here, since only the machine code has the functions.
	Functions []FunctionAddress
	// Order names the functions whose addresses are taken, in initial values or by instructions, in the order of their bodies.
	// ptxas puts them behind every kernel in this order and numbers them so from 1 on.
	Order []string
}

// FunctionAddress is a place in the initial value of a variable that holds the address of a function (its Symbol).
type FunctionAddress struct {
	Variable string
	Global   int // index in Globals, -1: the offset is one in Constants
	isa.Reloc
}

// Data places all module variables.
func Data(m *ptx.Module, t *isa.Target) (*ModuleData, error) {
	f := newFn(t, m, &ptx.Func{})
	f.link = newUnitInfo()
	f.link.units = []*fn{f}
	d := &ModuleData{}
	n := 0
	for _, v := range m.Vars {
		if v.Space != "const" && v.Space != "global" || v.Type == "texref" || v.Type == "samplerref" || v.Type == "surfref" {
			continue
		}
		functions := len(f.link.data)
		y, err := f.placeVar(v)
		if err != nil {
			return nil, m.Errorf(v.Pos, "", "%v", err)
		}
		for _, r := range f.link.data[functions:] {
			at := r.reloc
			at.Offset = r.offset
			d.Functions = append(d.Functions, FunctionAddress{Variable: v.Name, Global: r.global, Reloc: at})
		}
		if y.kind == symGlobal {
			for i := range f.globals {
				if f.globals[i].Name == v.Name {
					f.globals[i].ConstOff = uint32(8 * n)
				}
			}
			n++
		}
	}
	d.Globals, d.Constants, d.ConstRelocs = f.globals, f.constMem, f.constRelocs
	d.Order = functionsTaken(m, d.Functions)
	return d, nil
}

// functionsTaken names the functions with a body whose address an initial value or an instruction takes, in the order of the bodies.
func functionsTaken(m *ptx.Module, inData []FunctionAddress) []string {
	taken := map[string]bool{}
	for _, r := range inData {
		taken[r.Symbol] = true
	}
	for _, fu := range m.Funcs {
		if fu.Body != nil {
			functionsMoved(fu.Body, m, taken)
		}
	}
	var out []string
	for _, fu := range m.Funcs {
		if !fu.Entry && fu.Body != nil && taken[fu.Name] {
			out = append(out, fu.Name)
		}
	}
	return out
}

// functionsMoved adds the functions whose address a mov of the block takes.
func functionsMoved(b *ptx.Block, m *ptx.Module, taken map[string]bool) {
	for _, s := range b.Stmts {
		switch x := s.(type) {
		case *ptx.Block:
			functionsMoved(x, m, taken)
		case *ptx.Instr:
			if x.Op != "mov" || len(x.Args) != 2 || x.Args[1].Kind != ptx.ArgName {
				continue
			}
			if fu := functionNamed(m, x.Args[1].Name); fu != nil {
				taken[fu.Name] = true
			}
		}
	}
}
