package isa

// Logic and predicates: LOP3, LOP, PLOP3, PSETP, PSET, P2R, R2P, CSET, CSETP.

// lop3 computes a three-input truth table; the index of a bit is 4a+2b+c.
func lop3(a, b, c uint32, lut uint8) uint32 {
	var r uint32
	if lut&0x01 != 0 {
		r |= ^a & ^b & ^c
	}
	if lut&0x02 != 0 {
		r |= ^a & ^b & c
	}
	if lut&0x04 != 0 {
		r |= ^a & b & ^c
	}
	if lut&0x08 != 0 {
		r |= ^a & b & c
	}
	if lut&0x10 != 0 {
		r |= a & ^b & ^c
	}
	if lut&0x20 != 0 {
		r |= a & ^b & c
	}
	if lut&0x40 != 0 {
		r |= a & b & ^c
	}
	if lut&0x80 != 0 {
		r |= a & b & c
	}
	return r
}

func decLOP3(d *decoder) {
	u := d.u
	d.ints(3)
	u.lut = d.in.Mod.Lut
	if len(d.prds) == 0 {
		u.ps[0] = pref{idx: predTrue, inv: allLanes}
		if d.has(ModPAND) {
			u.ps[0].inv = 0
		}
	}
	if u.pd[0]&7 != predTrue {
		u.exec = execLOP3P
		return
	}
	switch u.lut {
	case 0xc0:
		u.exec = execAND
	case 0xfc:
		u.exec = execOR
	case 0x3c:
		u.exec = execXOR
	case 0x96:
		u.exec = execXOR3
	case 0x0c:
		u.exec = execANDN
	case 0xf8:
		u.exec = execANDOR
	case 0xe8:
		u.exec = execMAJ
	case 0xca:
		u.exec = execCHOOSE
	case 0xe2: // b ? a : c
		u.s[0], u.s[1] = u.s[1], u.s[0]
		u.exec = execCHOOSE
	case 0xb8: // b ? c : a
		u.s[0], u.s[1], u.s[2] = u.s[1], u.s[2], u.s[0]
		u.exec = execCHOOSE
	case 0xac: // a ? c : b
		u.s[1], u.s[2] = u.s[2], u.s[1]
		u.exec = execCHOOSE
	case 0x33:
		u.exec = execNOTB
	default:
		u.exec = execLOP3
	}
}

func execAND(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = a[i] & b[i]
	}
	w.commit(u, 1, m)
}

func execOR(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = a[i] | b[i]
	}
	w.commit(u, 1, m)
}

func execXOR(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
	w.commit(u, 1, m)
}

func execANDN(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = b[i] &^ a[i]
	}
	w.commit(u, 1, m)
}

func execNOTB(w *Warp, u *uop, m uint32) {
	b := w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = ^b[i]
	}
	w.commit(u, 1, m)
}

func execXOR3(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = a[i] ^ b[i] ^ c[i]
	}
	w.commit(u, 1, m)
}

// execANDOR is a | b & c, table 0xf8.
func execANDOR(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = a[i] | b[i]&c[i]
	}
	w.commit(u, 1, m)
}

func execMAJ(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = a[i]&b[i] | c[i]&(a[i]|b[i])
	}
	w.commit(u, 1, m)
}

func execCHOOSE(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = a[i]&b[i] | c[i]&^a[i]
	}
	w.commit(u, 1, m)
}

// execLOP3 evaluates any table as a multiplexer of four two-input tables on b and c.
func execLOP3(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	k := spread(u.lut)
	// Exclusive-or form of the tables for a = 0 and of what a = 1 changes: x = p0 ^ p1 b ^ p2 c ^ p3 bc.
	p0, p1, p2, p3 := k[0], k[0]^k[2], k[0]^k[1], k[0]^k[1]^k[2]^k[3]
	q0, q1, q2, q3 := k[4], k[4]^k[6], k[4]^k[5], k[4]^k[5]^k[6]^k[7]
	q0, q1, q2, q3 = q0^p0, q1^p1, q2^p2, q3^p3
	for i := range d {
		y, z := b[i], c[i]
		yz := y & z
		d[i] = p0 ^ p1&y ^ p2&z ^ p3&yz ^ a[i]&(q0^q1&y^q2&z^q3&yz)
	}
	w.commit(u, 1, m)
}

// lutMasks are the eight entries of a truth table, each spread over 32 bits.
type lutMasks [8]uint32

func spread(lut uint8) lutMasks {
	var k lutMasks
	for i := range k {
		k[i] = -uint32(lut >> uint(i) & 1)
	}
	return k
}

