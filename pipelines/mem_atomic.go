package pipelines

import (
	"math"
	"math/bits"

	"github.com/sarchlab/smsim/isa"
)

// accessAtomic is an atomic or reduction on global memory. It is performed at L2. Lanes on the same word go in separate
// rounds; a round sends one packet a line, as a store does.
func (m *MemPath) accessAtomic(a MemAccess, t *MemTiming) {
	p, e := &m.par, a.Effect
	reduction := a.Class == isa.ClassRED
	groups := m.coalesce(a)
	lines := m.co.n
	for i := 0; i < lines; i++ {
		m.lookupL2(m.co.lines[i].line, m.co.lines[i].sectors, true, ticks(a.Cycle)*ticksCycle, t)
	}
	sector, header := p.atomicSectorTicks, p.atomicHeaderTicks
	if reduction {
		sector, header = p.reductionSectorTicks, p.reductionHeaderTicks
	}
	spread := reduction && p.array.reduction > 0
	if spread {
		sector, header = p.storeSectorTicks, p.storeHeaderTicks
	}
	var length ticks
	cas := e.Inst != nil && e.Inst.Mod.Sub == isa.SubCAS
	now := ticks(a.Cycle) * ticksCycle
	served, shared := ticks(0), false
	rounds := uint64(0)
	rest := e.Exec
	for rest != 0 {
		lanes := rest
		if half := lanes & 0xffff; e.Size > 4 && p.wideHalves && half != 0 { // 64-bit words: half a warp at a time
			lanes = half
		}
		round := m.oneLaneAWord(e.Addr, lanes, uint64(max(e.Size, 4)))
		rest &^= round
		rounds++
		m.co.global(e.Addr, round, uint64(max(e.Size, 1)), p.lineShift, p.sectorShift)
		for i := 0; i < m.co.n; i++ {
			l := &m.co.lines[i]
			c := sectorCount(l.sectors)
			t.L1Sectors += c
			if p.atomicShare > 1 && (a.Everywhere || m.sharedLine(l.line, a.Block)) {
				shared = true
				served = max(served, m.atomicSlice(l.line, c, cas, now))
			} else if spread {
				at, length := max(now, m.store.free), ticks(float64(c)*m.hotSlices(l.line)*float64(p.array.reduction))
				m.far.input.bookEvenly(at, length)
				m.far.array.bookEvenly(at, length)
			}
			length += ticks(c) * sector
			if c > 1 || !reduction {
				length += header
			}
		}
	}
	m.holdForStore(a)
	first, last := m.enter(a, p.globalStorePort[widthIndex(e.Size)], groups*p.storePasses, 16)
	m.stage(a, last, groups)
	t.SourcesRead, t.SlotFree = first+p.readDelay, first
	t.Wavefronts, t.BankConflicts = int(rounds), int(rounds)-1
	t.Level = LevelL2
	gone := m.send(last, groups, length)
	if shared {
		gone = max(gone, served.cycle())
		m.store.free = max(m.store.free, served-min(served, p.array.slack))
	}
	if spread && !shared {
		gone = max(gone, m.slicesBusy().cycle())
		m.store.free = max(m.store.free, m.slicesBusy()-min(m.slicesBusy(), p.array.slack))
	}
	latency := p.atomicLatency
	if t.L2SectorHits < t.L2Sectors {
		t.Level = LevelDRAM
		latency += p.dramLatency - p.l2Latency
		m.ownMisses(t.L2Sectors-t.L2SectorHits, t.L2Sectors-t.L2SectorHits, m.share(m.co.lines[0].line, false), false, t)
	}
	if e.Load && !reduction {
		t.Result = gone + latency
	} else {
		t.Result = last + 1
	}
	t.Complete = gone + latency
}

// atomicSlice books a request of one round for a line that all SMs update in the atomic unit of its slice, which serves those of the
// other SMs in between, and returns when it is done. One word costs 44 cycles for each warp-instruction of 32 lanes, chip-wide,
// whatever number of SMs from 4 on asks; words of a line 4.2, their compare-and-swaps nearly twice that. Bits 8 and 10 and up of the
// address choose the slice: adds to words 256 bytes apart run beside each other, those 128 or 512 bytes apart take turns.
func (m *MemPath) atomicSlice(line uint64, sectors int, cas bool, now ticks) ticks {
	p := &m.par
	address := line << p.lineShift
	q := &m.far.slices[(address>>10<<1|address>>8&1)%uint64(len(m.far.slices))]
	cost := p.atomicLineTicks * ticks(sectors)
	if cas && sectors > 1 {
		cost *= 2
	}
	*q = max(*q, now) + (p.atomicRequestTicks+cost)*p.atomicShare
	return *q
}

// hotSlices is how much longer than on average the slice of a line takes for reductions of the whole chip, as a part. Blocks reduce into few lines of their own
// each, those of 132 SMs fall on the slices at random, and what waits for the fullest holds up what is behind it: with u places an SM there are u/96 of 132 SMs' a slice in the mean,
// one more on a slice that this SM uses, and the fullest of the u that it uses lies that many standard deviations above. A place is a half of a KB, alternate lines pairs of it: see atomicSlice.
func (m *MemPath) hotSlices(line uint64) float64 {
	address := line << m.par.lineShift
	place := hashLine(address>>10<<1|address>>8&1) >> 20 % (64 * uint64(len(m.far.places)))
	if w := &m.far.places[place/64]; *w>>(place%64)&1 == 0 {
		*w |= 1 << (place % 64)
		m.far.placed++
	}
	n := float64(m.far.placed)
	mean := n * float64(m.par.atomicShare) / float64(len(m.far.slices))
	return 1 + 1/mean + highest(n)/math.Sqrt(mean)
}

// highest is about the expected largest of n values with normal distribution, in standard deviations.
func highest(n float64) float64 {
	if n < 2 {
		return 0
	}
	l := math.Sqrt(2 * math.Log(n))
	return max(l-(math.Log(math.Log(n))+math.Log(4*math.Pi))/(2*l), 0.5)
}

// oneLaneAWord picks the lowest lane of the mask for each word.
func (m *MemPath) oneLaneAWord(addr *[32]uint64, mask uint32, size uint64) uint32 {
	var words [32]uint64
	n, picked := 0, uint32(0)
	ascending := true
	for r := mask; r != 0; r &= r - 1 {
		lane := bits.TrailingZeros32(r)
		w := addr[lane&31] / size
		if n > 0 && ascending && w > words[n-1] {
			words[n] = w
			n++
			picked |= 1 << lane
			continue
		}
		seen := false
		for i := 0; i < n; i++ {
			if words[i] == w {
				seen = true
				break
			}
		}
		if seen {
			continue
		}
		if n > 0 && w < words[n-1] {
			ascending = false
		}
		words[n] = w
		n++
		picked |= 1 << lane
	}
	return picked
}

// sharedLine notes that a block updates a line and says whether several blocks do. Then the other SMs, which run other blocks of
// the same kernel, are taken to update it too.
func (m *MemPath) sharedLine(line uint64, block int) bool {
	entry, _ := m.l2.find(line >> (m.par.l2LineShift - m.par.lineShift))
	if entry == nil {
		return false
	}
	switch entry.block {
	case lineUntouched:
		entry.block = int32(block)
	case int32(block):
	default:
		entry.block = lineShared
	}
	return entry.block == lineShared
}
