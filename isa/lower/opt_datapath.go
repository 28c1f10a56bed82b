package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// maxDatapath bounds the uniform registers that one kernel's values take beyond their blocks.
const maxDatapath = 44

// uniformValues moves to the uniform datapath what all lanes share, where those who read it can read a uniform register: products of
// block indices and parameters, loop counters, round keys. The code around has more general registers then. Which values ptxas 13.0
// moves was read off its code of 280 kernels (docs/lowering.md).
func (f *fn) uniformValues() {
	if f.t.SM < 75 || !f.t.Has(isa.OpUIADD3) || f.separateCode() {
		return
	}
	d := &datapath{f: f, n: f.numbering(), all: f.link.uniform, chosen: map[isa.Reg]bool{}, defs: map[isa.Reg][]reader{},
		readers: map[isa.Reg][]reader{}, parted: f.parted()}
	d.collect()
	if len(d.order)+len(d.tests) == 0 {
		return
	}
	d.settle()
	d.rewrite()
}

// noteWords notes where the PTX reads words of constant bank 0 first: the sizes of block and grid where they are moved from, or parameters where
// others than the ld.param read them, once what that loads is propagated.
func (f *fn) noteWords(params bool) {
	if f.firstRead == nil {
		f.firstRead = map[isa.Operand]isa.SourcePos{}
	}
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			for _, o := range in.Src[:in.NSrc] {
				if o.Kind != isa.KindConst || o.Bank != 0 || params != (o.Imm >= int64(f.t.ParamBase)) || params && in.Op == isa.OpMOV {
					continue
				}
				o.Flags = 0
				if at, ok := f.firstRead[o]; !ok || earlier(in.Pos, at) {
					f.firstRead[o] = in.Pos
				}
			}
		}
	}
}

// earlier says that a stands before b in the PTX text.
func earlier(a, b isa.SourcePos) bool { return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col }

// noteLoops marks the heads of loops of several blocks.
func (f *fn) noteLoops() {
	for _, l := range f.loops {
		l.head.many = len(l.blocks) > 1
	}
}

// reader is an instruction that reads or writes a register, as its source operand k.
type reader struct {
	b  *block
	in *isa.Inst
	k  int
}

// datapath is the choice of general registers whose values become uniform registers.
type datapath struct {
	f       *fn
	n       numbering
	all     bool // general registers are short: copies and comparisons on the uniform datapath are worth it
	chosen  map[isa.Reg]bool
	order   []isa.Reg            // candidates in the order in which they get values
	defs    map[isa.Reg][]reader // who writes a candidate
	readers map[isa.Reg][]reader
	general map[isa.Operand]*block // words of constant bank 0 that are in general registers
	parted  map[*block]bool
	tests   []*test
	isTest  map[*isa.Inst]*test // those that can be uniform
}

// uniformTwin is the uniform datapath's opcode for one of the vector's, OpNone if there is none.
func uniformTwin(in *isa.Inst) isa.Op {
	switch {
	case plainAdd(in):
		return isa.OpUIADD3
	case in.Op == isa.OpLOP3 && plainPreds(in) && !in.Mod.Has(isa.ModPAND):
		return isa.OpULOP3
	case in.Op == isa.OpIMAD && in.Mod.Flags == 0 && plainPreds(in):
		return isa.OpUIMAD
	case in.Op == isa.OpSHF:
		return isa.OpUSHF
	case in.Op == isa.OpLEA && in.Mod.Flags == 0 && plainPreds(in):
		return isa.OpULEA
	case in.Op == isa.OpMOV && in.Mod == isa.Mod{}:
		return isa.OpUMOV
	case in.Op == isa.OpS2R && blockIndex(in.Src[0].Reg):
		return isa.OpS2UR
	case narrowConstant(in):
		return isa.OpULDC
	case in.Op == isa.OpPRMT && in.Mod.Flags&^modKeep == 0 && in.Mod.Sub == isa.SubNone:
		return isa.OpUPRMT
	case plainPreds(in):
		return bitTwins[in.Op]
	}
	return isa.OpNone
}

// bitTwins are the operations on bits that the uniform datapath has in the vector's form.
var bitTwins = map[isa.Op]isa.Op{isa.OpPOPC: isa.OpUPOPC, isa.OpFLO: isa.OpUFLO, isa.OpBREV: isa.OpUBREV, isa.OpSGXT: isa.OpUSGXT, isa.OpBMSK: isa.OpUBMSK}

