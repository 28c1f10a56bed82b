package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// call calls a device function. Before Fermi, which has no stack, its body takes the place of the call.
func (c *compiler) call(in *ptx.Instr, s *scope) {
	b := c.b
	if len(in.Args) == 0 || in.Args[0].Kind != ptx.ArgName {
		b.errorf("call needs the name of a function")
		return
	}
	y := s.lookup(c.f, in.Args[0].Name)
	switch {
	case y == nil:
		b.errorf("function %s is not declared", in.Args[0].Name)
		return
	case y.kind == symReg && !y.pred:
		c.indirectCall(in, s)
		return
	case y.kind != symFunc:
		b.errorf("%s is no function", in.Args[0].Name)
		return
	case y.fn.Body == nil:
		if !c.driverCall(in, y.fn) {
			b.errorf("function %s has no body in this file", y.name).Advise(linkHint)
		}
		return
	}
	if len(in.CallArgs) != len(y.fn.Params) || len(in.CallRet) > len(y.fn.Returns) {
		b.errorf("%s takes %d arguments and returns %d values", y.name, len(y.fn.Params), len(y.fn.Returns))
		return
	}
	var after *block
	if b.guard.Kind != isa.KindNone {
		after = b.newBlock()
		b.branch(notP(b.guard), after, in.Has("uni"))
		b.guard = word{}
	}
	switch {
	case c.f.link.standard(c.f.m, y.fn):
		c.standardCall(in, y.fn, word{}, y.fn.Params, y.fn.Returns)
	case c.f.t.SM < 20:
		c.inline(in, y.fn, s)
	default:
		c.callByName(in, y.fn)
	}
	if after != nil {
		b.place(after)
	}
}

// callByName calls a private function: its parameters and results go through registers.
func (c *compiler) callByName(in *ptx.Instr, fu *ptx.Func) {
	b := c.b
	n := c.f.unitOf(fu)
	var args []word
	for i, v := range fu.Params {
		words, want := b.argWords(&in.CallArgs[i], v), passWords(v)
		if len(words) < want {
			b.errorf("argument for %s is too small", v.Name)
			return
		}
		args = append(args, words[:want]...)
	}
	results := make([]word, 0, len(c.f.link.units[n].own.results))
	for i := range in.CallRet {
		words, want := b.argWords(&in.CallRet[i], fu.Returns[i]), passWords(fu.Returns[i])
		for k := range want {
			if k < len(words) {
				results = append(results, words[k])
			} else {
				results = append(results, word{})
			}
		}
	}
	b.callPrivate(n, args, results)
}

// passWords is the number of registers that a parameter or result needs.
func passWords(v *ptx.Var) int {
	return int(max(alignUp(varSize(v), 4)/4, 1))
}

// inline translates the function's body in place of its call.
func (c *compiler) inline(in *ptx.Instr, fu *ptx.Func, s *scope) {
	b := c.b
	module := s
	for module.parent != nil {
		module = module.parent
	}
	inner := newScope(module)
	for i, v := range fu.Params {
		if err := inner.declare(c.f, v); err != nil {
			b.errorf("%v", err)
			return
		}
		c.copyArg(c.symWords(inner.names[v.Name]), b.argWords(&in.CallArgs[i], v), inner.names[v.Name])
	}
	for _, v := range fu.Returns {
		if err := inner.declare(c.f, v); err != nil {
			b.errorf("%v", err)
			return
		}
	}
	saved := *b
	end := b.newBlock()
	b.returnTo, b.calls = end, append(b.calls[:len(b.calls):len(b.calls)], fu.Name)
	b.cc = word{}
	c.keepInMemory(fu.Params, fu.Body, inner)
	c.block(fu.Body, inner)
	cur := b.cur
	failed := b.err
	*b = saved
	b.cur = cur
	if b.err == nil {
		b.err = failed
	}
	b.place(end)
	for i := range in.CallRet {
		ret := inner.names[fu.Returns[i].Name]
		to := b.argWords(&in.CallRet[i], fu.Returns[i])
		c.copyArg(to, c.symWords(ret), ret)
	}
}

// driverCall calls a function that the driver supplies: a failed assertion ends the run as trap does, printf prints nothing and
// gives 0. It reports whether the function is one.
func (c *compiler) driverCall(in *ptx.Instr, fu *ptx.Func) bool {
	b := c.b
	switch fu.Name {
	case "__assertfail":
		b.trap()
	case "vprintf":
		for i := range in.CallRet {
			for _, w := range b.argWords(&in.CallRet[i], fu.Returns[i]) {
				b.mov(w, rz)
			}
		}
		c.f.link.note("printf takes no time and prints nothing")
	default:
		return false
	}
	return true
}

