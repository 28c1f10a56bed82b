package lower

import (
	"fmt"
	"slices"
	"strings"

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

// checkAlike compares the elements of a list with each other, as ptxas does: all registers have one width, and integers, floating-point
// numbers and packed halves do not mix. Registers of bits go with all. It gives the kind that the list has: 'b' if one is of bits.
func (b *builder) checkAlike(in *ptx.Instr, a *ptx.Arg) (kind byte) {
	bits, wide, typed := 0, "", ""
	anyBits := false
	for k := range a.Elems {
		t, ok := b.declaredType(&a.Elems[k])
		if !ok {
			continue
		}
		group := t.kind
		switch {
		case t.packed:
			group = 'h'
		case t.kind == 's':
			group = 'u'
		}
		switch {
		case t.bits != 0 && bits != 0 && t.bits != bits:
			b.fail(a.Elems[k].Pos, "element %d of the list is %s, one before it %s: the elements of %s must have one width", k+1, t.name, wide, in.Name())
		case group == 'b':
			anyBits = true
		case kind != 0 && group != kind:
			b.fail(a.Elems[k].Pos, "element %d of the list is %s, one before it %s: the elements of %s must be of one kind", k+1, t.name, typed, in.Name())
		default:
			kind, typed = group, t.name
		}
		if t.bits != 0 {
			bits, wide = t.bits, t.name
		}
	}
	if anyBits {
		return 'b'
	}
	return kind
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
				b.fail(e.Pos, "coordinate %s of %s is declared .%s; coordinates are .%s, in registers of 32 bits", e.Name, in.Name(), y.typ, o.t.name)
			}
		}
	}
}

// checkSpecial: special registers are read by mov and by cvt between integers only, with their own width.
func (b *builder) checkSpecial(in *ptx.Instr, i int, a *ptx.Arg) {
	t, to := valueTypes[nthType(in, 1)], valueTypes[nthType(in, 0)]
	if in.Op == "mov" {
		t = to
	}
	switch {
	case in.Op != "mov" && in.Op != "cvt" || in.Op == "cvt" && to.float() || t.float():
		b.fail(a.Pos, "operand %d of %s is special register %s, which only mov and cvt read, as an integer", i+1, in.Name(), specialName(a)).Advise("move it to a register first")
	case !slices.Contains(specialBits(a.Name), t.bits):
		b.fail(a.Pos, "operand %d of %s is .%s, but special register %s has %s bits", i+1, in.Name(), t.name, specialName(a), bitsText(specialBits(a.Name)))
	}
}

// specialBits are the widths with which a special register is read, its own first.
func specialBits(name string) []int {
	switch name {
	case "%tid", "%ntid", "%ctaid", "%nctaid": // of 16 bits before PTX 2.0
		return []int{32, 16}
	case "%gridid":
		return []int{64, 32}
	case "%clock64", "%globaltimer", "%current_graph_exec":
		return []int{64}
	case "%is_explicit_cluster":
		return []int{1}
	}
	if strings.HasSuffix(name, "_64") {
		return []int{64}
	}
	return []int{32}
}

func bitsText(widths []int) string {
	s := fmt.Sprint(widths[0])
	for _, w := range widths[1:] {
		s += " or " + fmt.Sprint(w)
	}
	return s
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
		b.fail(a.Pos, "%s takes no further operand; with a cache policy it is %s.L2::cache_hint", in.Name(), in.Op)
	case a.Kind != ptx.ArgName || y == nil || y.kind != symReg || valueTypes[y.typ].bits != 64 || valueTypes[y.typ].float():
		b.fail(a.Pos, "the cache policy of %s is a register of 64 bits", in.Name())
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
		b.fail(in.Pos, "%s lacks its last operand, the cache policy in a register of 64 bits (createpolicy makes one)", in.Name())
	}
}
