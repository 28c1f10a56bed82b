package lower

import "github.com/sarchlab/smsim/isa"

// guardSelects turns selections into guarded operations, as the compiler does from Volta on where a SEL and the operation that made
// one of its arms become one instruction:
//
//	x = op(y, ...); d = p ? x : y      becomes  d = y; @p d = op(d, ...)      if nothing else reads x, or y later: the move disappears
//	x = op(d, ...); d = p ? x : d      becomes  @p d = op(d, ...)             if nothing else reads x
//	d = p ? y + 1 : y + 2 (selectSums)  becomes  d = y + 1; @!p d = y + 2
//
// Seen in every kernel of the measured set that has such selections (a checksum's "c & 1 ? c >> 1 ^ poly : c >> 1": 8 of 8; the case
// distinctions of an encoder: 64 of 64); selections between values that are not made from each other stay SEL.
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
}

func (g *selectGuard) block(b *block) {
	var out []isa.Inst
	from := 0
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
		}
		g.f.defs(in, g.n, func(id int) { g.written[id] = int32(i) + 1 })
		if pair != nil { // with the selection of the high word
			from++
			i++
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

// inPlace is a selection between a word and what an operation makes of it.
func (g *selectGuard) inPlace(b *block, i int) []isa.Inst {
	in := &b.insts[i]
	for arm := range 2 {
		x, y := in.Src[arm], in.Src[1-arm]
		op := g.single(b, x, 1)
		variable := y.Kind == isa.KindReg && y.Reg == in.Dst[0].Reg // the selection keeps it: no copy
		if op == nil || !movable(op, isa.Operand{}) || y.Flags != 0 || !variable && !g.last(b, y, i) {
			continue
		}
		reads := 0
		for _, o := range op.Src[:op.NSrc] {
			if o.Kind == isa.KindReg && o.Reg == y.Reg {
				reads++
			}
		}
		at := g.defs[g.n.of(isa.KindReg, x.Reg)].i
		if reads != 1 || !g.unchanged(op, at) {
			continue
		}
		first, second := copyTo(in, in.Dst[0], y), *op
		second.Dst[0] = in.Dst[0]
		for k := range second.Src[:second.NSrc] {
			if o := &second.Src[k]; o.Kind == isa.KindReg && o.Reg == y.Reg {
				o.Reg = in.Dst[0].Reg
			}
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
