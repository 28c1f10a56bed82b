package lower

import (
	"fmt"
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// AddControl computes the control information of a program that has none: stall counts, yield bits, dependency
// barriers, wait masks and reuse flags, from the target's latencies. On targets without control words
// (t.HasControl false) the same information stands for what the hardware's scoreboard finds out.
func AddControl(p *isa.Program, t *isa.Target) error {
	for i := range p.Insts {
		in := &p.Insts[i]
		in.Ctrl = isa.Control{Stall: 1, Yield: true, WriteBar: isa.NoBar, ReadBar: isa.NoBar}
		for k := range in.Src[:in.NSrc] {
			in.Src[k].Flags &^= isa.Reuse
			if o := &in.Src[k]; o.Kind == isa.KindLabel && (o.Imm < 0 || o.Imm >= int64(len(p.Insts))) {
				return fmt.Errorf("%s: instruction %d branches to %d, outside the program", p.Name, i, o.Imm)
			}
		}
	}
	p.Control = isa.ControlComputed
	c := newController(p, t)
	c.assignBarriers()
	c.waits()
	for i := range p.Insts { // what the other side of a call waits for is not known
		if op := p.Insts[i].Op; op == isa.OpCALL || op == isa.OpRET {
			p.Insts[i].Ctrl.WaitMask = 0x3f
		}
	}
	c.stalls()
	c.yields()
	c.reuse()
	return nil
}

// Register numbers of the controller: general registers, predicates, uniform registers and predicates, condition code.
const (
	ctlPred  = 256
	ctlUReg  = ctlPred + 8
	ctlUPred = ctlUReg + 256
	ctlCC    = ctlUPred + 8
	ctlRegs  = ctlCC + 1
)

// controller computes control information over the basic blocks of a finished program.
type controller struct {
	p     *isa.Program
	t     *isa.Target
	start []int   // first instruction of each block, ascending, with an end mark
	succs [][]int // block numbers
	preds [][]int
	block []int // instruction -> block
	uses  [][]int16
	defs  [][]int16
}

func newController(p *isa.Program, t *isa.Target) *controller {
	c := &controller{p: p, t: t}
	n := len(p.Insts)
	leader := make([]bool, n+1)
	leader[0] = true
	c.uses, c.defs = make([][]int16, n), make([][]int16, n)
	var arena []int16
	for i := range p.Insts {
		in := &p.Insts[i]
		for _, o := range in.Src[:in.NSrc] {
			if o.Kind == isa.KindLabel {
				leader[o.Imm] = true
			}
		}
		for _, to := range p.Indexed[i] {
			leader[to] = true
		}
		if endsBlock(in) {
			leader[i+1] = true
		}
		a := len(arena)
		arena = appendUses(arena, in)
		b := len(arena)
		arena = appendDefs(arena, in)
		c.uses[i], c.defs[i] = arena[a:b:b], arena[b:len(arena):len(arena)]
	}
	c.block = make([]int, n)
	for i := 0; i < n; i++ {
		if leader[i] {
			c.start = append(c.start, i)
		}
		c.block[i] = len(c.start) - 1
	}
	nb := len(c.start)
	c.start = append(c.start, n)
	c.succs, c.preds = make([][]int, nb), make([][]int, nb)
	for b := range nb {
		last := &p.Insts[c.start[b+1]-1]
		open := true
		switch last.Op {
		case isa.OpEXIT, isa.OpKILL, isa.OpRET, isa.OpBRX, isa.OpJMX:
			open = last.Guard.Kind != isa.KindNone
		case isa.OpBRA, isa.OpJMP:
			open = last.Guard.Kind != isa.KindNone || branchCondition(last)
		}
		if open && b+1 < nb {
			c.succs[b] = append(c.succs[b], b+1)
		}
		for _, to := range p.Indexed[c.start[b+1]-1] {
			if s := c.block[to]; !slices.Contains(c.succs[b], s) {
				c.succs[b] = append(c.succs[b], s)
			}
		}
		if last.Op == isa.OpBRA || last.Op == isa.OpJMP || last.Op == isa.OpCALL {
			for _, o := range last.Src[:last.NSrc] {
				if o.Kind == isa.KindLabel {
					c.succs[b] = append(c.succs[b], c.block[o.Imm])
				}
			}
		}
	}
	for b, ss := range c.succs {
		for _, s := range ss {
			c.preds[s] = append(c.preds[s], b)
		}
	}
	return c
}

// branchCondition says that a branch has a condition among its sources (BRA P0, label).
func branchCondition(in *isa.Inst) bool {
	for _, o := range in.Src[:in.NSrc] {
		if (o.Kind == isa.KindPred || o.Kind == isa.KindUPred) && o.Reg != isa.PT {
			return true
		}
	}
	return false
}

func endsBlock(in *isa.Inst) bool {
	switch in.Op {
	case isa.OpBRA, isa.OpBRX, isa.OpJMP, isa.OpJMX, isa.OpCALL, isa.OpRET, isa.OpEXIT, isa.OpKILL, isa.OpBSYNC, isa.OpSYNC, isa.OpBRK, isa.OpCONT:
		return true
	}
	return in.Mod.Has(isa.ModS)
}

// regWidth is how many registers an operand of the finished program covers.
func regWidth(in *isa.Inst, o *isa.Operand, isDst bool, index int) int {
	if o.Is(isa.Wide64) {
		return 2
	}
	bytes := int(in.Mod.Size)
	switch in.Op {
	case isa.OpLDG, isa.OpSTG:
		if in.IsOctet() {
			return octetOperandWidth(in, o, isDst, index)
		}
	}
	switch in.Op {
	case isa.OpLD, isa.OpLDG, isa.OpLDS, isa.OpLDL, isa.OpLDC, isa.OpULDC, isa.OpLDCU, isa.OpLDU:
		if isDst && bytes > 4 {
			return bytes / 4
		}
	case isa.OpST, isa.OpSTG, isa.OpSTS, isa.OpSTL, isa.OpATOM, isa.OpATOMG, isa.OpATOMS, isa.OpSYNCS, isa.OpARRIVES, isa.OpRED:
		words := max(1, bytes/4)
		if in.Mod.Sub == isa.SubCAS && !isDst && o.Kind == isa.KindReg && in.NSrc == 2 {
			return 2 * words // before Volta one tuple holds what is compared and what is stored
		}
		if in.Op == isa.OpSYNCS && !isDst && in.Mod.Sub != isa.SubExch {
			return 1
		}
		if isDst || o.Kind == isa.KindReg {
			return words
		}
	case isa.OpTEX, isa.OpTLD, isa.OpTLD4, isa.OpTXD, isa.OpTXQ:
		switch {
		case in.Mod.Tex.Dim != isa.TexNone:
			return in.TexWidth(isDst, index)
		case isDst:
			return 4
		}
	case isa.OpSULD, isa.OpSUST:
		switch {
		case o.Kind == isa.KindMem:
			return 2
		case o.Kind == isa.KindReg && bytes > 4 && (isDst || index == 1):
			return bytes / 4
		}
	case isa.OpIMAD:
		if in.Mod.Has(isa.ModWide) && (isDst || index == 2) {
			return 2
		}
	case isa.OpDADD, isa.OpDMUL, isa.OpDFMA, isa.OpDSETP, isa.OpDMNMX:
		return 2
	case isa.OpCS2R:
		if in.Mod.Has(isa.ModWide) {
			return 2
		}
	}
	return 1
}

// octetOperandWidth is regWidth of an access of 32 bytes.
func octetOperandWidth(in *isa.Inst, o *isa.Operand, isDst bool, index int) int {
	switch {
	case isDst:
		return in.OctetWidth(index == 0)
	case o.Kind == isa.KindReg:
		return in.OctetWidth(index == 2)
	}
	return 1
}

func appendReg(list []int16, kind isa.OperandKind, r isa.Reg, n int) []int16 {
	for k := 0; k < n; k++ {
		x := int(r) + k
		switch kind {
		case isa.KindReg:
			if x < 255 {
				list = append(list, int16(x))
			}
		case isa.KindPred:
			if x < 7 {
				list = append(list, int16(ctlPred+x))
			}
		case isa.KindUReg:
			if x < 255 && r != 63 {
				list = append(list, int16(ctlUReg+x))
			}
		case isa.KindUPred:
			if x < 7 {
				list = append(list, int16(ctlUPred+x))
			}
		}
	}
	return list
}

func appendUses(list []int16, in *isa.Inst) []int16 {
	list = appendReg(list, in.Guard.Kind, in.Guard.Reg, 1)
	for i := range in.Src[:in.NSrc] {
		o := &in.Src[i]
		switch o.Kind {
		case isa.KindReg, isa.KindUReg:
			list = appendReg(list, o.Kind, o.Reg, regWidth(in, o, false, i))
		case isa.KindPred, isa.KindUPred:
			list = appendReg(list, o.Kind, o.Reg, 1)
		case isa.KindConst:
			list = appendReg(list, isa.KindReg, o.Reg, 1)
		case isa.KindMem:
			n := 1
			if o.Is(isa.Wide64) {
				n = 2
			}
			list = appendReg(list, isa.KindReg, o.Reg, n)
			if o.Is(isa.HasUReg) {
				n := 1
				if o.Is(isa.UWide64) {
					n = 2
				}
				list = appendReg(list, isa.KindUReg, o.UReg, n)
			}
		}
	}
	if in.Mod.Has(isa.ModX) && in.Op != isa.OpIADD3 && in.Op != isa.OpIMAD && in.Op != isa.OpLEA {
		list = append(list, ctlCC)
	}
	return list
}

func appendDefs(list []int16, in *isa.Inst) []int16 {
	for i := range in.Dst[:in.NDst] {
		o := &in.Dst[i]
		switch o.Kind {
		case isa.KindReg, isa.KindUReg:
			list = appendReg(list, o.Kind, o.Reg, regWidth(in, o, true, i))
		case isa.KindPred, isa.KindUPred:
			list = appendReg(list, o.Kind, o.Reg, 1)
		}
	}
	if in.Mod.Has(isa.ModCC) {
		list = append(list, ctlCC)
	}
	return list
}

// variable says that the instruction's result or its reading of sources is signalled by a dependency barrier.
func (c *controller) variable(in *isa.Inst) bool {
	cl := in.Class()
	if cl.IsControl() {
		return c.t.Variable[cl] && in.NDst > 0
	}
	if cl == isa.ClassULDC && c.t.SM < 100 {
		return false
	}
	return c.t.Variable[cl] || cl.IsMemory()
}

// waitState is which barriers guard each register.
type waitState [ctlRegs]guards

// guards are barriers, a bit each: from bit 0 on those of the register's value, from readerBits on those of its readers, six for each barrier
// of their results and six for readers without one. Who waits for the result of a reader needs not wait for its sources.
type guards uint64

const readerBits = 6

// value guards what an instruction with that barrier writes.
func valueGuard(w uint8) guards { return 1 << w }

// readerGuard guards what an instruction reads until barrier r, its result comes with barrier w or none.
func readerGuard(r, w uint8) guards { return 1 << (readerBits*(1+min(w, 6)) + r) }

// values and all are the barriers to wait for before the register is read, and before it is written.
func (g guards) values() guards { return g & (1<<readerBits - 1) }

func (g guards) all() (mask guards) {
	for ; g != 0; g >>= readerBits {
		mask |= g.values()
	}
	return mask
}

// waited are the guards that waiting for the barriers of a mask takes away.
func waited(mask guards) (gone guards) {
	for k := range 8 { // value, results 0 to 5, no result
		gone |= mask << (readerBits * k)
		if k > 0 && k < 7 && mask>>(k-1)&1 != 0 {
			gone |= (1<<readerBits - 1) << (readerBits * k)
		}
	}
	return gone
}

// waits computes wait masks by forward data flow over the blocks.
func (c *controller) waits() {
	nb := len(c.succs)
	in := make([]*waitState, nb)
	in[0] = &waitState{}
	work := []int{0}
	queued := make([]bool, nb)
	queued[0] = true
	var s waitState
	for len(work) > 0 {
		b := work[0]
		work = work[1:]
		queued[b] = false
		s = *in[b]
		c.waitBlock(b, &s, false)
		for _, x := range c.succs[b] {
			changed := false
			if in[x] == nil {
				in[x] = new(waitState)
				*in[x] = s
				changed = true
			} else {
				for r := range s {
					if v := in[x][r] | s[r]; v != in[x][r] {
						in[x][r], changed = v, true
					}
				}
			}
			if changed && !queued[x] {
				queued[x] = true
				work = append(work, x)
			}
		}
	}
	for b := range nb {
		if in[b] == nil {
			in[b] = &waitState{}
		}
		s = *in[b]
		c.waitBlock(b, &s, true)
	}
}

func (c *controller) waitBlock(b int, s *waitState, write bool) {
	for i := c.start[b]; i < c.start[b+1]; i++ {
		in := &c.p.Insts[i]
		var mask guards
		for _, r := range c.uses[i] {
			mask |= s[r].values()
		}
		for _, r := range c.defs[i] {
			mask |= s[r].all()
		}
		if mask != 0 {
			gone := waited(mask)
			for r := range s {
				s[r] &^= gone
			}
		}
		if write {
			in.Ctrl.WaitMask = uint8(mask)
		}
		if w := in.Ctrl.WriteBar; w != isa.NoBar {
			for _, r := range c.defs[i] {
				s[r] |= valueGuard(w)
			}
		}
		if w := in.Ctrl.ReadBar; w != isa.NoBar {
			for _, r := range c.uses[i] {
				if r < ctlPred {
					s[r] |= readerGuard(w, in.Ctrl.WriteBar)
				}
			}
		}
	}
}
