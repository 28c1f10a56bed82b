package pipelines

import "math/bits"

// memFar is what an SM sees of L2 and DRAM: two servers with this SM's share of bandwidth.
type memFar struct {
	requests []ticks     // next free time of each queue of L2's slices for requests
	array    sliceQueues // L2's data array and
	input    sliceQueues // the requests on their way to it, see arrayParams
	dramAll  ticks       // of DRAM, likewise
	toWrite  []int       // sectors to be written back, by queue of DRAM
	slices   []ticks     // next free time of each slice's atomic unit
	places   [64]uint64  // places in the slices that this SM's reductions use, a bit each by hash
	placed   int         // their number
	dramFree []ticks     // next free time of each queue of DRAM, see memParams.dramQueues
}

// fetch reads sectors of a line from L2 or DRAM; the request leaves the SM at the given cycle. It returns when the last
// sector arrives.
func (m *MemPath) fetch(line uint64, sectors uint32, at uint64, a *MemAccess, t *MemTiming) uint64 {
	p, f := &m.par, &m.far
	n := sectorCount(sectors)
	now := ticks(at) * ticksCycle
	hits, brought, latency := m.lookupL2(line, sectors, false, now, t)
	q := &f.requests[slice(line, len(f.requests))]
	start := max(now, *q)
	*q = start + max(ticks(n)*p.l2SectorTicks, p.l2RequestTicks)*ticks(len(f.requests))
	done := start + ticks(n-1)*p.l2SectorTicks + ticks(latency+jitter(line, p.l2Jitter))*ticksCycle
	others := ticks(0)
	var share *coldShare
	if hits < n {
		if share = m.share(line, a.Gather); share != nil && !p.warm {
			others = m.askedByOthers(line, sectors, now, a)
		}
	}
	if others > 0 {
		brought = 0
	}
	own := m.ownMisses(n-hits, brought, share, a.Gather, t)
	if share != nil && own == 0 && a.Gather && !p.warm && p.l2LatencyFar > latency && share.farHit() {
		latency = p.l2LatencyFar
		done = start + ticks(n-1)*p.l2SectorTicks + ticks(latency+jitter(line, p.l2Jitter))*ticksCycle
	}
	fill, hit := m.arrayRead(line, max(n-own, 0), own, now)
	if own > 0 {
		t.Level = max(t.Level, LevelDRAM)
		// DRAM's data waits for the array where that has more to do than DRAM.
		done = max(done, m.fromDRAM(line, own, now), now+fill+ticks(own-1)*p.dramSectorTicks+ticks(p.dramLatency+jitter(line, p.dramJitter))*ticksCycle)
		if m.entry != nil {
			m.entry.ready = max(m.entry.ready, done.cycle())
		}
	} else if others > 0 {
		t.Level = max(t.Level, LevelDRAM)
		done = max(done, others)
		if m.entry != nil {
			m.entry.ready = max(m.entry.ready, done.cycle())
		}
	} else {
		t.Level = max(t.Level, LevelL2)
		if hits == n && m.entry != nil { // what DRAM brings along may still be under way
			done = max(done, ticks(m.entry.ready)*ticksCycle)
		}
		// The slice answers in turn, behind what it has to write.
		done = max(done, now+hit+ticks(n-1)*p.l2SectorTicks+ticks(latency+jitter(line, p.l2Jitter))*ticksCycle)
	}
	return done.cycle()
}

// askedByOthers says when data arrives in L2 that another SM has asked DRAM for before this one does; 0 if none has, as far as can be known.
// The other SMs run other blocks of the kernel in step with this one. Block b+d asked for an address when this block asked for the one d
// strides before it, so what this SM knows of that tells. A stride of zero: all ask at the same time. (Blurs of images whose rows are blocks
// find two of three rows under way; sums along a column find the rows that their neighbours have read a step ago.)
func (m *MemPath) askedByOthers(line uint64, sectors uint32, now ticks, a *MemAccess) (arrives ticks) {
	p := &m.par
	if !a.Strided || p.neighbours == 0 {
		return 0
	}
	if a.Stride == 0 {
		return now + ticks(p.dramLatency+jitter(line, p.dramJitter))*ticksCycle
	}
	first := uint64(bits.TrailingZeros32(sectors))
	for d := int64(1); d <= p.neighbours; d++ {
		for _, by := range [2]int64{d * a.Stride, -d * a.Stride} {
			at := uint64(int64(line<<p.lineShift+first<<p.sectorShift) - by)
			if e := m.l2.peek(at >> p.l2LineShift); e != nil && e.sectors>>(at>>p.sectorShift&(1<<(p.l2LineShift-p.sectorShift)-1))&1 != 0 && e.ready > 0 {
				if t := max(ticks(e.ready)*ticksCycle, now); arrives == 0 || t < arrives {
					arrives = t
				}
			}
		}
	}
	return arrives
}

