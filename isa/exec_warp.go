package isa

// Cross-lane instructions and special registers: SHFL, VOTE, MATCH, REDUX, ELECT, S2R, CS2R, R2UR, LEPC.

func decSHFL(d *decoder) {
	d.ints(3)
	switch d.in.Mod.Sub {
	case SubIdx, SubUp, SubDown, SubBfly:
		d.u.exec = execSHFL
	}
}

// execSHFL: b is the lane, distance or xor mask; c holds the segment mask (bits 8-12) and the clamp (bits 0-4).
// A source outside of the segment leaves the lane's own value and makes the predicate false.
func execSHFL(w *Warp, u *uop, m uint32) {
	a, b, c := *w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	sub := u.in.Mod.Sub
	var ok uint32
	for i := range uint32(warpLanes) {
		bv, seg, clamp := b[i]&31, c[i]>>8&31, c[i]&31
		hi := i&seg | clamp&^seg
		lo := i & seg
		var j uint32
		var in bool
		switch sub {
		case SubUp:
			j = i - bv
			in = int32(j) >= int32(hi)
		case SubDown:
			j = i + bv
			in = j <= hi
		case SubBfly:
			j = i ^ bv
			in = j <= hi
		default:
			j = lo | bv&^seg
			in = j <= hi
		}
		if !in {
			j = i
		}
		ok |= bit(in) << i
		d[i] = a[j&31]
	}
	w.commit(u, 1, m)
	w.setPred(u.pd[0], m, ok)
}

func decVOTE(d *decoder) {
	if d.in.Op == OpVOTEU {
		d.u.imm = 1
	}
	d.u.exec = execVOTE
}

// execVOTE: the register result is the ballot of the executing lanes, the predicate result their vote.
func execVOTE(w *Warp, u *uop, m uint32) {
	v := w.pred(u.ps[0]) & m
	var r bool
	switch u.in.Mod.Sub {
	case SubAll:
		r = v == m
	case SubEq:
		r = v == m || v == 0
	default:
		r = v != 0
	}
	if u.nd > 0 {
		w.spreadValue(u, m, v)
	}
	w.setPred(u.pd[0], m, -bit(r))
}

// spreadValue writes one value to the first result: to the executing lanes of a general register, to all of a uniform one.
func (w *Warp) spreadValue(u *uop, m, v uint32) {
	if u.in.Dst[0].Kind == KindUReg || int(u.d[0]) >= w.k.nRegs {
		m = allLanes
	}
	d := &w.regs[u.d[0]]
	for r := m; r != 0; r &= r - 1 {
		d[lowest(r)] = v
	}
}

func decMATCH(d *decoder) {
	u := d.u
	u.s[0], u.s[1] = d.raw(0, 0, 0), sref{ptr: d.k.zero}
	if d.in.Mod.Type == U64 || d.in.Mod.Type == B64 {
		u.s[1] = d.raw(0, 1, 0)
	}
	switch d.in.Mod.Sub {
	case SubAny, SubNone, SubAll:
		u.exec = execMATCH
	}
}

// execMATCH: .ANY gives every lane the mask of lanes with its value; .ALL gives all lanes and true if every value is the same, else 0.
func execMATCH(w *Warp, u *uop, m uint32) {
	a, ah := *w.val(&u.s[0]), *w.val(&u.s[1])
	d := w.out(u, 0, m)
	first := lowest(m)
	same := func(l int) uint32 {
		var s uint32
		for r := m; r != 0; r &= r - 1 {
			j := lowest(r)
			s |= bit(a[j] == a[l] && ah[j] == ah[l]) << uint(j)
		}
		return s
	}
	if u.in.Mod.Sub == SubAll {
		all := same(first) == m
		for i := range d {
			d[i] = m & -bit(all)
		}
		w.commit(u, 1, m)
		w.setPred(u.pd[0], m, -bit(all))
		return
	}
	for r := m; r != 0; {
		l := lowest(r)
		s := same(l)
		for q := s; q != 0; q &= q - 1 {
			d[lowest(q)] = s
		}
		r &^= s
		if r != 0 {
			w.e.ExtraPasses++
		}
	}
	w.commit(u, 1, m)
}

func decREDUX(d *decoder) {
	d.u.s[0] = d.raw(0, 0, 0)
	switch d.in.Mod.Sub {
	case SubNone, SubAdd, SubMin, SubMax, SubAnd, SubOr, SubXor:
		d.u.exec = execREDUX
	}
}

// execREDUX combines the values of the executing lanes.
func execREDUX(w *Warp, u *uop, m uint32) {
	a := w.val(&u.s[0])
	sub, sgn := u.in.Mod.Sub, signed(u.in.Mod.Type)
	v := a[lowest(m)]
	for r := m & (m - 1); r != 0; r &= r - 1 {
		x := a[lowest(r)]
		switch sub {
		case SubAdd:
			v += x
		case SubOr:
			v |= x
		case SubXor:
			v ^= x
		case SubMin, SubMax:
			less := x < v
			if sgn {
				less = int32(x) < int32(v)
			}
			if less == (sub == SubMin) {
				v = x
			}
		default:
			v &= x
		}
	}
	w.spreadValue(u, m, v)
}

func decELECT(d *decoder) { d.u.exec = execELECT }

// execELECT makes the predicate true in the lowest executing lane and gives its number.
func execELECT(w *Warp, u *uop, m uint32) {
	l := uint32(lowest(m))
	if u.nd > 0 {
		w.spreadValue(u, m, l)
	}
	w.setPred(u.pd[0], m, 1<<l)
}

