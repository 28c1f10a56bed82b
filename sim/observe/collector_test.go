package observe

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
)

// TestPipeLoadEndsWithTheRun books load that is worked off after the end: it does not count, so that no pipe is busy for
// more than all cycles.
func TestPipeLoadEndsWithTheRun(t *testing.T) {
	type hold struct {
		sub           int
		cycle, cycles uint64
	}
	for _, c := range []struct {
		name      string
		instances int
		holds     []hold
		end, busy uint64
	}{
		{"all within", 1, []hold{{0, 0, 10}, {1, 20, 5}}, 100, 15},
		{"the last reaches beyond", 1, []hold{{0, 0, 10}, {0, 95, 10}}, 100, 15},
		{"a queue reaches beyond", 1, []hold{{0, 0, 80}, {1, 1, 80}}, 100, 100},
		{"one instance of four", 4, []hold{{0, 0, 200}, {3, 90, 5}}, 100, 105},
		{"two instances for four", 2, []hold{{0, 0, 60}, {1, 0, 60}, {2, 0, 60}}, 100, 160},
		{"all after the end", 1, []hold{{0, 100, 40}}, 100, 0},
	} {
		col := NewCollector(Machine{SubPartitions: 4, LSU: -1, ClockMHz: 1000, MaxWarps: 64,
			Program: &isa.Program{Insts: make([]isa.Inst, 1)}, Pipes: []Pipe{{"lsu", c.instances}}})
		for _, h := range c.holds {
			col.issue(&sim.IssueRecord{Cycle: h.cycle, SubPartition: h.sub, Effect: &isa.Effect{}, Pipe: 0, PipeCycles: h.cycles, Shared: -1, Dual: true})
		}
		r, err := col.Result(c.end)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if p := r.Pipes[0]; p.BusyCycles != c.busy || p.Utilization > 1 {
			t.Errorf("%s: busy for %d cycles (%.2f), want %d", c.name, p.BusyCycles, p.Utilization, c.busy)
		}
	}
}
