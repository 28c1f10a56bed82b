package lower

import "github.com/sarchlab/smsim/isa"

// Loops whose number of rounds is known. ptxas counts the statements of the body, not the machine instructions they
// become, and unrolls before it simplifies. These bounds follow from the copies it made of some 120 loops of 2 to 200 rounds with
// bodies of 1 to 520 statements (docs/lowering.md), without the counter's addition, the comparison and the branch. All rounds, where
// the body has at most fullBody statements, there are at most fullTotal in total, and rounds times (body - saved) is at most
// fullGrowth. Else, of a body that is one block, the greatest factor from leastFactor on for which loop and left-over
// rounds together have at most partUnroll statements.
const (
	fullBody    = 62
	fullTotal   = 1350
	fullGrowth  = 447
	saved       = 11
	partUnroll  = 350
	partBody    = 70
	leastFactor = 4
	mostRounds  = 1 << 16 // rounds that are counted
)

// loopStatements are a counted loop's addition, comparison and branch.
const loopStatements = 3

// whole says that all rounds of a body are unrolled.
func whole(rounds, body int, memory bool) bool {
	return (memory || body <= fullBody) && rounds*body <= fullTotal && rounds*(body-saved) <= fullGrowth
}

// roundsLoop is a loop with a known number of rounds.
type roundsLoop struct {
	*loopBody
	rounds int
	start  uint32
	step   uint32
	add    place       // the counter's addition
	test   int         // place of the comparison in the latch
	join   int         // place of the AND with another condition, -1: none
	stay   isa.Operand // that condition, under which the loop goes on
	id     int         // the counter's number
	reg    isa.Operand
}

// unrollKnown unrolls loops with a known number of rounds, inner ones first, and says whether it changed any.
func (f *fn) unrollKnown() bool {
	any := false
	var facts *loopFacts
	for again := true; again; {
		again = false
		for k := len(f.loops) - 1; k >= 0 && !again; k-- {
			l := f.loops[k]
			if l.head.unrolled || f.hasInner(l) {
				continue
			}
			if facts == nil {
				facts = f.loopFacts()
			}
			c := f.knownRounds(l, facts)
			if c == nil {
				continue
			}
			size := max(c.size(), 1)
			switch factor := unrollBy(c.rounds, size); {
			case whole(c.rounds, size-c.folded(), len(c.accessed()) > 0):
				c.unroll(c.rounds)
			case factor >= leastFactor && len(c.blocks) == 1 && c.join < 0:
				c.unroll(factor)
			default:
				continue
			}
			f.analyse()
			any, again, facts = true, true, nil
		}
	}
	return any
}

// size is what ptxas counts of the body's statements.
func (c *loopBody) size() int {
	n := -loopStatements
	for _, b := range c.blocks {
		n += b.statements
	}
	return n
}

// folded is how many statements nothing is left of when the counter is a constant: what is computed from it and constants alone, its
// addition to an address, and the load from there, which takes it as an offset.
func (c *roundsLoop) folded() int {
	derived := map[isa.Reg]bool{c.reg.Reg: true}
	counted := map[isa.SourcePos]bool{c.add.b.insts[c.add.i].Pos: true, c.latch.insts[c.test].Pos: true}
	accessed := c.accessed()
	n := 0
	for _, b := range c.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			if in.NDst == 0 || in.Dst[0].Kind != isa.KindReg || in.Class().IsMemory() || counted[in.Pos] {
				continue
			}
			some, all := false, true
			for _, o := range in.Src[:in.NSrc] {
				if o.Kind == isa.KindReg && o.Reg >= isa.VirtualBase {
					some, all = some || derived[o.Reg], all && derived[o.Reg]
				} else if o.Kind == isa.KindConst {
					all = false
				}
			}
			if !some || !all && !isAdd64(in) && !(plainAdd(in) && accessed[in.Dst[0].Reg]) {
				continue
			}
			for _, o := range in.Dst[:in.NDst] {
				c.f.members(&o, func(_ isa.OperandKind, r isa.Reg) {
					derived[r] = derived[r] || all
				})
			}
			if in.Op != isa.OpMOV {
				counted[in.Pos] = true
				n++
			}
		}
	}
	return n
}

// accessed are the registers that memory instructions of the body, constants' too, take addresses from.
func (c *loopBody) accessed() map[isa.Reg]bool {
	out := map[isa.Reg]bool{}
	for _, b := range c.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			if o := memOperand(in); o != nil {
				out[o.Reg] = true
			}
			if in.Op == isa.OpLDC && in.Src[0].Reg >= isa.VirtualBase {
				out[in.Src[0].Reg] = true
			}
		}
	}
	return out
}

