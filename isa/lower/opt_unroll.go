package lower

import (
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// Unrolling of counted loops whose number of rounds is not known: by four, on every target alike, where the body has few statements
// of PTX, without the counter's addition, the comparison and the branch; a load from shared memory lets it be a little longer. With loads
// from global memory it may have more machine instructions, these three included, of which such a load counts twice, and
// with several loads from shared memory more still. Seen in the code of some 150 loops (docs/lowering.md).
const (
	unrollFactor     = 4
	unrollArithmetic = 18
	unrollShared     = 23
	unrollLimit      = 49 // machine instructions
	unrollShares     = 56 // with several loads from shared memory
)

// countedLoop is a loop of one block whose counter changes by a constant until it reaches zero or a bound.
type countedLoop struct {
	b       *block
	exit    *block
	counter isa.Operand
	bound   isa.Operand // what an upward counter is compared with; KindNone: it counts down to zero
	cmp     isa.Cmp     // the loop goes on while the counter is below (LT) or not equal (NE)
	typ     isa.Type
	step    uint32 // subtracted or added in every round
	add     int    // place of the addition
	test    int    // place of the comparison
	private bool   // nothing else reads the counter
}

// unroll makes, before every short loop that counts down to zero, a loop of four bodies that runs while more than
// three rounds are left.
func (f *fn) unroll() {
	if f.t.SM < 70 || nounroll(f.m.Pragmas) || nounroll(f.src.Pragmas) {
		return
	}
	var heads []*block
	for _, l := range f.loops {
		if !f.hasInner(l) && len(l.blocks) == 1 {
			heads = append(heads, l.head)
		}
	}
	for _, b := range heads {
		n := f.numbering()
		defs := f.defSites(n)
		if c := f.counted(b, n, defs); c != nil {
			f.unrollLoop(c, n, defs)
			f.analyse()
		}
	}
}

// nounroll says that one of the pragmas forbids unrolling.
func nounroll(pragmas []string) bool {
	return slices.ContainsFunc(pragmas, func(p string) bool { return strings.Contains(p, "nounroll") })
}

// counted recognises the loop, nil when it is another kind or too long.
func (f *fn) counted(b *block, n numbering, defs []defSite) *countedLoop {
	t := b.terminator()
	if b.noUnroll || t == nil || t.Op != isa.OpBRA || t.Guard.Kind != isa.KindPred || b.to != b || len(b.succs) != 2 {
		return nil
	}
	c := &countedLoop{b: b, add: -1, test: -1}
	for _, s := range b.succs {
		if s != b {
			c.exit = s
		}
	}
	if c.exit == nil {
		return nil
	}
	uniform := !f.uniformity().divergentBranch(b)
	limit, loads, shared := unrollArithmetic, 0, 0
	for i := range b.insts[:len(b.insts)-1] {
		in := &b.insts[i]
		if isWarpWide(in) && in.Op != isa.OpWARPSYNC {
			if !uniform || f.t.SM < 90 {
				return nil
			}
		} else if in.Class().IsControl() || fence(in) || stopsAll(in) {
			return nil
		}
		switch in.Class() {
		case isa.ClassLDG:
			loads++
		case isa.ClassLDS:
			limit = max(limit, unrollShared)
			shared++
		}
		if f.sizes[in.Pos] == manyStatements { // a division
			return nil
		}
		if in.Op == isa.OpISETP && in.Dst[0].Kind == isa.KindPred && in.Dst[0].Reg == t.Guard.Reg {
			c.test = i
		}
	}
	if c.test < 0 || b.statements-loopStatements > limit && (loads == 0 || len(b.insts)+loads > unrollLimit) && (shared < 2 || len(b.insts) > unrollShares) || !f.loopTest(c, n, defs) {
		return nil
	}
	cid := n.of(isa.KindReg, c.counter.Reg)
	reads := 0
	for i := range b.insts {
		x := &b.insts[i]
		f.uses(x, n, func(id int) {
			if id == cid {
				reads++
			}
		})
		writes := false
		f.defs(x, n, func(id int) { writes = writes || id == cid })
		if !writes {
			continue
		}
		if c.add >= 0 || !plainAdd(x) || x.Guard.Kind != isa.KindNone || i > c.test {
			return nil
		}
		t := terms(x, 3)
		if len(t) != 2 {
			return nil
		}
		if t[0].Kind != isa.KindReg {
			t[0], t[1] = t[1], t[0]
		}
		v, ok := constant(t[1])
		if c.bound.Kind == isa.KindNone {
			v = -v
		}
		if !ok || t[0] != c.counter || int32(v) <= 0 || v > mostStep {
			return nil
		}
		c.add, c.step = i, v
	}
	if c.add < 0 {
		return nil
	}
	c.private = reads == 2
	if c.bound.Kind == isa.KindNone && f.fewRounds(c, cid, n, defs) {
		return nil
	}
	if !f.copyable(b, n, defs) {
		return nil
	}
	return c
}

// copyable says that copies of the block can have registers of their own: tuples are renamed as a whole.
func (f *fn) copyable(b *block, n numbering, defs []defSite) bool {
	inLoop := func(r isa.Reg) bool {
		id := n.of(isa.KindReg, r)
		return id >= 0 && defs[id].value() && defs[id].b == b
	}
	for i := range b.insts {
		x := &b.insts[i]
		for k := range int(x.NDst) + int(x.NSrc) {
			o := &x.Src[max(0, k-int(x.NDst))]
			if k < int(x.NDst) {
				o = &x.Dst[k]
			}
			if o.Flags&(flagPair|flagQuad) == 0 || o.Kind == isa.KindUReg || o.Reg < isa.VirtualBase {
				continue
			}
			first := inLoop(o.Reg)
			for _, r := range f.tuples[o.Reg] {
				if inLoop(r) != first {
					return false
				}
			}
		}
	}
	return true
}

// mostStep is the largest change of a counter in one round.
const mostStep = 1024

// loopTest reads the comparison that ends the loop: of a counter with zero, or with a bound that the loop does not change.
func (f *fn) loopTest(c *countedLoop, n numbering, defs []defSite) bool {
	t, in := c.b.terminator(), &c.b.insts[c.test]
	pid := n.of(isa.KindPred, t.Guard.Reg)
	if in.Guard.Kind != isa.KindNone || in.Dst[1] != pt || in.Src[2] != pt || in.Mod.Has(isa.ModEX) || pid < 0 || !defs[pid].value() || f.useCounts(n)[pid] != 1 {
		return false
	}
	x, y, cmp := in.Src[0], in.Src[1], in.Mod.Cmp
	if t.Guard.Is(isa.Neg) {
		inverse := map[isa.Cmp]isa.Cmp{isa.CmpEQ: isa.CmpNE, isa.CmpGE: isa.CmpLT, isa.CmpLE: isa.CmpGT}
		cmp = inverse[cmp]
	}
	changes := func(o isa.Operand) bool {
		some := false
		f.members(&o, func(kind isa.OperandKind, r isa.Reg) {
			for i := range c.b.insts {
				f.defs(&c.b.insts[i], n, func(id int) { some = some || id == n.of(kind, r) })
			}
		})
		return some
	}
	if !changes(x) && changes(y) {
		swapped := map[isa.Cmp]isa.Cmp{isa.CmpNE: isa.CmpNE, isa.CmpGT: isa.CmpLT}
		x, y, cmp = y, x, swapped[cmp]
	}
	if x.Kind != isa.KindReg || x.Flags != 0 || x.Reg < isa.VirtualBase || changes(y) {
		return false
	}
	c.counter, c.cmp, c.typ = x, cmp, in.Mod.Type
	switch {
	case cmp == isa.CmpNE && isZero(y):
	case cmp == isa.CmpNE || cmp == isa.CmpLT && (c.typ == isa.U32 || c.typ == isa.S32):
		c.bound = y
		return (y.Kind == isa.KindReg || y.Kind == isa.KindConst) && y.Flags == 0
	default:
		return false
	}
	return true
}

// fewRounds says that the counter starts below the unrolling factor: the rest that another loop left over
// (the remainder of a division by a power of two).
func (f *fn) fewRounds(c *countedLoop, cid int, n numbering, defs []defSite) bool {
	most := (unrollFactor - 1) * c.step
	small := func(in *isa.Inst) bool {
		if in.Op != isa.OpLOP3 || in.Mod.Lut != 0xc0 {
			return false
		}
		for k := range 2 {
			if v, ok := constant(in.Src[k]); ok && v <= most {
				return true
			}
		}
		return false
	}
	starts, few := 0, true
	for _, b := range f.blocks {
		if b == c.b {
			continue
		}
		for i := range b.insts {
			in := &b.insts[i]
			writes := false
			f.defs(in, n, func(id int) { writes = writes || id == cid })
			if !writes {
				continue
			}
			starts++
			ok := small(in)
			if in.Op == isa.OpMOV && in.Src[0].Kind == isa.KindReg {
				if id := n.of(isa.KindReg, in.Src[0].Reg); id >= 0 && defs[id].value() {
					ok = small(&defs[id].b.insts[defs[id].i])
				}
			}
			few = few && ok
		}
	}
	return starts > 0 && few
}

// unrollLoop builds the guard, the unrolled loop and the test for the end in front of the loop.
func (f *fn) unrollLoop(c *countedLoop, n numbering, defs []defSite) {
	b := c.b
	outside := f.readOutside(b, n)
	body := &block{label: b.label + ".unrolled", depth: b.depth}
	for k := range unrollFactor {
		names := map[isa.Operand]isa.Reg{}
		for i := range b.insts[:len(b.insts)-1] {
			if i == c.test || c.private && i == c.add && k < unrollFactor-1 {
				continue
			}
			in := b.insts[i]
			if c.private && i == c.add {
				for s := range in.Src[:3] {
					if v, ok := constant(in.Src[s]); ok && !isZero(in.Src[s]) {
						in.Src[s] = imm(v * unrollFactor)
					}
				}
			}
			f.renameCopy(&in, b, n, defs, outside, names)
			body.insts = append(body.insts, in)
		}
	}
	pos := b.insts[c.test].Pos
	compare := func(p isa.Operand, cmp isa.Cmp, v uint32) isa.Inst {
		in := isa.Inst{Op: isa.OpISETP, Mod: isa.Mod{Type: isa.S32, Cmp: cmp}, NDst: 2, NSrc: 3, Pos: pos}
		in.Dst[0], in.Dst[1] = p, pt
		in.Src[0], in.Src[1], in.Src[2] = c.counter, immWord(v), pt
		return in
	}
	branch := func(p isa.Operand) isa.Inst {
		return isa.Inst{Op: isa.OpBRA, NSrc: 1, Guard: p, Pos: pos, Src: [isa.MaxSrc]isa.Operand{{Kind: isa.KindLabel}}}
	}
	limit := (unrollFactor - 1) * c.step
	p1, p2, p3 := isa.P(f.newPred()), isa.P(f.newPred()), isa.P(f.newPred())
	guard, end := &block{to: b}, &block{to: c.exit}
	if c.bound.Kind == isa.KindNone {
		guard.insts = []isa.Inst{compare(p1, isa.CmpLE, limit), branch(p1)}
		body.insts = append(body.insts, compare(p2, isa.CmpGT, limit), branch(p2))
		end.insts = []isa.Inst{compare(p3, isa.CmpEQ, 0), branch(p3)}
	} else {
		f.boundTests(c, guard, body, end, [3]isa.Operand{p1, p2, p3}, branch)
	}
	body.to = body
	at := 0
	for at < len(f.blocks) && f.blocks[at] != b {
		at++
	}
	for _, x := range f.blocks {
		if x != b {
			x.redirect(b, guard)
		}
	}
	rest := append([]*block(nil), f.blocks[at:]...)
	f.blocks = append(append(f.blocks[:at], guard, body, end), rest...)
}

// boundTests writes the tests of a loop that counts up to a bound. Four rounds run for certain where the counter is
// below the bound and more than three steps away from it; the distance is taken as an unsigned number, so that nothing
// overflows. A counter that must only differ from the bound is treated alike, without being below.
func (f *fn) boundTests(c *countedLoop, guard, body, end *block, p [3]isa.Operand, branch func(isa.Operand) isa.Inst) {
	pos := c.b.insts[c.test].Pos
	test := func(d isa.Operand, t isa.Type, cmp isa.Cmp, x, y, and isa.Operand) isa.Inst {
		in := isa.Inst{Op: isa.OpISETP, Mod: isa.Mod{Type: t, Cmp: cmp}, NDst: 2, NSrc: 3, Pos: pos}
		in.Dst[0], in.Dst[1] = d, pt
		in.Src[0], in.Src[1], in.Src[2] = x, y, and
		return in
	}
	limit := (unrollFactor - 1) * c.step
	left := func(d isa.Operand) isa.Inst { // the distance to the bound
		in := isa.Inst{Op: isa.OpIADD3, NDst: 1, NSrc: 3, Pos: pos}
		in.Dst[0] = d
		in.Src[0], in.Src[1], in.Src[2] = c.counter, c.bound, rz
		in.Src[0].Flags = isa.Neg
		fillLayout(&in)
		return in
	}
	d := isa.R(f.newReg())
	guard.insts = append(guard.insts, left(d))
	all := pt
	if c.cmp == isa.CmpLT {
		all = isa.P(f.newPred())
		guard.insts = append(guard.insts, test(all, c.typ, isa.CmpLT, c.counter, c.bound, pt))
	}
	stay := p[0]
	guard.insts = append(guard.insts, test(stay, isa.U32, isa.CmpGT, d, immWord(limit), all))
	stay.Flags ^= isa.Neg
	guard.insts = append(guard.insts, branch(stay))
	if c.cmp == isa.CmpLT {
		last := isa.R(f.newReg())
		sub := isa.Inst{Op: isa.OpIADD3, NDst: 1, NSrc: 3, Pos: pos}
		sub.Dst[0] = last
		sub.Src[0], sub.Src[1], sub.Src[2] = c.bound, imm(-limit), rz
		fillLayout(&sub)
		at := len(guard.insts) - 1
		guard.insts = append(guard.insts[:at:at], sub, guard.insts[at])
		body.insts = append(body.insts, test(p[1], c.typ, isa.CmpLT, c.counter, last, pt), branch(p[1]))
		end.insts = []isa.Inst{test(p[2], c.typ, isa.CmpGE, c.counter, c.bound, pt), branch(p[2])}
		return
	}
	again := isa.R(f.newReg())
	body.insts = append(body.insts, left(again), test(p[1], isa.U32, isa.CmpGT, again, immWord(limit), pt), branch(p[1]))
	end.insts = []isa.Inst{test(p[2], isa.U32, isa.CmpEQ, c.counter, c.bound, pt), branch(p[2])}
}

// readOutside is the registers that other blocks read: values that are read after the loop keep their register.
func (f *fn) readOutside(b *block, n numbering) []bool {
	outside := make([]bool, n.total)
	for _, x := range f.blocks {
		if x == b {
			continue
		}
		for i := range x.insts {
			f.uses(&x.insts[i], n, func(id int) { outside[id] = true })
		}
	}
	for _, regs := range f.tuples { // and with one word of a tuple all
		for _, r := range regs {
			if id := n.of(isa.KindReg, r); id >= 0 && id < n.total && outside[id] {
				for _, m := range regs {
					if k := n.of(isa.KindReg, m); k >= 0 && k < n.total {
						outside[k] = true
					}
				}
			}
		}
	}
	return outside
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

// renameCopy gives the values of one copy of the body new registers.
func (f *fn) renameCopy(in *isa.Inst, b *block, n numbering, defs []defSite, outside []bool, names map[isa.Operand]isa.Reg) {
	local := func(kind isa.OperandKind, r isa.Reg) bool {
		id := n.of(kind, r)
		return id >= 0 && id < len(defs) && defs[id].value() && defs[id].b == b && !outside[id]
	}
	rename := func(o *isa.Operand) {
		kind, ok := namedKind(o)
		if !ok {
			return
		}
		if o.Reg < isa.VirtualBase || !local(kind, o.Reg) {
			return
		}
		key := isa.Operand{Kind: kind, Reg: o.Reg}
		if r, ok := names[key]; ok {
			o.Reg = r
			return
		}
		if kind == isa.KindPred {
			names[key] = f.newPred()
		} else if regs := f.tuples[f.inTuple[o.Reg]]; len(regs) > 0 && f.inTuple[o.Reg] != 0 && local(kind, regs[0]) {
			fresh := make([]isa.Reg, len(regs))
			for i := range regs {
				fresh[i] = f.newReg()
				names[isa.Operand{Kind: isa.KindReg, Reg: regs[i]}] = fresh[i]
			}
			f.setTuple(fresh)
		} else {
			names[key] = f.newReg()
		}
		o.Reg = names[key]
	}
	rename(&in.Guard)
	for k := range in.Src[:in.NSrc] {
		rename(&in.Src[k])
	}
	for k := range in.Dst[:in.NDst] {
		rename(&in.Dst[k])
	}
}