// eval selects by c, then b, then a: seven bitwise multiplexers.
func (k *lutMasks) eval(a, b, c uint32) uint32 {
	c0 := k[0] ^ (k[0]^k[1])&c
	c1 := k[2] ^ (k[2]^k[3])&c
	c2 := k[4] ^ (k[4]^k[5])&c
	c3 := k[6] ^ (k[6]^k[7])&c
	b0 := c0 ^ (c0^c1)&b
	b1 := c2 ^ (c2^c3)&b
	return b0 ^ (b0^b1)&a
}

// execLOP3P also sets the predicate: result not zero, or (.PAND: and) Pc.
func execLOP3P(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	k := spread(u.lut)
	var p uint32
	for i := range d {
		v := k.eval(a[i], b[i], c[i])
		d[i] = v
		if v != 0 {
			p |= 1 << uint(i)
		}
	}
	if pc := w.pred(u.ps[0]); u.in.Mod.Has(ModPAND) {
		p &= pc
	} else {
		p |= pc
	}
	w.commit(u, 1, m)
	w.setPred(u.pd[0], m, p)
}

func decLOP(d *decoder) {
	u := d.u
	d.ints(2)
	switch d.in.Mod.Sub {
	case SubAnd, SubNone:
		u.lut = 0xc0
		u.exec = execAND
	case SubOr:
		u.lut = 0xfc
		u.exec = execOR
	case SubXor:
		u.lut = 0x3c
		u.exec = execXOR
	case SubPassB:
		u.lut = 0xcc
		u.exec = execPassB
	default:
		return
	}
	if d.has(ModCC) || d.has(ModX) || u.pd[0]&7 != predTrue {
		u.exec = execLOPFlags
	}
}

func execPassB(w *Warp, u *uop, m uint32) {
	b := w.val(&u.s[1])
	d := w.out(u, 0, m)
	*d = *b
	w.commit(u, 1, m)
}

// execLOPFlags is LOP with a predicate result (.Z, .NZ) or writing the condition code.
func execLOPFlags(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	k := spread(u.lut)
	var nz uint32
	for i := range d {
		d[i] = k.eval(a[i], b[i], 0)
		if d[i] != 0 {
			nz |= 1 << uint(i)
		}
	}
	if u.in.Mod.Has(ModCC) {
		w.setCC(d, m, 0, 0, u.in.Mod.Has(ModX))
	}
	if u.in.Mod.Cmp == CmpEQ {
		nz = ^nz
	}
	w.commit(u, 1, m)
	w.setPred(u.pd[0], m, nz)
}

func decPLOP3(d *decoder) {
	u := d.u
	u.lut, u.lut2 = d.in.Mod.Lut, d.in.Mod.Lut2
	// Sources may mix predicates and sign bits of registers, in order.
	n := 0
	for i := range d.in.NSrc {
		o := &d.in.Src[i]
		if n >= 3 {
			break
		}
		switch o.Kind {
		case KindPred, KindUPred:
			u.ps[n] = d.pref(o)
			n++
		case KindReg, KindUReg:
			f := *o
			f.Flags &^= Neg | Inv
			u.s[n] = d.operand(&f, 0, 0)
			u.imm |= 1 << uint(n) // take the register's sign
			if o.Flags&(Neg|Inv) != 0 {
				u.imm |= 8 << uint(n)
			}
			n++
		}
	}
	u.exec = execPLOP3
}

// signs is the lane mask of the values whose sign bit is set.
func signs(a *lanes) uint32 {
	var r uint32
	for i := range a {
		r |= a[i] >> 31 << uint(i)
	}
	return r
}

func execPLOP3(w *Warp, u *uop, m uint32) {
	var v [3]uint32
	for i := range v {
		v[i] = w.pred(u.ps[i])
		if u.imm>>uint(i)&1 != 0 {
			v[i] = signs(w.val(&u.s[i]))
			if u.imm>>uint(i+3)&1 != 0 {
				v[i] = ^v[i]
			}
		}
	}
	p, q := lop3(v[0], v[1], v[2], u.lut), lop3(v[0], v[1], v[2], u.lut2)
	w.setPred(u.pd[0], m, p)
	w.setPred(u.pd[1], m, q)
}

// combine applies a boolean operation to lane masks.
func combine(op BoolOp, a, b uint32) uint32 {
	switch op {
	case BoolOr:
		return a | b
	case BoolXor:
		return a ^ b
	}
	return a & b
}

func decPSETP(d *decoder) { d.u.exec = execPSETP }

func execPSETP(w *Warp, u *uop, m uint32) {
	mod := &u.in.Mod
	r := combine(mod.Bool, w.pred(u.ps[0]), w.pred(u.ps[1]))
	c := w.pred(u.ps[2])
	p, q := combine(mod.Bool2, r, c), combine(mod.Bool2, ^r, c)
	w.setPred(u.pd[0], m, p)
	w.setPred(u.pd[1], m, q)
}