// narrowConstant says that the instruction loads a byte or half word from a fixed place of a constant bank. All 33 such loads in
// ptxas's code are on the uniform datapath.
func narrowConstant(in *isa.Inst) bool {
	return in.Op == isa.OpLDC && (in.Mod.Size == 1 || in.Mod.Size == 2) && in.Src[0].Kind == isa.KindConst && in.Src[0].Reg == isa.RZ && in.Src[0].Flags == 0
}

// blockIndex says that a special register is one of the block's coordinates.
func blockIndex(r isa.Reg) bool {
	return r == isa.SRCtaidX || r == isa.SRCtaidY || r == isa.SRCtaidZ
}

// collect finds the candidates, who writes them, and who reads every register.
func (d *datapath) collect() {
	f := d.f
	u := f.uniformity()
	tuple, bad := map[isa.Reg]bool{}, make([]bool, d.n.total)
	for _, regs := range f.tuples {
		for _, r := range regs {
			tuple[r] = true
		}
	}
	for v := range f.fixed {
		tuple[v] = true
	}
	seen := map[isa.Reg]bool{}
	for _, b := range f.rpo {
		for i := range b.insts {
			in := &b.insts[i]
			reads := 0
			for k := range in.Src[:in.NSrc] {
				if o := &in.Src[k]; o.Reg >= isa.VirtualBase && (o.Kind == isa.KindReg || o.Kind == isa.KindMem || o.Kind == isa.KindConst) {
					d.readers[o.Reg] = append(d.readers[o.Reg], reader{b, in, k})
					reads++
				}
			}
			if s := f.site(in); s != nil {
				visitPassed(s.uses, d.n, func(id int) { bad[id] = true })
				visitPassed(s.defs, d.n, func(id int) { bad[id] = true })
			}
			fits := in.Guard.Kind == isa.KindNone && !d.parted[b] && uniformTwin(in) != isa.OpNone && f.site(in) == nil
			for k := range in.Dst[:in.NDst] {
				o := &in.Dst[k]
				if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase {
					continue
				}
				r := o.Reg
				if !seen[r] {
					seen[r] = true
					d.order = append(d.order, r)
				}
				d.defs[r] = append(d.defs[r], reader{b, in, k})
				if id := d.n.of(isa.KindReg, r); !fits || k != 0 || o.Flags != 0 || tuple[r] || u.divergent[id] {
					bad[id] = true
				}
			}
		}
	}
	if f.own != nil {
		visitPassed(f.own.params, d.n, func(id int) { bad[id] = true })
	}
	d.order = slices.DeleteFunc(d.order, func(r isa.Reg) bool { return bad[d.n.of(isa.KindReg, r)] })
	sites := f.defSites(d.n)
	d.order = slices.DeleteFunc(d.order, func(r isa.Reg) bool { // read before it is written
		s := &sites[d.n.of(isa.KindReg, r)]
		return s.n == 1 && s.g
	})
	for _, r := range d.order {
		d.chosen[r] = true
	}
	d.collectTests(u, sites)
}

// settle drops candidates until all that are left have uniform sources and readers that take them.
func (d *datapath) settle() {
	for changed := true; changed; {
		changed = false
		d.general = d.f.generalWords(d.isChosen)
		taken := map[*isa.Inst]isa.Reg{} // vector instructions have room for one uniform register
		for _, r := range d.order {
			if d.chosen[r] && !(d.uniform(r) && d.readable(r, taken)) {
				delete(d.chosen, r)
				changed = true
			}
		}
		changed = d.settleTests() || changed
		if !changed {
			changed = d.dropUseless()
		}
	}
	long := 0 // that live beyond their block
	for _, r := range d.order {
		if !d.chosen[r] {
			continue
		}
		here := len(d.defs[r]) == 1
		for _, u := range d.readers[r] {
			here = here && u.b == d.defs[r][0].b
		}
		if !here {
			long++
		}
	}
	if long > maxDatapath {
		clear(d.chosen)
		for changed := true; changed; { // of the tests, those of constants are left
			d.general = d.f.generalWords(d.isChosen)
			changed = d.settleTests()
		}
	}
}

