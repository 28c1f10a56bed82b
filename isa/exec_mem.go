package isa

import "encoding/binary"

// memop is what the decoder found out about a memory instruction.
type memop struct {
	space  Space // as the opcode names it; SpaceGeneric is resolved per lane
	size   uint64
	words  int  // registers of data a lane
	ext    Type // U8, S8, U16, S16: extension of narrow loads
	base   sref
	baseHi sref
	wide   bool // 64-bit base
	scale  uint8
	ureg   sref
	uregHi sref
	hasU   bool
	offset uint64
	data   [4]sref       // store data
	octet  *[8]octetWord // words of an access of 32 bytes, else nil
	atom   *atomop
}

// address decodes a KindMem operand.
func (d *decoder) address(o *Operand, mo *memop) {
	if o.Kind != KindMem {
		d.failf("operand %s is not a memory address", o.format(d.sm))
		return
	}
	reg := Operand{Kind: KindReg, Reg: o.Reg}
	mo.base = d.operand(&reg, 0, 0)
	// Before compute capability 8.0 listings show a 64-bit address only by .E on the opcode.
	if mo.wide = o.Flags&(Wide64|Base32) != 0 || d.has(ModE64) && d.sm < 80; mo.wide {
		mo.baseHi = d.operand(&reg, 1, 0)
		if o.Flags&Base32 != 0 {
			mo.baseHi = sref{ptr: d.k.zero}
		}
	}
	switch {
	case o.Flags&ScaleX4 != 0:
		mo.scale = 2
	case o.Flags&ScaleX8 != 0:
		mo.scale = 3
	case o.Flags&ScaleX16 != 0:
		mo.scale = 4
	}
	if o.Flags&HasUReg != 0 {
		ur := Operand{Kind: KindUReg, Reg: o.UReg}
		mo.hasU = true
		mo.ureg = d.operand(&ur, 0, 0)
		mo.uregHi = sref{ptr: d.k.zero}
		// With a 64-bit address the uniform part is a pair as well (listings do not mark it).
		if o.Flags&UWide64 != 0 || mo.wide {
			mo.uregHi = d.operand(&ur, 1, 0)
			mo.wide = true
			if mo.baseHi == (sref{}) {
				mo.baseHi = sref{ptr: d.k.zero}
			}
		}
	}
	mo.offset = uint64(o.Imm)
}

// addresses computes the address of every lane; lanes outside of m get one too.
func (w *Warp) addresses(mo *memop, out *[warpLanes]uint64) {
	a := w.val(&mo.base)
	switch {
	case mo.wide:
		h := w.val(&mo.baseHi)
		for i := range out {
			out[i] = (uint64(h[i])<<32 | uint64(a[i])) + mo.offset
		}
		if mo.hasU {
			l, h := w.val(&mo.ureg), w.val(&mo.uregHi)
			for i := range out {
				out[i] += uint64(h[i])<<32 | uint64(l[i])
			}
		}
	default:
		off := uint32(mo.offset)
		if mo.hasU {
			off += w.val(&mo.ureg)[0]
		}
		for i := range out {
			out[i] = uint64(a[i]<<mo.scale + off)
		}
	}
}

// memSize is the access size of an instruction in bytes; 4 if it gives none.
func memSize(m *Mod) uint64 {
	if m.Size != 0 {
		return uint64(m.Size)
	}
	switch m.Type {
	case U8, S8:
		return 1
	case U16, S16, F16, BF16:
		return 2
	case U64, S64, F64, B64:
		return 8
	case U128:
		return 16
	}
	return 4
}

// spaceOf is the space an opcode accesses.
func spaceOf(op Op) Space {
	switch op {
	case OpLDG, OpSTG, OpATOMG, OpLDU, OpLDGSTS:
		return SpaceGlobal
	case OpLDS, OpSTS, OpATOMS, OpSYNCS, OpARRIVES:
		return SpaceShared
	case OpLDL, OpSTL:
		return SpaceLocal
	}
	return SpaceGeneric
}