func decPSET(d *decoder) { d.u.exec = execPSET }

func execPSET(w *Warp, u *uop, m uint32) {
	mod := &u.in.Mod
	r := combine(mod.Bool2, combine(mod.Bool, w.pred(u.ps[0]), w.pred(u.ps[1])), w.pred(u.ps[2]))
	w.putBool(u, m, r)
}

// putBool stores a lane mask as a value: all ones or, with .BF, 1.0f for true.
func (w *Warp) putBool(u *uop, m, r uint32) {
	d := w.out(u, 0, m)
	yes := allLanes
	if u.in.Mod.Has(ModBF) {
		yes = 0x3f800000
	}
	for i := range d {
		d[i] = -(r >> uint(i) & 1) & yes
	}
	w.commit(u, 1, m)
}

// decP2R: sources a and mask; the predicates that mask names replace bits of a. A byte selector places them at that byte.
func decP2R(d *decoder) {
	u := d.u
	u.sh = bytePlace(d.in.Dst[0].Flags)
	switch len(d.vals) {
	case 0:
		u.s[1] = sref{ptr: d.k.broadcast(0x7f)}
	case 1:
		u.s[1] = d.raw(0, 0, 0)
	default:
		if u.sh == 0 {
			u.sh = bytePlace(d.flags(0))
		}
		u.s[0], u.s[1] = d.raw(0, 0, 0), d.raw(1, 0, 0)
	}
	u.imm = 0
	if d.in.Op == OpUP2UR {
		u.imm = predUBase
	}
	u.exec = execP2R
}

// bytePlace is the bit position of the byte a selector names.
func bytePlace(f OperandFlags) uint8 {
	switch {
	case f&SelB1 != 0:
		return 8
	case f&SelB2 != 0:
		return 16
	case f&SelB3 != 0:
		return 24
	}
	return 0
}

func execP2R(w *Warp, u *uop, m uint32) {
	a, mask := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		var v uint32
		for p := range uint32(7) {
			v |= w.p[u.imm+p] >> uint(i) & 1 << p
		}
		k := mask[i] & 0xff
		d[i] = a[i]&^(k<<u.sh) | v&k<<u.sh
	}
	w.commit(u, 1, m)
}

// decR2P: the predicates named by the last source (default: all) take the bits of the first.
func decR2P(d *decoder) {
	u := d.u
	u.sh = bytePlace(d.flags(0))
	u.s[0] = d.raw(0, 0, 0)
	u.s[1] = sref{ptr: d.k.broadcast(0x7f)}
	if len(d.vals) > 1 {
		u.s[1] = d.raw(len(d.vals)-1, 0, 0)
	}
	u.imm = 0
	if d.in.Op == OpUR2UP {
		u.imm = predUBase
	}
	u.exec = execR2P
}

func execR2P(w *Warp, u *uop, m uint32) {
	a, mask := w.val(&u.s[0]), w.val(&u.s[1])
	for p := range uint32(7) {
		var v, k uint32
		for i := range a {
			v |= a[i] >> (uint32(u.sh) + p) & 1 << uint(i)
			k |= mask[i] >> p & 1 << uint(i)
		}
		if k &= m; k != 0 {
			w.setPred(uint8(u.imm+p), k, v)
		}
	}
}

// ccTest evaluates a comparison on the condition code of a subtraction a - b.
func (w *Warp) ccTest(c Cmp) uint32 {
	lt := w.sf ^ w.of
	switch c {
	case CmpLT:
		return lt
	case CmpEQ:
		return w.zf
	case CmpLE:
		return lt | w.zf
	case CmpGT:
		return ^(lt | w.zf)
	case CmpNE:
		return ^w.zf
	case CmpGE:
		return ^lt
	case CmpLTU:
		return ^w.cf
	case CmpLEU:
		return ^w.cf | w.zf
	case CmpGTU:
		return w.cf &^ w.zf
	case CmpGEU:
		return w.cf
	case CmpT:
		return allLanes
	}
	return 0
}

func decCSET(d *decoder)  { d.u.exec = execCSET }
func decCSETP(d *decoder) { d.u.exec = execCSETP }

func execCSET(w *Warp, u *uop, m uint32) {
	w.putBool(u, m, combine(u.in.Mod.Bool, w.ccTest(u.in.Mod.Cmp), w.pred(u.ps[0])))
}

func execCSETP(w *Warp, u *uop, m uint32) {
	r, c := w.ccTest(u.in.Mod.Cmp), w.pred(u.ps[0])
	w.setPred(u.pd[0], m, combine(u.in.Mod.Bool, r, c))
	w.setPred(u.pd[1], m, combine(u.in.Mod.Bool, ^r, c))
}