// lookupL2 looks the sectors up and brings in what is missing. It returns how many were there, how many a read brings in, DRAM's
// granularity included, and the latency of a hit.
func (m *MemPath) lookupL2(line uint64, sectors uint32, write bool, now ticks, t *MemTiming) (hits, brought int, latency uint64) {
	p := &m.par
	n := sectorCount(sectors)
	t.L2Sectors += n
	l2line := line
	if k := p.l2LineShift - p.lineShift; k > 0 {
		sectors <<= (line & (1<<k - 1)) << (p.lineShift - p.sectorShift)
		l2line >>= k
	}
	latency = p.l2Latency
	hit, victim := m.l2.find(l2line)
	missing := sectors
	if !m.isNear(l2line) && hit != nil {
		latency = p.l2LatencyFar
	}
	switch {
	case hit != nil:
		missing &^= hit.sectors
	case victim != nil:
		if dirty := m.l2.replace(victim, l2line); dirty != 0 {
			m.evictDirty(l2line, sectorCount(dirty), now, t)
		}
		hit = victim
	}
	if missing != 0 && p.warm {
		if there, far := p.warmIn(l2line); there {
			missing = 0
			if far {
				latency = p.l2LatencyFar
			}
		} else {
			m.evictOld(l2line, sectorCount(missing), now, t)
		}
	}
	m.moved += uint64(n)
	if write {
		m.stored += uint64(n)
	}
	m.entry = hit
	brought = sectorCount(missing)
	if hit != nil {
		if !write && missing != 0 {
			more := p.dramAtoms(missing) &^ hit.sectors
			brought = sectorCount(more | missing)
			hit.sectors |= more
		}
		hit.sectors |= sectors
		if write {
			m.makeDirty(line, sectorCount(sectors&^hit.dirty), now, t)
			hit.dirty |= sectors
		}
	}
	hits = n - sectorCount(missing)
	t.L2SectorHits += hits
	return hits, brought, latency
}

// isNear says whether the near partition has a line, and brings it there. It holds what the SM used last, wherever the line belongs: walks of
// one SM over 28 to 36 MB pass from 273 to 502 cycles, and of 4096 loads from 44 MB none came at the near latency.
func (m *MemPath) isNear(line uint64) bool {
	hit, victim := m.near.find(line)
	if victim != nil {
		m.near.replace(victim, line)
	}
	return hit != nil || victim == nil
}

// warmIn says whether a line of a launch that ran before is still in L2 and whether only the far partition has it.
// A cyclic walk over a footprint just above the capacity keeps a part: measured on the H200, hits fall to nothing
// when the footprint exceeds the capacity by warmSpread.
func (p *memParams) warmIn(line uint64) (there, far bool) {
	if p.footprint == 0 || p.l2Total == 0 {
		return true, false
	}
	part := float64(hashLine(line)&0xffff) / 0x10000
	if p.chip && p.l2Near > 0 {
		return part >= p.chipMisses, false
	}
	over := func(capacity uint64) bool { // line is among those thrown out of this capacity
		return p.footprint > capacity && part < float64(p.footprint-capacity)/(warmSpread*float64(capacity))
	}
	if over(p.l2Total) {
		return false, false
	}
	return true, p.l2LatencyFar > p.l2Latency && p.l2Near > 0 && over(p.l2Near)
}

// warmSpread is how far above a capacity, as a part of it, the hits of one SM's walk fall to nothing.
const warmSpread = 0.2

// With the whole chip at work a repeated launch finds less: some lines are in both partitions. Measured with streams that read and
// write in five proportions (sm/testdata/mixed_streams_h200.csv.gz, DRAM counters): all hits up to chipKeeps of the capacity if the launch
// only reads, chipWrites less if it only writes, none from chipFull on, straight between. The three numbers are a fit (residual 4
// points of the misses).
const (
	chipKeeps  = 0.707
	chipWrites = 0.19
	chipFull   = 0.858
)

// chipMissPart is the part of what all SMs together read and write in a repeated launch that L2 has lost since the one before.
func (p *memParams) chipMissPart() float64 {
	if p.l2Total == 0 || p.footprint == 0 {
		return 0
	}
	written := 1 - float64(p.read)/float64(p.footprint)
	keeps := chipKeeps - chipWrites*written
	return min(max((float64(p.footprint)/float64(p.l2Total)-keeps)/(chipFull-keeps), 0), 1)
}

// jitter spreads a latency over lines, evenly from 0 to below the spread: L2 slices lie at different distances, DRAM banks are
// in different states.
func jitter(line, spread uint64) uint64 {
	if spread == 0 {
		return 0
	}
	return hashLine(line) >> 20 % spread
}

// hashLine mixes a line number (multiplication by the golden ratio, as in Fibonacci hashing).
func hashLine(line uint64) uint64 {
	h := line * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

func sectorCount(mask uint32) int { return bits.OnesCount32(mask) }
