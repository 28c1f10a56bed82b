package study

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/workloads"
)

// bench runs one case on changed hardware. The kernel file is parsed once. The program stays the one for the
// unchanged architecture, so that only the hardware differs, unless recompile is set.
type bench struct {
	comp      *compiler
	cs        *workloads.Case
	given     string // the architecture as the user names it: its name or a file
	base      *machine
	prog      *isa.Program
	recompile bool
}

func newBench(plan *workloads.Plan, arch string, recompile bool) (*bench, error) {
	comp, err := newCompiler(plan, []string{arch})
	if err != nil {
		return nil, &InputError{err}
	}
	b := &bench{comp: comp, cs: plan.Cases[0], given: arch, base: comp.machines[comp.order[0]], recompile: recompile}
	if b.prog, err = comp.program(b.cs, b.base); err != nil {
		return nil, &InputError{err}
	}
	return b, nil
}

// machine is the architecture with further changes on top of the plan's.
func (b *bench) machine(changes []workloads.Override) (*machine, error) {
	if len(changes) == 0 {
		return b.base, nil
	}
	s := b.comp.plan.Settings
	s.Overrides = slices.Concat(s.Overrides, changes)
	return loadMachine(b.given, &s)
}

// program is the machine code that runs on the changed machine, and whether it differs from the unchanged machine's.
//
// Stall counts are a contract between program and hardware: code scheduled for other latencies than the hardware has
// would read results too early, or would not notice that they come sooner. So a change of a latency that stall counts
// cover gives the same instructions, order and registers with newly computed control information. Every other change
// leaves the program as it is, bit by bit.
func (b *bench) program(m *machine) (p *isa.Program, rescheduled bool, err error) {
	switch {
	case m == b.base:
		return b.prog, false, nil
	case b.recompile:
		p, err := b.comp.compileFor(b.cs, m)
		return p, true, err
	}
	t := *b.base.target
	t.Latency, t.Variable = m.target.Latency, m.target.Variable
	t.CrossPipe, t.UniformLatency = m.target.CrossPipe, m.target.UniformLatency
	t.PredLatency, t.GuardLatency, t.BranchPred = m.target.PredLatency, m.target.GuardLatency, m.target.BranchPred
	if t == *b.base.target || !b.stallsChange(&t) {
		return b.prog, false, nil
	}
	q := *b.prog
	q.Insts = slices.Clone(b.prog.Insts)
	if err := lower.AddControl(&q, &t); err != nil {
		return nil, false, err
	}
	return &q, true, nil
}

// stallsChange says that a class of which the program's stall counts depend has another latency on the target. The latency
// of a result that is signalled by a dependency barrier is the hardware's business alone.
func (b *bench) stallsChange(t *isa.Target) bool {
	old := b.base.target
	if t.CrossPipe != old.CrossPipe || t.UniformLatency != old.UniformLatency || t.PredLatency != old.PredLatency ||
		t.GuardLatency != old.GuardLatency || t.BranchPred != old.BranchPred {
		return true
	}
	for i := range b.prog.Insts {
		c := b.prog.Insts[i].Class()
		if t.Variable[c] != old.Variable[c] || !t.Variable[c] && t.Latency[c] != old.Latency[c] {
			return true
		}
	}
	return false
}

// run simulates the case on the changed machine.
func (b *bench) run(changes []workloads.Override) (r *Run, rescheduled bool, err error) {
	m, err := b.machine(changes)
	if err != nil {
		return nil, false, &InputError{err}
	}
	p, rescheduled, err := b.program(m)
	if err != nil {
		return nil, false, &InputError{err}
	}
	r, err = b.comp.time(point{c: b.cs, arch: m.arch.Name}, m, p, nil)
	if err != nil {
		return nil, false, err
	}
	r.Overrides = nil
	for _, o := range slices.Concat(b.comp.plan.Overrides, changes) {
		r.Overrides = append(r.Overrides, o.Key+"="+o.Value)
	}
	return r, rescheduled, nil
}

// compileFor compiles a case anew for a machine, whatever was compiled before.
func (c *compiler) compileFor(cs *workloads.Case, m *machine) (*isa.Program, error) {
	src, entry, err := c.kernel(cs)
	if err != nil {
		return nil, err
	}
	p, err := src.program(entry, m.target, c.plan)
	if err != nil || src.listing == nil {
		return p, err
	}
	return listedCase(p, cs, m.target)
}
