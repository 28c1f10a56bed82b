package lower

import "github.com/sarchlab/smsim/isa"

// optimise improves the kernel on virtual registers before pseudo instructions are expanded.
func (f *fn) optimise() {
	f.rolled = true
	f.noteWords(false)
	f.comparisonTables()
	f.splitVariables()
	f.gatherAdd64()
	f.valueNumber()
	f.noteWords(true)
	f.dropSyncs()
	f.foldAddresses()
	f.narrow()
	f.rolled = false
	if !f.link.keepLoops && f.unrollKnown() {
		f.link.unrolled = true
		f.analyse()
		f.splitVariables()
		f.valueNumber()
		f.foldAddresses() // pointers that rounds step
		f.narrow()
	}
	if f.dropIdleLoops() {
		f.analyse()
	}
	if f.arraysInRegisters() {
		f.splitVariables()
		f.valueNumber()
		f.removeDead()
	}
	f.selectSums()
	f.settleCross()
	f.shareProducts()
	f.disjointSums()
	f.contractProducts()
	f.fuse()
	f.copyLowHalves()
	f.removeDead()
	f.pairProducts()
	f.valueNumber()
	f.removeDead()
	f.removeDeadWrites()
	f.negateFactors()
	f.shareComplements()
	f.keepStoredLiterals()
	f.hoistInvariants()
	spins := len(f.spinLoops()) > 0
	f.vectorise()
	f.unroll()
	f.foldScaled()
	f.noteLoops()
	f.joinLatches()
	f.ifConvert()
	f.hoistBases(true)
	if !f.separateCode() && !spins {
		f.uniformBases()
	}
	f.hoistBases(false)
	if f.repeatsReciprocal() {
		f.valueNumber()
		f.removeDead()
	}
	f.guardSelects()
	f.raiseLoads()
	if !spins {
		f.uniformValues()
	}
	f.uniformCross()
	f.keepWidening()
	f.updateInPlace()
	f.keepCopies()
}

// cleanup removes what expansion and legalisation left over.
func (f *fn) cleanup() {
	f.removeDead()
	if f.t.SM >= 90 {
		f.pairConstants()
	}
}

// dead marks an instruction for removal by compact.
func dead(in *isa.Inst) { *in = isa.Inst{} }

// compact drops instructions marked dead.
func (f *fn) compact() {
	for _, b := range f.blocks {
		kept := b.insts[:0]
		for i := range b.insts {
			if b.insts[i].Op != isa.OpNone {
				kept = append(kept, b.insts[i])
			}
		}
		b.insts = kept
	}
}

// removeDead removes instructions without effect whose results nobody reads.
func (f *fn) removeDead() {
	n := f.numbering()
	needed := make([]bool, n.total)
	type where struct {
		b *block
		i int
	}
	defsOf := make([][]where, n.total)
	live := map[*block][]bool{}
	var work []where
	mark := func(b *block, i int) {
		if !live[b][i] {
			live[b][i] = true
			work = append(work, where{b, i})
		}
	}
	for _, b := range f.blocks {
		live[b] = make([]bool, len(b.insts))
	}
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			f.defs(in, n, func(id int) { defsOf[id] = append(defsOf[id], where{b, i}) })
			if hasEffect(in) {
				mark(b, i)
			}
		}
	}
	for len(work) > 0 {
		w := work[len(work)-1]
		work = work[:len(work)-1]
		in := w.b.insts[w.i]
		if isAtomic(&in) {
			in.NDst = 0 // that a guarded one keeps its old result is no reason to want it
		}
		f.uses(&in, n, func(id int) {
			if !needed[id] {
				needed[id] = true
				for _, d := range defsOf[id] {
					mark(d.b, d.i)
				}
			}
		})
	}
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			if !live[b][i] {
				dead(in)
				continue
			}
			if isAtomic(in) {
				wanted := false
				f.defs(in, n, func(id int) { wanted = wanted || needed[id] })
				if !wanted {
					one := isImm(in.Src[1], 1)
					if id := n.of(in.Src[1].Kind, in.Src[1].Reg); in.Src[1].Kind == isa.KindReg && in.Src[1].Flags == 0 && id >= 0 && len(defsOf[id]) == 1 {
						def := &defsOf[id][0].b.insts[defsOf[id][0].i]
						one = def.Op == isa.OpMOV && def.Guard.Kind == isa.KindNone && isImm(def.Src[0], 1)
					}
					f.dropResult(in, one)
				}
			}
			// Predicate results that nobody reads become PT, so that no register is wasted on them.
			for k := range in.Dst[:in.NDst] {
				if o := &in.Dst[k]; o.Kind == isa.KindPred && o.Reg >= isa.VirtualBase && !needed[n.of(isa.KindPred, o.Reg)] {
					*o = pt
				}
			}
		}
	}
	f.compact()
}