// uniform says that all that is written to the register comes from constants or chosen registers.
func (d *datapath) uniform(r isa.Reg) bool {
	for _, w := range d.defs[r] {
		for _, o := range w.in.Src[:w.in.NSrc] {
			switch {
			case o.Kind == isa.KindPred && o.Reg == isa.PT, o.Kind == isa.KindImm && o.Imm < dynamicShared/2, o.Kind == isa.KindSpecial:
			case o.Kind == isa.KindReg && o.Reg == isa.RZ, narrowConstant(w.in):
			case o.Kind == isa.KindConst && o.Reg == isa.RZ && o.Flags&^(isa.Neg|isa.Inv) == 0 && o.Bank == 0:
				o.Flags = 0
				if !d.all && d.general[o] != nil {
					return false
				}
			case o.Kind == isa.KindReg && d.chosen[o.Reg] && o.Flags&^(isa.Neg|isa.Inv) == 0:
			default:
				return false
			}
		}
	}
	return true
}

// readable says that every reader of the register becomes uniform too or takes a uniform register.
func (d *datapath) readable(r isa.Reg, taken map[*isa.Inst]isa.Reg) bool {
	defs := d.defs[r]
	at := defs[0].b
	for _, u := range d.readers[r] {
		if d.isChosen(u.in) {
			continue
		}
		x, other := taken[u.in]
		if d.yields(r, u) {
			return false
		}
		if d.takes(u) && !(other && x != r) {
			taken[u.in] = r
			continue
		}
		if !copyable(u) || u.b.loop != at.loop && u.b.depth >= at.depth || !d.all && (len(defs) > 1 || defs[0].in.Op == isa.OpS2R || !d.deeper(r)) {
			return false
		}
	}
	return true
}

// deeper says that a loop inside reads the register.
func (d *datapath) deeper(r isa.Reg) bool {
	for _, u := range d.readers[r] {
		if u.b.depth > d.defs[r][0].b.depth {
			return true
		}
	}
	return false
}

// yields says that the register stays general because of the reader: the instruction has a word of constant bank 0 beside it that takes
// the place of the one uniform source, or it is
// the comparison with a literal that ends the loop of a counter.
func (d *datapath) yields(r isa.Reg, u reader) bool {
	if d.all {
		return false
	}
	counter := len(d.defs[r]) > 1
	if counter && d.f.t.SM == 90 && !d.manyBlocks(r) && d.onlyProductsBehind(r) {
		return true
	}
	for k, o := range u.in.Src[:u.in.NSrc] {
		switch {
		case k == u.k:
		case o.Kind == isa.KindConst && o.Bank == 0 && d.f.t.SM >= 90:
			o.Flags = 0
			three := isAdd64(u.in) && !isZero(u.in.Src[2]) // a 64-bit sum of three has the word in registers
			if d.general[o] == nil && !three && d.wordFirst(r, u, o) {
				return true
			}
		}
	}
	return false
}

// wordFirst says that word o of constant bank 0, not register r, has the place of the one uniform source in the instruction that u is of:
// what the PTX reads first, but a parameter after block indices; the counter of a loop of several blocks first, that of one block unless the word
// is read before its step.
// From compute capability 10.0 on what is computed is first, but for loops with others inside.
func (d *datapath) wordFirst(r isa.Reg, u reader, o isa.Operand) bool {
	w := d.defs[r][len(d.defs[r])-1]
	index := w.in.Op == isa.OpS2R
	switch counter := len(d.defs[r]) > 1; {
	case counter && d.manyBlocks(r):
		return false
	case d.f.t.SM >= uniformBranches && !index && (u.b.loop == nil || !d.f.hasInner(u.b.loop)):
		return false
	}
	return earlier(d.f.firstRead[o], w.in.Pos) && !(index && o.Imm >= int64(d.f.t.ParamBase))
}

// onlyProductsBehind says that products behind a loop add the counter, and none in it.
func (d *datapath) onlyProductsBehind(r isa.Reg) bool {
	behind, inside := false, false
	for _, u := range d.readers[r] {
		if u.in.Op != isa.OpIMAD {
			continue
		}
		in := false
		for _, w := range d.defs[r] {
			in = in || w.b.loop != nil && w.b.loop.contains(u.b)
		}
		behind, inside = behind || !in, inside || in
	}
	return behind && !inside
}

// copyable says that the reader can read a copy in a general register instead.
func copyable(u reader) bool {
	o := &u.in.Src[u.k]
	return o.Kind == isa.KindReg && o.Flags&^(isa.Neg|isa.Inv) == 0
}

