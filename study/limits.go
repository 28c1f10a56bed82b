package study

import (
	"fmt"
	"sort"
	"strings"

	"github.com/sarchlab/smsim/sim"
)

// ShortLimiter is a run's limiter in a few words: "alu pipe 82 %", "latency (wait)", "L2 bandwidth".
func ShortLimiter(r *Run) string {
	l := &r.Limiter
	switch {
	case l.Kind == sim.LimitPipe:
		if p := pipe(r, l.What); p != nil {
			return fmt.Sprintf("%s pipe %.0f %%", l.What, 100*p.Utilization)
		}
		return l.What + " pipe"
	case l.Kind == sim.LimitIssue:
		return fmt.Sprintf("issue %.0f %%", 100*r.IssueSlots.Utilization)
	case l.Kind == sim.LimitShared, l.Kind == sim.LimitMemory && strings.Contains(l.What, " "): // "L2 latency", "DRAM bandwidth"
		return l.What
	}
	kind := strings.ReplaceAll(string(l.Kind), "_", " ")
	if l.What == "" || l.What == string(l.Kind) {
		return kind
	}
	return fmt.Sprintf("%s (%s)", kind, l.What)
}

// limiterKey is what limits the run without numbers, for telling whether two runs have the same limit.
func limiterKey(r *Run) string { return string(r.Limiter.Kind) + "/" + r.Limiter.What }

// pipe finds a pipe of the run by name, nil if it has none of that name.
func pipe(r *Run, name string) *sim.PipeUse {
	for i := range r.Pipes {
		if r.Pipes[i].Name == name {
			return &r.Pipes[i]
		}
	}
	return nil
}

// busiest is the pipe with the highest utilisation, nil if the run has no pipes.
func busiest(r *Run) *sim.PipeUse {
	var best *sim.PipeUse
	for i := range r.Pipes {
		if best == nil || r.Pipes[i].Utilization > best.Utilization {
			best = &r.Pipes[i]
		}
	}
	return best
}

// classChange is how the executed instructions of one class differ between two runs.
type classChange struct {
	class     string
	base, now float64 // per cent of the baseline's warp-instructions, for equal work
}

// classChanges lists the classes whose count for equal work changes most, largest change first. The counts are per
// cent of the baseline's warp-instructions, so that they need no unit.
func classChanges(c *Comparison, n int) []classChange {
	total := float64(c.base.WarpInstructions)
	work := c.InstructionRatio * float64(c.vari.WarpInstructions) / total // baseline work over variant work
	byName := map[string]*classChange{}
	var all []*classChange
	get := func(name string) *classChange {
		if byName[name] == nil {
			byName[name] = &classChange{class: name}
			all = append(all, byName[name])
		}
		return byName[name]
	}
	for _, k := range c.base.Classes {
		get(k.Class).base += 100 * float64(k.Insts) / total
	}
	for _, k := range c.vari.Classes {
		get(k.Class).now += 100 * float64(k.Insts) * work / total
	}
	change := func(k *classChange) float64 {
		if k.base > k.now {
			return k.base - k.now
		}
		return k.now - k.base
	}
	sort.SliceStable(all, func(i, j int) bool { return change(all[i]) > change(all[j]) })
	var out []classChange
	for _, k := range all[:min(n, len(all))] {
		if change(k) >= 1 {
			out = append(out, *k)
		}
	}
	return out
}