// isAtomic says that the instruction is an atomic operation that gives the old value in a register.
func isAtomic(in *isa.Inst) bool {
	switch in.Op {
	case isa.OpATOM, isa.OpATOMG, isa.OpATOMS, isa.OpSYNCS:
		if in.NDst == 2 && in.Dst[0] != pt { // from Volta on a predicate comes first
			return false
		}
		o := in.Dst[max(in.NDst, 1)-1]
		return o.Kind == isa.KindReg && o.Reg != isa.RZ
	}
	return false
}

// dropResult makes an atomic operation whose old value nobody reads a reduction, or lets it write RZ. From Ampere on shared
// memory has an instruction that adds one for each lane.
func (f *fn) dropResult(in *isa.Inst, addsOne bool) {
	if in.Op == isa.OpATOMG && in.Mod.Sub != isa.SubExch && in.Mod.Sub != isa.SubCAS {
		in.Op, in.NDst, in.Dst = isa.OpRED, 0, [isa.MaxDst]isa.Operand{}
		return
	}
	in.Dst[in.NDst-1] = rz
	if word := in.Mod.Type == isa.U32 || in.Mod.Type == isa.S32 || in.Mod.Type == isa.TypeNone; addsOne && word && in.Op == isa.OpATOMS &&
		in.Mod.Sub == isa.SubAdd && in.Mod.Size <= 4 && f.t.SM >= 80 {
		in.Mod.Flags |= isa.ModPopcInc
		in.NSrc, in.Src[1] = 1, isa.Operand{}
	}
}

// removeDeadWrites removes instructions without effect whose results are overwritten before anybody reads them.
func (f *fn) removeDeadWrites() {
	l := f.live()
	n := l.n
	live := newBitset(n.total)
	for _, b := range f.rpo {
		copy(live, l.out[b.id])
		for i := len(b.insts) - 1; i >= 0; i-- {
			in := &b.insts[i]
			if !hasEffect(in) {
				wanted := false
				f.defs(in, n, func(id int) { wanted = wanted || live.has(id) })
				if !wanted {
					dead(in)
					continue
				}
			}
			f.kills(in, n, live.clear)
			f.uses(in, n, live.set)
		}
	}
	f.compact()
}

// defSite is where a register is written.
type defSite struct {
	b *block
	i int32
	n int32 // number of definitions
	g bool  // some definition is guarded
}

// defSites finds the definitions of all registers.
func (f *fn) defSites(n numbering) []defSite {
	d := make([]defSite, n.total)
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			f.defs(in, n, func(id int) {
				d[id].b, d[id].i = b, int32(i)
				d[id].n++
				d[id].g = d[id].g || in.Guard.Kind != isa.KindNone
			})
		}
	}
	// A register that is read where its definition has not happened yet (in a later round of a loop) is no value.
	for _, b := range f.blocks {
		for i := range b.insts {
			f.uses(&b.insts[i], n, func(id int) {
				if x := &d[id]; x.n == 1 && (x.b == b && int(x.i) >= i || x.b != b && !dominates(x.b, b)) {
					x.g = true
				}
			})
		}
	}
	return d
}

// value says that the register has one definition that always executes: it is a value.
func (d *defSite) value() bool { return d.n == 1 && !d.g }

// useCounts counts the reads of every register.
func (f *fn) useCounts(n numbering) []int32 {
	c := make([]int32, n.total)
	for _, b := range f.blocks {
		for i := range b.insts {
			f.uses(&b.insts[i], n, func(id int) { c[id]++ })
		}
	}
	return c
}
