package isa

// Frequent packed forms of VIMNMX, VIMNMX3, VIADDMNMX and VIADD on halves: the general loops in exec_select.go and exec_int.go serve
// every type; these serve signed and unsigned 16x2 with one choice of minimum or maximum for all lanes.

func minS2(a, b uint32) uint32 {
	return uint32(uint16(min(int16(a), int16(b)))) | uint32(min(int32(a)>>16, int32(b)>>16))<<16
}

func maxS2(a, b uint32) uint32 {
	return uint32(uint16(max(int16(a), int16(b)))) | uint32(max(int32(a)>>16, int32(b)>>16))<<16
}

func minU2(a, b uint32) uint32 { return min(a&0xffff, b&0xffff) | min(a>>16, b>>16)<<16 }
func maxU2(a, b uint32) uint32 { return max(a&0xffff, b&0xffff) | max(a>>16, b>>16)<<16 }

// add2 adds halves without carry between them.
func add2(a, b uint32) uint32 { return (a+b)&0xffff | (a&0xffff0000 + b&0xffff0000) }

// packedChoice is the lane function for the type and choice.
type packedChoice uint8

const (
	chooseMinS packedChoice = iota
	chooseMaxS
	chooseMinU
	chooseMaxU
)

func (u *uop) packedChoice(p uint32) packedChoice {
	c := chooseMinU
	if u.lut != 0 {
		c = chooseMinS
	}
	if p == 0 {
		c++
	}
	return c
}

// mixed says that some lanes take the minimum and others the maximum: the general loops do that.
func mixed(p uint32) bool { return p != 0 && p != allLanes }

func execVIMNMX16(w *Warp, u *uop, m uint32) {
	p := w.pred(u.ps[0])
	if mixed(p) {
		execVIMNMX(w, u, m)
		return
	}
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	choose2(u.packedChoice(p), d, a, b)
	if u.in.Mod.Has(ModRelu) {
		choose2(chooseMaxS, d, d, w.k.zero)
	}
	w.commit(u, 1, m)
}

// choose2 is the minimum or maximum of two vectors of halves; d may be one of them.
func choose2(c packedChoice, d, a, b *lanes) {
	switch c {
	case chooseMinS:
		for i := range d {
			d[i] = minS2(a[i], b[i])
		}
	case chooseMaxS:
		for i := range d {
			d[i] = maxS2(a[i], b[i])
		}
	case chooseMinU:
		for i := range d {
			d[i] = minU2(a[i], b[i])
		}
	default:
		for i := range d {
			d[i] = maxU2(a[i], b[i])
		}
	}
}

func execVIMNMX3x16(w *Warp, u *uop, m uint32) {
	p := w.pred(u.ps[0])
	if mixed(p) {
		execVIMNMX3(w, u, m)
		return
	}
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	t := &w.scratch[1] // the destination may be c
	f := u.packedChoice(p)
	choose2(f, t, a, b)
	d := w.out(u, 0, m)
	choose2(f, d, t, c)
	if u.in.Mod.Has(ModRelu) {
		choose2(chooseMaxS, d, d, w.k.zero)
	}
	w.commit(u, 1, m)
}

func execVIADDMNMX16(w *Warp, u *uop, m uint32) {
	p := w.pred(u.ps[0])
	if mixed(p) {
		execVIADDMNMX(w, u, m)
		return
	}
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	t := &w.scratch[1]
	for i := range t {
		t[i] = add2(a[i], b[i])
	}
	d := w.out(u, 0, m)
	choose2(u.packedChoice(p), d, t, c)
	if u.in.Mod.Has(ModRelu) {
		choose2(chooseMaxS, d, d, w.k.zero)
	}
	w.commit(u, 1, m)
}

func execVIADD16(w *Warp, u *uop, m uint32) {
	a, b := w.val(&u.s[0]), w.val(&u.s[1])
	d := w.out(u, 0, m)
	for i := range d {
		d[i] = add2(a[i], b[i])
	}
	w.commit(u, 1, m)
}
