package advise

import (
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// mads joins a multiplication and an addition: mul.lo and add to mad.lo of 16, 32 and 64 bits, mul.hi to mad.hi, mul.wide to mad.wide, mul24 to
// mad24. The product
// has no other reader.
func mads(k *kernel, n *namer) []*site {
	var out []*site
	for _, in := range k.insts {
		if !in.isAny("add", nil, "u16", "s16", "u32", "s32", "u64", "s64") {
			continue
		}
		for i := 1; i <= 2; i++ {
			w, ok := k.argWord(in, in.Args[i])
			m := w.setter()
			if !ok || m == nil || !k.only(m, in) || k.same(in, in.Args[1], in, in.Args[2]) || !all(k.words(m, m.Args[1:]...), func(w word) bool { return k.available(w, in) }) {
				continue
			}
			full := ""
			switch size := in.Mods[0][1:]; {
			case m.isAny("mul", []string{"lo"}, "u"+size, "s"+size):
				full = "mad.lo." + in.Mods[0]
			case size == "32" && m.isAny("mul", []string{"hi"}, "u32", "s32"), size == "64" && m.isAny("mul", []string{"hi"}, "u64", "s64"):
				full = "mad.hi." + m.Mods[1]
			case size == "32" && m.isAny("mul24", []string{"lo"}, "u32", "s32"), size == "32" && m.isAny("mul24", []string{"hi"}, "u32", "s32"):
				full = "mad24." + m.Mods[0] + "." + m.Mods[1]
			case size == "64" && m.isAny("mul", []string{"wide"}, "u32", "s32") && !isShift(m), size == "32" && m.isAny("mul", []string{"wide"}, "u16", "s16"):
				full = "mad.wide." + m.Mods[1]
			default:
				continue
			}
			s := &site{at: []*inst{m, in}, drop: []*inst{m, in}}
			s.put(in, op(full, in.Args[0], m.Args[1], m.Args[2], in.Args[3-i]))
			out = append(out, s)
			break
		}
	}
	return out
}

// isShift says that a wide multiplication is by a power of two, as addresses have it: no multiplication in the machine code.
func isShift(m *inst) bool {
	a := m.Args[2]
	return a.Kind == ptx.ArgInt && a.Int > 0 && a.Int&(a.Int-1) == 0
}

// addends3 adds up many values three at a time. Sums that are written as a tree of pairs leave the three-input addition with two inputs in places;
// taken apart and put together by three they need fewer instructions. The depth of the tree stays small.
func addends3(k *kernel, n *namer) []*site {
	var out []*site
	for _, s := range k.sums() {
		if len(s.terms) < 5 || !all(s.nodes, func(d *inst) bool { return d.Op == "add" }) ||
			!all(s.terms, func(t *term) bool {
				return t.kind == termValue && all(k.words(t.src, t.a), func(w word) bool { return k.available(w, s.root) })
			}) {
			continue
		}
		var level []ptx.Arg
		for _, t := range s.terms {
			level = append(level, t.a)
		}
		st := &site{at: s.nodes, drop: s.nodes}
		for len(level) > 1 {
			var next []ptx.Arg
			for g := range slices.Chunk(level, 3) {
				acc := g[0]
				for _, x := range g[1:] {
					dst := n.fresh("b32")
					st.put(s.root, op("add.s32", dst, acc, x))
					acc = dst
				}
				next = append(next, acc)
			}
			level = next
		}
		st.put(s.root, op("mov.b32", s.root.Args[0], level[0]))
		out = append(out, st)
	}
	return out
}
