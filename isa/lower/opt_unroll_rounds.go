package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// fourRounds is what comes in the place of a counted loop: a loop of four rounds, and behind it two rounds and one.
type fourRounds struct {
	*countedLoop
	blocks []*block
	once   isa.Operand // predicate: no round is done yet
}

// unrollByFour puts a loop of four rounds in place of the loop, and behind it two rounds and one, each behind a test of whether
// so many are left. A loop that goes on until its counter equals the bound stays behind them: it may step over the bound. It gives the new blocks.
func (c *countedLoop) unrollByFour() []*block {
	out := c.exit()
	r := &fourRounds{countedLoop: c, once: isa.P(c.f.newPred())}
	four, pair, last := r.newBlock(), r.newBlock(), r.newBlock()
	r.enter(four)
	r.putFour(four, pair)
	r.putPair(pair, last)
	r.putLast(last, out)
	c.replace(slices.Concat(r.blocks, c.blocks))
	if c.cmp == isa.CmpNE { // the loop itself does the last round, or all
		return r.blocks
	}
	c.latch.insts = c.latch.insts[:len(c.latch.insts)-1]
	for _, at := range c.tests { // from the last on
		c.latch.insts = slices.Delete(c.latch.insts, at, at+1)
	}
	c.latch.to = nil
	return r.blocks
}

// enter is what comes first. Where the bound is an unsigned number, the first round stands apart, for loops that have only this one. A
// loop that runs until its counter equals a signed bound goes on alone when it starts beyond it.
func (r *fourRounds) enter(four *block) {
	enter := r.newBlock()
	r.blocks = append(r.blocks, enter)
	switch {
	case r.typ == isa.U32:
		r.setOnce(enter, true)
		r.leave(enter, r.compare(enter, isa.U32, r.further(), r.counter, r.bound), four)
		first := len(r.blocks)
		r.blocks = r.rounds(r.blocks, 1)
		r.setOnce(r.blocks[first], false)
	case r.cmp == isa.CmpNE:
		r.leave(enter, notP(r.compare(enter, isa.S32, r.further(), r.counter, r.bound)), r.l.head)
		r.setOnce(four, true)
	default:
		r.setOnce(four, true)
	}
}

// putFour is the loop of four rounds, behind the test in block four; without so many rounds left, pair follows.
func (r *fourRounds) putFour(four, pair *block) {
	r.blocks = append(r.blocks, four)
	r.leave(four, notP(r.left(four, unrollFactor-1)), pair)
	before := r.newBlock()
	r.setOnce(before, false)
	limit := r.limit(before)
	r.blocks = append(r.blocks, before)
	head := len(r.blocks)
	r.blocks = r.rounds(r.blocks, unrollFactor)
	again := r.blocks[len(r.blocks)-1]
	r.leave(again, r.compare(again, r.signed(), r.further(), r.counter, limit), r.blocks[head])
	r.blocks[head].unrolled = true
}

// putPair is two rounds, behind the test in block pair; without so many rounds left, last follows.
func (r *fourRounds) putPair(pair, last *block) {
	r.blocks = append(r.blocks, pair)
	r.leave(pair, notP(r.left(pair, unrollPair-1)), last)
	at := len(r.blocks)
	r.blocks = r.rounds(r.blocks, unrollPair)
	r.setOnce(r.blocks[at], false)
}

// putLast is the test of whether the loop's own body follows, as the last round, or nothing.
func (r *fourRounds) putLast(last, out *block) {
	r.blocks = append(r.blocks, last)
	r.compareWith(last, isa.Mod{Type: r.typ, Cmp: r.cmp, Bool: isa.BoolOr}, r.once, r.counter, r.bound, r.once)
	r.leave(last, notP(r.once), out)
}

// newBlock is an empty block around the loop.
func (r *fourRounds) newBlock() *block { return &block{depth: r.l.head.depth - 1} }

// setOnce notes at the start of a block whether no round is done yet.
func (r *fourRounds) setOnce(b *block, v bool) {
	in := isa.Inst{Op: isa.OpPLOP3, Mod: isa.Mod{Lut: lutFalse}, NDst: 2, NSrc: 3, Pos: r.testPos()}
	if v {
		in.Mod.Lut = lutTrue
	}
	in.Dst[0], in.Dst[1] = r.once, pt
	in.Src = [isa.MaxSrc]isa.Operand{pt, pt, pt}
	b.insts = slices.Insert(b.insts, 0, in)
}

// leave ends a block with a branch to another.
func (r *fourRounds) leave(b *block, p isa.Operand, to *block) {
	b.insts = append(b.insts, isa.Inst{Op: isa.OpBRA, NSrc: 1, Guard: p, Pos: r.testPos(), Src: [isa.MaxSrc]isa.Operand{{Kind: isa.KindLabel}}})
	b.to = to
}

// testPos is the place of the loop's test in the source.
func (c *countedLoop) testPos() isa.SourcePos { return c.latch.insts[c.tests[0]].Pos }

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

// rounds appends copies of some rounds, without the test at their ends. What goes on by a constant in every round is taken from its
// value before the first, by addresses as an offset; of two rounds with branches inside, from round to round.
func (c *countedLoop) rounds(blocks []*block, count int) []*block {
	s := c.series(count)
	for k := range count {
		blocks = s.copy(blocks, k, func(b *block, i int, in *isa.Inst) bool {
			if count > unrollPair || len(c.blocks) == 1 {
				if from, by, ok := c.progression(b, i); ok {
					copy(in.Src[:], []isa.Operand{from, immWord(by * uint32(k+1)), rz})
				}
				if from, by, ok := c.progression64(b, i); ok {
					setPairTerms(in, []pairTerm{from, constantPair(by * int64(k+1))})
				}
				for j := range in.Src[:in.NSrc] {
					c.offset(&in.Src[j], b, i, j, k, count)
				}
			}
			return !c.isTest(b, i)
		})
	}
	return blocks
}

// offset takes an address that source j of an instruction reads in round k of some from the pointer's value before the first.
func (c *countedLoop) offset(o *isa.Operand, b *block, i, j, k, count int) {
	from := b.insts[i].Src[j]
	if from.Kind != isa.KindMem || from.Flags&flagPair == 0 {
		return
	}
	at, ok := c.single[c.n.of(isa.KindReg, from.Reg)]
	if !ok {
		return
	}
	base, by, ok := c.progression64(at.b, at.i)
	if !ok || base.lo.Reg != from.Reg {
		return
	}
	if at.b == b && i > at.i || at.b != b && dominates(at.b, b) {
		k++
	}
	imm := from.Imm + by*int64(k)
	if k < count && imm >= -maxOffset && imm <= maxOffset {
		o.Reg, o.Imm = from.Reg, imm
	}
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

// progression64 is progression for 64-bit numbers.
func (c *loopBody) progression64(b *block, i int) (from pairTerm, by int64, ok bool) {
	in := &b.insts[i]
	if !isAdd64(in) || in.Guard.Kind != isa.KindNone {
		return from, 0, false
	}
	t := pairTerms(in)
	if len(t) != 2 {
		return from, 0, false
	}
	by, ok = t[1].constant64()
	if !ok {
		t[0], t[1] = t[1], t[0]
		by, ok = t[1].constant64()
	}
	from = t[0]
	if !ok || from.lo != in.Dst[0] || from.hi != in.Dst[1] {
		return from, 0, false
	}
	for _, o := range []isa.Operand{from.lo, from.hi} {
		id := c.n.of(isa.KindReg, o.Reg)
		if _, single := c.single[id]; !single || c.within[id] {
			return from, 0, false
		}
	}
	return from, by, true
}
