package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// jumpTo branches under the instruction's guard.
func (c *compiler) jumpTo(to *block) {
	if c.b.guard.Kind == isa.KindNone {
		c.b.jump(to)
		return
	}
	c.b.branch(c.b.guard, to, c.b.in.Has("uni"))
}

// exit ends the thread under the instruction's guard.
func (c *compiler) exit() {
	c.b.emit(isa.OpEXIT, isa.Mod{}, nil, nil)
	if c.b.guard.Kind == isa.KindNone {
		c.b.place(&block{})
	}
}

func (c *compiler) labelBlock(a *ptx.Arg, name string) *block {
	y := c.b.scope.lookup(c.f, name)
	if y == nil || y.kind != symLabel {
		c.b.fail(a.Pos, "label %s is not defined in this body", name)
		return nil
	}
	return y.blk
}

func (c *compiler) branch(in *ptx.Instr) {
	if len(in.Args) != 1 || in.Args[0].Kind != ptx.ArgName {
		c.b.errorf("bra needs one label")
		return
	}
	if to := c.labelBlock(&in.Args[0], in.Args[0].Name); to != nil {
		c.jumpTo(to)
	}
}

// branchTable lowers brx.idx to an indexed branch over a table of addresses in constant bank 2, before sm_30, where
// PTX has no brx.idx, to a balanced tree of compares and branches. The effect of indices beyond the table is undefined.
func (c *compiler) branchTable(in *ptx.Instr) {
	b := c.b
	if len(in.Args) != 2 || in.Args[1].Kind != ptx.ArgName {
		b.errorf("brx.idx needs an index and a .branchtargets label")
		return
	}
	y := b.scope.lookup(c.f, in.Args[1].Name)
	if y == nil || y.kind != symTargets || len(y.names) == 0 {
		b.fail(in.Args[1].Pos, "%s is no list of .branchtargets", in.Args[1].Name)
		return
	}
	var targets []*block
	for _, n := range y.names {
		t := c.labelBlock(&in.Args[1], n)
		if t == nil {
			return
		}
		targets = append(targets, t)
	}
	index := b.src(0, "u32")[0]
	var after *block
	if b.guard.Kind != isa.KindNone {
		after = b.newBlock()
		b.branch(notP(b.guard), after, in.Has("uni"))
		b.guard = word{}
	}
	if uniq := slices.Compact(slices.Clone(targets)); b.sm() < 30 || len(uniq) == 1 {
		c.tableTree(index, targets, 0)
	} else {
		c.indexedBranch(index, targets, in.Has("uni"))
	}
	if after != nil {
		b.place(after)
	}
}

// indexedBranch ends the block with BRX.
func (c *compiler) indexedBranch(index word, targets []*block, uni bool) {
	x := &expander{builder: c.b}
	x.jumpIndexed(index, targets, uni)
	c.b.place(&block{})
}

// jumpIndexed ends the current block with BRX over a table of addresses in constant bank 2.
func (x *expander) jumpIndexed(index word, targets []*block, uni bool) {
	f := x.f
	at := alignUp(int64(len(f.bank2)), 4)
	f.bank2 = append(f.bank2, make([]byte, at-int64(len(f.bank2))+int64(4*len(targets)))...)
	off := x.inReg(x.shl(auto, index, imm(2)))
	to := []word{x.reg()}
	x.emit(isa.OpLDC, isa.Mod{Size: 4}, to, []word{{Kind: isa.KindConst, Bank: 2, Reg: off.Reg, Imm: at}})
	if x.sm() >= 70 { // a 64-bit address
		to = append(to, x.signWord(auto, to[0]))
	}
	m := isa.Mod{}
	if uni {
		m.Flags = isa.ModU
	}
	x.emitWide(isa.OpBRX, m, nil, [][]word{to})
	x.cur.table, x.cur.tableAt = targets, at
}

// tableTree branches to targets[index - base].
func (c *compiler) tableTree(index word, targets []*block, base int) {
	b := c.b
	if len(targets) == 1 {
		b.jump(targets[0])
		return
	}
	mid := len(targets) / 2
	p := b.pred()
	cmp, at := isa.CmpLT, base+mid
	b.emit(isa.OpISETP, isa.Mod{Type: isa.U32, Cmp: cmp}, []word{p}, []word{index, imm(uint32(at))})
	uni := b.in.Has("uni")
	if mid == 1 {
		b.branch(p, targets[0], uni)
	} else {
		low := b.newBlock()
		b.branch(p, low, uni)
		c.tableTree(index, targets[mid:], at)
		b.place(low)
		c.tableTree(index, targets[:mid], base)
		return
	}
	c.tableTree(index, targets[mid:], at)
}
