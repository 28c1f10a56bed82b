package lower

import "github.com/sarchlab/smsim/isa"

// fuser combines an instruction with the single-use instructions that compute its sources.
type fuser struct {
	f                 *fn
	blocks            []*block
	n                 numbering
	defs              []defSite
	uses              []int32
	sums, differences []int32 // reads by additions of two words, positive and negative
	last              []int32 // position of the last definition in the current block, -1: none
	b                 *block
	i                 int
	flip              map[isa.Reg]bool    // predicates whose meaning was inverted
	negations         map[int]negatedWord // words of the current block, by number
	beyond            []bool              // registers that something else than a logic operation reads
}

// fuse runs over all blocks and merges additions, products, shifts, logic and min/max chains into the
// three-input instructions of the target.
func (f *fn) fuse() { f.fuseIn(f.blocks) }

// fuseIn is fuse in some blocks.
func (f *fn) fuseIn(blocks []*block) {
	if f.t.SM < 50 {
		return
	}
	n := f.numbering()
	u := &fuser{f: f, blocks: blocks, n: n, defs: f.defSites(n), uses: f.useCounts(n), last: make([]int32, n.total), flip: map[isa.Reg]bool{}}
	u.sums, u.differences = f.sumUses(n, u.uses)
	u.beyond = f.beyondLogic(n)
	for i := range u.last {
		u.last[i] = -1
	}
	u.walk(func(in *isa.Inst) {
		switch in.Op {
		case isa.OpISETP: // before additions merge into the maxima
			u.fuseChosen(in)
		case isa.OpLOP3: // before the masks merge into what they select
			u.fuseBitSelect(in)
		}
	})
	u.walk(func(in *isa.Inst) {
		for range 4 {
			if !u.combine(in) {
				break
			}
		}
	})
	u.walk(func(in *isa.Inst) { u.fusePredicates(in) })
	u.walk(func(in *isa.Inst) { u.fuseHalves(in) }) // the rules before look for halves as they were unpacked
	if len(u.flip) > 0 {
		for _, b := range f.blocks {
			for i := range b.insts {
				in := &b.insts[i]
				u.flipUse(&in.Guard)
				for k := range in.Src[:in.NSrc] {
					u.flipUse(&in.Src[k])
				}
			}
		}
	}
	f.compact()
}

// walk gives rule every instruction of the blocks in turn.
func (u *fuser) walk(rule func(in *isa.Inst)) {
	for _, b := range u.blocks {
		u.b, u.negations = b, map[int]negatedWord{}
		for i := range b.insts {
			u.i = i
			in := &b.insts[i]
			if in.Op == isa.OpNone {
				continue
			}
			rule(in)
			u.f.defs(in, u.n, func(id int) { u.last[id] = int32(i) })
		}
		for i := range b.insts {
			u.f.defs(&b.insts[i], u.n, func(id int) { u.last[id] = -1 })
		}
	}
}

func (u *fuser) flipUse(o *isa.Operand) {
	if o.Kind == isa.KindPred && u.flip[o.Reg] {
		o.Flags ^= isa.Neg
	}
}

// inner is the instruction that defines source operand o, if it can be merged into the current one: it is
// unguarded, its result is read only here, and its own sources still have their values.
func (u *fuser) inner(o *isa.Operand) *isa.Inst {
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase {
		return nil
	}
	id := u.n.of(isa.KindReg, o.Reg)
	if id >= len(u.defs) || u.uses[id] != 1 {
		return nil
	}
	return u.definition(id)
}

// definition is the only definition of a register, if its sources still have their values here and it is not outside of a loop that
// this is in.
func (u *fuser) definition(id int) *isa.Inst {
	if d := &u.defs[id]; d.b != nil && d.b.depth < u.b.depth {
		return nil
	}
	return u.anyDefinition(id)
}

// anyDefinition is the only definition of a register, outside of a loop too, if its sources still have their values here.
func (u *fuser) anyDefinition(id int) *isa.Inst {
	d := &u.defs[id]
	if !d.value() || d.b == nil {
		return nil
	}
	in := &d.b.insts[d.i]
	if in.Op == isa.OpNone || in.Guard.Kind != isa.KindNone {
		return nil
	}
	ok := true
	u.f.uses(in, u.n, func(s int) {
		switch {
		case s >= len(u.defs):
			ok = false
		case d.b == u.b:
			ok = ok && u.last[s] < d.i
		default:
			ok = ok && u.defs[s].value()
		}
	})
	if !ok {
		return nil
	}
	return in
}

// take removes a merged instruction; the uses of its sources move to the one that merged it.
func (u *fuser) take(in *isa.Inst) { dead(in) }

