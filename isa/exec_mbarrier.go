package isa

import "encoding/binary"

// Barriers that lie in shared memory (PTX mbarrier): a phase ends when all expected arrivals were made and, from compute
// capability 9.0 on, all expected bytes have come. The 64 bits are laid out as the hardware's (read from an H200 and from the code
// that ptxas makes for their fields). Compute capability 8.x:
//
//	bits  0-29  2^30 - arrivals that a phase expects
//	bits 32-62  2^31 - arrivals that are pending: one more and the last of them carries into the phase
//	bit  63     parity of the phase
//
// ATOMS.ARRIVE.64 arrives; PTX instructions that change one field are additions to a word. Compute capability 9.0 on:
//
//	bits  1-20  2^20 - arrivals that a phase expects
//	bits 21-42  bytes still to come, in two's complement
//	bits 43-62  2^20 - arrivals that are pending
//	bit  63     parity of the phase
//
// SYNCS.ARRIVE.TRANS64 updates it, SYNCS.PHASECHK.TRANS64 tells whether its parity differs from bit 31 of a register.
const (
	mbarrierParity = uint64(1) << 63

	ampereExpected = 1<<30 - 1
	amperePending  = 1<<31 - 1

	hopperCount      = 1<<20 - 1
	hopperExpectedAt = 1
	hopperBytesAt    = 21
	hopperBytes      = 1<<22 - 1
	hopperPendingAt  = 43
)

// MbarrierInit are the words of a barrier at its start, on a target of compute capability sm/10.
func MbarrierInit(sm int, count uint32) (lo, hi uint32) {
	if sm < 90 {
		return 1<<30 - count, 1<<31 - count
	}
	return (1<<20 - count) << hopperExpectedAt, (1<<20 - count) << (hopperPendingAt - 32)
}

// isUpdate says that SYNCS.ARRIVE.TRANS64 does this.
func (s Sub) isUpdate() bool { return s >= SubMbA0T1 && s <= SubMbOutART0 }

// OrdersMemory says that an instruction is one of a barrier in shared memory, over which no access may be moved.
func (in *Inst) OrdersMemory() bool {
	return in.Op == OpSYNCS || in.Op == OpARRIVES || in.Mod.Sub == SubMbArrive
}

// arriveAmpere is a barrier of compute capability 8.x after an arrival.
func arriveAmpere(old uint64) uint64 {
	hi := uint32(old>>32) + 1
	if hi&amperePending == 0 { // the last one: the phase has changed
		hi |= (uint32(old)&ampereExpected + 1<<30) & amperePending
	}
	return uint64(hi)<<32 | old&0xffffffff
}

// updateHopper is a barrier of compute capability 9.0 on after SYNCS.ARRIVE.TRANS64; x is the register's number.
func updateHopper(sub Sub, old uint64, x uint32) uint64 {
	expected, bytes := old>>hopperExpectedAt&hopperCount, old>>hopperBytesAt&hopperBytes
	pending, parity := old>>hopperPendingAt&hopperCount, old&mbarrierParity
	var arrivals uint64
	switch sub {
	case SubMbA1T0, SubMbA1TR, SubMbOutA1T0, SubMbOutA1TR:
		arrivals = 1
	case SubMbART0, SubMbOutART0:
		arrivals = uint64(x)
	}
	switch sub {
	case SubMbA0T1:
		bytes++
	case SubMbA0TR, SubMbA1TR, SubMbOutA1TR:
		bytes += uint64(x)
	case SubMbA0TX:
		bytes -= uint64(x)
	}
	switch sub {
	case SubMbOutA1T0, SubMbOutA1TR, SubMbOutART0:
		expected = (expected + arrivals) & hopperCount
	}
	pending = (pending + arrivals) & hopperCount
	bytes &= hopperBytes
	if pending == 0 && bytes == 0 && (arrivals != 0 || sub == SubMbA0TX) {
		parity, pending = parity^mbarrierParity, expected
	}
	return old&1 | expected<<hopperExpectedAt | bytes<<hopperBytesAt | pending<<hopperPendingAt | parity
}

// decSYNCS is an update of such a barrier, the test whether a phase has ended, or its end, which changes nothing here.
func decSYNCS(d *decoder) {
	sub := d.in.Mod.Sub
	switch {
	case sub == SubMbEnd:
		decNop(d)
		return
	case sub == SubExch:
		decAtom(d)
		return
	case sub != SubMbPhase && sub != SubMbTryWait && !sub.isUpdate() && (sub < SubMbCopies || sub > SubMbCopiesTx):
		d.failf("%s without an operation", d.in.Op)
		return
	}
	mo := d.newMemop()
	if d.err != nil {
		return
	}
	mo.size = 8
	u := d.u
	if len(d.vals) > 1 {
		u.s[1] = d.raw(1, 0, 0)
	}
	for j := range 2 {
		if len(d.vds) > 0 {
			u.d[j] = d.k.dest(d.vds[0], Reg(j))
		}
	}
	u.exec = execMbarrierUpdate
	if sub == SubMbPhase || sub == SubMbTryWait {
		u.exec = execMbarrierTest
	}
}

// execMbarrierUpdate is SYNCS.ARRIVE and ARRIVES: the result is the barrier before it, with .TMASK its upper word before
// the whole instruction and the mask of the lanes that updated it. Copies have been made when they were issued, so that
// ARRIVES arrives at once.
func execMbarrierUpdate(w *Warp, u *uop, m uint32) {
	mo := u.mem
	w.addresses(mo, &w.addr)
	w.e.Load, w.e.Store, w.e.Size, w.e.Space, w.e.Addr = true, true, 8, SpaceShared, &w.addr
	x, sub := *w.val(&u.s[1]), u.in.Mod.Sub
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		mem := w.bytes(SpaceShared, l, w.addr[l], 8)
		if mem == nil {
			return
		}
		old := binary.LittleEndian.Uint64(mem)
		next := old
		switch sub {
		case SubMbCopies:
			next = arriveAmpere(old)
		case SubMbCopiesArv:
			next = updateHopper(SubMbA1T0, old, 0)
		case SubMbCopiesTx:
			next = updateHopper(SubMbA0TX, old, 1)
		default:
			next = updateHopper(sub, old, x[l])
		}
		binary.LittleEndian.PutUint64(mem, next)
		w.regs[u.d[0]][l], w.regs[u.d[1]][l] = uint32(old), uint32(old>>32)
		if u.in.Mod.Has(ModTMask) {
			var same uint32
			for k := m; k != 0; k &= k - 1 {
				if j := lowest(k); w.addr[j] == w.addr[l] {
					same |= 1 << uint(j)
				}
			}
			w.regs[u.d[0]][l], w.regs[u.d[1]][l] = same, w.regs[u.d[1]][lowest(same)]
		}
	}
}

func execMbarrierTest(w *Warp, u *uop, m uint32) {
	mo := u.mem
	w.addresses(mo, &w.addr)
	w.e.Load, w.e.Size, w.e.Space, w.e.Addr = true, 8, SpaceShared, &w.addr
	v := w.val(&u.s[1])
	var done uint32
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		mem := w.bytes(SpaceShared, l, w.addr[l], 8)
		if mem == nil {
			return
		}
		parity := uint32(binary.LittleEndian.Uint64(mem) >> 63)
		done |= bit(parity != v[l]>>31) << uint(l)
	}
	w.setPred(u.pd[0], m, done)
}
