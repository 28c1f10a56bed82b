package lower

import (
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// countedLoop is a loop whose counter, of 32 or 64 bits, changes by a constant until it passes or reaches zero or a bound.
type countedLoop struct {
	*loopBody
	wide    bool // 64 bits
	counter pairTerm
	bound   pairTerm // what the counter is compared with
	cmp     isa.Cmp  // the loop goes on while this holds between counter and bound
	typ     isa.Type // of the comparison's highest word
	step    uint32   // how far the counter goes in one round, up or down
	down    bool
	tests   []int // places of the comparison in the latch, the last first
	fromNil bool  // the counter starts at zero
}

// mostMeet is how many ways may meet at a block of a loop that is unrolled: ends of ifs with else, not of ifs within ifs that share their end
// or of case distinctions (60 loops compiled, and 1,109 others).
const mostMeet = 2

// mostStep is the largest change of a counter in one round.
const mostStep = 1024

// unroll puts, before every short loop with a counter, a loop of four bodies, and two bodies and one for what is left.
func (f *fn) unroll() {
	if len(f.loops) == 0 || f.t.SM < 70 || nounroll(f.m.Pragmas) || nounroll(f.src.Pragmas) {
		return
	}
	facts := f.loopFacts() // unrolling one leaves them true for the others, which are apart
	var list []*countedLoop
	for _, l := range f.loops {
		if f.hasInner(l) {
			continue
		}
		if c := f.counted(l, facts); c != nil {
			list = append(list, c)
		}
	}
	var copies []*block
	for _, c := range list {
		copies = append(copies, c.unrollByFour()...)
	}
	if len(list) > 0 {
		f.analyse()
		f.removeDead() // the counter's last addition, if nobody reads it after the loop
		f.removeDeadWrites()
		f.valueNumber()
		f.removeDead()
		left := map[*block]bool{} // of the copies, without those that others took in
		for _, b := range f.blocks {
			left[b] = true
		}
		copies = slices.DeleteFunc(copies, func(b *block) bool { return !left[b] })
		f.fuseIn(copies) // what one round ends with and the next begins with
	}
}

// nounroll says that one of the pragmas forbids unrolling.
func nounroll(pragmas []string) bool {
	return slices.ContainsFunc(pragmas, func(p string) bool { return strings.Contains(p, "nounroll") })
}

// counted recognises the loop, nil when it is another kind or too long.
func (f *fn) counted(l *loop, facts *loopFacts) *countedLoop {
	body := f.bodyOf(l, facts)
	if body == nil || !body.short() {
		return nil
	}
	c := &countedLoop{loopBody: body}
	for _, b := range c.blocks {
		if b != c.latch && c.leaves[b] != nil {
			return nil
		}
		if len(b.preds) > mostMeet {
			return nil
		}
	}
	if !c.findTest() || !c.findAddition() {
		return nil
	}
	start, known := c.start()
	if _, ok := c.bound.constant64(); ok && known { // all rounds are known, and too many
		return nil
	}
	c.fromNil = known && start == 0
	return c
}

// findTest reads the comparison that ends the loop: of a counter with something that the loop does not change.
func (c *countedLoop) findTest() bool {
	guard := c.latch.terminator().Guard
	in := c.comparison(guard)
	if in == nil {
		return false
	}
	cmp, low := in.Mod.Cmp, in
	c.typ = in.Mod.Type
	x, y := pairTerm{in.Src[0], rz}, pairTerm{in.Src[1], rz}
	switch {
	case in.Mod.Has(isa.ModEX):
		if low = c.comparison(in.Src[3]); low == nil || low.Mod.Has(isa.ModEX) || low.Mod.Cmp != cmp || low.Mod.Type != isa.U32 || in.Src[3].Flags != 0 {
			return false
		}
		c.wide = true
		x, y = pairTerm{low.Src[0], in.Src[0]}, pairTerm{low.Src[1], in.Src[1]}
	case c.typ == isa.U64 || c.typ == isa.S64:
		var okX, okY bool
		x, okX = c.f.pairWords(in.Src[0])
		y, okY = c.f.pairWords(in.Src[1])
		if !okX || !okY {
			return false
		}
		c.wide = true
		c.typ = map[isa.Type]isa.Type{isa.U64: isa.U32, isa.S64: isa.S32}[c.typ]
	}
	if c.typ != isa.U32 && c.typ != isa.S32 {
		return false
	}
	if guard.Is(isa.Neg) {
		cmp = inverseCompare(cmp)
	}
	if !c.changes(x.lo) && c.changes(y.lo) {
		x, y, cmp = y, x, swapCompare(cmp)
	}
	c.counter, c.bound, c.cmp = x, y, cmp
	if !c.counts(x.lo) || c.wide && !c.counts(x.hi) || c.changes(y.lo) || c.changes(y.hi) {
		return false
	}
	if v, ok := y.constant64(); ok {
		return !c.wide || v == int64(int32(v)) && uint32(v+1<<30) < 1<<31 // which some rounds less are a literal too
	}
	fits := func(o isa.Operand) bool { return (o.Kind == isa.KindReg || o.Kind == isa.KindConst) && o.Flags == 0 }
	if c.wide && c.f.t.SM >= 120 {
		_, okX := c.f.pairOperand(x)
		_, okY := c.f.pairOperand(y)
		return okX && okY
	}
	return fits(y.lo) && fits(y.hi)
}

// comparison is the ISETP of the latch that makes a predicate which nothing else reads.
func (c *countedLoop) comparison(p isa.Operand) *isa.Inst {
	id := c.n.of(isa.KindPred, p.Reg)
	if id < 0 || !c.defs[id].value() || c.defs[id].b != c.latch || c.uses[id] != 1 {
		return nil
	}
	at := int(c.defs[id].i)
	in := &c.latch.insts[at]
	if in.Op != isa.OpISETP || in.Guard.Kind != isa.KindNone || in.Dst[1] != pt || in.Src[2] != pt {
		return nil
	}
	c.tests = append(c.tests, at)
	return in
}

// counts says that the operand is a register that may hold a word of a counter.
func (c *countedLoop) counts(o isa.Operand) bool {
	return o.Kind == isa.KindReg && o.Flags == 0 && o.Reg >= isa.VirtualBase
}

// isTest says that instruction i of block b belongs to the comparison that ends the loop.
func (c *countedLoop) isTest(b *block, i int) bool {
	return b == c.latch && slices.Contains(c.tests, i)
}

// start is the counter's value before the loop, if it is known.
func (c *countedLoop) start() (v int64, known bool) {
	for k, o := range []isa.Operand{c.counter.lo, c.counter.hi} {
		if k == 1 && !c.wide {
			break
		}
		id := c.n.of(isa.KindReg, o.Reg)
		w, ok := c.f.startValue(c.l, id, c.n, &c.defs[id])
		if !ok {
			return 0, false
		}
		v |= int64(uint64(w) << (32 * k))
	}
	return v, true
}

// changes says that the loop writes a register that the operand names.
func (c *loopBody) changes(o isa.Operand) bool {
	some := false
	c.f.members(&o, func(kind isa.OperandKind, r isa.Reg) {
		id := c.n.of(kind, r)
		for _, b := range c.blocks {
			for i := range b.insts {
				c.f.defs(&b.insts[i], c.n, func(d int) { some = some || d == id })
			}
		}
	})
	return some
}

// findAddition finds the one addition of a constant to the counter, before the test, in the direction of the bound.
func (c *countedLoop) findAddition() bool {
	at, ok := c.single[c.n.of(isa.KindReg, c.counter.lo.Reg)]
	if !ok || at.b == c.latch && at.i > c.tests[len(c.tests)-1] {
		return false
	}
	from, by, ok := c.progression64(at.b, at.i)
	if !c.wide {
		var v uint32
		from = pairTerm{hi: rz}
		from.lo, v, ok = c.progression(at.b, at.i)
		by = int64(int32(v))
	}
	if !ok || from != c.counter || by == 0 || by != int64(int32(by)) {
		return false
	}
	c.down = by < 0
	c.step = uint32(max(by, -by))
	switch c.cmp {
	case isa.CmpLT, isa.CmpLE:
		return !c.down && c.step <= mostStep
	case isa.CmpGT, isa.CmpGE:
		return c.down && c.step <= mostStep
	case isa.CmpNE:
		return c.step <= mostStep && (!c.down || isZero(c.bound.lo) && isZero(c.bound.hi))
	}
	return false
}

// namedKind is the kind of the register that a general, predicate or address operand names; ok is false for others.
func namedKind(o *isa.Operand) (kind isa.OperandKind, ok bool) {
	switch o.Kind {
	case isa.KindReg, isa.KindPred:
		return o.Kind, true
	case isa.KindMem, isa.KindConst:
		return isa.KindReg, true
	}
	return isa.KindNone, false
}
