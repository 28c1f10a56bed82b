package isa

// Minimum and maximum: IMNMX, VIMNMX, VIMNMX3, VIADDMNMX.

func decIMNMX(d *decoder) {
	u := d.u
	d.ints(2)
	mod := &d.in.Mod
	if len(d.prds) == 0 {
		d.failf("%s needs the predicate that chooses min (PT) or max (!PT)", d.in.Op)
		return
	}
	u.sh = laneBits(mod.Type)
	if signed(mod.Type) {
		u.lut = 1
	}
	switch {
	case mod.Type == U64 || mod.Type == S64:
		u.s[2], u.s[3] = d.raw(0, 1, 0), d.raw(1, 1, 0)
		d.dpair()
		u.exec = execIMNMX64
	case u.sh == 16 && len(d.pds) == 0:
		u.exec = execVIMNMX16
	case u.sh != 32 || mod.Has(ModRelu) || u.pd[0] != predTrue || u.pd[1] != predTrue:
		u.exec = execVIMNMX
	case mod.Has(ModXLO) || mod.Has(ModXHI) || mod.Has(ModXMED):
		u.exec = execIMNMXX
	case u.lut != 0:
		u.exec = execIMNMXS
	default:
		u.exec = execIMNMXU
	}
}

func execIMNMXS(w *Warp, u *uop, m uint32) {
	a, b, p := w.val(&u.s[0]), w.val(&u.s[1]), w.pred(u.ps[0])
	d := w.out(u, 0, m)
	switch p {
	case allLanes:
		for i := range d {
			d[i] = uint32(min(int32(a[i]), int32(b[i])))
		}
	case 0:
		for i := range d {
			d[i] = uint32(max(int32(a[i]), int32(b[i])))
		}
	default:
		for i := range d {
			if p>>uint(i)&1 != 0 {
				d[i] = uint32(min(int32(a[i]), int32(b[i])))
			} else {
				d[i] = uint32(max(int32(a[i]), int32(b[i])))
			}
		}
	}
	w.commit(u, 1, m)
}

func execIMNMXU(w *Warp, u *uop, m uint32) {
	a, b, p := w.val(&u.s[0]), w.val(&u.s[1]), w.pred(u.ps[0])
	d := w.out(u, 0, m)
	switch p {
	case allLanes:
		for i := range d {
			d[i] = min(a[i], b[i])
		}
	case 0:
		for i := range d {
			d[i] = max(a[i], b[i])
		}
	default:
		for i := range d {
			if p>>uint(i)&1 != 0 {
				d[i] = min(a[i], b[i])
			} else {
				d[i] = max(a[i], b[i])
			}
		}
	}
	w.commit(u, 1, m)
}

func execIMNMX64(w *Warp, u *uop, m uint32) {
	a, b, ah, bh, p := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.val(&u.s[3]), w.pred(u.ps[0])
	d, dh := w.out(u, 0, m), w.out(u, 1, m)
	var chosen uint32
	for i := range d {
		x, y := uint64(ah[i])<<32|uint64(a[i]), uint64(bh[i])<<32|uint64(b[i])
		less := x < y
		if u.lut != 0 {
			less = int64(x) < int64(y)
		}
		first := less == (p>>uint(i)&1 != 0) || x == y
		if !first {
			x = y
		}
		chosen |= bit(first) << uint(i)
		d[i], dh[i] = uint32(x), uint32(x>>32)
	}
	w.commit(u, 2, m)
	w.setPred(u.pd[0], m, chosen)
}

// execIMNMXX is the 64-bit minimum and maximum before Volta, in three steps on the condition code: .XHI compares the high
// words, .XMED and .XLO choose the word that goes with the decision.
func execIMNMXX(w *Warp, u *uop, m uint32) {
	a, b, p := w.val(&u.s[0]), w.val(&u.s[1]), w.pred(u.ps[0])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	var lt, eq uint32
	if mod.Has(ModXLO) {
		lt, eq = compareU(CmpLT, a, b), compareU(CmpEQ, a, b)
	} else {
		lt, eq = u.compare(CmpLT, a, b), compareU(CmpEQ, a, b)
	}
	if !mod.Has(ModXHI) { // decided by the words above unless these are equal
		lt = w.sf | w.zf&lt
		eq &= w.zf
	}
	for i := range d {
		l := uint(i)
		first := (lt|eq)>>l&1 == p>>l&1 || eq>>l&1 != 0
		if first {
			d[i] = a[i]
		} else {
			d[i] = b[i]
		}
	}
	if mod.Has(ModCC) {
		w.sf = w.sf&^m | lt&m
		w.zf = w.zf&^m | eq&m
	}
	w.commit(u, 1, m)
}

// execVIMNMX is the minimum or maximum of lanes with .RELU and the predicates that tell which source was chosen
// (true: the first): one per half, or one for the word.
func execVIMNMX(w *Warp, u *uop, m uint32) {
	a, b, p := w.val(&u.s[0]), w.val(&u.s[1]), w.pred(u.ps[0])
	d := w.out(u, 0, m)
	n, sgn, relu := uint(u.sh), u.lut != 0, u.in.Mod.Has(ModRelu)
	var chosen [4]uint32
	for i := range d {
		minimum := p>>uint(i)&1 != 0
		var r uint32
		for at := uint(0); at < 32; at += n {
			x, y := lane64(a[i], at, n, sgn), lane64(b[i], at, n, sgn)
			v, first := pick(x, y, minimum)
			chosen[at/n] |= bit(first) << uint(i)
			if relu {
				v = max(v, 0)
			}
			r |= uint32(v) & uint32(uint64(1)<<n-1) << at
		}
		d[i] = r
	}
	w.commit(u, 1, m)
	w.setPred(u.pd[0], m, chosen[0])
	w.setPred(u.pd[1], m, chosen[1])
}

