package lower

import (
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

const memTypes = "b8 u8 s8 b16 u16 s16 b32 u32 s32 b64 u64 s64 b128 f32 f64"

// takeSpace uses up the state space: "" for generic addresses.
func (x *expander) takeSpace() string {
	for i, m := range x.mods {
		base, _, _ := strings.Cut(m, "::")
		switch base {
		case "global", "shared", "local", "const", "param":
			if m == "shared::cluster" {
				x.fail("%s on .shared::cluster is not modelled: clusters", x.in.Op)
			}
			x.mods = append(x.mods[:i:i], x.mods[i+1:]...)
			return base
		}
	}
	return ""
}

// takeMemOrder uses up cache, order, scope and eviction hints and says whether the access must not be served by L1.
func (x *expander) takeMemOrder() (strong bool) {
	for x.take("volatile", "relaxed", "acquire", "release", "acq_rel", "cv", "mmio", "sc") != "" {
		strong = true
	}
	x.drop("weak", "cta", "cluster", "gpu", "sys", "gl", "ca", "cg", "cs", "lu", "wb", "wt", "unified", "noftz")
	x.dropPrefix("L1::", "L2::", "level::")
	return strong
}

// takeVector uses up .v2, .v4 or .v8.
func (x *expander) takeVector() int {
	switch x.take("v2", "v4", "v8") {
	case "v2":
		return 2
	case "v4":
		return 4
	case "v8":
		return 8
	}
	return 1
}

// loadOp and storeOp are the opcodes of a state space on the target.
func (x *expander) loadOp(space string) isa.Op {
	switch {
	case space == "shared":
		return isa.OpLDS
	case space == "local":
		return isa.OpLDL
	case space == "global" && x.t().Has(isa.OpSTG):
		return isa.OpLDG
	case space == "global" && x.t().Has(isa.OpLDG) && x.in.Has("nc"):
		return isa.OpLDG
	}
	return isa.OpLD
}

func (x *expander) storeOp(space string) isa.Op {
	switch {
	case space == "shared":
		return isa.OpSTS
	case space == "local":
		return isa.OpSTL
	case space == "global" && x.t().Has(isa.OpSTG):
		return isa.OpSTG
	}
	return isa.OpST
}

// accessMod is the size, extension and address width of an access of n bytes of type t. Generic and global
// addresses are 64 bits wide when the module says so.
func (x *expander) accessMod(t vtype, bytes int, space string) isa.Mod {
	m := isa.Mod{Size: uint8(bytes), Type: t.machine()}
	if space == "local" {
		x.f.localWidths |= max(1, t.bits/8)
	}
	if t.bits >= 32 || t.float() && t.bits == 32 {
		m.Type = isa.TypeNone
	}
	if t.float() && t.bits == 16 {
		m.Type = isa.U16
	}
	if space != "shared" && space != "local" && x.f.m.AddressSize == 64 {
		m.Flags |= isa.ModE64
	}
	return m
}

// ruleLd is ld, ldu and ld.nc.
func ruleLd(x *expander) {
	space := x.takeSpace()
	strong := x.takeMemOrder()
	nc := x.has("nc")
	n := x.takeVector()
	t := x.typ(memTypes)
	x.drop("relaxed")
	if x.err != nil {
		return
	}
	if len(x.in.Args) == 3 { // a cache policy
		x.in.Args = x.in.Args[:2]
	}
	if !x.args(2, 2) {
		return
	}
	elems := x.dstVec(0, t.name)
	if len(elems) != n {
		x.fail("%s names %d registers for .v%d", x.in.Op, len(elems), n)
		return
	}
	bytes := max(1, t.bits/8)
	addr, named := x.mem(1, space)
	if named != "" {
		space = named
	}
	if addr.Kind == isa.KindConst && addr.Reg == isa.RZ && addr.Imm%int64(min(bytes, 4)) != 0 {
		x.fail("the address of %s is no multiple of %d bytes", x.in.Name(), min(bytes, 4))
	}
	if x.err != nil {
		return
	}
	for at := 0; at < n; {
		k := min(n-at, 16/bytes)
		x.loadElems(elems[at:at+k], addr, int64(at*bytes), t, space, strong, nc)
		at += k
	}
}

// memoryAt is the address operand i of an instruction that reads and writes it, or copies: not of constants or parameters.
func (x *expander) memoryAt(i int, space string) (word, string) {
	addr, named := x.mem(i, space)
	if addr.Kind != isa.KindMem && x.err == nil {
		x.fail("operand %d of %s is in .%s memory, which the instruction does not reach", i+1, x.in.Name(), named)
	}
	return addr, named
}

// loadElems loads consecutive elements of at most 16 bytes together with one instruction.
func (x *expander) loadElems(elems [][]word, addr word, off int64, t vtype, space string, strong, nc bool) {
	addr.Imm += off
	bytes := t.bits / 8 * len(elems)
	if addr.Kind == isa.KindConst {
		x.loadConst(elems, addr, t)
		return
	}
	var regs []word
	if len(elems) == 1 {
		regs = elems[0][:typeWords(t.name)]
	} else {
		regs = x.elemRegs(elems, t)
	}
	m := x.accessMod(t, bytes, space)
	if len(elems) > 1 && t.bits < 32 {
		m.Type = isa.TypeNone
		switch bytes {
		case 2:
			m.Type = isa.U16
		case 1:
			m.Type = isa.U8
		}
	}
	if strong {
		m.Flags |= isa.ModStrong
	}
	if nc && x.t().Has(isa.OpLDG) { // printed .CI before Volta; on 3.5 the opcode itself says it
		m.Flags |= isa.ModConstant
	}
	x.emitWide(x.loadOp(space), m, [][]word{regs}, [][]word{{addr}})
	if len(elems) > 1 && t.bits < 32 {
		x.unpackSmall(elems, regs, t)
		return
	}
	x.widenLoaded(elems, t)
}

// elemRegs are the registers that a vector access moves: the elements' own words when they fill registers.
func (x *expander) elemRegs(elems [][]word, t vtype) []word {
	if t.bits < 32 {
		return x.regs((t.bits*len(elems) + 31) / 32)
	}
	var regs []word
	for _, e := range elems {
		regs = append(regs, e[:t.bits/32]...)
	}
	return regs
}

// widenLoaded extends elements whose registers are wider than the loaded type.
func (x *expander) widenLoaded(elems [][]word, t vtype) {
	for _, e := range elems {
		if len(e) > typeWords(t.name) && e[0].Reg != isa.RZ {
			if t.signed() {
				x.signWord(e[1], e[0])
			} else {
				x.mov(e[1], rz)
			}
		}
	}
}

// unpackSmall takes 8- and 16-bit elements of a vector out of the loaded words.
func (x *expander) unpackSmall(elems [][]word, regs []word, t vtype) {
	per := 32 / t.bits
	for i, e := range elems {
		if e[0].Reg == isa.RZ {
			continue
		}
		x.bfe(e[0], regs[i/per], i%per*t.bits, t.bits, t.signed())
	}
	x.widenLoaded(elems, t)
}

// loadConst reads a constant bank: a word at a fixed offset is a move, which later becomes an operand of its
// users; anything else is an LDC.
func (x *expander) loadConst(elems [][]word, addr word, t vtype) {
	for i, e := range elems {
		a := addr
		a.Imm += int64(i * t.bits / 8)
		if t.bits >= 32 && a.Reg == isa.RZ {
			for k := 0; k < t.bits/32; k++ {
				w := a
				w.Imm += int64(4 * k)
				x.mov(e[k], w)
			}
			continue
		}
		m := isa.Mod{Size: uint8(max(1, t.bits/8)), Type: t.machine()}
		if t.bits >= 32 {
			m.Type = isa.TypeNone
		}
		x.emitWide(isa.OpLDC, m, [][]word{e[:typeWords(t.name)]}, [][]word{{a}})
	}
	x.widenLoaded(elems, t)
}

// ruleSt is st.
func ruleSt(x *expander) {
	switch {
	case x.in.Has("async"):
		x.fail("%s is not modelled: clusters", x.in.Name())
		return
	case x.in.Has("bulk"):
		x.fail("%s is not modelled: TMA (bulk and tensor copies)", x.in.Name())
		return
	}
	space := x.takeSpace()
	strong := x.takeMemOrder()
	n := x.takeVector()
	t := x.typ(memTypes)
	if x.err != nil {
		return
	}
	if len(x.in.Args) == 3 {
		x.in.Args = x.in.Args[:2]
	}
	if !x.args(2, 2) {
		return
	}
	elems := x.srcVec(1, t.name)
	if len(elems) != n {
		x.fail("st names %d registers for .v%d", len(elems), n)
		return
	}
	addr, named := x.mem(0, space)
	if named != "" {
		space = named
	}
	if addr.Kind == isa.KindConst {
		x.fail("st cannot write the %s space", space)
		return
	}
	bytes := max(1, t.bits/8)
	for at := 0; at < n; {
		k := min(n-at, 16/bytes)
		a := addr
		a.Imm += int64(at * bytes)
		x.storeElems(elems[at:at+k], a, t, space, strong)
		at += k
	}
}

func (x *expander) storeElems(elems [][]word, addr word, t vtype, space string, strong bool) {
	var regs []word
	switch {
	case len(elems) > 1 && t.bits < 32:
		regs = x.packSmall(elems, t)
	default:
		for _, e := range elems {
			regs = append(regs, e...)
		}
	}
	m := x.accessMod(t, t.bits/8*len(elems), space)
	if len(elems) > 1 && t.bits < 32 {
		m.Type = isa.TypeNone
		if m.Size == 2 {
			m.Type = isa.U16
		}
	}
	if strong {
		m.Flags |= isa.ModStrong
	}
	x.emitWide(x.storeOp(space), m, nil, [][]word{{addr}, regs})
}

// packSmall puts 8- and 16-bit elements of a vector together.
func (x *expander) packSmall(elems [][]word, t vtype) []word {
	var out []word
	per := 32 / t.bits
	for i := 0; i < len(elems); i += per {
		var lanes []word
		for k := i; k < min(i+per, len(elems)); k++ {
			lanes = append(lanes, elems[k][0])
		}
		d := x.reg()
		switch {
		case t.bits == 16:
			x.packLanes(d, lanes, 16)
		case len(lanes) == 2:
			x.prmt(d, lanes[0], imm(0x0040), lanes[1])
		default:
			x.packLanes(d, lanes, 8)
		}
		out = append(out, d)
	}
	return out
}

// ruleCvta converts between generic addresses and those of a window. Global addresses are the generic ones;
// shared and local windows lie at an upper word that a special register gives.
func ruleCvta(x *expander) {
	to := x.has("to")
	space := x.takeSpace()
	t := x.typ("u32 u64")
	if x.err != nil || !x.args(2, 2) {
		return
	}
	if space == "" {
		x.fail("cvta lacks a state space")
		return
	}
	if y := x.scope.lookup(x.f, x.in.Args[1].Name); x.in.Args[1].Kind == ptx.ArgName && y != nil && y.kind != symReg {
		if to {
			x.fail("operand 2 of %s must be a register with a generic address, not %s, which is in its state space already", x.in.Name(), y.name)
			return
		}
		x.checkSpace(&x.in.Args[1], y, space)
	}
	d, a := x.dst(0, t.name), x.src(1, t.name)
	switch {
	case (space == "const" || space == "param") && t.wide():
		base := x.window(space)
		if to {
			x.sub64(asPair(d), asPair(a), base)
		} else {
			x.add64(asPair(d), asPair(a), base)
		}
	case space != "shared" && space != "local":
		x.movWords(d, a)
	case to:
		x.mov(d[0], a[0])
		if len(d) > 1 {
			x.mov(d[1], rz)
		}
	default:
		x.mov(d[0], a[0])
		if len(d) > 1 {
			x.emit(isa.OpS2R, isa.Mod{}, []word{d[1]}, []word{x.windowReg(space)})
		}
	}
}

// windowReg is the special register with the upper word of a window's addresses.
func (x *expander) windowReg(space string) word {
	sr := isa.SRSharedWindow
	if space == "local" {
		sr = isa.SRLocalWindow
	}
	return word{Kind: isa.KindSpecial, Reg: sr}
}

// window is the generic address of the constant variables or of the parameters.
func (x *expander) window(space string) pair {
	at := x.f.windowSlot(int(paramOrConst(space)))
	w := x.inRegs([]word{isa.C(4, at), isa.C(4, at+4)})
	return pair{w[0], w[1]}
}

// ruleIsspacep is isspacep: does a generic address lie in the space.
func ruleIsspacep(x *expander) {
	space := x.take("shared::cluster") // without a cluster the block's own
	if space == "" {
		space = x.takeSpace()
	} else {
		space = "shared"
	}
	if !x.args(2, 2) {
		return
	}
	p := x.predDst(0)
	a := x.dstAllOf(1)
	if len(a) < 2 {
		x.fail("isspacep needs a 64-bit generic address")
		return
	}
	hi := func(s string) word {
		w := x.reg()
		x.emit(isa.OpS2R, isa.Mod{}, []word{w}, []word{x.windowReg(s)})
		return w
	}
	switch space {
	case "shared", "local":
		x.cmp(p, isa.CmpEQ, isa.U32, a[1], hi(space), isa.BoolAnd, pt)
	case "global":
		q := x.test(isa.CmpNE, isa.U32, a[1], hi("shared"))
		x.cmp(p, isa.CmpNE, isa.U32, a[1], hi("local"), isa.BoolAnd, q)
	case "const", "param":
		off := x.sub64(pair{}, asPair(a), x.window(space))
		x.cmp64(p, isa.CmpLT, false, off, pair{imm(windowBytes), rz}, isa.BoolAnd, pt)
	default:
		x.fail("isspacep lacks a state space")
	}
}

// dstAllOf are all words of the register that operand i names.
func (x *expander) dstAllOf(i int) []word { return x.allWords(x.arg(i)) }
