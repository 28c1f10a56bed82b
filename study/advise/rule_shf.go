package advise

import "github.com/sarchlab/smsim/isa/ptx"

// funnels joins (x << n) | (y >> (32-n)) into a funnel shift, a rotate when x is y. The amounts are constants, or n is proved to be
// below 32; the parts do not overlap, so that or, xor and add are the same. The same for 64 bits by constants, and for 32 bits out of a
// 64-bit value that is shifted.
func funnels(k *kernel, n *namer) []*site {
	var out []*site
	for _, in := range k.insts {
		if s := k.window(in); s != nil {
			out = append(out, s)
			continue
		}
		if len(in.Args) != 3 || !isJoin(in, "32") && !isJoin(in, "64") {
			continue
		}
		for i := 1; i <= 2; i++ {
			s := k.funnel(in, in.Args[i], in.Args[3-i])
			if isJoin(in, "64") {
				s = k.longFunnel(in, in.Args[i], in.Args[3-i], n)
			}
			if s != nil {
				out = append(out, s)
				break
			}
		}
	}
	return out
}

// isJoin says that an instruction puts two parts of a word together.
func isJoin(in *inst, bits string) bool {
	return in.isAny("or", nil, "b"+bits) || in.isAny("xor", nil, "b"+bits) || in.isAny("add", nil, "u"+bits, "s"+bits)
}

// shifts are the instructions that make the two parts, a shifted left and b shifted right, which nobody else reads.
func (k *kernel) shifts(in *inst, a, b ptx.Arg, bits string) (l, r *inst) {
	wl, ok1 := k.argWord(in, a)
	wr, ok2 := k.argWord(in, b)
	l, r = wl.setter(), wr.setter()
	if !ok1 || !ok2 || !l.is("shl", "b"+bits) || !r.isAny("shr", nil, "u"+bits, "b"+bits) || !k.only(l, in) || !k.only(r, in) {
		return nil, nil
	}
	return l, r
}

func (k *kernel) funnel(in *inst, a, b ptx.Arg) *site {
	l, r := k.shifts(in, a, b, "32")
	if l == nil {
		return nil
	}
	left, ok1 := k.field(l, l.Args[2])
	right, ok2 := k.field(r, r.Args[2])
	if !ok1 || !ok2 || !all(k.words(l, l.Args[1:]...), func(w word) bool { return k.available(w, in) }) || !all(k.words(r, r.Args[1:]...), func(w word) bool { return k.available(w, in) }) {
		return nil
	}
	s := &site{at: []*inst{l, r, in}, drop: []*inst{l, r, in}}
	full, n := "shf.l.wrap.b32", l.Args[2]
	switch {
	case left.isConst && right.isConst:
		if left.value <= 0 || left.value >= 32 || left.value+right.value != 32 {
			return nil
		}
	case left.isConst || right.isConst:
		return nil
	case left.unsignedBits() <= 5 && k.complement(r, r.Args[2], l, l.Args[2]):
		// A count of zero takes x alone: y >> 32 is zero, and so is the funnel's share of y.
	case right.unsignedBits() <= 5 && k.complement(l, l.Args[2], r, r.Args[2]):
		full, n = "shf.r.wrap.b32", r.Args[2]
	case in.Op == "or" && k.same(l, l.Args[1], r, r.Args[1]) && k.opposite(l, l.Args[2], r, r.Args[2]):
		// A rotate by n and -n modulo 32: for zero both parts are the word, which or alone joins.
	default:
		return nil
	}
	s.put(in, op(full, in.Args[0], r.Args[1], l.Args[1], n))
	return s
}

// complement says that operand b at q is 32 minus operand a at p.
func (k *kernel) complement(q *inst, b ptx.Arg, p *inst, a ptx.Arg) bool {
	w, ok := k.argWord(q, b)
	d := w.setter()
	if !ok || !d.isAny("sub", nil, "u32", "s32") {
		return false
	}
	f, ok := k.field(d, d.Args[1])
	return ok && f.isConst && f.value == 32 && k.same(d, d.Args[2], p, a)
}

// opposite says that operand a at p is n modulo 32 and operand b at q is -n modulo 32, or the other way round.
func (k *kernel) opposite(p *inst, a ptx.Arg, q *inst, b ptx.Arg) bool {
	x, ax, ok1 := k.modulo32(p, a)
	y, by, ok2 := k.modulo32(q, b)
	if !ok1 || !ok2 {
		return false
	}
	return k.minus32(x, ax, y, by, p, a) || k.minus32(y, by, x, ax, q, b)
}

// modulo32 is the value of which an operand is the low five bits.
func (k *kernel) modulo32(at *inst, a ptx.Arg) (*inst, ptx.Arg, bool) {
	w, ok := k.argWord(at, a)
	d := w.setter()
	if !ok || !d.is("and", "b32") {
		return nil, a, false
	}
	f, ok := k.field(d, d.Args[2])
	return d, d.Args[1], ok && f.isConst && f.value == 31
}

// minus32 says that operand b at y is -n modulo 32 for operand n at x, or for its low five bits, operand low at p.
func (k *kernel) minus32(x *inst, n ptx.Arg, y *inst, b ptx.Arg, p *inst, low ptx.Arg) bool {
	w, ok := k.argWord(y, b)
	d := w.setter()
	if !ok || d == nil {
		return false
	}
	i := 1
	if d.isAny("sub", nil, "u32", "s32") {
		if f, ok := k.field(d, d.Args[1]); !ok || !f.isConst || f.value&31 != 0 {
			return false
		}
		i = 2
	} else if !d.is("neg", "s32") {
		return false
	}
	return k.same(d, d.Args[i], x, n) || k.same(d, d.Args[i], p, low)
}

