package lower

import (
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// Unrolling of counted loops whose number of rounds is not known: by four, on every target alike, where the body has few statements
// of PTX, without the counter's addition, the comparison and the branch; a load from shared memory lets it be a little longer. With loads
// from global memory it may have more machine instructions, these three included, of which such a load counts twice, and
// with several loads from shared memory more still. Seen in the code of some 150 loops (docs/lowering.md). Branches inside
// do not matter, ways out of the loop do.
const (
	unrollFactor     = 4
	unrollPair       = 2
	unrollArithmetic = 18
	unrollShared     = 23
	unrollLimit      = 49 // machine instructions
	unrollShares     = 56 // with several loads from shared memory
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

// mostStep is the largest change of a counter in one round.
const mostStep = 1024

// unroll puts, before every short loop with a counter, a loop of four bodies, and two bodies and one for what is left.
func (f *fn) unroll() {
	if f.t.SM < 70 || nounroll(f.m.Pragmas) || nounroll(f.src.Pragmas) {
		return
	}
	var heads []*block
	for _, l := range f.loops {
		if !f.hasInner(l) {
			heads = append(heads, l.head)
		}
	}
	before := len(f.blocks)
	for _, b := range heads {
		at := slices.IndexFunc(f.loops, func(l *loop) bool { return l.head == b })
		if at < 0 {
			continue
		}
		if c := f.counted(f.loops[at]); c != nil {
			c.unrollByFour()
			f.analyse()
		}
	}
	if len(f.blocks) != before {
		f.removeDead() // the counter's last addition, if nobody reads it after the loop
		f.removeDeadWrites()
	}
}

// nounroll says that one of the pragmas forbids unrolling.
func nounroll(pragmas []string) bool {
	return slices.ContainsFunc(pragmas, func(p string) bool { return strings.Contains(p, "nounroll") })
}

// counted recognises the loop, nil when it is another kind or too long.
func (f *fn) counted(l *loop) *countedLoop {
	body := f.bodyOf(l)
	if body == nil || !body.short() {
		return nil
	}
	c := &countedLoop{loopBody: body, test: -1}
	for _, b := range c.blocks {
		if b != c.latch && c.leaves[b] != nil {
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

// short says that the loop's body is not too long for four copies.
func (c *loopBody) short() bool {
	f := c.f
	u := f.uniformity()
	limit, machine, loads, shared := unrollArithmetic, 0, 0, 0
	for _, b := range c.blocks {
		machine += len(b.insts)
		for i := range b.insts {
			in := &b.insts[i]
			if isWarpWide(in) && in.Op != isa.OpWARPSYNC && in.Op != isa.OpBAR && (f.t.SM < 90 || u.divergentBranch(c.latch)) {
				return false
			}
			switch in.Class() {
			case isa.ClassSTG:
				if u.divergentBranch(c.latch) { // probed with 30 loops: lanes that part and store to global memory keep their loop
					return false
				}
			case isa.ClassLDG:
				loads++
			case isa.ClassLDS:
				limit = unrollShared
				shared++
			}
			if f.sizes[in.Pos] == manyStatements { // a division
				return false
			}
		}
	}
	return c.size() <= limit || loads > 0 && machine+loads <= unrollLimit || shared > 1 && machine <= unrollShares
}

// findTest reads the comparison that ends the loop: of a counter with something that the loop does not change.
func (c *countedLoop) findTest() bool {
	guard := c.latch.terminator().Guard
	id := c.n.of(isa.KindPred, guard.Reg)
	if id < 0 || !c.defs[id].value() || c.defs[id].b != c.latch || c.f.useCounts(c.n)[id] != 1 {
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

// unrollByFour puts a loop of four rounds in place of the loop, and behind it two rounds and one, each behind a test of whether
// so many are left. A loop that goes on until its counter equals the bound stays behind them: it may step over the bound.
// Where the bound is an unsigned number, the first round stands apart, for loops that have only this one.
func (c *countedLoop) unrollByFour() {
	f := c.f
	out := c.exit()
	ends := c.cmp == isa.CmpNE // the loop itself does the last round, or all
	once := isa.P(f.newPred()) // no round is done yet
	enter := &block{depth: c.l.head.depth - 1}
	blocks := []*block{enter}
	pos := c.latch.insts[c.test].Pos
	set := func(b *block, v bool) {
		in := isa.Inst{Op: isa.OpPLOP3, Mod: isa.Mod{Lut: 0x08}, NDst: 2, NSrc: 3, Pos: pos}
		if v {
			in.Mod.Lut = 0x80
		}
		in.Dst[0], in.Dst[1] = once, pt
		in.Src = [isa.MaxSrc]isa.Operand{pt, pt, pt}
		b.insts = slices.Insert(b.insts, 0, in)
	}
	leave := func(b *block, p isa.Operand, to *block) {
		b.insts = append(b.insts, isa.Inst{Op: isa.OpBRA, NSrc: 1, Guard: p, Pos: pos, Src: [isa.MaxSrc]isa.Operand{{Kind: isa.KindLabel}}})
		b.to = to
	}

	four, pair, last := &block{depth: enter.depth}, &block{depth: enter.depth}, &block{depth: enter.depth}
	switch {
	case ends: // it does not stop at the bound when it starts beyond it
		leave(enter, notP(c.compare(enter, isa.S32, c.further(), c.counter, c.bound, isa.BoolAnd, pt)), c.l.head)
		set(four, true)
	case c.typ == isa.U32:
		set(enter, true)
		leave(enter, c.compare(enter, isa.U32, c.further(), c.counter, c.bound, isa.BoolAnd, pt), four)
		first := len(blocks)
		blocks = c.rounds(blocks, 1)
		set(blocks[first], false)
	default:
		set(four, true)
	}
	blocks = append(blocks, four)
	leave(four, notP(c.left(four, unrollFactor-1)), pair)
	before := &block{depth: enter.depth}
	set(before, false)
	limit := c.limit(before)
	blocks = append(blocks, before)
	head := len(blocks)
	blocks = c.rounds(blocks, unrollFactor)
	again := blocks[len(blocks)-1]
	leave(again, c.compare(again, c.signed(), c.further(), c.counter, limit, isa.BoolAnd, pt), blocks[head])
	blocks[head].unrolled = true
	blocks = append(blocks, pair)
	leave(pair, notP(c.left(pair, unrollPair-1)), last)
	at := len(blocks)
	blocks = c.rounds(blocks, unrollPair)
	set(blocks[at], false)
	blocks = append(blocks, last)
	in := isa.Inst{Op: isa.OpISETP, Mod: isa.Mod{Type: c.typ, Cmp: c.cmp, Bool: isa.BoolOr}, NDst: 2, NSrc: 3, Pos: pos}
	in.Dst[0], in.Dst[1] = once, pt
	in.Src = [isa.MaxSrc]isa.Operand{c.counter, c.bound, once}
	last.insts = append(last.insts, in)
	leave(last, notP(once), out)
	c.replace(slices.Concat(blocks, c.blocks))
	if ends {
		return
	}
	c.latch.insts = slices.Delete(c.latch.insts[:len(c.latch.insts)-1], c.test, c.test+1)
	c.latch.to = nil
}

// further is the comparison that holds between counter and bound while there are rounds left.
func (c *countedLoop) further() isa.Cmp {
	if c.down {
		return isa.CmpGT
	}
	return isa.CmpLT
}

// signed is the type of comparisons with the bound moved by some rounds.
func (c *countedLoop) signed() isa.Type {
	if c.cmp == isa.CmpNE {
		return isa.S32
	}
	return c.typ
}

// compare appends a comparison and gives its result.
func (c *countedLoop) compare(b *block, t isa.Type, cmp isa.Cmp, x, y isa.Operand, with isa.BoolOp, p isa.Operand) isa.Operand {
	in := isa.Inst{Op: isa.OpISETP, Mod: isa.Mod{Type: t, Cmp: cmp, Bool: with}, NDst: 2, NSrc: 3, Pos: c.latch.insts[c.test].Pos}
	in.Dst[0], in.Dst[1] = isa.P(c.f.newPred()), pt
	in.Src = [isa.MaxSrc]isa.Operand{x, y, p}
	b.insts = append(b.insts, in)
	return in.Dst[0]
}

// difference appends x - y.
func (c *countedLoop) difference(b *block, x, y isa.Operand) isa.Operand {
	in := isa.Inst{Op: isa.OpIADD3, NDst: 1, NSrc: 3, Pos: c.latch.insts[c.test].Pos}
	in.Dst[0] = isa.R(c.f.newReg())
	in.Src = [isa.MaxSrc]isa.Operand{x, y, rz}
	if v, ok := constant(y); ok {
		in.Src[1] = immWord(-v)
	} else {
		in.Src[1].Flags ^= isa.Neg
	}
	fillLayout(&in)
	b.insts = append(b.insts, in)
	return in.Dst[0]
}

// beyond is how far the bound must be away, in units of the counter, so that more rounds than the given number follow.
func (c *countedLoop) beyond(rounds uint32) uint32 {
	v := rounds * c.step
	if c.cmp == isa.CmpLE || c.cmp == isa.CmpGE {
		v--
	}
	return v
}

// left appends the test of whether more rounds than the given number are left. The distance to the bound is exact as an unsigned
// number where the counter has not reached the bound, and as a signed one where nothing overflows: from zero on, or down to zero.
func (c *countedLoop) left(b *block, rounds uint32) isa.Operand {
	most := immWord(c.beyond(rounds))
	if c.down && isZero(c.bound) && c.signed() == isa.S32 {
		return c.compare(b, isa.S32, isa.CmpGT, c.counter, most, isa.BoolAnd, pt)
	}
	x, y := c.bound, c.counter
	if c.down {
		x, y = y, x
	}
	if c.cmp == isa.CmpNE || c.signed() == isa.S32 && c.fromNil {
		return c.compare(b, isa.S32, isa.CmpGT, c.difference(b, x, y), most, isa.BoolAnd, pt)
	}
	within := c.compare(b, c.typ, c.cmp, c.counter, c.bound, isa.BoolAnd, pt)
	return c.compare(b, isa.U32, isa.CmpGT, c.difference(b, x, y), most, isa.BoolAnd, within)
}

// limit appends what the counter is compared with after four rounds.
func (c *countedLoop) limit(b *block) isa.Operand {
	v := c.beyond(unrollFactor - 1)
	if c.down {
		v = -v
	}
	if w, ok := constant(c.bound); ok {
		return immWord(w - v)
	}
	return c.difference(b, c.bound, immWord(v))
}

// rounds appends copies of some rounds, without the test at their ends. What goes on by a constant in every round is taken from its
// value before the first; of two rounds with branches inside, from round to round.
func (c *countedLoop) rounds(blocks []*block, count int) []*block {
	s := c.series(count)
	for k := range count {
		blocks = s.copy(blocks, k, func(b *block, i int, in *isa.Inst) bool {
			if count > unrollPair || len(c.blocks) == 1 {
				if from, by, ok := c.progression(b, i); ok {
					copy(in.Src[:], []isa.Operand{from, immWord(by * uint32(k+1)), rz})
				}
			}
			return b != c.latch || i != c.test
		})
	}
	return blocks
}

// progression says that an instruction of the loop adds a constant to the register it writes, which nothing else in a round does.
func (c *loopBody) progression(b *block, i int) (from isa.Operand, by uint32, ok bool) {
	in := &b.insts[i]
	if !plainAdd(in) || in.Guard.Kind != isa.KindNone {
		return from, 0, false
	}
	t := terms(in, 3)
	if len(t) != 2 {
		return from, 0, false
	}
	if t[0].Kind != isa.KindReg {
		t[0], t[1] = t[1], t[0]
	}
	by, ok = constant(t[1])
	id := c.n.of(isa.KindReg, in.Dst[0].Reg)
	_, single := c.single[id]
	return t[0], by, ok && t[0] == in.Dst[0] && single && !c.within[id]
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
