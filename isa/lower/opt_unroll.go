package lower

import (
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// countedLoop is a loop whose counter changes by a constant until it passes or reaches zero or a bound.
type countedLoop struct {
	*loopBody
	counter isa.Operand
	id      int         // the counter's number
	bound   isa.Operand // what the counter is compared with
	cmp     isa.Cmp     // the loop goes on while this holds between counter and bound
	typ     isa.Type
	step    uint32 // how far the counter goes in one round, up or down
	down    bool
	test    int  // place of the comparison in the latch
	fromNil bool // the counter starts at zero
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
	for _, c := range list {
		c.unrollByFour()
	}
	if len(list) > 0 {
		f.analyse()
		f.removeDead() // the counter's last addition, if nobody reads it after the loop
		f.removeDeadWrites()
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
	c := &countedLoop{loopBody: body, test: -1}
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
	start, known := f.startValue(l, c.id, c.n, &c.defs[c.id])
	if _, ok := constant(c.bound); ok && known { // all rounds are known, and too many
		return nil
	}
	c.fromNil = known && start == 0
	return c
}

// findTest reads the comparison that ends the loop: of a counter with something that the loop does not change.
func (c *countedLoop) findTest() bool {
	guard := c.latch.terminator().Guard
	id := c.n.of(isa.KindPred, guard.Reg)
	if id < 0 || !c.defs[id].value() || c.defs[id].b != c.latch || c.uses[id] != 1 {
		return false
	}
	c.test = int(c.defs[id].i)
	in := &c.latch.insts[c.test]
	if in.Op != isa.OpISETP || in.Guard.Kind != isa.KindNone || in.Dst[1] != pt || in.Src[2] != pt || in.Mod.Has(isa.ModEX) || in.Mod.Type != isa.U32 && in.Mod.Type != isa.S32 {
		return false
	}
	x, y, cmp := in.Src[0], in.Src[1], in.Mod.Cmp
	if guard.Is(isa.Neg) {
		cmp = inverseCompare(cmp)
	}
	if !c.changes(x) && c.changes(y) {
		x, y, cmp = y, x, swapCompare(cmp)
	}
	if x.Kind != isa.KindReg || x.Flags != 0 || x.Reg < isa.VirtualBase || c.changes(y) {
		return false
	}
	_, literal := constant(y)
	c.counter, c.bound, c.cmp, c.typ, c.id = x, y, cmp, in.Mod.Type, c.n.of(isa.KindReg, x.Reg)
	return literal || (y.Kind == isa.KindReg || y.Kind == isa.KindConst) && y.Flags == 0
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
	at, ok := c.single[c.id]
	if !ok || at.b == c.latch && at.i > c.test {
		return false
	}
	from, v, ok := c.progression(at.b, at.i)
	if !ok || from != c.counter || v == 0 {
		return false
	}
	c.step, c.down = v, int32(v) < 0
	if c.down {
		c.step = -v
	}
	switch c.cmp {
	case isa.CmpLT, isa.CmpLE:
		return !c.down && c.step <= mostStep
	case isa.CmpGT, isa.CmpGE:
		return c.down && c.step <= mostStep
	case isa.CmpNE:
		return c.step <= mostStep && (!c.down || isZero(c.bound))
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
