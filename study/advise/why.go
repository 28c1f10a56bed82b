package advise

import (
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/study"
)

// formedAlready is why a rewrite changes nothing.
const formedAlready = "the lowering forms the same machine instructions already"

// why explains a pair of runs from their results: where the gain comes from, or what keeps it away.
func why(p *study.Pair, trades bool) string {
	a, b := p.Runs()
	fewer := p.InstructionRatio
	switch {
	case !p.OutputsEqual:
		return "the outputs differ: not advised"
	case fewer > 0.999 && fewer < 1.001 && p.SpeedUp > 0.98 && p.SpeedUp < gainFrom:
		if same(p) {
			return formedAlready
		}
		return "no fewer instructions; " + limit(a)
	case p.SpeedUp >= gainFrom && fewer >= 1.001:
		return fmt.Sprintf("%.2fx fewer warp-instructions, IPC %.2f to %.2f; %s", fewer, a.IPC, b.IPC, limitMoves(a, b))
	case p.SpeedUp >= gainFrom:
		return fmt.Sprintf("%s though %.2fx as many warp-instructions run; %s", relief(a, b), 1/fewer, limitMoves(a, b))
	case fewer < 0.999 && trades:
		return fmt.Sprintf("%.2fx as many warp-instructions run, for a slow pipe that is not the limit here; %s", 1/fewer, limit(a))
	case fewer < 0.999:
		return fmt.Sprintf("%s runs %.2fx as many warp-instructions with it (more of %s); %s", a.Arch, 1/fewer, grown(p), limitMoves(a, b))
	}
	cause := "the instructions saved do not load what limits it"
	switch a.Limiter.Kind {
	case sim.LimitMemory:
		cause = "bound by memory bandwidth"
		if strings.HasSuffix(a.Limiter.What, "latency") {
			cause = "memory latency bound: the saved instructions become waiting"
		}
	case sim.LimitLatency, sim.LimitOccupancy:
		cause = "latency bound: the saved instructions become waiting"
	case sim.LimitPipe:
		cause = fmt.Sprintf("the %s pipe stays the limiter, with %s of its load before", a.Limiter.What, busyChange(a, b, a.Limiter.What))
	case sim.LimitBarrier:
		cause = "bound by barriers"
	case sim.LimitIssue:
		if fewer < gainFrom {
			cause = "few of the issued instructions go"
		}
	}
	return fmt.Sprintf("%.2fx fewer warp-instructions, but %s (%s)", fewer, cause, limit(a))
}

// limit names what limits a run; the report has it in full at the top.
func limit(r *study.Run) string { return "limited by " + study.ShortLimiter(r) }

// same says whether both runs executed the same number of instructions of each class.
func same(p *study.Pair) bool {
	for _, c := range p.Classes {
		if c.Baseline != c.Variant {
			return false
		}
	}
	return true
}

// grown names the classes that run more often.
func grown(p *study.Pair) string {
	var out []string
	for _, c := range p.Classes {
		if c.Variant > c.Baseline*1.01 && len(out) < 3 {
			out = append(out, c.Class)
		}
	}
	if out == nil {
		return "no class by much"
	}
	return strings.Join(out, ", ")
}

func limitMoves(a, b *study.Run) string {
	if a.Limiter.Kind == b.Limiter.Kind && a.Limiter.What == b.Limiter.What {
		return "still limited by " + study.ShortLimiter(a)
	}
	return fmt.Sprintf("the limit moves from %s to %s", study.ShortLimiter(a), study.ShortLimiter(b))
}

// relief names the pipe that loses most of its load.
func relief(a, b *study.Run) string {
	name, most := "", 0.03
	for _, p := range a.Pipes {
		for _, q := range b.Pipes {
			if d := p.Utilization * (1 - float64(q.BusyCycles)/float64(max(1, p.BusyCycles))); p.Name == q.Name && d > most {
				name, most = p.Name, d
			}
		}
	}
	if name == "" {
		return fmt.Sprintf("IPC rises from %.2f to %.2f", a.IPC, b.IPC)
	}
	return fmt.Sprintf("the %s pipe is relieved, with %s of its load before,", name, busyChange(a, b, name))
}

func busyChange(a, b *study.Run, pipe string) string {
	var x, y uint64
	for _, p := range a.Pipes {
		if p.Name == pipe {
			x = p.BusyCycles
		}
	}
	for _, p := range b.Pipes {
		if p.Name == pipe {
			y = p.BusyCycles
		}
	}
	if x == 0 {
		return "none"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(y)/float64(x))
}
