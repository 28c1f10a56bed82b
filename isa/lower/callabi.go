package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// The standard way of calling, for functions whose address is taken or that reach themselves, read off ptxas 13.0's code:
//
//   - Parameters are in R4 to R15, each at a multiple of its alignment, results in R4 and up. What does not fit lies below the
//     caller's stack pointer, at the top of the callee's frame.
//   - From Volta on R20 and R21 hold the return address; before, the hardware keeps it.
//   - The callee keeps R2, R16 to R19, R22 to R31, and of the registers above those whose number has bit 2 set. It may write all
//     other general registers and all predicates.
//   - The callee keeps convergence barriers B6 and up: who calls keeps its lanes together with those, a function without calls
//     with the ones below.
//   - The stack pointer R1 goes down by the callee's frame, and up again before RET.
const (
	firstPassed  = 4  // register of the first parameter and result
	lastPassed   = 15 // register of the last one
	returnReg    = 20 // and the next: return address
	firstKeptBar = 6  // convergence barrier
)

// keptByCallee says that a function keeps general register r, other than the return address.
func (f *fn) keptByCallee(r int) bool {
	switch {
	case r == 2:
		return true
	case r < 16:
		return false
	case f.t.SM >= 70 && (r == returnReg || r == returnReg+1):
		return false
	case r < 32:
		return true
	}
	return r&4 != 0
}

// passedAt says where the words of parameters or results are: registers, or -1, and then the offset on the stack.
type passedAt struct {
	vars   []*ptx.Var
	regs   [][]int
	offset [][]int64
	bytes  int64 // of the stack, from the parameters on
}

// placeWords gives the words of variables registers, and stack places from byte at on.
func placeWords(vars []*ptx.Var, at int64) passedAt {
	p := passedAt{vars: vars}
	next := firstPassed
	for _, v := range vars {
		words := passWords(v)
		align := int(max(1, min(varAlign(v), 16)/4))
		first := (next + align - 1) / align * align
		fits := first+words-1 <= lastPassed
		if fits {
			next = first + words
		} else {
			at = alignUp(at, int64(4*align))
		}
		var regs []int
		var offset []int64
		for k := range words {
			if fits {
				regs, offset = append(regs, first+k), append(offset, 0)
				continue
			}
			regs, offset = append(regs, -1), append(offset, at)
			at += 4
		}
		p.regs, p.offset = append(p.regs, regs), append(p.offset, offset)
	}
	p.bytes = at
	return p
}

// signature is where parameters and results of a standard call are.
type signature struct {
	params, results passedAt
	bytes           int64 // of the stack
}

func signatureOf(params, returns []*ptx.Var) signature {
	s := signature{params: placeWords(params, 0)}
	s.results = placeWords(returns, s.params.bytes)
	s.bytes = alignUp(s.results.bytes, 16)
	return s
}

// machineReg is a virtual register that gets physical register r.
func (f *fn) machineReg(r int) isa.Reg {
	for v, c := range f.fixed {
		if c == r {
			return v
		}
	}
	if f.fixed == nil {
		f.fixed = map[isa.Reg]int{}
	}
	v := f.newReg()
	f.fixed[v] = r
	return v
}

// give moves the words of a value to where they are passed: base is the stack offset of the area.
func (b *builder) give(regs []int, offset []int64, base int64, words []word) []isa.Reg {
	var used []isa.Reg
	for k, r := range regs {
		w := words[k]
		if r < 0 {
			b.stackStore(base+offset[k], w)
			continue
		}
		if w.Kind == isa.KindPred {
			t := b.reg()
			b.emit(isa.OpSEL, isa.Mod{}, []word{t}, []word{rz, imm(1), flipped(w)})
			w = t
		}
		v := b.f.machineReg(r)
		b.emit(isa.OpMOV, isa.Mod{Size: sizePass}, []word{isa.R(v)}, []word{w})
		used = append(used, v)
	}
	return used
}

