package advise

import (
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// minmax replaces comparisons and selections by min, max and abs, and max with zero after max by max.relu: forms from which the lowering builds
// the fused instructions of dynamic programming (add-max, three-way max).
func minmax(k *kernel, n *namer) []*site {
	var out []*site
	for _, in := range k.insts {
		if s := k.selected(in); s != nil {
			out = append(out, s)
		} else if s := k.relu(in); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// selected is setp.gt p, a, b and selp d, a, b, p: a maximum; and the other orders.
func (k *kernel) selected(in *inst) *site {
	if !in.isAny("selp", nil, "b32", "u32", "s32") || len(in.Args) != 4 {
		return nil
	}
	w, ok := k.argWord(in, in.Args[3])
	p := w.setter()
	if !ok || p == nil || p.Op != "setp" || p.Guard != nil || len(p.Mods) != 2 || len(p.Args) != 3 || p.Mods[1] != "s32" && p.Mods[1] != "u32" {
		return nil
	}
	var greater bool
	switch p.Mods[0] {
	case "gt", "ge", "hi", "hs":
		greater = true
	case "lt", "le", "lo", "ls":
	default:
		return nil
	}
	a, b := p.Args[1], p.Args[2]
	switch {
	case k.same(in, in.Args[1], p, a) && k.same(in, in.Args[2], p, b):
	case k.same(in, in.Args[1], p, b) && k.same(in, in.Args[2], p, a):
		greater = !greater
	default:
		return nil
	}
	s := &site{at: []*inst{p, in}, drop: []*inst{in}}
	full := "min."
	if greater {
		full = "max."
	}
	s.put(in, op(full+p.Mods[1], in.Args[0], in.Args[1], in.Args[2]))
	return s
}

// relu is max(max(a, b), 0), signed.
func (k *kernel) relu(in *inst) *site {
	if !in.is("max", "s32") {
		return nil
	}
	for i := 1; i <= 2; i++ {
		f, ok := k.field(in, in.Args[3-i])
		w, ok2 := k.argWord(in, in.Args[i])
		d := w.setter()
		if !ok || !ok2 || !f.isConst || f.value != 0 || d == nil || !d.is("max", "s32") && !d.is("min", "s32") || !k.only(d, in) ||
			!all(k.words(d, d.Args[1:]...), func(w word) bool { return k.available(w, in) }) {
			continue
		}
		s := &site{at: []*inst{d, in}, drop: []*inst{d, in}}
		s.put(in, op(d.Op+".s32.relu", in.Args[0], d.Args[1], d.Args[2]))
		return s
	}
	return nil
}

// carries replaces the carry of an addition that is found by comparing, sum < addend, by the carry flag.
func carries(k *kernel, n *namer) []*site {
	var out []*site
	busy := 0 // number of the instruction up to which an earlier rewrite uses the flag
	for _, in := range k.insts {
		s, low := k.carry(in)
		if s == nil || low.n < busy {
			continue
		}
		busy = in.n + 1
		out = append(out, s)
	}
	return out
}

// carry matches the high addition in: hi = (x + y) + c or x + c, where c = 1 or 0 by setp.lt lo, a and lo = a + b.
func (k *kernel) carry(in *inst) (*site, *inst) {
	if !in.isAny("add", nil, "u32", "s32", "u64", "s64", "b32", "b64") {
		return nil, nil
	}
	width := in.Mods[0][1:]
	for i := 1; i <= 2; i++ {
		w, ok := k.argWord(in, in.Args[i])
		sel := w.setter()
		if !ok || sel == nil || sel.Op != "selp" || !k.only(sel, in) || len(sel.Args) != 4 || sel.Args[1].Int != 1 || sel.Args[2].Int != 0 ||
			sel.Args[1].Kind != ptx.ArgInt || sel.Args[2].Kind != ptx.ArgInt {
			continue
		}
		w, ok = k.argWord(sel, sel.Args[3])
		p := w.setter()
		if !ok || p == nil || p.Guard != nil || p.Op != "setp" || len(p.Args) != 3 || !k.only(p, sel) {
			continue
		}
		sum, addend := p.Args[1], p.Args[2]
		switch {
		case slices.Equal(p.Mods, []string{"lt", "u" + width}), slices.Equal(p.Mods, []string{"lo", "u" + width}):
		case slices.Equal(p.Mods, []string{"gt", "u" + width}), slices.Equal(p.Mods, []string{"hi", "u" + width}):
			sum, addend = addend, sum
		default:
			continue
		}
		w, ok = k.argWord(p, sum)
		lo := w.setter()
		if !ok || lo == nil || !lo.isAny("add", nil, "u"+width, "s"+width) || lo.blk != in.blk || !k.same(p, addend, lo, lo.Args[1]) && !k.same(p, addend, lo, lo.Args[2]) ||
			k.flagUsed(lo.n+1, in.n) {
			continue
		}
		x, y := in.Args[3-i], num(0)
		drop := []*inst{lo, p, sel, in}
		if w, ok := k.argWord(in, x); ok {
			if d := w.setter(); d != nil && d.is("add", in.Mods...) && k.only(d, in) && d.n > lo.n && all(k.words(d, d.Args[1:]...), func(w word) bool { return k.available(w, in) }) {
				x, y = d.Args[1], d.Args[2]
				drop = append(drop, d)
			}
		}
		s := &site{at: drop, drop: drop}
		s.put(lo, op("add.cc.u"+width, lo.Args[0], lo.Args[1], lo.Args[2]))
		s.put(in, op("addc.u"+width, in.Args[0], x, y))
		return s, lo
	}
	return nil, nil
}

// flagUsed says whether an instruction between the two numbers touches the carry flag, or may (a call).
func (k *kernel) flagUsed(from, to int) bool {
	for _, in := range k.insts[from:to] {
		if setsCarry(in.Instr) || readsCarry(in.Instr) || in.Op == "call" {
			return true
		}
	}
	return false
}
