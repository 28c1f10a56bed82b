package lower

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// AddModule gives machine code that was compiled from a module the module's constant and global variables, where its listing has
// none. The program's slices and maps are replaced, not written to.
func AddModule(p *isa.Program, m *ptx.Module, t *isa.Target) error {
	d, err := Data(m, t)
	if err != nil {
		return err
	}
	own := map[string]bool{} // variables that the listing lacks; "": those of bank 3
	p.Globals, p.ConstRelocs = slices.Clone(p.Globals), slices.Clone(p.ConstRelocs)
	for _, g := range d.Globals {
		known := slices.IndexFunc(p.Globals, func(have isa.Global) bool { return have.Name == g.Name })
		if p.ConstBanks[4] != nil {
			g.ConstBank, g.ConstOff = 0, 0 // the listing has the addresses
		}
		if known < 0 {
			p.Globals = append(p.Globals, g)
			own[g.Name] = true
		}
	}
	p.ConstBanks = maps.Clone(p.ConstBanks)
	if p.ConstBanks == nil {
		p.ConstBanks = map[uint8][]byte{}
	}
	if p.ConstBanks[3] == nil && len(d.Constants) > 0 {
		p.ConstBanks[3] = d.Constants
		p.ConstRelocs = append(p.ConstRelocs, d.ConstRelocs...)
		own[""] = true
	}
	if n := len(d.Globals); p.ConstBanks[4] == nil && n > 0 {
		p.ConstBanks[4] = make([]byte, 8*n)
	}
	return d.placeFunctions(p, m.File, own)
}

// placeFunctions puts the addresses of functions into the variables of a module that hold them, where the code takes them from there:
// the byte address of a function in the code, or, where calls go through constant bank 2, eight times its number, from 1 on. The
// functions stand behind the kernel, in the order of the module; the listing shows where each begins only by what no branch reaches.
// own are the variables that the module gave.
func (d *ModuleData) placeFunctions(p *isa.Program, file string, own map[string]bool) error {
	var places []FunctionAddress
	for _, r := range d.Functions {
		if r.Global < 0 && own[""] || r.Global >= 0 && own[d.Globals[r.Global].Name] {
			places = append(places, r)
		}
	}
	if len(places) == 0 {
		return nil
	}
	starts := p.Unreached()
	if len(starts) != len(d.Order) {
		if !callsThroughPointers(p) {
			return nil
		}
		return fmt.Errorf("kernel %s calls through pointers, and %s of %s holds addresses of functions; behind the kernel the listing shows %d functions that only pointers reach, the module has %d (%s): take the listing of nvdisasm, which names them",
			p.Name, places[0].Variable, file, len(starts), len(d.Order), strings.Join(d.Order, ", "))
	}
	numbered := p.ReadsBank(2)
	if numbered && p.ConstBanks[2] == nil {
		bank := make([]byte, 8*(len(starts)+1))
		for k, i := range starts {
			binary.LittleEndian.PutUint32(bank[8*(k+1):], p.Insts[i].PC)
		}
		p.ConstBanks[2] = bank
	}
	for _, r := range places {
		k := slices.Index(d.Order, r.Symbol)
		if k < 0 {
			return fmt.Errorf("%s of %s holds the address of %s, which has no body there", r.Variable, file, r.Symbol)
		}
		addr := uint64(p.Insts[starts[k]].PC)
		if numbered {
			addr = uint64(8 * (k + 1))
		}
		if r.Global < 0 {
			bank := slices.Clone(p.ConstBanks[3])
			if err := r.Put(bank, addr); err != nil {
				return err
			}
			p.ConstBanks[3] = bank
			continue
		}
		g := slices.IndexFunc(p.Globals, func(g isa.Global) bool { return g.Name == d.Globals[r.Global].Name })
		p.Globals[g].Init = slices.Clone(p.Globals[g].Init)
		if err := r.Put(p.Globals[g].Init, addr); err != nil {
			return err
		}
	}
	return nil
}

// callsThroughPointers says that the code has calls whose target is in registers.
func callsThroughPointers(p *isa.Program) bool {
	for i := range p.Insts {
		in := &p.Insts[i]
		if in.Op == isa.OpCALL && (in.NSrc == 0 || in.Src[0].Kind != isa.KindLabel) {
			return true
		}
	}
	return false
}
