package isa

import "encoding/binary"

// Accesses of 32 bytes a lane (LDG.E.ENL2.256, STG.E.ENL2.256, from compute capability 10.0 on). Two tuples of registers
// hold the words: a load names the one of words 4 to 7 first, a store the one of words 0 to 3. A load may leave out words
// that nobody reads: bit k of its last operand, a mask, says that word k is loaded, and the words loaded of each half stand
// in consecutive registers from its tuple's first.

// octetBytes is the size of such an access.
const octetBytes = 32

// IsOctet says whether the instruction moves 32 bytes a lane.
func (in *Inst) IsOctet() bool { return in.Mod.Size == octetBytes }

// octetMask is the set of words moved.
func (in *Inst) octetMask() uint8 {
	if in.Mod.Lut == 0 {
		return 0xff
	}
	return in.Mod.Lut
}

// OctetWidth is the number of registers of the tuple of words 0 to 3 or, with high, of words 4 to 7.
func (in *Inst) OctetWidth(high bool) int {
	m := in.octetMask()
	if high {
		m >>= 4
	}
	n := 0
	for m &= 15; m != 0; m &= m - 1 {
		n++
	}
	return n
}

// octetOperand is the tuple operand of the half.
func (in *Inst) octetOperand(high bool) *Operand {
	switch {
	case in.Op == OpSTG && high:
		return &in.Src[2]
	case in.Op == OpSTG:
		return &in.Src[1]
	case high:
		return &in.Dst[0]
	}
	return &in.Dst[1]
}

// checkOctet verifies the alignment of the tuples.
func (in *Inst) checkOctet(aligned func(o *Operand, n Reg) error) error {
	if in.Op == OpLDG && in.NDst < 2 || in.Op == OpSTG && in.NSrc < 3 {
		return nil // decoding says what is missing
	}
	for _, high := range []bool{false, true} {
		n := Reg(in.OctetWidth(high))
		if n == 3 {
			n = 4
		}
		if n > 1 {
			if err := aligned(in.octetOperand(high), n); err != nil {
				return err
			}
		}
	}
	return nil
}

// decOctet finds the register of each word.
func (d *decoder) decOctet(mo *memop) {
	in := d.in
	load := in.Op == OpLDG
	switch {
	case in.Op != OpLDG && in.Op != OpSTG:
		d.failf("%s of %d bytes: only LDG and STG have it", in.Op, octetBytes)
	case load && (in.NDst != 2 || in.Dst[0].Kind != KindReg || in.Dst[1].Kind != KindReg):
		d.failf("%s of %d bytes needs two destinations, of words 4 to 7 and of words 0 to 3", in.Op, octetBytes)
	case !load && (in.NSrc != 3 || in.Src[1].Kind != KindReg || in.Src[2].Kind != KindReg):
		d.failf("%s of %d bytes needs two sources of data, words 0 to 3 and words 4 to 7", in.Op, octetBytes)
	}
	if d.err != nil {
		return
	}
	mo.octet = &[8]octetWord{}
	for k := range mo.octet {
		w := &mo.octet[k]
		high := k >= 4
		if in.octetMask()>>k&1 == 0 {
			continue
		}
		w.moved = true
		place := Reg(0)
		for j := k &^ 3; j < k; j++ {
			place += Reg(in.octetMask() >> j & 1)
		}
		switch {
		case load:
			w.to = d.k.dest(in.octetOperand(high), place)
		case high:
			w.from = d.raw(2, int(place), 0)
		default:
			w.from = d.raw(1, int(place), 0)
		}
	}
	d.u.exec = execOctetStore
	if load {
		d.u.exec = execOctetLoad
	}
}

// octetWord is where a word of 32 bytes goes or comes from.
type octetWord struct {
	moved bool
	to    int32
	from  sref
}

func execOctetLoad(w *Warp, u *uop, m uint32) {
	mo := u.mem
	w.addresses(mo, &w.addr)
	w.e.Load, w.e.Size = true, octetBytes
	space := w.resolve(mo, &w.addr, m)
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		mem := w.bytes(space, l, w.addr[l], octetBytes)
		if mem == nil {
			return
		}
		for k := range mo.octet {
			if x := &mo.octet[k]; x.moved {
				w.regs[x.to][l] = binary.LittleEndian.Uint32(mem[4*k:])
			}
		}
	}
}

func execOctetStore(w *Warp, u *uop, m uint32) {
	mo := u.mem
	w.addresses(mo, &w.addr)
	w.e.Store, w.e.Size = true, octetBytes
	space := w.resolve(mo, &w.addr, m)
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		mem := w.bytes(space, l, w.addr[l], octetBytes)
		if mem == nil {
			return
		}
		for k := range mo.octet {
			if x := &mo.octet[k]; x.moved {
				binary.LittleEndian.PutUint32(mem[4*k:], w.val(&x.from)[l])
			}
		}
	}
}
