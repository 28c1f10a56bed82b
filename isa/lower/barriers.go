package lower

import "github.com/sarchlab/smsim/isa"

// barrierPool hands out the six dependency barriers while the program is walked in address order.
type barrierPool struct {
	c      *controller
	users  [6][]int // instructions outstanding on the barrier, as far as straight-line order shows
	reads  [6]bool  // it protects sources, not results
	owner  map[int16]int
	reader map[int16]int
	copies bool // barrier copyBarrier counts groups of copies to shared memory
}

// copyBarrier is the dependency barrier of copy groups (LDGDEPBAR, DEPBAR.LE SB0), which nothing else may use then.
const copyBarrier = 0

// assignBarriers chooses a barrier for the result of every variable-latency instruction, and one for its
// sources where a later instruction overwrites them before the result is waited for.
func (c *controller) assignBarriers() {
	p := &barrierPool{c: c, owner: map[int16]int{}, reader: map[int16]int{}}
	var read [ctlRegs]bool
	for i := range c.p.Insts {
		for _, r := range c.uses[i] {
			read[r] = true
		}
	}
	for i := range c.p.Insts {
		p.copies = p.copies || c.p.Insts[i].Op == isa.OpLDGDEPBAR
	}
	for i := range c.p.Insts {
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
	for _, i := range append([]int(nil), users...) {
		rb := int(p.c.p.Insts[i].Ctrl.ReadBar)
		if rb == isa.NoBar || rb == b {
			continue
		}
		list := p.users[rb][:0]
		for _, k := range p.users[rb] {
			if k != i {
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
		if p.reads[b] && len(p.users[b]) > 0 && i-p.users[b][len(p.users[b])-1] > sourcesRead {
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
	last := func(b int) int { return p.users[b][len(p.users[b])-1] }
	same, other, any := -1, -1, -1
	for b := range p.users {
		if len(p.users[b]) == 0 {
			continue
		}
		if any < 0 || last(b) > last(any) {
			any = b
		}
		if p.reads[b] != read {
			continue
		}
		if other < 0 || last(b) > last(other) {
			other = b
		}
		if p.c.p.Insts[last(b)].Class() == class && (same < 0 || last(b) > last(same)) {
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
	p.users[pick] = append(p.users[pick], i)
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
