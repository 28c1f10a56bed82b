package lower

import "github.com/sarchlab/smsim/isa"

// guardSelects turns selections into guarded operations, as the compiler does from Volta on where a SEL and the operation that made
// one of its arms become one instruction:
//
//	x = op(y, ...); d = p ? x : y      becomes  d = y; @p d = op(d, ...)      if nothing else reads x, or y later: the move disappears
//	x = op(d, ...); d = p ? x : d      becomes  @p d = op(d, ...)             if nothing else reads x
//	x = op(...); d = p ? x : y         becomes  d = y; @p d = op(...)         likewise
//	d = p ? y + 1 : y + 2 (selectSums)  becomes  d = y + 1; @!p d = y + 2
//
// Seen in every kernel of the measured set that has such selections (a checksum's "c & 1 ? c >> 1 ^ poly : c >> 1": 8 of 8; the case
// distinctions of an encoder: 64 of 64) and in 105 probed kernels; selections between values that are read elsewhere too stay SEL.
func (f *fn) guardSelects() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	g := &selectGuard{f: f, n: n, defs: f.defSites(n), uses: f.useCounts(n), written: make([]int32, n.total)}
	for _, b := range f.blocks {
		g.block(b)
	}
	f.compact()
}

type selectGuard struct {
	f       *fn
	n       numbering
	defs    []defSite
	uses    []int32
	written []int32 // last position in the block that writes a register, plus one

	// rewritten are the selections of the block that other instructions stand for already: what they read may be gone.
	rewritten map[*isa.Inst]bool
}

func (g *selectGuard) block(b *block) {
	var out []isa.Inst
	from := 0
	g.rewritten = map[*isa.Inst]bool{}
	for i := 0; i < len(b.insts); i++ {
		in := &b.insts[i]
		var list []isa.Inst
		pair := g.inPlacePair(b, i)
		if pair != nil {
			list = pair
		} else if plainSelect(in) {
			list = g.inPlace(b, i)
		} else if in.Op == isa.OpSEL && in.Mod.Size == sizeChoice {
			list = g.choice(b, in)
		}
		if list != nil {
			out = append(append(out, b.insts[from:i]...), list...)
			from = i + 1
			g.rewritten[in] = true
		}
		g.f.defs(in, g.n, func(id int) { g.written[id] = int32(i) + 1 })
		if pair != nil { // with the selection of the high word
			from++
			i++
			g.rewritten[&b.insts[i]] = true
			g.f.defs(&b.insts[i], g.n, func(id int) { g.written[id] = int32(i) + 1 })
		}
	}
	for i := range b.insts {
		g.f.defs(&b.insts[i], g.n, func(id int) { g.written[id] = 0 })
	}
	if out != nil {
		b.insts = append(out, b.insts[from:]...)
	}
}

// plainSelect says that the instruction is an unguarded selection between two words by a predicate.
func plainSelect(in *isa.Inst) bool {
	return in.Op == isa.OpSEL && in.Mod == (isa.Mod{}) && in.Guard.Kind == isa.KindNone && in.NSrc == 3 && in.NDst == 1 &&
		in.Dst[0].Kind == isa.KindReg && in.Dst[0].Reg >= isa.VirtualBase && in.Dst[0].Flags == 0 &&
		in.Src[2].Kind == isa.KindPred && in.Src[2].Reg != isa.PT
}

// single is the instruction of the block that makes the word, if it is unguarded, its only definition, and read so often.
func (g *selectGuard) single(b *block, o isa.Operand, uses int32) *isa.Inst {
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase || o.Flags != 0 {
		return nil
	}
	id := g.n.of(o.Kind, o.Reg)
	if id < 0 || id >= len(g.defs) || !g.defs[id].value() || g.defs[id].b != b || g.uses[id] != uses {
		return nil
	}
	in := &b.insts[g.defs[id].i]
	if in.Op == isa.OpNone {
		return nil
	}
	return in
}

// last says that instruction i of the block is the last to read the word, which has one definition there.
func (g *selectGuard) last(b *block, o isa.Operand, i int) bool {
	id := g.n.of(o.Kind, o.Reg)
	if id < 0 || id >= len(g.defs) || g.single(b, o, g.uses[id]) == nil {
		return false
	}
	reads := int32(0)
	for k := range b.insts[:i+1] {
		g.f.uses(&b.insts[k], g.n, func(r int) {
			if r == id {
				reads++
			}
		})
	}
	return reads == g.uses[id]
}

// unchanged says that no source of the instruction at position at has been written since.
func (g *selectGuard) unchanged(in *isa.Inst, at int32) bool {
	ok := true
	g.f.uses(in, g.n, func(id int) { ok = ok && (id >= len(g.written) || g.written[id] <= at) })
	return ok
}