// unrollBy is the unrolling factor of a loop that is too long for all its rounds, 1 where unrolling does not pay.
func unrollBy(rounds, size int) int {
	if size > partBody {
		return 1
	}
	for factor := min(partUnroll/size, rounds); factor >= leastFactor; factor-- {
		if (factor+rounds%factor)*size <= partUnroll {
			return factor
		}
	}
	return 1
}

// knownRounds recognises a loop that counts from a constant to a constant; nil when it is another kind.
func (f *fn) knownRounds(l *loop, facts *loopFacts) *roundsLoop {
	body := f.bodyOf(l, facts)
	if body == nil {
		return nil
	}
	c := &roundsLoop{loopBody: body, test: -1, join: -1}
	guard := c.latch.terminator().Guard
	if !c.findTest(guard) {
		return nil
	}
	in := &c.latch.insts[c.test]
	if in.Guard.Kind != isa.KindNone || in.Dst[1] != pt || in.Src[2] != pt || in.Mod.Has(isa.ModEX) || in.Mod.Type != isa.U32 && in.Mod.Type != isa.S32 {
		return nil
	}
	counter, bound, cmp := in.Src[0], in.Src[1], in.Mod.Cmp
	if _, ok := constant(counter); ok {
		counter, bound, cmp = bound, counter, swapCompare(cmp)
	}
	limit, ok := constant(bound)
	if !ok || counter.Kind != isa.KindReg || counter.Flags != 0 || counter.Reg < isa.VirtualBase {
		return nil
	}
	c.id, c.reg = c.n.of(isa.KindReg, counter.Reg), counter
	var known bool
	if c.start, known = f.startValue(l, c.id, c.n, &c.defs[c.id]); !known || !c.findStep() {
		return nil
	}
	stop := c.join < 0 && guard.Is(isa.Neg)
	for v := c.start; c.rounds < mostRounds; {
		v += c.step
		c.rounds++
		if compares(cmp, in.Mod.Type, v, limit) == stop {
			return c
		}
	}
	return nil
}

// findTest finds the comparison that decides, alone or with another condition, whether there is another round.
func (c *roundsLoop) findTest(guard isa.Operand) bool {
	place := func(p isa.Operand) int {
		id := c.n.of(isa.KindPred, p.Reg)
		if id < 0 || !c.defs[id].value() || c.defs[id].b != c.latch || c.uses[id] != 1 {
			return -1
		}
		return int(c.defs[id].i)
	}
	at := place(guard)
	if at < 0 {
		return false
	}
	in := &c.latch.insts[at]
	if in.Op == isa.OpISETP {
		c.test = at
		return true
	}
	if in.Op != isa.OpPLOP3 || in.Mod.Lut != 0x80 && in.Mod.Lut != 0xc0 || in.Guard.Kind != isa.KindNone || in.Dst[1] != pt || in.Src[2] != pt || guard.Is(isa.Neg) {
		return false
	}
	for k := range 2 {
		t := place(in.Src[k])
		if t < 0 || in.Src[k].Is(isa.Neg) || c.latch.insts[t].Op != isa.OpISETP {
			continue
		}
		if _, ok := constant(c.latch.insts[t].Src[1]); ok {
			c.test, c.join, c.stay = t, at, in.Src[1-k]
			o := c.latch.insts[t].Src[0]
			if id := c.n.of(o.Kind, o.Reg); o.Kind == isa.KindReg && id >= 0 && c.defs[id].n == 2 {
				return true
			}
		}
	}
	return false
}

// findStep finds the one addition of a constant to the counter, before the test.
func (c *roundsLoop) findStep() bool {
	at, ok := c.single[c.id]
	if !ok || at.b == c.latch && at.i > c.test {
		return false
	}
	x := &at.b.insts[at.i]
	if x.Op != isa.OpIADD3 && x.Op != isa.OpIADD || x.Mod.Flags != 0 || !plainPreds(x) {
		return false
	}
	t := terms(x, int(min(x.NSrc, 3)))
	if len(t) != 2 {
		return false
	}
	if t[0].Kind != isa.KindReg {
		t[0], t[1] = t[1], t[0]
	}
	v, ok := constant(t[1])
	if !ok || t[0] != c.reg {
		return false
	}
	c.add, c.step = at, v
	return true
}

// startValue is the constant that a counter has when its loop begins: what its only other definition gives it.
func (f *fn) startValue(l *loop, id int, n numbering, d *defSite) (uint32, bool) {
	if d.n != 2 {
		return 0, false
	}
	for _, b := range f.blocks {
		if l.contains(b) {
			continue
		}
		for i := range b.insts {
			in := &b.insts[i]
			writes := false
			f.defs(in, n, func(x int) { writes = writes || x == id })
			if writes {
				if in.Op != isa.OpMOV || in.Guard.Kind != isa.KindNone || in.Mod.Flags != 0 || !dominates(b, l.head) {
					return 0, false
				}
				return constant(in.Src[0])
			}
		}
	}
	return 0, false
}

