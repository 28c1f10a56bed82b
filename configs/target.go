package configs

import "github.com/sarchlab/smsim/isa"

// SMNumber is the compute capability without the dot: 86 for 8.6.
func (a *Arch) SMNumber() int {
	n, ok := smNumber(a.ComputeCapability)
	if !ok {
		panic("configs: architecture was not checked: compute capability " + a.ComputeCapability)
	}
	return n
}

// Target gives lowering the facts of the architecture: what exists, its ABI, and the timing of each class.
func (a *Arch) Target() *isa.Target {
	t := isa.NewTarget(a.SMNumber())
	for c := isa.Class(1); c < isa.NumClasses; c++ {
		row, ok := a.Classes[c.String()]
		if !ok {
			continue
		}
		t.Latency[c] = row.Latency
		t.Interval[c] = row.IssueInterval
		t.Variable[c] = row.Variable
		t.Pipe[c] = row.Pipe[0]
		t.Alternatives[c] = len(row.Pipe)
	}
	t.CrossPipe = a.SM.CrossPipe
	t.PredLatency = a.SM.PredLatency
	t.GuardLatency = a.SM.GuardLatency
	t.BranchPred = a.SM.BranchPred
	t.UniformLatency = a.SM.UniformLatency
	t.RegBanks = a.RegisterFile.Banks
	t.MaxRegs = a.Occupancy.MaxRegsThread
	t.DualIssue = a.SM.IssueWidth > 1
	return t
}
