package lower

import (
	"maps"
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// barrierPool hands out the six dependency barriers while the program is walked in address order.
type barrierPool struct {
	c *controller
	barrierState
	copies bool // barrier copyBarrier counts groups of copies to shared memory
}

// barrierState is what the barriers stand for at a place of the program, as far as address order and the loops around it show.
type barrierState struct {
	users  [6][]barrierUser // instructions outstanding on the barrier
	reads  [6]bool          // it protects sources, not results
	owner  map[int16]int    // barrier of the register's value
	reader map[int16]int    // barrier of those that read the register
}

// barrierUser is an instruction outstanding on a barrier; at is its place, before the loop for one of the loop's last round.
type barrierUser struct{ inst, at int }

// loopPasses is how often barriers are assigned: from the second time on it is known which of them a loop's last round has left in use.
const loopPasses = 3

// copyBarrier is the dependency barrier of copy groups (LDGDEPBAR, DEPBAR.LE SB0), which nothing else may use then.
const copyBarrier = 0

// assignBarriers chooses a barrier for the result of every variable-latency instruction, and one for its
// sources where a later instruction overwrites them before the result is waited for.
func (c *controller) assignBarriers() {
	var read [ctlRegs]bool
	for i := range c.p.Insts {
		for _, r := range c.uses[i] {
			read[r] = true
		}
	}
	copies, loops := false, false
	for i := range c.p.Insts {
		copies = copies || c.p.Insts[i].Op == isa.OpLDGDEPBAR
	}
	atEnd := make([]*barrierState, len(c.succs)) // of a block that branches back
	for b := range c.succs {
		loops = loops || c.backEdge(b) >= 0
	}
	for pass := range loopPasses {
		p := &barrierPool{c: c, copies: copies, barrierState: barrierState{owner: map[int16]int{}, reader: map[int16]int{}}}
		for b := range c.succs {
			for _, from := range c.preds[b] {
				if from >= b && atEnd[from] != nil {
					p.lastRound(atEnd[from], c.start[from+1]-c.start[b])
				}
			}
			c.assignBlock(p, b, &read)
			if c.backEdge(b) >= 0 {
				atEnd[b] = p.copyState()
			}
		}
		if !loops || pass == loopPasses-1 {
			return
		}
	}
}

// backEdge is the block at or before b that b can branch to, -1: none.
func (c *controller) backEdge(b int) int {
	for _, s := range c.succs[b] {
		if s <= b {
			return s
		}
	}
	return -1
}

// copyState is a copy of the pool's state.
func (p *barrierPool) copyState() *barrierState {
	s := &barrierState{reads: p.reads, owner: maps.Clone(p.owner), reader: maps.Clone(p.reader)}
	for b := range p.users {
		s.users[b] = slices.Clone(p.users[b])
	}
	return s
}

// lastRound takes over what the last round of a loop of length instructions has left on the barriers that are free.
func (p *barrierPool) lastRound(end *barrierState, length int) {
	taken := [6]bool{}
	for b := range p.users {
		if len(p.users[b]) > 0 {
			continue
		}
		taken[b] = true
		p.reads[b] = end.reads[b]
		for _, u := range end.users[b] {
			p.users[b] = append(p.users[b], barrierUser{u.inst, u.at - length})
		}
	}
	note := func(to, from map[int16]int) {
		for r, b := range from {
			if _, ok := to[r]; taken[b] && !ok {
				to[r] = b
			}
		}
	}
	note(p.owner, end.owner)
	note(p.reader, end.reader)
}

// assignBlock chooses the barriers of a block's instructions.
func (c *controller) assignBlock(p *barrierPool, block int, read *[ctlRegs]bool) {
	for i := c.start[block]; i < c.start[block+1]; i++ {
		in := &c.p.Insts[i]
		if in.Op == isa.OpLDGDEPBAR {
			in.Ctrl.WriteBar = copyBarrier
		}
		for _, r := range c.uses[i] {
			if b, ok := p.owner[r]; ok {
				p.release(b)
			}
		}
		for _, r := range c.defs[i] {
			if b, ok := p.owner[r]; ok {
				p.release(b)
			}
			if b, ok := p.reader[r]; ok {
				p.release(b)
			}
		}
		p.age(i)
		if !c.variable(in) {
			continue
		}
		wanted := false // nobody waits for the stack pointer of a kernel without a frame
		for _, r := range c.defs[i] {
			wanted = wanted || read[r]
		}
		if wanted {
			b := p.choose(i, false)
			in.Ctrl.WriteBar = uint8(b)
			for _, r := range c.defs[i] {
				p.owner[r] = b
			}
		}
		if c.needsReadBarrier(i) {
			b := p.choose(i, true)
			in.Ctrl.ReadBar = uint8(b)
			for _, r := range c.uses[i] {
				if r < ctlPred {
					p.reader[r] = b
				}
			}
		}
	}
}

// release frees a barrier that an instruction waited for, and the barriers of the same instructions' sources: a
// result that has arrived says that the sources were read.
func (p *barrierPool) release(b int) {
	users := p.users[b]
	reads := p.reads[b]
	p.users[b] = p.users[b][:0]
	p.reads[b] = false
	for r, x := range p.owner {
		if x == b {
			delete(p.owner, r)
		}
	}
	for r, x := range p.reader {
		if x == b {
			delete(p.reader, r)
		}
	}
	if reads {
		return
	}
	for _, u := range slices.Clone(users) {
		rb := int(p.c.p.Insts[u.inst].Ctrl.ReadBar)
		if rb == isa.NoBar || rb == b {
			continue
		}
		list := p.users[rb][:0]
		for _, k := range p.users[rb] {
			if k != u {
				list = append(list, k)
			}
		}
		p.users[rb] = list
		if len(list) == 0 {
			p.release(rb)
		}
	}
}

// sourcesRead is the number of instructions after which sources are taken to have been read without waiting.
const sourcesRead = 40

// age frees barriers of sources that were read long ago.
func (p *barrierPool) age(i int) {
	for b := range p.users {
		if p.reads[b] && len(p.users[b]) > 0 && i-p.users[b][len(p.users[b])-1].at > sourcesRead {
			p.release(b)
		}
	}
}

// choose takes a free barrier, or shares one: sources with sources, a result with the latest result of the same
// kind of instruction. One barrier is left for sources while results can share.
func (p *barrierPool) choose(i int, read bool) int {
	class := p.c.p.Insts[i].Class()
	free, frees := -1, 0
	for b := 5; b >= 0; b-- {
		if len(p.users[b]) == 0 && !(p.copies && b == copyBarrier) {
			free = b
			frees++
		}
	}
	last := func(b int) barrierUser { return p.users[b][len(p.users[b])-1] }
	same, other, any := -1, -1, -1
	for b := range p.users {
		if len(p.users[b]) == 0 {
			continue
		}
		if any < 0 || last(b).at > last(any).at {
			any = b
		}
		if p.reads[b] != read {
			continue
		}
		if other < 0 || last(b).at > last(other).at {
			other = b
		}
		if p.c.p.Insts[last(b).inst].Class() == class && (same < 0 || last(b).at > last(same).at) {
			same = b
		}
	}
	pick := free
	switch {
	case frees > 1 || frees == 1 && read:
	case frees == 1 && same < 0:
	case same >= 0:
		pick = same
	case other >= 0:
		pick = other
	case free < 0:
		pick = any
	}
	if len(p.users[pick]) == 0 {
		p.reads[pick] = read
	}
	p.users[pick] = append(p.users[pick], barrierUser{i, i})
	return pick
}

// needsReadBarrier says that a register source of instruction i is overwritten soon after it, on a path where
// the result of i has not been waited for.
func (c *controller) needsReadBarrier(i int) bool {
	srcs := 0
	for _, r := range c.uses[i] {
		if r < ctlPred {
			srcs++
		}
	}
	if srcs == 0 {
		return false
	}
	b := c.block[i]
	bad, stop, left := c.overwritten(i, i+1, c.start[b+1], sourcesRead)
	if stop {
		return bad
	}
	for _, s := range c.succs[b] {
		if bad, _, _ := c.overwritten(i, c.start[s], c.start[s+1], left); bad {
			return true
		}
	}
	return false
}

// overwritten looks through instructions from..to-1, at most left of them, for one that overwrites a source of i. It
// stops where i's result is needed.
func (c *controller) overwritten(i, from, to, left int) (bad, stop bool, rest int) {
	for j := from; j < to; j++ {
		if left--; left < 0 {
			return false, true, 0
		}
		for _, r := range c.uses[j] {
			for _, d := range c.defs[i] {
				if r == d {
					return false, true, 0
				}
			}
		}
		for _, d := range c.defs[j] {
			for _, x := range c.defs[i] {
				if x == d {
					return false, true, 0
				}
			}
		}
		for _, d := range c.defs[j] {
			for _, r := range c.uses[i] {
				if r == d && r < ctlPred {
					return true, true, 0
				}
			}
		}
	}
	return false, false, left
}
