package study

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/workloads"
)

// bankHolds says what compilers keep in the constant banks.
var bankHolds = []string{"the launch", "the driver's words", "literals and tables of branches and functions", "the __constant__ variables",
	"the addresses of module variables", "data"}

// howToGive says how a bank's contents can be given.
func howToGive(bank uint8) string {
	words := fmt.Sprintf("--const %d:OFFSET=WORD,... (const: in a run file)", bank)
	whole := "take the listing of nvdisasm, which prints them"
	switch bank {
	case 2:
		return whole + ", or give the words with " + words
	case 3:
		return whole + ", give the PTX of the module with --module FILE.ptx (module: in a run file), or the words with " + words
	case 4:
		return whole + " with the variables, or give PTX that declares the variables, in the order of the module's, with --module FILE.ptx (module: in a run file)"
	}
	return "give them with " + words
}

// addModule gives a listing's program the constant and global variables of the PTX that the case names, where the listing itself
// has none.
func addModule(p *isa.Program, cs *workloads.Case, t *isa.Target) error {
	if cs.Module == nil {
		return nil
	}
	m, err := ptx.Parse(cs.Module.Path, cs.Module.Text)
	if err != nil {
		return err
	}
	d, err := lower.Data(m, t)
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
	return placeFunctions(p, cs, d, own)
}

// placeFunctions puts the addresses of functions into the variables of a module that hold them, where the code takes them from there:
// the byte address of a function in the code, or, where calls go through constant bank 2, eight times its number, from 1 on. The
// functions stand behind the kernel, in the order of the module; the listing shows where each begins only by what no branch reaches.
// own are the variables that the module gave.
func placeFunctions(p *isa.Program, cs *workloads.Case, d *lower.ModuleData, own map[string]bool) error {
	var places []lower.FunctionAddress
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
		return cs.Errorf("kernel %s calls through pointers, and %s of %s holds addresses of functions; behind the kernel the listing shows %d functions that only pointers reach, the module has %d (%s): take the listing of nvdisasm, which names them",
			p.Name, places[0].Variable, cs.Module.Path, len(starts), len(d.Order), strings.Join(d.Order, ", "))
	}
	numbered := readsBank(p, 2)
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
			return cs.Errorf("%s of %s holds the address of %s, which has no body there", r.Variable, cs.Module.Path, r.Symbol)
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

// unknownSymbol is the error for a variable whose address the listing has but not what it holds (nvdisasm -plr, -c leave sections out).
func unknownSymbol(p *isa.Program, cs *workloads.Case) error {
	for _, r := range p.ConstRelocs {
		if !slices.ContainsFunc(p.Globals, func(g isa.Global) bool { return g.Name == r.Symbol }) && readsBank(p, r.Bank) {
			return cs.Errorf("kernel %s: the listing names variable %s (c[%#x][%#x]) but does not show it: take the whole output of nvdisasm, or give PTX that declares it with --module FILE.ptx (module: in a run file)",
				p.Name, r.Symbol, r.Bank, r.Offset)
		}
	}
	return nil
}

// readsBank says whether the program reads a constant bank.
func readsBank(p *isa.Program, bank uint8) bool {
	for i := range p.Insts {
		in := &p.Insts[i]
		for _, o := range in.Src[:in.NSrc] {
			if o.Kind == isa.KindConst && o.Bank == bank {
				return true
			}
		}
	}
	return false
}
