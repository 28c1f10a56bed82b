package lower

import (
	"encoding/binary"

	"github.com/sarchlab/smsim/isa"
)

// constPool gives constant-bank words and immediates registers on targets whose compiler loads them first: from
// Hopper on arithmetic reads constants through uniform registers (ULDC, LDCU) or LDC, not from the bank.
type constPool struct {
	f       *fn
	have    map[constAt]isa.Operand
	pending map[*block][]isa.Inst // loads for the end of a block: before a loop
	uregs   int
	early   int                    // words that wait in general registers for a loop
	general map[isa.Operand]*block // words read from one general register, each with the block behind which all readers are
	seen    map[*block]bool        // blocks that are legalised or being so
	ring    constRing
}

// constAt is a constant in a place: the block that loads it.
type constAt struct {
	home *block
	o    isa.Operand
	kind uint8
}

const (
	poolUniform uint8 = iota
	poolRegister
	poolPair
)

// maxPoolUniform bounds the uniform registers of one kernel that hold constants, maxPoolEarly the general registers that hold them
// before a loop. Constant variables (bank 3) beyond are loaded where they are used, as ptxas 13.0 does on compute capability 9.0 with a
// loop that reads 256 weights: 42 are loaded before the loop, the others in it by ULDC.64.
const (
	maxPoolUniform = 40
	maxPoolEarly   = 24
)

func newConstPool(f *fn) *constPool {
	c := &constPool{f: f, have: map[constAt]isa.Operand{}, pending: map[*block][]isa.Inst{}, seen: map[*block]bool{}}
	if f.t.SM >= 90 {
		c.general = f.generalWords(func(*isa.Inst) bool { return false })
	}
	return c
}

// generalWords are the words of constant bank 0 that some instruction needs in a general register, because another of its sources
// is none already, each with the block behind which all readers are. ptxas 13.0 loads these into one, once, and lets everything
// read it; all other words are uniform.
func (f *fn) generalWords(uniform func(in *isa.Inst) bool) map[isa.Operand]*block {
	words, readers := map[isa.Operand]*block{}, map[isa.Operand]*block{}
	type pair struct {
		x, y isa.Operand
		b    *block
	}
	var pairs []pair // of words that one instruction reads: one of them can be uniform
	for _, b := range f.blocks {
		for i := range b.insts {
			if uniform(&b.insts[i]) {
				continue
			}
			in := b.insts[i]
			f.arrange(&in)
			p := f.placesOf(&in)
			var several []isa.Operand // words that a uniform register could hold
			taken := f.otherThanWord(&in, p)
			for k := range min(int(in.NSrc), len(p)) {
				o := in.Src[k]
				if p[k] == '-' || !isWord(o) {
					continue
				}
				fits := p[k] == 'f' || k == 0 && commutes(&in) && len(p) > 1 && p[1] == 'f' && in.Src[1].Kind != isa.KindImm
				o.Flags = 0
				readers[o] = commonDominator(readers[o], b)
				if taken || !fits {
					words[o] = b
				} else {
					several = append(several, o)
				}
			}
			for k := 1; k < len(several); k++ {
				pairs = append(pairs, pair{several[0], several[k], b})
			}
		}
	}
	for _, p := range pairs {
		switch {
		case p.x == p.y || words[p.x] != nil || words[p.y] != nil:
		case earlier(f.firstRead[p.x], f.firstRead[p.y]):
			words[p.y] = p.b
		default:
			words[p.x] = p.b
		}
	}
	for o := range words {
		words[o] = readers[o]
	}
	return words
}

// commonDominator is the last block that all ways to a and to b lead through; a may be nil.
func commonDominator(a, b *block) *block {
	if a == nil {
		return b
	}
	for d := a; d != nil; d = d.idom {
		if dominates(d, b) {
			return d
		}
	}
	return b
}

// isWord says that a source is one word of constant bank 0.
func isWord(o isa.Operand) bool {
	return o.Kind == isa.KindConst && o.Bank == 0 && o.Reg == isa.RZ && o.Flags&(flagPair|isa.Wide64) == 0
}

// otherThanWord says that some source is neither a register nor a word of constant bank 0.
func (f *fn) otherThanWord(in *isa.Inst, places string) bool {
	for k := range min(int(in.NSrc), len(places)) {
		if o := in.Src[k]; places[k] != '-' && o.Kind != isa.KindReg && !isWord(o) && !isZero(o) {
			return true
		}
	}
	return false
}

// wordHome is the block where a constant used in b is loaded: before an innermost loop, else b itself.
func (f *fn) wordHome(b *block) *block {
	l := b.loop
	if l == nil || f.hasInner(l) {
		return b
	}
	to := l.head.idom
	if to == nil || l.contains(to) {
		return b
	}
	return to
}

// hasInner says that the loop contains another.
func (f *fn) hasInner(l *loop) bool {
	for _, x := range f.loops {
		if x.parent == l {
			return true
		}
	}
	return false
}

