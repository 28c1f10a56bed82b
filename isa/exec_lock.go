package isa

// Shared-memory atomics of Fermi and Kepler are loops over a lock that every address has:
//
//	LDSLK P0, R4, [R0]     loads; P0 says which lanes got the lock of their address
//	@P0 STSUL [R0], R4     stores and gives it back (Fermi)
//	@P0 STSCUL P1, [R0], R4  the same if the lock still holds, which P1 says (Kepler)

// execLoadLock loads, and gives the lock of each address to the lowest lane that wants it while it is free.
func execLoadLock(w *Warp, u *uop, m uint32) {
	execLoad(w, u, m)
	b := w.Block
	if b.locks == nil {
		b.locks = map[uint64]bool{}
	}
	got := uint32(0)
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		if a := w.addr[l] &^ 3; !b.locks[a] {
			b.locks[a] = true
			got |= 1 << l
		}
	}
	w.setPred(u.pd[0], m, got)
}

// execStoreUnlock stores and frees the locks. Lanes whose address is not locked store nothing.
func execStoreUnlock(w *Warp, u *uop, m uint32) {
	w.addresses(u.mem, &w.addr)
	held := uint32(0)
	for r := m; r != 0; r &= r - 1 {
		if l := lowest(r); w.Block.locks[w.addr[l]&^3] {
			held |= 1 << l
		}
	}
	execStore(w, u, held)
	for r := held; r != 0; r &= r - 1 {
		delete(w.Block.locks, w.addr[lowest(r)]&^3)
	}
	w.setPred(u.pd[0], m, held)
}

// lockName is the mnemonic of a load or store with a lock.
func (in *Inst) lockName() string {
	switch {
	case in.Op == OpLDS:
		return "LDSLK"
	case in.NDst > 0:
		return "STSCUL"
	}
	return "STSUL"
}
