package lower

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// mem gives the address operand i as a machine operand: KindMem, or KindConst for the spaces param and const.
// space is the instruction's state space ("global", "shared", "local", "const", "param", "" for generic).
// The second result is the space of the symbol the address names when the instruction gives none.
func (b *builder) mem(i int, space string) (word, string) {
	a := b.arg(i)
	if y := b.scope.lookup(b.f, a.Name); a.Kind == ptx.ArgName && y != nil && y.kind == symReg {
		b.fail(a.Pos, "the address in a register is written [%s]", a.Name)
	}
	if a.Kind == ptx.ArgName { // some compilers write the bare name of a variable as address
		c := *a
		c.Kind, c.Int = ptx.ArgAddr, 0
		a = &c
	}
	if a.Kind != ptx.ArgAddr {
		b.fail(a.Pos, "an address [base+offset] is needed here")
		return isa.Mem(isa.RZ, 0, false), space
	}
	if a.Name == "" {
		if space != "local" && space != "param" {
			b.fail(a.Pos, "[%d]: only .local memory has fixed addresses", a.Int).Advise("name a variable or a register")
		}
		if space == "const" || space == "param" {
			return isa.C(paramOrConst(space), a.Int), space
		}
		return isa.Mem(isa.RZ, a.Int, false), space
	}
	s := b.scope.lookup(b.f, a.Name)
	if s == nil {
		b.undeclared(a)
		return isa.Mem(isa.RZ, 0, false), space
	}
	if s.kind == symReg {
		words := b.regWords(&ptx.Arg{Pos: a.Pos, Name: a.Name, Member: a.Member}, s, s.typ, max(1, min(2, len(s.words))))
		b.checkAddressRegister(a, s)
		if space == "param" && b.inFunction() {
			return b.memAt(words, a.Int, "local"), "local"
		}
		if space == "const" || space == "param" {
			w := words[0]
			return word{Kind: isa.KindConst, Bank: paramOrConst(space), Reg: w.Reg, Imm: a.Int}, space
		}
		return b.memAt(words, a.Int, space), space
	}
	b.checkSpace(a, s, space)
	switch s.kind {
	case symParam:
		if len(s.words) > 0 {
			b.fail(a.Pos, "%s is a parameter in registers", a.Name)
			return rz, space
		}
		return isa.C(0, int64(b.t().ParamBase)+s.offset+a.Int), "param"
	case symConst:
		return isa.C(3, s.offset+a.Int), "const"
	case symShared:
		if b.sm() >= 90 { // the place of the variable is part of the instruction
			off := s.offset
			if off < 0 {
				off = dynamicShared
			}
			return b.memAt([]word{b.sharedWindow(rz)}, off+a.Int, "shared"), "shared"
		}
		return b.memAt([]word{b.sharedAddress(s)}, a.Int, "shared"), "shared"
	case symLocal:
		return b.memAt([]word{b.localAddress(s)}, a.Int, "local"), "local"
	case symGlobal:
		return b.memAt(b.addressOf(&ptx.Arg{Pos: a.Pos, Name: a.Name}, s, 2), a.Int, "global"), "global"
	}
	b.fail(a.Pos, "%s has no address", a.Name)
	return rz, space
}

// checkSpace: an instruction with a state space takes the address of a variable there, one without does not reach parameters.
func (b *builder) checkSpace(a *ptx.Arg, s *symbol, space string) {
	own := map[symKind]string{symParam: "param", symConst: "const", symShared: "shared", symLocal: "local", symGlobal: "global"}[s.kind]
	if own == "" || own == space || space == "" && own != "param" || s.kind == symLocal && space == "param" {
		return
	}
	if own == "param" && b.in.Op != "ld" && b.in.Op != "st" {
		return // memoryAt knows
	}
	b.fail(a.Pos, "%s is in .%s memory, which %s does not reach", a.Name, own, b.in.Name()).Advise("write %s.%s", b.in.Op, own)
}

