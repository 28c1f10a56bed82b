package isa

import (
	"encoding/binary"
	"math"
)

// Atomic operations: ATOM, ATOMG, ATOMS, RED. Lanes execute in ascending order.

// atomop is the operation of an atomic instruction.
type atomop struct {
	sub  Sub
	typ  Type
	cmp  [2]sref // CAS: compare value
	val  [2]sref
	ret  bool
	incr bool // POPC.INC: no data, adds one a lane
	spin bool // CAST.SPIN: the result, a register or a predicate, is 1 where the value was exchanged, else 0
	ftz  bool // .FTZ: subnormal numbers of single precision are zeros of their sign
	try  bool // ATOM with a predicate result: done, and true, for addresses in global memory only
}

func decAtom(d *decoder) {
	u, mod := d.u, &d.in.Mod
	if mod.Size == 0 {
		sized := *d.in
		sized.Mod.Size = uint8(memSize(mod))
	}
	mo := d.newMemop()
	if d.err != nil {
		return
	}
	mo.size = memSize(mod)
	a := &atomop{sub: mod.Sub, typ: mod.Type, ret: len(d.vds) > 0 && d.in.Op != OpRED, incr: mod.Has(ModPopcInc),
		spin: mod.Has(ModSpin), ftz: mod.Has(ModFTZ), try: d.in.Op == OpATOM && mod.Sub != SubCAS && len(d.pds) > 0 && d.pds[0].Reg != PT}
	if a.typ == TypeNone {
		a.typ = U32
		if mo.size == 8 {
			a.typ = U64
		}
	}
	if mo.size == 1 || mo.size == 16 {
		d.failf("%s.%v of %d bytes is %w", d.in.Op, a.typ, mo.size, ErrNotExecutable)
		return
	}
	words := int(max(mo.size/4, 1))
	switch {
	case a.sub == SubMbArrive:
		a.val[0], a.val[1] = sref{ptr: d.k.zero}, sref{ptr: d.k.zero}
	case a.incr:
		a.sub = SubAdd
		a.val[0], a.val[1] = sref{ptr: d.k.broadcast(1)}, sref{ptr: d.k.zero}
	case a.sub == SubCAS:
		for j := range words {
			switch {
			case len(d.vals) >= 3:
				a.cmp[j], a.val[j] = d.raw(1, j, 0), d.raw(2, j, 0)
			case len(d.vals) == 2: // one tuple: compare, then new value
				a.cmp[j], a.val[j] = d.raw(1, j, 0), d.raw(1, words+j, 0)
			default:
				d.failf("%s.CAS needs the value to compare with and the new value", d.in.Op)
				return
			}
		}
	default:
		if len(d.vals) < 2 {
			d.failf("%s needs a data operand", d.in.Op)
			return
		}
		for j := range words {
			a.val[j] = d.raw(1, j, 0)
		}
	}
	switch {
	case a.sub == SubNone:
		d.failf("%s without an operation", d.in.Op)
	case mo.size == 2 && a.sub != SubCAS && a.typ != F16 && a.typ != BF16:
		d.failf("%s.%v of %d bytes is %w", d.in.Op, a.typ, mo.size, ErrNotExecutable)
	}
	for j := range words {
		if len(d.vds) > 0 {
			u.d[j] = d.k.dest(d.vds[0], Reg(j))
		}
	}
	mo.atom = a
	u.exec = execAtom
}

