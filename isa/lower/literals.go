package lower

import "github.com/sarchlab/smsim/isa/ptx"

// literalsOf finds the registers that a body writes once, with an unguarded mov of a literal: compilers put the lane masks of
// warp-wide instructions into such registers, and the choice of machine code needs to know them before values are propagated.
// Names count in the whole body, whatever scope declares them; parameters, which have a value before, are left out.
func literalsOf(body *ptx.Block, params *scope) map[string]bool {
	writes, literals := map[string]int{}, map[string]bool{}
	var note func(a *ptx.Arg)
	note = func(a *ptx.Arg) {
		writes[a.Name]++
		for i := range a.Elems {
			note(&a.Elems[i])
		}
	}
	var walk func(b *ptx.Block)
	walk = func(b *ptx.Block) {
		for _, st := range b.Stmts {
			switch x := st.(type) {
			case *ptx.Block:
				walk(x)
			case *ptx.Instr:
				for i := range x.CallRet {
					note(&x.CallRet[i])
				}
				if len(x.Args) == 0 {
					continue
				}
				note(&x.Args[0])
				if x.Op == "mov" && x.Guard == nil && len(x.Args) == 2 && x.Args[1].Kind == ptx.ArgInt {
					literals[x.Args[0].Name] = true
				}
			}
		}
	}
	walk(body)
	for name := range literals {
		known := writes[name] == 1
		for s := params; s != nil; s = s.parent {
			known = known && s.names[name] == nil
		}
		if !known {
			delete(literals, name)
		}
	}
	return literals
}