// checkAddressRegister: registers of integers and of bits hold addresses.
func (b *builder) checkAddressRegister(a *ptx.Arg, s *symbol) {
	if s.pred {
		b.fail(a.Pos, "predicate %s used as address", a.Name)
	}
	if valueTypes[s.typ].float() {
		b.fail(a.Pos, "%s, declared .%s, used as address", a.Name, s.typ)
	}
}

// paramOrConst is the constant bank of kernel parameters or of constant variables.
func paramOrConst(space string) uint8 {
	if space == "param" {
		return 0
	}
	return 3
}

// memAt is the address words + off. Shared and local addresses use the low word only.
func (b *builder) memAt(words []word, off int64, space string) word {
	if space == "shared" || space == "local" {
		words = words[:1]
	}
	if len(words) == 1 {
		w := words[0]
		switch w.Kind {
		case isa.KindImm:
			if w.Imm != dynamicShared { // which resolveShared replaces
				w.Imm = int64(uint32(w.Imm))
			}
			return isa.Mem(isa.RZ, w.Imm+off, false)
		case isa.KindReg:
			return isa.Mem(w.Reg, off, false)
		}
		r := b.reg()
		b.mov(r, w)
		return isa.Mem(r.Reg, off, false)
	}
	for i, w := range words {
		if w.Kind != isa.KindReg {
			r := b.reg()
			b.mov(r, w)
			words[i] = r
		}
	}
	o := b.tupleSrc(words)
	m := isa.Mem(o.Reg, off, true)
	m.Flags |= flagPair
	return m
}

// sharedAddress is the address of a shared variable in the shared window.
func (b *builder) sharedAddress(s *symbol) word {
	off := isa.I(uint32(s.offset))
	if s.offset < 0 { // dynamic; resolved when the static variables are placed
		off.Imm = dynamicShared
	}
	if b.sm() >= 90 {
		return b.sharedWindow(off)
	}
	if s.offset == 0 {
		return rz
	}
	return off
}

// sharedWindow is the address off bytes behind the first one that programs have in shared memory, from compute capability 9.0 on.
// There the window of a block in a cluster starts at its rank shifted by 24 bits, and the compiler adds it.
func (b *builder) sharedWindow(off word) word {
	rank, base, d := b.reg(), b.reg(), b.reg()
	g := b.guard
	b.guard = word{}
	b.emit(isa.OpS2R, isa.Mod{}, []word{rank}, []word{{Kind: isa.KindSpecial, Reg: isa.SRCgaCtaID}})
	b.emit(isa.OpMOV, isa.Mod{Flags: modKeep}, []word{base}, []word{imm(systemShared)})
	if !isZero(off) {
		start := b.reg()
		b.emitAdd(start, base, off)
		base = start
	}
	b.emit(isa.OpLEA, isa.Mod{}, []word{d}, []word{rank, base, imm(24)})
	b.guard = g
	return d
}

// systemShared is the part of a block's shared memory, in bytes, that the system takes from compute capability 9.0 on. The compiler
// keeps it in a register, apart from the place of the variable.
const systemShared = 0x400

// sharedStart is the address of the first byte that programs have in shared memory.
func (f *fn) sharedStart() int64 {
	if f.t.SM < 90 {
		return 0
	}
	return systemShared
}

// dynamicShared marks an immediate that stands for the first byte behind the static shared variables.
const dynamicShared = int64(1) << 40

// stackReg is the register that holds the stack pointer.
const stackReg isa.Reg = 1

// stackBase is the base register of local variables and spills: RZ on the first generation, which has no stack pointer.
func (f *fn) stackBase() isa.Reg {
	if f.t.SM < 20 {
		return isa.RZ
	}
	return stackReg
}

// localAddress is the address of a local variable in the thread's local memory.
func (b *builder) localAddress(s *symbol) word {
	if b.sm() < 20 {
		return immWord(uint32(s.offset))
	}
	d := b.reg()
	g := b.guard
	b.guard = word{}
	b.emitAdd(d, isa.R(stackReg), imm(uint32(s.offset)))
	b.guard = g
	return d
}