// take copies the words of a value from where they are passed.
func (b *builder) take(regs []int, offset []int64, base int64, words []word) {
	for k, w := range words[:min(len(words), len(regs))] {
		if regs[k] < 0 {
			b.stackLoad(w, base+offset[k])
			continue
		}
		v := isa.R(b.f.machineReg(regs[k]))
		if w.Kind == isa.KindPred {
			t := b.reg()
			b.emit(isa.OpMOV, isa.Mod{Size: sizePass, Flags: modOpaque}, []word{t}, []word{v})
			b.emit(isa.OpISETP, isa.Mod{Type: isa.S32, Cmp: isa.CmpNE}, []word{w, pt}, []word{t, rz, pt})
			continue
		}
		b.emit(isa.OpMOV, isa.Mod{Size: sizePass, Flags: modOpaque}, []word{w}, []word{v})
	}
}

// standardCall emits a call in the standard way: by name, or with target through a register.
func (c *compiler) standardCall(in *ptx.Instr, fu *ptx.Func, target word, params, returns []*ptx.Var) {
	b, f := c.b, c.f
	if f.t.SM < 20 {
		b.errorf("%s has no stack: recursion and calls through pointers need sm_20", f.t.Name)
		return
	}
	if len(in.CallArgs) != len(params) || len(in.CallRet) > len(returns) {
		b.errorf("the function takes %d arguments and returns %d values", len(params), len(returns))
		return
	}
	s := signatureOf(params, returns)
	site := &callSite{unit: -1, standard: true}
	for i, v := range params {
		words := b.argWords(&in.CallArgs[i], v)
		if len(words) < len(s.params.regs[i]) {
			b.errorf("argument for %s is too small", v.Name)
			return
		}
		site.uses = append(site.uses, b.give(s.params.regs[i], s.params.offset[i], -s.bytes, words)...)
	}
	for _, regs := range s.results.regs {
		for _, r := range regs {
			if r >= 0 {
				site.defs = append(site.defs, f.machineReg(r))
			}
		}
	}
	f.realCalls, f.localAlign = true, max(f.localAlign, 16) // frames below this one hold aligned values
	if fu != nil {
		n := f.unitOf(fu)
		if f.link.calls[f.unit] == nil {
			f.link.calls[f.unit] = map[int]bool{}
		}
		f.link.calls[f.unit][n] = true
		b.emit(isa.OpCALL, isa.Mod{}, nil, []word{{Kind: isa.KindLabel, Imm: unitMark + int64(n)}, f.siteOperand(site)})
	} else {
		f.link.pointer[f.unit] = true
		b.emit(isa.OpCALL, isa.Mod{}, nil, []word{target, f.siteOperand(site)})
	}
	for i := range in.CallRet {
		b.take(s.results.regs[i], s.results.offset[i], -s.bytes, b.argWords(&in.CallRet[i], returns[i]))
	}
}

// standardBody translates a function that is called in the standard way.
func (c *compiler) standardBody(inner *scope) {
	f, b := c.f, c.b
	f.localAlign = 16
	s := signatureOf(f.src.Params, f.src.Returns)
	f.incoming = s.bytes
	for _, list := range [][]*ptx.Var{f.src.Params, f.src.Returns} {
		for _, v := range list {
			if err := inner.declare(f, v); err != nil {
				c.report(c.f.m.Errorf(v.Pos, "", "%v", err))
				return
			}
		}
	}
	for i, v := range f.src.Params {
		if mentions(f.src.Body, v.Name) {
			b.take(s.params.regs[i], s.params.offset[i], incomingMark, c.symWords(inner.names[v.Name]))
		}
	}
	c.functionBody(inner)
	site := &callSite{unit: -1, standard: true}
	for i, v := range f.src.Returns {
		words := c.symWords(inner.names[v.Name])
		n := min(len(words), len(s.results.regs[i]))
		site.uses = append(site.uses, b.give(s.results.regs[i][:n], s.results.offset[i][:n], incomingMark, words)...)
	}
	b.emit(isa.OpRET, isa.Mod{}, nil, []word{f.siteOperand(site)})
}

