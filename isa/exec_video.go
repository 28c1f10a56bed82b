package isa

import "math"

// Scalar and SIMD video instructions (Fermi to Pascal; VABSDIFF and VABSDIFF4 also later).
// Semantics: PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions".

// videoop is what the decoder found out about a video instruction.
type videoop struct {
	op       Op
	sub      Sub
	sa, sb   bool // a, b are signed
	sd       bool // the result is signed
	neg      bool // VADD: b is subtracted
	sat      bool
	wrap     bool
	second   Sub  // SubAdd, SubMin, SubMax with c
	merge    bool // into c at the place below
	at, wide uint // bit position and width of the destination part

	// SIMD forms.
	lane       uint     // bits of a lane
	asel, bsel [4]uint8 // lane numbers in the pool {b, a}
	mask       uint8    // lanes written

	// VMAD.
	negProduct, negC, plusOne bool
	shift                     uint
}

// part is value source i, the byte or half that type and selector name, extended to 32 bits.
func (d *decoder) part(i int, t Type) sref {
	f := d.flags(i)
	k := partMods(f, signed(t))
	if k == 0 {
		switch t {
		case U8, S8:
			k = modPart | modByte
		case U16, S16:
			k = modPart
		}
		if k != 0 && signed(t) {
			k |= modSigned
		}
	}
	return d.raw(i, 0, k)
}

// wideValue is a 32-bit value in the type's range.
func wideValue(v uint32, sgn bool) int64 {
	if sgn {
		return int64(int32(v))
	}
	return int64(v)
}

// clampTo saturates to n bits.
func clampTo(v int64, n uint, sgn bool) int64 {
	if sgn {
		return min(max(v, -1<<(n-1)), 1<<(n-1)-1)
	}
	return min(max(v, 0), 1<<n-1)
}

// newVideo decodes the modifiers that all video instructions have.
func (d *decoder) newVideo() *videoop {
	m := &d.in.Mod
	v := &videoop{op: d.in.Op, sub: m.Sub, sa: signed(m.Type), sb: signed(m.Type), sat: m.Has(ModSat), wrap: m.Has(ModWrap),
		second: m.Sub2, merge: m.Has(ModMerge), wide: 32}
	if m.BType != TypeNone {
		v.sb = signed(m.BType)
	}
	if m.Has(ModAcc) {
		v.second = SubAdd
	}
	switch {
	case m.DType != TypeNone:
		v.sd = signed(m.DType)
	default: // listings leave out the usual sign of the result
		v.sd = d.in.Op != OpVABSDIFF && d.in.Op != OpVSET && d.in.Op != OpVABSDIFF2 && d.in.Op != OpVABSDIFF4
	}
	if v.merge {
		switch s := m.DSel; {
		case s >= 1 && s <= 4:
			v.at, v.wide = 8*uint(s-1), 8
		case s >= 5 && s <= 6:
			v.at, v.wide = 16*uint(s-5), 16
		}
	}
	d.u.video = v
	return v
}

// decVideo is every scalar video instruction but VMAD.
func decVideo(d *decoder) {
	u, m := d.u, &d.in.Mod
	if d.in.Op == OpVABSDIFF && d.sm >= 70 || d.in.Op == OpISAD {
		d.ints(3)
		if signed(m.Type) {
			u.lut = 1
		}
		u.exec = execSAD
		return
	}
	v := d.newVideo()
	ta, tb := m.Type, m.BType
	if tb == TypeNone {
		tb = ta
	}
	u.s[0], u.s[1], u.s[2] = d.part(0, ta), d.part(1, tb), d.raw(2, 0, 0)
	v.neg = d.flags(1)&Neg != 0
	if d.in.Op == OpVSUB {
		v.neg = !v.neg
	}
	if d.in.Op == OpVSETP {
		u.exec = execVSETP
		return
	}
	u.exec = execVideo
}

// execSAD is ISAD, and VABSDIFF from Volta on: |a - b| + c.
func execSAD(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	if u.lut != 0 {
		for i := range d {
			x, y := int32(a[i]), int32(b[i])
			d[i] = uint32(max(x, y)) - uint32(min(x, y)) + c[i]
		}
	} else {
		for i := range d {
			d[i] = max(a[i], b[i]) - min(a[i], b[i]) + c[i]
		}
	}
	w.commit(u, 1, m)
}

// compare64 is a comparison of integers.
func compare64(c Cmp, x, y int64) bool {
	switch c {
	case CmpLT, CmpLTU:
		return x < y
	case CmpEQ, CmpEQU:
		return x == y
	case CmpLE, CmpLEU:
		return x <= y
	case CmpGT, CmpGTU:
		return x > y
	case CmpNE, CmpNEU:
		return x != y
	case CmpGE, CmpGEU:
		return x >= y
	case CmpT, CmpNum:
		return true
	}
	return false
}