// get gives the operand that holds constant o for an instruction of block b; out are the instructions before it.
func (c *constPool) get(b *block, out *[]isa.Inst, o isa.Operand, kind uint8, pos isa.SourcePos) isa.Operand {
	if kind == poolUniform && c.f.separateCode() {
		kind = poolRegister
	}
	home := c.f.wordHome(b)
	if o.Kind == isa.KindImm || c.early >= maxPoolEarly && o.Bank == 3 { // immediates are loaded where they are used
		home = b
	}
	if once := c.general[o]; once != nil && kind == poolRegister {
		if once = c.f.wordHome(once); c.seen[once] {
			home = once
		}
	}
	key := constAt{home, o, kind}
	if r, ok := c.have[key]; ok {
		return r
	}
	// A block of the same loop that every path passed may have loaded it.
	for d := home.idom; d != nil && d.loop == home.loop && o.Kind == isa.KindConst; d = d.idom {
		if r, ok := c.have[constAt{d, o, kind}]; ok {
			return r
		}
	}
	f := c.f
	in := isa.Inst{NDst: 1, NSrc: 1, Pos: pos, Src: [isa.MaxSrc]isa.Operand{o}}
	var r isa.Operand
	switch kind {
	case poolUniform:
		c.uregs++
		r = isa.UR(f.newUReg())
		in.Op = isa.OpUMOV
		if o.Kind == isa.KindConst {
			in.Op, in.Mod.Size = isa.OpULDC, 4
			if !f.t.Has(isa.OpULDC) {
				in.Op = isa.OpLDCU
			}
		}
	case poolRegister:
		r = isa.R(f.newReg())
		in.Op, in.Mod.Size = isa.OpLDC, 4
	case poolPair:
		regs := []isa.Reg{f.newReg(), f.newReg()}
		f.setTuple(regs)
		r = tupleOperand(regs)
		in.Op, in.Mod.Size = isa.OpLDC, 8
	}
	in.Dst[0] = r
	if home == b {
		*out = append(*out, in)
	} else {
		c.pending[home] = append(c.pending[home], in)
		if kind != poolUniform {
			c.early++
		}
	}
	c.have[key] = r
	return r
}

// place rewrites the constants of an instruction in block b.
func (c *constPool) place(b *block, out *[]isa.Inst, in *isa.Inst) {
	f := c.f
	if in.Op == isa.OpMOV && in.Src[0].Kind == isa.KindConst && in.Src[0].Reg == isa.RZ && in.Guard.Kind == isa.KindNone && in.Dst[0].Reg != stackReg {
		in.Op, in.Mod = isa.OpLDC, isa.Mod{Size: 4}
		return
	}
	if uniformOp(in) && in.Op != isa.OpULDC && in.Op != isa.OpLDCU {
		for k := range in.Src[:in.NSrc] {
			if o := in.Src[k]; o.Kind == isa.KindConst {
				flags := o.Flags & (isa.Neg | isa.Inv)
				o.Flags = 0
				in.Src[k] = c.get(b, out, o, poolUniform, in.Pos)
				in.Src[k].Flags |= flags
			}
		}
		return
	}
	p := f.placesOf(in)
	if p == "" {
		return
	}
	if commutes(in) && in.Src[0].Kind == isa.KindConst && in.Src[1].Kind == isa.KindConst && c.goesFirst(in.Src[0], in.Src[1]) {
		in.Src[0], in.Src[1] = in.Src[1], in.Src[0] // the first place takes no uniform register
	}
	others := func(k int) bool { // some other source takes the place of the one that is no general register
		for j, o := range in.Src[:in.NSrc] {
			if j == k || j >= len(p) || p[j] == '-' || o.Kind == isa.KindReg {
				continue
			}
			if p[j] == 'r' && o.Kind == isa.KindConst || p[j] == 'f' && isWord(o) && isWord(in.Src[k]) && o != in.Src[k] && c.goesFirst(in.Src[k], o) {
				continue // that one gets a general register
			}
			return true
		}
		return false
	}
	for k := range in.Src[:in.NSrc] {
		o := in.Src[k]
		if o.Kind != isa.KindConst || o.Reg != isa.RZ || k >= len(p) || p[k] == '-' {
			continue
		}
		flags := o.Flags & (isa.Neg | isa.Abs | isa.Inv)
		if o.Flags&flagPair != 0 {
			o.Flags &^= flags | flagPair | isa.Wide64
			in.Src[k] = c.get(b, out, o, poolPair, in.Pos)
			in.Src[k].Flags |= flags
			continue
		}
		if o.Flags&^flags != 0 || floatPair(in) {
			continue
		}
		o.Flags = 0
		switch uniform := p[k] == 'f' && f.takesUniform(in) && !others(k) && c.general[o] == nil; {
		case uniform && c.uregs < maxPoolUniform:
			in.Src[k] = c.get(b, out, o, poolUniform, in.Pos)
		case uniform && o.Bank == 3 && !f.separateCode():
			in.Src[k] = c.ring.load(f, out, o, in.Pos)
		default:
			in.Src[k] = c.get(b, out, o, poolRegister, in.Pos)
		}
		in.Src[k].Flags |= flags
	}
}