// longFunnel is (x << n) | (y >> (64-n)) of 64-bit values by a constant: two funnel shifts of their halves.
func (k *kernel) longFunnel(in *inst, a, b ptx.Arg, names *namer) *site {
	l, r := k.shifts(in, a, b, "64")
	if l == nil {
		return nil
	}
	left, ok1 := k.field(l, l.Args[2])
	right, ok2 := k.field(r, r.Args[2])
	n := left.value
	if !ok1 || !ok2 || !left.isConst || !right.isConst || n <= 0 || n >= 64 || n+right.value != 64 || l.Args[1].Kind != ptx.ArgName || r.Args[1].Kind != ptx.ArgName ||
		!all(append(k.words(l, l.Args[1]), k.words(r, r.Args[1])...), func(w word) bool { return k.available(w, in) }) {
		return nil
	}
	s := &site{at: []*inst{l, r, in}, drop: []*inst{l, r, in}}
	// The words from low to high are those of y and x; the result is shifted out of them.
	ws := []ptx.Arg{names.fresh("b32"), names.fresh("b32")}
	s.put(in, op("mov.b64", vec(ws...), r.Args[1]))
	if k.same(l, l.Args[1], r, r.Args[1]) {
		ws = append(ws, ws...)
	} else {
		ws = append(ws, names.fresh("b32"), names.fresh("b32"))
		s.put(in, op("mov.b64", vec(ws[2:]...), l.Args[1]))
	}
	var half [2]ptx.Arg
	for i := range half {
		top := 2 + i - int(n/32)
		if n%32 == 0 {
			half[i] = ws[top]
			continue
		}
		half[i] = names.fresh("b32")
		s.put(in, op("shf.l.wrap.b32", half[i], ws[top-1], ws[top], num(n%32)))
	}
	s.put(in, op("mov.b64", in.Args[0], vec(half[:]...)))
	return s
}

// window is 32 bits out of a 64-bit value {lo, hi}: the low word of a right shift, or the high word of a left shift.
func (k *kernel) window(in *inst) *site {
	if in.Guard != nil || len(in.Args) != 2 {
		return nil
	}
	var shift *inst
	var drop []*inst
	w, ok := k.argWord(in, in.Args[1])
	d := w.setter()
	if !ok || d == nil || !in.isAny("cvt", []string{"u32"}, "u64", "s64") && !in.isAny("cvt", []string{"s32"}, "u64", "s64") {
		return nil
	}
	shift, drop = d, []*inst{in}
	full := "shf.r.wrap.b32"
	if f, ok := k.shiftOf(d); ok && f == 32 && d.isAny("shr", nil, "u64", "s64") {
		// the high word
		w, ok := k.argWord(d, d.Args[1])
		if shift = w.setter(); !ok || !shift.is("shl", "b64") || !k.only(d, in) {
			return nil
		}
		full, drop = "shf.l.wrap.b32", append(drop, d)
	} else if !d.isAny("shr", nil, "u64", "s64") {
		return nil
	}
	if !k.only(shift, drop[len(drop)-1]) {
		return nil
	}
	amount, ok := k.field(shift, shift.Args[2])
	if !ok || amount.isConst && (amount.value <= 0 || amount.value >= 32) || !amount.isConst && amount.unsignedBits() > 5 {
		return nil
	}
	lo, hi, at, ok := k.halves(shift, shift.Args[1])
	if !ok || !all(append(k.words(at[0], lo), append(k.words(at[1], hi), k.words(shift, shift.Args[2])...)...), func(w word) bool { return k.available(w, in) }) {
		return nil
	}
	drop = append(drop, shift)
	s := &site{at: drop, drop: drop}
	s.put(in, op(full, in.Args[0], lo, hi, shift.Args[2]))
	return s
}

// shiftOf is the constant amount of a shift.
func (k *kernel) shiftOf(d *inst) (int64, bool) {
	if len(d.Args) != 3 {
		return 0, false
	}
	f, ok := k.field(d, d.Args[2])
	return f.value, ok && f.isConst
}

// halves are the words that a 64-bit operand is put together of: mov.b64 of two, or hi << 32 | lo.
func (k *kernel) halves(at *inst, a ptx.Arg) (lo, hi ptx.Arg, where [2]*inst, ok bool) {
	w, ok := k.argWord(at, a)
	d := w.setter()
	if !ok || d == nil || d.Guard != nil {
		return lo, hi, where, false
	}
	if d.is("mov", "b64") && d.Args[1].Kind == ptx.ArgVector && len(d.Args[1].Elems) == 2 {
		return d.Args[1].Elems[0], d.Args[1].Elems[1], [2]*inst{d, d}, true
	}
	if !isJoin(d, "64") {
		return lo, hi, where, false
	}
	for i := 1; i <= 2; i++ {
		wl, ok1 := k.argWord(d, d.Args[i])
		wr, ok2 := k.argWord(d, d.Args[3-i])
		up, low := wl.setter(), wr.setter()
		if !ok1 || !ok2 || !up.is("shl", "b64") || low == nil || !low.is("cvt", "u64", "u32") {
			continue
		}
		n, ok := k.shiftOf(up)
		we, ok2 := k.argWord(up, up.Args[1])
		e := we.setter()
		if ok && ok2 && n == 32 && e != nil && (e.is("cvt", "u64", "u32") || e.is("cvt", "s64", "s32")) {
			return low.Args[1], e.Args[1], [2]*inst{low, e}, true
		}
	}
	return lo, hi, where, false
}