func execVideo(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	v, cmp := u.video, u.in.Mod.Cmp
	for i := range d {
		x, y := wideValue(a[i], v.sa), wideValue(b[i], v.sb)
		if v.neg {
			y = -y
		}
		var t int64
		switch v.op {
		case OpVABSDIFF:
			t = max(x-y, y-x)
		case OpVMNMX:
			t = max(x, y)
			if v.sub == SubMin {
				t = min(x, y)
			}
		case OpVSHL, OpVSHR:
			n := uint64(uint32(y))
			if v.wrap {
				n &= 31
			}
			n = min(n, 32)
			if v.op == OpVSHL {
				if t = x << n; v.sat && t>>n != x { // an unsigned word and its 32 bits do not fit
					t = math.MaxInt64
				}
			} else {
				t = x >> n
			}
		case OpVSET:
			t = int64(bit(compare64(cmp, x, y)))
		default: // VADD, VSUB
			t = x + y
		}
		d[i] = v.finish(t, c[i])
	}
	w.commit(u, 1, m)
}

// finish saturates an intermediate result, then combines it with c or merges it into c.
func (v *videoop) finish(t int64, c uint32) uint32 {
	if v.sat {
		t = clampTo(t, v.wide, v.sd)
	}
	r := uint32(t)
	switch {
	case v.merge:
		k := uint32(1<<v.wide-1) << v.at
		return c&^k | r<<v.at&k
	case v.second == SubAdd:
		return r + c
	case v.second == SubMin:
		if v.sd {
			return uint32(min(int32(r), int32(c)))
		}
		return min(r, c)
	case v.second == SubMax:
		if v.sd {
			return uint32(max(int32(r), int32(c)))
		}
		return max(r, c)
	}
	return r
}

func execVSETP(w *Warp, u *uop, m uint32) {
	a, b, v := w.val(&u.s[0]), w.val(&u.s[1]), u.video
	var r uint32
	for i := range a {
		r |= bit(compare64(u.in.Mod.Cmp, wideValue(a[i], v.sa), wideValue(b[i], v.sb))) << uint(i)
	}
	w.setCompare(u, m, r)
}

func decVMAD(d *decoder) {
	u, m := d.u, &d.in.Mod
	v := d.newVideo()
	ta, tb := m.Type, m.BType
	if tb == TypeNone {
		tb = ta
	}
	u.s[0], u.s[1], u.s[2] = d.part(0, ta), d.part(1, tb), d.raw(2, 0, 0)
	v.negProduct = (d.flags(0)^d.flags(1))&Neg != 0
	v.negC = d.flags(2)&Neg != 0
	v.plusOne = m.Has(ModPO)
	v.sd = v.sa || v.sb || v.negProduct || v.negC
	switch {
	case m.Has(ModShr7):
		v.shift = 7
	case m.Has(ModShr15):
		v.shift = 15
	}
	u.exec = execVMAD
}

// execVMAD multiplies exactly, negates by complement plus one, adds, shifts and saturates.
func execVMAD(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	v := u.video
	for i := range d {
		x, y := wideValue(a[i], v.sa), wideValue(b[i], v.sb)
		// The product needs up to 64 bits and a sign: lo and hi are its two words in two's complement.
		lo := uint64(x) * uint64(y)
		hi := uint64(0)
		if v.sa || v.sb {
			hi = uint64(int64(lo) >> 63)
		}
		z := c[i]
		plus := uint64(0)
		switch {
		case v.plusOne:
			plus = 1
		case v.negProduct:
			lo, hi, plus = ^lo, ^hi, 1
		case v.negC:
			z, plus = ^z, 1
		}
		zl := uint64(z)
		zh := uint64(0)
		if v.sd {
			zl = uint64(int64(int32(z)))
			zh = uint64(int64(zl) >> 63)
		}
		lo, hi = add128(lo, hi, zl, zh)
		lo, hi = add128(lo, hi, plus, 0)
		if v.shift != 0 {
			lo = lo>>v.shift | hi<<(64-v.shift)
			if v.sd {
				hi = uint64(int64(hi) >> v.shift)
			} else {
				hi >>= v.shift
			}
		}
		d[i] = uint32(lo)
		if v.sat {
			d[i] = clamp128(lo, hi, v.sd)
		}
	}
	w.commit(u, 1, m)
}

func add128(al, ah, bl, bh uint64) (lo, hi uint64) {
	lo = al + bl
	hi = ah + bh
	if lo < al {
		hi++
	}
	return lo, hi
}

