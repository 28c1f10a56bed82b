package isa

import "math/bits"

// Adders: IADD3, IADD, ISUB, VIADD, IABS, LEA, ISCADD.

// addend is value source i as the adder takes it: a negated one is complemented, with plus 1 for the carry chain.
func (d *decoder) addend(i int) (s sref, plus uint32) {
	f := d.flags(i)
	k := partMods(f, false)
	if f&(Inv|Neg) == Inv || f&(Inv|Neg) == Neg {
		k |= modInv
	}
	if f&Neg != 0 {
		plus = 1
	}
	return d.raw(i, 0, k), plus
}

func decIADD3(d *decoder) {
	u := d.u
	carries := len(d.pds) > 0 && (u.pd[0]&7 != predTrue || u.pd[1]&7 != predTrue)
	switch {
	case d.has(ModRS), d.has(ModLS):
		d.ints(3)
		u.exec = execIADD3Shift
	case d.usesCC():
		d.decCC(3)
	case d.has(ModWide):
		d.decIADD3Wide()
	case !d.has(ModX) && !carries:
		d.ints(3)
		u.exec = execIADD3
	default:
		for i := range 3 {
			var plus uint32
			u.s[i], plus = d.addend(i)
			u.imm += plus
		}
		u.ps[0], u.ps[1] = pref{idx: predTrue, inv: allLanes}, pref{idx: predTrue, inv: allLanes}
		if d.has(ModX) {
			u.ps[0], u.ps[1] = d.carryIn(0), d.carryIn(1)
		}
		u.exec = execIADD3Carry
	}
}

// decIADD3Wide is UIADD3.64 of compute capability 12.0: pairs, with one carry out.
func (d *decoder) decIADD3Wide() {
	u := d.u
	for i := range 3 {
		_, plus := d.addend(i)
		k := modKind(0)
		if d.flags(i)&(Neg|Inv) != 0 {
			k = modInv
		}
		u.s[i], u.s[i+3] = d.raw(i, 0, k), d.raw(i, 1, k)
		u.imm += plus
	}
	u.ps[0] = pref{idx: predTrue, inv: allLanes}
	if d.has(ModX) {
		u.ps[0] = d.carryIn(0)
	}
	d.dpair()
	u.exec = execIADD3Wide
}

func execIADD3Wide(w *Warp, u *uop, m uint32) {
	var v [3][2]*lanes
	for i := range v {
		v[i] = [2]*lanes{w.val(&u.s[i]), w.val(&u.s[i+3])}
	}
	d, dh := w.out(u, 0, m), w.out(u, 1, m)
	x := w.pred(u.ps[0])
	var cp uint32
	for i := range d {
		s, over := uint64(u.imm)+uint64(x>>uint(i)&1), uint64(0)
		for k := range v {
			var c uint64
			s, c = bits.Add64(s, uint64(v[k][1][i])<<32|uint64(v[k][0][i]), 0)
			over += c
		}
		d[i], dh[i] = uint32(s), uint32(s>>32)
		cp |= bit(over != 0) << uint(i)
	}
	w.commit(u, 2, m)
	w.setPred(u.pd[0], m, cp)
}

func execIADD3(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = a[i] + b[i] + c[i]
	}
	w.commit(u, 1, m)
}

// execIADD3Carry adds with carry-ins and carry-outs: P is set when the sum needs bit 32, Q when it needs bit 33.
func execIADD3Carry(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	p, q := w.pred(u.ps[0]), w.pred(u.ps[1])
	plus := uint64(u.imm)
	var cp, cq uint32
	for i := range d {
		s := uint64(a[i]) + uint64(b[i]) + uint64(c[i]) + plus + uint64(p>>uint(i)&1) + uint64(q>>uint(i)&1)
		d[i] = uint32(s)
		over := uint32(s >> 32)
		cp |= (over | over>>1) & 1 << uint(i)
		cq |= over >> 1 & 1 << uint(i)
	}
	w.commit(u, 1, m)
	w.setPred(u.pd[0], m, cp)
	w.setPred(u.pd[1], m, cq)
}

// execIADD3Shift is IADD3.RS and .LS of Maxwell and Pascal: the 33-bit sum of a and b moved by 16, plus c.
func execIADD3Shift(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	left, signed := u.in.Mod.Has(ModLS), u.in.Mod.Type == S32
	for i := range d {
		s := uint64(a[i]) + uint64(b[i])
		if signed {
			s = uint64(int64(int32(a[i])) + int64(int32(b[i])))
		}
		if left {
			s <<= 16
		} else {
			s >>= 16
		}
		d[i] = uint32(s) + c[i]
	}
	w.commit(u, 1, m)
}

func decISUB(d *decoder) {
	sub := *d.in
	if f := &sub.Src[1].Flags; d.has(ModX) && *f&Neg == 0 { // a high word: the condition code has the 1
		*f ^= Inv
	} else {
		*f ^= Neg
	}
	d.vals[1] = &sub.Src[1]
	decIADD(d)
}

