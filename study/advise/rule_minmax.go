package advise

import (
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// minmax replaces comparisons and selections by min, max and abs, and max with zero after max by max.relu: forms from which the lowering builds
// the fused instructions of dynamic programming (add-max, three-way max).
func minmax(k *kernel, n *namer) []*site {
	var out []*site
	taken := map[*inst]bool{}
	for _, in := range slices.Backward(k.insts) {
		if taken[in] {
			continue
		}
		for _, match := range []func(*inst) *site{k.absolutes, k.selected, k.moved, k.relu} {
			if s := match(in); s != nil {
				for _, x := range s.drop {
					taken[x] = true
				}
				out = append(out, s)
				break
			}
		}
	}
	slices.Reverse(out)
	return out
}

// comparison is a setp of two integers whose predicate says that one of them is the larger, or that they are equal.
type comparison struct {
	p       *inst
	typ     string
	greater bool // true where the first operand is the larger
	equal   bool // true where they are equal
}

// comparison reads the instruction that sets a predicate.
func (k *kernel) comparison(at *inst, pred string) (comparison, bool) {
	w, ok := k.argWord(at, name(pred))
	p := w.setter()
	if !ok || p == nil || p.Op != "setp" || p.Guard != nil || len(p.Mods) != 2 || len(p.Args) != 3 || p.Args[0].Kind != ptx.ArgName {
		return comparison{}, false
	}
	c := comparison{p: p, typ: p.Mods[1]}
	switch c.typ {
	case "s16", "u16", "s32", "u32", "s64", "u64":
	default:
		return c, false
	}
	switch p.Mods[0] {
	case "gt", "hi":
		c.greater = true
	case "ge", "hs":
		c.greater, c.equal = true, true
	case "lt", "lo":
	case "le", "ls":
		c.equal = true
	default:
		return c, false
	}
	return c, true
}

// larger says whether choosing x where the comparison holds and y otherwise chooses the larger of the two, or the smaller.
func (k *kernel) larger(c comparison, at *inst, x, y ptx.Arg) (larger, ok bool) {
	a, b := c.p.Args[1], c.p.Args[2]
	switch {
	case k.same(at, x, c.p, a) && k.beside(c, at, y, b):
		return c.greater, true
	case k.beside(c, at, x, b) && k.same(at, y, c.p, a):
		return !c.greater, true
	}
	return false, false
}

// beside says that value v at instruction at does in the place of the comparison's second operand b: it is the same, or a constant one beside
// it where that makes no difference: a > 9 ? a : 10 is the larger of a and 10.
func (k *kernel) beside(c comparison, at *inst, v, b ptx.Arg) bool {
	if k.same(at, v, c.p, b) {
		return true
	}
	if v.Kind != ptx.ArgInt || b.Kind != ptx.ArgInt {
		return false
	}
	step := int64(1) // a > 9 ? a : 10, a <= 9 ? 10 : a
	if c.greater == c.equal {
		step = -1 // a >= 10 ? a : 9, a < 10 ? 9 : a
	}
	limit := map[string][2]int64{"s16": {-1 << 15, 1<<15 - 1}, "u16": {0, 1<<16 - 1}, "s32": {-1 << 31, 1<<31 - 1}, "u32": {0, 1<<32 - 1}}
	l, ok := limit[c.typ]
	return ok && v.Int == b.Int+step && b.Int >= l[0] && b.Int <= l[1] && v.Int >= l[0] && v.Int <= l[1]
}

// selected is setp.gt p, a, b and selp d, a, b, p: a maximum; and the other orders.
func (k *kernel) selected(in *inst) *site {
	if in.Op != "selp" || in.Guard != nil || len(in.Args) != 4 || len(in.Mods) != 1 {
		return nil
	}
	size, _, ok := intType(in.Mods[0])
	c, ok2 := k.comparison(in, in.Args[3].Name)
	if !ok || !ok2 || in.Args[3].Neg || c.typ[1:] != in.Mods[0][1:] || size < 16 {
		return nil
	}
	larger, ok := k.larger(c, in, in.Args[1], in.Args[2])
	if !ok {
		return nil
	}
	s := &site{at: []*inst{c.p, in}, drop: []*inst{in}}
	s.put(in, op(extreme(larger)+c.typ, in.Args[0], in.Args[1], in.Args[2]))
	return s
}

func extreme(larger bool) string {
	if larger {
		return "max."
	}
	return "min."
}

// moved is @p mov d, a, where d holds b before and p compares a and b.
func (k *kernel) moved(in *inst) *site {
	if in.Op != "mov" || in.Guard == nil || len(in.Mods) != 1 || len(in.Args) != 2 || len(in.sets) != 1 || in.Args[1].Kind != ptx.ArgName {
		return nil
	}
	size, _, ok := intType(in.Mods[0])
	c, ok2 := k.comparison(in, in.Guard.Name)
	if !ok || !ok2 || c.typ[1:] != in.Mods[0][1:] || size < 16 || in.sets[0].bits() != size {
		return nil
	}
	x, y := in.Args[1], in.Args[0] // chosen where the predicate is true, or not
	if in.Guard.Neg {
		x, y = y, x
	}
	larger, ok := k.larger(c, in, x, y)
	if _, known := k.argWord(in, in.Args[1]); !ok || !known {
		return nil
	}
	s := &site{at: []*inst{c.p, in}, drop: []*inst{in}}
	s.put(in, op(extreme(larger)+c.typ, in.Args[0], in.Args[1], in.Args[0]))
	return s
}

// relu is max(max(a, b), 0) or max(min(a, b), 0), signed; the zero may come first: max(max(a, 0), b).
func (k *kernel) relu(in *inst) *site {
	if !in.is("max", "s32") {
		return nil
	}
	for i := 1; i <= 2; i++ {
		w, ok := k.argWord(in, in.Args[i])
		d := w.setter()
		if !ok || !d.isAny("max", nil, "s32") && !d.isAny("min", nil, "s32") || !k.only(d, in) || !all(k.words(d, d.Args[1:]...), func(w word) bool { return k.available(w, in) }) {
			continue
		}
		a, b := d.Args[1], d.Args[2]
		if !k.isZero(in, in.Args[3-i]) {
			switch {
			case d.Op == "max" && k.isZero(d, a):
				a = in.Args[3-i]
			case d.Op == "max" && k.isZero(d, b):
				b = in.Args[3-i]
			default:
				continue
			}
		}
		if k.isZero(d, a) || k.isZero(d, b) {
			continue // the zero is there twice
		}
		s := &site{at: []*inst{d, in}, drop: []*inst{d, in}}
		s.put(in, op(d.Op+".s32.relu", in.Args[0], a, b))
		return s
	}
	return nil
}

// isZero says that an operand is zero.
func (k *kernel) isZero(at *inst, a ptx.Arg) bool {
	f, ok := k.field(at, a)
	return ok && f.isConst && f.value == 0
}
