package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// A device function's parameter lives in registers, unless the function takes its address (mov, as clang writes for
// structures passed by value whose elements are indexed): then PTX puts a copy on the stack, and ld.param through a register
// reads local memory there.

// inFunction says that a device function is being translated, inlined or on its own.
func (b *builder) inFunction() bool { return len(b.calls) > 0 || b.f.unit != 0 }

// keepInMemory copies the parameters whose address the body takes to local memory and makes their names stand for it.
func (c *compiler) keepInMemory(params []*ptx.Var, body *ptx.Block, s *scope) {
	for _, v := range params {
		y := s.names[v.Name]
		if y == nil || y.kind != symParam || !addressTaken(body, v.Name) {
			continue
		}
		f := c.f
		f.localAlign = max(f.localAlign, varAlign(v))
		f.localMem = alignUp(f.localMem, max(4, varAlign(v)))
		for k, w := range c.symWords(y) {
			at := isa.Mem(f.stackBase(), f.localMem+int64(4*k), false)
			c.b.emit(isa.OpSTL, isa.Mod{Size: 4, Type: isa.U32}, nil, []word{at, w})
		}
		s.names[v.Name] = &symbol{name: v.Name, kind: symLocal, v: v, typ: v.Type, offset: f.localMem}
		f.localMem += int64(4 * len(y.words))
	}
}

// addressTaken says that an instruction of the body has the parameter itself as a source: of a mov or cvta, its address.
func addressTaken(b *ptx.Block, name string) bool {
	for _, st := range b.Stmts {
		switch x := st.(type) {
		case *ptx.Block:
			if addressTaken(x, name) {
				return true
			}
		case *ptx.Instr:
			if x.Op != "mov" && x.Op != "cvta" {
				continue
			}
			for i := range x.Args {
				if a := &x.Args[i]; (a.Kind == ptx.ArgName || a.Kind == ptx.ArgAddr) && a.Name == name {
					return true
				}
			}
		}
	}
	return false
}
