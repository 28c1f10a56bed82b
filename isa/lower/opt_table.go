package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// tableCase is a comparison of a chain: where control goes if the word equals the constant.
type tableCase struct {
	value uint32
	to    *block
}

// comparisonTables makes indexed branches over tables in constant bank 2 of chains of comparisons (`setp.eq.s32 %p, %r, K; @%p bra`) of one word of 32 bits
// with constants, as the vendor's compiler does: two or more blocks in a row that hold nothing but a comparison and its branch. So a
// chain's first comparison, behind other code, stays, and of two comparisons there is no table unless another stands before them (probed with 87
// chains). It says whether it did.
func (f *fn) comparisonTables() bool {
	if f.t.SM < 70 {
		return false
	}
	n := f.numbering()
	c := &chainFinder{f: f, n: n, uses: f.useCounts(n), defs: f.defSites(n), next: f.fallTargets(), taken: map[*block]bool{}}
	changed := false
	for _, b := range slices.Clone(f.blocks) {
		if c.taken[b] {
			continue
		}
		if word, cases, other := c.chain(b); len(cases) > 0 {
			f.tableBranch(b, word, cases, other)
			changed = true
		}
	}
	if changed {
		f.analyse()
	}
	return changed
}

// chainFinder follows chains of comparisons.
type chainFinder struct {
	f     *fn
	n     numbering
	uses  []int32
	defs  []defSite
	next  map[*block]*block // what a block falls into
	taken map[*block]bool   // later blocks of chains, also of those that stay
}

// chain is the longest chain that starts with the block and makes a table: the word compared, the constants, and where control goes
// if it is none of them.
func (c *chainFinder) chain(b *block) (w isa.Operand, cases []tableCase, other *block) {
	var blocks []*block
	var all []tableCase
	var rests []*block
	for at := b; ; {
		o, one, rest, ok := c.comparison(at)
		if !ok || len(blocks) > 0 && o != w {
			break
		}
		w = o
		blocks, all, rests = append(blocks, at), append(all, one), append(rests, rest)
		if len(rest.preds) != 1 || rest == b || c.taken[rest] {
			break
		}
		at = rest
	}
	k := len(blocks)
	for k >= 2 && !dense(all[:k]) {
		k--
	}
	if k < 2 {
		return w, nil, nil
	}
	for _, x := range blocks[1:k] {
		c.taken[x] = true
	}
	if int64(len(c.f.bank2))+4*places(all[:k]) > tableBytes {
		return w, nil, nil
	}
	return w, all[:k], rests[k-1]
}

// comparison is what a block compares that has nothing else.
func (c *chainFinder) comparison(b *block) (w isa.Operand, one tableCase, other *block, ok bool) {
	t := b.terminator()
	if t == nil || t.Op != isa.OpBRA || t.Guard.Kind != isa.KindPred || t.Guard.Reg < isa.VirtualBase || b.branches || c.next[b] == nil {
		return w, one, nil, false
	}
	id := c.n.of(isa.KindPred, t.Guard.Reg)
	d := &c.defs[id]
	if !d.value() || d.b != b || c.uses[id] != 1 || len(b.insts) != 2 {
		return w, one, nil, false
	}
	in := &b.insts[d.i]
	if in.Op != isa.OpISETP || in.Mod.Cmp != isa.CmpEQ || in.Mod.Flags != 0 || in.Guard.Kind != isa.KindNone || in.Dst[1] != pt || in.Src[2] != pt || in.NSrc != 3 {
		return w, one, nil, false
	}
	value, isConst := constant(in.Src[1])
	w = in.Src[0]
	if !isConst || w.Kind != isa.KindReg || w.Flags != 0 || w.Reg < isa.VirtualBase || c.f.halves[w.Reg] {
		return w, one, nil, false
	}
	one.value, one.to, other = value, b.to, c.next[b]
	if t.Guard.Is(isa.Neg) {
		one.to, other = other, one.to
	}
	return w, one, other, true
}

// tableSpread is how many places of a table one constant may need: two of 5 and 10 or three of 2, 4 and 8 make a table, 9 and 90
// do not; the limit between is assumed.
const tableSpread = 10

// tableBytes is how much of constant bank 2 may be full after a table: of the bank's 64 KB some stay for literals (assumed). Chains whose
// tables need more stay comparisons.
const tableBytes = 60 << 10

// places is how many places a table of the cases has, with the last one for words that are none of the constants.
func places(cases []tableCase) int64 {
	low, high := span(cases)
	return int64(high) - int64(low) + 2
}

// dense says that the constants lie near one another.
func dense(cases []tableCase) bool {
	low, high := span(cases)
	return int64(high)-int64(low) < int64(tableSpread*len(cases))
}

// span is the least and the greatest of the constants, as signed numbers.
func span(cases []tableCase) (low, high int32) {
	low, high = int32(cases[0].value), int32(cases[0].value)
	for _, x := range cases {
		low, high = min(low, int32(x.value)), max(high, int32(x.value))
	}
	return low, high
}

// tableBranch ends the block with an indexed branch. Words that are none of the constants take the last place of the table, as the unsigned minimum of
// their distance from the first gives it.
func (f *fn) tableBranch(b *block, w isa.Operand, cases []tableCase, other *block) {
	pos := b.terminator().Pos
	low, _ := span(cases)
	targets := make([]*block, places(cases))
	for i := range targets {
		targets[i] = other
	}
	for _, x := range slices.Backward(cases) { // of the same constant the first counts
		targets[int64(int32(x.value))-int64(low)] = x.to
	}
	b.insts = b.insts[:len(b.insts)-1]
	b.to = nil
	from := len(b.insts)
	x := &expander{builder: &builder{f: f, cur: b}}
	if low != 0 {
		w = x.add(auto, w, imm(uint32(-low)))
	}
	x.jumpIndexed(x.minmax(auto, w, imm(uint32(len(targets)-1)), false, isa.U32), targets, false)
	for i := from; i < len(b.insts); i++ {
		b.insts[i].Pos = pos
	}
}