// emitAdd emits d = x + y with the target's plain add.
func (b *builder) emitAdd(d, x, y word) {
	if b.t().Has(isa.OpIADD3) && b.sm() >= 70 {
		b.emit(isa.OpIADD3, isa.Mod{}, []word{d}, []word{x, y, rz})
		return
	}
	b.emit(isa.OpIADD, isa.Mod{}, []word{d}, []word{x, y})
}

// addressOf gives the address of a variable as n words, as "mov" reads it: an offset for shared, local and
// constant variables, a virtual address for global ones.
func (b *builder) addressOf(a *ptx.Arg, s *symbol, n int) []word {
	var lo, hi word = rz, rz
	switch s.kind {
	case symShared:
		lo = b.sharedAddress(s)
	case symLocal:
		lo = b.localAddress(s)
	case symConst:
		lo = immWord(uint32(s.offset))
	case symGlobal:
		lo, hi = isa.C(4, s.offset), isa.C(4, s.offset+4)
	case symFunc:
		at := b.f.functionSlot(s.fn)
		lo, hi = isa.C(4, at), isa.C(4, at+4)
	case symParam:
		if s.words != nil {
			b.fail(a.Pos, "the address of %s, a parameter in registers, is not modelled", a.Name)
			break
		}
		lo = immWord(b.t().ParamBase + uint32(s.offset)) // in constant bank 0, where ld.param reads
	default:
		b.fail(a.Pos, "%s is no data operand", a.Name)
	}
	out := []word{lo, hi}
	for len(out) < n {
		out = append(out, rz)
	}
	return out[:n]
}

// Special registers that are one S2R.
var specialRegs = map[string]isa.SpecialReg{
	"%laneid": isa.SRLaneID, "%warpid": isa.SRWarpID, "%nwarpid": isa.SRNWarpID, "%smid": isa.SRSMID, "%nsmid": isa.SRNSMID,
	"%lanemask_eq": isa.SREqMask, "%lanemask_lt": isa.SRLtMask, "%lanemask_le": isa.SRLeMask,
	"%lanemask_gt": isa.SRGtMask, "%lanemask_ge": isa.SRGeMask,
	"%clock": isa.SRClockLo, "%clock_hi": isa.SRClockHi, "%globaltimer_lo": isa.SRGlobalTimerLo, "%globaltimer_hi": isa.SRGlobalTimerHi,
	"%dynamic_smem_size": isa.SRDynamicSharedSize, "%total_smem_size": isa.SRSharedSize, "%aggr_smem_size": isa.SRSharedSize,
	"%cluster_ctarank": isa.SRCgaCtaID,
}