// lane64 is a lane of n bits (8, 16 or 32) at a bit position, extended to 64 bits.
func lane64(v uint32, at, n uint, sgn bool) int64 {
	v <<= 32 - n - at
	if sgn {
		return int64(int32(v) >> (32 - n))
	}
	return int64(v >> (32 - n))
}

// pick is the smaller or larger value and whether the first was taken; equal values take the first.
func pick(x, y int64, minimum bool) (int64, bool) {
	first := x >= y
	if minimum {
		first = x <= y
	}
	if first {
		return x, true
	}
	return y, false
}

func (d *decoder) minmax3(exec func(*Warp, *uop, uint32)) {
	d.ints(3)
	if len(d.prds) == 0 {
		d.failf("%s needs the predicate that chooses min (PT) or max (!PT)", d.in.Op)
		return
	}
	d.u.sh = laneBits(d.in.Mod.Type)
	if signed(d.in.Mod.Type) {
		d.u.lut = 1
	}
	d.u.exec = exec
	u := d.u
	if u.sh == 16 && len(d.pds) == 0 {
		switch d.in.Op {
		case OpVIMNMX3:
			u.exec = execVIMNMX3x16
		case OpVIADDMNMX:
			u.exec = execVIADDMNMX16
		}
	}
	if u.sh == 32 && u.lut != 0 && !d.has(ModRelu) && len(d.pds) == 0 {
		switch d.in.Op {
		case OpVIMNMX3:
			u.exec = execVIMNMX3S
		case OpVIADDMNMX:
			u.exec = execVIADDMNMXS
		}
	}
}

// execVIMNMX3S and execVIADDMNMXS are the frequent signed 32-bit forms with one choice for all lanes.
func execVIMNMX3S(w *Warp, u *uop, m uint32) {
	p := w.pred(u.ps[0])
	if p != 0 && p != allLanes {
		execVIMNMX3(w, u, m)
		return
	}
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	if p == 0 {
		for i := range d {
			d[i] = uint32(max(int32(a[i]), int32(b[i]), int32(c[i])))
		}
	} else {
		for i := range d {
			d[i] = uint32(min(int32(a[i]), int32(b[i]), int32(c[i])))
		}
	}
	w.commit(u, 1, m)
}

func execVIADDMNMXS(w *Warp, u *uop, m uint32) {
	p := w.pred(u.ps[0])
	if p != 0 && p != allLanes {
		execVIADDMNMX(w, u, m)
		return
	}
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	if p == 0 {
		for i := range d {
			d[i] = uint32(max(int32(a[i]+b[i]), int32(c[i])))
		}
	} else {
		for i := range d {
			d[i] = uint32(min(int32(a[i]+b[i]), int32(c[i])))
		}
	}
	w.commit(u, 1, m)
}

func decVIMNMX3(d *decoder)   { d.minmax3(execVIMNMX3) }
func decVIADDMNMX(d *decoder) { d.minmax3(execVIADDMNMX) }

func execVIMNMX3(w *Warp, u *uop, m uint32) {
	a, b, c, p := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.pred(u.ps[0])
	d := w.out(u, 0, m)
	n, sgn, relu := uint(u.sh), u.lut != 0, u.in.Mod.Has(ModRelu)
	for i := range d {
		minimum := p>>uint(i)&1 != 0
		var r uint32
		for at := uint(0); at < 32; at += n {
			v, _ := pick(lane64(a[i], at, n, sgn), lane64(b[i], at, n, sgn), minimum)
			v, _ = pick(v, lane64(c[i], at, n, sgn), minimum)
			if relu {
				v = max(v, 0)
			}
			r |= uint32(v) & uint32(uint64(1)<<n-1) << at
		}
		d[i] = r
	}
	w.commit(u, 1, m)
}

// execVIADDMNMX adds a and b (wrapping in the lane) and takes the minimum or maximum with c.
func execVIADDMNMX(w *Warp, u *uop, m uint32) {
	a, b, c, p := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.pred(u.ps[0])
	d := w.out(u, 0, m)
	n, sgn, relu := uint(u.sh), u.lut != 0, u.in.Mod.Has(ModRelu)
	for i := range d {
		minimum := p>>uint(i)&1 != 0
		var r uint32
		for at := uint(0); at < 32; at += n {
			s := uint32(lane64(a[i], at, n, sgn)+lane64(b[i], at, n, sgn)) << at
			v, _ := pick(lane64(s, at, n, sgn), lane64(c[i], at, n, sgn), minimum)
			if relu {
				v = max(v, 0)
			}
			r |= uint32(v) & uint32(uint64(1)<<n-1) << at
		}
		d[i] = r
	}
	w.commit(u, 1, m)
}