// takes says that the reader's instruction can have a uniform register there, possibly after exchanging sources. From compute capability
// 9.0 on a word of constant bank 0 beside it gets a general register.
func (d *datapath) takes(u reader) bool {
	in, o := u.in, &u.in.Src[u.k]
	if in.Op == isa.OpMOV {
		return in.Mod == isa.Mod{} && o.Flags == 0
	}
	if o.Kind != isa.KindReg || o.Flags&^(isa.Neg|isa.Inv) != 0 || isLea64(in) {
		return false
	}
	for k := range in.Src[:in.NSrc] {
		switch x := &in.Src[k]; {
		case x.Kind == isa.KindConst && d.f.t.SM >= 90 && x.Bank == 0 && x.Reg == isa.RZ && (x.Flags == 0 || k == 2 && in.Mod.Has(isa.ModWide)):
		case x.Kind == isa.KindImm && !isZero(*x) || x.Kind == isa.KindConst || x.Kind == isa.KindUReg:
			return false
		case k != u.k && x.Kind == isa.KindReg && x.Reg == o.Reg:
			return false
		}
	}
	switch {
	case isAdd64(in): // the low word of what is extended with zeros, the only uniform one
		for k := range 3 {
			if k != u.k && in.Src[k].Kind == isa.KindReg && d.chosen[in.Src[k].Reg] {
				return false
			}
		}
		return d.f.t.SM < 120 && u.k < 3 && o.Flags == 0 && isZero(in.Src[3+u.k])
	case in.Op == isa.OpIADD3 && in.Mod.Flags&^modKeep == 0 && plainPreds(in), in.Op == isa.OpLOP3 && plainPreds(in):
		return true
	case in.Op == isa.OpIMAD && in.Mod.Flags == 0:
		return true
	case in.Op == isa.OpIMAD && in.Mod.Has(isa.ModWide) && !in.Mod.Has(isa.ModX) && (in.Mod.BType == isa.TypeNone || in.Mod.BType == in.Mod.Type):
		return u.k < 2
	case in.Op == isa.OpISETP && !in.Mod.Has(isa.ModEX):
		return u.k < 2
	case in.Op == isa.OpVIMNMX || in.Op == isa.OpIMNMX:
		return u.k < 2
	case in.Op == isa.OpSHF:
		return u.k == 1
	case in.Op == isa.OpI2F:
		return true
	}
	return false
}

// dropUseless drops values for which it is not worth it.
func (d *datapath) dropUseless() bool {
	changed := false
	useful := map[isa.Reg]bool{}
	for again := true; again; {
		again = false
		for k := len(d.order) - 1; k >= 0; k-- {
			r := d.order[k]
			if !d.chosen[r] || useful[r] {
				continue
			}
			if d.useful(r, useful) {
				useful[r], again = true, true
			}
		}
	}
	for _, r := range d.order {
		if d.chosen[r] && !useful[r] {
			delete(d.chosen, r)
			changed = true
		}
	}
	return changed
}

// useful says that the value serves somebody: a deeper loop, itself or through other useful values, or a loop that it counts in, for more than its end.
func (d *datapath) useful(r isa.Reg, useful map[isa.Reg]bool) bool {
	defs := d.defs[r]
	at := defs[0].b
	counter := len(defs) > 1
	for _, u := range d.readers[r] {
		switch x, is := d.isChosenDef(u.in); {
		case is:
			if x != r && useful[x] {
				return true
			}
		case d.isTest[u.in] != nil:
			return true
		case counter:
			if u.in.Op != isa.OpISETP || d.all {
				return true
			}
			if o := &u.in.Src[1-min(u.k, 1)]; o.Kind == isa.KindConst || o.Kind == isa.KindReg && o.Reg != isa.RZ {
				return true
			}
		case u.b.loop != at.loop, d.f.t.SM >= 90, d.all:
			return true
		}
	}
	return false
}

// manyBlocks says that the register is written in a loop that had several blocks before short branches were predicated.
func (d *datapath) manyBlocks(r isa.Reg) bool {
	for _, w := range d.defs[r] {
		if w.b.loop != nil && w.b.loop.head.many {
			return true
		}
	}
	return false
}

// isChosen says that the instruction writes a chosen register or is a chosen test.
func (d *datapath) isChosen(in *isa.Inst) bool {
	_, is := d.isChosenDef(in)
	return is || d.isTest[in] != nil
}

// isChosenDef is the chosen register that the instruction writes.
func (d *datapath) isChosenDef(in *isa.Inst) (isa.Reg, bool) {
	if in.NDst == 0 || in.Dst[0].Kind != isa.KindReg || !d.chosen[in.Dst[0].Reg] {
		return 0, false
	}
	return in.Dst[0].Reg, true
}