// decIADD is the two-input adder: of CC before Volta, of predicates on compute capability 12.0.
func decIADD(d *decoder) {
	u := d.u
	wide := d.has(ModWide)
	carries := d.has(ModCC) || d.has(ModX) || d.has(ModSat) || d.has(ModPO) || len(d.pds) > 0
	if !wide && !carries {
		d.ints(2)
		u.exec = execIADD2
		return
	}
	if d.has(ModPO) {
		u.imm++
	}
	for i := range 2 {
		var plus uint32
		u.s[i], plus = d.addend(i)
		u.imm += plus
		if wide {
			u.s[i+2] = d.raw(i, 1, u.s[i].mod&modInv)
			if d.flags(i)&(Neg|Inv) != 0 && u.s[i].ptr != nil { // constants carry the complement already
				u.s[i+2] = d.raw(i, 1, modInv)
			}
		}
	}
	u.ps[0] = pref{idx: predTrue, inv: allLanes}
	if d.has(ModX) && len(d.prds) > 0 {
		u.ps[0] = d.carryIn(0)
	}
	if wide {
		d.dpair()
		u.exec = execIADD64
		return
	}
	u.exec = execIADDCC
}

func execIADD2(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = a[i] + b[i]
	}
	w.commit(u, 1, m)
}

// execIADDCC is IADD with .CC, .X, .SAT or .PO, or with predicates as carries.
func execIADDCC(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	x := w.pred(u.ps[0])
	if u.in.Mod.Has(ModX) && w.k.Target.SM < 70 {
		x = w.cf
	}
	sat := u.in.Mod.Has(ModSat)
	plus := uint64(u.imm)
	var cf, of uint32
	for i := range d {
		s := uint64(a[i]) + uint64(b[i]) + plus + uint64(x>>uint(i)&1)
		r := uint32(s)
		over := (a[i] ^ r) & (b[i] ^ r) >> 31
		cf |= bit(s>>32 != 0) << uint(i)
		of |= over << uint(i)
		if sat && over != 0 {
			r = 0x7fffffff + a[i]>>31
		}
		d[i] = r
	}
	if u.in.Mod.Has(ModCC) {
		w.setCC(d, m, cf, of, u.in.Mod.Has(ModX))
	}
	w.commit(u, 1, m)
	w.setPred(u.pd[0], m, cf)
}

// execIADD64 is IADD.64 of compute capability 12.0.
func execIADD64(w *Warp, u *uop, m uint32) {
	a, b, ah, bh := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2]), w.val(&u.s[3])
	d, dh := w.out(u, 0, m), w.out(u, 1, m)
	x := w.pred(u.ps[0])
	var cp uint32
	for i := range d {
		x64, y64 := uint64(ah[i])<<32|uint64(a[i]), uint64(bh[i])<<32|uint64(b[i])
		s, c := bits.Add64(x64, y64, uint64(x>>uint(i)&1))
		s, c2 := bits.Add64(s, uint64(u.imm), 0)
		d[i], dh[i] = uint32(s), uint32(s>>32)
		cp |= uint32(c|c2) << uint(i)
	}
	w.commit(u, 2, m)
	w.setPred(u.pd[0], m, cp)
}

// setCC writes the condition code of lanes m from a result; a continued operation keeps ZF only while all words are zero.
func (w *Warp) setCC(d *lanes, m, cf, of uint32, continued bool) {
	var zf, sf uint32
	for i := range d {
		if d[i] == 0 {
			zf |= 1 << uint(i)
		}
		sf |= d[i] >> 31 << uint(i)
	}
	if continued {
		zf &= w.zf
	}
	w.cf = w.cf&^m | cf&m
	w.of = w.of&^m | of&m
	w.zf = w.zf&^m | zf&m
	w.sf = w.sf&^m | sf&m
}

func decVIADD(d *decoder) {
	lane := laneBits(d.in.Mod.Type)
	if lane != 32 || d.has(ModSat) { // a negated source is negated in every lane, before saturation
		d.u.s[0], d.u.s[1] = d.raw(0, 0, 0), d.raw(1, 0, 0)
		d.u.lut = uint8(bit(d.flags(0)&Neg != 0) | bit(d.flags(1)&Neg != 0)<<1)
	} else {
		d.ints(2)
	}
	switch {
	case lane == 16 && !d.has(ModSat) && d.u.lut == 0:
		d.u.exec = execVIADD16
	case lane != 32:
		d.u.sh = lane
		d.u.exec = execVIADDLanes
	case d.has(ModSat):
		d.u.exec = execIADDSat
	default:
		d.u.exec = execIADD2
	}
}

// laneBits is the width of the lanes of a packed type, 32 for others.
func laneBits(t Type) uint8 {
	switch t {
	case U16x2, S16x2:
		return 16
	case U8x4, S8x4:
		return 8
	}
	return 32
}

func execIADDSat(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		x, y := int64(int32(a[i])), int64(int32(b[i]))
		if u.lut&1 != 0 {
			x = -x
		}
		if u.lut&2 != 0 {
			y = -y
		}
		d[i] = clampS32(x + y)
	}
	w.commit(u, 1, m)
}