func (c *compiler) symWords(y *symbol) []word {
	var w []word
	for _, r := range y.words {
		if y.pred {
			w = append(w, isa.P(r))
		} else {
			w = append(w, isa.R(r))
		}
	}
	return w
}

// argWords are the words of an actual argument of a call, for the formal parameter v.
func (b *builder) argWords(a *ptx.Arg, v *ptx.Var) []word {
	if a.Kind == ptx.ArgName {
		if y := b.scope.lookup(b.f, a.Name); y != nil && len(y.words) > 0 {
			var w []word
			for _, r := range y.words {
				if y.pred {
					w = append(w, isa.P(r))
				} else {
					w = append(w, isa.R(r))
				}
			}
			return w
		}
	}
	return b.value(a, v.Type)
}

func (c *compiler) copyArg(to, from []word, y *symbol) {
	if len(from) < len(to) {
		if len(from) == 0 {
			c.b.errorf("argument for %s is missing", y.name)
			return
		}
		to = to[:len(from)]
	}
	for i := range to {
		if to[i].Kind == isa.KindPred {
			c.b.movPred(to[i], from[i])
			continue
		}
		c.b.mov(to[i], from[i])
	}
}

// movPred copies a predicate.
func (b *builder) movPred(to, from word) {
	if b.sm() >= 70 {
		b.emit(isa.OpPLOP3, isa.Mod{Lut: 0xf0, Lut2: 0x0f}, []word{to, pt}, []word{from, pt, pt})
		return
	}
	b.emit(isa.OpPSETP, isa.Mod{}, []word{to, pt}, []word{from, pt, pt})
}

// paramAccess lowers ld.param and st.param of parameters that live in registers: those of call sequences and
// of inlined functions. It reports whether the instruction was one.
func (c *compiler) paramAccess(in *ptx.Instr) bool {
	if in.Op != "ld" && in.Op != "st" || len(in.Mods) == 0 || len(in.Args) != 2 {
		return false
	}
	isParam := false
	for _, m := range in.Mods {
		if m == "param" || m == "param::func" {
			isParam = true
		}
	}
	if !isParam {
		return false
	}
	b := c.b
	x := &expander{builder: b}
	ai, di := 1, 0
	if in.Op == "st" {
		ai, di = 0, 1
	}
	a := &in.Args[ai]
	y := b.scope.lookup(c.f, a.Name)
	if y == nil || y.kind != symParam || len(y.words) == 0 {
		return false
	}
	typ := in.Mods[len(in.Mods)-1]
	bits := typeBits(typ)
	if bits < 8 {
		b.errorf("type .%s is not one of memory", typ)
		return true
	}
	off := a.Int
	if a.Kind == ptx.ArgName {
		off = 0
	}
	for _, elem := range b.paramElems(di, typ, in.Op == "ld") {
		if off < 0 || off+int64(bits/8) > int64(4*len(y.words)) {
			b.errorf("offset %d is outside parameter %s", off, y.name)
			return true
		}
		for k := 0; k*32 < bits; k++ {
			home := isa.R(y.words[off/4+int64(k)])
			sub := uint32(off % 4)
			switch {
			case bits >= 32 && in.Op == "ld":
				b.mov(elem[k], home)
				if bits == 32 && len(elem) > 1 { // into a wider register
					hi := rz
					if typ[0] == 's' {
						hi = x.signWord(auto, home)
					}
					b.mov(elem[1], hi)
				}
			case bits >= 32:
				b.mov(home, elem[k])
			case in.Op == "ld":
				sel, signed := 0x4440|sub, typ[0] == 's'
				if bits == 16 {
					sel = 0x4400 | (sub+1)<<4 | sub
				}
				if signed {
					sel = signSelector(sub, bits)
				}
				x.prmt(elem[0], home, imm(sel), rz)
				for _, hi := range elem[1:] {
					b.mov(hi, rz)
				}
			default:
				sel := uint32(0x3210)
				for j := uint32(0); j < uint32(bits/8); j++ {
					sh := 4 * (sub + j)
					sel = sel&^(0xf<<sh) | (4+j)<<sh
				}
				x.prmt(home, home, imm(sel), elem[0])
			}
		}
		off += int64(bits / 8)
	}
	return true
}

// signSelector is a PRMT selector that extends a byte or half at byte sub with its sign.
func signSelector(sub uint32, bits int) uint32 {
	top := sub
	sel := sub
	if bits == 16 {
		top = sub + 1
		sel |= top << 4
	} else {
		sel |= (8 | top) << 4
	}
	return sel | (8|top)<<8 | (8|top)<<12
}

func (b *builder) paramElems(i int, typ string, load bool) [][]word {
	if load {
		return b.dstVec(i, typ)
	}
	return b.srcVec(i, typ)
}
