package isa

import "math/bits"

// Divergence before Volta: a stack of tokens. A token's mask holds the lanes that continue at its address when it is
// popped; lanes that break, continue, return or exit are taken out of the tokens they will not come back to.

// tokenKind says who pushed a token.
type tokenKind uint8

const (
	tokenDiv  tokenKind = iota // divergent branch: the side that was not followed
	tokenSSY                   // reconvergence point
	tokenPBK                   // break point
	tokenPCNT                  // continue point
	tokenCall                  // return address
)

type token struct {
	kind tokenKind
	pc   int32
	mask uint32
}

// pushToken is SSY, PBK, PCNT and PRET: the running lanes continue at the label when the token is popped.
func (w *Warp) pushToken(kind tokenKind, pc int32) {
	w.stack = append(w.stack, token{kind, pc, w.mask})
}

// dropTokens takes lanes m out of the tokens above index keep.
func (w *Warp) dropTokens(m uint32, keep int) {
	for i := len(w.stack) - 1; i > keep; i-- {
		w.stack[i].mask &^= m
	}
}

// unwind pops tokens until one has lanes to run; the warp has exited when there is none.
func (w *Warp) unwind() {
	for n := len(w.stack); n > 0; n-- {
		t := w.stack[n-1]
		w.stack = w.stack[:n-1]
		if t.mask &= w.live; t.mask != 0 {
			w.pc, w.mask = t.pc, t.mask
			w.halted = false
			return
		}
	}
	w.mask, w.halted = 0, true
	if w.live == 0 {
		w.exited()
		return
	}
	w.err = w.warpDeadlock()
}

// popSync is SYNC (and .S): lanes m wait for the reconvergence point below them; when none is left running, the
// top token is popped.
func (w *Warp) popSync(m uint32) {
	if m == 0 {
		return
	}
	found := false
	for i := len(w.stack) - 1; i >= 0 && !found; i-- {
		found = w.stack[i].kind != tokenDiv && w.stack[i].mask&m == m
	}
	if !found {
		w.err = w.fail("SYNC without a reconvergence point: no SSY is open for these lanes")
		return
	}
	w.mask &^= m
	if w.mask == 0 {
		w.unwind()
	}
}

// popTo is BRK, CONT and RET: lanes m go to the nearest token of the kind and leave everything above it.
func (w *Warp) popTo(kind tokenKind, m uint32) bool {
	if m == 0 {
		return true
	}
	for i := len(w.stack) - 1; i >= 0; i-- {
		if w.stack[i].kind == kind && w.stack[i].mask&m == m {
			w.dropTokens(m, i)
			w.mask &^= m
			if w.mask == 0 {
				w.unwind()
			}
			return true
		}
	}
	return false
}

func execSSY(w *Warp, u *uop, m uint32)  { w.pushIf(tokenSSY, u, m) }
func execPBK(w *Warp, u *uop, m uint32)  { w.pushIf(tokenPBK, u, m) }
func execPCNT(w *Warp, u *uop, m uint32) { w.pushIf(tokenPCNT, u, m) }
func execPRET(w *Warp, u *uop, m uint32) { w.pushIf(tokenCall, u, m) }

func (w *Warp) pushIf(kind tokenKind, u *uop, m uint32) {
	if m != 0 {
		w.pushToken(kind, u.target)
	}
}

func execSYNC(w *Warp, u *uop, m uint32) {
	w.pc++
	w.popSync(m)
}

func execBRK(w *Warp, u *uop, m uint32) {
	w.pc++
	if !w.popTo(tokenPBK, m) {
		w.err = w.fail("BRK without a break point: no PBK is open for these lanes")
	}
}

func execCONT(w *Warp, u *uop, m uint32) {
	w.pc++
	if !w.popTo(tokenPCNT, m) {
		w.err = w.fail("CONT without a continue point: no PCNT is open for these lanes")
	}
}

// execCALL jumps; without .NOINC it keeps the return address: on the token stack before Volta, on a stack of return
// addresses of every lane from Volta on.
func execCALL(w *Warp, u *uop, m uint32) {
	if !u.in.Mod.Has(ModNoInc) && m != 0 {
		if w.k.volta {
			for r := m; r != 0; r &= r - 1 {
				l := bits.TrailingZeros32(r) & 31
				w.calls[l] = append(w.calls[l], w.pc+1)
			}
		} else {
			w.stack = append(w.stack, token{tokenCall, w.pc + 1, m})
			if m != w.mask { // the lanes that do not call wait for the others at the next instruction
				w.stack[len(w.stack)-1].mask = w.mask
				w.mask = m
				w.pc = u.target
				w.e.Taken, w.e.Diverged = true, true
				return
			}
		}
	}
	w.branch(m, u.target)
}

// execCALLEach calls the function whose address is in each lane's register.
func execCALLEach(w *Warp, u *uop, m uint32) {
	if m &= w.pred(u.ps[0]); m != 0 && !u.in.Mod.Has(ModNoInc) {
		if w.k.volta {
			for r := m; r != 0; r &= r - 1 {
				l := bits.TrailingZeros32(r) & 31
				w.calls[l] = append(w.calls[l], w.pc+1)
			}
		} else {
			w.stack = append(w.stack, token{tokenCall, w.pc + 1, w.mask})
			w.mask = m // the others wait for these at the next instruction
		}
	}
	execBRX(w, u, m)
}

// execRET returns to the address in a register, or to the one that CALL kept. A return that no CALL precedes ends the lanes.
func execRET(w *Warp, u *uop, m uint32) {
	switch {
	case m == 0:
		w.pc++
	case u.hasReg:
		execBRX(w, u, m)
	case !w.k.volta:
		w.pc++
		if !w.popTo(tokenCall, m) {
			w.pc--
			w.exitLanes(m)
		}
	default:
		var to [warpLanes]int32
		var none uint32
		for r := m; r != 0; r &= r - 1 {
			l := bits.TrailingZeros32(r) & 31
			s := w.calls[l]
			if len(s) == 0 {
				none |= 1 << uint(l)
				continue
			}
			to[l] = s[len(s)-1]
			w.calls[l] = s[:len(s)-1]
		}
		if none != 0 {
			w.exitLanes(none)
			return
		}
		w.branchEach(m, &to)
	}
}