func decR2UR(d *decoder) {
	d.u.s[0] = d.raw(0, 0, 0)
	d.u.exec = execR2UR
}

// execR2UR copies the value of the lowest lane; the predicate is true in lanes with another one, for which code that needs a
// uniform value goes round again.
func execR2UR(w *Warp, u *uop, m uint32) {
	v := *w.val(&u.s[0])
	chosen := v[lowest(m)]
	var others uint32
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		others |= bit(v[l] != chosen) << uint(l)
	}
	w.spreadValue(u, allLanes, chosen)
	w.setPred(u.pd[0], m, others)
}

func decLEPC(d *decoder) {
	d.dpair()
	d.u.exec = execLEPC
}

func execLEPC(w *Warp, u *uop, m uint32) {
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		w.regs[u.d[0]][l] = u.in.PC
		w.regs[u.d[1]][l] = 0
	}
}

func decS2R(d *decoder) {
	u, o := d.u, d.vals[0]
	if o.Kind != KindSpecial {
		d.failf("operand %s is not a special register", o.format(d.sm))
		return
	}
	if o.Reg >= NumSpecialRegs {
		d.failf("special register %d does not exist", o.Reg)
		return
	}
	u.imm = uint32(o.Reg)
	u.exec = execS2R
	if (d.in.Op == OpCS2R || d.in.Op == OpCS2UR) && !d.has(Mod32) {
		d.dpair()
		u.exec = execCS2R
	}
}

func execS2R(w *Warp, u *uop, m uint32) {
	d := w.out(u, 0, m)
	w.special(SpecialReg(u.imm), d)
	w.commit(u, 1, m)
}

// execCS2R reads a special register and the one above it (clock: low and high word).
func execCS2R(w *Warp, u *uop, m uint32) {
	d, dh := w.out(u, 0, m), w.out(u, 1, m)
	r := SpecialReg(u.imm)
	w.special(r, d)
	switch r {
	case SRClockLo, SRGlobalTimerLo:
		w.special(r+1, dh)
	default:
		*dh = lanes{}
	}
	w.commit(u, 2, m)
}

// now is the clock in cycles.
func (w *Warp) now() uint64 {
	if c := w.k.Clock; c != nil {
		return c(w)
	}
	return w.steps
}

// special reads a special register of every lane.
func (w *Warp) special(r SpecialReg, d *lanes) {
	l := w.k.Launch
	if LaneSpecial(r) {
		w.laneSpecial(r, d)
		return
	}
	var v uint32
	switch r {
	case SRCtaidX:
		v = w.Block.ID.X
	case SRCtaidY:
		v = w.Block.ID.Y
	case SRCtaidZ:
		v = w.Block.ID.Z
	case SRNtidX:
		v = l.Block.X
	case SRNtidY:
		v = l.Block.Y
	case SRNtidZ:
		v = l.Block.Z
	case SRNctaidX:
		v = l.Grid.X
	case SRNctaidY:
		v = l.Grid.Y
	case SRNctaidZ:
		v = l.Grid.Z
	case SRWarpID:
		v = uint32(w.Index)
	case SRVirtID:
		v = uint32(w.Index)<<8 | uint32(l.SMID)<<20
	case SRNWarpID:
		v = uint32(w.k.warps)
	case SRVirtCfg:
		v = uint32(w.k.warps) << 8
	case SRSMID:
		v = uint32(l.SMID)
	case SRNSMID:
		v = uint32(max(l.NumSMs, 1))
	case SRGridID:
		v = 1
	case SRClockLo:
		v = uint32(w.now())
	case SRClockHi:
		v = uint32(w.now() >> 32)
	case SRGlobalTimerLo, SRGlobalTimerHi:
		t := w.now()
		if ns := w.k.ClockNS; ns > 0 {
			t = uint64(float64(t) * ns)
		}
		v = uint32(t)
		if r == SRGlobalTimerHi {
			v = uint32(t >> 32)
		}
	case SRActiveMask:
		v = w.mask
	case SRSharedWindow:
		v = sharedWindowHi
	case SRLocalWindow:
		v = localWindowHi
	case SRSharedWindowLo:
		v = sharedWindow32
	case SRLocalWindowLo:
		v = localWindow32
	case SRSharedSize, SRTotalSharedSize:
		v = uint32(w.k.Program.SharedBytes + l.DynamicShared)
	case SRDynamicSharedSize:
		v = uint32(l.DynamicShared)
	}
	for i := range d {
		d[i] = v
	}
}

// laneSpecial reads the special registers that differ between lanes.
func (w *Warp) laneSpecial(r SpecialReg, d *lanes) {
	b := w.k.Launch.Block
	t := b.At(w.Index * warpLanes)
	for i := range d {
		n := uint32(i)
		switch r {
		case SRLaneID:
			d[i] = n
		case SRTidX:
			d[i] = t.X
		case SRTidY:
			d[i] = t.Y
		case SRTidZ:
			d[i] = t.Z
		case SRTid:
			d[i] = t.X | t.Y<<16 | t.Z<<26
		case SREqMask:
			d[i] = 1 << n
		case SRLtMask:
			d[i] = 1<<n - 1
		case SRLeMask:
			d[i] = 1<<n | (1<<n - 1)
		case SRGtMask:
			d[i] = ^(1<<n | (1<<n - 1))
		case SRGeMask:
			d[i] = ^(uint32(1)<<n - 1)
		}
		if t.X++; t.X == b.X {
			t.X = 0
			if t.Y++; t.Y == b.Y {
				t.Y = 0
				t.Z++
			}
		}
	}
}