func terms(in *isa.Inst, k int) []isa.Operand {
	var t []isa.Operand
	for _, o := range in.Src[:k] {
		if !isZero(o) {
			t = append(t, o)
		}
	}
	return t
}

// plainAdd says that the instruction is an addition of up to three words without carries.
func plainAdd(in *isa.Inst) bool {
	return in.Op == isa.OpIADD3 && in.Mod.Flags == 0 && plainPreds(in)
}

// combine tries every rule once and says whether one applied.
func (u *fuser) combine(in *isa.Inst) bool {
	switch in.Op {
	case isa.OpIADD3:
		if plainAdd(in) {
			return u.fuseAdd(in)
		}
		if isAdd64(in) {
			return u.fuseAdd64(in)
		}
	case isa.OpLOP3:
		return u.fuseFunnel(in) || u.fuseMasks(in) || u.fuseOr(in) || u.fuseLogic(in)
	case isa.OpSHF:
		return u.fuseWrap(in)
	case isa.OpISETP:
		return u.fuseTest(in)
	case isa.OpVIMNMX:
		return u.fuseMinMax(in)
	case isa.OpIADD:
		return u.fuseOldAdd(in)
	case isa.OpFADD, isa.OpFMUL, isa.OpFFMA, isa.OpFMNMX, isa.OpFSETP:
		return u.fuseFloat(in)
	}
	return false
}

func (u *fuser) fuseAdd(in *isa.Inst) bool {
	t := terms(in, 3)
	if u.fuseRotation(in, t) {
		return true
	}
	for k := range t {
		d := u.inner(&t[k])
		if len(t) == 2 && u.fuseShift(in, t[k], t[1-k]) {
			return true
		}
		if len(t) == 2 && u.fuseSharedProduct(in, t[k], t[1-k]) {
			return true
		}
		if d == nil || len(t) > 2 {
			continue
		}
		rest := append(append([]isa.Operand(nil), t[:k]...), t[k+1:]...)
		switch {
		case d.Op == isa.OpIMAD && d.Mod.Flags == 0 && t[k].Flags == 0 && isZero(d.Src[2]) && len(rest) == 1 && u.f.t.SM >= 70 && d.NDst == 1:
			in.Op, in.Mod, in.NDst, in.NSrc = isa.OpIMAD, d.Mod, 1, 3
			in.Src = [isa.MaxSrc]isa.Operand{d.Src[0], d.Src[1], rest[0]}
			in.Dst[1], in.Dst[2] = isa.Operand{}, isa.Operand{}
			u.take(d)
			return true
		case u.subtractProduct(in, d, t[k], rest):
			return true
		case plainAdd(d):
			sub := terms(d, 3)
			if len(sub)+len(rest) > 3 {
				continue
			}
			if t[k].Flags&^isa.Neg != 0 {
				continue
			}
			bad := false
			for i := range sub {
				if t[k].Is(isa.Neg) {
					if sub[i].Imm >= dynamicShared/2 {
						bad = true
					}
					sub[i] = neg(sub[i])
				}
			}
			if bad {
				continue
			}
			all := append(rest, sub...)
			for len(all) < 3 {
				all = append(all, rz)
			}
			copy(in.Src[:3], all)
			u.take(d)
			u.f.simplify(in)
			u.f.arrange(in)
			return in.Op == isa.OpIADD3
		}
	}
	return false
}

// fuseSharedProduct makes one instruction of the addition of a product that additions, and nothing else, read: ptxas 13.0
// multiplies again in each, also where the product does not change in the loop around the addition (block index times rounds plus round).
func (u *fuser) fuseSharedProduct(in *isa.Inst, product, other isa.Operand) bool {
	if u.f.t.SM < 70 || product.Kind != isa.KindReg || product.Reg < isa.VirtualBase || product.Flags != 0 || other.Kind == isa.KindReg && other.Reg == product.Reg {
		return false
	}
	id := u.n.of(isa.KindReg, product.Reg)
	if id >= len(u.defs) || u.sums[id] < u.uses[id] {
		return false
	}
	d := u.anyDefinition(id)
	if d == nil || d.Op != isa.OpIMAD || d.Mod.Flags != 0 || d.NDst != 1 || !isZero(d.Src[2]) || d.Src[0].Flags|d.Src[1].Flags != 0 ||
		other.Kind != isa.KindReg && (d.Src[0].Kind == isa.KindImm || d.Src[1].Kind == isa.KindImm) {
		return false
	}
	in.Op, in.Mod, in.NDst, in.NSrc = isa.OpIMAD, d.Mod, 1, 3
	in.Src = [isa.MaxSrc]isa.Operand{d.Src[0], d.Src[1], other}
	in.Dst[1], in.Dst[2] = isa.Operand{}, isa.Operand{}
	u.leave(d, id, product)
	return true
}

