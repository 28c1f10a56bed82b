package lower

import (
	"fmt"
	"slices"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// A device function is called, as ptxas does it. One that is called by name only, and does not reach itself, is private: it becomes
// part of its caller's code (callmerge.go). Others are called in the standard way and have a stack frame (callabi.go).

// unitInfo is shared by the kernel and the functions compiled on their own.
type unitInfo struct {
	semantics Semantics
	keepLoops bool     // loops of known length are not unrolled
	unrolled  bool     // one was
	pressure  int      // general registers that the units' own orders need
	uniform   bool     // general registers are short: whatever all lanes share goes to uniform ones
	notes     []string // things that a reader of the results should know
	units     []*fn    // kernel first
	byFunc    map[*ptx.Func]int
	slots     map[*ptx.Func]int64  // offset in constant bank 4 of a function's address
	order     []*ptx.Func          // functions whose address is taken, in the order of their first use
	data      []funcAddress        // function addresses in initialised data
	byPointer map[*ptx.Func]bool   // functions that are called in the standard way
	routines  map[routineKey]int   // units of division routines
	calls     map[int]map[int]bool // unit -> units it calls by name
	pointer   map[int]bool         // units with calls through pointers
	emulated  []string             // instructions that ptxas takes for later targets only
}

// funcAddress is the address of a function inside initialised data.
type funcAddress struct {
	fn     *ptx.Func
	global int // index of the global variable, -1: constant bank 3
	offset uint64
	reloc  isa.Reloc // bytes, shift and addend
}

// note adds a note once.
func (u *unitInfo) note(text string) {
	if !slices.Contains(u.notes, text) {
		u.notes = append(u.notes, text)
	}
}

func newUnitInfo() *unitInfo {
	return &unitInfo{byFunc: map[*ptx.Func]int{}, slots: map[*ptx.Func]int64{}, routines: map[routineKey]int{}, calls: map[int]map[int]bool{}, pointer: map[int]bool{}}
}

// standard says that a function is called in the standard way, because its address is taken, it reaches itself, or a function that is
// called so calls it.
func (u *unitInfo) standard(m *ptx.Module, fu *ptx.Func) bool {
	if u.byPointer == nil {
		u.byPointer = map[*ptx.Func]bool{}
		var add func(g *ptx.Func)
		add = func(g *ptx.Func) {
			if g == nil || g.Body == nil || u.byPointer[g] {
				return
			}
			u.byPointer[g] = true
			for _, h := range calledFunctions(m, g.Body) {
				add(h)
			}
		}
		for _, v := range m.Vars {
			for _, e := range v.Init {
				add(functionNamed(m, e.Symbol))
			}
		}
		for _, g := range m.Funcs {
			if g.Body != nil {
				addressesIn(m, g.Body, add)
			}
			if !g.Entry && reachesItself(m, g) {
				add(g)
			}
		}
	}
	return u.byPointer[fu]
}

// addressesIn calls visit for the functions whose address the body takes.
func addressesIn(m *ptx.Module, b *ptx.Block, visit func(g *ptx.Func)) {
	for _, st := range b.Stmts {
		switch x := st.(type) {
		case *ptx.Block:
			addressesIn(m, x, visit)
		case *ptx.Targets:
			for _, name := range x.Names {
				visit(functionNamed(m, name))
			}
		case *ptx.Var:
			for _, e := range x.Init {
				visit(functionNamed(m, e.Symbol))
			}
		case *ptx.Instr:
			list := x.Args
			if x.Op == "call" && len(list) > 0 {
				list = list[1:]
			}
			anyArg(list, func(a *ptx.Arg) bool {
				if a.Kind == ptx.ArgName || a.Kind == ptx.ArgAddr {
					visit(functionNamed(m, a.Name))
				}
				return false
			})
		}
	}
}

// reachesItself says that a function calls itself by name, directly or through others.
func reachesItself(m *ptx.Module, fu *ptx.Func) bool {
	seen := map[*ptx.Func]bool{}
	var reaches func(g *ptx.Func) bool
	reaches = func(g *ptx.Func) bool {
		if seen[g] || g.Body == nil {
			return false
		}
		seen[g] = true
		for _, h := range calledFunctions(m, g.Body) {
			if h == fu || reaches(h) {
				return true
			}
		}
		return false
	}
	return reaches(fu)
}

// calledFunctions are the functions that a body calls by name.
func calledFunctions(m *ptx.Module, b *ptx.Block) []*ptx.Func {
	var out []*ptx.Func
	for _, st := range b.Stmts {
		switch x := st.(type) {
		case *ptx.Block:
			out = append(out, calledFunctions(m, x)...)
		case *ptx.Instr:
			if x.Op == "call" && len(x.Args) > 0 {
				if fu := functionNamed(m, x.Args[0].Name); fu != nil {
					out = append(out, fu)
				}
			}
		}
	}
	return out
}

// functionNamed finds a device function, the definition before a declaration.
func functionNamed(m *ptx.Module, name string) *ptx.Func {
	for _, a := range m.Aliases {
		if a.Name == name {
			name = a.Target
		}
	}
	var found *ptx.Func
	for _, fu := range m.Funcs {
		if !fu.Entry && fu.Name == name && (found == nil || found.Body == nil) {
			found = fu
		}
	}
	return found
}

// unitOf is the number of the unit that a function becomes.
func (f *fn) unitOf(fu *ptx.Func) int {
	u := f.link
	if n, ok := u.byFunc[fu]; ok {
		return n
	}
	g := f.newUnit(fu)
	u.byFunc[fu] = g.unit
	if f.t.SM >= 20 && !u.standard(f.m, fu) {
		g.own = &convention{}
		for _, v := range fu.Params {
			for range passWords(v) {
				r := isa.Reg(0)
				if mentions(fu.Body, v.Name) {
					r = g.newReg()
				}
				g.own.params = append(g.own.params, r)
			}
		}
		for _, v := range fu.Returns {
			for range passWords(v) {
				g.own.results = append(g.own.results, g.newReg())
			}
		}
	}
	return g.unit
}

// newUnit adds a unit for the function.
func (f *fn) newUnit(fu *ptx.Func) *fn {
	u := f.link
	g := newFn(f.t, f.m, fu)
	g.link, g.unit, g.opaqueMoves = u, len(u.units), f.opaqueMoves
	u.units = append(u.units, g)
	return g
}

// mentions says that an instruction of the body names the variable.
func mentions(b *ptx.Block, name string) bool {
	named := func(a *ptx.Arg) bool { return a.Name == name }
	for _, st := range b.Stmts {
		switch x := st.(type) {
		case *ptx.Block:
			if mentions(x, name) {
				return true
			}
		case *ptx.Instr:
			for _, list := range [][]ptx.Arg{x.Args, x.CallArgs, x.CallRet} {
				if anyArg(list, named) {
					return true
				}
			}
			if x.Guard != nil && x.Guard.Name == name {
				return true
			}
		}
	}
	return false
}

// anyArg says that one of the arguments, or of their elements, is what is looked for.
func anyArg(list []ptx.Arg, is func(a *ptx.Arg) bool) bool {
	for i := range list {
		if is(&list[i]) || anyArg(list[i].Elems, is) {
			return true
		}
	}
	return false
}

// functionSlot is the offset in constant bank 4 of the function's address.
func (f *fn) functionSlot(fu *ptx.Func) int64 {
	u := f.link
	if at, ok := u.slots[fu]; ok {
		return at
	}
	at := int64(len(f.bank4))
	f.bank4 = append(f.bank4, make([]byte, 8)...)
	u.slots[fu] = at
	u.order = append(u.order, fu)
	f.unitOf(fu)
	return at
}

// functionInData notes the address of a symbol in the initial data of a variable and reports whether it is one of a function.
// global is the variable's index, -1 for constant bank 3; at is where its data starts there.
func (f *fn) functionInData(r isa.Reloc, global int, at int64) bool {
	fu := functionNamed(f.m, r.Symbol)
	if fu == nil {
		return false
	}
	f.functionSlot(fu)
	f.link.data = append(f.link.data, funcAddress{fn: fu, global: global, offset: uint64(at) + r.Offset, reloc: r})
	return true
}

// incomingMark stands for the distance from a callee's stack pointer to its parameters until its frame is known.
const incomingMark = int64(1) << 36

// stackStore and stackLoad move a word to and from the stack.
func (b *builder) stackStore(at int64, w word) {
	if w.Kind == isa.KindPred {
		r := b.reg()
		b.emit(isa.OpSEL, isa.Mod{}, []word{r}, []word{rz, imm(1), flipped(w)})
		w = r
	} else if w.Kind != isa.KindReg || w.Flags != 0 {
		r := b.reg()
		b.mov(r, w)
		w = r
	}
	b.emit(isa.OpSTL, isa.Mod{Size: 4, Type: isa.U32}, nil, []word{isa.Mem(stackReg, at, false), w})
}

func (b *builder) stackLoad(w word, at int64) {
	mod, from := isa.Mod{Size: 4, Type: isa.U32}, isa.Mem(stackReg, at, false)
	if w.Kind == isa.KindPred {
		r := b.reg()
		b.emit(isa.OpLDL, mod, []word{r}, []word{from})
		b.emit(isa.OpISETP, isa.Mod{Type: isa.S32, Cmp: isa.CmpNE}, []word{w, pt}, []word{r, rz, pt})
		return
	}
	b.emit(isa.OpLDL, mod, []word{w}, []word{from})
}

// flipped is a predicate with its sense changed.
func flipped(w word) word { w.Flags ^= isa.Neg; return w }

// indirectCall is a call through a register, with the signature of a .callprototype or of the first .calltargets.
func (c *compiler) indirectCall(in *ptx.Instr, s *scope) {
	b := c.b
	if len(in.Args) < 2 {
		b.errorf("a call through a register needs a .callprototype or .calltargets")
		return
	}
	list := s.lookup(c.f, in.Args[1].Name)
	var params, returns []*ptx.Var
	switch {
	case list != nil && list.kind == symPrototype:
		params, returns = list.proto.Params, list.proto.Returns
	case list != nil && list.kind == symTargets && len(list.names) > 0:
		for i, n := range list.names {
			fu := functionNamed(c.f.m, n)
			if fu == nil || fu.Body == nil {
				b.errorf("function %s of .calltargets has no body in this file", n).Advise(linkHint)
				return
			}
			c.f.functionSlot(fu)
			if i == 0 {
				params, returns = fu.Params, fu.Returns
			}
		}
	default:
		b.errorf("%s is no .callprototype or .calltargets", in.Args[1].Name)
		return
	}
	target := b.src(0, "u32")[0]
	if target.Kind != isa.KindReg || target.Reg == isa.RZ {
		r := b.reg()
		b.mov(r, target)
		target = r
	}
	c.standardCall(in, nil, target, params, returns)
}

// frontFunction translates a function that is compiled on its own.
func (f *fn) frontFunction(module *scope, errs *[]error) {
	c := &compiler{f: f, b: &builder{f: f}, errs: errs}
	b := c.b
	b.place(&block{label: f.src.Name})
	inner := newScope(module)
	if f.own != nil {
		c.privateBody(inner)
		*errs = append(*errs, f.errs...)
		return
	}
	c.standardBody(inner)
	*errs = append(*errs, f.errs...)
}

// privateBody translates a private function.
func (c *compiler) privateBody(inner *scope) {
	f, b := c.f, c.b
	words := func(list []*ptx.Var) []word {
		var all []word
		for _, v := range list {
			if err := inner.declare(f, v); err != nil {
				c.report(c.f.m.Errorf(v.Pos, "", "%v", err))
				return nil
			}
			w := c.symWords(inner.names[v.Name])
			all = append(all, w[:min(len(w), passWords(v))]...)
		}
		return all
	}
	b.takeParams(words(f.src.Params))
	results := words(f.src.Returns)
	c.functionBody(inner)
	b.giveResults(results)
}

// separateCode says that the unit is called. It uses no uniform registers: they belong to the warp, and lanes that are in a
// function would overwrite those of lanes that are not.
func (f *fn) separateCode() bool { return f.unit != 0 }

// frameBytes is the size of the unit's stack frame, parameters and results included.
func (f *fn) frameBytes() int64 {
	return alignUp(alignUp(f.localMem, 4)+f.incoming, max(8, f.localAlign))
}

// stackBytes is the local memory a thread of the kernel needs. Where calls form a cycle or go through pointers to
// functions that make such calls themselves, reserve bytes are added for what cannot be known.
func (u *unitInfo) stackBytes(reserve int64) int64 {
	var pointed []int
	for _, fu := range u.order {
		pointed = append(pointed, u.byFunc[fu])
	}
	open := map[int]bool{}
	known := map[int]int64{}
	cycle := false
	var depth func(n int) int64
	depth = func(n int) int64 {
		if v, ok := known[n]; ok {
			return v
		}
		if open[n] {
			cycle = true
			return 0
		}
		open[n] = true
		most := int64(0)
		for m := range u.calls[n] {
			most = max(most, depth(m))
		}
		if u.pointer[n] {
			for _, m := range pointed {
				most = max(most, depth(m))
			}
		}
		open[n] = false
		known[n] = most + u.units[n].frameBytes()
		return known[n]
	}
	bytes := depth(0)
	if cycle {
		bytes = 0
		for _, f := range u.units {
			bytes += f.frameBytes()
		}
		bytes += reserve
	}
	return bytes
}

// placeFunctionAddresses fills in the addresses of functions: start is the byte address of each unit.
func (f *fn) placeFunctionAddresses(start []uint32) {
	u := f.link
	for fu, at := range u.slots {
		putWord(f.bank4[at:], 8, uint64(start[u.byFunc[fu]]))
	}
	for _, d := range u.data {
		v := uint64(int64(start[u.byFunc[d.fn]])+d.reloc.Addend) >> d.reloc.Shift
		if d.global < 0 {
			putWord(f.constMem[d.offset:], int(d.reloc.Bytes), v)
		} else {
			putWord(f.globals[d.global].Init[d.offset:], int(d.reloc.Bytes), v)
		}
	}
}

// describeUnits is a note for the reader of the results.
func (u *unitInfo) describe(bytes int64) string {
	return fmt.Sprintf("%d functions have a stack frame; the stack is %d bytes a thread", u.frames()-1, bytes)
}

// frames is the number of units with a frame of their own: the kernel, and functions that are called through pointers or that
// reach themselves.
func (u *unitInfo) frames() int {
	n := 0
	for _, g := range u.units {
		if g.own == nil {
			n++
		}
	}
	return n
}

// functionBody translates the function's statements; all its returns meet in the block that comes after.
func (c *compiler) functionBody(inner *scope) {
	f, b := c.f, c.b
	end := b.newBlock()
	b.returnTo = end
	c.keepInMemory(f.src.Params, f.src.Body, inner)
	c.block(f.src.Body, inner)
	b.in, b.guard = nil, word{}
	b.place(end)
}