// inPlace is a selection between two words of which one is made for it alone: the operation that makes it, and if both are the one that
// stands later, becomes a guarded one where the other word is read last.
func (g *selectGuard) inPlace(b *block, i int) []isa.Inst {
	in := &b.insts[i]
	for _, arm := range g.laterFirst(b, in) {
		x, y := in.Src[arm], in.Src[1-arm]
		op := g.single(b, x, 1)
		variable := y.Kind == isa.KindReg && y.Reg == in.Dst[0].Reg // the selection keeps it: no copy
		if op == nil || g.rewritten[op] || y.Flags != 0 || !variable && !g.last(b, y, i) {
			continue
		}
		at := g.defs[g.n.of(isa.KindReg, x.Reg)].i
		reads := 0
		for _, o := range op.Src[:op.NSrc] {
			if o.Kind == isa.KindReg && o.Reg == y.Reg {
				reads++
			}
		}
		made := reads == 1 && movable(op, isa.Operand{}) // one arm is made of the other
		apart := !g.f.sizes[in.Pos].slct && !sameExpansion(op, in) && (movable(op, isa.Operand{}) || guardable(op)) && g.sinks(b, at, i)
		if !made && !apart || !g.unchanged(op, at) {
			continue
		}
		first, second := copyTo(in, in.Dst[0], y), *op
		second.Dst[0] = in.Dst[0]
		clash := false
		for k := range second.Src[:second.NSrc] {
			o := &second.Src[k]
			clash = clash || !variable && g.f.mentions(o, in.Dst[0].Kind, in.Dst[0].Reg)
			if o.Kind == isa.KindReg && o.Reg == y.Reg && o.Flags&(flagPair|flagQuad) == 0 {
				o.Reg = in.Dst[0].Reg
			}
		}
		if clash { // the copy comes first
			continue
		}
		second.Guard = in.Src[2]
		if arm == 1 {
			second.Guard.Flags ^= isa.Neg
		}
		dead(op)
		if variable {
			return []isa.Inst{second}
		}
		return []isa.Inst{first, second}
	}
	return nil
}

// laterFirst orders the two words of a selection, the one that is made later in the block first.
func (g *selectGuard) laterFirst(b *block, in *isa.Inst) [2]int {
	at := [2]int32{-1, -1}
	for k := range 2 {
		if o := in.Src[k]; g.single(b, o, 1) != nil {
			at[k] = g.defs[g.n.of(isa.KindReg, o.Reg)].i
		}
	}
	if at[1] > at[0] {
		return [2]int{1, 0}
	}
	return [2]int{0, 1}
}

// sinks says that the instruction at position at may move down to position i: a load not over what writes memory or waits for other lanes,
// nor where probes keep instructions apart from the loads of their operands.
func (g *selectGuard) sinks(b *block, at int32, i int) bool {
	if !b.insts[at].Class().IsMemory() {
		return true
	}
	if g.f.opaqueMoves {
		return false
	}
	for k := at + 1; k < int32(i); k++ {
		if in := &b.insts[k]; writesMemory(in) || isWarpWide(in) || in.Class().IsControl() || in.OrdersMemory() {
			return false
		}
	}
	return true
}

// guardable says that ptxas guards the instruction for a selection of another statement (not for slct, which it expands later): one with a result of one word,
// loads too, but not a dot product.
func guardable(in *isa.Inst) bool {
	switch in.Op {
	case isa.OpPRMT, isa.OpPOPC, isa.OpFLO, isa.OpBREV, isa.OpSGXT, isa.OpBMSK, isa.OpSEL, isa.OpIMNMX, isa.OpVIMNMX, isa.OpLEA, isa.OpFADD, isa.OpFMUL, isa.OpFFMA,
		isa.OpI2F, isa.OpI2FP, isa.OpF2I, isa.OpMUFU, isa.OpLDC, isa.OpLDG, isa.OpLDS, isa.OpLDL:
	default:
		return false
	}
	return in.Guard.Kind == isa.KindNone && in.Mod.Flags&(isa.ModX|isa.ModWide|isa.ModPAND|isa.ModStrong|modOpaque|modWhole) == 0 && plainPreds(in) &&
		in.Dst[0].Kind == isa.KindReg && in.Dst[0].Flags == 0
}

// copyTo is a copy to d, at the statement of an instruction and under its guard.
func copyTo(at *isa.Inst, d, s isa.Operand) isa.Inst {
	in := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: at.Pos, PC: at.PC, Ctrl: at.Ctrl, Guard: at.Guard}
	in.Dst[0], in.Src[0] = d, s
	return in
}

// movable says that the instruction is a one-word operation of the integer pipes under the guard that may execute under another predicate.
func movable(in *isa.Inst, guard isa.Operand) bool {
	switch in.Op {
	case isa.OpIADD3, isa.OpVIADD, isa.OpLOP3, isa.OpSHF, isa.OpIMAD:
	default:
		return false
	}
	if in.Guard != guard || in.Mod.Flags&(isa.ModX|isa.ModWide|isa.ModPAND) != 0 || !plainPreds(in) || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Flags != 0 {
		return false
	}
	for _, o := range in.Src[:in.NSrc] {
		if (o.Kind == isa.KindPred || o.Kind == isa.KindUPred) && o.Reg != isa.PT {
			return false
		}
	}
	return true
}
