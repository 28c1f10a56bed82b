package isa

// Moves, selection, comparison, minimum and maximum.

func decMOV(d *decoder) {
	u := d.u
	u.s[0] = d.raw(0, 0, intMods(d.flags(0)))
	u.exec = execMOV
	if d.has(ModWide) {
		u.s[1] = d.raw(0, 1, 0)
		d.dpair()
		u.exec = execMOV64
	}
}

func execMOV(w *Warp, u *uop, m uint32) {
	a := w.val(&u.s[0])
	d := w.out(u, 0, m)
	*d = *a
	w.commit(u, 1, m)
}

func execMOV64(w *Warp, u *uop, m uint32) {
	a, ah := w.val(&u.s[0]), w.val(&u.s[1])
	d, dh := w.out(u, 0, m), w.out(u, 1, m)
	for i := range d {
		d[i], dh[i] = a[i], ah[i]
	}
	w.commit(u, 2, m)
}

func decSEL(d *decoder) {
	u := d.u
	mods := func(i int) modKind {
		if d.in.Op == OpFSEL {
			return floatMods(d.flags(i))
		}
		return intMods(d.flags(i))
	}
	u.s[0], u.s[1] = d.raw(0, 0, mods(0)), d.raw(1, 0, mods(1))
	u.exec = execSEL
	if d.has(ModWide) {
		u.s[2], u.s[3] = d.raw(0, 1, 0), d.raw(1, 1, 0)
		d.dpair()
		u.exec = execSEL64
	}
}

func execSEL(w *Warp, u *uop, m uint32) {
	a, b, p := w.val(&u.s[0]), w.val(&u.s[1]), w.pred(u.ps[0])
	d := w.out(u, 0, m)
	for i := range d {
		k := -(p >> uint(i) & 1)
		d[i] = b[i] ^ (a[i]^b[i])&k
	}
	w.commit(u, 1, m)
}

func execSEL64(w *Warp, u *uop, m uint32) {
	a, b, ah, bh, p := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.val(&u.s[3]), w.pred(u.ps[0])
	d, dh := w.out(u, 0, m), w.out(u, 1, m)
	for i := range d {
		k := -(p >> uint(i) & 1)
		lo, hi := b[i]^(a[i]^b[i])&k, bh[i]^(ah[i]^bh[i])&k
		d[i], dh[i] = lo, hi
	}
	w.commit(u, 2, m)
}

// bit is 1 for true.
func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// compareS and compareU are the lane masks of a comparison of signed and unsigned words.
func compareS(c Cmp, a, b *lanes) uint32 {
	var r uint32
	switch c {
	case CmpLT, CmpLTU:
		for i := range a {
			r |= bit(int32(a[i]) < int32(b[i])) << uint(i)
		}
	case CmpLE, CmpLEU:
		for i := range a {
			r |= bit(int32(a[i]) <= int32(b[i])) << uint(i)
		}
	case CmpGT, CmpGTU:
		return compareS(CmpLT, b, a)
	case CmpGE, CmpGEU:
		return compareS(CmpLE, b, a)
	default:
		return compareU(c, a, b)
	}
	return r
}

func compareU(c Cmp, a, b *lanes) uint32 {
	var r uint32
	switch c {
	case CmpLT, CmpLTU:
		for i := range a {
			r |= bit(a[i] < b[i]) << uint(i)
		}
	case CmpLE, CmpLEU:
		for i := range a {
			r |= bit(a[i] <= b[i]) << uint(i)
		}
	case CmpGT, CmpGTU:
		return compareU(CmpLT, b, a)
	case CmpGE, CmpGEU:
		return compareU(CmpLE, b, a)
	case CmpEQ, CmpEQU:
		for i := range a {
			r |= bit(a[i] == b[i]) << uint(i)
		}
	case CmpNE, CmpNEU:
		return ^compareU(CmpEQ, a, b)
	case CmpT, CmpNum:
		return allLanes
	}
	return r
}

