package isa

import (
	"encoding/binary"
	"math/bits"
)

// Constant loads: LDC, ULDC, LDCU.

// decLDC is LDC, ULDC and LDCU: a constant bank word, possibly indexed.
func decLDC(d *decoder) {
	u, o := d.u, d.vals[0]
	if o.Kind != KindConst {
		d.failf("operand %s is not a constant bank address", o.format(d.sm))
		return
	}
	mo := &memop{space: SpaceConst, size: memSize(&d.in.Mod), ext: d.in.Mod.Type, offset: uint64(o.Imm)}
	mo.words = int(max(mo.size/4, 1))
	reg := Operand{Kind: KindReg, Reg: o.Reg}
	mo.base = d.operand(&reg, 0, 0)
	mo.ureg = sref{ptr: d.k.zero}
	if o.Flags&HasUReg != 0 {
		ur := Operand{Kind: KindUReg, Reg: o.UReg}
		mo.hasU, mo.ureg = true, d.operand(&ur, 0, 0)
	}
	for j := range mo.words {
		u.d[j&3] = d.k.dest(d.vds[0], Reg(j))
	}
	u.mem = mo
	u.constBank = o.Bank
	u.exec = execLDC
	if o.Reg == RZ && !mo.hasU && mo.size >= 4 && o.Imm >= 0 && uint64(o.Imm)&(mo.size-1) == 0 {
		f := &fixedConst{}
		for i := range f.addr {
			f.addr[i] = uint64(o.Imm)
		}
		for j := range mo.words {
			v, ok := d.k.constWord(o.Bank, o.Imm+int64(4*j))
			if !ok {
				return // reported when it is executed
			}
			f.words[j&3] = v
		}
		u.fixed = f
		u.exec = execLDCFixed
	}
}

// fixedConst is the value of a constant load whose address is known at Bind.
type fixedConst struct {
	words [4]uint32
	addr  [warpLanes]uint64
}

func execLDCFixed(w *Warp, u *uop, m uint32) {
	f, mo, e := u.fixed, u.mem, w.e
	e.Load, e.Size, e.Space, e.Addr = true, uint8(mo.size), SpaceConst, &f.addr
	for j := range mo.words {
		v := f.words[j&3]
		d := &w.regs[u.d[j&3]]
		if m == allLanes {
			for i := range d {
				d[i] = v
			}
			continue
		}
		for r := m; r != 0; r &= r - 1 {
			d[lowest(r)] = v
		}
	}
}

func execLDC(w *Warp, u *uop, m uint32) {
	mo := u.mem
	w.addresses(mo, &w.addr)
	e := w.e
	e.Load, e.Size, e.Space, e.Addr = true, uint8(mo.size), SpaceConst, &w.addr
	bank := w.k.banks[u.constBank]
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		off := w.addr[l]
		if off&(mo.size-1) != 0 {
			w.err = w.misaligned(SpaceConst, l, off, mo.size)
			return
		}
		var v [4]uint32
		if off+mo.size > uint64(len(bank)) {
			if off+mo.size > bankBytes || u.constBank > 1 {
				w.err = w.outOfBounds(SpaceConst, l, off, mo.size)
				return
			}
		} else {
			at := bank[off:]
			switch mo.size {
			case 1:
				v[0] = uint32(at[0])
				if mo.ext == S8 {
					v[0] = uint32(int32(int8(at[0])))
				}
			case 2:
				v[0] = uint32(binary.LittleEndian.Uint16(at))
				if mo.ext == S16 {
					v[0] = uint32(int32(int16(v[0])))
				}
			default:
				for j := range mo.words {
					v[j&3] = binary.LittleEndian.Uint32(at[4*j:])
				}
			}
		}
		for j := range mo.words {
			w.regs[u.d[j&3]][l] = v[j&3]
		}
	}
	e.ConstAddr = uint32(w.addr[bits.TrailingZeros32(m)&31])
}
