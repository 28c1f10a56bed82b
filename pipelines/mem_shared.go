package pipelines

import (
	"math/bits"

	"github.com/sarchlab/smsim/isa"
)

// bankTable finds the passes that a shared-memory access needs. Its arrays are reused.
type bankTable struct {
	count [64]uint8      // distinct words (loads, stores) or lanes (atomics) of each bank in the present group
	word  [64][64]uint64 // the distinct words
}

// sharedPasses counts the passes through the banks and the groups of lanes that are served one after the other whatever
// their addresses: 32 lanes of 4 bytes, 16 of 8 and 8 of 16 fill the 32 banks once. Lanes that read the same word of a
// bank are served together; atomics on one word are not.
func (m *MemPath) sharedPasses(addr *[32]uint64, mask uint32, size uint64, atomic bool) (passes, groups uint64) {
	p, b := &m.par, &m.banks
	row := uint64(p.banks) << p.bankShift
	lanes := uint(32)
	if size > 0 && row/size < 32 {
		lanes = uint(max(row/size, 1))
	}
	bankMask := uint64(p.banks - 1)
	for lo := uint(0); lo < 32; lo += lanes {
		g := mask >> lo
		if lanes < 32 {
			g &= 1<<lanes - 1
		}
		if g == 0 {
			continue
		}
		groups++
		if !atomic && size <= 4 && m.conflictFree(addr, g, lo) {
			passes++
			continue
		}
		b.count = [64]uint8{}
		worst := uint8(1)
		for ; g != 0; g &= g - 1 {
			a := addr[(lo+uint(bits.TrailingZeros32(g)))&31]
			last := (a + size - 1) >> p.bankShift
			for w := a >> p.bankShift; ; w++ {
				bank := w & bankMask
				n := b.count[bank&63]
				if !atomic {
					words := &b.word[bank&63]
					for i := uint8(0); i < n; i++ {
						if words[i&63] == w {
							n = 0xff
							break
						}
					}
					if n == 0xff {
						if w >= last {
							break
						}
						continue
					}
					words[n&63] = w
				}
				n++
				b.count[bank&63] = n
				worst = max(worst, n)
				if w >= last || n >= 64 {
					break
				}
			}
		}
		passes += uint64(worst)
	}
	return passes, groups
}

// conflictFree says whether the lanes of a group, from lane lo on, find every bank asked for at most one word. Accesses lie
// within one word.
func (m *MemPath) conflictFree(addr *[32]uint64, group uint32, lo uint) bool {
	p, b := &m.par, &m.banks
	used := uint64(0)
	for ; group != 0; group &= group - 1 {
		w := addr[(lo+uint(bits.TrailingZeros32(group)))&31] >> p.bankShift
		bank := w & uint64(p.banks-1) & 63
		if used>>bank&1 != 0 && b.word[bank][0] != w {
			return false
		}
		used |= 1 << bank
		b.word[bank][0] = w
	}
	return true
}

// accessShared is LDS, STS and ATOMS.
func (m *MemPath) accessShared(a MemAccess, t *MemTiming) {
	p, e := &m.par, a.Effect
	atomic := a.Class == isa.ClassATOMS || e.Load && e.Store
	passes, groups := m.sharedPasses(e.Addr, e.Exec, uint64(e.Size), atomic)
	width := widthIndex(e.Size)
	port, spacing := p.sharedLoadPort[width], uint64(16)
	latency := p.sharedLatency32
	switch {
	case atomic:
		latency = p.sharedAtomicLatency
		port = p.sharedStorePort[0]
		if e.Inst != nil && e.Inst.Mod.Sub == isa.SubCAS {
			passes *= 2 // read and conditional write are separate passes
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
		t.Result = m.hitReturn(a.SubPartition, first, passes, groups, ticksCycle) + latency
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
