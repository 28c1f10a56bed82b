package pipelines

import (
	"math/bits"

	"github.com/sarchlab/smsim/isa"
)

// bankTable finds the passes that a shared-memory access needs. Its arrays are reused.
type bankTable struct {
	count [64]uint8      // distinct words (loads, stores) or lanes (atomics) of each bank in the present group
	word  [64][32]uint64 // the distinct words
	first [64]uint64     // one word of each bank
}

// sharedPasses counts the passes through the banks and the groups of lanes that are served one after the other whatever
// their addresses: 32 lanes of 4 bytes, 16 of 8 and 8 of 16 fill the 32 banks once. Lanes that read the same word of a
// bank are served together; atomics on one word are not. Accesses are aligned to their size.
//
// Two neighbouring groups that ask every bank for at most one word between them are one pass: a warp that reads one
// 16-byte word takes two passes, not four; merge asks for that, loads of global memory do not do it (Nsight counts 2.07 wavefronts for the LDS.128 of sad4, whose lanes agree).
func (m *MemPath) sharedPasses(addr *[32]uint64, mask uint32, size uint64, atomic, merge bool) (passes, groups uint64) {
	p := &m.par
	// An access wider than a bank takes neighbouring banks, always the same together: they count as one of that width.
	shift := max(p.bankShift, uint(bits.Len64(size-1)))
	banks := max(p.banks<<p.bankShift>>shift, 1)
	lanes := min(banks, 32)
	for lo := uint(0); lo < 32; lo += lanes {
		g := laneGroup(mask, lo, lanes)
		if lanes < 32 && lo/lanes%2 == 0 && merge && !p.halfWarp {
			if pair := laneGroup(mask, lo, 2*lanes); pair != g && m.conflictFree(addr, pair, lo, shift, banks) {
				groups++
				passes++
				lo += lanes
				continue
			}
		}
		if g == 0 {
			continue
		}
		groups++
		if atomic || !m.conflictFree(addr, g, lo, shift, banks) {
			passes += m.busiestBank(addr, g, lo, shift, banks, atomic)
		} else {
			passes++
		}
	}
	return passes, groups
}

// laneGroup is the mask of the lanes from lo on, shifted down.
func laneGroup(mask uint32, lo, lanes uint) uint32 {
	return uint32(uint64(mask>>lo) & (1<<lanes - 1))
}

// conflictFree says whether the lanes of a group, from lane lo on, ask every bank for at most one word.
func (m *MemPath) conflictFree(addr *[32]uint64, group uint32, lo, shift, banks uint) bool {
	first := &m.banks.first
	used := uint64(0)
	for ; group != 0; group &= group - 1 {
		w := addr[(lo+uint(bits.TrailingZeros32(group)))&31] >> shift
		bank := w & uint64(banks-1) & 63
		if used>>bank&1 != 0 && first[bank] != w {
			return false
		}
		used |= 1 << bank
		first[bank] = w
	}
	return true
}

// busiestBank is the largest number of distinct words (loads, stores) or lanes (atomics) that a bank is asked for.
func (m *MemPath) busiestBank(addr *[32]uint64, group uint32, lo, shift, banks uint, atomic bool) uint64 {
	b := &m.banks
	b.count = [64]uint8{}
	worst := uint8(1)
lane:
	for ; group != 0; group &= group - 1 {
		w := addr[(lo+uint(bits.TrailingZeros32(group)))&31] >> shift
		bank := w & uint64(banks-1) & 63
		n := b.count[bank]
		if !atomic {
			words := &b.word[bank]
			for i := uint8(0); i < n; i++ {
				if words[i&31] == w {
					continue lane
				}
			}
			words[n&31] = w
		}
		b.count[bank] = n + 1
		worst = max(worst, n+1)
	}
	return uint64(worst)
}

// accessShared is LDS, STS and ATOMS.
func (m *MemPath) accessShared(a MemAccess, t *MemTiming) {
	p, e := &m.par, a.Effect
	atomic := e.Load && e.Store || a.Class == isa.ClassATOMS && !e.Load // a test of a barrier only loads
	passes, groups := m.sharedPasses(e.Addr, e.Exec, uint64(max(e.Size, 1)), atomic, !atomic && !e.Store)
	width := widthIndex(e.Size)
	port, spacing := p.sharedLoadPort[width], uint64(16)
	latency := p.sharedLatency32
	switch {
	case atomic:
		latency = p.sharedAtomicLatency
		port = p.sharedStorePort[0]
		if e.Inst != nil && e.Inst.Mod.Sub == isa.SubCAS {
			// A third register takes the port two cycles longer: measured 6.1 cycles an instruction from one warp, 14 from two of a
			// sub-partition, and 30 from CAS to CAS in a chain, where ADD takes 26 and the second pass 2.
			port += p.portCycles
			latency += p.portCycles
			if e.Inst.Mod.Has(isa.ModSpin) {
				passes = 2 * groups // lanes beyond the first pass fail instead of waiting
			} else {
				passes *= 2 // read and conditional write are separate passes
			}
		}
	case e.Store:
		port, spacing = p.sharedStorePort[width], p.storeSpacing
	case width == 1:
		latency = p.sharedLatency64
	case width == 2:
		latency = p.sharedLatency128
	}
	var left, first, last uint64
	if atomic {
		left, first, last = m.enterAtomicUnit(a, port, passes)
	} else {
		first, last = m.enter(a, port, passes, spacing)
		left = first
	}
	t.Level = LevelShared
	t.Wavefronts = int(passes)
	t.BankConflicts = int(passes - groups)
	t.SourcesRead, t.SlotFree = left+p.readDelay, left
	if e.Load && !m.dropsResult(e) {
		// The latencies are those of conflict-free accesses, their groups included.
		t.Result = m.hitReturn(a.Slot, first, passes, max(groups, laneGroups(e.Exec, width)), ticks(passes)*ticksCycle) + latency
		t.Complete = t.Result
		return
	}
	t.Result = last + 1
	t.Complete = last + latency
}

// dropsResult says whether an atomic's old value goes to RZ: nothing returns.
func (m *MemPath) dropsResult(e *isa.Effect) bool {
	i := e.Inst
	return e.Store && i != nil && i.NDst > 0 && i.Dst[i.NDst-1].Kind == isa.KindReg && i.Dst[i.NDst-1].Reg == isa.RZ
}
