package lower

import (
	"fmt"

	"github.com/sarchlab/smsim/isa/ptx"
)

// declaredType is the type of an element of a list: of a register as declared, of a literal integer or floating-point of any width
// (bits 0).
func (b *builder) declaredType(e *ptx.Arg) (t vtype, ok bool) {
	switch e.Kind {
	case ptx.ArgInt:
		return vtype{name: "an integer", kind: 'u'}, true
	case ptx.ArgFloat:
		return vtype{name: "a floating-point number", kind: 'f'}, true
	case ptx.ArgName:
		if y := b.scope.lookup(b.f, e.Name); y != nil && !y.pred && y.kind == symReg {
			t, ok = valueTypes[y.typ]
			t.name = "." + y.typ
		}
	}
	return t, ok
}

// checkAlike compares the elements of a list with each other, as ptxas does: all registers have one width, and none is of integers,
// or of packed halves, beside one of floating-point numbers. Registers of bits go with all.
func (b *builder) checkAlike(in *ptx.Instr, a *ptx.Arg) {
	var first vtype
	for k := range a.Elems {
		t, ok := b.declaredType(&a.Elems[k])
		if !ok {
			continue
		}
		float := t.float() && !t.packed
		switch {
		case t.bits != 0 && first.bits != 0 && t.bits != first.bits:
			b.fail(a.Elems[k].Pos, fmt.Sprintf("element %d of the list is %s, one before it %s: the elements of %s must have one width", k+1, t.name, first.name, in.Name()))
		case first.name != "" && t.kind != 'b' && first.kind != 'b' && float != (first.float() && !first.packed):
			b.fail(a.Elems[k].Pos, fmt.Sprintf("element %d of the list is %s, one before it %s: the elements of %s must be all integers or all floating-point numbers", k+1, t.name, first.name, in.Name()))
		}
		if first.name == "" || first.bits == 0 || first.kind == 'b' && t.kind != 'b' {
			if first.bits != 0 && t.bits == 0 {
				t.bits = first.bits
			}
			first = t
		}
	}
}

// checkCoordinates checks what follows the name of an image: [image, {x, y}] with elements of the type.
func (b *builder) checkCoordinates(in *ptx.Instr, i int, a *ptx.Arg, word string) {
	o, ok := resolveOperand(in, word)
	if !ok || a.Kind != ptx.ArgTexAddr || len(a.Elems) == 0 {
		return
	}
	at := &a.Elems[len(a.Elems)-1]
	list := []ptx.Arg{*at}
	if at.Kind == ptx.ArgVector {
		list = at.Elems
	}
	b.checkAlike(in, &ptx.Arg{Elems: list})
	for k := range list {
		e := &list[k]
		y := b.scope.lookup(b.f, e.Name)
		switch {
		case b.err != nil:
		case e.Kind == ptx.ArgInt || e.Kind == ptx.ArgFloat:
			b.checkLiteral(in, i, e, o, false)
		case e.Kind == ptx.ArgName && y != nil && !y.pred && y.kind == symReg:
			have := valueTypes[y.typ]
			if have.bits != 32 || have.float() && !have.packed && !o.t.float() || have.packed && (o.t.float() || o.fixed) {
				b.fail(e.Pos, fmt.Sprintf("coordinate %s of %s is declared .%s; coordinates are .%s, in registers of 32 bits", e.Name, in.Name(), y.typ, o.t.name))
			}
		}
	}
}

// checkSpecial: special registers are read by mov and cvt only.
func (b *builder) checkSpecial(in *ptx.Instr, i int, a *ptx.Arg) {
	if in.Op != "mov" && in.Op != "cvt" {
		b.fail(a.Pos, fmt.Sprintf("operand %d of %s is special register %s, which only mov and cvt read: move it to a register first", i+1, in.Name(), specialName(a)))
	}
}

func specialName(a *ptx.Arg) string {
	if a.Member != "" {
		return a.Name + "." + a.Member
	}
	return a.Name
}

// checkPolicy checks the last operand of a memory instruction: a cache policy, in 64 bits.
func (b *builder) checkPolicy(in *ptx.Instr, a *ptx.Arg) {
	y := b.scope.lookup(b.f, a.Name)
	switch {
	case !in.Has("L2::cache_hint"):
		b.fail(a.Pos, fmt.Sprintf("%s takes no further operand; with a cache policy it is %s.L2::cache_hint", in.Name(), in.Op))
	case a.Kind != ptx.ArgName || y == nil || y.kind != symReg || valueTypes[y.typ].bits != 64 || valueTypes[y.typ].float():
		b.fail(a.Pos, fmt.Sprintf("the cache policy of %s is a register of 64 bits", in.Name()))
	}
}

// checkHint: an instruction with a cache hint names its policy.
func (b *builder) checkHint(in *ptx.Instr) {
	n := 3
	switch {
	case in.Op == "atom" && in.Has("cas"):
		n = 5
	case in.Op == "atom", in.Op == "cp":
		n = 4
	}
	if in.Has("L2::cache_hint") && len(in.Args) < n {
		b.fail(in.Pos, fmt.Sprintf("%s lacks its last operand, the cache policy in a register of 64 bits (createpolicy makes one)", in.Name()))
	}
}
