package lower

import "github.com/sarchlab/smsim/isa"

// hoistBases moves the base addresses of shared memory out of loops of one block, and those that are not uniform out of all innermost
// loops, as the compiler does.
func (f *fn) hoistBases(uniform bool) {
	f.hoist(func(in *isa.Inst, l *loop, _ bool) bool {
		return in.Op == isa.OpS2R && (!uniform || len(l.blocks) == 1)
	})
}

// hoistInvariants moves loop-invariant code out of innermost loops, as the compiler does: expensive instructions (reciprocals,
// conversions, high products: what a division by an invariant expands to) with all that they need and all else that is invariant in the
// expansion, where every round executes them. Other invariant code stays where the PTX has it: its front end has done that work, and
// what it left inside saves registers.
func (f *fn) hoistInvariants() {
	f.hoist(func(in *isa.Inst, _ *loop, everyRound bool) bool { return everyRound && expensive(in) })
}

// hoist moves the wanted instructions that do not change in an innermost loop out of it, and what they need.
func (f *fn) hoist(wanted func(in *isa.Inst, l *loop, everyRound bool) bool) {
	n := f.numbering()
	v := &numberer{f: f, n: n, defs: f.defSites(n)}
	for _, l := range f.loops {
		to := l.head.idom
		if f.hasInner(l) || to == nil || l.contains(to) {
			continue
		}
		f.hoistFrom(l, to, v, wanted)
	}
	f.compact()
}

// invariant is an instruction whose sources do not change in the loop.
type invariant struct {
	b      *block
	i      int
	needed bool
}

func (f *fn) hoistFrom(l *loop, to *block, v *numberer, wanted func(in *isa.Inst, l *loop, everyRound bool) bool) {
	var list []invariant
	from := map[int]int{} // register -> its definition in list
	calls := l.calls()
	for _, b := range f.rpo {
		if b.loop != l {
			continue
		}
		everyRound := !calls && l.everyRound(b)
		for i := range b.insts {
			in := &b.insts[i]
			if in.NDst == 0 || in.Guard.Kind != isa.KindNone || !(v.pure(in) || in.Op == isa.OpMOV) || in.Op == isa.OpS2R && in.Src[0].Reg != isa.SRCgaCtaID {
				continue
			}
			ok := true
			f.defs(in, v.n, func(id int) { ok = ok && v.defs[id].value() })
			f.uses(in, v.n, func(id int) {
				d := &v.defs[id]
				_, inside := from[id]
				ok = ok && d.value() && (inside || d.b == nil || !l.contains(d.b))
			})
			for k := range in.Dst[:in.NDst] {
				o := &in.Dst[k]
				ok = ok && (o.Reg >= isa.VirtualBase || *o == pt || o.Kind == isa.KindReg && o.Reg == isa.RZ)
			}
			if !ok {
				continue
			}
			f.defs(in, v.n, func(id int) { from[id] = len(list) })
			list = append(list, invariant{b: b, i: i, needed: wanted(in, l, everyRound)})
		}
	}
	divisions := map[isa.SourcePos]bool{}
	for _, x := range list {
		if in := &x.b.insts[x.i]; x.needed && in.Class() == isa.ClassMUFU {
			divisions[in.Pos] = true
		}
	}
	for k := range list {
		if in := &list[k].b.insts[list[k].i]; divisions[in.Pos] && in.Op != isa.OpMOV && l.everyRound(list[k].b) {
			list[k].needed = true
		}
	}
	any := false
	for k := len(list) - 1; k >= 0; k-- {
		x := &list[k]
		in := &x.b.insts[x.i]
		if in.Op == isa.OpLEA && in.Mod.Flags == 0 { // the base of shared memory goes with the block's rank
			f.uses(in, v.n, func(id int) {
				if d, ok := from[id]; ok && list[d].needed && list[d].b.insts[list[d].i].Op == isa.OpS2R {
					x.needed = true
				}
			})
		}
		if !x.needed {
			continue
		}
		any = true
		f.uses(in, v.n, func(id int) {
			if d, ok := from[id]; ok {
				list[d].needed = true
			}
		})
	}
	if !any {
		return
	}
	var moved []isa.Inst
	for _, x := range list {
		if x.needed {
			in := &x.b.insts[x.i]
			moved = append(moved, *in)
			dead(in)
		}
	}
	at := len(to.insts)
	if to.terminator() != nil {
		at--
	}
	to.insts = append(to.insts[:at], append(moved, to.insts[at:]...)...)
	for _, x := range list { // for loops that follow
		if x.needed {
			for id, k := range from {
				if list[k].b == x.b && list[k].i == x.i {
					v.defs[id].b = to
				}
			}
		}
	}
}

// expensive says that the instruction is expensive enough to be computed once.
func expensive(in *isa.Inst) bool {
	switch in.Class() {
	case isa.ClassI2F, isa.ClassF2I, isa.ClassMUFU, isa.ClassIMADHI:
		return true
	}
	return false
}

// calls says that the loop calls a function or a routine: what its divisions share stays in it (divmix).
func (l *loop) calls() bool {
	for _, b := range l.blocks {
		for i := range b.insts {
			if b.insts[i].Op == isa.OpCALL {
				return true
			}
		}
	}
	return false
}

// everyRound says that each round of the loop executes block b: a division on one side of a branch stays there.
func (l *loop) everyRound(b *block) bool {
	for _, p := range l.head.preds {
		if l.contains(p) && !dominates(b, p) {
			return false
		}
	}
	return true
}
