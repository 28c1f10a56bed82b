package lower

import "github.com/sarchlab/smsim/isa"

// dropIdleLoops moves copies that every round repeats in front of loops of one block, and removes loops with a known
// number of rounds that then compute nothing that is read after them. It says whether it changed any.
func (f *fn) dropIdleLoops() bool {
	any := false
	for _, l := range f.loops {
		b := l.head
		if len(l.blocks) != 1 || b.to != b {
			continue
		}
		n := f.numbering()
		if f.knownRounds(l, f.loopFacts()) == nil {
			continue
		}
		first := f.repeatedCopies(b, n)
		if len(first.insts) > 0 {
			f.placeBefore(b, first)
			any = true
		}
		if f.idle(b, n) {
			b.insts, b.to = nil, nil
			any = true
		} else if rest := f.moveInvariants(b, n); rest != nil {
			b.insts, b.to = rest.insts, nil
			any = true
		}
	}
	return any
}

// moveInvariants moves everything that gives the same in every round in front of a loop in which then nothing is left to
// do. Other loops keep their code: ptxas moves more, but also has more registers to keep it in.
func (f *fn) moveInvariants(b *block, n numbering) *block {
	writes := map[int]int{}
	for i := range b.insts {
		f.defs(&b.insts[i], n, func(id int) { writes[id]++ })
	}
	read := map[int]bool{}
	first := &block{}
	moved := make([]bool, len(b.insts))
	for i := range b.insts {
		in := &b.insts[i]
		ok := in.Guard.Kind == isa.KindNone && in.NDst > 0 && !hasEffect(in) && !in.Class().IsMemory() && !in.Class().IsControl() && !isWarpWide(in) &&
			in.Op != isa.OpCS2R && in.Op != isa.OpS2R && in.Op != isa.OpS2UR && in.Op != isa.OpNOP
		f.uses(in, n, func(id int) { ok = ok && writes[id] == 0 })
		f.defs(in, n, func(id int) { ok = ok && writes[id] == 1 && !read[id] })
		f.uses(in, n, func(id int) { read[id] = true })
		if !ok {
			continue
		}
		moved[i] = true
		first.insts = append(first.insts, *in)
		f.defs(in, n, func(id int) { writes[id] = 0 })
	}
	kept := b.insts
	b.insts = nil
	for i := range kept {
		if !moved[i] {
			b.insts = append(b.insts, kept[i])
		}
	}
	if len(first.insts) == 0 || !f.idle(b, n) {
		b.insts = kept
		return nil
	}
	return first
}

// repeatedCopies takes copies out of the loop that give a register the same value in every round: nothing in the loop
// writes their source, and nothing writes their destination or reads it before them.
func (f *fn) repeatedCopies(b *block, n numbering) *block {
	writes := map[int]int{}
	for i := range b.insts {
		f.defs(&b.insts[i], n, func(id int) { writes[id]++ })
	}
	first := &block{}
	read := map[int]bool{}
	for i := range b.insts {
		in := &b.insts[i]
		_, ok := copiedPair(in)
		if !ok && in.Op == isa.OpMOV && in.Guard.Kind == isa.KindNone && in.Mod.Flags == 0 && in.Dst[0].Kind == isa.KindReg && in.Dst[0].Reg >= isa.VirtualBase {
			ok = in.Src[0].Kind == isa.KindReg || in.Src[0].Kind == isa.KindImm
		}
		if ok {
			f.uses(in, n, func(id int) { ok = ok && writes[id] == 0 })
			f.defs(in, n, func(id int) { ok = ok && writes[id] == 1 && !read[id] })
			if ok {
				first.insts = append(first.insts, *in)
				dead(in)
				continue
			}
		}
		f.uses(in, n, func(id int) { read[id] = true })
	}
	kept := b.insts[:0]
	for i := range b.insts {
		if b.insts[i].Op != isa.OpNone {
			kept = append(kept, b.insts[i])
		}
	}
	b.insts = kept
	return first
}

// idle says that the loop has no effect and leaves nothing behind that is read later.
func (f *fn) idle(b *block, n numbering) bool {
	for i := range b.insts[:len(b.insts)-1] {
		if hasEffect(&b.insts[i]) {
			return false
		}
	}
	f.analyse()
	l := f.live()
	wanted := false
	for i := range b.insts {
		f.defs(&b.insts[i], n, func(id int) {
			for _, s := range b.succs {
				wanted = wanted || s != b && l.in[s.id].has(id)
			}
		})
	}
	return !wanted
}
