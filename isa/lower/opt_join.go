package lower

import (
	"cmp"
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// wordAccesses are loads, or stores, of words at constant distances from one address.
type wordAccesses struct {
	op      isa.Op
	address isa.Operand // without offset
}

// vectorise joins loads of adjacent words of shared or local memory from an aligned base, and stores of adjacent words to local memory,
// into those of 64 and 128 bits.
func (f *fn) vectorise() {
	n := f.numbering()
	j := &joiner{f: f, n: n, align: f.alignments(n), defs: f.defSites(n)}
	for _, b := range f.rpo {
		j.block(b)
	}
	f.compact()
}

// joiner walks a block and gathers accesses that can be joined.
type joiner struct {
	f      *fn
	n      numbering
	align  []uint8
	defs   []defSite
	b      *block
	groups map[wordAccesses][]int // places in the block
	moves  map[int][]isa.Inst     // copies to be put before a place
}

func (j *joiner) block(b *block) {
	j.b, j.groups, j.moves = b, map[wordAccesses][]int{}, map[int][]isa.Inst{}
	for i := range b.insts {
		in := &b.insts[i]
		spaces := memSpaces(in)
		g, joins := j.accessOf(in)
		switch {
		case in.Class().IsControl(), in.Class() == isa.ClassMEMBAR:
			j.flush(func(wordAccesses) bool { return true })
			continue
		case writesMemory(in) && spaces == 0: // barriers and the like
			j.flush(func(a wordAccesses) bool { return a.op == isa.OpLDS })
		case writesMemory(in):
			j.flush(func(a wordAccesses) bool { return spaceOf(a.op)&spaces != 0 && a != g || a == g && j.overlaps(a, in) })
		case spaces != 0: // a load sees the stores before it
			j.flush(func(a wordAccesses) bool { return a.op == isa.OpSTL && spaces&4 != 0 })
		}
		// A base or a stored word that changes ends its groups.
		for k := range in.Dst[:in.NDst] {
			j.f.members(&in.Dst[k], func(kind isa.OperandKind, r isa.Reg) {
				j.flush(func(a wordAccesses) bool { return j.reads(a, kind, r) })
			})
		}
		if joins {
			j.groups[g] = append(j.groups[g], i)
		}
	}
	j.flush(func(wordAccesses) bool { return true })
	if len(j.moves) > 0 {
		var out []isa.Inst
		for i := range b.insts {
			out = append(append(out, j.moves[i]...), b.insts[i])
		}
		b.insts = out
	}
}

func spaceOf(op isa.Op) int { return memSpaces(&isa.Inst{Op: op}) }

// accessOf is the group that an access of one word belongs to; ok is false for other instructions.
func (j *joiner) accessOf(in *isa.Inst) (g wordAccesses, ok bool) {
	if in.Op != isa.OpLDS && in.Op != isa.OpLDL && in.Op != isa.OpSTL || in.Mod.Size != 4 || in.Guard.Kind != isa.KindNone || in.Mod.Has(isa.ModStrong) {
		return g, false
	}
	o := in.Src[0]
	if o.Flags&^(isa.ScaleX4|isa.ScaleX8|isa.ScaleX16|isa.HasUReg) != 0 || o.Reg < isa.VirtualBase && o.Reg != isa.RZ && o.Reg != stackReg {
		return g, false
	}
	o.Imm = 0
	g = wordAccesses{in.Op, o}
	if in.Op == isa.OpSTL {
		return g, in.Src[1].Flags == 0 && (in.Src[1].Kind == isa.KindReg || in.Src[1].Kind == isa.KindImm)
	}
	if in.Dst[0].Reg < isa.VirtualBase {
		return g, false
	}
	_, member := j.f.inTuple[in.Dst[0].Reg]
	return g, !member && j.defs[j.n.of(isa.KindReg, in.Dst[0].Reg)].value()
}

// overlaps says that a store writes a word that one of the group writes.
func (j *joiner) overlaps(g wordAccesses, in *isa.Inst) bool {
	for _, i := range j.groups[g] {
		if d := j.b.insts[i].Src[0].Imm - in.Src[0].Imm; d > -4 && d < 4 {
			return true
		}
	}
	return false
}

// reads says that joining the group later would read the register.
func (j *joiner) reads(g wordAccesses, kind isa.OperandKind, r isa.Reg) bool {
	if kind == isa.KindReg && g.address.Reg == r || kind == isa.KindUReg && g.address.Is(isa.HasUReg) && g.address.UReg == r {
		return true
	}
	if g.op == isa.OpSTL && kind == isa.KindReg {
		for _, i := range j.groups[g] {
			if o := j.b.insts[i].Src[1]; o.Kind == isa.KindReg && o.Reg == r {
				return true
			}
		}
	}
	return false
}

// flush ends the groups that which chooses.
func (j *joiner) flush(which func(g wordAccesses) bool) {
	var keys []wordAccesses
	for k := range j.groups {
		if which(k) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(x, y wordAccesses) int { return cmp.Compare(j.groups[x][0], j.groups[y][0]) })
	for _, k := range keys {
		j.join(k.address, j.groups[k])
		delete(j.groups, k)
	}
}

// alignmentOf is how many low bits of the address are zero.
func (j *joiner) alignmentOf(base isa.Operand) uint8 {
	align := uint8(32)
	switch base.Reg {
	case isa.RZ:
	case stackReg:
		align = j.f.stackAlignment()
	default:
		align = j.align[j.n.of(isa.KindReg, base.Reg)]
		for shift, scale := range map[uint8]isa.OperandFlags{2: isa.ScaleX4, 3: isa.ScaleX8, 4: isa.ScaleX16} {
			if base.Is(scale) {
				align += shift
			}
		}
	}
	if base.Is(isa.HasUReg) {
		align = min(align, j.align[j.n.of(isa.KindUReg, base.UReg)])
	}
	return align
}

// join joins what it can of the accesses at the given places of the block, which have one base.
func (j *joiner) join(base isa.Operand, at []int) {
	if len(at) < 2 {
		return
	}
	align := j.alignmentOf(base)
	byOffset := map[int64]int{}
	var offsets []int64
	for _, i := range at {
		o := j.b.insts[i].Src[0].Imm
		if _, twice := byOffset[o]; !twice {
			byOffset[o] = i
			offsets = append(offsets, o)
		}
	}
	slices.Sort(offsets)
	for _, words := range []int64{4, 2} {
		if 1<<min(align, 30) < 4*words {
			continue
		}
		for _, o := range offsets {
			if o%(4*words) != 0 && o < dynamicShared/2 || o >= dynamicShared/2 && (o-dynamicShared)%(4*words) != 0 {
				continue
			}
			var places []int
			for k := range words {
				if i, ok := byOffset[o+4*k]; ok {
					places = append(places, i)
				}
			}
			if int64(len(places)) == words {
				j.joinAt(places)
				for k := range words {
					delete(byOffset, o+4*k)
				}
			}
		}
	}
}

// joinAt makes one access of those at the given places, by rising address: a load where the first was, a store where the last was.
func (j *joiner) joinAt(places []int) {
	in := j.b.insts[places[0]]
	first, last := places[0], places[0]
	var words []word
	for _, i := range places {
		first, last = min(first, i), max(last, i)
		if x := &j.b.insts[i]; in.Op == isa.OpSTL {
			words = append(words, x.Src[1])
		} else {
			words = append(words, x.Dst[0])
		}
		dead(&j.b.insts[i])
	}
	in.Mod.Size, in.Mod.Type = uint8(4*len(places)), isa.TypeNone
	if in.Op == isa.OpSTL {
		in.Src[1] = tupleOperand(j.stored(words, in.Pos, last))
		j.b.insts[last] = in
		return
	}
	var regs []isa.Reg
	for _, w := range words {
		regs = append(regs, w.Reg)
	}
	j.f.setTuple(regs)
	in.Dst[0] = tupleOperand(regs)
	j.b.insts[first] = in
}

// stored is a tuple of the words, with copies of those that cannot be part of it made before the given place.
func (j *joiner) stored(words []word, pos isa.SourcePos, at int) []isa.Reg {
	if regs, ok := j.f.tupleOf(words); ok {
		return regs
	}
	seen := map[isa.Reg]bool{}
	var regs []isa.Reg
	for _, w := range words {
		_, member := j.f.inTuple[w.Reg]
		if w.Kind != isa.KindReg || w.Reg < isa.VirtualBase || member || seen[w.Reg] {
			mv := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: pos}
			mv.Dst[0], mv.Src[0] = isa.R(j.f.newReg()), w
			j.moves[at] = append(j.moves[at], mv)
			w = mv.Dst[0]
		}
		seen[w.Reg] = true
		regs = append(regs, w.Reg)
	}
	j.f.setTuple(regs)
	return regs
}
