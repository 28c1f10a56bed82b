package study

import (
	"fmt"
	"slices"

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
	if err := lower.AddModule(p, m, t); err != nil {
		return cs.Errorf("%v", err)
	}
	return nil
}

// unknownSymbol is the error for a variable whose address the listing has but not what it holds (nvdisasm -plr, -c leave sections out).
func unknownSymbol(p *isa.Program, cs *workloads.Case) error {
	for _, r := range p.ConstRelocs {
		if !slices.ContainsFunc(p.Globals, func(g isa.Global) bool { return g.Name == r.Symbol }) && p.ReadsBank(r.Bank) {
			return cs.Errorf("kernel %s: the listing names variable %s (c[%#x][%#x]) but does not show it: take the whole output of nvdisasm, or give PTX that declares it with --module FILE.ptx (module: in a run file)",
				p.Name, r.Symbol, r.Bank, r.Offset)
		}
	}
	return nil
}