func execAtom(w *Warp, u *uop, m uint32) {
	mo, a := u.mem, u.mem.atom
	w.addresses(mo, &w.addr)
	e := w.e
	e.Load, e.Store, e.Size = true, true, uint8(mo.size)
	space := w.resolve(mo, &w.addr, m)
	v, vh, c, ch := w.val(&a.val[0]), w.k.zero, w.val(&a.cmp[0]), w.k.zero
	if mo.size == 8 {
		vh, ch = w.val(&a.val[1]), w.val(&a.cmp[1])
	}
	var won uint32
	var banks [32]uint64 // CAST.SPIN: address served in each bank, plus one
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		if a.try && space != SpaceGlobal && (space != SpaceGeneric || genericSpace(w.addr[l], mo.wide) != SpaceGlobal) {
			continue // the code behind does it for the other spaces
		}
		if a.spin {
			// One pass is all that a CAST does, one for each half of the warp if it is 8 bytes wide: a lane whose bank serves another address fails and tries
			// again. Measured on the H200: n lanes on one bank, each with its own word, take n rounds of the loop, 32 of 8 bytes 16.
			b := &banks[w.addr[l]/4%32]
			if mo.size == 8 {
				b = &banks[w.addr[l]/8%16+uint64(l/16*16)]
			}
			if *b != 0 && *b != w.addr[l]+1 {
				if a.ret {
					w.regs[u.d[0]][l] = 0
				}
				if a.ret && mo.size == 8 {
					w.regs[u.d[1]][l] = 0
				}
				continue
			}
			*b = w.addr[l] + 1
		}
		mem := w.bytes(space, l, w.addr[l], mo.size)
		if mem == nil {
			return
		}
		var old uint64
		switch mo.size {
		case 8:
			old = binary.LittleEndian.Uint64(mem)
		case 2:
			old = uint64(binary.LittleEndian.Uint16(mem))
		default:
			old = uint64(binary.LittleEndian.Uint32(mem))
		}
		x := uint64(vh[l])<<32 | uint64(v[l])
		y := uint64(ch[l])<<32 | uint64(c[l])
		if mo.size == 2 {
			x, y = x&0xffff, y&0xffff
		}
		next := a.apply(old, x, y)
		if a.sub == SubCAS && old == y || a.try {
			won |= 1 << uint(l)
		}
		switch mo.size {
		case 8:
			binary.LittleEndian.PutUint64(mem, next)
		case 2:
			binary.LittleEndian.PutUint16(mem, uint16(next))
		default:
			binary.LittleEndian.PutUint32(mem, uint32(next))
		}
		if a.spin && a.ret {
			w.regs[u.d[0]][l] = won >> uint(l) & 1
			if mo.size == 8 {
				w.regs[u.d[1]][l] = 0
			}
		} else if a.ret {
			w.regs[u.d[0]][l] = uint32(old)
			if mo.size == 8 {
				w.regs[u.d[1]][l] = uint32(old >> 32)
			}
		}
	}
	w.setPred(u.pd[0], m, won)
}

// apply is the new memory value; y is the value that CAS compares with.
func (a *atomop) apply(old, x, y uint64) uint64 {
	switch a.sub {
	case SubMbArrive:
		return arriveAmpere(old)
	case SubExch:
		return x
	case SubCAS:
		if old == y {
			return x
		}
		return old
	case SubAnd:
		return old & x
	case SubOr:
		return old | x
	case SubXor:
		return old ^ x
	case SubInc:
		if a.wrapWord(old) >= a.wrapWord(x) {
			return 0
		}
		return old + 1
	case SubDec:
		if o, lim := a.wrapWord(old), a.wrapWord(x); o == 0 || o > lim {
			return x
		}
		return old - 1
	}
	switch a.typ {
	case F32:
		if a.ftz {
			o, n := math.Float32frombits(flush(uint32(old))), math.Float32frombits(flush(uint32(x)))
			return uint64(flush(math.Float32bits(atomFloat(a.sub, o, n))))
		}
		o, n := math.Float32frombits(uint32(old)), math.Float32frombits(uint32(x))
		return uint64(math.Float32bits(atomFloat(a.sub, o, n)))
	case F64:
		return math.Float64bits(atomFloat(a.sub, math.Float64frombits(old), math.Float64frombits(x)))
	case F16x2, BF16x2, F16, BF16:
		return uint64(a.halves(uint32(old), uint32(x)))
	}
	switch a.sub {
	case SubAdd:
		return old + x
	case SubMin, SubMax:
		var less bool
		switch a.typ {
		case S64:
			less = int64(x) < int64(old)
		case S32:
			less = int32(x) < int32(old)
		case U64, B64:
			less = x < old
		default:
			less = uint32(x) < uint32(old)
		}
		if less == (a.sub == SubMin) {
			return x
		}
	}
	return old
}

// wrapWord is a value in the width of the operation.
func (a *atomop) wrapWord(v uint64) uint64 {
	if a.typ == U64 || a.typ == S64 || a.typ == B64 {
		return v
	}
	return uint64(uint32(v))
}

// atomFloat is the floating-point addition, minimum or maximum.
func atomFloat[T float32 | float64](sub Sub, o, n T) T {
	switch {
	case sub == SubMin && (n < o || o != o), sub == SubMax && (n > o || o != o):
		return n
	case sub == SubAdd:
		return o + n
	}
	return o
}

// halves applies the operation to each half.
func (a *atomop) halves(old, x uint32) uint32 {
	bf := a.typ == BF16x2 || a.typ == BF16
	var r uint32
	for at := uint(0); at < 32; at += 16 {
		o, n := halfToFloat(uint16(old>>at), bf), halfToFloat(uint16(x>>at), bf)
		r |= uint32(floatToHalf(float64(o)+float64(n), bf, RN)) << at
		if a.sub == SubMin || a.sub == SubMax {
			r = r&^(0xffff<<at) | uint32(floatToHalf(float64(atomFloat(a.sub, o, n)), bf, RN))<<at
		}
	}
	return r
}
