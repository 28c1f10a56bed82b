package lower

import "github.com/sarchlab/smsim/isa"

// hoistInvariants moves two kinds of loop-invariant code out of innermost loops, as the compiler does: the base
// addresses of shared memory, and expensive instructions (reciprocals, conversions, high products: what a division
// by an invariant expands to) with all that they need. Other invariant code stays where the PTX has it: its
// front end has done that work, and what it left inside saves registers.
func (f *fn) hoistInvariants() {
	n := f.numbering()
	v := &numberer{f: f, n: n, defs: f.defSites(n)}
	for _, l := range f.loops {
		to := l.head.idom
		if f.hasInner(l) || to == nil || l.contains(to) {
			continue
		}
		f.hoistFrom(l, to, v)
	}
	f.compact()
}

// invariant is an instruction whose sources do not change in the loop.
type invariant struct {
	b      *block
	i      int
	needed bool
}

func (f *fn) hoistFrom(l *loop, to *block, v *numberer) {
	var list []invariant
	from := map[int]int{} // register -> its definition in list
	for _, b := range f.rpo {
		if b.loop != l {
			continue
		}
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
			list = append(list, invariant{b: b, i: i, needed: f.worthHoisting(in)})
		}
	}
	any := false
	for k := len(list) - 1; k >= 0; k-- {
		x := &list[k]
		in := &x.b.insts[x.i]
		if in.Op == isa.OpLEA && in.Mod.Flags == 0 { // the base of shared memory goes with the block's rank
			f.uses(in, v.n, func(id int) {
				if d, ok := from[id]; ok && list[d].b.insts[list[d].i].Op == isa.OpS2R {
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

// worthHoisting says that the instruction is expensive enough to be computed once.
func (f *fn) worthHoisting(in *isa.Inst) bool {
	switch in.Class() {
	case isa.ClassI2F, isa.ClassF2I, isa.ClassMUFU, isa.ClassIMADHI:
		return true
	}
	return in.Op == isa.OpS2R
}

// uniformBases turns the base address of shared memory into a uniform register where every use can take one: as
// part of an address ([R+UR]), or as the addend of LEA and IADD3.
func (f *fn) uniformBases() {
	if f.t.SM < 90 {
		return
	}
	n := f.numbering()
	defs := f.defSites(n)
	uses := f.useCounts(n)
	type use struct {
		in *isa.Inst
		k  int
	}
	readers := map[isa.Reg][]use{}
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			for k := range in.Src[:in.NSrc] {
				if o := &in.Src[k]; o.Reg >= isa.VirtualBase && (o.Kind == isa.KindReg || o.Kind == isa.KindMem || o.Kind == isa.KindConst) {
					readers[o.Reg] = append(readers[o.Reg], use{in, k})
				}
			}
		}
	}
	takes := func(u use) bool {
		in, o := u.in, &u.in.Src[u.k]
		switch {
		case o.Kind == isa.KindMem:
			return o.Flags == 0 && memSpaces(in) == 2
		case o.Flags != 0:
			return false
		case in.Op == isa.OpLEA && in.Mod.Flags == 0 && u.k == 1:
			return in.Src[0].Kind == isa.KindReg
		case plainAdd(in):
			t := terms(in, 3)
			if len(t) != 2 {
				return false
			}
			for _, x := range t {
				if x.Kind != isa.KindReg {
					return false
				}
			}
			return true
		}
		return false
	}
	for _, b := range f.blocks {
		for i := 0; i < len(b.insts); i++ {
			in := &b.insts[i]
			if in.Op != isa.OpLEA || in.Mod.Flags != 0 || in.Src[0].Kind != isa.KindReg || in.Src[0].Reg < isa.VirtualBase || in.Dst[1] != pt || in.Dst[0].Reg < isa.VirtualBase {
				continue
			}
			rank := &defs[n.of(isa.KindReg, in.Src[0].Reg)]
			id := n.of(isa.KindReg, in.Dst[0].Reg)
			if !rank.value() || !defs[id].value() || in.Src[1].Kind == isa.KindReg && in.Src[1].Reg != isa.RZ {
				continue
			}
			s2r := &rank.b.insts[rank.i]
			if rank.b != b || s2r.Op != isa.OpS2R || s2r.Src[0].Reg != isa.SRCgaCtaID || uses[n.of(isa.KindReg, in.Src[0].Reg)] != 1 {
				continue
			}
			ok := true
			for _, u := range readers[in.Dst[0].Reg] {
				ok = ok && takes(u)
			}
			if !ok {
				continue
			}
			ur, base := isa.UR(f.newUReg()), isa.UR(f.newUReg())
			d := in.Dst[0].Reg
			s2r.Op, s2r.Dst[0] = isa.OpS2UR, ur
			in.Op, in.NDst = isa.OpULEA, 1
			in.Dst[0], in.Dst[1], in.Src[0] = base, isa.Operand{}, ur
			for _, u := range readers[d] {
				o := &u.in.Src[u.k]
				if o.Kind == isa.KindMem {
					o.Reg, o.UReg = isa.RZ, base.Reg
					o.Flags |= isa.HasUReg
					continue
				}
				*o = base
				if u.in.Op != isa.OpIADD3 {
					continue
				}
				// A sum that is only an address becomes part of it.
				sum := u.in.Dst[0].Reg
				all := u.in.Guard.Kind == isa.KindNone && sum >= isa.VirtualBase && defs[n.of(isa.KindReg, sum)].value()
				for _, r := range readers[sum] {
					m := &r.in.Src[r.k]
					all = all && m.Kind == isa.KindMem && m.Flags == 0 && memSpaces(r.in) == 2
				}
				var other isa.Operand
				for _, x := range terms(u.in, 3) {
					if x.Kind == isa.KindReg {
						other = x
					}
				}
				oid := n.of(isa.KindReg, other.Reg)
				if !all || other.Flags != 0 || other.Reg < isa.VirtualBase || oid >= len(defs) || !defs[oid].value() {
					continue
				}
				for _, r := range readers[sum] {
					m := &r.in.Src[r.k]
					m.Reg, m.UReg = other.Reg, base.Reg
					m.Flags |= isa.HasUReg
				}
			}
		}
	}
	f.removeDead()
}
