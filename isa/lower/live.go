package lower

import (
	"math/bits"

	"github.com/sarchlab/smsim/isa"
)

// liveWords is the number of 64-bit words that hold one bit for each general register.
const liveWords = 4

type liveSet [liveWords]uint64

func (s *liveSet) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Live gives, for every instruction of a finished program, the number of general registers that hold a value which is
// still needed while it executes: those read by it or later, and its own results. Where control flow is not in the
// program text (tokens before Volta, returns, indirect branches) all targets that are possible are taken.
func Live(p *isa.Program) []int {
	if len(p.Insts) == 0 {
		return nil
	}
	c := newController(p, &isa.Target{SM: p.SM})
	joins := c.joins()
	in := make([]liveSet, len(c.start)-1)
	n := make([]int, len(p.Insts))
	for changed := true; changed; {
		changed = false
		for b := len(in) - 1; b >= 0; b-- {
			live := liveSet{}
			merge := func(to []int) {
				for _, s := range to {
					for w := range live {
						live[w] |= in[s][w]
					}
				}
			}
			merge(c.succs[b])
			if pops(&p.Insts[c.start[b+1]-1]) {
				merge(joins)
			}
			for i := c.start[b+1] - 1; i >= c.start[b]; i-- {
				busy := live
				for _, r := range c.defs[i] {
					if r < ctlPred {
						busy[r/64] |= 1 << (r % 64)
						if p.Insts[i].Guard.Kind == isa.KindNone {
							live[r/64] &^= 1 << (r % 64)
						}
					}
				}
				for _, r := range c.uses[i] {
					if r < ctlPred {
						live[r/64] |= 1 << (r % 64)
						busy[r/64] |= 1 << (r % 64)
					}
				}
				for w := range live {
					busy[w] |= live[w]
				}
				n[i] = busy.count()
			}
			if live != in[b] {
				in[b], changed = live, true
			}
		}
	}
	return n
}

// pops says that control may go from the instruction to a place that was pushed earlier, or to a caller.
func pops(in *isa.Inst) bool {
	switch in.Op {
	case isa.OpSYNC, isa.OpBRK, isa.OpCONT, isa.OpRET, isa.OpBRX, isa.OpJMX:
		return true
	}
	return in.Mod.Has(isa.ModS)
}

// joins are the blocks that pushed tokens and return addresses lead to: targets of SSY, PBK, PCNT, PRET and what follows
// a call. Targets of indirect branches are not known and stand as the blocks that nothing else leads to.
func (c *controller) joins() []int {
	var out []int
	for b := range len(c.start) - 1 {
		if b > 0 && len(c.preds[b]) == 0 {
			out = append(out, b)
		}
		for i := c.start[b]; i < c.start[b+1]; i++ {
			in := &c.p.Insts[i]
			switch in.Op {
			case isa.OpSSY, isa.OpPBK, isa.OpPCNT, isa.OpPRET:
				for _, o := range in.Src[:in.NSrc] {
					if o.Kind == isa.KindLabel {
						out = append(out, c.block[o.Imm])
					}
				}
			case isa.OpCALL:
				if i+1 < len(c.block) {
					out = append(out, c.block[i+1])
				}
			}
		}
	}
	return out
}
