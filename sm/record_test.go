package sm

import (
	akita "github.com/sarchlab/akita/v3/sim"

	"github.com/sarchlab/smsim/sim"
)

// Func implements Akita's Hook.
func (r *issues) Func(ctx akita.HookCtx) {
	switch x := ctx.Item.(type) {
	case *sim.IssueRecord:
		r.at[x.Slot] = append(r.at[x.Slot], x.Cycle)
		m := map[sim.WarpState]uint64{}
		for _, w := range x.Waited {
			m[w.State] = w.Cycles
		}
		r.waited[x.Slot] = append(r.waited[x.Slot], m)
	case *sim.WarpRecord:
		if x.End {
			r.ends[x.Slot] = x.Cycle
		}
	}
}