// specialValue reads a special register; ok is false when the name is none.
func (b *builder) specialValue(a *ptx.Arg, n int) ([]word, bool) {
	if !strings.HasPrefix(a.Name, "%") {
		return nil, false
	}
	name, member := a.Name, a.Member
	if k := strings.LastIndexByte(name, '.'); k > 0 && member == "" {
		name, member = name[:k], name[k+1:]
	}
	var w []word
	axis := memberIndex(member)
	switch name {
	case "%tid", "%ctaid", "%ntid", "%nctaid":
		if axis < 0 || axis > 3 {
			b.fail(a.Pos, "%s needs .x, .y or .z", name)
			axis = 0
		}
		if axis == 3 {
			w = []word{rz}
			break
		}
		switch name {
		case "%tid":
			w = []word{b.s2r(isa.SRTidX + isa.SpecialReg(axis))}
		case "%ctaid":
			w = []word{b.s2r(isa.SRCtaidX + isa.SpecialReg(axis))}
		case "%ntid":
			w = []word{b.dimWord(b.t().BlockDimBase, isa.SRNtidX, axis)}
		case "%nctaid":
			w = []word{b.dimWord(b.t().GridDimBase, isa.SRNctaidX, axis)}
		}
	case "%gridid":
		w = []word{b.s2r(isa.SRGridID)}
	case "%clock64":
		w = b.clockPair(isa.SRClockLo, isa.SRClockHi)
	case "%globaltimer":
		w = b.clockPair(isa.SRGlobalTimerLo, isa.SRGlobalTimerHi)
	case "%clusterid", "%cluster_ctaid":
		if axis == 0 && name == "%clusterid" {
			w = []word{b.s2r(isa.SRCtaidX)}
		} else {
			w = []word{rz}
		}
	case "%nclusterid":
		w = []word{b.dimWord(b.t().GridDimBase, isa.SRNctaidX, max(axis, 0))}
	case "%cluster_nctaid", "%cluster_nctarank":
		w = []word{imm(1)}
	// No cluster, no graph, and shared addresses begin at 0: nothing is reserved for the system.
	case "%is_explicit_cluster", "%current_graph_exec", "%reserved_smem_offset_begin", "%reserved_smem_offset_end",
		"%reserved_smem_offset_cap", "%reserved_smem_offset_0", "%reserved_smem_offset_1":
		w = []word{rz}
	default:
		if sr, ok := specialRegs[name]; ok {
			w = []word{b.s2r(sr)}
			break
		}
		if num, found := strings.CutPrefix(name, "%envreg"); found {
			if k, err := strconv.Atoi(num); err == nil && k >= 0 && k < 32 {
				w = []word{b.s2r(isa.SREnvReg + isa.SpecialReg(k))}
				break
			}
		}
		return nil, false
	}
	for len(w) < n {
		w = append(w, rz)
	}
	return w[:n], true
}

// performanceMonitor are special registers that count what the driver has set up.
var performanceMonitor = regexp.MustCompile(`^%pm[0-7](_64)?$`)

// undeclared says that nothing has the name.
func (b *builder) undeclared(a *ptx.Arg) {
	switch {
	case performanceMonitor.MatchString(a.Name):
		b.fail(a.Pos, "special register %s is not modelled: performance counters", a.Name)
	case ptx.IsSpecial(a.Name):
		b.fail(a.Pos, "special register %s cannot stand here", specialName(a)).Advise("only mov and cvt read special registers, and nothing writes them")
	default:
		b.fail(a.Pos, "%q is not declared", a.Name)
	}
}

// dimWord is a word of blockDim or gridDim: in constant bank 0, on the first generation in a special register.
func (b *builder) dimWord(base uint32, sr isa.SpecialReg, axis int) word {
	if b.sm() < 20 {
		return b.s2r(sr + isa.SpecialReg(axis))
	}
	return isa.C(0, int64(base)+int64(4*axis))
}

func (b *builder) s2r(sr isa.SpecialReg) word {
	d := b.reg()
	op, mod := isa.OpS2R, isa.Mod{}
	if sr == isa.SRClockLo && b.t().Has(isa.OpCS2R) && b.sm() >= 70 {
		op, mod.Flags = isa.OpCS2R, isa.Mod32
	}
	b.emit(op, mod, []word{d}, []word{{Kind: isa.KindSpecial, Reg: sr}})
	return d
}

// clockPair reads a 64-bit counter; CS2R reads both words at once from Volta on.
func (b *builder) clockPair(lo, hi isa.SpecialReg) []word {
	w := b.regs(2)
	if b.sm() >= 70 && lo == isa.SRClockLo {
		b.emitWide(isa.OpCS2R, isa.Mod{Flags: isa.ModWide}, [][]word{w}, [][]word{{{Kind: isa.KindSpecial, Reg: lo}}})
		return w
	}
	for i, sr := range []isa.SpecialReg{lo, hi} {
		b.emit(isa.OpS2R, isa.Mod{}, []word{w[i]}, []word{{Kind: isa.KindSpecial, Reg: sr}})
	}
	return w
}