// newMemop decodes the parts that all memory instructions have; the address is the first operand.
func (d *decoder) newMemop() *memop {
	mo := &memop{space: spaceOf(d.in.Op), size: memSize(&d.in.Mod), ext: d.in.Mod.Type}
	switch mo.size {
	case 1, 2, 4, 8, 16, octetBytes:
	default:
		d.failf("%s of %d bytes: 1, 2, 4, 8 or 16 are possible", d.in.Op, mo.size)
	}
	mo.words = int(max(mo.size/4, 1))
	d.address(d.vals[0], mo)
	d.u.mem = mo
	return mo
}

func decLoad(d *decoder) {
	mo := d.newMemop()
	if d.err != nil {
		return
	}
	switch {
	case d.in.IsOctet():
		d.decOctet(mo)
		return
	case len(d.vds) != 1:
		d.failf("%s has %d destinations, it needs one", d.in.Op, len(d.vds))
		return
	}
	for j := range mo.words {
		d.u.d[j] = d.k.dest(d.vds[0], Reg(j))
	}
	d.u.exec = execLoad
	if d.has(ModLock) {
		d.u.exec = execLoadLock
	}
}

// execLoad is every load but LDC.
func execLoad(w *Warp, u *uop, m uint32) {
	mo := u.mem
	w.addresses(mo, &w.addr)
	w.e.Load, w.e.Size = true, uint8(mo.size)
	space := w.resolve(mo, &w.addr, m)
	if mo.size >= 4 && (space == SpaceGlobal || space == SpaceShared) && w.loadWords(u, space, m) {
		return
	}
	var v [4]uint32
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		mem := w.bytes(space, l, w.addr[l], mo.size)
		if mem == nil {
			return
		}
		switch mo.size {
		case 1:
			v[0] = uint32(mem[0])
			if mo.ext == S8 {
				v[0] = uint32(int32(int8(v[0])))
			}
		case 2:
			v[0] = uint32(binary.LittleEndian.Uint16(mem))
			if mo.ext == S16 {
				v[0] = uint32(int32(int16(v[0])))
			}
		default:
			for j := range mo.words {
				v[j&3] = binary.LittleEndian.Uint32(mem[4*j:])
			}
		}
		for j := range mo.words {
			w.regs[u.d[j&3]][l] = v[j&3]
		}
	}
}

// region is the memory that an access lies in when all its lanes are in one piece: the allocation of the lowest lane, or the block's
// shared memory. Addresses minus org are offsets into data.
func (w *Warp) region(space Space, m uint32) (data []byte, org uint64) {
	if space == SpaceShared {
		base := w.k.Program.SharedBase
		if base&15 != 0 { // offsets would not tell the alignment
			return nil, 0
		}
		return w.Block.Shared[min(int(base), len(w.Block.Shared)):], uint64(base)
	}
	b := w.buffer(w.addr[lowest(m)], 1)
	if b == nil {
		return nil, 0
	}
	return b.Data, b.Addr
}

// loadWords is the frequent case of a load of one, two or four words a lane from one piece of memory. It is false, with nothing
// reported, when a lane is outside or misaligned: the general path then does it again and finds out what is wrong.
func (w *Warp) loadWords(u *uop, space Space, m uint32) bool {
	data, org := w.region(space, m)
	size := u.mem.size
	if uint64(len(data)) < size {
		return false
	}
	last := uint64(len(data)) - size
	d := &w.regs[u.d[0]]
	switch size {
	case 4:
		for r := m; r != 0; r &= r - 1 {
			l := lowest(r)
			off := w.addr[l] - org
			if off > last || off&3 != 0 {
				return false
			}
			d[l] = binary.LittleEndian.Uint32(data[off:])
		}
	case 8:
		d1 := &w.regs[u.d[1]]
		for r := m; r != 0; r &= r - 1 {
			l := lowest(r)
			off := w.addr[l] - org
			if off > last || off&7 != 0 {
				return false
			}
			v := binary.LittleEndian.Uint64(data[off:])
			d[l], d1[l] = uint32(v), uint32(v>>32)
		}
	default:
		d1, d2, d3 := &w.regs[u.d[1]], &w.regs[u.d[2]], &w.regs[u.d[3]]
		for r := m; r != 0; r &= r - 1 {
			l := lowest(r)
			off := w.addr[l] - org
			if off > last || off&15 != 0 {
				return false
			}
			at := data[off:]
			v, x := binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])
			d[l], d1[l], d2[l], d3[l] = uint32(v), uint32(v>>32), uint32(x), uint32(x>>32)
		}
	}
	return true
}