// clampS32 is v saturated to the signed 32-bit range.
func clampS32(v int64) uint32 {
	return uint32(int32(min(max(v, -1<<31), 1<<31-1)))
}

// execVIADDLanes adds halves or bytes, wrapping or saturating.
func execVIADDLanes(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	n, sgn, sat := uint(u.sh), signed(u.in.Mod.Type), u.in.Mod.Has(ModSat)
	for i := range d {
		var r uint32
		for at := uint(0); at < 32; at += n {
			x, y := laneOf(a[i], at, n, sgn), laneOf(b[i], at, n, sgn)
			if u.lut&1 != 0 {
				x = -x
			}
			if u.lut&2 != 0 {
				y = -y
			}
			v := x + y
			if sat {
				v = clampLane(v, n, sgn)
			}
			r |= uint32(v) & (1<<n - 1) << at
		}
		d[i] = r
	}
	w.commit(u, 1, m)
}

// laneOf is the n-bit field of v at bit position at, extended.
func laneOf(v uint32, at, n uint, sgn bool) int32 {
	v <<= 32 - n - at
	if sgn {
		return int32(v) >> (32 - n)
	}
	return int32(v >> (32 - n))
}

// clampLane saturates v to an n-bit lane.
func clampLane(v int32, n uint, sgn bool) int32 {
	if sgn {
		return min(max(v, -1<<(n-1)), 1<<(n-1)-1)
	}
	return min(max(v, 0), 1<<n-1)
}

func decIABS(d *decoder) {
	d.ints(1)
	d.u.exec = execIABS
}

func execIABS(w *Warp, u *uop, m uint32) {
	a := w.val(&u.s[0])
	d := w.out(u, 0, m)
	for i := range d {
		s := uint32(int32(a[i]) >> 31)
		d[i] = (a[i] ^ s) - s
	}
	w.commit(u, 1, m)
}

// decLEA: sources a, b, shift; with .HI a, b, c, shift; with .HI.SX32 c is the sign of a.
func decLEA(d *decoder) {
	u := d.u
	shift := 2
	u.s[0] = d.raw(0, 0, intMods(d.flags(0)))
	var plus uint32
	u.s[1], plus = d.addend(1)
	u.imm = plus
	if d.has(ModHI) && !d.has(ModSX32) {
		if len(d.vals) < 4 {
			d.failf("LEA.HI needs the sources a, b, high word of a, shift")
			return
		}
		u.s[2] = d.raw(2, 0, intMods(d.flags(2)))
		shift = 3
	}
	n, ok := d.immValue(shift)
	if !ok {
		d.failf("the shift of %s must be an immediate", d.in.Op)
		return
	}
	u.sh = uint8(n & 31)
	u.ps[0] = pref{idx: predTrue, inv: allLanes}
	if d.usesCC() {
		high := u.s[2]
		u.imm = 0
		d.decCC(2)
		u.s[2] = high
		return
	}
	if d.has(ModX) {
		u.ps[0] = d.carryIn(0)
	}
	simple := plus == 0 && !d.has(ModX) && u.pd[0]&7 == predTrue
	switch {
	case d.has(ModHI):
		u.exec = execLEAHI
	case simple:
		u.exec = execLEA
	default:
		u.exec = execLEACarry
	}
}

func execLEA(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	n := u.sh & 31
	for i := range d {
		d[i] = a[i]<<n + b[i]
	}
	w.commit(u, 1, m)
}

func execLEACarry(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	n, x := u.sh&31, w.pred(u.ps[0])
	var cp uint32
	for i := range d {
		s := uint64(a[i]<<n) + uint64(b[i]) + uint64(u.imm) + uint64(x>>uint(i)&1)
		d[i] = uint32(s)
		cp |= bit(s>>32 != 0) << uint(i)
	}
	w.commit(u, 1, m)
	w.setPred(u.pd[0], m, cp)
}

func execLEAHI(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	n, x, sx := u.sh&31, w.pred(u.ps[0]), u.in.Mod.Has(ModSX32)
	var cp uint32
	for i := range d {
		h := c[i]
		if sx {
			h = uint32(int32(a[i]) >> 31)
		}
		v := (uint64(h)<<32 | uint64(a[i])) << n >> 32
		s := v + uint64(b[i]) + uint64(u.imm) + uint64(x>>uint(i)&1)
		d[i] = uint32(s)
		cp |= bit(s>>32 != 0) << uint(i)
	}
	w.commit(u, 1, m)
	w.setPred(u.pd[0], m, cp)
}

func decISCADD(d *decoder) {
	u := d.u
	u.s[0] = d.raw(0, 0, intMods(d.flags(0)))
	u.s[1] = d.raw(1, 0, intMods(d.flags(1)))
	n, ok := d.immValue(2)
	if !ok {
		d.failf("the shift of ISCADD must be an immediate")
		return
	}
	u.sh = uint8(n & 31)
	u.exec = execLEA
	if d.usesCC() {
		d.decCC(2)
	}
}
