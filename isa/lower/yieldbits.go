package lower

import "github.com/sarchlab/smsim/isa"

// yieldAfter is the number of stall cycles without a yield after which an instruction of two cycles yields.
const yieldAfter = 10

// yields says which instructions let the scheduler turn to another warp, and which issue with the next one. As ptxas 13.0 does it for all
// targets from 7.0 on (of 36,000 instructions in listings of seven targets 58 have it otherwise): an instruction of fixed latency that
// waits three cycles or more yields, one of two cycles where yieldAfter cycles have gone by since the last yield or the start of the
// block, one of a single cycle never; instructions of variable latency and branches yield from twelve cycles on.
func (c *controller) yields() {
	for b := range c.succs {
		run := 0
		for i := c.start[b]; i < c.start[b+1]; i++ {
			in := &c.p.Insts[i]
			stall := int(in.Ctrl.Stall)
			yields := false
			switch {
			case c.t.SM < 70:
				yields = stall >= 3 && !in.Class().IsControl() || stall >= 12
			case c.variable(in) || in.Class().IsControl():
				yields = stall >= 12
			default:
				yields = stall >= 3 || stall == 2 && run >= yieldAfter
			}
			if run += stall; yields {
				run = 0
			}
			in.Ctrl.Yield = !yields // the bit says that the warp stays
			in.Ctrl.DualIssue = stall == 0
		}
	}
}

// reuse marks operands that stay in the reuse cache for the warp's next instruction with a register in the same place, if that is the same
// register, on targets with a reuse cache. A yield empties the cache, and so does the end of a block. ptxas 13.0 marks all of these
// (5,915 operands in listings for 9.0, three not), and a few more over instructions that read another register there.
func (c *controller) reuse() {
	if c.t.SM < 50 {
		return
	}
	for i := range c.p.Insts {
		in := &c.p.Insts[i]
		if !c.cachesOperands(in) || c.t.SM >= 70 && !in.Ctrl.Yield {
			continue
		}
		for k := range min(in.NSrc, 3) {
			if o := &in.Src[k]; o.Kind == isa.KindReg && o.Reg != isa.RZ && !c.writes(i, o.Reg) && c.readsNext(i, int(k)) {
				o.Flags |= isa.Reuse
			}
		}
	}
}

// readsNext says that the next instruction that reads a register as source k reads the one that instruction i does.
func (c *controller) readsNext(i, k int) bool {
	reg := c.p.Insts[i].Src[k].Reg
	for j := i + 1; j < len(c.p.Insts) && c.block[j] == c.block[i]; j++ {
		next := &c.p.Insts[j]
		switch {
		case next.Class().IsControl():
			return false
		case c.cachesOperands(next) && k < int(next.NSrc) && next.Src[k].Kind == isa.KindReg && next.Src[k].Reg != isa.RZ:
			return next.Src[k].Reg == reg
		case c.writes(j, reg) || !next.Ctrl.Yield || c.t.SM < 70:
			return false
		}
	}
	return false
}

// writes says that instruction i writes the general register.
func (c *controller) writes(i int, reg isa.Reg) bool {
	for _, d := range c.defs[i] {
		if int(d) == int(reg) {
			return true
		}
	}
	return false
}

// cachesOperands says that the instruction's register sources go through the reuse cache.
func (c *controller) cachesOperands(in *isa.Inst) bool {
	cl := in.Class()
	return !c.variable(in) && !cl.IsControl() && cl != isa.ClassUALU && cl != isa.ClassULDC && cl != isa.ClassNOP
}