// clamp128 saturates a 128-bit number to 32 bits.
func clamp128(lo, hi uint64, sgn bool) uint32 {
	if sgn {
		switch {
		case int64(hi) > 0, hi == 0 && lo > 1<<31-1:
			return 1<<31 - 1
		case int64(hi) < -1, hi == ^uint64(0) && int64(lo) >= 0, hi == ^uint64(0) && int64(lo) < -1<<31:
			return 1 << 31
		}
		return uint32(lo)
	}
	if hi != 0 || lo > 1<<32-1 {
		return 1<<32 - 1
	}
	return uint32(lo)
}

// decVideoSIMD is every SIMD video instruction.
func decVideoSIMD(d *decoder) {
	u, m := d.u, &d.in.Mod
	v := d.newVideo()
	v.merge = false
	v.lane = 8
	switch d.in.Op {
	case OpVADD2, OpVMNMX2, OpVSET2, OpVAVRG2, OpVABSDIFF2:
		v.lane = 16
	}
	if m.DType == TypeNone && m.Type != TypeNone && d.in.Op != OpVABSDIFF2 && d.in.Op != OpVABSDIFF4 {
		v.sd = v.sa || v.sb
	}
	v.neg = d.flags(1)&Neg != 0
	n := 32 / v.lane
	plain := m.ASel == 0 && m.BSel == 0
	for i := range uint(n) {
		v.asel[i] = laneSelector(m.ASel, i, uint8(i))
		v.bsel[i] = laneSelector(m.BSel, i, uint8(n+i))
	}
	v.mask = m.DSel & (1<<n - 1)
	if v.mask == 0 {
		v.mask = 1<<n - 1
	}
	u.s[0], u.s[1], u.s[2] = d.raw(0, 0, 0), d.raw(1, 0, 0), d.raw(2, 0, 0)
	u.exec = execVideoSIMD
	if d.in.Op == OpVABSDIFF4 && v.mask == 15 && v.second == SubAdd && plain && !v.sa && !v.sb {
		u.exec = execSAD4
	}
}

// laneSelector is what a selection says of lane i: a byte or half of {b, a}; the lane's own where there is no selection.
func laneSelector(sel uint16, i uint, own uint8) uint8 {
	if sel == 0 {
		return own
	}
	return uint8(sel >> (4 * i) & 7)
}

// execSAD4 is the frequent form: c + sum of the differences of unsigned bytes.
func execSAD4(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	for i := range d {
		s := c[i]
		x, y := a[i], b[i]
		for range 4 {
			p, q := x&0xff, y&0xff
			s += max(p, q) - min(p, q)
			x, y = x>>8, y>>8
		}
		d[i] = s
	}
	w.commit(u, 1, m)
}

func execVideoSIMD(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	v, cmp := u.video, u.in.Mod.Cmp
	n := 32 / v.lane
	k := uint32(1)<<v.lane - 1
	for i := range d {
		pool := uint64(b[i])<<32 | uint64(a[i])
		acc := c[i]
		for j := range n {
			if v.mask>>j&1 == 0 {
				continue
			}
			x := poolLane(pool, v.asel[j], v.lane, v.sa)
			y := poolLane(pool, v.bsel[j], v.lane, v.sb)
			if v.neg {
				y = -y
			}
			t := v.lanes(cmp, x, y)
			if v.sat {
				t = clampTo(t, v.lane, v.sd)
			}
			if v.second == SubAdd {
				acc += uint32(t)
			} else {
				acc = acc&^(k<<(j*v.lane)) | uint32(t)&k<<(j*v.lane)
			}
		}
		d[i] = acc
	}
	w.commit(u, 1, m)
}

// poolLane is lane s of the eight bytes or four halves {b, a}.
func poolLane(pool uint64, s uint8, lane uint, sgn bool) int64 {
	v := uint32(pool >> (uint(s) * lane & 63))
	return lane64(v, 0, lane, sgn)
}

// lanes is the operation on one lane.
func (v *videoop) lanes(cmp Cmp, x, y int64) int64 {
	switch v.op {
	case OpVABSDIFF2, OpVABSDIFF4:
		return max(x-y, y-x)
	case OpVMNMX2, OpVMNMX4:
		if v.sub == SubMin {
			return min(x, y)
		}
		return max(x, y)
	case OpVSET2, OpVSET4:
		return int64(bit(compare64(cmp, x, y)))
	case OpVAVRG2, OpVAVRG4:
		s := x + y
		if s >= 0 {
			s++
		}
		return s >> 1
	}
	return x + y
}
