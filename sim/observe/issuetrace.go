package observe

import (
	"sync"

	akita "github.com/sarchlab/akita/v3/sim"

	"github.com/sarchlab/smsim/sim"
)

// IssueTrace records what each warp does in every cycle of a window [From, To): what it issues, and the states it
// waits in between. It listens to one simulation.
type IssueTrace struct {
	From, To uint64
	Events   []IssueEvent

	mu sync.Mutex
}

// IssueEvent is one issued instruction, or the end of a warp (Index -1).
type IssueEvent struct {
	Cycle        uint64
	SubPartition int
	Slot         int
	Block, Warp  int
	Index        int    // of the static instruction
	Class        string // "" at the end of a warp
	Pipe         int    // index into Result.Pipes; -1: none
	Waited       []sim.StateCycles
}

// Func takes a record.
func (t *IssueTrace) Func(ctx akita.HookCtx) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch r := ctx.Item.(type) {
	case *sim.IssueRecord:
		t.add(r.Cycle, r.Waited, IssueEvent{SubPartition: r.SubPartition, Slot: r.Slot, Block: r.Block, Warp: r.Warp, Index: r.Effect.Index,
			Class: r.Class.String(), Pipe: r.Pipe})
	case *sim.WarpRecord:
		if r.End {
			t.add(r.Cycle, r.States, IssueEvent{SubPartition: r.SubPartition, Slot: r.Slot, Block: r.Block, Warp: r.Warp, Index: -1, Pipe: -1})
		}
	}
}

// add keeps an event that touches the window: the wait before it may lie in the window though the issue does not.
func (t *IssueTrace) add(cycle uint64, waited []sim.StateCycles, e IssueEvent) {
	wait := uint64(0)
	for _, w := range waited {
		wait += w.Cycles
	}
	if cycle < t.From || cycle-min(cycle, wait) >= t.To {
		return
	}
	e.Cycle, e.Waited = cycle, append([]sim.StateCycles(nil), waited...)
	t.Events = append(t.Events, e)
}
