package lower

import "github.com/sarchlab/smsim/isa"

// scaledBase is what an address of a base and a shifted index is instead, once a constant in the index is an offset.
type scaledBase struct {
	reg    isa.Reg // the pair that holds base and index without the constant
	offset int64
}

// foldScaled takes constants out of the 64-bit indices of addresses: base + (y + c << n) is base + (y << n) with an offset of c << n in all
// loads and stores that read it, and shares the address of y if that is there. That is how ptxas takes the rounds of an unrolled loop over
// a 64-bit index from one address; 32-bit indices, whose sums wrap, are left.
func (f *fn) foldScaled() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	u := &fuser{f: f, n: n, defs: f.defSites(n), uses: f.useCounts(n), last: make([]int32, n.total)}
	for i := range u.last {
		u.last[i] = -1
	}
	s := &scaler{fuser: u, reach: f.addressUses(n), moved: map[isa.Reg]scaledBase{}}
	if len(s.reach) == 0 {
		return
	}
	var changed []*block
	for _, b := range f.rpo {
		u.b = b
		before := len(s.moved)
		for i := range b.insts {
			in := &b.insts[i]
			for k := range in.Src[:in.NSrc] {
				if o := &in.Src[k]; o.Kind == isa.KindMem && o.Flags&flagPair != 0 {
					if to, ok := s.moved[o.Reg]; ok {
						o.Reg, o.Imm = to.reg, o.Imm+to.offset
					}
				}
			}
			if isLea64(in) {
				s.fold(in, int32(i))
			}
			f.defs(in, n, func(id int) { u.last[id] = int32(i) })
		}
		for i := range b.insts {
			f.defs(&b.insts[i], n, func(id int) { u.last[id] = -1 })
		}
		if len(s.moved) > before {
			changed = append(changed, b)
		}
	}
	if len(changed) > 0 {
		f.removeDead()
		f.fuseIn(changed) // sums of an index that no address reads any more
	}
}

// addressUse is how often memory operations read a pair as an address, and the offsets they have.
type addressUse struct {
	reads       int32
	least, most int64
}

// addressUses gives the pairs that loads and stores have as addresses.
func (f *fn) addressUses(n numbering) map[isa.Reg]addressUse {
	list := map[isa.Reg]addressUse{}
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			for _, o := range in.Src[:in.NSrc] {
				if o.Kind != isa.KindMem || o.Flags&flagPair == 0 {
					continue
				}
				x := list[o.Reg]
				x.reads++
				x.least, x.most = min(x.least, o.Imm), max(x.most, o.Imm)
				list[o.Reg] = x
			}
		}
	}
	return list
}

type scaler struct {
	*fuser
	reach map[isa.Reg]addressUse
	moved map[isa.Reg]scaledBase
}

// fold takes the constant out of the index of an address, instruction i of the current block, that only memory operations read.
func (s *scaler) fold(in *isa.Inst, i int32) {
	lo, hi := in.Dst[0], in.Dst[1]
	if in.Guard.Kind != isa.KindNone || lo.Flags != 0 || hi.Flags != 0 || !s.value(lo) || !s.value(hi) {
		return
	}
	use := s.reach[lo.Reg]
	pair := s.f.tuples[lo.Reg]
	if use.reads == 0 || len(pair) != 2 || pair[1] != hi.Reg || s.uses[s.n.of(isa.KindReg, lo.Reg)] != use.reads || s.uses[s.n.of(isa.KindReg, hi.Reg)] != use.reads {
		return
	}
	shift, ok := constant(in.Src[4])
	if !ok {
		return
	}
	offset := int64(0)
	for {
		y, c, ok := s.constantAdded(pairTerm{in.Src[0], in.Src[2]})
		if !ok || c < -maxOffset || c > maxOffset || shift > 8 || use.least+offset+c<<shift < -maxOffset || use.most+offset+c<<shift > maxOffset {
			break
		}
		in.Src[0], in.Src[2] = y.lo, y.hi
		offset += c << shift
	}
	if offset == 0 {
		return
	}
	s.moved[lo.Reg] = scaledBase{lo.Reg, offset}
	if e := s.same(in, i); e != nil {
		to := e.Dst[0].Reg
		if m, ok := s.moved[to]; ok { // its readers have moved on
			to = m.reg
		}
		s.moved[lo.Reg] = scaledBase{to, offset}
	}
}

// constantAdded says that a number is the sum of another, which still has its value, and a constant.
func (s *scaler) constantAdded(x pairTerm) (y pairTerm, c int64, ok bool) {
	d := s.pairDefinition(x)
	if d == nil || !isAdd64(d) {
		return y, 0, false
	}
	t := pairTerms(d)
	if len(t) != 2 {
		return y, 0, false
	}
	if _, first := t[0].constant64(); first {
		t[0], t[1] = t[1], t[0]
	}
	c, ok = t[1].constant64()
	y = t[0]
	return y, c, ok && y.lo.Kind == isa.KindReg && y.hi.Kind == isa.KindReg && y.lo.Flags == 0 && y.hi.Flags == 0
}

// value says that the register has one definition, which always executes.
func (s *scaler) value(o isa.Operand) bool {
	id := s.n.of(isa.KindReg, o.Reg)
	return o.Kind == isa.KindReg && id >= 0 && id < len(s.defs) && s.defs[id].value()
}

// same is an earlier instruction of the block that computes the same address in a pair, from sources that have not changed since.
func (s *scaler) same(in *isa.Inst, i int32) *isa.Inst {
	for k := i - 1; k >= 0; k-- {
		e := &s.b.insts[k]
		if !isLea64(e) || e.Guard.Kind != isa.KindNone || e.Src != in.Src || !s.value(e.Dst[0]) || !s.value(e.Dst[1]) {
			continue
		}
		if pair := s.f.tuples[e.Dst[0].Reg]; len(pair) != 2 || pair[1] != e.Dst[1].Reg {
			continue
		}
		ok := true
		s.f.uses(e, s.n, func(id int) { ok = ok && id < len(s.last) && s.last[id] < k })
		if ok {
			return e
		}
	}
	return nil
}
