package lower

import "github.com/sarchlab/smsim/isa"

// Loops whose number of rounds is known. ptxas counts the statements of the body, not the machine instructions they
// become, and unrolls before it simplifies; these bounds follow from the factors it chose for 1,200 timing loops of 16 to
// 96 statements and 32 or 64 rounds (docs/lowering.md): all rounds up to fullUnroll statements in total; else the greatest
// factor from leastFactor on for which loop and left-over rounds together have at most partUnroll statements.
const (
	fullUnroll  = 800
	partUnroll  = 384
	leastFactor = 4
	mostRounds  = 1 << 16 // rounds that are counted
)

// roundsLoop is a loop of one block with a known number of rounds.
type roundsLoop struct {
	b       *block
	rounds  int
	step    uint32
	add     int  // place of the counter's addition
	test    int  // place of the comparison
	private bool // nothing else reads the counter
}

// unrollKnown unrolls loops with a known number of rounds, and says whether it changed any.
func (f *fn) unrollKnown() bool {
	var heads []*block
	for _, l := range f.loops {
		if len(l.blocks) == 1 {
			heads = append(heads, l.head)
		}
	}
	any := false
	for _, b := range heads {
		n := f.numbering()
		defs := f.defSites(n)
		c := f.knownRounds(b, n, defs)
		if c == nil || !f.copyable(b, n, defs) {
			continue
		}
		size := max(b.statements, 1)
		switch factor := unrollBy(c.rounds, size); {
		case c.rounds*size <= fullUnroll:
			f.unrollRounds(c, n, defs, c.rounds)
		case factor >= leastFactor:
			f.unrollRounds(c, n, defs, factor)
		default:
			continue
		}
		any = true
	}
	return any
}

// unrollBy is the unrolling factor of a loop that is too long for all its rounds, 1 where unrolling does not pay.
func unrollBy(rounds, size int) int {
	for factor := min(partUnroll/size, rounds); factor >= leastFactor; factor-- {
		if (factor+rounds%factor)*size <= partUnroll {
			return factor
		}
	}
	return 1
}

// knownRounds recognises a loop of one block that counts from a constant to a constant; nil when it is another kind.
func (f *fn) knownRounds(b *block, n numbering, defs []defSite) *roundsLoop {
	t := b.terminator()
	if b.noUnroll || t == nil || t.Op != isa.OpBRA || t.Guard.Kind != isa.KindPred || b.to != b || len(b.succs) != 2 {
		return nil
	}
	c := &roundsLoop{b: b, add: -1, test: -1}
	for i := range b.insts[:len(b.insts)-1] {
		in := &b.insts[i]
		if in.Class().IsControl() || fence(in) || stopsAll(in) {
			return nil
		}
		if in.Op == isa.OpISETP && in.Dst[0].Kind == isa.KindPred && in.Dst[0].Reg == t.Guard.Reg {
			c.test = i
		}
	}
	if c.test < 0 {
		return nil
	}
	in := &b.insts[c.test]
	pid := n.of(isa.KindPred, t.Guard.Reg)
	if in.Guard.Kind != isa.KindNone || in.Dst[1] != pt || in.Src[2] != pt || in.Mod.Has(isa.ModEX) || in.Mod.Type != isa.U32 && in.Mod.Type != isa.S32 ||
		pid < 0 || !defs[pid].value() || f.useCounts(n)[pid] != 1 {
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
	cid := n.of(isa.KindReg, counter.Reg)
	start, known := f.startValue(b, cid, n, &defs[cid])
	if !known || !c.findStep(f, counter, cid, n) {
		return nil
	}
	for v := start; c.rounds < mostRounds; {
		v += c.step
		c.rounds++
		if compares(cmp, in.Mod.Type, v, limit) == t.Guard.Is(isa.Neg) {
			return c
		}
	}
	return nil
}

// findStep finds the one addition of a constant to the counter, before the test.
func (c *roundsLoop) findStep(f *fn, counter isa.Operand, cid int, n numbering) bool {
	reads := 0
	for i := range c.b.insts {
		x := &c.b.insts[i]
		writes := false
		f.uses(x, n, func(id int) {
			if id == cid {
				reads++
			}
		})
		f.defs(x, n, func(id int) { writes = writes || id == cid })
		if !writes {
			continue
		}
		if c.add >= 0 || x.Op != isa.OpIADD3 && x.Op != isa.OpIADD || x.Mod.Flags != 0 || !plainPreds(x) || x.Guard.Kind != isa.KindNone || i > c.test {
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
		if !ok || t[0] != counter {
			return false
		}
		c.add, c.step = i, v
	}
	c.private = reads == 2
	return c.add >= 0
}

// startValue is the constant that a counter has when its loop begins: what its only other definition gives it.
func (f *fn) startValue(loop *block, cid int, n numbering, d *defSite) (uint32, bool) {
	if d.n != 2 {
		return 0, false
	}
	for _, b := range f.blocks {
		if b == loop {
			continue
		}
		for i := range b.insts {
			in := &b.insts[i]
			writes := false
			f.defs(in, n, func(id int) { writes = writes || id == cid })
			if writes {
				if in.Op != isa.OpMOV || in.Guard.Kind != isa.KindNone || in.Mod.Flags != 0 || !dominates(b, loop) {
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

// unrollRounds replaces the loop by the rounds that are left over and a loop of factor rounds, or by all its rounds.
func (f *fn) unrollRounds(c *roundsLoop, n numbering, defs []defSite, factor int) {
	b := c.b
	outside := f.readOutside(b, n)
	body := b.insts
	left := c.rounds % factor
	if factor == c.rounds {
		left = factor
	}
	first := &block{}
	c.copies(f, first, n, defs, outside, left, false)
	if left == c.rounds {
		b.insts, b.to = first.insts, nil
		return
	}
	loop := &block{}
	names := c.copies(f, loop, n, defs, outside, factor, true)
	branch := body[len(body)-1]
	if r, ok := names[isa.Operand{Kind: isa.KindPred, Reg: branch.Guard.Reg}]; ok {
		branch.Guard.Reg = r
	}
	b.insts = append(loop.insts, branch)
	if left > 0 {
		f.placeBefore(b, first)
	}
}

// copies appends rounds copies of the body without its branch, and returns the names that the last one gave to
// registers. Only a loop keeps its test. A counter that nothing else reads is advanced once.
func (c *roundsLoop) copies(f *fn, to *block, n numbering, defs []defSite, outside []bool, rounds int, test bool) map[isa.Operand]isa.Reg {
	var names map[isa.Operand]isa.Reg
	body := c.b.insts[:len(c.b.insts)-1]
	for k := range rounds {
		names = map[isa.Operand]isa.Reg{}
		last := k == rounds-1
		for i := range body {
			if i == c.test && !(test && last) || i == c.add && c.private && !last {
				continue
			}
			in := body[i]
			in.PC = uint32(k) // another expansion of the same statement
			if i == c.add && c.private {
				for s := range in.Src[:in.NSrc] {
					if _, ok := constant(in.Src[s]); ok && !isZero(in.Src[s]) && s < 3 {
						in.Src[s] = immWord(c.step * uint32(rounds))
					}
				}
			}
			f.renameCopy(&in, c.b, n, defs, outside, names)
			to.insts = append(to.insts, in)
		}
	}
	return names
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