func decISETP(d *decoder) {
	u := d.u
	d.ints(2)
	mod := &d.in.Mod
	if signed(mod.Type) {
		u.lut = 1
	}
	switch {
	case mod.Type == U64 || mod.Type == S64:
		u.s[2], u.s[3] = d.raw(0, 1, 0), d.raw(1, 1, 0)
		u.exec = execISETP64
	case mod.Has(ModEX):
		if len(d.prds) < 2 {
			d.failf("%s.EX needs the combining predicate and the comparison of the low words", d.in.Op)
			return
		}
		u.exec = execISETPEX
	case mod.Has(ModX):
		u.exec = execISETPX
	default:
		u.exec = execISETP
	}
}

// compare chooses by signedness.
func (u *uop) compare(c Cmp, a, b *lanes) uint32 {
	if u.lut != 0 {
		return compareS(c, a, b)
	}
	return compareU(c, a, b)
}

// setCompare stores a comparison in the two predicates of a SETP.
func (w *Warp) setCompare(u *uop, m, r uint32) {
	op, c := u.in.Mod.Bool, w.pred(u.ps[0])
	p, q := combine(op, r, c), combine(op, ^r, c)
	w.setPred(u.pd[0], m, p)
	w.setPred(u.pd[1], m, q)
}

func execISETP(w *Warp, u *uop, m uint32) {
	w.setCompare(u, m, u.compare(u.in.Mod.Cmp, w.val(&u.s[0]), w.val(&u.s[1])))
}

func execISETP64(w *Warp, u *uop, m uint32) {
	a, b, ah, bh := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.val(&u.s[3])
	w.setCompare(u, m, extend(u, ah, bh, compareU(u.in.Mod.Cmp, a, b)))
}

// extend combines the comparison of high words with that of the low words.
func extend(u *uop, ah, bh *lanes, low uint32) uint32 {
	eq := compareU(CmpEQ, ah, bh)
	switch c := u.in.Mod.Cmp; c {
	case CmpEQ, CmpEQU:
		return eq & low
	case CmpNE, CmpNEU:
		return ^eq | low
	case CmpLE, CmpLEU:
		return u.compare(CmpLT, ah, bh) | eq&low
	case CmpGE, CmpGEU:
		return u.compare(CmpGT, ah, bh) | eq&low
	default:
		return u.compare(c, ah, bh) | eq&low
	}
}

func execISETPEX(w *Warp, u *uop, m uint32) {
	w.setCompare(u, m, extend(u, w.val(&u.s[0]), w.val(&u.s[1]), w.pred(u.ps[1])))
}

// execISETPX continues a subtraction of low words that set the condition code (before Volta).
func execISETPX(w *Warp, u *uop, m uint32) {
	var low uint32
	switch u.in.Mod.Cmp {
	case CmpEQ:
		low = w.zf
	case CmpNE:
		low = ^w.zf
	case CmpLT, CmpLTU:
		low = ^w.cf
	case CmpLE, CmpLEU:
		low = ^w.cf | w.zf
	case CmpGT, CmpGTU:
		low = w.cf &^ w.zf
	case CmpGE, CmpGEU:
		low = w.cf
	}
	w.setCompare(u, m, extend(u, w.val(&u.s[0]), w.val(&u.s[1]), low))
}

func decISET(d *decoder) {
	d.ints(2)
	if signed(d.in.Mod.Type) {
		d.u.lut = 1
	}
	d.u.exec = execISET
}

func execISET(w *Warp, u *uop, m uint32) {
	r := u.compare(u.in.Mod.Cmp, w.val(&u.s[0]), w.val(&u.s[1]))
	w.putBool(u, m, combine(u.in.Mod.Bool, r, w.pred(u.ps[0])))
}

func decICMP(d *decoder) {
	d.ints(3)
	if signed(d.in.Mod.Type) {
		d.u.lut = 1
	}
	d.u.exec = execICMP
}

func execICMP(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	r := u.compare(u.in.Mod.Cmp, w.val(&u.s[2]), w.k.zero)
	d := w.out(u, 0, m)
	for i := range d {
		k := -(r >> uint(i) & 1)
		d[i] = b[i] ^ (a[i]^b[i])&k
	}
	w.commit(u, 1, m)
}

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
	if u := d.u; u.sh == 32 && u.lut != 0 && !d.has(ModRelu) && len(d.pds) == 0 {
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
