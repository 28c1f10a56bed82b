package configs

import "github.com/sarchlab/smsim/isa"

// Throughput is the largest number of results (lanes) of the class that one SM completes a cycle in the
// long run: the pipes that take it, the SM-wide unit behind them, and the issue slots. ok is false when
// the target has no such instruction. Register-file and memory limits are not in it.
func (a *Arch) Throughput(c isa.Class) (resultsPerCycle float64, ok bool) {
	row, ok := a.Classes[c.String()]
	if !ok {
		return 0, false
	}
	for _, p := range row.Pipe {
		resultsPerCycle += 32 / float64(row.IssueInterval) * float64(a.pipeCount(p))
	}
	if row.SharedPipe != "" {
		resultsPerCycle = min(resultsPerCycle, 32/float64(row.SharedHold)*float64(a.pipeCount(row.SharedPipe)))
	}
	issue := 32 * float64(a.SM.SubPartitions*a.SM.IssueWidth) / float64(a.SM.IssueInterval)
	return min(resultsPerCycle, issue), true
}

// pipeCount is how many of a pipe an SM has.
func (a *Arch) pipeCount(name string) int {
	if a.Pipes[name].Per == "sm" {
		return 1
	}
	return a.SM.SubPartitions
}