// fuseOldAdd makes IADD3 and ISCADD of two-operand additions on Maxwell and Pascal.
func (u *fuser) fuseOldAdd(in *isa.Inst) bool {
	if in.Mod.Flags&^isa.ModCC != 0 || u.f.t.SM >= 70 {
		return false
	}
	for k := range 2 {
		o, other := in.Src[k], in.Src[1-k]
		d := u.inner(&o)
		if d == nil {
			continue
		}
		switch {
		case d.Op == isa.OpSHL && d.Mod.Flags == 0 && o.Flags == 0 && d.Src[0].Kind == isa.KindReg && d.Src[0].Flags == 0:
			if n, ok := constant(d.Src[1]); ok && n > 0 && n < 32 {
				a := d.Src[0]
				in.Op, in.NSrc = isa.OpISCADD, 3
				in.Src[0], in.Src[1], in.Src[2] = a, other, imm(n)
				u.take(d)
				return true
			}
		case d.Op == isa.OpIADD && d.Mod.Flags == 0 && in.Mod.Flags == 0:
			x, y := d.Src[0], d.Src[1]
			if o.Is(isa.Neg) {
				x, y = neg(x), neg(y)
			}
			if o.Flags&^isa.Neg != 0 {
				continue
			}
			others := 0
			for _, w := range []isa.Operand{x, y, other} {
				if w.Kind != isa.KindReg {
					others++
				}
			}
			if others > 1 {
				continue
			}
			in.Op, in.NSrc = isa.OpIADD3, 3
			in.Src[0], in.Src[1], in.Src[2] = x, y, other
			fillLayout(in)
			u.f.arrange(in)
			u.take(d)
			return true
		}
	}
	return false
}

// mask says that the instruction is an AND with a constant, and with what.
func mask(in *isa.Inst) (o isa.Operand, m uint32, ok bool) {
	if in.Op != isa.OpLOP3 || in.Mod.Lut != lutAnd || !plainPreds(in) || !isZero(in.Src[2]) {
		return o, 0, false
	}
	for k := range 2 {
		if c, isC := constant(in.Src[k]); isC && in.Src[1-k].Kind == isa.KindReg && in.Src[1-k].Flags == 0 && in.Src[1-k].Reg != isa.RZ {
			return in.Src[1-k], c, true
		}
	}
	return o, 0, false
}

// fuseTest turns "x = a op b; p = x != 0" into the predicate result of the logic operation.
func (u *fuser) fuseTest(in *isa.Inst) bool {
	if u.f.t.SM < 70 || in.Mod.Flags&(isa.ModEX|modKeep) != 0 || in.Guard.Kind != isa.KindNone || in.Dst[1] != pt || in.Src[2] != pt || in.Mod.Bool != isa.BoolAnd ||
		in.Mod.Cmp != isa.CmpNE && in.Mod.Cmp != isa.CmpEQ || in.Dst[0].Reg < isa.VirtualBase || in.Mod.Type == isa.U64 || in.Mod.Type == isa.S64 {
		return false
	}
	k := 0
	switch {
	case isZero(in.Src[1]):
	case isZero(in.Src[0]):
		k = 1
	default:
		return false
	}
	o := in.Src[k]
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase || o.Flags != 0 {
		return false
	}
	id := u.n.of(isa.KindReg, o.Reg)
	pid := u.n.of(isa.KindPred, in.Dst[0].Reg)
	if id >= len(u.defs) || pid >= len(u.defs) {
		return false
	}
	d := &u.defs[id]
	if !d.value() || d.b != u.b || d.b.insts[d.i].Op != isa.OpLOP3 {
		return false
	}
	if !u.defs[pid].value() && (in.Mod.Cmp == isa.CmpEQ || u.touched(pid, int(d.i), in)) {
		return false
	}
	lop := &d.b.insts[d.i]
	if !plainPreds(lop) || lop.NDst < 2 {
		return false
	}
	lop.Dst[1] = in.Dst[0]
	if in.Mod.Cmp == isa.CmpEQ {
		u.flip[in.Dst[0].Reg] = true
	}
	u.defs[pid].i = d.i
	if u.uses[id]--; u.uses[id] == 0 {
		lop.Dst[0] = rz
	}
	u.take(in)
	return false
}

// touched says that something between instruction from and in, of the block being fused, reads or writes register id.
func (u *fuser) touched(id, from int, in *isa.Inst) bool {
	found := false
	note := func(x int) { found = found || x == id }
	for i := from + 1; i < len(u.b.insts) && &u.b.insts[i] != in; i++ {
		u.f.uses(&u.b.insts[i], u.n, note)
		u.f.defs(&u.b.insts[i], u.n, note)
	}
	return found
}
