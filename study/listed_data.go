package study

import (
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
	p.Globals, p.ConstRelocs = slices.Clone(p.Globals), slices.Clone(p.ConstRelocs)
	for _, g := range d.Globals {
		known := slices.IndexFunc(p.Globals, func(have isa.Global) bool { return have.Name == g.Name })
		if p.ConstBanks[4] != nil {
			g.ConstBank, g.ConstOff = 0, 0 // the listing has the addresses
		}
		if known < 0 {
			p.Globals = append(p.Globals, g)
		}
	}
	p.ConstBanks = maps.Clone(p.ConstBanks)
	if p.ConstBanks == nil {
		p.ConstBanks = map[uint8][]byte{}
	}
	if p.ConstBanks[3] == nil && len(d.Constants) > 0 {
		p.ConstBanks[3] = d.Constants
		p.ConstRelocs = append(p.ConstRelocs, d.ConstRelocs...)
	}
	if n := len(d.Globals); p.ConstBanks[4] == nil && n > 0 {
		p.ConstBanks[4] = make([]byte, 8*n)
	}
	if len(d.Functions) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%s of %s %s addresses of functions, which machine code numbers in constant bank 2: they are zero here; nvdisasm's listing has them",
			strings.Join(d.Functions, ", "), m.File, map[bool]string{true: "holds", false: "hold"}[len(d.Functions) == 1]))
	}
	return nil
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
