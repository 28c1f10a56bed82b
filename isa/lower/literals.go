package lower

import "github.com/sarchlab/smsim/isa/ptx"

// literal is what a register holds throughout: the literal of the only mov that writes it, as a value of the mov's type.
type literal struct {
	value *ptx.Arg
	typ   string
}

// literalsOf finds the registers that a body writes once, with an unguarded mov of a literal or of such a register. The choice of
// machine code has to know them before values are propagated: divisions by them, fields at places they give, lane masks.
// Names count in the whole body, whatever scope declares them; parameters, which have a value before, are left out.
func literalsOf(body *ptx.Block, params *scope) map[string]literal {
	writes, moves := map[string]int{}, map[string]*ptx.Instr{}
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
				if plainMove(x) {
					moves[x.Args[0].Name] = x
				}
			}
		}
	}
	walk(body)
	for name := range moves {
		known := writes[name] == 1
		for s := params; s != nil; s = s.parent {
			known = known && s.names[name] == nil
		}
		if !known {
			delete(moves, name)
		}
	}
	out := map[string]literal{}
	for name, mov := range moves {
		from := mov
		for steps := 0; from != nil && from.Args[1].Kind == ptx.ArgName && steps < len(moves); steps++ {
			next := moves[from.Args[1].Name]
			if next != nil && typeBits(next.Mods[0]) != typeBits(mov.Mods[0]) {
				next = nil
			}
			from = next
		}
		if from != nil && from.Args[1].Kind != ptx.ArgName {
			out[name] = literal{&from.Args[1], from.Mods[0]}
		}
	}
	return out
}

// plainMove says that the instruction copies a number or a scalar register, whatever lanes execute it.
func plainMove(in *ptx.Instr) bool {
	if in.Op != "mov" || in.Guard != nil || len(in.Args) != 2 || len(in.Mods) != 1 || in.Args[0].Kind != ptx.ArgName || in.Args[0].Member != "" {
		return false
	}
	switch a := &in.Args[1]; a.Kind {
	case ptx.ArgInt, ptx.ArgFloat:
		return in.Mods[0] != "pred"
	case ptx.ArgName:
		return a.Member == "" && !a.Neg
	}
	return false
}

// literalWords are the first n words of the register when it holds a literal throughout, of bits bits; none otherwise.
func (b *builder) literalWords(a *ptx.Arg, n, bits int) []word {
	l, ok := b.scope.literals[a.Name]
	if !ok || a.Member != "" || b.f.opaqueMoves {
		return nil
	}
	if b.in.Op == "mov" && b.in.Args[0].Kind == ptx.ArgVector { // halves put together again, negated, are the word with a sign
		return nil
	}
	words := b.value(l.value, l.typ)
	if len(words) < n {
		return nil
	}
	words = words[:n]
	if bits > 0 && bits < 32 {
		if v, ok := constant(words[0]); ok {
			words[0] = immWord(v & (1<<bits - 1))
		}
	}
	return words
}
