package sm

import (
	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
)

// ReadConflicts gives, for every instruction, the cycles that its register reads take beyond what its passes need
// without a conflict: the reads of the busiest bank, less one a pass. Operands that the previous instruction of the
// program left in the reuse cache are not read.
func ReadConflicts(a *configs.Arch, p *isa.Program) ([]int, error) {
	m, err := newMachine(a, p, nil)
	if err != nil {
		return nil, err
	}
	ports := max(1, a.RegisterFile.ReadPorts)
	extra := func(r *reads) int {
		return max(0, (int(r.busiest)+ports-1)/ports-1)
	}
	out := make([]int, len(p.Insts))
	for i := range m.code {
		t := &m.code[i]
		out[i] = extra(&t.firstSeq)
		if t.passes > 1 {
			out[i] += extra(&t.secondSeq)
		}
	}
	return out, nil
}
