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