// storeWords is the same for stores.
func (w *Warp) storeWords(u *uop, space Space, m uint32) bool {
	data, org := w.region(space, m)
	mo := u.mem
	size := mo.size
	if uint64(len(data)) < size {
		return false
	}
	last := uint64(len(data)) - size
	s := w.val(&mo.data[0])
	switch size {
	case 4:
		for r := m; r != 0; r &= r - 1 {
			l := lowest(r)
			off := w.addr[l] - org
			if off > last || off&3 != 0 {
				return false
			}
			binary.LittleEndian.PutUint32(data[off:], s[l])
		}
	case 8:
		s1 := w.val(&mo.data[1])
		for r := m; r != 0; r &= r - 1 {
			l := lowest(r)
			off := w.addr[l] - org
			if off > last || off&7 != 0 {
				return false
			}
			binary.LittleEndian.PutUint64(data[off:], uint64(s1[l])<<32|uint64(s[l]))
		}
	default:
		s1, s2, s3 := w.val(&mo.data[1]), w.val(&mo.data[2]), w.val(&mo.data[3])
		for r := m; r != 0; r &= r - 1 {
			l := lowest(r)
			off := w.addr[l] - org
			if off > last || off&15 != 0 {
				return false
			}
			at := data[off:]
			binary.LittleEndian.PutUint64(at, uint64(s1[l])<<32|uint64(s[l]))
			binary.LittleEndian.PutUint64(at[8:], uint64(s3[l])<<32|uint64(s2[l]))
		}
	}
	return true
}

// buffer is the allocation that holds an address, nil if none does.
func (w *Warp) buffer(addr, size uint64) *Buffer {
	if w.buf != nil && w.buf.holds(addr, size) {
		return w.buf
	}
	b := w.k.Launch.Mem.find(addr, size)
	if b != nil {
		w.buf = b
	}
	return b
}

// resolve turns generic addresses into those of their space and reports the access in the effect. The lanes of a generic access
// may be in different spaces; then the effect names the space of the lowest lane, and bytes resolves each lane.
func (w *Warp) resolve(mo *memop, addr *[warpLanes]uint64, m uint32) Space {
	e := w.e
	e.Addr = addr
	e.Space = mo.space
	if mo.space != SpaceGeneric {
		return mo.space
	}
	first := lowest(m)
	s := genericSpace(addr[first], mo.wide)
	mixed := false
	for r := m; r != 0; r &= r - 1 {
		if genericSpace(addr[lowest(r)], mo.wide) != s {
			mixed = true
		}
	}
	e.Space = s
	if mixed {
		return SpaceGeneric
	}
	if s != SpaceGlobal {
		for r := m; r != 0; r &= r - 1 {
			l := lowest(r)
			addr[l] = windowOffset(addr[l], s, mo.wide)
		}
	}
	return s
}

// genericSpace is the space a generic address lies in.
func genericSpace(addr uint64, wide bool) Space {
	if wide {
		switch addr >> 32 {
		case sharedWindowHi:
			return SpaceShared
		case localWindowHi:
			return SpaceLocal
		}
		return SpaceGlobal
	}
	switch {
	case addr >= sharedWindow32:
		return SpaceShared
	case addr >= localWindow32:
		return SpaceLocal
	}
	return SpaceGlobal
}