// goesFirst says that x rather than y is in the uniform register of an instruction that reads both.
func (c *constPool) goesFirst(x, y isa.Operand) bool {
	x.Flags, y.Flags = 0, 0
	if g := c.general[y] != nil; g != (c.general[x] != nil) {
		return g
	}
	return earlier(c.f.firstRead[x], c.f.firstRead[y])
}

// floatPair says that the instruction's constants are 64-bit floating-point values.
func floatPair(in *isa.Inst) bool {
	return in.Class() == isa.ClassDFMA
}

// finish inserts the loads that belong before loops.
func (c *constPool) finish() {
	for _, b := range c.f.blocks {
		list := c.pending[b]
		if len(list) == 0 {
			continue
		}
		at := len(b.insts)
		if b.terminator() != nil {
			at--
		}
		b.insts = append(b.insts[:at], append(append([]isa.Inst(nil), list...), b.insts[at:]...)...)
	}
}

// dotImmediate replaces an immediate factor of IDP, which has no such form: from Hopper on it comes from a uniform
// register, before from the compiler's own constant bank.
func (c *constPool) dotImmediate(b *block, out *[]isa.Inst, in *isa.Inst) {
	if in.Op != isa.OpIDP || c.f.t.SM < 75 {
		return
	}
	for k := range 2 {
		o := in.Src[k]
		if o.Kind != isa.KindImm || k == 0 {
			continue
		}
		if c.f.t.SM >= 90 && !c.f.separateCode() {
			in.Src[k] = c.get(b, out, o, poolUniform, in.Pos)
			continue
		}
		in.Src[k] = isa.C(2, c.f.bank2Word(uint32(o.Imm)))
		if c.f.t.SM >= 90 {
			in.Src[k] = c.get(b, out, in.Src[k], poolRegister, in.Pos)
		}
	}
}

// bank2Word is the offset of a word with value v in constant bank 2, which the compiler fills with literals. The tables of indexed
// branches stand there, too, and get their addresses last: their words are not searched.
func (f *fn) bank2Word(v uint32) int64 {
	for _, at := range f.bank2Literals {
		if binary.LittleEndian.Uint32(f.bank2[at:]) == v {
			return at
		}
	}
	at := int64(len(f.bank2))
	f.bank2 = binary.LittleEndian.AppendUint32(f.bank2, v)
	f.bank2Literals = append(f.bank2Literals, at)
	return at
}

// pairConstants joins loads of two adjacent constant words in a block into one 64-bit load.
func (f *fn) pairConstants() {
	type slot struct {
		bank uint8
		off  int64
		kind isa.OperandKind
	}
	n := f.numbering()
	defs := f.defSites(n)
	single := func(o *isa.Operand) bool {
		id := n.of(o.Kind, o.Reg)
		return id >= 0 && defs[id].n == 1
	}
	for _, b := range f.blocks {
		seen := map[slot]int{}
		for i := range b.insts {
			in := &b.insts[i]
			if in.Op != isa.OpULDC && in.Op != isa.OpLDCU && in.Op != isa.OpLDC || in.Mod.Size != 4 || in.Guard.Kind != isa.KindNone || in.Src[0].Reg != isa.RZ || !single(&in.Dst[0]) {
				continue
			}
			at := in.Src[0].Imm
			j, ok := seen[slot{in.Src[0].Bank, at ^ 4, in.Dst[0].Kind}]
			if !ok {
				seen[slot{in.Src[0].Bank, at, in.Dst[0].Kind}] = i
				continue
			}
			first := &b.insts[j]
			lo, hi := first.Dst[0], in.Dst[0]
			if at&4 == 0 {
				lo, hi = hi, lo
			}
			var d isa.Operand
			if lo.Kind == isa.KindReg {
				regs, good := f.tupleOf([]word{lo, hi})
				if !good {
					continue
				}
				d = tupleOperand(regs)
			} else {
				if f.utuples[lo.Reg] != nil || f.inUTuple[lo.Reg] || f.inUTuple[hi.Reg] {
					continue
				}
				f.utuples[lo.Reg] = []isa.Reg{lo.Reg, hi.Reg}
				f.inUTuple[lo.Reg], f.inUTuple[hi.Reg] = true, true
				d = lo
				d.Flags |= flagPair | isa.Wide64
			}
			first.Dst[0], first.Mod.Size = d, 8
			first.Src[0].Imm = at &^ 4
			delete(seen, slot{in.Src[0].Bank, at ^ 4, in.Dst[0].Kind})
			dead(in)
		}
	}
	f.compact()
}
