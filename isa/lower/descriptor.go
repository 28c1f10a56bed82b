package lower

import "github.com/sarchlab/smsim/isa"

// loadDescriptor loads the descriptor of global memory, which every access to it reads from Ampere on, into a pair of
// uniform registers, once and above all accesses. They do not name it here: it changes nothing and is never late.
func (f *fn) loadDescriptor() {
	if f.t.GlobalWord == 0 || f.unit != 0 {
		return
	}
	global := memSpaces(&isa.Inst{Op: isa.OpLDG})
	var at *block
	for _, b := range f.rpo {
		for i := range b.insts {
			if in := &b.insts[i]; !in.Class().IsMemory() || memSpaces(in)&global == 0 || in.Class() == isa.ClassTEX {
				continue
			}
			if at == nil {
				at = b
			}
			for !dominates(at, b) {
				at = at.idom
			}
			break
		}
	}
	if at == nil {
		return
	}
	for at.loop != nil && at.idom != nil {
		at = at.idom
	}
	u := []isa.Reg{f.newUReg(), f.newUReg()}
	f.utuples[u[0]] = u
	f.inUTuple[u[0]], f.inUTuple[u[1]] = true, true
	in := f.uniformLoad(u[0], isa.C(0, int64(f.t.GlobalWord)), isa.SourcePos{CUFile: -1})
	in.Mod.Size = 8
	in.Dst[0].Flags |= flagPair | isa.Wide64
	to := 0
	if at == f.blocks[0] {
		to = min(1, len(at.insts))
	}
	at.insts = append(at.insts[:to:to], append([]isa.Inst{in}, at.insts[to:]...)...)
}
