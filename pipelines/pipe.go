package pipelines

import (
	"github.com/sarchlab/smsim/sim"
)

// Pipe is one execution unit. It keeps absolute cycles: an instruction books it at issue and is never looked at again.
//
// Without a queue an instruction issues only when the pipe can take it, so the pipe's interval shows as issue
// stalls (math_pipe_throttle). With a queue it issues into the queue and starts when the pipe is free; issue
// stalls once the queue is full.
type Pipe struct {
	sim.Unit
	Stall sim.WarpState // state of a warp whose instruction cannot issue because of this pipe

	free   uint64   // first cycle at which the pipe can start another instruction
	starts []uint64 // start cycles of the newest instructions, as many as the queue is deep
	next   int
}

// NewPipe is an idle pipe. queue is the number of issued instructions that may wait in front of it.
func NewPipe(name string, queue int, stall sim.WarpState) *Pipe {
	p := &Pipe{Stall: stall, starts: make([]uint64, queue)}
	p.InitUnit(name)
	return p
}

// IssueAt is the first cycle at which an instruction for the pipe can issue.
func (p *Pipe) IssueAt() uint64 {
	if len(p.starts) == 0 {
		return p.free
	}
	return p.starts[p.next]
}

// Take books the pipe for hold cycles from the first cycle on, at or after the given one, at which it is free.
func (p *Pipe) Take(cycle uint64, hold int) (start uint64) {
	start = max(cycle, p.free)
	p.free = start + uint64(hold)
	p.enqueue(start)
	return start
}

// TakeThrough books the pipe and, from the pipe's start on, passes cycles of a unit behind it. The instruction stays
// in the pipe until the unit takes its last pass, so a busy unit fills the pipe's queue. It returns the first pass.
func (p *Pipe) TakeThrough(cycle uint64, hold int, unit *Shared, passes int) (start uint64) {
	first, last := unit.Take(max(cycle, p.free), passes)
	p.free = max(first+uint64(hold), last+1)
	p.enqueue(first)
	return first
}

func (p *Pipe) enqueue(start uint64) {
	if len(p.starts) == 0 {
		return
	}
	p.starts[p.next] = start
	p.next++
	if p.next == len(p.starts) {
		p.next = 0
	}
}

// Hold extends the booking of an instruction that started at the cycle: it occupies this pipe besides its own.
func (p *Pipe) Hold(start uint64, hold int) {
	p.free = max(p.free, start+uint64(hold))
}
