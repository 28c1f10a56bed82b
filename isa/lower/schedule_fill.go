package lower

import "github.com/sarchlab/smsim/isa"

// access notes which registers the instruction reads and writes.
func (s *scheduler) access(in *isa.Inst, nd *node) {
	if !s.physical {
		s.f.uses(in, s.n, func(id int) { nd.reads = append(nd.reads, int32(id)) })
		s.f.defs(in, s.n, func(id int) { nd.writes = append(nd.writes, int32(id)) })
		return
	}
	s.regs = appendUses(s.regs[:0], in)
	for _, r := range s.regs {
		nd.reads = append(nd.reads, int32(r))
	}
	s.regs = appendDefs(s.regs[:0], in)
	for _, r := range s.regs {
		nd.writes = append(nd.writes, int32(r))
	}
}

// number is the register's number in the scheduler's tables.
func (s *scheduler) number(kind isa.OperandKind, r isa.Reg) int {
	if !s.physical {
		return s.n.of(kind, r)
	}
	s.regs = appendReg(s.regs[:0], kind, r, 1)
	if len(s.regs) == 0 {
		return -1
	}
	return int(s.regs[0])
}

// baseRegs calls visit for the registers that make up the address of a memory operand.
func (s *scheduler) baseRegs(o *isa.Operand, visit func(id int)) {
	if !s.physical {
		s.f.members(o, func(kind isa.OperandKind, r isa.Reg) {
			if id := s.n.of(kind, r); id >= 0 {
				visit(id)
			}
		})
		return
	}
	width := func(wide bool) int {
		if wide {
			return 2
		}
		return 1
	}
	s.regs = appendReg(s.regs[:0], isa.KindReg, o.Reg, width(o.Is(isa.Wide64)))
	if o.Is(isa.HasUReg) {
		s.regs = appendReg(s.regs, isa.KindUReg, o.UReg, width(o.Is(isa.UWide64)))
	}
	for _, r := range s.regs {
		visit(int(r))
	}
}

// fillStalls orders each block again after register allocation, cycle by cycle: of the instructions whose operands and pipe are
// ready first, the one on the longest path. Stores to global memory do not move up.
func (f *fn) fillStalls() {
	s := f.physicalScheduler()
	for _, b := range f.blocks {
		if head := headOf(b); len(b.insts)-head > 1 {
			s.reorder(b, head, s.fill)
		}
	}
}

// physicalScheduler is a scheduler for allocated code.
func (f *fn) physicalScheduler() *scheduler {
	s := &scheduler{f: f, n: numbering{preds: ctlPred, uregs: ctlUReg, upreds: ctlUPred, total: ctlRegs}, physical: true}
	s.lastDef = make([]int32, s.n.total+2)
	s.readers = make([][]int32, s.n.total+2)
	for i := range s.lastDef {
		s.lastDef[i] = -1
	}
	return s
}

// headOf is the number of instructions at the block's start that stay there: the stack pointer is set up first.
func headOf(b *block) int {
	if len(b.insts) > 0 && b.insts[0].NDst > 0 && b.insts[0].Dst[0].Kind == isa.KindReg && b.insts[0].Dst[0].Reg == stackReg {
		return 1
	}
	return 0
}

// fillLatency is the most that fillStalls keeps other instructions behind a load for: more than a hit in L1, so that what reads one
// load of a group does not stand ahead of the others, for which a warp would wait a second time.
const fillLatency = 120

// longer says that instruction i lies on a longer path to the block's end than j, or on an equal one and comes first.
func (s *scheduler) longer(i, j int32) bool {
	if hi, hj := s.nodes[i].height, s.nodes[j].height; hi != hj {
		return hi > hj
	}
	return i < j
}

// fill is the list scheduler of fillStalls.
func (s *scheduler) fill() []int32 {
	n := len(s.nodes)
	for i := n - 1; i >= 0; i-- { // heights, bottom up; edges go forward in source order
		for _, e := range s.nodes[i].succs {
			s.nodes[i].height = max(s.nodes[i].height, e.lat+s.nodes[e.to].height)
		}
	}
	var ready []int32
	for i := range s.nodes {
		if s.nodes[i].preds == 0 {
			ready = append(ready, int32(i))
		}
	}
	free := map[string]int32{} // cycle at which a pipe can take the next instruction
	order := make([]int32, 0, n)
	now := int32(0)
	done, first := make([]bool, n), int32(0) // first is the first instruction that is not placed yet
	for len(ready) > 0 {
		best, bestAt := -1, int32(0)
		for k, i := range ready {
			if i != first && s.insts[i].Class() == isa.ClassSTG { // stays behind all that stood ahead of it: neighbours fill a sector together
				continue
			}
			at := max(now, s.nodes[i].early, free[s.f.t.Pipe[s.insts[i].Class()]])
			if best < 0 || at < bestAt || at == bestAt && s.longer(i, ready[best]) {
				best, bestAt = k, at
			}
		}
		i := ready[best]
		ready[best] = ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		cl := s.insts[i].Class()
		order = append(order, i)
		for done[i] = true; first < int32(n) && done[first]; first++ {
		}
		free[s.f.t.Pipe[cl]] = bestAt + int32(s.f.t.Interval[cl])
		for _, e := range s.nodes[i].succs {
			t := &s.nodes[e.to]
			t.early = max(t.early, bestAt+e.lat)
			if t.preds--; t.preds == 0 {
				ready = append(ready, e.to)
			}
		}
		now = bestAt + 1
	}
	if len(order) != n {
		panic("lower: scheduling lost instructions")
	}
	return order
}
