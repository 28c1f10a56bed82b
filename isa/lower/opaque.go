package lower

import "github.com/sarchlab/smsim/isa"

// mergeOpaque takes the opaque moves (Options.OpaqueMoves) out again when the optimiser is done: registers that such moves
// connect and that only one other instruction writes hold one value, so they become one register. What remains (a value
// that goes around a loop) register allocation merges as it does any move.
func (f *fn) mergeOpaque() {
	n := f.numbering()
	isOpaque := func(in *isa.Inst) bool {
		return in.Op == isa.OpMOV && in.Mod.Has(modOpaque) && !passes(in) && in.Src[0].Kind == isa.KindReg && in.Src[0].Reg >= isa.VirtualBase
	}
	parent := map[isa.Reg]isa.Reg{}
	var root func(r isa.Reg) isa.Reg
	root = func(r isa.Reg) isa.Reg {
		p, ok := parent[r]
		if !ok || p == r {
			return r
		}
		p = root(p)
		parent[r] = p
		return p
	}
	written := make([]int, n.total)
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			if isOpaque(in) {
				for _, o := range []isa.Operand{in.Dst[0], in.Src[0]} {
					if _, known := parent[o.Reg]; !known {
						parent[o.Reg] = o.Reg
					}
				}
				parent[root(in.Dst[0].Reg)] = root(in.Src[0].Reg)
				continue
			}
			f.defs(in, n, func(id int) { written[id]++ })
		}
	}
	writes := map[isa.Reg]int{} // of the registers that one root stands for
	inTuple := map[isa.Reg]bool{}
	for r := range parent {
		writes[root(r)] += written[n.of(isa.KindReg, r)]
		if _, member := f.inTuple[r]; member {
			inTuple[root(r)] = true
		}
	}
	rename := func(o *isa.Operand) {
		if o.Kind != isa.KindReg && o.Kind != isa.KindMem || o.Reg < isa.VirtualBase {
			return
		}
		if p := root(o.Reg); writes[p] <= 1 && !inTuple[p] {
			o.Reg = p
		}
	}
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			for k := range in.Dst[:in.NDst] {
				rename(&in.Dst[k])
			}
			for k := range in.Src[:in.NSrc] {
				rename(&in.Src[k])
			}
			if isOpaque(in) && in.Dst[0].Reg == in.Src[0].Reg {
				dead(in)
			}
		}
	}
	f.compact()
}