// windowOffset is the offset of a generic address in its window.
func windowOffset(addr uint64, s Space, wide bool) uint64 {
	switch {
	case wide:
		return addr & 0xffffffff
	case s == SpaceShared:
		return addr - sharedWindow32
	}
	return addr - localWindow32
}

// bytes is the memory of one lane's access, nil after an error.
func (w *Warp) bytes(space Space, lane int, addr, size uint64) []byte {
	if space == SpaceGeneric {
		wide := w.k.ops[w.e.Index].mem.wide
		space = genericSpace(addr, wide)
		if space != SpaceGlobal {
			addr = windowOffset(addr, space, wide)
		}
	}
	if addr&(size-1) != 0 {
		w.err = w.misaligned(space, lane, addr, size)
		return nil
	}
	switch space {
	case SpaceGlobal:
		if b := w.buffer(addr, size); b != nil {
			return b.Data[addr-b.Addr:]
		}
	case SpaceShared:
		if s := w.Block.Shared; addr >= uint64(w.k.Program.SharedBase) && addr+size <= uint64(len(s)) {
			return s[addr:]
		}
	case SpaceLocal:
		if n := uint64(w.k.localLen); addr+size <= n {
			return w.local[uint64(lane)*n+addr : uint64(lane+1)*n]
		}
	}
	w.err = w.outOfBounds(space, lane, addr, size)
	return nil
}

func decStore(d *decoder) {
	mo := d.newMemop()
	if d.err != nil {
		return
	}
	switch {
	case d.in.IsOctet():
		d.decOctet(mo)
		return
	case len(d.vals) != 2:
		d.failf("%s has %d sources, it needs an address and what is stored", d.in.Op, len(d.vals))
		return
	}
	for j := range mo.words {
		mo.data[j&3] = d.raw(1, j, 0)
	}
	d.u.exec = execStore
	if d.has(ModLock) {
		d.u.exec = execStoreUnlock
	}
}

func execStore(w *Warp, u *uop, m uint32) {
	mo := u.mem
	w.addresses(mo, &w.addr)
	w.e.Store, w.e.Size = true, uint8(mo.size)
	space := w.resolve(mo, &w.addr, m)
	if mo.size >= 4 && (space == SpaceGlobal || space == SpaceShared) && w.storeWords(u, space, m) {
		return
	}
	var data [4]*lanes
	for j := range mo.words {
		data[j&3] = w.val(&mo.data[j&3])
	}
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		mem := w.bytes(space, l, w.addr[l], mo.size)
		if mem == nil {
			return
		}
		switch mo.size {
		case 1:
			mem[0] = byte(data[0][l])
		case 2:
			binary.LittleEndian.PutUint16(mem, uint16(data[0][l]))
		default:
			for j := range mo.words {
				binary.LittleEndian.PutUint32(mem[4*j:], data[j&3][l])
			}
		}
	}
}

// decLDGSTS copies from global memory to shared memory; a false predicate source writes zeros.
func decLDGSTS(d *decoder) {
	u := d.u
	mo := d.newMemop() // shared
	to := *mo
	to.space = SpaceShared
	from := *mo
	d.address(d.vals[1], &from)
	from.space = SpaceGlobal
	u.mem = &from
	u.copyTo = &to
	u.exec = execLDGSTS
}

func execLDGSTS(w *Warp, u *uop, m uint32) {
	from, to := u.mem, u.copyTo
	w.addresses(from, &w.addr)
	w.addresses(to, &w.addr2)
	e := w.e
	e.Load, e.Size, e.Space, e.Addr, e.Addr2 = true, uint8(from.size), SpaceGlobal, &w.addr, &w.addr2
	fill := w.pred(u.ps[0])
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		dst := w.bytes(SpaceShared, l, w.addr2[l], to.size)
		if dst == nil {
			return
		}
		if fill>>uint(l)&1 == 0 {
			clear(dst[:to.size])
			continue
		}
		src := w.bytes(SpaceGlobal, l, w.addr[l], from.size)
		if src == nil {
			return
		}
		copy(dst[:to.size], src[:from.size])
	}
}
