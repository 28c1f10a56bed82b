package isa

// decQSPC is QSPC.E.G, .S and .L: does a generic address lie in the space. The value result is not used by compilers; it is 0.
func decQSPC(d *decoder) {
	mo := d.newMemop()
	if d.err != nil {
		return
	}
	switch d.in.Mod.Sub {
	case SubGlobal, SubShared, SubLocal:
	default:
		d.failf("%s without a state space: .G, .S or .L", d.in.Op)
		return
	}
	mo.space = SpaceGeneric
	d.u.exec = execQSPC
}

func execQSPC(w *Warp, u *uop, m uint32) {
	w.addresses(u.mem, &w.addr)
	space := map[Sub]Space{SubGlobal: SpaceGlobal, SubShared: SpaceShared, SubLocal: SpaceLocal}[u.in.Mod.Sub]
	var in uint32
	for r := m; r != 0; r &= r - 1 {
		if l := lowest(r); genericSpace(w.addr[l], u.mem.wide) == space {
			in |= 1 << uint(l)
		}
	}
	if u.nd > 0 {
		w.spreadValue(u, m, 0)
	}
	w.setPred(u.pd[0], m, in)
}

// SharedOffset is where in shared memory a lane's access goes; ok is false for other spaces. The lanes of one generic access can
// be in different spaces, and then their addresses are generic ones.
func (e *Effect) SharedOffset(lane int) (at uint64, ok bool) {
	a := e.Addr[lane]
	if a>>32 == sharedWindowHi {
		return a & 0xffffffff, true
	}
	return a, e.Space == SpaceShared && a>>32 == 0
}
