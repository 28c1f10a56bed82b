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
	// Functions are the variables whose initial values are addresses of functions. Machine code numbers functions in constant
	// bank 2; here they are zero.
	Functions []string
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
			return nil, &Error{File: m.File, Pos: v.Pos, Msg: err.Error()}
		}
		if len(f.link.data) > functions {
			d.Functions = append(d.Functions, v.Name)
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
	return d, nil
}