// returnPair is the registers of the return address in the standard way of calling.
func (f *fn) returnPair() []isa.Reg {
	pair := []isa.Reg{f.machineReg(returnReg), f.machineReg(returnReg + 1)}
	if f.tuples[pair[0]] == nil {
		f.setTuple(pair)
	}
	return pair
}

// keptColours is the general registers that the unit's code writes and its caller expects to find as they were.
func (f *fn) keptColours() []int {
	written := [256]bool{}
	var regs []int16
	for _, b := range f.blocks {
		for i := range b.insts {
			regs = appendDefs(regs[:0], &b.insts[i])
			for _, r := range regs {
				if r < int16(isa.RZ) {
					written[r] = true
				}
			}
		}
	}
	var list []int
	for r, w := range written {
		kept := f.keptByCallee(r) || f.realCalls && f.t.SM >= 70 && (r == returnReg || r == returnReg+1)
		if w && kept && r != int(stackReg) {
			list = append(list, r)
		}
	}
	return list
}

// keepRegisters stores, at the start of a function that is called in the standard way, the registers that it must keep, and loads
// them before it returns. Registers are allocated already.
func (f *fn) keepRegisters() {
	if f.unit == 0 {
		return
	}
	list := f.keptColours()
	if len(list) == 0 {
		return
	}
	f.localMem = alignUp(f.localMem, 4)
	base := f.localMem
	f.localMem += int64(4 * len(list))
	var store []isa.Inst
	pos := isa.SourcePos{CUFile: -1}
	for k := len(list) - 1; k >= 0; k-- {
		store = append(store, f.spillStore(isa.Reg(list[k]), base+int64(4*k), pos))
	}
	first := f.blocks[0]
	if len(first.preds) > 0 { // the function starts with a loop
		first = &block{}
		f.blocks = append([]*block{first}, f.blocks...)
	}
	first.insts = append(store, first.insts...)
	for _, b := range f.blocks {
		n := len(b.insts) - 1
		if n < 0 || b.insts[n].Op != isa.OpRET {
			continue
		}
		if s := f.site(&b.insts[n]); s == nil || !s.standard {
			continue
		}
		ret := b.insts[n]
		b.insts = b.insts[:n:n]
		for k, r := range list {
			b.insts = append(b.insts, f.spillLoad(isa.Reg(r), base+int64(4*k), pos))
		}
		b.insts = append(b.insts, ret)
	}
	f.edges()
}

// keepBarriers saves the convergence barriers that a function with calls uses and its caller may have set, in registers.
func (f *fn) keepBarriers() {
	if f.unit == 0 || f.t.SM < 70 {
		return
	}
	var used [barrierRegs]bool
	for _, b := range f.blocks {
		for i := range b.insts {
			if in := &b.insts[i]; in.Op == isa.OpBSSY {
				used[in.Dst[0].Reg] = true
			}
		}
	}
	pos := isa.SourcePos{CUFile: -1}
	var save, restore []isa.Inst
	for k := firstKeptBar; k < barrierRegs; k++ {
		if !used[k] {
			continue
		}
		barrier := isa.Operand{Kind: isa.KindBarrier, Reg: isa.Reg(k)}
		home := isa.R(f.newReg())
		in := isa.Inst{Op: isa.OpBMOV, Mod: isa.Mod{Flags: isa.ModClear}, NDst: 1, NSrc: 1, Pos: pos}
		in.Dst[0], in.Src[0] = home, barrier
		save = append(save, in)
		out := isa.Inst{Op: isa.OpBMOV, NDst: 1, NSrc: 1, Pos: pos}
		out.Dst[0], out.Src[0] = barrier, home
		restore = append(restore, out)
	}
	if len(save) == 0 {
		return
	}
	start := &block{insts: save}
	f.blocks = append([]*block{start}, f.blocks...)
	for _, b := range f.blocks {
		if n := len(b.insts) - 1; n >= 0 && b.insts[n].Op == isa.OpRET {
			if s := f.site(&b.insts[n]); s != nil && s.standard {
				b.insts = append(append(b.insts[:n:n], restore...), b.insts[n])
			}
		}
	}
	f.edges()
	f.order()
	f.dominators()
	f.findLoops()
}
