package isa

import "encoding/binary"

// Barriers that lie in shared memory (PTX mbarrier): a phase ends when all expected arrivals were made and all expected bytes
// have come. The 64 bits are opaque to PTX programs; here they hold, from bit 0:
//
//	20 bits  arrivals that are still pending in this phase
//	20 bits  arrivals of the next phases
//	21 bits  bytes still to come, in two's complement
//	 3 bits  number of the phase
//
// Updates are atomics on shared memory (ATOMS, from compute capability 9.0 on SYNCS) whose data are two words: arrivals, bytes.
const (
	mbarrierCountBits = 20
	mbarrierCount     = 1<<mbarrierCountBits - 1
	mbarrierBytesAt   = 2 * mbarrierCountBits
	mbarrierBytes     = 1<<21 - 1
	mbarrierPhaseAt   = 61
)

// MbarrierInit are the words of a barrier at its start: lo = count | count << 20, hi = count >> 12.
func MbarrierInit(count uint32) (lo, hi uint32) {
	return count | count<<mbarrierCountBits, count >> (32 - mbarrierCountBits)
}

// isMbarrier says that the sub-operation updates such a barrier.
func (s Sub) isMbarrier() bool { return s >= SubMbArrive && s <= SubMbCompleteTx }

// OrdersMemory says that an instruction is one of a barrier in shared memory, over which no access may be moved.
func (in *Inst) OrdersMemory() bool { return in.Op == OpSYNCS || in.Mod.Sub.isMbarrier() }

// mbarrierNext is the barrier after an update with x: arrivals in the low word, bytes in the upper one.
func mbarrierNext(sub Sub, old, x uint64) uint64 {
	pending, expected := old&mbarrierCount, old>>mbarrierCountBits&mbarrierCount
	tx, phase := old>>mbarrierBytesAt&mbarrierBytes, old>>mbarrierPhaseAt
	n, bytes := x&mbarrierCount, x>>32
	switch sub {
	case SubMbExpectTx:
		tx += bytes
	case SubMbCompleteTx:
		tx -= bytes
	case SubMbDrop:
		expected = (expected - n) & mbarrierCount
		fallthrough
	default:
		pending = (pending - n) & mbarrierCount
		tx += bytes
	}
	if tx &= mbarrierBytes; pending == 0 && tx == 0 && sub != SubMbNoComplete && sub != SubMbExpectTx {
		phase, pending = phase+1, expected
	}
	return pending | expected<<mbarrierCountBits | tx<<mbarrierBytesAt | phase<<mbarrierPhaseAt
}

// decSYNCS is an update, or the test whether a phase has ended: of a barrier's earlier content (two words), or of a parity.
func decSYNCS(d *decoder) {
	sub := d.in.Mod.Sub
	if sub != SubMbPhase && sub != SubMbParity {
		decAtom(d)
		return
	}
	mo := d.newMemop(0)
	if d.err != nil {
		return
	}
	mo.size = 8
	u := d.u
	u.s[1] = d.raw(1, 0, 0)
	if sub == SubMbPhase {
		u.s[1] = d.raw(1, 1, 0) // the word with the phase
	}
	u.exec = execMbarrierTest
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
		phase := binary.LittleEndian.Uint64(mem) >> mbarrierPhaseAt
		over := phase&1 != uint64(v[l]&1)
		if u.in.Mod.Sub == SubMbPhase {
			over = phase != uint64(v[l]>>(mbarrierPhaseAt-32))
		}
		done |= bit(over) << uint(l)
	}
	w.setPred(u.pd[0], m, done)
}