// compares is the result of an integer comparison.
func compares(c isa.Cmp, t isa.Type, a, b uint32) bool {
	x, y := int64(a), int64(b)
	if t == isa.S32 {
		x, y = int64(int32(a)), int64(int32(b))
	}
	switch c {
	case isa.CmpLT, isa.CmpLTU:
		return x < y
	case isa.CmpLE, isa.CmpLEU:
		return x <= y
	case isa.CmpGT, isa.CmpGTU:
		return x > y
	case isa.CmpGE, isa.CmpGEU:
		return x >= y
	case isa.CmpEQ:
		return x == y
	}
	return x != y
}

// unroll replaces the loop by the rounds that are left over and a loop of factor rounds, or by all its rounds.
func (c *roundsLoop) unroll(factor int) {
	left := c.rounds % factor
	if factor == c.rounds {
		left = factor
	}
	var blocks []*block
	if left > 0 {
		blocks = c.straight(left)
	}
	if left < c.rounds {
		at := len(blocks)
		blocks = c.again(blocks, factor)
		blocks[at].unrolled = true
	}
	c.replace(blocks)
}

// straight gives the first rounds of the loop, in which the counter is a constant.
func (c *roundsLoop) straight(rounds int) []*block {
	f := c.f
	s := c.series(rounds)
	first := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: c.add.b.insts[c.add.i].Pos}
	first.Dst[0], first.Src[0] = isa.R(f.newReg()), immWord(c.start)
	s.names[0][c.id] = first.Dst[0].Reg
	start := &block{insts: []isa.Inst{first}}
	blocks := []*block{start}
	for k := range rounds {
		blocks = s.copy(blocks, k, func(b *block, i int, in *isa.Inst) bool {
			if b == c.add.b && i == c.add.i {
				toMov(in, immWord(c.start+uint32(k+1)*c.step))
			}
			return b != c.latch || i != c.test && i != c.join
		})
		if k < c.rounds-1 {
			c.leaveEarly(s, blocks[len(blocks)-1], k)
		}
	}
	return blocks
}

// leaveEarly ends the copy of the latch in round k where the loop may end for another reason than its counter.
func (c *roundsLoop) leaveEarly(s *series, x *block, k int) {
	if c.join < 0 {
		return
	}
	end := len(c.latch.insts) - 1
	s.leave(x, c.latch, end, k)
	branch := c.latch.insts[end]
	branch.Guard = c.stay
	s.rename(&branch.Guard, c.latch, end, k, false)
	branch.Guard.Flags ^= isa.Neg
	x.insts = append(x.insts, branch)
	x.to = c.exit()
}

// exit is where control goes after the last round.
func (c *loopBody) exit() *block {
	for _, x := range c.latch.succs {
		if x != c.l.head {
			return x
		}
	}
	return nil
}

// again appends a loop of factor rounds.
func (c *roundsLoop) again(blocks []*block, factor int) []*block {
	s := c.series(factor)
	at := len(blocks)
	for k := range factor {
		blocks = s.copy(blocks, k, func(b *block, i int, in *isa.Inst) bool {
			if b == c.add.b && i == c.add.i {
				c.advance(in, uint32(k+1)*c.step)
			}
			return b != c.latch || i != c.test || k == factor-1
		})
	}
	last := blocks[len(blocks)-1]
	branch := c.latch.insts[len(c.latch.insts)-1]
	s.rename(&branch.Guard, c.latch, len(c.latch.insts)-1, factor-1, false)
	last.insts = append(last.insts, branch)
	last.to = blocks[at]
	return blocks
}

// advance makes an addition to the counter one to its value before the first copy.
func (c *roundsLoop) advance(in *isa.Inst, by uint32) {
	in.Op, in.NSrc = c.add.b.insts[c.add.i].Op, c.add.b.insts[c.add.i].NSrc
	in.Src = c.add.b.insts[c.add.i].Src
	for k := range in.Src[:min(in.NSrc, 3)] {
		if _, ok := constant(in.Src[k]); ok && !isZero(in.Src[k]) {
			in.Src[k] = immWord(by)
		}
	}
}

// placeBefore puts a block in front of a loop of one block: whoever enters the loop goes through it.
func (f *fn) placeBefore(loop, first *block) {
	at := 0
	for i, x := range f.blocks {
		if x == loop {
			at = i
		} else if x.to == loop {
			x.to = first
		}
	}
	rest := append([]*block(nil), f.blocks[at:]...)
	f.blocks = append(append(f.blocks[:at], first), rest...)
}
